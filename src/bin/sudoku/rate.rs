//! `sudoku rate`: how hard puzzles are for a person, on the scale of Sudoku Explainer.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::anyhow;
use clap::Args;
use sudoku_stream::answer::{CheckForm, NamedTally as _, RateTally, RateTask, RatedPuzzle, Raters};
use sudoku_stream::grid::Grid;
use sudoku_stream::offline::{self, OfflineError, Output, Progress, RatedPart};
use sudoku_stream::pipeline::{self, ThreadPool};
use sudoku_stream::solver::DEFAULT_NODE_LIMIT;
use sudoku_stream::techniques::{DEFAULT_EFFORT, Score};
use sudoku_stream::text::{Problem, PuzzleError};

use crate::cli::by_hand::{self, TechniqueArgs};
use crate::cli::early_end::EarlyEnd;
use crate::cli::input::{Input, InputArgs};
use crate::cli::interrupt;
use crate::cli::output::OutputArgs;
use crate::cli::resume::{ResumeArgs, RowsRun};
use crate::cli::rows::ErrorLines;
use crate::cli::run::RunArgs;
use crate::cli::value::{self, whole};
use crate::cli::{print, rows};

const EXAMPLES: &str = "\
Examples:
  sudoku rate ..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.
  sudoku rate puzzles.txt --format csv -o rated.csv
  sudoku rate puzzles.txt --up-to 7.0 --summary
  sudoku rate million.txt -o ratings.txt --resume
  zcat lists/*.gz | sudoku rate > ratings.txt

Each puzzle line is answered by one line, in order: ER/EP/ED and the hardest technique, or \
`error: ` and a sentence. ER is the rating of the hardest step, EP of the hardest one up to the \
first digit, ED of the first step. A single puzzle is described, if it is typed as an argument or the \
rating is shown on a terminal.

Exit codes: 0, done; 1, an error line to a typed puzzle, or any with --fail-on-error; 2, the \
input cannot be read.";

/// Arguments of `sudoku rate`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RateArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Stop at a step with a higher rating, as in 7.0, and say `above`
    #[arg(long, value_name = "RATING", value_parser = by_hand::score)]
    up_to: Option<Score>,

    #[command(flatten)]
    techniques: TechniqueArgs,

    /// Print the counts by rating and technique instead of a line for each puzzle
    #[arg(long, conflicts_with_all = ["format", "resume"])]
    summary: bool,

    /// Form of the ratings: text, or a row for every puzzle as csv, tsv, jsonl or parquet [default:
    /// text]
    ///
    /// Without it, a FILE named `.csv`, `.tsv`, `.jsonl` or `.parquet` gets that.
    /// The columns of a table stay as they are; added are the verdict, er, ep, ed, the hardest
    /// technique, the number of steps, the steps by technique, the clues, whether each is needed,
    /// and for a puzzle beyond the techniques the nodes and guesses of a search.
    #[arg(short, long, value_name = "FORM", value_parser = value::check_form())]
    format: Option<CheckForm>,

    /// Call a puzzle `beyond` after N inferences of chains
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = DEFAULT_EFFORT)]
    #[arg(value_parser = whole::<u64>(0..))]
    effort: u64,

    /// Exit with 1 if an answer is an error line
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    fail_on_error: bool,

    #[command(flatten)]
    out: OutputArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl RateArgs {
    /// The form of the report: the one asked for, or that of a file by its name.
    fn form(&self) -> CheckForm {
        if self.summary { CheckForm::Text } else { self.out.check_form(self.format) }
    }

    /// How inputs and the output are opened.
    fn rows(&self) -> RowsRun<'_> {
        let [only, no_uniqueness] = self.techniques.options();
        RowsRun {
            command: "rate",
            out: &self.out,
            resume: self.resume,
            form: self.form(),
            has_rows: !self.summary,
            keeps_rows: true,
            item: "puzzle",
            options: vec![
                ("--format", Some(self.form().to_string())),
                ("--up-to", self.up_to.map(|score| score.to_string())),
                only,
                no_uniqueness,
                ("--effort", Some(self.effort.to_string())),
            ],
            is_quiet: self.run.progress.quiet,
        }
    }
}

/// Runs `sudoku rate`.
pub fn run(args: &RateArgs) -> anyhow::Result<ExitCode> {
    let mut errors = ErrorLines::new(args.fail_on_error);
    let ended = rate(args, &mut errors);
    errors.exit_code(ended)
}

/// Rates every puzzle, and counts in `errors` the error lines.
fn rate(args: &RateArgs, errors: &mut ErrorLines) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let task = RateTask {
        techniques: args.techniques.set()?,
        up_to: args.up_to,
        effort: args.effort,
        node_limit: DEFAULT_NODE_LIMIT,
        with_minimal: true,
    };
    let inputs = args.input.all()?;
    let rows = args.rows();
    rows.check(inputs.len())?;
    rows::check_is_one(&inputs, args.form())?;
    rows.look_at_all(&inputs, &cancel, None)?;
    let mut run =
        RateRun { args, rows, task, cancel, pool, begin, output: None, tally: RateTally::default() };
    for input in &inputs {
        let rated = run.rate(input);
        errors.count(run.tally.error_count(), input);
        rated?;
    }
    let RateRun { mut output, tally, .. } = run;
    if args.summary
        && let Some(output) = &mut output
    {
        output.write(table(&tally).as_bytes())?;
    }
    let mut time = begin.elapsed();
    if let Some(output) = output {
        time += output.earlier();
        output.finish()?;
    }
    if !args.run.progress.quiet && tally.puzzles > 1 {
        if !args.summary {
            print::status_line(table(&tally).trim_end());
        }
        print::status_line(&format!(
            "{} in {:.3} s, {} a second.",
            print::counted(tally.puzzles, "puzzle"),
            time.as_secs_f64(),
            print::per_second(tally.puzzles, time)
        ));
    }
    Ok(())
}

/// A run over one input or several.
struct RateRun<'a> {
    args: &'a RateArgs,
    rows: RowsRun<'a>,
    task: RateTask,
    cancel: Arc<AtomicBool>,
    pool: Arc<ThreadPool>,
    begin: Instant,
    /// Opened with the first input, because an input must not be the output.
    output: Option<Output>,
    /// What was found so far, including what an earlier run has found that this one resumes.
    tally: RateTally,
}

impl RateRun<'_> {
    /// Rates one input.
    fn rate(&mut self, input: &Input) -> Result<(), EarlyEnd> {
        let args = self.args;
        let Self { rows, output, tally, .. } = self;
        let recall = |counts: &_| RateTally::from_named(counts).map(|counted| *tally = counted).is_some();
        let Some((reader, output)) = rows.open(input, output, &self.cancel, |_| Ok(()), recall)? else {
            return Err(self.stopped(false, OfflineError::Cancelled));
        };
        self.task.techniques.check_for(reader.format().order())?;
        let raters = Arc::new(Raters::new(reader.format().clone(), self.task));
        let (name, is_table) = (reader.name().to_owned(), reader.format().is_table());
        let (form, begin, tally) = (args.form(), self.begin, &mut self.tally);
        let rated_before = tally.puzzles;
        // An earlier run can only have rated a part of a single input.
        let rated_earlier = if input.is_only() { rated_before } else { 0 };
        let bar = self.rows.bar(&args.run.progress, input, &reader, output.progress());
        // A puzzle by itself is described where a person sees it, so there the first rating waits for
        // another puzzle or the end. Programs get a line for every puzzle, however many there are.
        let is_for_person = input.is_typed() || args.out.path().is_none() && io::stdout().is_terminal();
        let describes =
            form == CheckForm::Text && !args.summary && input.is_only() && rated_before == 0 && is_for_person;
        let mut first: Option<RatedPart> = None;
        let result = offline::rate(reader, &raters, form, &self.pool, &self.cancel, |mut part| {
            tally.add(&part.tally);
            bar.advance(part.end, tally.puzzles - rated_earlier, "puzzles", begin);
            if describes && tally.puzzles == 1 {
                if part.single.is_some() {
                    first = Some(part);
                    return Ok(());
                }
                if first.is_some() {
                    return Ok(());
                }
            }
            let mut rows = part.tally.puzzles;
            if let Some(first) = first.take() {
                rows += first.tally.puzzles;
                part.text.splice(0..0, first.text);
            }
            let text = if args.summary { Vec::new() } else { input.named(form, part.text) };
            Ok(output.add_rows(part.end, part.prefix, &text, rows, tally.named())?)
        });
        bar.finish_and_clear();
        if let Err(error) = result {
            return Err(self.stopped(is_table, error));
        }
        // All puzzles of a single input may have been rated by an earlier run.
        let is_empty = self.tally.puzzles == if input.is_only() { 0 } else { rated_before };
        if is_empty {
            return Err(anyhow!("{name} is empty.").into());
        }
        if let Some((puzzle, result)) = first.and_then(|part| part.single) {
            let text = match &result {
                Ok(rated) => describe(puzzle.as_ref(), rated),
                Err(error) => {
                    let line = error.line.filter(|_| !input.is_by_itself());
                    format!("error: {}\n", PuzzleError { line, ..error.clone() })
                }
            };
            output.write(text.as_bytes())?;
        }
        Ok(())
    }

    /// Ends a run that failed or was interrupted.
    fn stopped(&mut self, is_table: bool, error: OfflineError) -> EarlyEnd {
        let rated =
            |progress: &Progress| format!("{} rated", self.rows.counted(progress.tally.answers, is_table));
        self.rows.stopped(self.output.take(), rated, error)
    }
}

/// The rating of the only puzzle of an input.
pub fn describe(puzzle: Option<&Grid>, rated: &RatedPuzzle) -> String {
    let RatedPuzzle { rating, is_minimal, search } = rated;
    let mut text = String::new();
    let score = |score: Option<Score>| score.map_or_else(|| "-".to_owned(), |score| score.to_string());
    if rating.is_complete() {
        let hardest = rating.hardest.map_or("nothing to fill in", |technique| technique.title());
        let scores = [rating.er, rating.ep, rating.ed].map(score);
        let _ = writeln!(text, "ER {}, EP {}, ED {}: {hardest}", scores[0], scores[1], scores[2]);
    } else {
        let steps = print::counted(rating.steps.into(), "step");
        let _ = writeln!(text, "ER {rating}. After {steps}: {}", rating.ending);
    }
    if let Some(cost) = search {
        let (nodes, guesses) = (print::counted(cost.nodes, "node"), print::counted(cost.guesses, "guess"));
        let _ = writeln!(text, "A search by propagation takes {nodes} and {guesses}.");
    }
    let clues = print::counted(puzzle.map_or(0, |puzzle| puzzle.filled() as u64), "clue");
    let needed = match is_minimal {
        Some(true) => ", each of them needed",
        Some(false) => ", not all of them needed",
        None => "",
    };
    let _ = writeln!(text, "{clues}{needed}; one solution");
    if rating.steps > 0 {
        text += "\nsteps  technique\n";
    }
    for (technique, count) in rating.counts() {
        let _ = writeln!(text, "{count:>5}  {technique}, {} and up", technique.base_rating());
    }
    text
}

/// The puzzles by rating and by the technique of the hardest step.
fn table(tally: &RateTally) -> String {
    let all = tally.puzzles;
    let mut rows: Vec<(String, u64)> = Vec::new();
    for (&er, &count) in &tally.ratings {
        let whole = er / 10;
        let name = if er == 0 { "nothing to fill in".to_owned() } else { format!("{whole}.0 to {whole}.9") };
        match rows.last_mut() {
            Some((last, sum)) if *last == name => *sum += count,
            _ => rows.push((name, count)),
        }
    }
    if tally.above > 0 {
        rows.push(("above".to_owned(), tally.above));
    }
    if tally.beyond > 0 {
        rows.push(("beyond".to_owned(), tally.beyond));
    }
    for code in Problem::CODES {
        if let Some(&count) = tally.errors.get(code) {
            rows.push((format!("error {code}"), count));
        }
    }
    let mut text = columns("rating", &rows, all);
    let hardest: Vec<(String, u64)> =
        tally.hardest.iter().map(|(technique, &count)| (technique.title().to_owned(), count)).collect();
    if !hardest.is_empty() {
        text += &format!("\n{}", columns("hardest step", &hardest, all));
    }
    if tally.minimal_known > 0 {
        let verb = if tally.minimal_known == 1 { "is" } else { "are" };
        text += &format!(
            "\n{} of {} {verb} minimal.\n",
            print::thousands(tally.minimal),
            print::counted(tally.minimal_known, "puzzle")
        );
    }
    text
}

/// A table of counts and shares.
fn columns(heading: &str, rows: &[(String, u64)], all: u64) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).chain([heading.len()]).max().unwrap_or(0);
    let mut text = format!("{heading:width$}  {:>12}  {:>6}\n", "puzzles", "%");
    for (name, count) in rows {
        let share = *count as f64 / all.max(1) as f64 * 100.0;
        let _ = writeln!(text, "{name:width$}  {:>12}  {share:>6.2}", print::thousands(*count));
    }
    text
}
