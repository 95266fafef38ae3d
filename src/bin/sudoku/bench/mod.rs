//! `sudoku bench`: the speed of each strategy and back end, in puzzles a second.
//!
//! A file is in memory before anything is timed, and nothing is written. The contenders take turns,
//! all of them once and then all of them again, because a machine that slows down then slows down
//! all alike. Answers are checked: solutions against the rules in the first run, and in every run
//! the number of answers of each kind.

mod compare;
mod contender;
mod interval;
mod report;
mod subject;
mod turns;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum, ValueHint};
use serde::Serialize;
use sudoku_stream::grid::Order;
use sudoku_stream::offline::Output;
use sudoku_stream::pipeline;
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Fast, Question, STRATEGIES, Strategy, default_strategy};

use self::contender::{Contender, RunContext, RunError};
use self::report::{BenchReport, Measured};
use self::subject::Subject;
use crate::cli::input::{FormatArgs, Input};
use crate::cli::interrupt::{self, interruptible};
use crate::cli::output::{ReportArgs, check_are_two, text_file};
use crate::cli::progress::Bar;
use crate::cli::value::{self, AnyStrategy, COUNT_LIMIT, QuestionArg, whole};
use crate::cli::{exit, print, progress};

/// The fewest puzzles of a list that keep the lanes of the kernel busy and chance small.
const FEW_PUZZLES: u64 = 1_000;

/// The shortest run. A short file is answered again and again for this long, and the mean counts.
const LEAST_RUN: Duration = Duration::from_millis(20);

/// The FILE of `--json` and `--markdown` that stands for the report that is printed.
const PRINTED: &str = "-";

const EXAMPLES: &str = "\
Examples:
  sudoku bench puzzles.txt
  sudoku bench easy.txt hard.txt --strategy fast --kind search -f json -o bench.json
  sudoku bench puzzles.txt -j 4 --question count -n 2
  sudoku bench puzzles.txt --kind text --min-rate 1000000
  sudoku bench puzzles.txt --compare ./sudoku-before --max-regression 5%
  sudoku bench puzzles.txt --compare ./sudoku-before --json=b.json --markdown=b.md

Exit codes: 0, all answers are right; 1, some are wrong, a list is too slow, or there is a regression; 2, the run could not start, or stopped before its end.";

/// Arguments of `sudoku bench`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct BenchArgs {
    /// Files of puzzles, packed or not; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,

    /// Part to time; repeatable [default: all]
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<BenchKind>,

    /// Strategy to time; repeatable [default: those for bulk work]
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = value::strategy())]
    strategy: Vec<AnyStrategy>,

    /// Back end of the strategy fast: avx512, avx512vl, avx2, neon or portable; repeatable [default:
    /// all of this machine]
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    #[arg(value_parser = value::backend(), hide_possible_values = true)]
    backend: Vec<Backend>,

    /// Answer to find for every puzzle
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = QuestionArg::Unique)]
    question: QuestionArg,

    /// Stop `--question count` at N solutions of a puzzle
    #[arg(short = 'n', long, hide_short_help = true, value_name = "N", default_value_t = COUNT_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..))]
    limit: u64,

    /// Give up a puzzle after N nodes
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..))]
    node_limit: u64,

    /// Timed runs of each contender, after a warm-up
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(1..))]
    repeats: u32,

    /// Exit with 1 if nothing that is timed answers N puzzles of a list a second
    ///
    /// The median of the fastest contender counts, for each list.
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = whole::<u64>(1..))]
    #[arg(conflicts_with = "compare")]
    min_rate: Option<u64>,

    /// Threads [range: 1 to 1024]
    #[arg(short = 'j', long, value_name = "N", default_value = "1", value_parser = value::threads())]
    threads: usize,

    /// Form of the report; markdown is for --compare [default: table]
    #[arg(id = "form", short = 'f', long = "format", value_enum, value_name = "FORM")]
    form: Option<BenchReportForm>,

    /// Short for `--format json`, or with =FILE a second report as JSON
    ///
    /// `--json=FILE` writes FILE beside the report that is printed, from the same measurement.
    /// FILE is complete or absent.
    #[arg(long, hide_short_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = PRINTED)]
    json: Option<PathBuf>,

    #[command(flatten)]
    out: ReportArgs,

    #[command(flatten)]
    comparison: CompareArgs,

    /// Print only errors on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// The comparison of two builds of this program.
#[derive(Clone, Args)]
struct CompareArgs {
    /// Compare with another build of this program
    ///
    /// PROGRAM is a path such as ./sudoku-before, or a name that is looked up in PATH.
    /// Both take turns on the same lists.
    /// The default strategy is timed on the best back end, from text to text.
    /// --kind, --strategy and --backend choose others.
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath)]
    #[arg(conflicts_with = "repeats")]
    compare: Option<PathBuf>,

    /// Exit with 1 if a list may be slower by P%, as in 5% [range: 0% to 1000%]
    #[arg(long, value_name = "P%", requires = "compare")]
    max_regression: Option<Percent>,

    /// Time for the comparison; it ends earlier once decided [range: 1s to 1h]
    #[arg(long, hide_short_help = true, help_heading = "Comparison", value_name = "TIME")]
    #[arg(default_value = "50s", requires = "compare")]
    #[arg(value_parser = value::time(value::SECOND, value::SECOND..=Duration::from_secs(3600)))]
    time: Duration,

    /// Short for `--format markdown`, or with =FILE a second report as Markdown
    ///
    /// `--markdown=FILE` writes FILE beside the report that is printed, from the same measurement.
    /// FILE is complete or absent.
    #[arg(long, hide_short_help = true, help_heading = "Comparison", requires = "compare")]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = PRINTED)]
    markdown: Option<PathBuf>,

    /// One side of a comparison: time the rows that standard input names
    #[arg(long, hide = true, conflicts_with_all = ["compare", "json", "repeats"])]
    turns: bool,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BenchReportForm {
    Table,
    Json,
    Markdown,
}

/// A share such as `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Percent(f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        let share = number.parse().ok().filter(|share| (0.0..=1000.0).contains(share));
        share.map(Self).ok_or_else(|| "write a share from 0% to 1000%, such as 5%".to_owned())
    }
}

/// The part of the work that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum BenchKind {
    /// From the text of the puzzles to the text of the answers, both in memory
    Text,
    /// The search alone, of puzzles that have been read
    Search,
}

impl fmt::Display for BenchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Search => "search",
        })
    }
}

/// Reports that are written to files beside the one that is printed.
struct ReportFiles {
    json: Option<Output>,
    markdown: Option<Output>,
}

impl ReportFiles {
    /// Opens the files, so that a wrong name is not reported after all the work.
    ///
    /// # Errors
    /// Both are the same file, or one is an input; those of [`text_file`].
    fn open(args: &BenchArgs, inputs: &[Input]) -> anyhow::Result<Self> {
        let is_own = |file: &&Path| file.as_os_str() != PRINTED;
        let json = args.json.as_deref().filter(is_own);
        let markdown = args.comparison.markdown.as_deref().filter(is_own);
        check_are_two(("--json", json), ("--markdown", markdown))?;
        for (file, flag) in [(json, "--json"), (markdown, "--markdown")] {
            for input in inputs.iter().filter(|_| file.is_some()) {
                input.check_apart(file, flag)?;
            }
        }
        let open = |file: Option<&Path>| file.map(|file| text_file(file, false)).transpose();
        Ok(Self { json: open(json)?, markdown: open(markdown)? })
    }
}

/// Writes a report to its file, if it has one.
fn save(file: Option<Output>, text: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<()> {
    if let Some(mut file) = file {
        file.write(text()?.as_bytes())?;
        file.finish()?;
    }
    Ok(())
}

impl BenchArgs {
    /// The command line for one side of a comparison: files, and what is timed on them.
    fn command_line(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> =
            self.files.iter().map(|file| file.clone().into_os_string()).collect();
        let mut add = |flag: &str, value: &dyn fmt::Display| arguments.push(format!("{flag}={value}").into());
        for (flag, value) in self.format.options() {
            if let Some(value) = value {
                add(flag, &value);
            }
        }
        let kinds = if self.kind.is_empty() { &[BenchKind::Text][..] } else { &self.kind };
        for kind in kinds {
            add("--kind", kind);
        }
        for strategy in &self.strategy {
            add("--strategy", &strategy.name());
        }
        for backend in &self.backend {
            add("--backend", backend);
        }
        add("--question", &self.question);
        add("--limit", &self.limit);
        add("--node-limit", &self.node_limit);
        add("--threads", &self.threads);
        arguments
    }

    /// The files as inputs.
    fn inputs(&self) -> Vec<Input> {
        self.files.iter().map(|file| Input::file(file, self.format.clone())).collect()
    }

    /// The form of the report that is printed, or written to the file of `--output`.
    ///
    /// # Errors
    /// Several flags name it.
    fn report_form(&self) -> anyhow::Result<BenchReportForm> {
        let is_printed = |file: &&PathBuf| file.as_os_str() == PRINTED;
        let json = self.json.as_ref().filter(is_printed).map(|_| BenchReportForm::Json);
        let markdown =
            self.comparison.markdown.as_ref().filter(is_printed).map(|_| BenchReportForm::Markdown);
        let named: Vec<BenchReportForm> = [self.form, json, markdown].into_iter().flatten().collect();
        match named[..] {
            [] => Ok(BenchReportForm::Table),
            [form] => Ok(form),
            _ => bail!(
                "--format, --json and --markdown name one form each for the report that is printed. Keep one of \
                 them; --json=FILE and --markdown=FILE write others to files."
            ),
        }
    }

    /// The parts to time, in the order of the table.
    fn kinds(&self) -> Vec<BenchKind> {
        let is_wanted = |kind: &BenchKind| self.kind.is_empty() || self.kind.contains(kind);
        [BenchKind::Text, BenchKind::Search].into_iter().filter(is_wanted).collect()
    }

    /// The strategies to time, in the order of the registry. Those that hard lists can take for
    /// ever have to be named.
    fn strategies(&self) -> Vec<AnyStrategy> {
        let is_wanted = |s: &AnyStrategy| {
            if self.strategy.is_empty() {
                s.is_for_bulk()
            } else {
                self.strategy.iter().any(|named| named.name() == s.name())
            }
        };
        STRATEGIES.iter().copied().filter(is_wanted).collect()
    }

    /// The one strategy to time on puzzles of this order, where a comparison names none.
    fn only_strategy(&self, order: Order) -> Option<AnyStrategy> {
        (self.comparison.turns && self.strategy.is_empty()).then(|| default_strategy(order))
    }

    /// The back ends to time, the fastest first.
    fn backends(&self) -> Vec<Backend> {
        let is_wanted = |backend: &Backend| self.backend.is_empty() || self.backend.contains(backend);
        let most = if self.comparison.turns && self.backend.is_empty() { 1 } else { Backend::ALL.len() };
        Backend::available().filter(is_wanted).take(most).collect()
    }

    /// The question to every puzzle.
    const fn question(&self) -> Question {
        self.question.up_to(self.limit)
    }
}

/// Runs `sudoku bench`.
pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    if let Some(other) = &args.comparison.compare {
        return compare::run(args, other);
    }
    let form = args.report_form()?;
    if form == BenchReportForm::Markdown {
        bail!("--format markdown is for comparisons. Name the other program with --compare.");
    }
    let inputs = args.inputs();
    let mut out = args.out.open(&inputs)?;
    let files = ReportFiles::open(args, &inputs)?;
    let cancel = interrupt::flag()?;
    let threads = args.threads;
    let load = move || inputs.iter().map(|input| Subject::load(input, threads).map(Arc::new)).collect();
    let loaded: Option<Vec<Arc<Subject>>> = interruptible(&cancel, load)?;
    let Some(subjects) = loaded else { return Ok(interrupt::report("Stopped before the first run")) };

    let (question, node_limit) = (args.question(), args.node_limit);
    let context = RunContext { pool: pipeline::pool(Some(threads))?, cancel, question, node_limit };
    let mut work = Vec::new();
    for subject in subjects {
        let contenders = contenders(args, &subject, &context)?;
        work.push((subject, contenders));
    }

    if args.comparison.turns {
        turns::serve(&context, work)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.quiet {
        warn_of_short_lists(work.iter().map(|(subject, _)| (subject.name.as_str(), subject.puzzles())));
    }
    let runs = |contenders: &Vec<Contender>| contenders.len() as u64 * (1 + u64::from(args.repeats));
    let all_runs = work.iter().map(|(_, contenders)| runs(contenders)).sum();
    let bar = progress::of_runs(!args.quiet, all_runs);
    let mut report = BenchReport::new(args);
    if form == BenchReportForm::Table {
        out.write(&report.heading())?;
    }
    for (subject, contenders) in work {
        let measured = match measure(&context, &subject, contenders, args.repeats, &bar) {
            Ok(measured) => measured,
            Err(stop) => {
                let (done, all) = (bar.position(), bar.length().unwrap_or(0));
                bar.finish_and_clear();
                return Ok(match stop {
                    RunError::Cancelled => {
                        let (done, all) = (print::thousands(done), print::counted(all, "run"));
                        interrupt::report(&format!("Stopped after {done} of {all}"))
                    }
                    RunError::Wrong(what) => {
                        print::status_line(&format!("{}: {what}.", subject.name));
                        ExitCode::from(exit::DISAGREED)
                    }
                });
            }
        };
        let rows = report::rows(&subject, &measured);
        if form == BenchReportForm::Table {
            let table = report::table(&subject, &rows, &measured);
            bar.suspend(|| out.write(&table))?;
        }
        report.results.extend(rows);
    }
    bar.finish_and_clear();
    let json = || anyhow::Ok(serde_json::to_string_pretty(&report)? + "\n");
    if form == BenchReportForm::Json {
        out.write(&json()?)?;
    }
    out.finish()?;
    save(files.json, json)?;
    Ok(if is_fast_enough(args, &report) { ExitCode::SUCCESS } else { ExitCode::from(exit::SLOWER) })
}

/// Whether every list reaches the rate that is asked for; names those that do not.
#[expect(clippy::cast_precision_loss, reason = "a rate is far below 2^53")]
fn is_fast_enough(args: &BenchArgs, report: &BenchReport) -> bool {
    let Some(least) = args.min_rate else { return true };
    let slow: Vec<(&str, f64)> =
        report.best_rates().into_iter().filter(|(_, rate)| *rate < least as f64).collect();
    for (file, rate) in &slow {
        print::status_line(&format!(
            "{file}: {} puzzles a second, and --min-rate asks for {}.",
            print::rate(*rate),
            print::thousands(least)
        ));
    }
    slow.is_empty()
}

/// Prints a warning for each list that is too short for figures to be relied on.
fn warn_of_short_lists<'a>(lists: impl Iterator<Item = (&'a str, u64)>) {
    for (name, puzzles) in lists.filter(|&(_, puzzles)| puzzles < FEW_PUZZLES) {
        print::status_line(&format!(
            "{name} has {}; below {} the figures are rough. Time a longer list.",
            print::counted(puzzles, "puzzle"),
            print::thousands(FEW_PUZZLES)
        ));
    }
}

/// The contenders to time on a file.
fn contenders(args: &BenchArgs, subject: &Subject, context: &RunContext) -> anyhow::Result<Vec<Contender>> {
    let order = subject.format.order();
    let strategies = supported(args, order)?;
    let mut contenders = Vec::new();
    for kind in args.kinds() {
        for &strategy in &strategies {
            let mut add = |strategy, backend| {
                contenders.push(Contender::new(kind, strategy, backend, &subject.format, context));
            };
            if strategy.name() == Fast::BEST.name() {
                args.backends().into_iter().for_each(|backend| add(Fast::with(backend), Some(backend)));
            } else {
                add(strategy, None);
            }
        }
    }
    Ok(contenders)
}

/// The strategies to time on puzzles of an order. One that was named and does not solve these is
/// left out, as long as there is another.
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

/// Times the contenders in turns, and makes sure that they agree.
fn measure(
    context: &RunContext,
    subject: &Arc<Subject>,
    contenders: Vec<Contender>,
    repeats: u32,
    bar: &Bar,
) -> Result<Vec<Measured>, RunError> {
    let in_turn = |contender: &Contender| bar.set_message(format!("{}: {contender}", subject.name));
    let mut batches = subject.batches();
    let mut measured: Vec<Measured> = Vec::new();
    for contender in contenders {
        in_turn(&contender);
        let outcome =
            contender.warm_up(context, subject, &mut batches).map_err(|stop| stop.by(&contender))?;
        let new = Measured { contender, outcome, times: Vec::new() };
        if let Some(first) = measured.first()
            && let Some(difference) = new.whole(subject).difference(&first.whole(subject))
        {
            let (new, first) = (new.contender, &first.contender);
            return Err(RunError::Wrong(format!("{new} disagrees with {first}: {difference}")));
        }
        measured.push(new);
        bar.inc(1);
    }
    for _ in 0..repeats {
        for Measured { contender, outcome, times } in &mut measured {
            in_turn(contender);
            let (mean, _) = contender.mean_run(context, subject, &mut batches, outcome, LEAST_RUN)?;
            times.push(mean);
            bar.inc(1);
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use clap::Parser as _;
    use sudoku_stream::grid::Grid;
    use sudoku_stream::solver::{Limit, Propagation, Search, Solver};

    use super::*;
    use crate::cli::deferred::Deferred;
    use crate::{Command, CommandLine};

    /// A strategy that lies.
    struct Liar(Lie);

    #[derive(Clone, Copy)]
    enum Lie {
        /// There is no solution.
        NoSolution,
        /// Another solution.
        WrongSolution,
        /// No answer.
        Panic,
    }

    impl Strategy for Liar {
        fn name(&self) -> &'static str {
            "liar"
        }

        fn summary(&self) -> &'static str {
            "Says what it was made to say"
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

    /// The number of times measured, or why the strategy was rejected beside `propagation`.
    fn measured(
        kind: BenchKind,
        strategy: &'static dyn Strategy,
        is_cancelled: bool,
    ) -> Result<usize, RunError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, "12343412214343..\n").unwrap();
        let typed = ["sudoku", "bench", file.path().to_str().unwrap()];
        let Command::Bench(Deferred(args)) = CommandLine::parse_from(typed).command else {
            panic!("{typed:?}")
        };
        let subject = Arc::new(Subject::load(&args.inputs()[0], 1).unwrap());
        let context = RunContext {
            pool: pipeline::pool(Some(1)).unwrap(),
            cancel: Arc::new(AtomicBool::new(is_cancelled)),
            question: args.question(),
            node_limit: args.node_limit,
        };
        let contender = |strategy| Contender::new(kind, strategy, None, &subject.format, &context);
        let contenders = vec![contender(&Propagation), contender(strategy)];
        measure(&context, &subject, contenders, 2, &Bar::hidden())
            .map(|measured| measured.iter().map(|measured| measured.times.len()).sum())
    }

    #[test]
    fn a_wrong_answer_is_detected() {
        for kind in [BenchKind::Text, BenchKind::Search] {
            assert_eq!(measured(kind, &Propagation, false), Ok(4));
            assert_eq!(measured(kind, &Propagation, true), Err(RunError::Cancelled));
            for (strategy, part) in [
                (&NO_SOLUTION, "disagrees with propagation"),
                (&WRONG_SOLUTION, "got the wrong"),
                (&PANIC, "broke down"),
            ] {
                let Err(RunError::Wrong(what)) = measured(kind, strategy, false) else {
                    panic!("not detected")
                };
                assert!(what.starts_with(&format!("liar ({kind})")) && what.contains(part), "{what}");
            }
        }
    }
}
