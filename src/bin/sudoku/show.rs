//! `sudoku show`.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use sudoku_stream::answer::{Block, Found, Task, Workers, paint_grid};
use sudoku_stream::grid::Grid;
use sudoku_stream::input::{Pick, pick};
use sudoku_stream::text::{Format, Records};

use super::args::ShowArgs;
use super::{open, view};

pub fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let mut reader = open::reader(&args.input)?;
    let choice = if args.random { Pick::Random } else { Pick::Number(args.index.get()) };
    let name = reader.name().to_owned();
    let Some(picked) = pick(&mut reader, choice)? else {
        if args.random {
            bail!("{name} is empty.");
        }
        bail!("{name} has no puzzle {}.", args.index);
    };

    let format = reader.format().clone();
    let block = Block { text: &picked.text, first_line: picked.line };
    let mut puzzle = Grid::empty(format.order());
    let record = Records::new(&format, block.text, block.first_line).read(&mut puzzle);
    if let Some(error) = record.and_then(|record| record.error) {
        return Err(error.into());
    }
    let mut text = Vec::new();
    text.extend_from_slice(
        format!(
            "Puzzle {} on line {}, {}, {}\n\n",
            view::thousands(picked.number),
            view::thousands(picked.line),
            format.order(),
            view::counted(puzzle.filled() as u64, "clue"),
        )
        .as_bytes(),
    );
    write_grid(&format, &puzzle, &puzzle, &mut text);
    if args.solve {
        text.push(b'\n');
        write_solution(&format, block, &puzzle, &mut text)?;
    }
    view::print(&String::from_utf8_lossy(&text))?;
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

/// On a terminal clues and found cells look different.
fn write_grid(format: &Format, grid: &Grid, clues: &Grid, text: &mut Vec<u8>) {
    if view::is_painted() {
        paint_grid(format, grid, clues, text);
    } else {
        format.write_grid(grid, text);
    }
}
