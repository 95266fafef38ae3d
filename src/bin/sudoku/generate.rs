//! `sudoku generate`: makes puzzles with one solution, or boards of random values.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure};
use clap::Args;
use sudoku_stream::answer::Cancelled;
use sudoku_stream::generate::{
    self, ClueRange, Constraints, DEFAULT_ATTEMPTS, Difficulty, Generator, Grids, Kind, Recipe, Symmetry,
    any_seed,
};
use sudoku_stream::grid::Order;
use sudoku_stream::offline::OfflineError;
use sudoku_stream::pipeline::{self, Ended, run_ordered};
use sudoku_stream::techniques::{Score, Technique};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, SAMPLE_BYTES, detect};

use crate::cli::output::{OutputArgs, check_kind, unfinished};
use crate::cli::run::RunArgs;
use crate::cli::value::{self, whole};
use crate::cli::{early_end, exit, interrupt, print, progress};

const EXAMPLES: &str = "\
Examples:
  sudoku generate -n 500000 --seed 7 -o puzzles.txt
  sudoku generate --clues 20 -f grid
  sudoku generate --clues 26..32 -n 1000
  sudoku generate --order 4 --difficulty easy --symmetry rotational
  sudoku generate --technique naked-pair --rating ..3.4 -n 5
  sudoku generate --random-clues 24 -n 1000 | sudoku count

Without --clues, clues are removed in random order as long as the solution stays unique.
The same seed gives the same puzzles, whatever the number of threads.

Exit codes: 0, all puzzles were made; 1, some were given up; 2, the run could not start, or stopped before its end.";

/// Arguments of `sudoku generate`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct GenerateArgs {
    /// Number of puzzles
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1..))]
    count: u64,

    /// Side of the puzzles: 1, 4, 9, 16 or 25 [default: 9]
    #[arg(long, value_name = "SIDE", value_parser = value::side(), hide_possible_values = true)]
    size: Option<Order>,

    /// Side of a box, instead of --size [range: 1 to 5] [default: 3]
    #[arg(long, hide_short_help = true, value_name = "ORDER", value_parser = value::order())]
    #[arg(hide_possible_values = true, conflicts_with = "size")]
    order: Option<Order>,

    /// Clues: 24, 17..24 [default: as few as removals reach]
    ///
    /// Also 24.. and ..24; ranges include both ends.
    /// For a range with two ends, the number at which removals stop is drawn anew for every full
    /// grid.
    #[arg(long, value_name = "RANGE")]
    clues: Option<ClueRange>,

    /// Make only puzzles in which every clue is needed
    ///
    /// With --symmetry, every set of clues that are images of each other is needed.
    #[arg(long)]
    minimal: bool,

    /// Symmetry of the clue pattern
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = value::symmetry())]
    #[arg(default_value = "none")]
    symmetry: Symmetry,

    /// Difficulty, a class by the rating of the hardest step by hand
    #[arg(long, value_name = "NAME", value_parser = value::difficulty(), default_value = "any")]
    difficulty: Difficulty,

    /// Guesses of propagation to prove the solution unique: 0, 3..10, 5.. or ..2
    #[arg(long, hide_short_help = true, value_name = "RANGE", conflicts_with = "difficulty")]
    #[arg(value_parser = guesses)]
    guesses: Option<Difficulty>,

    /// Rating of the hardest step by hand, as in 3.0..4.5
    ///
    /// Ratings are those of `sudoku rate`; also 3.4, 3.0.. or ..4.5.
    #[arg(long, value_name = "RANGE", value_parser = generate::ratings)]
    rating: Option<RangeInclusive<Score>>,

    /// Technique that the solution takes, as in x-wing
    ///
    /// It may take harder ones too; --rating limits that. `sudoku steps` shows where.
    #[arg(long, value_name = "NAME", value_parser = value::technique())]
    #[arg(hide_possible_values = true)]
    technique: Option<Technique>,

    /// Make no puzzle twice
    ///
    /// Another is made for each that is there already, and after as many repeats in a row as
    /// --attempts says the run gives up. Memory grows with the puzzles.
    #[arg(long, hide_short_help = true)]
    distinct: bool,

    /// Source of the full grids that clues are removed from
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = value::grids())]
    #[arg(default_value = "random")]
    grid: Grids,

    /// Give up a puzzle after N full grids
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = DEFAULT_ATTEMPTS)]
    #[arg(value_parser = whole::<u64>(1..))]
    attempts: u64,

    /// Make boards of N random values instead
    ///
    /// They keep the rules, and have any number of solutions, or none.
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..))]
    #[arg(conflicts_with_all = ["clues", "minimal", "symmetry", "difficulty", "guesses", "grid", "rating", "technique"])]
    random_clues: Option<usize>,

    /// Seed of the puzzles [default: random, printed]
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0..))]
    seed: Option<u64>,

    /// Form of the puzzles; csv includes the solutions
    #[arg(short = 'f', long = "format", alias = "notation", value_name = "FORM")]
    ///
    /// By default that of the name of FILE, or lines.
    #[arg(value_parser = value::notation(), help_heading = "Output")]
    notation: Option<Notation>,

    /// Symbols of the values: letters, ascii, alpha, hex, or all of them in order [default:
    /// letters]
    #[arg(long, hide_short_help = true)]
    alphabet: Option<Alphabet>,

    #[command(flatten)]
    out: OutputArgs,

    #[command(flatten)]
    run: RunArgs,
}

fn guesses(text: &str) -> Result<Difficulty, generate::NoGuesses> {
    generate::guesses(text).map(Difficulty::Guesses)
}

impl GenerateArgs {
    /// The recipe of every puzzle.
    fn recipe(&self) -> Recipe {
        let constraints = Constraints {
            grids: self.grid,
            // The range has a place of its own.
            clues: None,
            minimal: self.minimal,
            symmetry: self.symmetry,
            difficulty: self.guesses.as_ref().unwrap_or(&self.difficulty).clone(),
            rating: self.rating.clone(),
            technique: self.technique,
        };
        let kind = match (self.random_clues, self.clues) {
            (Some(clues), _) => Kind::RandomClues(clues),
            (None, Some(clues)) => Kind::PuzzleInRange { clues, constraints },
            (None, None) => Kind::Puzzle(constraints),
        };
        let order = self.size.or(self.order).unwrap_or(Order::NINE);
        Recipe { order, kind, attempts: self.attempts }
    }
}

/// Runs `sudoku generate`.
pub fn run(args: &GenerateArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let seed = args.seed.unwrap_or_else(any_seed);
    let generator = Arc::new(Generator::new(args.recipe(), seed)?);
    let format = format_for(args, generator.recipe().order)?;
    let pool = Arc::new(pipeline::pool(args.run.threads)?);
    let mut output = args.out.open_text()?;

    let count = args.count;
    let job = generator.recipe().job(count, pool.current_num_threads());
    let bar = progress::beside(args.out.path(), || progress::of_puzzles(&args.run.progress, count));
    let mut totals = Totals::default();
    let is_enough = Arc::new(AtomicBool::new(false));
    let mut distinct = args.distinct.then(|| Distinct::new(args.attempts));
    // As much as whoever reads the puzzles detects their format by.
    let mut sample = Vec::new();
    let work = {
        let (generator, format, cancel) = (Arc::clone(&generator), format.clone(), Arc::clone(&cancel));
        move |job: &PuzzleJob| {
            make(&generator, &format, job, &cancel).map_err(|Cancelled| OfflineError::Cancelled.into())
        }
    };
    let recover =
        |job: &PuzzleJob| Err(anyhow!("Puzzle {} was not made because of an internal error", job.first + 1));
    let sink = |made: anyhow::Result<MadePuzzles>| {
        let mut made = made?;
        if let Some(distinct) = &mut distinct {
            made = distinct.keep(made, count - totals.puzzles - totals.given_up);
        }
        let (puzzles, text) = (made.puzzles(), made.text);
        let is_first = totals.puzzles == 0 && puzzles > 0;
        totals.puzzles += puzzles;
        totals.given_up += made.given_up;
        is_enough.store(totals.puzzles + totals.given_up >= count, Ordering::Relaxed);
        // Nothing is written before there is a puzzle.
        if is_first {
            let mut heading = Vec::new();
            format.write_heading(&mut heading);
            output.write(&heading).map_err(OfflineError::from)?;
            sample = heading;
        }
        output.write(&text).map_err(OfflineError::from)?;
        let room = SAMPLE_BYTES.saturating_sub(sample.len());
        sample.extend_from_slice(&text[..text.len().min(room)]);
        if !bar.is_hidden() {
            bar.set_position(totals.puzzles + totals.given_up);
            bar.set_message(format!("{} a second", print::per_second(totals.puzzles, begin.elapsed())));
        }
        Ok(())
    };
    let most = if args.distinct { u64::MAX } else { count };
    let jobs = jobs(most, job, Arc::clone(&is_enough));
    let ended = run_ordered(&pool, &cancel, jobs, work, recover, sink);
    bar.finish_and_clear();
    match ended {
        Ok(Ended::Complete) => {}
        Ok(Ended::Cancelled) => return Ok(interrupted(args, &totals)),
        Err(error) => {
            return match error.downcast_ref() {
                Some(OfflineError::Cancelled) => Ok(interrupted(args, &totals)),
                _ => early_end::exit_code(Err(error.into()), totals.exit_code()),
            };
        }
    }
    if totals.puzzles > 0 {
        output.finish()?;
    }
    if !args.run.progress.quiet && totals.puzzles > 0 {
        print::status_line(&totals.summary(begin.elapsed(), seed));
        report_what_reading_needs(&format, &sample, totals.puzzles);
    }
    if totals.given_up > 0 {
        let repeats =
            distinct.as_ref().filter(|distinct| distinct.is_exhausted()).map(|distinct| distinct.repeats);
        print::status_line(&totals.gave_up(&generator, count, repeats));
    }
    Ok(totals.exit_code())
}

/// The format that puzzles are written in.
fn format_for(args: &GenerateArgs, order: Order) -> anyhow::Result<Format> {
    let named = || match () {
        () if args.out.is_named("csv") => Notation::Csv,
        () if args.out.is_named("jsonl") => Notation::Jsonl,
        () => Notation::Lines,
    };
    if args.notation.is_none() {
        check_kind(args.out.path())?;
        ensure!(!args.out.is_named("tsv"), "Puzzles are not made as tsv. Name a .csv or .jsonl file.");
    }
    let notation = args.notation.unwrap_or_else(named);
    match notation {
        Notation::Header => ensure!(
            [2, 3].contains(&order.box_side()),
            "The notation header is for 4x4 and 9x9 puzzles. Name another."
        ),
        Notation::Triples if args.count > 1 => {
            bail!("The notation triples is for one puzzle. Name another, or make one.")
        }
        Notation::Triples if order.side() == 1 => {
            bail!("The notation triples is for puzzles from 4x4 on. Name another.")
        }
        _ => {}
    }
    Ok(Format::new(notation, order, args.alphabet.clone().unwrap_or_default())?)
}

/// Puzzles that are made together.
struct PuzzleJob {
    /// The number of the first, from 0.
    first: u64,
    count: usize,
}

/// All jobs of a run, in order, until there is enough.
fn jobs(
    count: u64,
    job: usize,
    is_enough: Arc<AtomicBool>,
) -> impl FnMut() -> anyhow::Result<Option<PuzzleJob>> {
    let mut first = 0;
    move || {
        if is_enough.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let next = PuzzleJob { first, count: usize::try_from(count - first).unwrap_or(job).min(job) };
        first += next.count as u64;
        Ok(Some(next).filter(|next| next.count > 0))
    }
}

/// The puzzles of a job.
#[derive(Default)]
struct MadePuzzles {
    text: Vec<u8>,
    /// Where the text of each puzzle ends.
    ends: Vec<usize>,
    given_up: u64,
}

impl MadePuzzles {
    const fn puzzles(&self) -> u64 {
        self.ends.len() as u64
    }
}

/// The puzzles of a run that makes none twice.
struct Distinct {
    /// The hash of each. Two puzzles with the same one cost a puzzle that would do, and no more.
    made: HashSet<u64>,
    /// The repeats since the last new puzzle.
    repeats: u64,
    /// The most of them before the run gives up.
    attempts: u64,
}

impl Distinct {
    fn new(attempts: u64) -> Self {
        Self { made: HashSet::new(), repeats: 0, attempts }
    }

    /// Drops the puzzles that are there already, and all behind the `wanted` ones. Those still
    /// wanted are given up where nothing new has come for long.
    fn keep(&mut self, all: MadePuzzles, wanted: u64) -> MadePuzzles {
        let given_up = all.given_up.min(wanted);
        let mut kept = MadePuzzles { given_up, ..MadePuzzles::default() };
        let mut begin = 0;
        for end in all.ends {
            if kept.puzzles() + given_up == wanted {
                break;
            }
            if self.is_exhausted() {
                kept.given_up = wanted - kept.puzzles();
                break;
            }
            let text = &all.text[begin..end];
            begin = end;
            if self.is_new(text) {
                kept.text.extend_from_slice(text);
                kept.ends.push(kept.text.len());
            }
        }
        kept
    }

    /// Whether nothing new has come for long.
    const fn is_exhausted(&self) -> bool {
        self.repeats >= self.attempts
    }

    fn is_new(&mut self, text: &[u8]) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let is_new = self.made.insert(hasher.finish());
        self.repeats = if is_new { 0 } else { self.repeats + 1 };
        is_new
    }
}

fn make(
    generator: &Generator,
    format: &Format,
    job: &PuzzleJob,
    cancel: &AtomicBool,
) -> Result<MadePuzzles, Cancelled> {
    let mut made = MadePuzzles::default();
    for puzzle in generator.make(job.first, job.count, cancel)? {
        match puzzle {
            Ok(puzzle) => {
                format.write_puzzle(&puzzle.clues, puzzle.solution.as_ref(), &mut made.text);
                made.ends.push(made.text.len());
            }
            Err(_) => made.given_up += 1,
        }
    }
    Ok(made)
}

/// Names the options that reading needs, if detection does not find the format again: triples carry
/// no size, and small numbers suggest a smaller one; cells apart are taken for numbers.
fn report_what_reading_needs(format: &Format, sample: &[u8], puzzles: u64) {
    let (notation, order, alphabet) = (format.notation(), format.order(), format.alphabet());
    let side = order.side();
    let symbols = |format: &Format| {
        let values = 0..u8::try_from(side).unwrap_or(0);
        values.map(|value| format.symbol(value + 1)).collect::<String>()
    };
    // Triples have numbers in any alphabet.
    let is_read = |hint: &Hint| {
        detect(sample, hint).is_ok_and(|seen| {
            seen.misfit.is_none()
                && (seen.format.notation(), seen.format.order()) == (notation, order)
                && (notation == Notation::Triples || symbols(&seen.format) == symbols(format))
        })
    };
    let hint = match notation {
        Notation::Triples => Hint { notation: Some(notation), ..Hint::default() },
        _ => Hint::default(),
    };
    let needs = if is_read(&hint) {
        return;
    } else if notation == Notation::Triples {
        format!("--notation triples --size {side}")
    } else if is_read(&Hint { alphabet: Some(alphabet.clone()), ..Hint::default() }) {
        format!("--alphabet {alphabet}")
    } else {
        format!("--notation {notation} --alphabet {alphabet} --size {side}")
    };
    let what = if puzzles == 1 { "this puzzle needs" } else { "these puzzles need" };
    print::status_line(&format!("To be read, {what} {needs}."));
}

/// Totals so far.
#[derive(Default)]
struct Totals {
    puzzles: u64,
    given_up: u64,
}

impl Totals {
    fn exit_code(&self) -> ExitCode {
        if self.given_up == 0 { ExitCode::SUCCESS } else { ExitCode::from(exit::GAVE_UP) }
    }

    /// The totals of a run in one line.
    fn summary(&self, time: Duration, seed: u64) -> String {
        format!("{}, seed {seed}.", print::in_time(self.puzzles, "puzzle", time))
    }

    /// The sentences about puzzles that were given up: what was not found, or how many `repeats`
    /// ended the run, and what helps.
    fn gave_up(&self, generator: &Generator, count: u64, repeats: Option<u64>) -> String {
        let recipe = generator.recipe();
        if let Some(repeats) = repeats {
            let (given_up, repeats) = (print::thousands(self.given_up), print::thousands(repeats));
            return format!(
                "Gave up on {given_up} of {}: the last {repeats} made had been made before, each a {recipe}.",
                print::counted(count, "puzzle")
            );
        }
        let attempts = print::counted(recipe.attempts, "attempt");
        let what = if count == 1 {
            format!("Gave up after {attempts}: no {recipe} was found.")
        } else {
            let (given_up, count) = (print::thousands(self.given_up), print::counted(count, "puzzle"));
            format!("Gave up on {given_up} of {count} after {attempts} each at a {recipe}.")
        };
        let more = advised_attempts(recipe.attempts, self.given_up, count);
        if self.given_up < count {
            format!("{what} --attempts {more} would probably find them all.")
        } else {
            format!("{what} Try --attempts {more}, or ask for less.")
        }
    }
}

/// The attempts at each puzzle to advise after a run that gave some up.
///
/// If some puzzles were found, the share of those that were not is known: twice as many attempts
/// square it. There are enough when hardly one puzzle in ten runs would be given up.
fn advised_attempts(attempts: u64, given_up: u64, count: u64) -> u64 {
    let mut share = given_up as f64 / count as f64;
    if share >= 1.0 {
        return attempts.saturating_mul(10).max(DEFAULT_ATTEMPTS);
    }
    let mut advised = attempts;
    while share * count as f64 > 0.1 {
        share *= share;
        advised = advised.saturating_mul(2);
    }
    advised
}

fn interrupted(args: &GenerateArgs, totals: &Totals) -> ExitCode {
    let made = format!("Stopped after {}", print::counted(totals.puzzles, "puzzle"));
    interrupt::report(&(made + &args.out.path().map(unfinished).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_attempts_are_advised_by_what_was_found() {
        // Nothing was found.
        assert_eq!(advised_attempts(3, 1, 1), DEFAULT_ATTEMPTS);
        assert_eq!(advised_attempts(1000, 1, 1), 10_000);
        assert_eq!(advised_attempts(1000, 20, 20), 10_000);
        assert_eq!(advised_attempts(u64::MAX, 1, 1), u64::MAX);
        // Half of the puzzles, most of them, and all but one.
        assert_eq!(advised_attempts(3, 5, 10), 24);
        assert_eq!(advised_attempts(3, 1, 200), 6);
        assert_eq!(advised_attempts(1, 199, 200), 2048);
    }
}
