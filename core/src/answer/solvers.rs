//! Solvers for a format and a task, lent to whichever thread has puzzles to answer.

use std::sync::{Arc, Mutex, MutexGuard};

use super::block_solver::{BlockSolver, Visitor as _};
use super::row_job::BATCH_PUZZLES;
use super::write::{PartWriter, Writer};
use super::{Answer, Block, Cancel, Cancelled, PuzzleReader, RowFacts, Task, Written, WrittenParts};
use crate::grid::{Grid, Order};
use crate::poison::IgnorePoison as _;
use crate::solver::Metrics;
use crate::text::{Format, Problem, PuzzleError, Records};

/// Idle solvers of any order and strategy, shared by the tasks of a process, because one takes some
/// hundred kilobytes, and the one used last is still in the caches.
pub struct IdleSolvers {
    solvers: Mutex<Vec<(SolverKind, BlockSolver)>>,
    most_of_a_kind: usize,
}

/// The puzzles that a solver is for: their order, and the name of their strategy.
type SolverKind = (Order, &'static str);

/// Up to 64 solvers of each kind, which is more than most machines have cores.
impl Default for IdleSolvers {
    fn default() -> Self {
        Self::new(64)
    }
}

impl IdleSolvers {
    /// The limit on all solvers together, as a multiple of the limit on one kind.
    const KINDS: usize = 8;

    /// No solvers yet; up to `most_of_a_kind` of each kind will be kept. One for each core is
    /// enough, because more are only used while threads wait for a core.
    #[must_use]
    pub fn new(most_of_a_kind: usize) -> Self {
        Self { solvers: Mutex::default(), most_of_a_kind }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(SolverKind, BlockSolver)>> {
        self.solvers.lock().ignore_poison()
    }

    /// Takes the solver of this kind that was used last.
    fn take(&self, kind: SolverKind) -> Option<BlockSolver> {
        let mut idle = self.lock();
        let place = idle.iter().rposition(|(of, _)| *of == kind)?;
        Some(idle.remove(place).1)
    }

    /// Returns a solver. If there are too many of its kind, or of all kinds, the one idle for
    /// longest is dropped.
    fn put(&self, kind: SolverKind, solver: BlockSolver) {
        let mut idle = self.lock();
        let mut alike = idle.iter().enumerate().filter(|(_, (of, _))| *of == kind).map(|(place, _)| place);
        let oldest = alike.next();
        let surplus = if alike.count() + 1 >= self.most_of_a_kind {
            oldest
        } else {
            (idle.len() == Self::KINDS * self.most_of_a_kind).then_some(0)
        };
        let surplus = surplus.map(|place| idle.remove(place));
        idle.push((kind, solver));
        drop(idle);
        // Outside the lock, because freeing it may take a while.
        drop(surplus);
    }
}

/// A format and a task, and the solvers for them. Any thread may borrow one; they have no threads
/// of their own.
pub struct Solvers {
    format: Format,
    task: Task,
    idle: Arc<IdleSolvers>,
    /// The puzzles for which a solver has space from the start.
    capacity: usize,
}

impl Solvers {
    /// Solvers of their own for puzzles of this format.
    ///
    /// A solver is made when first needed; that panics if the strategy does not
    /// [support](crate::solver::Strategy::supports) the order.
    #[must_use]
    pub fn new(format: Format, task: Task) -> Self {
        Self::sharing(&Arc::default(), format, task)
    }

    /// Solvers for a text that is known to have few puzzles, such as one that was typed: without
    /// the buffers of thousands from the start. [`Self::new`] otherwise.
    #[must_use]
    pub fn for_few(format: Format, task: Task) -> Self {
        Self { capacity: 0, ..Self::new(format, task) }
    }

    /// Solvers from a shared pool, like [`Self::new`] otherwise.
    #[must_use]
    pub fn sharing(idle: &Arc<IdleSolvers>, format: Format, task: Task) -> Self {
        Self { format, task, idle: Arc::clone(idle), capacity: BATCH_PUZZLES }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Whether many puzzles are searched together.
    #[must_use]
    pub fn search_together(&self) -> bool {
        self.task.strategy_for(self.format.order()).searches_together()
    }

    /// Runs `job` with a solver. After a panic the solver is not used again.
    pub fn with<R>(&self, job: impl FnOnce(&mut BlockSolver) -> R) -> R {
        let order = self.format.order();
        let kind = (order, self.task.strategy_for(order).name());
        let solver = self.idle.take(kind);
        let mut solver = solver.unwrap_or_else(|| BlockSolver::new(order, &self.task, self.capacity));
        let result = job(&mut solver);
        self.idle.put(kind, solver);
        result
    }

    /// Answers a block and writes the answers in the task's form.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn write_answers(&self, block: Block<'_>, cancel: &dyn Cancel) -> Result<Written, Cancelled> {
        self.write_answers_into(block, cancel, Vec::with_capacity(Self::room_for(block)))
    }

    /// An estimate of the bytes of the answers to a block: in most forms an answer is about as long
    /// as its puzzle.
    #[doc(hidden)]
    #[must_use]
    pub const fn room_for(block: Block<'_>) -> usize {
        block.text.len() + 1024
    }

    /// [`Self::write_answers`], appended to `text`.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn write_answers_into(
        &self,
        block: Block<'_>,
        cancel: &dyn Cancel,
        text: Vec<u8>,
    ) -> Result<Written, Cancelled> {
        let mut writer = Writer::new(&self.format, &self.task, text);
        self.with(|solver| solver.visit_block(&self.format, &self.task, block, cancel, &mut writer))?;
        Ok(writer.finish())
    }

    /// Answers every puzzle of a reader, as if each stood on a line of its own, from `first_line`
    /// on, and writes the answers in the task's form.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    ///
    /// # Panics
    /// If the puzzles have another order than the format.
    pub fn write_puzzles(
        &self,
        reader: &mut impl PuzzleReader,
        first_line: u64,
        cancel: &dyn Cancel,
    ) -> Result<Written, Cancelled> {
        let mut writer = Writer::new(&self.format, &self.task, Vec::new());
        self.with(|solver| solver.answer_puzzles(&self.task, reader, first_line, cancel, &mut writer))?;
        Ok(writer.finish())
    }

    /// Answers a block and writes the answers in the task's form, divided into parts. `ends` are
    /// the numbers of the first lines behind the parts, ascending, the last one that of the block.
    /// The answers are appended to the text of `room`, which should have no parts; ends of parts
    /// are offsets in that text.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    #[doc(hidden)]
    pub fn write_parts(
        &self,
        block: Block<'_>,
        ends: impl Iterator<Item = u64>,
        cancel: &dyn Cancel,
        room: WrittenParts,
    ) -> Result<WrittenParts, Cancelled> {
        let WrittenParts { text, parts } = room;
        let mut writer = PartWriter::new(Writer::new(&self.format, &self.task, text), parts, ends);
        self.with(|solver| solver.visit_block(&self.format, &self.task, block, cancel, &mut writer))?;
        Ok(writer.finish())
    }

    /// The answers to a block whose work panicked: [`Problem::Internal`] for every puzzle, appended
    /// to `text`.
    #[doc(hidden)]
    #[must_use]
    pub fn write_internal_errors(&self, block: Block<'_>, text: Vec<u8>) -> Written {
        let mut writer = Writer::new(&self.format, &self.task, text);
        let mut puzzle = Grid::empty(self.format.order());
        let mut records = Records::new(&self.format, block.text, block.first_line);
        while let Some(record) = records.read(&mut puzzle) {
            let error = PuzzleError { problem: Problem::Internal, line: Some(record.line) };
            writer.answer(&Answer {
                line: record.line,
                puzzle: None,
                result: Err(error),
                metrics: Metrics::default(),
                row: RowFacts { text: record.row, ..RowFacts::default() },
            });
        }
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::block_solver::Visitor;
    use super::super::cancel::tests::GivesUpOne;
    use super::super::{AddedColumn, AddedColumns, Entries, Found, OutputForm, Tally};
    use super::*;
    use crate::text::{Alphabet, Notation};

    /// A puzzle with a few blanks and one solution, another one for each number.
    fn puzzle(k: usize) -> String {
        let solved = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
        let mut cells = solved.to_owned().into_bytes();
        for blank in 0..9 {
            cells[(k * 31 + blank * 17) % 81] = b'.';
        }
        String::from_utf8(cells).unwrap()
    }

    fn nine() -> Format {
        Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).unwrap()
    }

    #[test]
    fn parts_are_answered_as_each_for_itself() {
        let line = |k: usize| puzzle(k) + "\n";
        let mut texts: Vec<String> = (0..200)
            .map(|k| match k % 9 {
                1 | 2 => String::new(),
                3 => "# a comment\n".to_owned(),
                4 => format!("too short\n{}", line(k)),
                5 => format!("{}55{}\n{}", line(k), ".".repeat(79), line(k + 1)),
                6 => (k..k + 40).map(line).collect(),
                _ => line(k),
            })
            .collect();
        // More than are searched together.
        texts.push((0..BATCH_PUZZLES).map(line).collect());
        texts.push(line(7));
        texts.push(String::new());
        let never = AtomicBool::new(false);
        let forms = [OutputForm::Solution, OutputForm::Jsonl];
        for (form, first) in forms.into_iter().flat_map(|form| [0, 1, 3, 150, 202].map(|first| (form, first)))
        {
            let solvers = Solvers::new(nine(), Task { form, ..Task::default() });
            let (mut each, mut ends, mut next_line) = (Vec::new(), Vec::new(), 5);
            for text in &texts[first..] {
                let block = Block { text: text.as_bytes(), first_line: next_line };
                let Written { text: answers, tally } = solvers.write_answers(block, &never).unwrap();
                next_line += text.lines().count() as u64;
                ends.push(next_line);
                each.push((String::from_utf8(answers).unwrap(), tally));
            }
            let whole = texts[first..].concat();
            let block = Block { text: whole.as_bytes(), first_line: 5 };
            let WrittenParts { text, parts } =
                solvers.write_parts(block, ends.into_iter(), &never, WrittenParts::default()).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(parts.len(), each.len());
            let mut begin = 0;
            for (part, (answers, tally)) in parts.into_iter().zip(each) {
                assert_eq!(text[begin..part.end], answers);
                let mut total = Tally::default();
                part.tally.add_to(&mut total);
                assert_eq!(total, tally);
                begin = part.end;
            }
            assert_eq!(begin, text.len());
        }
    }

    #[test]
    fn the_searches_of_a_row_are_given_up_alone() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let columns = [AddedColumn::Solutions, AddedColumn::Minimal];
        let task =
            Task { form: OutputForm::Csv, columns: Some(AddedColumns::new(&columns)), ..Task::default() };
        let answer = |which: u64| {
            let block = Block { text: b".1....2.3..4....\n", first_line: 1 };
            let written = Solvers::new(format.clone(), task).write_answers(block, &GivesUpOne::new(which));
            String::from_utf8(written.unwrap().text).unwrap()
        };
        assert_eq!(answer(0), ".1....2.3..4....,1,true\n");
        assert_eq!(answer(1), ".1....2.3..4....,,\n");
        assert_eq!(answer(2), ".1....2.3..4....,1,\n");
    }

    #[test]
    fn a_few_idle_solvers_of_each_kind_are_kept() {
        let idle = IdleSolvers::new(2);
        let put = |order: Order| {
            let solver = BlockSolver::new(order, &Task::default(), 0);
            idle.put((order, "any"), solver);
        };
        let kept = || idle.lock().iter().map(|((order, _), _)| *order).collect::<Vec<_>>();
        let [one, four, nine, sixteen, large] = Order::ALL;
        for order in [four, nine, four, four, nine] {
            put(order);
        }
        assert_eq!(kept(), [nine, four, four, nine]);
        for _ in 0..5 {
            put(sixteen);
        }
        assert_eq!(kept(), [nine, four, four, nine, sixteen, sixteen]);
        assert!(idle.take((four, "any")).is_some() && idle.take((four, "other")).is_none());
        assert_eq!(kept(), [nine, four, nine, sixteen, sixteen]);
        put(one);
        put(large);
        assert_eq!(kept(), [nine, four, nine, sixteen, sixteen, one, large]);
    }

    #[test]
    fn entries_are_read_one_by_one_whatever_they_hold() {
        struct Said<'a>(&'a Format, Vec<(u64, String)>);
        impl Visitor for Said<'_> {
            fn answer(&mut self, answer: &Answer<'_>) {
                let said = match &answer.result {
                    Ok(Found::Solution(solution)) => {
                        let mut cells = Vec::new();
                        self.0.write_cells(solution, &mut cells);
                        String::from_utf8(cells).unwrap()
                    }
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => error.code().to_owned(),
                };
                self.1.push((answer.line, said));
            }
        }
        let two_in_one = format!("{}\n{}", &puzzle(1)[..40], &puzzle(2)[..40]);
        let two = format!("{}\n{}", puzzle(1), puzzle(2));
        let texts: Vec<String> = (0..100)
            .map(|k| match k % 13 {
                3 => String::new(),
                5 => two_in_one.clone(),
                6 => two.clone(),
                8 => format!("{} # a comment", puzzle(k)),
                9 => format!("{}\n", puzzle(k)),
                11 => "nonsense".to_owned(),
                _ => puzzle(k),
            })
            .collect();
        let (format, task, never) = (nine(), Task::default(), AtomicBool::new(false));
        let solvers = Solvers::new(format.clone(), task);
        let answers = |texts: &[String], first_line| {
            let mut entries = Entries::default();
            for text in texts {
                entries.push(text.as_bytes());
            }
            assert!(texts.iter().enumerate().all(|(k, text)| entries.get(k) == text.as_bytes()));
            let mut said = Said(&format, Vec::new());
            let answer = |solver: &mut BlockSolver| {
                solver.answer_entries(&format, &task, &entries, first_line, &never, &mut said)
            };
            solvers.with(answer).unwrap();
            said.1
        };
        let together = answers(&texts, 1);
        let each: Vec<_> = texts.chunks(1).zip(1..).flat_map(|(text, line)| answers(text, line)).collect();
        assert_eq!(together, each);
        // 81 characters, one of which is a line end; and then more.
        assert_eq!(together[5], (6, "invalid_character".to_owned()));
        assert_eq!(together[6], (7, "wrong_length".to_owned()));
        assert!(together.iter().filter(|(_, said)| said.len() == 81).count() > 50);
    }
}
