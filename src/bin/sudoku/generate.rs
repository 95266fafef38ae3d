//! `sudoku generate`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure};
use sudoku_stream::answer::Cancelled;
use sudoku_stream::generate::{Generator, Puzzle, any_seed};
use sudoku_stream::grid::Order;
use sudoku_stream::offline::{self, OfflineError, Output};
use sudoku_stream::pipeline::{self, Ended, run_ordered};
use sudoku_stream::text::{Format, Hint, Notation, detect};

use super::args::GenerateArgs;
use super::{EXIT_GAVE_UP, interrupt, view};

pub fn run(args: &GenerateArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let seed = args.seed.unwrap_or_else(any_seed);
    let generator = Arc::new(Generator::new(args.recipe(), seed)?);
    let format = format_for(args, generator.recipe().order)?;
    let pool = Arc::new(pipeline::pool(args.run.threads())?);
    let mut output = match args.output_path() {
        Some(path) => Output::file(path, args.durable)?,
        None => Output::standard(),
    };

    let count = args.count.get();
    let job = generator.recipe().job(count, pool.current_num_threads());
    let bar = view::puzzles_bar(&args.run, count);
    let mut done = Done::default();
    let mut sole = Vec::new();
    let work = {
        let (generator, format, cancel) = (Arc::clone(&generator), format.clone(), Arc::clone(&cancel));
        move |job: &Job| {
            make(&generator, &format, job, &cancel).map_err(|Cancelled| OfflineError::Cancelled.into())
        }
    };
    let recover =
        |job: &Job| Err(anyhow!("Puzzle {} was not made because of an internal error", job.first + 1));
    let sink = |made: anyhow::Result<Made>| {
        let Made { text, puzzles, given_up } = made?;
        // Nothing is written before there is a puzzle.
        if done.puzzles == 0 && puzzles > 0 {
            output.write(heading(&format).as_bytes()).map_err(OfflineError::from)?;
        }
        output.write(&text).map_err(OfflineError::from)?;
        done.puzzles += puzzles;
        done.given_up += given_up;
        if count == 1 {
            sole = text;
        }
        if !bar.is_hidden() {
            bar.set_position(done.puzzles + done.given_up);
            bar.set_message(format!("{} a second", view::per_second(done.puzzles, begin.elapsed())));
        }
        Ok(())
    };
    let ended = run_ordered(&pool, &cancel, jobs(count, job), work, recover, sink);
    bar.finish_and_clear();
    match ended {
        Ok(Ended::Complete) => {}
        Ok(Ended::Cancelled) => return Ok(interrupted(args, &done)),
        Err(error) => {
            return match error.downcast_ref() {
                Some(error) if offline::is_closed_pipe(error) => Ok(ExitCode::SUCCESS),
                Some(OfflineError::Cancelled) => Ok(interrupted(args, &done)),
                _ => Err(error),
            };
        }
    }
    if done.puzzles > 0 {
        output.finish()?;
    }
    if !args.run.quiet && done.puzzles > 0 {
        view::status_line(&done.summary(begin.elapsed(), seed));
        if format.notation() == Notation::Triples {
            warn_of_small_numbers(&format, &sole);
        }
    }
    if done.given_up == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    view::status_line(&done.gave_up(&generator, count));
    Ok(ExitCode::from(EXIT_GAVE_UP))
}

/// How the puzzles are written.
fn format_for(args: &GenerateArgs, order: Order) -> anyhow::Result<Format> {
    let notation = args.notation();
    match notation {
        Notation::Header => ensure!(
            [2, 3].contains(&order.box_side()),
            "The notation header is for 4x4 and 9x9 puzzles. Name another."
        ),
        Notation::Triples if args.count.get() > 1 => {
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
struct Job {
    /// The number of the first, from 0.
    first: u64,
    count: usize,
}

/// All jobs of a run, in order.
fn jobs(count: u64, job: usize) -> impl FnMut() -> anyhow::Result<Option<Job>> {
    let mut first = 0;
    move || {
        let next = Job { first, count: usize::try_from(count - first).unwrap_or(job).min(job) };
        first += next.count as u64;
        Ok(Some(next).filter(|next| next.count > 0))
    }
}

/// What a job has made.
struct Made {
    text: Vec<u8>,
    puzzles: u64,
    given_up: u64,
}

fn make(generator: &Generator, format: &Format, job: &Job, cancel: &AtomicBool) -> Result<Made, Cancelled> {
    let mut made = Made { text: Vec::new(), puzzles: 0, given_up: 0 };
    for puzzle in generator.make(job.first, job.count, cancel)? {
        match puzzle {
            Ok(puzzle) => {
                made.puzzles += 1;
                write(&puzzle, format, &mut made.text);
            }
            Err(_) => made.given_up += 1,
        }
    }
    Ok(made)
}

/// What stands above all puzzles.
fn heading(format: &Format) -> String {
    match format.notation() {
        Notation::Header => format!("{}\n", format.order().box_side()),
        Notation::Csv => "puzzle,solution\n".to_owned(),
        Notation::Lines | Notation::Grid | Notation::Triples => String::new(),
    }
}

/// Appends a puzzle as its notation has it.
fn write(puzzle: &Puzzle, format: &Format, out: &mut Vec<u8>) {
    let Puzzle { clues, solution } = puzzle;
    match format.notation() {
        Notation::Lines | Notation::Header => format.write_line(clues.digits(), out),
        Notation::Grid => {
            format.write_grid(clues, out);
            out.push(b'\n');
        }
        Notation::Triples => format.write_triples(clues, out),
        Notation::Csv => {
            format.write_cells(clues, out);
            out.push(b',');
            if let Some(solution) = solution {
                format.write_cells(solution, out);
            }
            out.push(b'\n');
        }
    }
}

/// Triples do not say how large the puzzle is. Where all numbers are small, it has to be said when it is read.
fn warn_of_small_numbers(format: &Format, text: &[u8]) {
    let seen = detect(text, &Hint { notation: Some(Notation::Triples), ..Hint::default() });
    let order = format.order();
    if !seen.is_ok_and(|seen| seen.format.order() == order) {
        view::status_line(&format!(
            "To be read, this puzzle needs --notation triples --size {}.",
            order.side()
        ));
    }
}

/// What came of the puzzles so far.
#[derive(Default)]
struct Done {
    puzzles: u64,
    given_up: u64,
}

impl Done {
    /// The end of a run in one line.
    fn summary(&self, time: Duration, seed: u64) -> String {
        format!(
            "{} in {:.3} s, {} a second, seed {seed}.",
            view::counted(self.puzzles, "puzzle"),
            time.as_secs_f64(),
            view::per_second(self.puzzles, time),
        )
    }

    /// What was looked for and not found.
    fn gave_up(&self, generator: &Generator, count: u64) -> String {
        let recipe = generator.recipe();
        let attempts = view::counted(recipe.attempts, "attempt");
        if count == 1 {
            return format!("Gave up after {attempts}: no {recipe} was found.");
        }
        let (given_up, count) = (view::thousands(self.given_up), view::counted(count, "puzzle"));
        format!("Gave up on {given_up} of {count} after {attempts} each at a {recipe}.")
    }
}

fn interrupted(args: &GenerateArgs, done: &Done) -> ExitCode {
    let made = format!("Interrupted. Stopped after {}", view::counted(done.puzzles, "puzzle"));
    view::status_line(&match args.output_path() {
        Some(path) => format!("{made}; {} was not written.", path.display()),
        None => format!("{made}."),
    });
    interrupt::exit_code()
}
