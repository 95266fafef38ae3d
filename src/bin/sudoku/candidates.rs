//! `sudoku candidates`: the digits that each cell has in some solution.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, bail};
use clap::Args;
use sudoku_stream::answer::{CandidateGrid, StepMarks};
use sudoku_stream::grid::{Digit, Grid};
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Limit, Stop, default_strategy};
use sudoku_stream::techniques::Position;
use sudoku_stream::text::{Problem, PuzzleError};

use crate::cli::output::ReportArgs;
use crate::cli::pick::PickArgs;
use crate::cli::{exit, interrupt, print};

const EXAMPLES: &str = "\
Examples:
  sudoku candidates puzzles.txt --index 3
  sudoku candidates .1....2.3..4....
  sudoku candidates puzzles.txt --pencil-marks | sudoku steps

A digit is a candidate of a cell here if a solution has it there, so a puzzle with one solution has one in \
each. `sudoku show --candidates` draws those that the rules leave instead.

Exit codes: 0, done; 1, a puzzle has no solution; 2, it cannot be read.";

/// Arguments of `sudoku candidates`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CandidatesArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Write them as one line, 729 characters for 9x9
    #[arg(long)]
    pencil_marks: bool,

    #[command(flatten)]
    out: ReportArgs,
}

/// Runs `sudoku candidates`.
pub fn run(args: &CandidatesArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let inputs = args.pick.all()?;
    let mut out = args.out.open(&inputs)?;
    let (mut are_unsolved, mut gap) = (false, "");
    for chosen in args.pick.choose_each(inputs)? {
        let Some(found) = in_solutions(&chosen.puzzle, &cancel)? else {
            return Ok(interrupt::report("The candidates were not found"));
        };
        if found.iter().all(Vec::is_empty) {
            let conflict = chosen.puzzle.first_conflict();
            let problem = conflict.map_or(Problem::NoSolution, Problem::RuleBroken);
            let error = chosen.error(PuzzleError { problem, line: Some(chosen.picked.line) });
            print::status_line(&error.to_string());
            are_unsolved = true;
            continue;
        }
        let position: Position = pencil_marks(&found, chosen.puzzle.order().side()).parse()?;
        let text = if args.pencil_marks {
            format!("{position}\n")
        } else {
            CandidateGrid { position: &position, step: None, marks: StepMarks::Characters }.to_string()
        };
        out.write(&format!("{gap}{text}"))?;
        gap = "\n";
    }
    out.finish()?;
    Ok(exit::by_errors(are_unsolved))
}

/// The digits that each cell has in some solution; none in all cells if there is no solution. `None` if the
/// search was interrupted.
///
/// # Errors
/// A search that was given up.
fn in_solutions(puzzle: &Grid, cancel: &AtomicBool) -> anyhow::Result<Option<Vec<Vec<Digit>>>> {
    let order = puzzle.order();
    let mut found: Vec<Vec<Digit>> = vec![Vec::new(); order.cells()];
    let mut solver = default_strategy(order).solver(order);
    let limit = Limit { solutions: 1, nodes: DEFAULT_NODE_LIMIT, cancel };
    let (mut assumed, mut solution) = (puzzle.clone(), Grid::empty(order));
    for cell in order.all_cells() {
        for value in 1..=order.side() {
            let digit = order.digit(value)?;
            if found[cell.index()].contains(&digit) {
                continue;
            }
            if puzzle.get(cell).is_some_and(|clue| clue != digit) {
                continue;
            }
            assumed.clone_from(puzzle);
            assumed.set(cell, Some(digit));
            if assumed.first_conflict().is_some() {
                continue;
            }
            let search = solver.search(&assumed, &limit, &mut solution);
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if search.solutions == 0 && search.stop == Stop::Nodes {
                bail!(
                    "Whether {digit} is possible at {cell} was not found within {} nodes.",
                    print::thousands(DEFAULT_NODE_LIMIT)
                );
            }
            // One solution has a candidate of every cell.
            for at in order.all_cells().filter(|_| search.solutions > 0) {
                let digit =
                    solution.get(at).ok_or_else(|| anyhow!("A solution has a blank: this is a bug."))?;
                if !found[at.index()].contains(&digit) {
                    found[at.index()].push(digit);
                }
            }
        }
    }
    Ok(Some(found))
}

/// The candidates of all cells as one line: a place for each digit of each cell.
fn pencil_marks(found: &[Vec<Digit>], side: usize) -> String {
    let mark = |digits: &Vec<Digit>, value: usize| {
        let is_there = digits.iter().any(|digit| usize::from(digit.value()) == value);
        let symbol = u32::try_from(value).ok().and_then(|value| char::from_digit(value, 36));
        symbol.filter(|_| is_there).map_or('.', |symbol| symbol.to_ascii_uppercase())
    };
    found.iter().flat_map(|digits| (1..=side).map(move |value| mark(digits, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_those_of_all_solutions() {
        // All solutions of a puzzle of 4x4, by the plain search.
        let puzzle: Grid = "12......3......4".parse().unwrap();
        let order = puzzle.order();
        let mut wanted = vec![[false; 5]; order.cells()];
        let mut all = vec![puzzle.clone()];
        while let Some(mut grid) = all.pop() {
            let Some(blank) = order.all_cells().find(|&cell| grid.get(cell).is_none()) else {
                for (cell, &digit) in grid.digits().iter().enumerate() {
                    wanted[cell][usize::from(digit)] = true;
                }
                continue;
            };
            for value in 1..=4 {
                grid.set(blank, Some(order.digit(value).unwrap()));
                if grid.first_conflict().is_none() {
                    all.push(grid.clone());
                }
            }
        }
        let found = in_solutions(&puzzle, &AtomicBool::new(false)).unwrap().unwrap();
        for (cell, digits) in found.iter().enumerate() {
            let values: Vec<usize> = digits.iter().map(|digit| digit.value().into()).collect();
            let is_right = (1..=4).all(|value| values.contains(&value) == wanted[cell][value]);
            assert!(is_right && !values.is_empty(), "cell {cell}: {values:?}");
        }
        let none: Grid = "123...4.........".parse().unwrap();
        let found = in_solutions(&none, &AtomicBool::new(false)).unwrap().unwrap();
        assert!(found.iter().all(Vec::is_empty));
    }
}
