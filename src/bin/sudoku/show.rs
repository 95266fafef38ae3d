//! `sudoku show`: one puzzle of an input, drawn.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::Args;
use sudoku_stream::answer::{Block, Found, Task, Workers, paint_grid};
use sudoku_stream::grid::Grid;
use sudoku_stream::text::Format;

use crate::cli::pick::{Chosen, PickArgs};
use crate::cli::print;

const EXAMPLES: &str = "\
Examples:
  sudoku show puzzles.txt --index 4711
  sudoku show puzzles.txt --random --solve";

/// Arguments of `sudoku show`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ShowArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Show the solution too
    #[arg(long)]
    solve: bool,
}

/// Runs `sudoku show`.
pub fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let Chosen { format, picked, puzzle, .. } = args.pick.choose()?;
    let mut text = Vec::new();
    text.extend_from_slice(
        format!(
            "Puzzle {} on line {}, {}, {}\n\n",
            print::thousands(picked.number),
            print::thousands(picked.line),
            format.order(),
            print::counted(puzzle.filled() as u64, "clue"),
        )
        .as_bytes(),
    );
    write_grid(&format, &puzzle, &puzzle, &mut text);
    if args.solve {
        text.push(b'\n');
        let block = Block { text: &picked.text, first_line: picked.line };
        write_solution(&format, block, &puzzle, &mut text)?;
    }
    print::stdout(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn write_solution(
    format: &Format,
    block: Block<'_>,
    puzzle: &Grid,
    text: &mut Vec<u8>,
) -> anyhow::Result<()> {
    let task = Task::default();
    let workers = Workers::new(format.clone(), task);
    let never = AtomicBool::new(false);
    workers.with(|worker| {
        worker.answer_block(format, &task, block, &never, |answer| match &answer.result {
            Ok(Found::Solution(solution)) => write_grid(format, solution, puzzle, text),
            Ok(Found::Count { count, .. }) => text.extend_from_slice(format!("{count}\n").as_bytes()),
            Err(error) => text.extend_from_slice(format!("{error}\n").as_bytes()),
        })
    })?;
    Ok(())
}

/// Appends a grid. On a terminal clues and solved cells have different colours.
fn write_grid(format: &Format, grid: &Grid, clues: &Grid, text: &mut Vec<u8>) {
    if print::has_colours() {
        paint_grid(format, grid, clues, text);
    } else {
        format.write_grid(grid, text);
    }
}
