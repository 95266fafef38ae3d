//! Journals: the record of an unfinished run, by which another run resumes it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Progress;
use crate::answer::{Costs, Tally};
use crate::input::{Prefix, Version};
use crate::solver::Metrics;
use crate::text::Problem;

/// The identity of a run: everything that its answers depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The program and its version.
    pub program: String,
    /// The command, such as `solve`.
    pub command: String,
    /// The path of the input.
    pub input: String,
    /// The version of the input, by which changes are noticed.
    pub version: Version,
    /// The options as typed, in a fixed order, with their values: an empty one for a flag, `None`
    /// for an option that was not given.
    pub options: Vec<(String, Option<String>)>,
}

/// A difference between a run and the one that it is to resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// The input with this path has changed.
    Input(String),
    /// The setting of the earlier run, and that of this one.
    Setting(String, String),
}

impl RunIdentity {
    /// The first difference between this run and an earlier one.
    pub(super) fn difference(&self, earlier: &Self) -> Option<Difference> {
        let words = |of: &Self| {
            let options = of.options.iter().map(|(option, value)| match value.as_deref() {
                Some("") => option.clone(),
                Some(value) => format!("{option} {value}"),
                None => format!("no {option}"),
            });
            [of.program.clone(), format!("sudoku {}", of.command), format!("the input {}", of.input)]
                .into_iter()
                .chain(options)
                .collect::<Vec<_>>()
        };
        let (then, now) = (words(earlier), words(self));
        let differing = then.into_iter().zip(now).find(|(then, now)| then != now);
        match differing {
            Some((then, now)) => Some(Difference::Setting(then, now)),
            None if self.version != earlier.version => Some(Difference::Input(self.input.clone())),
            None => None,
        }
    }
}

/// The journal of a run: its identity and its progress.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    run: RunIdentity,
    /// The bytes of the input whose answers are written.
    input_bytes: u64,
    /// The length and hash of what had been read of the input, because a resumed run needs an input
    /// with the same beginning.
    input_prefix: Prefix,
    /// The bytes of the answers written.
    output_bytes: u64,
    /// The time that was spent on them.
    work_ms: u64,
    answers: u64,
    /// The number of error lines by code.
    errors: BTreeMap<String, u64>,
    metrics: [u64; Metrics::COUNT],
    /// The histograms of costs: values, and how often each was counted.
    costs: Option<Vec<Vec<(u64, u64)>>>,
    /// What the command counts beside that.
    counts: BTreeMap<String, u64>,
}

impl Journal {
    /// Makes a journal. `None` if the input was not hashed, because then no later run could tell
    /// whether its input is the same.
    pub(super) fn new(
        run: &RunIdentity,
        progress: &Progress,
        output_bytes: u64,
        work: Duration,
    ) -> Option<Self> {
        let tally = &progress.tally;
        Some(Self {
            run: run.clone(),
            input_bytes: progress.bytes,
            input_prefix: progress.prefix?,
            output_bytes,
            work_ms: u64::try_from(work.as_millis()).unwrap_or(u64::MAX),
            answers: tally.answers,
            errors: tally.errors.iter().map(|(code, &count)| ((*code).to_owned(), count)).collect(),
            metrics: tally.metrics.named().map(|(_, value)| value),
            costs: tally.costs.as_ref().map(|costs| costs.recorded()),
            counts: progress.counts.clone(),
        })
    }

    pub(super) const fn run(&self) -> &RunIdentity {
        &self.run
    }

    pub(super) const fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    pub(super) const fn work(&self) -> Duration {
        Duration::from_millis(self.work_ms)
    }

    /// The progress of the run. `None` if another version wrote the journal and its codes are
    /// unknown.
    pub(super) fn progress(&self) -> Option<Progress> {
        let known = |(code, &count): (&String, &u64)| {
            Problem::CODES.into_iter().find(|known| known == code).map(|code| (code, count))
        };
        let [nodes, guesses, backtracks, depth, comparisons, placements] = self.metrics;
        let tally = Tally {
            answers: self.answers,
            errors: self.errors.iter().map(known).collect::<Option<_>>()?,
            metrics: Metrics { nodes, guesses, backtracks, depth, comparisons, placements },
            costs: match &self.costs {
                Some(recorded) => Some(Box::new(Costs::from_recorded(recorded)?)),
                None => None,
            },
        };
        let (bytes, prefix) = (self.input_bytes, Some(self.input_prefix));
        Some(Progress { bytes, prefix, tally, counts: self.counts.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: Version =
        Version { bytes: 820, modified: (1_700_000_000, 5), changed: (1_700_000_009, 7), inode: 12 };

    fn run() -> RunIdentity {
        let options = [("--question", Some("unique")), ("--shard", None)];
        RunIdentity {
            program: "sudoku 1.0.0".to_owned(),
            command: "solve".to_owned(),
            input: "/lists/a.txt".to_owned(),
            version: VERSION,
            options: options.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).to_vec(),
        }
    }

    #[test]
    fn a_journal_is_read_as_it_was_written() {
        let mut tally = Tally::default();
        for nodes in [1, 1, 90, 1_234_567] {
            let metrics = Metrics { nodes, depth: nodes / 2, ..Metrics::default() };
            tally.count_one((nodes == 90).then_some("no_solution"), &metrics);
            tally.costs.get_or_insert_default().record(&metrics);
        }
        let prefix = Some(Prefix { bytes: 400, hash: u64::MAX });
        let counts = [("puzzles".to_owned(), 4), ("rating 12".to_owned(), 3)].into_iter().collect();
        let progress = Progress { bytes: 328, prefix, tally, counts };
        let journal = Journal::new(&run(), &progress, 400, Duration::from_millis(1_500)).unwrap();
        let text = serde_json::to_vec(&journal).unwrap();
        let read: Journal = serde_json::from_slice(&text).unwrap();
        assert_eq!(read.progress().unwrap(), progress);
        assert_eq!((read.output_bytes(), read.work()), (400, Duration::from_millis(1_500)));
        assert_eq!(run().difference(read.run()), None);
    }

    #[test]
    fn a_journal_of_another_program_is_not_understood() {
        let prefix = Some(Prefix { bytes: 0, hash: 1 });
        let progress = Progress { prefix, ..Progress::default() };
        let mut journal = Journal::new(&run(), &progress, 0, Duration::ZERO).unwrap();
        journal.errors.insert("no_such_code".to_owned(), 1);
        assert_eq!(journal.progress(), None);
    }

    /// A journal without one of the newer fields cannot vouch for its input.
    #[test]
    fn a_journal_of_an_older_program_is_not_understood() {
        let progress = Progress { prefix: Some(Prefix { bytes: 9, hash: 1 }), ..Progress::default() };
        let journal = Journal::new(&run(), &progress, 0, Duration::ZERO).unwrap();
        let text = serde_json::to_string(&journal).unwrap();
        assert!(serde_json::from_str::<Journal>(&text).is_ok());
        for new in [
            r#","input_prefix":{"bytes":9,"hash":1}"#,
            r#","changed":[1700000009,7]"#,
            r#","inode":12"#,
            r#","command":"solve""#,
            r#","counts":{}"#,
        ] {
            let older = text.replace(new, "");
            assert_ne!(older, text, "{new}");
            assert!(serde_json::from_str::<Journal>(&older).is_err(), "{older}");
        }
    }

    #[test]
    fn without_a_hash_of_the_input_there_is_no_journal() {
        assert!(Journal::new(&run(), &Progress::default(), 0, Duration::ZERO).is_none());
    }

    #[test]
    fn what_differs_is_named() {
        let words = |then: &str, now: &str| Some(Difference::Setting(then.to_owned(), now.to_owned()));
        let mut other = run();
        other.options[1].1 = Some("2/5".to_owned());
        assert_eq!(other.difference(&run()), words("no --shard", "--shard 2/5"));
        assert_eq!(run().difference(&other), words("--shard 2/5", "no --shard"));
        let other = RunIdentity { program: "sudoku 1.1.0".to_owned(), ..run() };
        assert_eq!(other.difference(&run()), words("sudoku 1.0.0", "sudoku 1.1.0"));
        let other = RunIdentity { command: "rate".to_owned(), options: Vec::new(), ..run() };
        assert_eq!(other.difference(&run()), words("sudoku solve", "sudoku rate"));
        let other = RunIdentity { input: "/lists/b.txt".to_owned(), ..run() };
        assert_eq!(other.difference(&run()), words("the input /lists/a.txt", "the input /lists/b.txt"));
        for version in [
            Version { bytes: 821, ..VERSION },
            Version { modified: (1_700_000_000, 6), ..VERSION },
            Version { changed: (1_700_000_009, 8), ..VERSION },
            Version { inode: 13, ..VERSION },
        ] {
            let other = RunIdentity { version, ..run() };
            assert_eq!(other.difference(&run()), Some(Difference::Input("/lists/a.txt".to_owned())));
        }
    }
}
