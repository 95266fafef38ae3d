//! `sudoku solve` with one puzzle on a terminal: the grid, and a line about it.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::bail;
use sudoku_stream::answer::{Tally, single_error};
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::{Limit, Search, Stop, Watcher};
use sudoku_stream::text::{Format, Problem, PuzzleError, Records};

use super::{SolveArgs, task_for};
use crate::cli::input::Input;
use crate::cli::value::QuestionArg;
use crate::cli::{draw, exit, interrupt, print, summary};

/// The longest file that is searched for a single puzzle.
const MAX_FILE_BYTES: u64 = 16 * 1024;

/// The only puzzle of an input.
pub struct Single {
    format: Format,
    text: Vec<u8>,
    puzzle: Grid,
    error: Option<PuzzleError>,
    /// Was it typed as an argument?
    is_typed: bool,
}

impl Single {
    /// The puzzle to draw, if there is only one and its answer goes to a terminal in no other form.
    pub fn of(args: &SolveArgs, inputs: &[Input]) -> Option<Self> {
        let [input] = inputs else { return None };
        let answer = &args.answer;
        let is_plain = answer.form.is_none()
            && answer.out.path().is_none()
            && answer.server.urls.is_empty()
            && answer.shard.shard.is_none()
            && !answer.resume.resume
            && !matches!(args.question, QuestionArg::Count);
        if !is_plain || !io::stdout().is_terminal() || !input.is_rereadable() {
            return None;
        }
        Self::read(input).filter(|single| single.is_typed || single.error.is_none())
    }

    /// Reads an input that holds one puzzle. `None` for any other; its errors are reported by
    /// whoever reads it next.
    fn read(input: &Input) -> Option<Self> {
        let mut reader = input.reader().ok()?;
        if !input.is_typed() && reader.len_bytes().is_none_or(|bytes| bytes > MAX_FILE_BYTES) {
            return None;
        }
        let format = reader.format().clone();
        let chunk = reader.next_chunk().ok()??;
        let block = chunk.block();
        let (mut puzzle, mut other) = (Grid::empty(format.order()), Grid::empty(format.order()));
        let mut records = Records::new(&format, block.text, block.first_line);
        let record = records.read(&mut puzzle)?;
        if records.read(&mut other).is_some() || reader.next_chunk().ok()?.is_some() {
            return None;
        }
        let conflict = || puzzle.first_conflict().map(Problem::RuleBroken);
        let broken = || conflict().map(|problem| PuzzleError { problem, line: None });
        let error = record.error.or_else(broken);
        let text = block.text.to_vec();
        Some(Self { format, text, puzzle, error, is_typed: input.is_typed() })
    }

    /// Solves it, and prints the solution with a line below, or the sentence about its error.
    pub fn solve(&self, args: &SolveArgs) -> anyhow::Result<ExitCode> {
        let Self { format, puzzle, .. } = self;
        if let Some(error) = &self.error {
            return self.refuse(args, error);
        }
        let order = format.order();
        let task = task_for(args, order)?;
        let cancel = interrupt::flag()?;
        let limit = Limit { solutions: 2, nodes: task.node_limit, cancel: &cancel };
        let mut solution = Grid::empty(order);
        let mut solver = task.strategy_for(order).solver(order);
        let begin = Instant::now();
        let search = if task.measure {
            solver.watch(puzzle, &limit, &mut solution, &mut Watcher::measuring())
        } else {
            solver.search(puzzle, &limit, &mut solution)
        };
        let time = begin.elapsed();
        if was_interrupted(&search, &cancel) {
            return Ok(interrupt::report("The puzzle was not solved"));
        }
        let code = match task.question.verdict(&search).problem()? {
            Some(problem) => self.refuse(args, &PuzzleError { problem, line: None })?,
            None => {
                if !solution.solves(puzzle) {
                    bail!("The solution that was found is wrong: this is a bug.");
                }
                let mut text = Vec::new();
                draw::grid(format, &solution, puzzle, &mut text);
                let verdict = verdict(&search);
                let clues = print::counted(puzzle.filled() as u64, "clue");
                text.extend_from_slice(
                    format!("{verdict} {clues}, {}.\n", print::milliseconds(time)).as_bytes(),
                );
                print::stdout(&String::from_utf8_lossy(&text))?;
                ExitCode::SUCCESS
            }
        };
        if task.measure {
            let mut tally = Tally::default();
            tally.count_one(None, &search.metrics);
            print::status_line(&summary::stats(&tally, time));
        }
        Ok(code)
    }

    /// Prints the sentence about a puzzle without an answer.
    fn refuse(&self, args: &SolveArgs, error: &PuzzleError) -> anyhow::Result<ExitCode> {
        print::stdout(&format!("{}\n", single_error(&self.format, &self.text, error)))?;
        Ok(exit::by_errors(self.is_typed || args.answer.fail_on_error))
    }
}

fn was_interrupted(search: &Search, cancel: &AtomicBool) -> bool {
    search.stop == Stop::Cancelled && cancel.load(Ordering::Relaxed)
}

/// Is the solution the only one?
fn verdict(search: &Search) -> String {
    match (search.stop, search.solutions) {
        (Stop::Exhausted, _) => "The only solution.".to_owned(),
        (Stop::Nodes, _) => format!(
            "A solution; whether it is the only one was given up after {}.",
            print::counted(search.metrics.nodes, "node")
        ),
        _ => "One of several solutions.".to_owned(),
    }
}
