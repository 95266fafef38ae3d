//! `sudoku rate`: how hard puzzles are for a person, on the scale of Sudoku Explainer.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use clap::Args;
use sudoku_stream::answer::{CheckForm, RateJob, RateTally, RateTask, RatedPuzzle};
use sudoku_stream::generate::Difficulty;
use sudoku_stream::grid::Grid;
use sudoku_stream::offline::{Output, OutputError, Progress};
use sudoku_stream::solver::DEFAULT_NODE_LIMIT;
use sudoku_stream::techniques::{DEFAULT_EFFORT, Score, Technique};
use sudoku_stream::text::{Format, Problem, PuzzleError};

use crate::cli::by_hand::TechniqueArgs;
use crate::cli::input::{Input, InputArgs};
use crate::cli::print;
use crate::cli::resume::{RowArgs, RowsRun};
use crate::cli::row_command::RowCommand;
use crate::cli::value::{self, whole};

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
    #[arg(long, value_name = "RATING", value_parser = value::score)]
    up_to: Option<Score>,

    #[command(flatten)]
    techniques: TechniqueArgs,

    /// Print the counts by rating and technique instead of a line for each puzzle
    #[arg(long, conflicts_with_all = ["format", "resume", "shard"])]
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
    rows: RowArgs,
}

/// A run of `sudoku rate`.
pub struct RateRun<'a> {
    args: &'a RateArgs,
    task: RateTask,
}

impl<'a> RateRun<'a> {
    /// A run with these arguments.
    ///
    /// # Errors
    /// No technique is left.
    pub fn new(args: &'a RateArgs) -> anyhow::Result<Self> {
        let task = RateTask {
            techniques: args.techniques.set()?,
            up_to: args.up_to,
            effort: args.effort,
            node_limit: DEFAULT_NODE_LIMIT,
            with_minimal: true,
        };
        Ok(Self { args, task })
    }
}

impl RowCommand for RateRun<'_> {
    type Job = RateJob;

    fn rows(&self) -> RowsRun<'_> {
        // Every argument is named, so that no option is forgotten on which the rows depend.
        let RateArgs { input, up_to, techniques, summary, format, effort, fail_on_error, rows } = self.args;
        let [only, no_uniqueness] = techniques.options();
        let form = if *summary { CheckForm::Text } else { rows.out.check_form(*format) };
        let options = vec![
            ("--format", Some(form.to_string())),
            ("--up-to", up_to.map(|score| score.to_string())),
            only,
            no_uniqueness,
            ("--effort", Some(effort.to_string())),
        ];
        let rows = RowsRun::new("rate", input, rows, form, options);
        RowsRun { has_rows: !summary, fail_on_error: Some(*fail_on_error), ..rows }
    }

    fn job(&self, format: Format, form: CheckForm) -> anyhow::Result<RateJob> {
        self.task.techniques.check_for(format.order())?;
        Ok(RateJob::new(format, self.task, form))
    }

    fn done(&self, _: &Progress, _: &RateTally, counted: String) -> String {
        format!("{counted} rated")
    }

    /// A person is told of a puzzle by itself. Programs get a line for every puzzle, however many
    /// there are.
    fn describes(&self, input: &Input, form: CheckForm) -> bool {
        let is_shown = || self.args.rows.out.path().is_none() && io::stdout().is_terminal();
        let is_wanted = form == CheckForm::Text && !self.args.summary;
        is_wanted && input.is_only() && (input.is_typed() || is_shown())
    }

    fn describe(&self, job: &RateJob, input: &Input) -> Option<String> {
        let (puzzle, result) = job.take_single()?;
        Some(match result {
            Ok(rated) => describe(puzzle.as_ref(), &rated),
            Err(error) => {
                let line = error.line.filter(|_| !input.is_by_itself());
                format!("error: {}\n", PuzzleError { line, ..error })
            }
        })
    }

    fn end(&self, tally: &RateTally, output: &mut Output) -> Result<(), OutputError> {
        if self.args.summary { output.write(table(tally, &self.task).as_bytes()) } else { Ok(()) }
    }

    fn summary(&self, tally: &RateTally, time: Duration, _: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if tally.puzzles > 1 {
            if !self.args.summary {
                lines.push(table(tally, &self.task).trim_end().to_owned());
            }
            lines.push(print::in_time(tally.puzzles, "puzzle", time) + ".");
        }
        lines
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
        if let Some(er) = rating.er {
            let class = Difficulty::of(er);
            let _ = writeln!(
                text,
                "ER rates the hardest step ({class}), EP those up to the first digit, ED the first step."
            );
        }
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

/// The numbers of puzzles by difficulty.
///
/// What has no rating is hard, because it is not solved by anything easier, if all of that was tried.
fn by_difficulty(tally: &RateTally, task: &RateTask) -> Vec<(String, u64)> {
    let is_hard = |score: Score| Difficulty::of(score) == Difficulty::Hard;
    let all_tried = task.up_to.is_none_or(|most| is_hard(Score::from_tenths(most.tenths() + 1)))
        && Technique::ALL.iter().all(|&one| is_hard(one.base_rating()) || task.techniques.contains(one));
    let unrated = tally.above + tally.beyond;
    let mut rows = Vec::new();
    for (name, class) in Difficulty::ALL {
        let Some(ratings) = class.ratings() else { continue };
        let counted = tally.ratings.iter().filter(|&(&er, _)| ratings.contains(&Score::from_tenths(er)));
        let count: u64 = counted.map(|(_, count)| count).sum();
        rows.push((
            name.to_owned(),
            if all_tried && class == Difficulty::Hard { count + unrated } else { count },
        ));
    }
    if !all_tried {
        rows.push(("not known".to_owned(), unrated));
    }
    rows.retain(|&(_, count)| count > 0);
    rows
}

/// The puzzles by rating and by the technique of the hardest step.
fn table(tally: &RateTally, task: &RateTask) -> String {
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
    let classes = by_difficulty(tally, task);
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
    if !classes.is_empty() {
        text += &format!("\n{}", columns("difficulty", &classes, all));
    }
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
