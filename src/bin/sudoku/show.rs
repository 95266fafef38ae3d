//! `sudoku show`: one puzzle of an input, drawn.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use clap::Args;
use sudoku_stream::answer::{Block, CandidateGrid, Found, Solvers, StepMarks, Task};
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Question};
use sudoku_stream::text::{Problem, PuzzleError};

use crate::cli::colour::ColourArgs;
use crate::cli::input::Input;
use crate::cli::output::ReportArgs;
use crate::cli::pick::{Chosen, PickArgs};
use crate::cli::value::COUNT_LIMIT;
use crate::cli::{draw, print};

const EXAMPLES: &str = "\
Examples:
  sudoku show puzzles.txt --index 4711
  sudoku show puzzles.txt --random --solve
  sudoku show 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  zcat puzzles.txt.gz | sudoku show --index 3
  sudoku show puzzles.txt --candidates

On a terminal for UTF-8 the grid is in boxes; in colours, clues are bold and found cells green.";

/// Arguments of `sudoku show`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ShowArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Show the solution too, and say whether there are more
    #[arg(long)]
    solve: bool,

    /// Draw the candidates of every cell, as other programs read them
    #[arg(long, conflicts_with = "solve")]
    candidates: bool,

    /// Write the candidates as one line, 729 characters for 9x9
    #[arg(long, hide_short_help = true, conflicts_with_all = ["solve", "candidates"])]
    pencil_marks: bool,

    #[command(flatten)]
    out: ReportArgs,

    #[command(flatten)]
    colour: ColourArgs,
}

/// Runs `sudoku show`.
pub fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    args.colour.apply();
    let named = args.pick.all()?;
    let mut out = args.out.open(&named)?;
    let mut text = Vec::new();
    let (inputs, holder) = PickArgs::positions(named)?;
    if let Some(holder) = holder.as_ref().filter(|_| args.solve) {
        bail!("{holder} has candidates, and --solve takes only clues. Leave --solve out.");
    }
    if args.candidates || args.pencil_marks || holder.is_some() {
        out.write(&candidates_of(args, inputs)?)?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    for chosen in args.pick.choose_each(inputs)? {
        if !text.is_empty() {
            text.push(b'\n');
        }
        let Chosen { input, format, picked, puzzle } = &chosen;
        let place = match input.origin() {
            None => format!(
                "Puzzle {} on line {}, ",
                print::thousands(picked.number),
                print::thousands(picked.line)
            ),
            Some(_) if input.is_by_itself() => String::new(),
            Some(_) => format!("{}: ", input.name()),
        };
        let clues = print::counted(puzzle.filled() as u64, "clue");
        text.extend_from_slice(format!("{place}{}, {clues}\n\n", format.order()).as_bytes());
        draw::numbered_grid(format, puzzle, puzzle, &mut text);
        if args.solve {
            text.push(b'\n');
            write_solution(&chosen, &mut text)?;
        }
    }
    out.write(&String::from_utf8_lossy(&text))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The candidates of each position that is chosen.
fn candidates_of(args: &ShowArgs, inputs: Vec<Input>) -> anyhow::Result<String> {
    let mut text = String::new();
    for chosen in args.pick.choose_each_position(inputs)? {
        let position = &chosen.position;
        if args.pencil_marks {
            text += &format!("{position}\n");
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text += &CandidateGrid { position, step: None, marks: StepMarks::Characters }.to_string();
        if let Some(dead_end) = position.dead_end() {
            text += &format!("{dead_end}\n");
        }
    }
    Ok(text)
}

/// Appends a solution, and whether there are more.
fn write_solution(chosen: &Chosen, text: &mut Vec<u8>) -> anyhow::Result<()> {
    let mut solution = None;
    let error = ask(chosen, Question::First, |found| {
        if let Found::Solution(found) = found {
            solution = Some(Grid::clone(found));
        }
    })?;
    let Some(solution) = solution else {
        text.extend(error.map_or(String::new(), |error| format!("{}\n", chosen.error(error))).bytes());
        return Ok(());
    };
    draw::numbered_grid(&chosen.format, &solution, &chosen.puzzle, text);
    text.extend(format!("\n{}\n", others(chosen)?).bytes());
    Ok(())
}

/// Whether there are solutions beside the one that is shown.
fn others(chosen: &Chosen) -> anyhow::Result<String> {
    const ONLY: &str = "This is the only solution.";
    let mut counted = None;
    ask(chosen, Question::Count { limit: COUNT_LIMIT }, |found| {
        if let Found::Count { count, exact } = found {
            counted = Some((*count, *exact));
        }
    })?;
    Ok(match counted {
        Some((1, true)) => ONLY.to_owned(),
        Some((count, true)) => format!("This is one of {} solutions.", print::thousands(count)),
        Some((count, false)) => format!("This is one of {} solutions or more.", print::thousands(count)),
        // The count was given up, but two solutions may be found sooner.
        None => match ask(chosen, Question::Unique, |_| ())? {
            None => ONLY.to_owned(),
            Some(PuzzleError { problem: Problem::NotUnique, .. }) => {
                "There is more than this solution.".to_owned()
            }
            Some(_) => format!(
                "Whether there is another solution was not found within {} nodes.",
                print::thousands(DEFAULT_NODE_LIMIT)
            ),
        },
    })
}

/// Asks a question about the puzzle. Returns the error, if that is the answer.
fn ask(
    chosen: &Chosen,
    question: Question,
    mut visit: impl FnMut(&Found<'_>),
) -> anyhow::Result<Option<PuzzleError>> {
    let task = Task { question, ..Task::default() };
    let block = Block { text: &chosen.picked.text, first_line: chosen.picked.line };
    let never = AtomicBool::new(false);
    let mut error = None;
    Solvers::new(chosen.format.clone(), task).with(|solver| {
        solver.answer_block(&chosen.format, &task, block, &never, |answer| match &answer.result {
            Ok(found) => visit(found),
            Err(problem) => error = Some(problem.clone()),
        })
    })?;
    Ok(error)
}
