//! The questions: solve, count, check, rate, and making puzzles.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_buffer::Buffer;
use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use sudoku_core::answer::{
    Answer, BulkVisitor, CanonTask, Canonizers, CheckTask, CheckedRow, Checkers, DigitReader, Finding, Found,
    PuzzleReader, RateTask, RatedRow, Raters, Solvers, Task, Visitor,
};
use sudoku_core::canon::NoBasis;
use sudoku_core::counted::counted;
use sudoku_core::generate::{
    self, ClueRange, Constraints, Difficulty, Generator, Grids, Kind, Recipe, Symmetry,
};
use sudoku_core::grid::{Grid, Order};
use sudoku_core::poison::IgnorePoison as _;
use sudoku_core::solver::{Question, Search};
use sudoku_core::techniques::{Ending, Score, Technique, TechniqueError, TechniqueSet};
use sudoku_core::text::{Alphabet, Format, Notation, Problem, PuzzleError};

use crate::blocks;
use crate::column::{Column, Values, import_numpy, zeros};
use crate::error::{format_error, puzzle_error, solve_error};
use crate::puzzles::{Puzzles, Reader, Rows, hint, order_of};

/// The puzzles of a block of searches: as many as are searched together.
const SEARCH_BLOCK: usize = 8192;

/// The fewest puzzles of a block of searches, if there are as many: a batch of the 9x9 kernel.
const LEAST_SEARCH_BLOCK: usize = 512;

/// The most puzzles of a block of searches where each puzzle is searched alone, because it may take
/// seconds.
const ALONE_BLOCK: usize = 64;

/// The most puzzles of a block of ratings, each of which may take milliseconds.
const RATE_BLOCK: usize = 256;

/// Takes the first `length` elements off a slice, which has as many.
macro_rules! first {
    ($slice:ident, $length:expr) => {
        $slice.split_off_mut(..$length).unwrap_or_default()
    };
}

/// The number of an error in a column: one more than its place among [`Problem::CODES`].
fn number_of(code: &str) -> u8 {
    let place = Problem::CODES.iter().position(|known| *known == code);
    place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or(u8::MAX)
}

/// The first error of a run, in the order of the puzzles.
#[derive(Default)]
struct FirstError(Mutex<Option<PuzzleError>>);

impl FirstError {
    fn add(&self, error: &PuzzleError) {
        let mut first = self.0.lock().ignore_poison();
        if first.as_ref().is_none_or(|first| error.line < first.line) {
            *first = Some(error.clone());
        }
    }

    fn into_result(self, py: Python<'_>) -> PyResult<()> {
        let first = self.0.into_inner().ignore_poison();
        first.map_or(Ok(()), |error| Err(puzzle_error(py, &error)))
    }
}

/// A block of answers: results in their places, and the numbers of errors.
struct BlockResults<'a> {
    /// Solutions, one byte a cell; empty for counts.
    grids: &'a mut [u8],
    counts: &'a mut [u64],
    errors: &'a mut [u8],
    /// The line of the first puzzle.
    first_line: u64,
    /// The code of the first error.
    first_error: Option<PuzzleError>,
    /// The format of solutions that are texts.
    text_of: Option<&'a Format>,
    cells: usize,
}

impl BlockResults<'_> {
    fn place(&self, line: u64) -> usize {
        usize::try_from(line - self.first_line).unwrap_or(usize::MAX)
    }

    fn solutions_at(&mut self, place: usize, digits: &[u8]) {
        let to = &mut self.grids[place * self.cells..][..digits.len()];
        to.copy_from_slice(digits);
        if let Some(format) = self.text_of {
            write_symbols(format, to);
        }
    }

    fn error(&mut self, place: usize, error: &PuzzleError) {
        self.errors[place] = number_of(error.code());
        if self.first_error.is_none() {
            self.first_error = Some(error.clone());
        }
    }

    /// Answers the puzzles of a block. Cancelled work has no result that anybody sees.
    fn fill(&mut self, solvers: &Solvers, mut reader: impl PuzzleReader, cancel: &AtomicBool) {
        let (task, line) = (solvers.task(), self.first_line);
        let mut work = || solvers.with(|solver| solver.answer_puzzles(task, &mut reader, line, cancel, self));
        if catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
            self.internal_errors();
        }
    }

    /// The answers to a block whose work panicked.
    fn internal_errors(&mut self) {
        self.grids.fill(0);
        for place in 0..self.errors.len() {
            let line = Some(self.first_line + place as u64);
            self.error(place, &PuzzleError { problem: Problem::Internal, line });
        }
    }
}

/// Replaces digits by their symbols.
fn write_symbols(format: &Format, digits: &mut [u8]) {
    let symbols: Vec<u8> = (0..=format.order().side())
        .filter_map(|digit| u8::try_from(u32::from(format.symbol(u8::try_from(digit).ok()?))).ok())
        .collect();
    if symbols == b".123456789" {
        // Solutions as they nearly always are, which is vectorised.
        for digit in digits {
            *digit = if *digit == 0 { b'.' } else { b'0' + *digit };
        }
    } else {
        for digit in digits {
            *digit = symbols[usize::from(*digit)];
        }
    }
}

impl Visitor for BlockResults<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        let place = self.place(answer.line);
        match &answer.result {
            Ok(Found::Solution(solution)) => self.solutions_at(place, solution.digits()),
            Ok(Found::Count { count, .. }) => self.counts[place] = *count,
            Err(error) => self.error(place, error),
        }
    }

    fn wants_puzzles(&self) -> bool {
        false
    }

    fn bulk(&mut self) -> Option<&mut dyn BulkVisitor> {
        Some(self)
    }
}

impl BulkVisitor for BlockResults<'_> {
    fn solutions(&mut self, lines: &[u64], _searches: &[Search], digits: &[u8]) {
        if let Some(&line) = lines.first() {
            self.solutions_at(self.place(line), digits);
        }
    }
}

/// A column of grids: as texts a [`Column`], else an array of shape `(N, cells)` with zeros where one
/// is missing.
fn grids_column<'py>(
    py: Python<'py>,
    grids: Vec<u8>,
    cells: usize,
    missing: Vec<bool>,
    as_text: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if as_text {
        let column: Column = Values::Texts { cells, text: Buffer::from_vec(grids), missing }.into();
        return Ok(Bound::new(py, column)?.into_any());
    }
    import_numpy(py)?;
    Ok(PyArray1::from_vec(py, grids).reshape([missing.len(), cells])?.into_any())
}

/// Results and the errors beside them.
type WithErrors<'py> = (Bound<'py, PyAny>, Column);

/// Answers all puzzles. With `raises` the first error is raised.
fn answer<'py>(
    py: Python<'py>,
    puzzles: &Puzzles,
    task: Task,
    threads: Option<i64>,
    raises: bool,
    as_text: bool,
) -> PyResult<WithErrors<'py>> {
    let (count, order) = (puzzles.len(), puzzles.format.order());
    let is_count = matches!(task.question, Question::Count { .. });
    let cells = if is_count { 0 } else { order.cells() };
    let mut grids: Vec<u8> = zeros(count.checked_mul(cells))?;
    let mut counts: Vec<u64> = zeros(Some(if is_count { count } else { 0 }))?;
    let mut errors: Vec<u8> = zeros(Some(count))?;
    let first_error = FirstError::default();
    let solvers = Solvers::new(puzzles.format.clone(), task);
    let threads = blocks::threads(threads)?;
    let (least, most) =
        if solvers.search_together() { (LEAST_SEARCH_BLOCK, SEARCH_BLOCK) } else { (1, ALONE_BLOCK) };
    puzzles.with_rows(py, |rows| {
        let (mut grids, mut counts, mut errors) =
            (grids.as_mut_slice(), counts.as_mut_slice(), errors.as_mut_slice());
        let mut jobs = Vec::new();
        for places in blocks::cut(count, threads, least, most) {
            let length = places.len();
            let job = BlockResults {
                grids: first!(grids, length * cells),
                counts: first!(counts, if is_count { length } else { 0 }),
                errors: first!(errors, length),
                first_line: 1 + places.start as u64,
                first_error: None,
                text_of: as_text.then_some(&puzzles.format),
                cells,
            };
            jobs.push((places, job));
        }
        blocks::run(py, threads, jobs, |(places, mut answers), cancel: &AtomicBool| {
            answers.fill(&solvers, rows.reader(places), cancel);
            let has_failed = answers.first_error.is_some();
            answers.first_error.iter().for_each(|error| first_error.add(error));
            !(raises && has_failed)
        })
    })?;
    if raises {
        first_error.into_result(py)?;
    }
    let missing: Vec<bool> = errors.iter().map(|&error| error != 0).collect();
    let results = if is_count {
        Bound::new(py, Column::from(Values::Counts { counts, missing }))?.into_any()
    } else {
        grids_column(py, grids, cells, missing, as_text)?
    };
    let errors = Values::Names { names: errors, table: Problem::CODES.to_vec() };
    Ok((results, errors.into()))
}

fn question(unique: bool) -> Question {
    if unique { Question::Unique } else { Question::First }
}

/// Solves one puzzle in any notation.
#[pyfunction]
pub fn solve_text(
    py: Python<'_>,
    puzzle: &Bound<'_, PyString>,
    unique: bool,
    node_limit: u64,
    size: Option<i64>,
    alphabet: Option<&str>,
) -> PyResult<String> {
    let hint = hint(size, alphabet)?;
    // Not everything that is a string can be encoded.
    let text = puzzle.to_string_lossy();
    let read = py.detach(|| sudoku_core::read_single(&text, &hint));
    let (format, puzzle) = read.map_err(|error| solve_error(py, &error))?;
    let (order, cells) = (format.order(), format.order().cells());
    let task = Task { question: question(unique), node_limit, ..Task::default() };
    let solvers = Solvers::new(format.clone(), task);
    let (mut solution, mut error, first_error) = (vec![0; cells], [0], FirstError::default());
    let answers = BlockResults {
        grids: &mut solution,
        counts: &mut [],
        errors: &mut error,
        first_line: 1,
        first_error: None,
        text_of: Some(&format),
        cells,
    };
    blocks::run(py, 1, vec![answers], |mut answers, cancel| {
        answers.fill(&solvers, DigitReader::new(order, puzzle.digits()), cancel);
        answers.first_error.iter().for_each(|error| first_error.add(error));
        true
    })?;
    match first_error.0.into_inner().ignore_poison() {
        // It is the only puzzle.
        Some(error) => Err(puzzle_error(py, &PuzzleError { line: None, ..error })),
        None => Ok(solution.into_iter().map(char::from).collect()),
    }
}

/// Solves many puzzles. Returns the solutions and the codes of errors.
#[pyfunction]
pub fn solve<'py>(
    py: Python<'py>,
    puzzles: &Bound<'py, Puzzles>,
    unique: bool,
    node_limit: u64,
    threads: Option<i64>,
    raises: bool,
    as_text: bool,
) -> PyResult<WithErrors<'py>> {
    let task = Task { question: question(unique), node_limit, ..Task::default() };
    answer(py, puzzles.get(), task, threads, raises, as_text)
}

/// Counts the solutions of many puzzles. Returns the counts and the codes of errors.
#[pyfunction]
pub fn count<'py>(
    py: Python<'py>,
    puzzles: &Bound<'py, Puzzles>,
    limit: u64,
    node_limit: u64,
    threads: Option<i64>,
    raises: bool,
) -> PyResult<WithErrors<'py>> {
    let task = Task { question: Question::Count { limit }, node_limit, ..Task::default() };
    answer(py, puzzles.get(), task, threads, raises, false)
}

/// Brings many puzzles into their canonical form. Returns the forms and the codes of errors.
#[pyfunction]
pub fn canon<'py>(
    py: Python<'py>,
    puzzles: &Bound<'py, Puzzles>,
    by: Option<&str>,
    node_limit: u64,
    threads: Option<i64>,
    raises: bool,
    as_text: bool,
) -> PyResult<WithErrors<'py>> {
    let puzzles = puzzles.get();
    let (count, order) = (puzzles.len(), puzzles.format.order());
    if order != Order::NINE {
        return Err(PyValueError::new_err(format!(
            "Canonical forms are those of 9x9 puzzles; these are {order}."
        )));
    }
    let basis = by.map(str::parse).transpose();
    let basis = basis.map_err(|error: NoBasis| PyValueError::new_err(error.to_string()))?;
    let cells = order.cells();
    let mut forms: Vec<u8> = zeros(count.checked_mul(cells))?;
    let mut errors: Vec<u8> = zeros(Some(count))?;
    let first_error = FirstError::default();
    let canonizers = Canonizers::new(puzzles.format.clone(), CanonTask { basis, node_limit });
    let threads = blocks::threads(threads)?;
    puzzles.with_rows(py, |rows| {
        let (mut forms, mut errors) = (forms.as_mut_slice(), errors.as_mut_slice());
        let mut jobs = Vec::new();
        for places in blocks::cut(count, threads, LEAST_SEARCH_BLOCK, SEARCH_BLOCK) {
            let length = places.len();
            jobs.push((places, first!(forms, length * cells), first!(errors, length)));
        }
        blocks::run(py, threads, jobs, |(places, forms, errors), cancel: &AtomicBool| {
            let first_line = 1 + places.start as u64;
            let mut has_failed = false;
            let mut work = || {
                let mut reader = rows.reader(places.clone());
                canonizers.canonize_puzzles(&mut reader, first_line, cancel, |row| {
                    let place = usize::try_from(row.line - first_line).unwrap_or(usize::MAX);
                    match &row.result {
                        Ok(form) => {
                            let to = &mut forms[place * cells..][..cells];
                            to.copy_from_slice(form.puzzle.digits());
                            if as_text {
                                write_symbols(&puzzles.format, to);
                            }
                        }
                        Err(error) => {
                            errors[place] = number_of(error.code());
                            first_error.add(error);
                            has_failed = true;
                        }
                    }
                })
            };
            if catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
                forms.fill(0);
                errors.fill(number_of(Problem::Internal.code()));
                first_error.add(&PuzzleError { problem: Problem::Internal, line: Some(first_line) });
                has_failed = true;
            }
            !(raises && has_failed)
        })
    })?;
    if raises {
        first_error.into_result(py)?;
    }
    let missing = errors.iter().map(|&error| error != 0).collect();
    let forms = grids_column(py, forms, cells, missing, as_text)?;
    let errors = Values::Names { names: errors, table: Problem::CODES.to_vec() };
    Ok((forms, errors.into()))
}

/// The verdicts of checks: those of findings, then the codes of errors that are not among them.
fn verdicts() -> Vec<&'static str> {
    let errors = Problem::CODES.into_iter().filter(|code| !Finding::CODES.contains(code));
    Finding::CODES.into_iter().chain(errors).collect()
}

/// The number of a name in a table, counted from 1.
fn name_in(table: &[&'static str], name: &str) -> u8 {
    let place = table.iter().position(|known| *known == name);
    place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or(0)
}

/// Solutions, of which one without a cell is missing, as an empty field of a table is.
struct SolutionReader<'a>(Reader<'a>);

impl PuzzleReader for SolutionReader<'_> {
    fn order(&self) -> Order {
        self.0.order()
    }

    fn read_plain(&mut self, cells: &mut [u8]) -> usize {
        self.0.read_plain(cells)
    }

    fn read(&mut self, solution: &mut Grid) -> Option<Result<(), Problem>> {
        match self.0.read(solution) {
            Some(Err(Problem::WrongCellCount { cells: 0, .. })) => Some(Err(Problem::Empty)),
            read => read,
        }
    }
}

/// Checks puzzles, or puzzles with the solutions beside them. Returns the verdicts, and the rows and
/// columns of wrong cells.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    puzzles: &Bound<'_, Puzzles>,
    solutions: Option<&Bound<'_, Puzzles>>,
    unique: bool,
    node_limit: u64,
    threads: Option<i64>,
) -> PyResult<(Column, Column, Column)> {
    let puzzles = puzzles.get();
    let count = puzzles.len();
    if let Some(solutions) = solutions {
        let (puzzle_side, side) = (puzzles.format.order(), solutions.get().format.order());
        if count != solutions.get().len() {
            let (puzzles, solutions) =
                (counted(count as u64, "puzzle"), counted(solutions.get().len() as u64, "solution"));
            let are = if count == 1 { "is" } else { "are" };
            return Err(PyValueError::new_err(format!(
                "There {are} {puzzles} and {solutions}: there must be as many."
            )));
        }
        if puzzle_side != side && count > 0 {
            return Err(PyValueError::new_err(format!(
                "The puzzles are {puzzle_side}, and the solutions {side}."
            )));
        }
    }
    let table = verdicts();
    let right = name_in(&table, "right");
    // What is not right is visited.
    let mut codes = vec![right; count];
    let mut wrong: Vec<(u8, u8)> = zeros(Some(count))?;
    let task = CheckTask { is_unique: unique, node_limit, ..CheckTask::default() };
    let checkers = Checkers::new(puzzles.format.clone(), task);
    let threads = blocks::threads(threads)?;
    let mut run = |rows: Rows<'_>, given: Option<Rows<'_>>| {
        let (mut codes, mut wrong) = (codes.as_mut_slice(), wrong.as_mut_slice());
        let mut jobs = Vec::new();
        for places in blocks::cut(count, threads, LEAST_SEARCH_BLOCK, SEARCH_BLOCK) {
            let length = places.len();
            jobs.push((places, first!(codes, length), first!(wrong, length)));
        }
        blocks::run(py, threads, jobs, |(places, codes, wrong), cancel: &AtomicBool| {
            let mut work = || {
                let mut reader = rows.reader(places.clone());
                let mut given = given.map(|given| SolutionReader(given.reader(places.clone())));
                let visit = |row: &CheckedRow<'_>| {
                    let place = usize::try_from(row.line - 1).unwrap_or(usize::MAX);
                    codes[place] = name_in(&table, row.finding.code());
                    if let Some(cell) = row.finding.cell() {
                        let number = |number| u8::try_from(number).unwrap_or(0);
                        wrong[place] = (number(cell.row()), number(cell.column()));
                    }
                };
                checkers.check_puzzles(&mut reader, given.as_mut(), 1, false, cancel, visit)
            };
            if catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
                codes.fill(name_in(&table, Problem::Internal.code()));
            }
            true
        })
    };
    puzzles.with_rows(py, |rows| match solutions {
        Some(solutions) => solutions.get().with_rows(py, |given| run(rows, Some(given))),
        None => run(rows, None),
    })?;
    let part = |of: fn(&(u8, u8)) -> u8| -> Column {
        let counts: Vec<u64> = wrong.iter().map(|cell| of(cell).into()).collect();
        let missing = counts.iter().map(|&count| count == 0).collect();
        Values::Counts { counts, missing }.into()
    };
    let (row, column) = (part(|cell| cell.0), part(|cell| cell.1));
    Ok((Values::Names { names: codes, table }.into(), row, column))
}

/// Reads names of techniques and families.
fn techniques_of(text: &str) -> Result<TechniqueSet, String> {
    let set: TechniqueSet = text.parse().map_err(|error: TechniqueError| error.to_string())?;
    if set.is_empty() { Err("No technique is named.".to_owned()) } else { Ok(set) }
}

/// Reads the name of one technique.
fn technique_of(text: &str) -> Result<Technique, String> {
    text.parse().map_err(|_| {
        let (what, choice) = match text.parse::<TechniqueSet>() {
            Ok(set) if !set.is_empty() => ("names several techniques", set),
            _ => ("is no technique", TechniqueSet::ALL),
        };
        let names: Vec<&str> = choice.iter().map(Technique::name).collect();
        format!("{text:?} {what}: give one of {}.", names.join(", "))
    })
}

/// A rated puzzle.
#[derive(Clone, Copy, Default)]
struct Rated {
    verdict: u8,
    er: u16,
    ep: u16,
    ed: u16,
    hardest: u8,
    steps: u32,
    clues: u16,
    minimal: u8,
}

/// The columns of ratings: verdict, ER, EP, ED, hardest technique, steps, clues, minimal.
type RatedColumns = (Column, Column, Column, Column, Column, Column, Column, Column);

/// Rates many puzzles.
#[pyfunction]
pub fn rate(
    py: Python<'_>,
    puzzles: &Bound<'_, Puzzles>,
    up_to: Option<&str>,
    techniques: Option<&str>,
    node_limit: u64,
    threads: Option<i64>,
    raises: bool,
) -> PyResult<RatedColumns> {
    let puzzles = puzzles.get();
    let bad = |error: String| PyValueError::new_err(error);
    let mut task = RateTask { node_limit, ..RateTask::default() };
    task.up_to = up_to.map(str::parse).transpose().map_err(|error| bad(format!("{error}")))?;
    if let Some(techniques) = techniques {
        task.techniques = techniques_of(techniques).map_err(bad)?;
    }
    let count = puzzles.len();
    let mut table = vec!["rated", "above", "beyond"];
    table.extend(Problem::CODES);
    let names: Vec<&'static str> = Technique::ALL.iter().map(|technique| technique.name()).collect();
    let mut rated: Vec<Rated> = zeros(Some(count))?;
    let first_error = FirstError::default();
    let raters = Raters::new(puzzles.format.clone(), task);
    let threads = blocks::threads(threads)?;
    puzzles.with_rows(py, |rows| {
        let mut rated = rated.as_mut_slice();
        let mut jobs = Vec::new();
        for places in blocks::cut(count, threads, 1, RATE_BLOCK) {
            let length = places.len();
            jobs.push((places, first!(rated, length)));
        }
        blocks::run(py, threads, jobs, |(places, rated), cancel: &AtomicBool| {
            let first_line = 1 + places.start as u64;
            let mut has_failed = false;
            let mut work = || {
                let mut reader = rows.reader(places.clone());
                raters.rate_puzzles(&mut reader, first_line, cancel, |row| {
                    if let Err(error) = &row.result {
                        first_error.add(error);
                        has_failed = true;
                    }
                    let place = usize::try_from(row.line - first_line).unwrap_or(usize::MAX);
                    rated[place] = Rated::new(row, &table, &names);
                })
            };
            if catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
                let verdict = name_in(&table, Problem::Internal.code());
                rated.fill(Rated { verdict, minimal: 2, ..Rated::default() });
                first_error.add(&PuzzleError { problem: Problem::Internal, line: Some(first_line) });
                has_failed = true;
            }
            !(raises && has_failed)
        })
    })?;
    if raises {
        first_error.into_result(py)?;
    }
    let is_rated = |of: &Rated| of.verdict == 1;
    let tenths = |of: fn(&Rated) -> u16| Values::Tenths(rated.iter().map(of).collect()).into();
    let steps = Values::Counts {
        counts: rated.iter().map(|of| of.steps.into()).collect(),
        missing: rated.iter().map(|of| !is_rated(of)).collect(),
    };
    let clues = Values::Counts {
        counts: rated.iter().map(|of| of.clues.saturating_sub(1).into()).collect(),
        missing: rated.iter().map(|of| of.clues == 0).collect(),
    };
    Ok((
        Values::Names { names: rated.iter().map(|of| of.verdict).collect(), table }.into(),
        tenths(|of| of.er),
        tenths(|of| of.ep),
        tenths(|of| of.ed),
        Values::Names { names: rated.iter().map(|of| of.hardest).collect(), table: names }.into(),
        steps.into(),
        clues.into(),
        Values::Flags(rated.iter().map(|of| of.minimal).collect()).into(),
    ))
}

impl Rated {
    fn new(row: &RatedRow<'_>, table: &[&'static str], names: &[&'static str]) -> Self {
        let found = row.result.as_ref().ok();
        let rating = found.map(|found| &found.rating).filter(|rating| rating.ending == Ending::Solved);
        let tenths = |score: Option<Score>| score.map_or(0, Score::tenths);
        Self {
            verdict: name_in(table, row.code()),
            er: tenths(rating.and_then(|rating| rating.er)),
            ep: tenths(rating.and_then(|rating| rating.ep)),
            ed: tenths(rating.and_then(|rating| rating.ed)),
            hardest: rating.and_then(|rating| rating.hardest).map_or(0, |of| name_in(names, of.name())),
            steps: rating.map_or(0, |rating| rating.steps),
            // One more, because 0 is for a puzzle that could not be read.
            clues: row.puzzle.map_or(0, |puzzle| u16::try_from(puzzle.filled() + 1).unwrap_or(0)),
            minimal: found.and_then(|found| found.is_minimal).map_or(2, u8::from),
        }
    }
}

/// Puzzles that were made, their solutions, and the seed.
type Made<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, u64);

/// Makes puzzles.
#[pyfunction]
pub fn make<'py>(
    py: Python<'py>,
    count: usize,
    size: i64,
    clues: Option<&str>,
    minimal: bool,
    symmetry: &str,
    difficulty: &str,
    rating: Option<&str>,
    technique: Option<&str>,
    attempts: u64,
    seed: Option<u64>,
    threads: Option<i64>,
    as_text: bool,
) -> PyResult<Made<'py>> {
    if !as_text {
        // Before work that may take minutes.
        import_numpy(py)?;
    }
    let bad = |error: String| PyValueError::new_err(error);
    let order = order_of(size)?;
    let difficulty = match Difficulty::ALL.into_iter().find(|(name, _)| *name == difficulty) {
        Some((_, difficulty)) => difficulty,
        None => Difficulty::Guesses(
            generate::guesses(difficulty)
                .map_err(|error| bad(format!("{error} Or use one of any, easy, medium and hard.")))?,
        ),
    };
    let constraints = Constraints {
        grids: Grids::default(),
        // The range has a place of its own.
        clues: None,
        minimal,
        symmetry: symmetry.parse::<Symmetry>().map_err(|error| bad(error.to_string()))?,
        difficulty,
        rating: rating.map(generate::ratings).transpose().map_err(|error| bad(error.to_string()))?,
        technique: technique.map(technique_of).transpose().map_err(bad)?,
    };
    let clues = clues.map(str::parse::<ClueRange>).transpose().map_err(|error| bad(error.to_string()))?;
    let kind = match clues {
        Some(clues) => Kind::PuzzleInRange { clues, constraints },
        None => Kind::Puzzle(constraints),
    };
    let recipe = Recipe { order, kind, attempts };
    let seed = seed.unwrap_or_else(generate::any_seed);
    let generator = Generator::new(recipe, seed).map_err(|error| bad(error.to_string()))?;
    let format =
        Format::new(Notation::Lines, order, Alphabet::Letters).map_err(|error| format_error(py, &error))?;
    let (cells, threads) = (order.cells(), blocks::threads(threads)?);
    let mut puzzles: Vec<u8> = zeros(count.checked_mul(cells))?;
    let mut solutions: Vec<u8> = zeros(count.checked_mul(cells))?;
    let (gave_up, has_panicked) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut jobs = Vec::new();
    let (mut clues, mut solved) = (puzzles.as_mut_slice(), solutions.as_mut_slice());
    let most = generator.recipe().job(count as u64, threads);
    for places in blocks::cut(count, threads, 1, most) {
        let length = places.len() * cells;
        jobs.push((places, first!(clues, length), first!(solved, length)));
    }
    blocks::run(py, threads, jobs, |(places, clues, solved), cancel: &AtomicBool| {
        let mut work = || generator.make(places.start as u64, places.len(), cancel);
        let Ok(made) = catch_unwind(AssertUnwindSafe(&mut work)) else {
            has_panicked.store(true, Ordering::Relaxed);
            return false;
        };
        let Ok(made) = made else { return true };
        let mut is_whole = true;
        for (at, puzzle) in made.into_iter().enumerate() {
            let Ok(puzzle) = puzzle else {
                is_whole = false;
                continue;
            };
            let place = at * cells..(at + 1) * cells;
            clues[place.clone()].copy_from_slice(puzzle.clues.digits());
            if let Some(solution) = puzzle.solution {
                solved[place].copy_from_slice(solution.digits());
            }
        }
        gave_up.fetch_or(!is_whole, Ordering::Relaxed);
        is_whole
    })?;
    if has_panicked.into_inner() {
        return Err(PyRuntimeError::new_err("The puzzles were not made because of an internal error."));
    }
    if gave_up.into_inner() {
        let recipe = generator.recipe();
        let attempts = counted(recipe.attempts, "attempt");
        return Err(PyRuntimeError::new_err(format!(
            "Gave up after {attempts}: no {recipe} was found. Allow more attempts, or wish for less."
        )));
    }
    let column = |mut digits: Vec<u8>| {
        if as_text {
            write_symbols(&format, &mut digits);
        }
        grids_column(py, digits, cells, vec![false; count], as_text)
    };
    Ok((column(puzzles)?, column(solutions)?, seed))
}
