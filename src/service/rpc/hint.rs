//! `Hint`: the next step by hand.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::answer::{Cancel, Cancelled, HINT_EFFORT, NextStep, Task, next_step};
use crate::grid::Grid;
use crate::pipeline::{Panicked, catch_panic};
use crate::service::context::Context;
use crate::service::rpc::CallResult;
use crate::service::rpc::options::{effective_node_limit, task_for_order, text_hint};
use crate::service::rpc::text::{RequestText, TextField};
use crate::service::sched::pools::WorkSize;
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::proto;
use crate::service::wire::status::{invalid, puzzle_sentence};
use crate::solver::Limit;
use crate::techniques::{Candidate, PencilMarkError, Position, TechniqueError, TechniqueSet};
use crate::text::{Alphabet, Format, Hint, Notation, PuzzleError};

/// The field of the puzzle that the board began as.
const CLUES: &str = "clues";

/// The field of the candidates.
const CANDIDATES: &str = "candidates";

/// A board whose next step is looked for.
struct HintJob {
    position: Position,
    clues: Grid,
    techniques: TechniqueSet,
    task: Task,
}

/// A board of a request, and its format.
pub(super) struct ReadBoard {
    pub(super) position: Position,
    pub(super) format: Format,
}

/// Tells the next step on a board.
pub(crate) async fn hint(
    context: &Arc<Context>,
    request: Request<proto::HintRequest>,
) -> CallResult<proto::HintResponse> {
    let call = context.admit(&request)?;
    let proto::HintRequest { options, text, puzzle, clues, node_limit, candidates, techniques } =
        request.into_inner();
    let hint = text_hint(options.as_ref())?;
    let field = TextField::of(text, puzzle)?;
    let techniques = technique_set(&techniques)?;
    let ReadBoard { position, format } = match read_board(context, &field, &hint, &candidates, "Hint")? {
        Err(error) => return Ok(Response::new(convert::hint_error(&error))),
        Ok(board) => board,
    };
    let board = position.grid();
    let clues =
        if clues.is_empty() { board.clone() } else { read_clues(context, clues, hint, &board, &format)? };
    let task = Task { node_limit: effective_node_limit(context, node_limit), ..Task::default() };
    let task = task_for_order(context, task, board.order())?;
    call.take_puzzles(1).await?;
    let asked = HintJob { position, clues, techniques, task };
    let told = context.run(&call, WorkSize::Small, move |cancel| asked.next_step(cancel)).await?;
    Ok(Response::new(told))
}

/// Reads the only board of a request to a method, with its candidates if there are any. The inner
/// error is that of a board that could not be read.
///
/// # Errors
/// `INVALID_ARGUMENT` for several boards, and for candidates that are no pencil marks of its size.
pub(super) fn read_board(
    context: &Context,
    field: &TextField,
    hint: &Hint,
    candidates: &str,
    method: &str,
) -> Result<Result<ReadBoard, PuzzleError>, Status> {
    let marks = match candidates {
        "" => None,
        text => {
            let marks: Position =
                text.parse().map_err(|error: PencilMarkError| invalid(CANDIDATES, error.to_string()))?;
            Some(marks)
        }
    };
    if let (0, Some(position)) = (field.len(), &marks) {
        let format = Format::new(Notation::Lines, position.order(), Alphabet::Letters);
        let format = format.map_err(|error| invalid(CANDIDATES, error.to_string()))?;
        return Ok(Ok(ReadBoard { position: position.clone(), format }));
    }
    let (board, format) = match RequestText::open(context, field, hint, None)? {
        Err(error) => return Ok(Err(error)),
        Ok(text) => match text.single() {
            None => return Err(field.invalid(format!("{method} takes one board."))),
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(board)) => (board, text.format().clone()),
        },
    };
    let mut position = Position::new(&board);
    if let Some(marks) = marks {
        let order = board.order();
        if marks.order() != order {
            let what =
                format!("These are candidates of a {} board, and the board is {order}.", marks.order());
            return Err(invalid(CANDIDATES, what));
        }
        for cell in order.all_cells().filter(|&cell| board.get(cell).is_none()) {
            for digit in position.candidates(cell).iter() {
                let is_left = match marks.get(cell) {
                    Some(only) => only == digit,
                    None => marks.candidates(cell).contains(digit),
                };
                if !is_left {
                    position.eliminate(Candidate { cell, digit });
                }
            }
        }
    }
    Ok(Ok(ReadBoard { position, format }))
}

/// Reads the names of techniques and families; all if there are none.
///
/// # Errors
/// `INVALID_ARGUMENT` for a name that is none of these.
pub(super) fn technique_set(names: &[String]) -> Result<TechniqueSet, Status> {
    if names.is_empty() {
        return Ok(TechniqueSet::ALL);
    }
    let mut set = TechniqueSet::NONE;
    for name in names {
        let named: TechniqueSet =
            name.parse().map_err(|error: TechniqueError| invalid("techniques", error.to_string()))?;
        set = set.union(named);
    }
    if set.is_empty() { Err(invalid("techniques", "No technique is named.")) } else { Ok(set) }
}

/// Reads the puzzle that a board began as, whose format is `format`.
///
/// # Errors
/// `INVALID_ARGUMENT` unless it is one puzzle whose clues the board has.
fn read_clues(
    context: &Context,
    clues: String,
    hint: Hint,
    board: &Grid,
    format: &Format,
) -> Result<Grid, Status> {
    let order = board.order();
    let refuse =
        |what: &str| invalid(CLUES, format!("{what} The clues are one {order} puzzle, as the board."));
    // Of the values that show an alphabet, the board has more.
    let hint = Hint { alphabet: Some(format.alphabet().clone()), order: Some(order), ..hint };
    let field = TextField::new(CLUES, clues.into());
    let puzzle = match RequestText::open(context, &field, &hint, None)? {
        Err(error) => return Err(refuse(&puzzle_sentence(&error))),
        Ok(text) => text.single().ok_or_else(|| refuse("There are several puzzles."))?,
    };
    let puzzle = puzzle.map_err(|error| refuse(&puzzle_sentence(&error)))?;
    if puzzle.order() != order {
        return Err(refuse(&format!("The puzzle is {}.", puzzle.order())));
    }
    for cell in order.all_cells() {
        let (clue, entry) = (puzzle.get(cell), board.get(cell));
        if let Some(clue) = clue
            && entry != Some(clue)
        {
            let entry = entry.map_or_else(|| "is blank".to_owned(), |entry| format!("has {entry}"));
            return Err(invalid(CLUES, format!("The board {entry} at {cell}, where the clue is {clue}.")));
        }
    }
    Ok(puzzle)
}

impl HintJob {
    /// Finds the next step, even if the work panics.
    fn next_step(&self, cancel: &dyn Cancel) -> Result<proto::HintResponse, Cancelled> {
        let Self { position, clues, techniques, task } = self;
        let order = position.order();
        let limit = Limit { solutions: 2, nodes: task.node_limit, cancel: cancel.flag() };
        cancel.begin();
        let work = || {
            let mut solver = task.strategy_for(order).solver(order);
            next_step(position, clues, *techniques, HINT_EFFORT, solver.as_mut(), &limit)
        };
        let step = catch_panic(work);
        let is_given_up = cancel.end();
        match step {
            Err(Panicked) => Ok(convert::hint_error(&internal_error(None))),
            Ok(NextStep::Cancelled { .. }) if !is_given_up => Err(Cancelled),
            Ok(NextStep::Cancelled { nodes, known }) => {
                Ok(convert::hint(&known.map_or(NextStep::GaveUp { nodes }, |known| *known), position))
            }
            Ok(step) => Ok(convert::hint(&step, position)),
        }
    }
}
