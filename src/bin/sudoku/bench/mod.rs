//! `sudoku bench`: puzzles a second of each strategy and back end.
//!
//! A file is in memory before anything is timed, and nothing is written. The candidates take turns, all of them once and
//! then all of them again, so that a machine that slows down slows down all alike. Answers are checked: solutions against the
//! rules in the first run, and in every run how many answers there are of each kind.

mod candidate;
mod compare;
mod interval;
mod report;
mod subject;
mod turns;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use indicatif::ProgressBar;
use sudoku_stream::grid::Order;
use sudoku_stream::pipeline;
use sudoku_stream::solver::{Fast, Strategy};

use self::candidate::{Candidate, Setting, Stop};
use self::report::{Measured, Report};
use self::subject::Subject;
use super::args::BenchArgs;
use super::{EXIT_DISAGREED, interrupt, view};

/// How long a run takes at least. A short file is answered as often as that takes, and the mean counts.
const LEAST_RUN: Duration = Duration::from_millis(20);

pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    if let Some(other) = &args.comparison.compare {
        return compare::run(args, other);
    }
    let cancel = interrupt::flag()?;
    let threads = usize::from(args.threads);
    let inputs = args.inputs();
    let load = move || inputs.iter().map(|input| Subject::load(input, threads).map(Arc::new)).collect();
    let loaded: Option<Vec<Arc<Subject>>> = interrupt::interruptible(&cancel, load)?;
    let Some(subjects) = loaded else { return Ok(interrupted("Stopped before the first run")) };

    let (question, node_limit) = (args.question(), args.node_limit);
    let setting = Setting { pool: pipeline::pool(Some(threads))?, cancel, question, node_limit };
    let mut work = Vec::new();
    for subject in subjects {
        let candidates = candidates(args, &subject, &setting)?;
        work.push((subject, candidates));
    }

    if args.comparison.turns {
        turns::serve(&setting, work)?;
        return Ok(ExitCode::SUCCESS);
    }
    let runs = |candidates: &Vec<Candidate>| candidates.len() as u64 * (1 + u64::from(args.repeats.get()));
    let bar = view::runs_bar(!args.quiet, work.iter().map(|(_, candidates)| runs(candidates)).sum());
    let mut report = Report::new(args);
    if !args.json {
        view::print(&report.heading())?;
    }
    for (subject, candidates) in work {
        let measured = match measure(&setting, &subject, candidates, args.repeats.get(), &bar) {
            Ok(measured) => measured,
            Err(stop) => {
                let (done, all) = (bar.position(), bar.length().unwrap_or(0));
                bar.finish_and_clear();
                return Ok(match stop {
                    Stop::Cancelled => {
                        let (done, all) = (view::thousands(done), view::counted(all, "run"));
                        interrupted(&format!("Stopped after {done} of {all}"))
                    }
                    Stop::Wrong(what) => {
                        view::status_line(&format!("{}: {what}.", subject.name));
                        ExitCode::from(EXIT_DISAGREED)
                    }
                });
            }
        };
        let rows = report::rows(&subject, &measured);
        if !args.json {
            let table = report::table(&subject, &rows, &measured);
            bar.suspend(|| view::print(&table))?;
        }
        report.results.extend(rows);
    }
    bar.finish_and_clear();
    if args.json {
        view::print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is timed on a file.
fn candidates(args: &BenchArgs, subject: &Subject, setting: &Setting) -> anyhow::Result<Vec<Candidate>> {
    let order = subject.format.order();
    let strategies = supported(args, order)?;
    let mut candidates = Vec::new();
    for kind in args.kinds() {
        for &strategy in &strategies {
            let mut add = |strategy, backend| {
                candidates.push(Candidate::new(kind, strategy, backend, &subject.format, setting));
            };
            if strategy.name() == Fast::BEST.name() {
                args.backends().into_iter().for_each(|backend| add(Fast::with(backend), Some(backend)));
            } else {
                add(strategy, None);
            }
        }
    }
    Ok(candidates)
}

/// The strategies to time on puzzles of an order. One that was named and does not solve these is left out, as long as there
/// is another.
fn supported(args: &BenchArgs, order: Order) -> anyhow::Result<Vec<&'static dyn Strategy>> {
    if let Some(strategy) = args.only_strategy(order) {
        return Ok(vec![strategy]);
    }
    let (supported, others): (Vec<_>, Vec<_>) =
        args.strategies().into_iter().partition(|s| s.supports(order));
    if let (true, Some(strategy)) = (supported.is_empty(), others.first()) {
        bail!("The strategy {} does not solve {order} puzzles. Name another.", strategy.name());
    }
    Ok(supported)
}

/// Times the candidates in turns, and makes sure that they agree.
fn measure(
    setting: &Setting,
    subject: &Arc<Subject>,
    candidates: Vec<Candidate>,
    repeats: u32,
    bar: &ProgressBar,
) -> Result<Vec<Measured>, Stop> {
    let in_turn = |candidate: &Candidate| bar.set_message(format!("{}: {candidate}", subject.name));
    let mut batches = subject.batches();
    let mut measured: Vec<Measured> = Vec::new();
    for candidate in candidates {
        in_turn(&candidate);
        let outcome =
            candidate.warm_up(setting, subject, &mut batches).map_err(|stop| stop.of(&candidate))?;
        let new = Measured { candidate, outcome, times: Vec::new() };
        if let Some(first) = measured.first()
            && let Some(difference) = new.whole(subject).difference(&first.whole(subject))
        {
            let (new, first) = (new.candidate, &first.candidate);
            return Err(Stop::Wrong(format!("{new} disagrees with {first}: {difference}")));
        }
        measured.push(new);
        bar.inc(1);
    }
    for _ in 0..repeats {
        for Measured { candidate, outcome, times } in &mut measured {
            in_turn(candidate);
            let (mean, _) = candidate.mean_run(setting, subject, &mut batches, outcome, LEAST_RUN)?;
            times.push(mean);
            bar.inc(1);
        }
    }
    Ok(measured)
}

fn interrupted(what: &str) -> ExitCode {
    view::status_line(&format!("Interrupted. {what}."));
    interrupt::exit_code()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use clap::Parser as _;
    use sudoku_stream::grid::Grid;
    use sudoku_stream::solver::{Limit, Propagation, Search, Solver};

    use super::super::args::{Args, Command, Kind};
    use super::*;

    /// Says what it was made to say.
    struct Liar(Lie);

    #[derive(Clone, Copy)]
    enum Lie {
        /// That there is no solution.
        NoSolution,
        /// Another solution.
        WrongSolution,
        /// Nothing.
        Panic,
    }

    impl Strategy for Liar {
        fn name(&self) -> &'static str {
            "liar"
        }

        fn summary(&self) -> &'static str {
            "Says what it was made to say"
        }

        fn supports(&self, _: Order) -> bool {
            true
        }

        fn solver(&self, order: Order) -> Box<dyn Solver> {
            Box::new(LyingSolver(self.0, Propagation.solver(order)))
        }
    }

    struct LyingSolver(Lie, Box<dyn Solver>);

    impl Solver for LyingSolver {
        fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
            let search = self.1.search(puzzle, limit, solution);
            match self.0 {
                Lie::NoSolution => return Search::NO_SOLUTION,
                Lie::WrongSolution => solution.digits_mut().swap(0, 1),
                Lie::Panic => panic!("injected"),
            }
            search
        }
    }

    static NO_SOLUTION: Liar = Liar(Lie::NoSolution);
    static WRONG_SOLUTION: Liar = Liar(Lie::WrongSolution);
    static PANIC: Liar = Liar(Lie::Panic);

    /// What is said of the strategy beside `propagation`.
    fn measured(kind: Kind, strategy: &'static dyn Strategy, is_cancelled: bool) -> Result<usize, Stop> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, "12343412214343..\n").unwrap();
        let typed = ["sudoku", "bench", file.path().to_str().unwrap()];
        let Command::Bench(args) = Args::parse_from(typed).command else { panic!("{typed:?}") };
        let subject = Arc::new(Subject::load(&args.inputs()[0], 1).unwrap());
        let setting = Setting {
            pool: pipeline::pool(Some(1)).unwrap(),
            cancel: Arc::new(AtomicBool::new(is_cancelled)),
            question: args.question(),
            node_limit: args.node_limit,
        };
        let candidate = |strategy| Candidate::new(kind, strategy, None, &subject.format, &setting);
        let candidates = vec![candidate(&Propagation), candidate(strategy)];
        measure(&setting, &subject, candidates, 2, &ProgressBar::hidden())
            .map(|measured| measured.iter().map(|measured| measured.times.len()).sum())
    }

    #[test]
    fn a_wrong_answer_is_found_out() {
        for kind in [Kind::Text, Kind::Search] {
            assert_eq!(measured(kind, &Propagation, false), Ok(4));
            assert_eq!(measured(kind, &Propagation, true), Err(Stop::Cancelled));
            for (strategy, part) in [
                (&NO_SOLUTION, "disagrees with propagation"),
                (&WRONG_SOLUTION, "got the wrong"),
                (&PANIC, "broke down"),
            ] {
                let Err(Stop::Wrong(what)) = measured(kind, strategy, false) else { panic!("not found out") };
                assert!(what.starts_with(&format!("liar ({kind})")) && what.contains(part), "{what}");
            }
        }
    }
}
