//! Proto to domain and back.

use tonic::Status;
use tonic_types::FieldViolation;

use super::context::Context;
use super::proto;
use super::refusal::bad_fields;
use crate::answer::{Answer, Check, Flaw, Found, OutputForm, ShortTally, Tally, Task};
use crate::grid::{Cell, Digit, Grid, House, HouseKind, Order};
use crate::solver::{Clash, DEFAULT_COUNT_LIMIT, DEFAULT_NODE_LIMIT, Metrics, Question, Step, Strategy};
use crate::text::{Alphabet, Format, FormatError, Hint, Notation, Problem, PuzzleError};

/// What the options of a call say.
#[derive(Clone)]
pub(super) struct Settings {
    /// What to do.
    pub(super) task: Task,
    /// How the text is written, as far as it was said.
    pub(super) hint: Hint,
}

impl Context {
    /// Reads the options of a solving call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` that names every bad field.
    pub(super) fn settings(&self, options: &proto::SolveOptions) -> Result<Settings, Status> {
        let mut fields = Fields::below("options");
        let strategy = fields.read("strategy", self.strategy(&options.strategy));
        let question = fields.read("question", question(options.question, options.count_limit));
        let form = fields.read("output", output_form(options.output));
        let hint = hint(&mut fields, options.notation, &options.alphabet, options.order);
        match (strategy, question, form) {
            (Some(strategy), Some(question), Some(form)) if fields.are_good() => {
                let node_limit = self.node_limit(options.node_limit);
                Ok(Settings {
                    task: Task { strategy, question, node_limit, form, measure: options.measure },
                    hint,
                })
            }
            _ => Err(fields.into_status()),
        }
    }

    /// The strategy of this name; none for an empty one, which leaves the choice to [`Self::for_order`].
    fn strategy(&self, name: &str) -> Result<Option<&'static dyn Strategy>, String> {
        if name.is_empty() {
            return Ok(None);
        }
        let found = self.strategies.iter().copied().find(|s| s.name() == name);
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = self.strategies.iter().map(|s| s.name()).collect();
            format!("`{name}` is no strategy. Use {}.", names.join(", "))
        })
    }

    /// The task for puzzles of this order: with a strategy, if none was named.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the strategy cannot do them.
    pub(super) fn for_order(&self, task: Task, order: Order) -> Result<Task, Status> {
        let supports = |s: &&'static dyn Strategy| s.supports(order);
        let refuse =
            |what: &str| invalid("options.strategy", format!("{what} does not solve {order} puzzles."));
        let strategy = match task.strategy {
            None => self.strategies.iter().copied().find(supports).ok_or_else(|| refuse("This server")),
            Some(named) if named.supports(order) => Ok(named),
            Some(named) => Err(refuse(&format!("The strategy {}", named.name()))),
        };
        Ok(Task { strategy: Some(strategy?), ..task })
    }

    /// The node limit that is used where `asked` is asked for.
    fn node_limit(&self, asked: u64) -> u64 {
        let asked = if asked == 0 { DEFAULT_NODE_LIMIT } else { asked };
        asked.min(self.limits.nodes)
    }

    /// The options of a Count call, as those of a solving one.
    pub(super) fn count_settings(&self, request: &proto::CountRequest) -> Result<Settings, Status> {
        let mut fields = Fields::at_top();
        let strategy = fields.read("strategy", self.strategy(&request.strategy));
        let hint = text_hint(request.options.as_ref())?;
        let Some(strategy) = strategy else { return Err(fields.into_status()) };
        let task = Task {
            strategy,
            question: count_question(request.count_limit),
            node_limit: self.node_limit(request.node_limit),
            form: OutputForm::Solution,
            measure: false,
        };
        Ok(Settings { task, hint })
    }
}

/// Reads the options of a call that does not solve.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
pub(super) fn text_hint(options: Option<&proto::TextOptions>) -> Result<Hint, Status> {
    let Some(options) = options else { return Ok(Hint::default()) };
    let mut fields = Fields::below("options");
    let hint = hint(&mut fields, options.notation, &options.alphabet, options.order);
    if fields.are_good() { Ok(hint) } else { Err(fields.into_status()) }
}

/// The fields of a message, read one after another. All that are bad are reported together.
pub(super) struct Fields {
    parent: Option<&'static str>,
    violations: Vec<FieldViolation>,
}

impl Fields {
    pub(super) const fn at_top() -> Self {
        Self { parent: None, violations: Vec::new() }
    }

    const fn below(parent: &'static str) -> Self {
        Self { parent: Some(parent), violations: Vec::new() }
    }

    pub(super) fn read<T>(&mut self, field: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|what| self.violations.push(FieldViolation::new(self.path(field), tidy(&what)))).ok()
    }

    fn path(&self, field: &str) -> String {
        self.parent.map_or_else(|| field.to_owned(), |parent| format!("{parent}.{field}"))
    }

    pub(super) const fn are_good(&self) -> bool {
        self.violations.is_empty()
    }

    pub(super) fn into_status(self) -> Status {
        bad_fields(self.violations)
    }
}

/// `INVALID_ARGUMENT` for one field, named by its path in the request.
pub(super) fn invalid(field: &str, what: impl Into<String>) -> Status {
    let mut fields = Fields::at_top();
    fields.read::<()>(field, Err(what.into()));
    fields.into_status()
}

/// The longest message that quotes a client. Headers, in which statuses travel, have a limit of their own.
const MAX_QUOTING_CHARS: usize = 400;

/// A message that quotes what a client sent, fit for a header and for a line of a log: cut to a bearable length and without
/// control characters.
pub(super) fn tidy(message: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    let mut tidied: String = message.chars().take(MAX_QUOTING_CHARS).map(shown).collect();
    if message.chars().nth(MAX_QUOTING_CHARS).is_some() {
        tidied.push('…');
    }
    tidied
}

/// The status of a call whose text cannot be read as it should. `text_field` is where the text stands.
pub(super) fn unreadable(error: &FormatError, text_field: &str) -> Status {
    invalid(option_field(error).as_deref().unwrap_or(text_field), error.to_string())
}

/// The field of the request in which an option does not fit the text, or is needed to read it.
pub(super) fn option_field(error: &FormatError) -> Option<String> {
    error.option().map(|option| format!("options.{option}"))
}

pub(super) fn unknown(what: &str, number: i32) -> String {
    format!("{number} is no {what} that this server knows.")
}

fn question(number: i32, count_limit: u64) -> Result<Question, String> {
    use proto::Question as Q;
    match Q::try_from(number).map_err(|_| unknown("question", number))? {
        Q::Unspecified | Q::First => Ok(Question::First),
        Q::Unique => Ok(Question::Unique),
        Q::Count => Ok(count_question(count_limit)),
    }
}

const fn count_question(limit: u64) -> Question {
    Question::Count { limit: if limit == 0 { DEFAULT_COUNT_LIMIT } else { limit } }
}

fn output_form(number: i32) -> Result<OutputForm, String> {
    use proto::OutputForm as F;
    Ok(match F::try_from(number).map_err(|_| unknown("form of output", number))? {
        F::Unspecified | F::Solution => OutputForm::Solution,
        F::Pair => OutputForm::Pair,
        F::Csv => OutputForm::Csv,
        F::Jsonl => OutputForm::Jsonl,
        F::Grid => OutputForm::Grid,
    })
}

fn notation(number: i32) -> Result<Option<Notation>, String> {
    use proto::Notation as N;
    Ok(match N::try_from(number).map_err(|_| unknown("notation", number))? {
        N::Unspecified => None,
        N::Lines => Some(Notation::Lines),
        N::Header => Some(Notation::Header),
        N::Grid => Some(Notation::Grid),
        N::Triples => Some(Notation::Triples),
        N::Csv => Some(Notation::Csv),
    })
}

/// Reads what three fields say about a text.
fn hint(fields: &mut Fields, notation_number: i32, alphabet: &str, order: u32) -> Hint {
    let parsed = if alphabet.is_empty() {
        Ok(None)
    } else {
        alphabet.parse::<Alphabet>().map(Some).map_err(|error| error.to_string())
    };
    let known_order = match order {
        0 => Ok(None),
        _ => usize::try_from(order)
            .ok()
            .and_then(Order::new)
            .map(Some)
            .ok_or_else(|| format!("{order} is no order. Use 1 to 5, the side of a box.")),
    };
    Hint {
        notation: fields.read("notation", notation(notation_number)).flatten(),
        alphabet: fields.read("alphabet", parsed).flatten(),
        order: fields.read("order", known_order).flatten(),
    }
}

/// The options that say the same as `task` and `hint`.
pub(super) fn options_from(task: &Task, hint: &Hint) -> proto::SolveOptions {
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
        // Colour is for the terminal at this end; a server sends the plain rows.
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

/// The side of a box, 1 to 5.
pub(super) fn wire_order(order: Order) -> u32 {
    small(order.box_side())
}

/// A number that is at most the cells of the largest grid.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The stable codes beside their wire names.
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

pub(super) fn puzzle_error(error: &PuzzleError) -> proto::PuzzleError {
    proto::PuzzleError {
        code: error_code(error.code()).into(),
        message: error.to_string(),
        line: error.line.unwrap_or(0),
    }
}

pub(super) const fn metrics(metrics: &Metrics) -> proto::Metrics {
    let Metrics { nodes, guesses, backtracks, depth, comparisons, placements } = *metrics;
    proto::Metrics { nodes, guesses, backtracks, depth, comparisons, placements }
}

/// The cells of a grid in reading order, one character each.
pub(super) fn cells(grid: &Grid, format: &Format) -> String {
    let mut cells = Vec::with_capacity(grid.order().cells());
    format.write_cells(grid, &mut cells);
    // All alphabets are of ASCII.
    String::from_utf8_lossy(&cells).into_owned()
}

/// One answer of a stream or a text with several puzzles.
pub(super) fn answer(answer: &Answer<'_>, format: &Format) -> proto::Answer {
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

/// An answer that is an error, without a search.
pub(super) fn error_answer(error: &PuzzleError) -> proto::Answer {
    proto::Answer {
        result: Some(error_result(error)),
        metrics: Some(proto::Metrics::default()),
        count_is_exact: false,
        line: error.line.unwrap_or(0),
    }
}

/// A bad answer.
pub(super) fn error_result(error: &PuzzleError) -> proto::answer::Result {
    proto::answer::Result::Error(puzzle_error(error))
}

/// The answer to a count question, as Count gives it.
pub(super) fn counted(answer: proto::Answer) -> proto::CountResponse {
    use proto::answer::Result as R;
    use proto::count_response::Result as C;
    let result = answer.result.map(|result| match result {
        R::Count(count) => C::Count(count),
        R::Error(error) => C::Error(error),
        // No count question is answered so.
        R::Solution(_) => C::Error(puzzle_error(&internal_error(None))),
    });
    let proto::Answer { count_is_exact, metrics, .. } = answer;
    proto::CountResponse { result, count_is_exact, metrics }
}

/// The error of a puzzle on which the work broke down.
pub(super) const fn internal_error(line: Option<u64>) -> PuzzleError {
    PuzzleError { problem: Problem::Internal, line }
}

pub(super) fn tally(tally: &Tally) -> proto::Tally {
    let errors = tally.errors.iter();
    proto::Tally {
        answers: tally.answers,
        errors: errors
            .map(|(code, &count)| proto::ErrorCount { code: error_code(code).into(), count })
            .collect(),
        metrics: Some(metrics(&tally.metrics)),
    }
}

pub(super) fn short_tally(tally: &ShortTally) -> proto::Tally {
    match tally {
        ShortTally::Good { answers, metrics: short } => proto::Tally {
            answers: u64::from(*answers),
            errors: Vec::new(),
            metrics: Some(metrics(&short.metrics())),
        },
        ShortTally::Long(tally) => self::tally(tally),
    }
}

/// The stable code of an error that a server has sent. Those of a kind that this version does not know are `internal`.
pub(super) fn code_name(code: proto::ErrorCode) -> &'static str {
    CODES.iter().find(|&&(_, wire)| wire == code).map_or("internal", |&(name, _)| name)
}

/// The tally that a server has sent.
pub(super) fn tally_from(wire: &proto::Tally) -> Tally {
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

pub(super) fn checked_grid(check: &Check) -> proto::CheckedGrid {
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
pub(super) fn step(step: &Step) -> proto::TraceStep {
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
        Step::Conflict(Clash::Taken { cell, digit, house }) => {
            proto::TraceStep { house: Some(wire_house(house)), ..at(Kind::Conflict, cell, digit) }
        }
        Step::Conflict(Clash::NoDigit { cell: at }) => {
            proto::TraceStep { cell: Some(cell(at)), ..wire(Kind::Conflict) }
        }
        Step::Conflict(Clash::NoPlace { digit, house }) => proto::TraceStep {
            digit: digit.value().into(),
            house: Some(wire_house(house)),
            ..wire(Kind::Conflict)
        },
        Step::Conflict(Clash::Rivals) => wire(Kind::Conflict),
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
    use std::time::Duration;

    use proptest::prelude::{
        Just, ProptestConfig, Strategy, TestCaseError, any, prop, prop_assert_eq, prop_oneof,
    };
    use proptest::sample::select;
    use proptest::test_runner::TestRunner;
    use tokio::sync::watch;

    use super::super::config::Limits;
    use super::super::crew::Crew;
    use super::*;
    use crate::solver::STRATEGIES;

    /// A strategy by its place, if any, and what else a task says; but for colours, which stay at this end.
    type Asked = (Option<usize>, Question, u64, OutputForm, bool);

    fn asked() -> impl Strategy<Value = Asked> {
        let counts = (1..=u64::MAX).prop_map(|limit| Question::Count { limit });
        let question = prop_oneof![Just(Question::First), Just(Question::Unique), counts];
        let forms = OutputForm::ALL.map(|(_, form)| form).to_vec();
        let nodes = 1..=Limits::default().nodes;
        (prop::option::of(0..STRATEGIES.len()), question, nodes, select(forms), any::<bool>())
    }

    fn task((place, question, node_limit, form, measure): Asked) -> Task {
        Task { strategy: place.map(|place| STRATEGIES[place]), question, node_limit, form, measure }
    }

    fn hints() -> impl Strategy<Value = Hint> {
        let alphabets = ["letters", "ascii", "alpha", "hex", "x", "a*0B", "987654321", "FEDCBA9876543210"];
        let alphabet = select(alphabets.to_vec()).prop_map(|name| name.parse::<Alphabet>().unwrap());
        let notation = select(Notation::ALL.map(|(_, notation)| notation).to_vec());
        let order = select(Order::ALL.to_vec());
        (prop::option::of(notation), prop::option::of(alphabet), prop::option::of(order))
            .prop_map(|(notation, alphabet, order)| Hint { notation, alphabet, order })
    }

    /// What a client asks is what the server reads.
    #[tokio::test]
    async fn options_survive_the_wire() {
        let crew = Crew::new(1, None, Duration::from_secs(1)).unwrap();
        let (_keep, draining) = watch::channel(false);
        let context = Context::new(crew, STRATEGIES, Limits::default(), None, draining);
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
        let survives = |(asked, hint)| {
            let task = task(asked);
            let options = options_from(&task, &hint);
            let failed = |status: Status| TestCaseError::fail(status.to_string());
            let read = context.settings(&options).map_err(failed)?;
            prop_assert_eq!(&read.hint, &hint);
            prop_assert_eq!(
                (read.task.question, read.task.node_limit, read.task.form, read.task.measure),
                (task.question, task.node_limit, task.form, task.measure)
            );
            // The strategy is among these, by its name.
            prop_assert_eq!(options_from(&read.task, &read.hint), options);
            Ok(())
        };
        TestRunner::new(config).run(&(asked(), hints()), survives).unwrap();
    }

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

    #[test]
    fn what_a_client_sent_is_quoted_within_bounds() {
        assert_eq!(tidy("plain"), "plain");
        assert_eq!(tidy("a\nb\x1b[31m"), "a\\nb\\u{1b}[31m");
        let long = tidy(&"\0x".repeat(100_000));
        assert!(long.len() < 4_000 && long.ends_with('…'), "{}", long.len());
    }
}
