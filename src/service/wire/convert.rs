//! Conversions between messages and our own types.

use crate::answer::{
    AddedColumn, AddedColumns, Answer, Check, CompactTally, Flaw, Found, NextStep, OutputForm, RatedPuzzle,
    RatedRow, Stuck, Tally, Task, verdict,
};
use crate::grid::{Cell, Digit, Grid, House, HouseKind, Order};
use crate::service::wire::proto;
use crate::service::wire::status::puzzle_sentence;
use crate::solver::{Contradiction, Metrics, Question, Step};
use crate::techniques::{Candidate, Implication, Position, Score, Step as HandStep, Why};
use crate::text::{Format, FormatError, Hint, Notation, Problem, PuzzleError};

/// The path of the option that does not fit the text, or is needed to read it.
pub(crate) fn option_field(error: &FormatError) -> Option<String> {
    error.option().map(|option| format!("options.{option}"))
}

/// The options that stand for `task` and `hint`.
pub(crate) fn options_from(task: &Task, hint: &Hint) -> proto::SolveOptions {
    let limit = if task.count_limit == Task::default().count_limit { 0 } else { task.count_limit };
    let (question, count_limit) = match task.question {
        Question::First => (proto::Question::First, limit),
        Question::Unique => (proto::Question::Unique, limit),
        Question::Count { limit } => (proto::Question::Count, limit),
    };
    let output = match task.form {
        // No client asks for what is no text.
        OutputForm::Solution | OutputForm::Digits => proto::OutputForm::Solution,
        OutputForm::Pair => proto::OutputForm::Pair,
        // A file of columns is made from rows where it is written.
        OutputForm::Csv | OutputForm::Parquet => proto::OutputForm::Csv,
        OutputForm::Tsv => proto::OutputForm::Tsv,
        OutputForm::Jsonl => proto::OutputForm::Jsonl,
        // Colour is for terminals, so servers send plain rows.
        OutputForm::Grid | OutputForm::PaintedGrid => proto::OutputForm::Grid,
    };
    let proto::TextOptions { notation, alphabet, order, column, delimiter } = text_options_from(hint);
    proto::SolveOptions {
        strategy: task.strategy.map(|s| s.name().to_owned()).unwrap_or_default(),
        question: question.into(),
        count_limit,
        node_limit: task.node_limit,
        notation,
        alphabet,
        order,
        output: output.into(),
        measure: task.measure,
        column,
        delimiter,
        added_columns: task
            .columns
            .iter()
            .flat_map(AddedColumns::iter)
            .map(|column| wire_column(column).into())
            .collect(),
        has_heading: hint.has_heading,
    }
}

/// A notation on the wire, where it has the same name.
pub(crate) fn wire_notation(notation: Notation) -> proto::Notation {
    let name = format!("NOTATION_{notation}").to_ascii_uppercase();
    proto::Notation::from_str_name(&name).unwrap_or(proto::Notation::Unspecified)
}

/// The notation that is meant on the wire; `None` if none is.
pub(crate) fn notation_from(wire: proto::Notation) -> Option<Notation> {
    let is_named = wire != proto::Notation::Unspecified;
    let all = Notation::ALL.into_iter().map(|(_, notation)| notation);
    all.filter(|_| is_named).find(|&notation| wire_notation(notation) == wire)
}

/// The options that stand for `hint`.
fn text_options_from(hint: &Hint) -> proto::TextOptions {
    proto::TextOptions {
        notation: hint.notation.map_or(proto::Notation::Unspecified, wire_notation).into(),
        alphabet: hint.alphabet.as_ref().map(ToString::to_string).unwrap_or_default(),
        order: hint.order.map_or(0, wire_order),
        column: hint.column.as_ref().map(ToString::to_string).unwrap_or_default(),
        delimiter: hint.delimiter.map(|delimiter| delimiter.to_string()).unwrap_or_default(),
    }
}

/// The options with which the rest of a text is read like its beginning, which has this format.
pub(crate) fn text_options(format: &Format) -> proto::TextOptions {
    let hint = Hint { notation: Some(format.notation()), ..Hint::of(format) };
    let options = text_options_from(&hint);
    // A member may have a name that is no option; then it is detected again.
    if options.column.trim().is_empty() {
        return proto::TextOptions { column: String::new(), ..options };
    }
    options
}

const fn wire_column(column: AddedColumn) -> proto::AddedColumn {
    match column {
        AddedColumn::Solution => proto::AddedColumn::Solution,
        AddedColumn::Solutions => proto::AddedColumn::Solutions,
        AddedColumn::Error => proto::AddedColumn::Error,
        AddedColumn::Clues => proto::AddedColumn::Clues,
        AddedColumn::Minimal => proto::AddedColumn::Minimal,
        AddedColumn::Nodes => proto::AddedColumn::Nodes,
        AddedColumn::Guesses => proto::AddedColumn::Guesses,
        AddedColumn::Rating => proto::AddedColumn::Rating,
        AddedColumn::Technique => proto::AddedColumn::Technique,
        AddedColumn::Canonical => proto::AddedColumn::Canonical,
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
        message: puzzle_sentence(error),
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

/// The result for a grid, with its first `most_flaws` flaws.
pub(crate) fn checked_grid(check: &Check, most_flaws: usize) -> proto::CheckedGrid {
    let error = check.error.as_ref().map(puzzle_error);
    proto::CheckedGrid {
        solved: check.is_solved(),
        message: error.as_ref().map_or_else(|| check.to_string(), |error| error.message.clone()),
        line: check.line.unwrap_or(0),
        blanks: small(check.blanks),
        flaws: check.flaws.iter().take(most_flaws).map(flaw).collect(),
        error,
        flaw_count: small(check.flaws.len()),
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

/// The hint that a board could not be read, or that there is no answer for another reason.
pub(crate) fn hint_error(error: &PuzzleError) -> proto::HintResponse {
    let error = puzzle_error(error);
    let message = error.message.clone();
    proto::HintResponse { result: Some(proto::hint_response::Result::Error(error)), message }
}

/// The hint for a step by hand in a position.
pub(crate) fn hint(step: &NextStep, position: &Position) -> proto::HintResponse {
    use proto::hint_response::Result as R;
    let result = match step {
        NextStep::Technique(step) => {
            let mut after = position.clone();
            after.apply(step);
            R::Step(step_by_hand(step, &after))
        }
        NextStep::Search { cell, digit, is_only } => {
            let mut after = position.clone();
            after.place(*cell, *digit);
            R::Step(proto::Step {
                technique: step.technique().to_owned(),
                placements: vec![placement(*cell, *digit)],
                is_forced: *is_only,
                message: step.to_string(),
                candidates_after: after.pencil_marks(),
                ..proto::Step::default()
            })
        }
        NextStep::Finished => R::Finished(proto::Finished {}),
        NextStep::Stuck(found) => R::Stuck(stuck(found)),
        NextStep::GaveUp { nodes } => {
            return hint_error(&PuzzleError { problem: Problem::GaveUp { nodes: *nodes }, line: None });
        }
        // A call that was cancelled has no answer.
        _ => return hint_error(&internal_error(None)),
    };
    proto::HintResponse { result: Some(result), message: step.to_string() }
}

/// Why there is no solution.
pub(crate) fn stuck(stuck: &Stuck) -> proto::Stuck {
    let Stuck { conflict, wrong, missing, is_hopeless } = stuck;
    proto::Stuck {
        is_hopeless: *is_hopeless,
        conflict: conflict.map(|conflict| flaw(&Flaw::Conflict(conflict))),
        wrong: wrong.iter().map(|&(cell, digit)| placement(cell, digit)).collect(),
        missing: candidates(missing),
    }
}

/// The step of a technique that leads to a position.
pub(crate) fn step_by_hand(step: &HandStep, after: &Position) -> proto::Step {
    proto::Step {
        technique: step.technique.title().to_owned(),
        house: step.houses.first().copied().map(wire_house),
        placements: candidates(step.placement.as_slice()),
        is_forced: true,
        name: step.technique.name().to_owned(),
        rating_tenths: step.rating.tenths().into(),
        eliminations: candidates(&step.eliminations),
        cells: step.cells.iter().map(|&at| cell(at)).collect(),
        candidates: candidates(&step.candidates),
        houses: step.houses.iter().copied().map(wire_house).collect(),
        chains: step.chains.iter().map(|chain| wire_chain(chain)).collect(),
        look_at: step.look_at(),
        message: step.to_string(),
        candidates_after: after.pencil_marks(),
    }
}

fn wire_chain(chain: &[Implication]) -> proto::Chain {
    let implication = |implication: &Implication| {
        let Implication { node, parents, why } = implication;
        proto::Implication {
            cell: Some(cell(node.candidate.cell)),
            digit: node.candidate.digit.value().into(),
            is_on: node.is_on,
            parents: parents.iter().map(|&parent| u32::try_from(parent).unwrap_or(u32::MAX)).collect(),
            reason: match why {
                Why::LastDigit => "last candidate of the cell".to_owned(),
                Why::LastPlace(house) => format!("last place in {house}"),
                Why::By(technique) => technique.title().to_owned(),
                _ => String::new(),
            },
        }
    };
    proto::Chain { implications: chain.iter().map(implication).collect() }
}

fn candidates(candidates: &[Candidate]) -> Vec<proto::Placement> {
    candidates.iter().map(|&Candidate { cell, digit }| placement(cell, digit)).collect()
}

fn placement(at: Cell, digit: Digit) -> proto::Placement {
    proto::Placement { cell: Some(cell(at)), digit: digit.value().into() }
}

/// The rating of a puzzle.
pub(crate) fn rating(row: &RatedRow<'_>) -> proto::Rating {
    use proto::rating::Verdict;
    let clues = row.puzzle.map_or(0, |puzzle| small(puzzle.filled()));
    let RatedPuzzle { rating, is_minimal, search } = match &row.result {
        Err(error) => return proto::Rating { clues, ..rating_error(error) },
        Ok(rated) => rated,
    };
    let verdict = match verdict(rating) {
        "rated" => Verdict::Rated,
        "above" => Verdict::Above,
        _ => Verdict::Beyond,
    };
    let is_complete = rating.is_complete();
    let tenths =
        |score: Option<Score>| score.filter(|_| is_complete).map_or(0, |score| score.tenths().into());
    let hardest = rating.hardest.filter(|_| is_complete);
    proto::Rating {
        line: row.line,
        verdict: verdict.into(),
        error: None,
        er_tenths: tenths(rating.er),
        ep_tenths: tenths(rating.ep),
        ed_tenths: tenths(rating.ed),
        hardest: hardest.map(|technique| technique.name().to_owned()).unwrap_or_default(),
        steps: rating.steps,
        techniques: rating
            .counts()
            .map(|(technique, count)| proto::TechniqueCount { name: technique.name().to_owned(), count })
            .collect(),
        clues,
        is_minimal: *is_minimal,
        search: search.as_ref().map(metrics),
        message: rating.to_string(),
    }
}

/// The rating of a puzzle that has none.
pub(crate) fn rating_error(error: &PuzzleError) -> proto::Rating {
    let line = error.line.unwrap_or(0);
    let error = puzzle_error(error);
    proto::Rating { line, message: error.message.clone(), error: Some(error), ..proto::Rating::default() }
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
    fn notations_have_the_same_names_on_the_wire() {
        for (name, notation) in Notation::ALL {
            assert_ne!(wire_notation(notation), proto::Notation::Unspecified, "{name} is missing there");
            assert_eq!(notation_from(wire_notation(notation)), Some(notation), "{name}");
        }
        let on_the_wire = (0..100).filter_map(|number| proto::Notation::try_from(number).ok());
        let unknown: Vec<proto::Notation> =
            on_the_wire.filter(|&wire| notation_from(wire).is_none()).collect();
        assert_eq!(unknown, [proto::Notation::Unspecified]);
    }

    #[test]
    fn every_problem_has_a_wire_code_of_its_own_name() {
        let order = Order::NINE;
        let mut clash = Grid::empty(order);
        clash.digits_mut()[..2].fill(1);
        let problems = [
            Problem::InvalidBlockSize,
            Problem::AmbiguousBlockSize,
            Problem::BlockSizeOrCount,
            Problem::Empty,
            Problem::WrongLength,
            Problem::WrongCellCount { cells: 80, order },
            Problem::CellCount { cells: 80 },
            Problem::InvalidCharacter { character: "'x'".to_owned(), column: 1 },
            Problem::OutOfRange(order.digit(0).unwrap_err()),
            Problem::RuleBroken(clash.first_conflict().unwrap()),
            Problem::SetTwice(order.cell_at(0)),
            Problem::NoSolution,
            Problem::NotUnique,
            Problem::WrongSolution(None),
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
