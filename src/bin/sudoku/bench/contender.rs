//! A contender: a strategy on a back end, timed from text to text or for the search alone. Every
//! answer is checked.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sudoku_stream::answer::{Block, Cancelled, Solvers, Tally, Task};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::pipeline::{Panicked, ThreadPool, submit};
use sudoku_stream::poison::IgnorePoison as _;
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{Batch, Limit, Question, Solver, Strategy, Verdict};
use sudoku_stream::text::{Format, Problem, Records};

use super::BenchKind;
use super::subject::Subject;
use crate::cli::print;

/// The code of a puzzle that was given up. Another strategy may answer it.
const GAVE_UP: &str = Problem::GaveUp { nodes: 0 }.code();

/// The settings that all contenders share.
pub struct RunContext {
    pub pool: ThreadPool,
    pub cancel: Arc<AtomicBool>,
    pub question: Question,
    pub node_limit: u64,
}

/// Why a run did not come to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum RunError {
    /// The user interrupted it.
    Cancelled,
    /// An answer is wrong or missing; why.
    Wrong(String),
}

impl RunError {
    /// Adds the name of the contender.
    pub fn by(self, contender: &Contender) -> Self {
        match self {
            Self::Cancelled => Self::Cancelled,
            Self::Wrong(what) => Self::Wrong(format!("{contender}: {what}")),
        }
    }
}

impl From<Cancelled> for RunError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<Panicked> for RunError {
    fn from(_: Panicked) -> Self {
        Self::Wrong("the work broke down".to_owned())
    }
}

/// The answers of a run.
#[derive(Clone, Debug, Default)]
pub struct BenchOutcome {
    /// The answers of each kind, and their cost.
    pub tally: Tally,
    /// The sum of all counts of solutions, where the question is a count and the answers were read.
    pub counted: Option<u64>,
}

impl BenchOutcome {
    /// The puzzles that reached the node limit.
    pub fn given_up(&self) -> u64 {
        self.tally.errors.get(GAVE_UP).copied().unwrap_or(0)
    }

    /// The outcome with the error lines of puzzles that cannot be searched.
    pub fn with(&self, refused: &Tally) -> Self {
        let mut whole = self.clone();
        whole.tally.add(refused);
        whole
    }

    /// The difference from another outcome for the same puzzles, unless puzzles that one of them
    /// gave up can explain it.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let (ours, theirs) = (&self.tally, &other.tally);
        if ours.answers != theirs.answers {
            return Some(format!(
                "{} instead of {}",
                print::counted(ours.answers, "answer"),
                print::thousands(theirs.answers)
            ));
        }
        // A puzzle that one of them gave up may have any answer in the other.
        let is_possible =
            |ours, theirs| ours <= theirs + other.given_up() && theirs <= ours + self.given_up();
        let good = |tally: &Tally| tally.answers - tally.error_count();
        if !is_possible(good(ours), good(theirs)) {
            return Some(format!("{} answered instead of {}", good(ours), good(theirs)));
        }
        for code in ours.errors.keys().chain(theirs.errors.keys()).filter(|code| **code != GAVE_UP) {
            let count = |tally: &Tally| tally.errors.get(code).copied().unwrap_or(0);
            if !is_possible(count(ours), count(theirs)) {
                return Some(format!("{} {code} instead of {}", count(ours), count(theirs)));
            }
        }
        match (self.counted, other.counted) {
            (Some(ours), Some(theirs)) if ours != theirs && self.given_up() + other.given_up() == 0 => {
                Some(format!(
                    "{} counted instead of {}",
                    print::counted(ours, "solution"),
                    print::thousands(theirs)
                ))
            }
            _ => None,
        }
    }
}

/// A strategy on a back end, and what is timed of it.
pub struct Contender {
    pub strategy: &'static dyn Strategy,
    /// The back end, where the strategy has several.
    pub backend: Option<Backend>,
    pub kind: BenchKind,
    work: BenchWork,
}

/// How the puzzles are answered. State is kept from run to run, as from chunk to chunk of a long
/// file.
enum BenchWork {
    Text(Arc<Solvers>),
    Search(Arc<IdleStrategySolvers>),
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.strategy.name())?;
        if let Some(backend) = self.backend {
            write!(f, " on {backend}")?;
        }
        write!(f, " ({})", self.kind)
    }
}

impl Contender {
    /// A strategy that supports the order of the format. `strategy` has `backend` chosen already.
    pub fn new(
        kind: BenchKind,
        strategy: &'static dyn Strategy,
        backend: Option<Backend>,
        format: &Format,
        context: &RunContext,
    ) -> Self {
        let work = match kind {
            BenchKind::Text => {
                let (question, node_limit) = (context.question, context.node_limit);
                let task = Task { strategy: Some(strategy), question, node_limit, ..Task::default() };
                BenchWork::Text(Arc::new(Solvers::new(format.clone(), task)))
            }
            BenchKind::Search => BenchWork::Search(Arc::new(IdleStrategySolvers {
                strategy,
                order: format.order(),
                idle: Mutex::default(),
            })),
        };
        Self { strategy, backend, kind, work }
    }

    /// The first run, which is not timed. Every solution is checked.
    pub fn warm_up(
        &self,
        context: &RunContext,
        subject: &Arc<Subject>,
        batches: &mut Vec<Batch>,
    ) -> Result<BenchOutcome, RunError> {
        match &self.work {
            BenchWork::Text(solvers) => {
                let mut counted = 0;
                let (_, tally) = answer(context, subject, solvers, |block, answers| {
                    counted += check_text(&subject.format, context.question, block, answers)?;
                    Ok(())
                })?;
                Ok(BenchOutcome { tally, counted: counts(context.question).then_some(counted) })
            }
            BenchWork::Search(solvers) => {
                // Fresh batches, because those of another contender hold its answers.
                *batches = subject.batches();
                search(context, solvers, batches)?;
                batches.iter().try_for_each(check_batch(context.question))?;
                judge(context.question, batches)
            }
        }
    }

    /// The mean time of runs that take `least` together, and their number. The answers of each have
    /// to be those of the first run.
    pub fn mean_run(
        &self,
        context: &RunContext,
        subject: &Arc<Subject>,
        batches: &mut Vec<Batch>,
        first: &BenchOutcome,
        least: Duration,
    ) -> Result<(Duration, u32), RunError> {
        let (mut total, mut runs) = (Duration::ZERO, 0);
        while total < least {
            let (time, found) = self.run(context, subject, batches).map_err(|stop| stop.by(self))?;
            if let Some(difference) = found.difference(first) {
                return Err(RunError::Wrong(format!("{self} disagrees with its first run: {difference}")));
            }
            total += time;
            runs += 1;
        }
        Ok((total / runs.max(1), runs))
    }

    /// Answers all puzzles. Returns the time and, examined afterwards, the outcome.
    fn run(
        &self,
        context: &RunContext,
        subject: &Arc<Subject>,
        batches: &mut Vec<Batch>,
    ) -> Result<(Duration, BenchOutcome), RunError> {
        match &self.work {
            BenchWork::Text(solvers) => {
                let (time, tally) = answer(context, subject, solvers, |_, _| Ok(()))?;
                Ok((time, BenchOutcome { tally, counted: None }))
            }
            BenchWork::Search(solvers) => {
                let time = search(context, solvers, batches)?;
                Ok((time, judge(context.question, batches)?))
            }
        }
    }
}

/// Answers the whole text and passes the answers to each part to `check`. They are dropped at once,
/// as if written.
fn answer(
    context: &RunContext,
    subject: &Arc<Subject>,
    solvers: &Arc<Solvers>,
    mut check: impl FnMut(Block<'_>, &[u8]) -> Result<(), RunError>,
) -> Result<(Duration, Tally), RunError> {
    let begin = Instant::now();
    let start = |part| {
        let (subject, solvers, cancel) =
            (Arc::clone(subject), Arc::clone(solvers), Arc::clone(&context.cancel));
        submit(&context.pool, move || solvers.write_answers(subject.block(part), &*cancel))
    };
    let slots: Vec<_> = (0..subject.parts()).map(start).collect();
    let mut tally = Tally::default();
    for (part, slot) in slots.into_iter().enumerate() {
        let written = slot.wait()??;
        tally.add(&written.tally);
        check(subject.block(part), &written.text)?;
    }
    Ok((begin.elapsed(), tally))
}

/// Searches all batches.
fn search(
    context: &RunContext,
    solvers: &Arc<IdleStrategySolvers>,
    batches: &mut Vec<Batch>,
) -> Result<Duration, RunError> {
    let begin = Instant::now();
    let (solutions, nodes) = (context.question.solutions(), context.node_limit);
    let start = |mut batch| {
        let (solvers, cancel) = (Arc::clone(solvers), Arc::clone(&context.cancel));
        submit(&context.pool, move || {
            solvers.with(|solver| {
                solver.search_batch(&mut batch, &Limit { solutions, nodes, cancel: &cancel });
            });
            batch
        })
    };
    let slots: Vec<_> = batches.drain(..).map(start).collect();
    for slot in slots {
        batches.push(slot.wait()?);
    }
    Ok(begin.elapsed())
}

/// The solvers of a strategy, lent to jobs on any thread.
struct IdleStrategySolvers {
    strategy: &'static dyn Strategy,
    order: Order,
    idle: Mutex<Vec<Box<dyn Solver>>>,
}

impl IdleStrategySolvers {
    fn with(&self, job: impl FnOnce(&mut dyn Solver)) {
        let idle = || self.idle.lock().ignore_poison();
        let kept = idle().pop();
        let mut solver = kept.unwrap_or_else(|| self.strategy.solver(self.order));
        job(&mut *solver);
        idle().push(solver);
    }
}

const fn counts(question: Question) -> bool {
    matches!(question, Question::Count { .. })
}

/// Tallies the results of batches.
fn judge(question: Question, batches: &[Batch]) -> Result<BenchOutcome, RunError> {
    let mut outcome = BenchOutcome::default();
    let mut counted = 0;
    for search in batches.iter().flat_map(Batch::searches) {
        let verdict = question.verdict(search);
        if let Verdict::Counted { count, .. } = verdict {
            counted += count;
        }
        let problem = verdict.problem()?;
        outcome.tally.count_one(problem.as_ref().map(Problem::code), &search.metrics);
    }
    outcome.counted = counts(question).then_some(counted);
    Ok(outcome)
}

/// Checks the solutions of a batch.
fn check_batch(question: Question) -> impl Fn(&Batch) -> Result<(), RunError> {
    move |batch| {
        let (mut puzzle, mut solution) = (Grid::empty(batch.order()), Grid::empty(batch.order()));
        for (index, search) in batch.searches().iter().enumerate() {
            // A count keeps the first solution too.
            if question.verdict(search) == Verdict::Solved || counts(question) && search.solutions > 0 {
                puzzle.set_digits(batch.puzzle(index));
                solution.set_digits(batch.solution(index));
                if !solution.solves(&puzzle) {
                    return Err(wrong(&puzzle, &solution));
                }
            }
        }
        Ok(())
    }
}

/// Reads answers back and checks them. Returns the sum of all counts.
fn check_text(
    format: &Format,
    question: Question,
    block: Block<'_>,
    answers: &[u8],
) -> Result<u64, RunError> {
    let (mut puzzle, mut solution) = (Grid::empty(format.order()), Grid::empty(format.order()));
    let mut answers = answers.split(|&byte| byte == b'\n');
    let mut records = Records::new(format, block.text, block.first_line);
    let mut counted = 0;
    while let Some(record) = records.read(&mut puzzle) {
        let answer = answers.next().unwrap_or_default();
        if answer.starts_with(b"error: ") {
            continue;
        }
        let is_right = if counts(question) {
            let (count, stopped) = answer.strip_suffix(b"+").map_or((answer, false), |count| (count, true));
            let count = std::str::from_utf8(count).ok().and_then(|count| count.parse::<u64>().ok());
            counted += count.unwrap_or(0);
            count.is_some_and(|count| stopped == (count >= question.solutions()))
        } else {
            format.read_cells(answer, &mut solution).is_ok() && solution.solves(&puzzle)
        };
        if !is_right {
            let answer = String::from_utf8_lossy(answer);
            return Err(RunError::Wrong(format!("line {} got the wrong answer `{answer}`", record.line)));
        }
    }
    // The last line ends with a newline.
    match answers.next() {
        Some(b"") | None => Ok(counted),
        Some(_) => Err(RunError::Wrong("there are more answers than puzzles".to_owned())),
    }
}

fn wrong(puzzle: &Grid, solution: &Grid) -> RunError {
    let cells = |grid: &Grid| grid.digits().iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
    RunError::Wrong(format!("the puzzle {} got the wrong solution {}", cells(puzzle), cells(solution)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(answers: u64, errors: &[(&'static str, u64)], counted: Option<u64>) -> BenchOutcome {
        let errors = errors.iter().copied().collect();
        BenchOutcome { tally: Tally { answers, errors, ..Tally::default() }, counted }
    }

    #[test]
    fn differences_are_reported_unless_a_puzzle_was_given_up() {
        let plain = outcome(10, &[("no_solution", 2)], None);
        assert_eq!(plain.difference(&plain), None);
        let says = |other: &BenchOutcome| plain.difference(other);
        assert_eq!(says(&outcome(9, &[("no_solution", 2)], None)).unwrap(), "10 answers instead of 9");
        assert_eq!(says(&outcome(10, &[("no_solution", 3)], None)).unwrap(), "8 answered instead of 7");
        assert_eq!(says(&outcome(10, &[("not_unique", 2)], None)).unwrap(), "2 no_solution instead of 0");
        // Given up by one of the two, and what it may have been.
        for (errors, fits) in [
            (&[("no_solution", 1), (GAVE_UP, 1)][..], true),
            (&[("no_solution", 2), (GAVE_UP, 3)], true),
            (&[(GAVE_UP, 2)], true),
            (&[(GAVE_UP, 1)], false),
            (&[("no_solution", 3), (GAVE_UP, 1)], false),
        ] {
            let other = outcome(10, errors, None);
            assert_eq!(plain.difference(&other).is_none(), fits, "{errors:?}");
            assert_eq!(other.difference(&plain).is_none(), fits, "{errors:?}");
        }
        let counted = |count| outcome(1, &[], Some(count));
        assert_eq!(counted(3).difference(&counted(4)).unwrap(), "3 solutions counted instead of 4");
        assert_eq!(counted(3).difference(&outcome(1, &[], None)), None);
    }

    fn four() -> Format {
        use sudoku_stream::text::{Alphabet, Notation};
        Format::new(Notation::Lines, Order::from_side(4).unwrap(), Alphabet::Letters).unwrap()
    }

    #[test]
    fn answers_in_text_are_read_back() {
        let block = Block { text: b"12343412214343..\n12\n", first_line: 1 };
        let check = |question, answers: &str| check_text(&four(), question, block, answers.as_bytes());
        let first = |answers| check(Question::First, answers);
        assert_eq!(first("1234341221434321\nerror: x\n"), Ok(0));
        assert!(first("1234341221434312\nerror: x\n").is_err());
        assert!(first("1234341221434321\n").is_err());
        assert!(first("1234341221434321\nerror: x\nerror: y\n").is_err());
        assert_eq!(check(Question::Count { limit: 9 }, "7\nerror: x\n"), Ok(7));
        assert!(check(Question::Count { limit: 9 }, "many\nerror: x\n").is_err());
    }

    #[test]
    fn solutions_of_batches_are_checked() {
        let grid = |text: &[u8]| {
            let mut grid = Grid::empty(four().order());
            four().read_cells(text, &mut grid).unwrap();
            grid
        };
        let solved = sudoku_stream::solver::Search {
            solutions: 1,
            stop: sudoku_stream::solver::Stop::Exhausted,
            ..sudoku_stream::solver::Search::NO_SOLUTION
        };
        let mut batch = Batch::new(four().order());
        batch.push(&grid(b"12343412214343.."));
        batch.set(0, solved, grid(b"1234341221434321").digits());
        let check = |batch: &Batch| check_batch(Question::Unique)(batch);
        assert_eq!(check(&batch), Ok(()));
        assert_eq!(judge(Question::Unique, &[batch]).unwrap().tally.error_count(), 0);
        let mut batch = Batch::new(four().order());
        batch.push(&grid(b"12343412214343.."));
        batch.set(0, solved, grid(b"4321341221434321").digits());
        assert!(matches!(check(&batch), Err(RunError::Wrong(_))));
    }
}
