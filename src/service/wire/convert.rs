//! Conversions between messages and our own types.

use crate::answer::{Answer, Check, CompactTally, Flaw, Found, OutputForm, Tally, Task};
use crate::grid::{Cell, Digit, Grid, House, HouseKind, Order};
use crate::service::wire::proto;
use crate::solver::{Contradiction, Metrics, Question, Step};
use crate::text::{Format, FormatError, Hint, Notation, Problem, PuzzleError};

/// The path of the option that does not fit the text, or is needed to read it.
pub(crate) fn option_field(error: &FormatError) -> Option<String> {
    error.option().map(|option| format!("options.{option}"))
}

/// The options that stand for `task` and `hint`.
pub(crate) fn options_from(task: &Task, hint: &Hint) -> proto::SolveOptions {
    let (question, count_limit) = match task.question {
        Question::First => (proto::Question::First, 0),
        Question::Unique => (proto::Question::Unique, 0),
        Question::Count { limit } => (proto::Question::Count, limit),
    };
    let notation = match hint.notation {
        None => proto::Notation::Unspecified,
        Some(Notation::Lines) => proto::Notation::Lines,
        Some(Notation::Header) => proto::Notation::Header,
        Some(Notation::Grid) => proto::Notation::Grid,
        Some(Notation::Triples) => proto::Notation::Triples,
        Some(Notation::Csv) => proto::Notation::Csv,
    };
    let output = match task.form {
        OutputForm::Solution => proto::OutputForm::Solution,
        OutputForm::Pair => proto::OutputForm::Pair,
        OutputForm::Csv => proto::OutputForm::Csv,
        OutputForm::Jsonl => proto::OutputForm::Jsonl,
        // Colour is for terminals, so servers send plain rows.
        OutputForm::Grid | OutputForm::PaintedGrid => proto::OutputForm::Grid,
    };
    proto::SolveOptions {
        strategy: task.strategy.map(|s| s.name().to_owned()).unwrap_or_default(),
        question: question.into(),
        count_limit,
        node_limit: task.node_limit,
        notation: notation.into(),
        alphabet: hint.alphabet.as_ref().map(ToString::to_string).unwrap_or_default(),
        order: hint.order.map_or(0, wire_order),
        output: output.into(),
        measure: task.measure,
    }
}

/// The order on the wire: the side of a box, 1 to 5.
pub(crate) fn wire_order(order: Order) -> u32 {
    small(order.box_side())
}

/// A number that is at most the number of cells of the largest grid.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The stable codes, each with its wire value.
const CODES: [(&str, proto::ErrorCode); 10] = [
    ("invalid_block_size", proto::ErrorCode::InvalidBlockSize),
    ("empty", proto::ErrorCode::Empty),
    ("wrong_length", proto::ErrorCode::WrongLength),
    ("invalid_character", proto::ErrorCode::InvalidCharacter),
    ("rule_broken", proto::ErrorCode::RuleBroken),
    ("no_solution", proto::ErrorCode::NoSolution),
    ("not_unique", proto::ErrorCode::NotUnique),
    ("wrong_solution", proto::ErrorCode::WrongSolution),
    ("gave_up", proto::ErrorCode::GaveUp),
    ("internal", proto::ErrorCode::Internal),
];

fn error_code(code: &str) -> proto::ErrorCode {
    CODES.iter().find(|(name, _)| *name == code).map_or(proto::ErrorCode::Unspecified, |&(_, wire)| wire)
}

pub(crate) fn puzzle_error(error: &PuzzleError) -> proto::PuzzleError {
    proto::PuzzleError {
        code: error_code(error.code()).into(),
        message: error.to_string(),
        line: error.line.unwrap_or(0),
    }
}

pub(crate) const fn metrics(metrics: &Metrics) -> proto::Metrics {
    let Metrics { nodes, guesses, backtracks, depth, comparisons, placements } = *metrics;
    proto::Metrics { nodes, guesses, backtracks, depth, comparisons, placements }
}

/// The cells of a grid in reading order, one character each.
pub(crate) fn cells(grid: &Grid, format: &Format) -> String {
    let mut cells = Vec::with_capacity(grid.order().cells());
    format.write_cells(grid, &mut cells);
    // All alphabets are ASCII.
    String::from_utf8_lossy(&cells).into_owned()
}

/// One answer of a stream or a text with several puzzles.
pub(crate) fn answer(answer: &Answer<'_>, format: &Format) -> proto::Answer {
    use proto::answer::Result as R;
    let (result, count_is_exact) = match &answer.result {
        Ok(Found::Solution(grid)) => (R::Solution(cells(grid, format)), false),
        Ok(Found::Count { count, exact }) => (R::Count(*count), *exact),
        Err(error) => (error_result(error), false),
    };
    proto::Answer {
        result: Some(result),
        metrics: Some(metrics(&answer.metrics)),
        count_is_exact,
        line: answer.line,
    }
}

/// The answer for an error that was found without a search.
pub(crate) fn error_answer(error: &PuzzleError) -> proto::Answer {
    proto::Answer {
        result: Some(error_result(error)),
        metrics: Some(proto::Metrics::default()),
        count_is_exact: false,
        line: error.line.unwrap_or(0),
    }
}

/// The result for an error.
pub(crate) fn error_result(error: &PuzzleError) -> proto::answer::Result {
    proto::answer::Result::Error(puzzle_error(error))
}

/// The response of Count for the answer to a count question.
pub(crate) fn counted(answer: proto::Answer) -> proto::CountResponse {
    use proto::answer::Result as R;
    use proto::count_response::Result as C;
    let result = answer.result.map(|result| match result {
        R::Count(count) => C::Count(count),
        R::Error(error) => C::Error(error),
        // No count question has such an answer.
        R::Solution(_) => C::Error(puzzle_error(&internal_error(None))),
    });
    let proto::Answer { count_is_exact, metrics, .. } = answer;
    proto::CountResponse { result, count_is_exact, metrics }
}

/// The error of a puzzle whose work panicked.
pub(crate) const fn internal_error(line: Option<u64>) -> PuzzleError {
    PuzzleError { problem: Problem::Internal, line }
}

pub(crate) fn tally(tally: &Tally) -> proto::Tally {
    let errors = tally.errors.iter();
    proto::Tally {
        answers: tally.answers,
        errors: errors
            .map(|(code, &count)| proto::ErrorCount { code: error_code(code).into(), count })
            .collect(),
        metrics: Some(metrics(&tally.metrics)),
    }
}

pub(crate) fn compact_tally(tally: &CompactTally) -> proto::Tally {
    match tally {
        CompactTally::Good { answers, metrics: short } => proto::Tally {
            answers: u64::from(*answers),
            errors: Vec::new(),
            metrics: Some(metrics(&short.metrics())),
        },
        CompactTally::Long(tally) => self::tally(tally),
    }
}

/// The stable code of an error that a server has sent. A kind that this version does not know is
/// `internal`.
pub(crate) fn code_name(code: proto::ErrorCode) -> &'static str {
    CODES.iter().find(|&&(_, wire)| wire == code).map_or("internal", |&(name, _)| name)
}

/// The tally of a server's message.
pub(crate) fn tally_from(wire: &proto::Tally) -> Tally {
    let mut tally = Tally { answers: wire.answers, ..Tally::default() };
    for error in &wire.errors {
        *tally.errors.entry(code_name(error.code())).or_default() += error.count;
    }
    if let Some(proto::Metrics { nodes, guesses, backtracks, depth, comparisons, placements }) = wire.metrics
    {
        tally.metrics = Metrics { nodes, guesses, backtracks, depth, comparisons, placements };
    }
    tally
}

pub(crate) fn checked_grid(check: &Check) -> proto::CheckedGrid {
    proto::CheckedGrid {
        solved: check.is_solved(),
        message: check.to_string(),
        line: check.line.unwrap_or(0),
        blanks: small(check.blanks),
        flaws: check.flaws.iter().map(flaw).collect(),
        error: check.error.as_ref().map(puzzle_error),
    }
}

fn flaw(flaw: &Flaw) -> proto::Flaw {
    let (kind, cells, digit) = match flaw {
        Flaw::Conflict(conflict) => (
            proto::flaw::Kind::Conflict,
            vec![cell(conflict.first), cell(conflict.second)],
            conflict.digit.value(),
        ),
        Flaw::ClueChanged { cell: at, clue } => {
            (proto::flaw::Kind::ClueChanged, vec![cell(*at)], clue.value())
        }
    };
    proto::Flaw { kind: kind.into(), message: flaw.to_string(), cells, digit: digit.into() }
}

fn cell(cell: Cell) -> proto::Cell {
    proto::Cell { row: small(cell.row()), column: small(cell.column()) }
}

/// A step of a search.
pub(crate) fn step(step: &Step) -> proto::TraceStep {
    use proto::trace_step::Kind;
    let wire = |kind: Kind| proto::TraceStep { kind: kind.into(), ..Default::default() };
    let at = |kind, at: Cell, digit: Digit| proto::TraceStep {
        cell: Some(cell(at)),
        digit: digit.value().into(),
        ..wire(kind)
    };
    match *step {
        Step::Place { cell, digit, is_guess: true } => at(Kind::Guess, cell, digit),
        Step::Place { cell, digit, is_guess: false } => at(Kind::Infer, cell, digit),
        Step::Backtrack { cell, digit } => at(Kind::Backtrack, cell, digit),
        Step::Conflict(Contradiction::Taken { cell, digit, house }) => {
            proto::TraceStep { house: Some(wire_house(house)), ..at(Kind::Conflict, cell, digit) }
        }
        Step::Conflict(Contradiction::NoDigit { cell: at }) => {
            proto::TraceStep { cell: Some(cell(at)), ..wire(Kind::Conflict) }
        }
        Step::Conflict(Contradiction::NoPlace { digit, house }) => proto::TraceStep {
            digit: digit.value().into(),
            house: Some(wire_house(house)),
            ..wire(Kind::Conflict)
        },
        Step::Conflict(Contradiction::Rivals) => wire(Kind::Conflict),
        Step::BandComplete { band } => proto::TraceStep { band: small(band), ..wire(Kind::BandComplete) },
        Step::Solved => wire(Kind::Solved),
        Step::NoSolution => wire(Kind::NoSolution),
        Step::GaveUp { .. } => wire(Kind::GaveUp),
    }
}

fn wire_house(house: House) -> proto::House {
    use proto::house::Kind;
    let kind = match house.kind() {
        HouseKind::Row => Kind::Row,
        HouseKind::Column => Kind::Column,
        HouseKind::Box => Kind::Box,
    };
    proto::House { kind: kind.into(), number: small(house.number()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_a_wire_code_of_its_own_name() {
        let order = Order::NINE;
        let mut clash = Grid::empty(order);
        clash.digits_mut()[..2].fill(1);
        let problems = [
            Problem::InvalidBlockSize,
            Problem::Empty,
            Problem::WrongLength,
            Problem::CellCount { cells: 80 },
            Problem::InvalidCharacter { character: "'x'".to_owned(), column: 1 },
            Problem::OutOfRange(order.digit(0).unwrap_err()),
            Problem::RuleBroken(clash.first_conflict().unwrap()),
            Problem::SetTwice(order.cell_at(0)),
            Problem::NoSolution,
            Problem::NotUnique,
            Problem::WrongSolution,
            Problem::GaveUp { nodes: 1 },
            Problem::Internal,
        ];
        for problem in problems {
            let name = format!("ERROR_CODE_{}", problem.code().to_uppercase());
            assert_eq!(error_code(problem.code()).as_str_name(), name);
        }
    }

    #[test]
    fn a_tally_survives_the_wire() {
        let mut sent = Tally { answers: 12, ..Tally::default() };
        sent.metrics =
            Metrics { nodes: 5, guesses: 4, backtracks: 3, depth: 2, comparisons: 9, placements: 8 };
        sent.errors.insert("no_solution", 7);
        sent.errors.insert("gave_up", 1);
        assert_eq!(tally_from(&tally(&sent)), sent);
    }
}
