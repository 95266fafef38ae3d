//! The workload: puzzles to send, and their expected answers.
//!
//! All puzzles are solved here before anything is sent, so most answers are checked by comparing
//! bytes. Any other answer is checked against the rules, because a puzzle may have several
//! solutions, and which one is found depends on the puzzles that are searched with it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use crate::answer::{Answer, Block, Cancelled, Found, Solvers, Task};
use crate::counted::counted;
use crate::grid::Grid;
use crate::input::{InputError, Reader};
use crate::pipeline::{Panicked, ThreadPool, submit};
use crate::service::wire::convert::{code_name, options_from};
use crate::service::wire::proto::{self, answer::Result as Answered};
use crate::text::{Format, FormatError, Hint, Notation, Records};

/// The most puzzles of a workload; the rest of the input is not read.
pub const MAX_PUZZLES: usize = 1 << 20;

/// The longest line of a workload. Longer ones, which are no puzzles of any size, are left out,
/// because a message has to hold many lines.
const MAX_LINE_BYTES: usize = 1024;

/// The puzzles solved as one job.
const PUZZLES_PER_JOB: usize = 8192;

/// The most bytes of an answer that are quoted.
const MAX_QUOTED_BYTES: usize = 200;

/// The error of a workload that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The puzzles cannot be written one a line.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The input holds no puzzles.
    #[error("{0} is empty.")]
    Empty(String),
    /// There are not as many answers as puzzles.
    #[error(
        "{} came for {}. This is a bug.",
        counted(*answers as u64, "answer"),
        counted(*puzzles as u64, "puzzle")
    )]
    Miscounted {
        /// The number of puzzles.
        puzzles: usize,
        /// The number of answers.
        answers: usize,
    },
    /// The caller's flag was set.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A job that solved some of them panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// Puzzles, one a line, and the answers to them.
#[derive(Debug)]
pub struct Workload {
    /// The format of both.
    format: Format,
    /// Behind the list its beginning follows once more, because a message may run over the end.
    puzzles: LineTable,
    answers: LineTable,
    /// The puzzles of the list.
    count: usize,
    /// The puzzles of a message.
    message_puzzles: usize,
    /// The answers that are errors: their indexes and codes.
    errors: Vec<(usize, &'static str)>,
    left_out: u64,
}

/// A text, and the offsets behind its lines and their line ends.
#[derive(Debug, Default)]
struct LineTable {
    text: Bytes,
    ends: Vec<usize>,
}

impl LineTable {
    fn count(&self) -> usize {
        self.ends.len()
    }

    /// The range of some lines in the text.
    fn span(&self, lines: &Range<usize>) -> Range<usize> {
        let end_of = |count: usize| count.checked_sub(1).map_or(0, |last| self.ends[last]);
        end_of(lines.start)..end_of(lines.end)
    }

    fn of(&self, lines: &Range<usize>) -> &[u8] {
        &self.text[self.span(lines)]
    }

    /// A line without its end.
    fn line(&self, index: usize) -> &[u8] {
        let line = self.of(&(index..index + 1));
        line.strip_suffix(b"\n").unwrap_or(line)
    }
}

/// The answers of one job.
#[derive(Default)]
struct Solved {
    text: Vec<u8>,
    ends: Vec<usize>,
    errors: Vec<(usize, &'static str)>,
}

impl Workload {
    /// Reads the puzzles of an input, [`MAX_PUZZLES`] at most, and solves them, for messages of
    /// `message_puzzles`, from 1. Bad lines are kept, because they are answered too. Left out are bad
    /// puzzles of several lines, very long lines, and the blank lines and comments of a `header` file,
    /// which have no answer in a list.
    ///
    /// # Errors
    /// [`WorkloadError`].
    pub fn read(
        reader: &mut Reader,
        message_puzzles: usize,
        pool: &ThreadPool,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Self, WorkloadError> {
        let from = reader.format().clone();
        let format = Format::new(Notation::Lines, from.order(), from.alphabet().clone())?;
        let (mut text, mut ends, mut left_out) = (Vec::new(), Vec::new(), 0);
        let mut puzzle = Grid::empty(from.order());
        while ends.len() < MAX_PUZZLES
            && let Some(chunk) = reader.next_chunk()?
        {
            let block = chunk.block();
            let mut records = Records::new(&from, block.text, block.first_line);
            loop {
                let unread = records.rest();
                let Some(record) = records.read(&mut puzzle) else { break };
                let read = &unread[..unread.len() - records.rest().len()];
                let raw = read.trim_ascii_end();
                let raw = &raw[memchr::memrchr(b'\n', raw).map_or(0, |end| end + 1)..];
                match record.error {
                    None => format.write_cells(&puzzle, &mut text),
                    Some(_)
                        if from.layout().is_none()
                            && raw.len() <= MAX_LINE_BYTES
                            && is_answered(&format, raw) =>
                    {
                        text.extend_from_slice(raw);
                    }
                    Some(_) => {
                        left_out += 1;
                        continue;
                    }
                }
                text.push(b'\n');
                ends.push(text.len());
            }
        }
        ends.truncate(MAX_PUZZLES);
        text.truncate(ends.last().copied().unwrap_or(0));
        if ends.is_empty() {
            return Err(WorkloadError::Empty(reader.name().to_owned()));
        }
        let count = ends.len();
        for index in 0..message_puzzles - 1 {
            let begin = index.checked_sub(1).map_or(0, |before| ends[before]);
            text.extend_from_within(begin..ends[index]);
            ends.push(text.len());
        }
        let puzzles = LineTable { text: text.into(), ends };
        let Solved { text, ends, errors } = Self::solve(&format, &puzzles, pool, cancel)?;
        let answers = LineTable { text: text.into(), ends };
        if answers.count() != puzzles.count() {
            return Err(WorkloadError::Miscounted { puzzles: puzzles.count(), answers: answers.count() });
        }
        Ok(Self { format, puzzles, answers, count, message_puzzles, errors, left_out })
    }

    fn solve(
        format: &Format,
        puzzles: &LineTable,
        pool: &ThreadPool,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Solved, WorkloadError> {
        let solvers = Arc::new(Solvers::new(format.clone(), Task::default()));
        let firsts = (0..puzzles.count()).step_by(PUZZLES_PER_JOB);
        let jobs: Vec<_> = firsts
            .map(|first| {
                let range = first..puzzles.count().min(first + PUZZLES_PER_JOB);
                let text = puzzles.text.slice(puzzles.span(&range));
                let (solvers, cancel) = (Arc::clone(&solvers), Arc::clone(cancel));
                submit(pool, move || solve_part(&solvers, &text, range, &cancel))
            })
            .collect();
        let mut all = Solved::default();
        for job in jobs {
            let part = job.wait()??;
            all.ends.extend(part.ends.iter().map(|end| all.text.len() + end));
            all.text.extend_from_slice(&part.text);
            all.errors.extend(part.errors);
        }
        Ok(all)
    }

    /// The number of puzzles.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count as u64
    }

    /// The number of puzzles in a message; the last one may have fewer.
    #[must_use]
    pub const fn message_puzzles(&self) -> usize {
        self.message_puzzles
    }

    /// The number of bad puzzles of the input that were left out.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The options that declare the format of the puzzles.
    pub(crate) fn options(&self) -> proto::SolveOptions {
        let hint = Hint {
            notation: Some(Notation::Lines),
            alphabet: Some(self.format.alphabet().clone()),
            order: Some(self.format.order()),
            ..Hint::default()
        };
        options_from(&Task::default(), &hint)
    }

    /// The puzzles of a message; `None` if the messages before it reach `limit`. The workload is
    /// sent over and over.
    pub(crate) fn message(&self, number: u64, limit: Option<u64>) -> Option<Range<usize>> {
        let before = number.checked_mul(self.message_puzzles as u64)?;
        let first = usize::try_from(before % self.count()).ok()?;
        let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(before));
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(self.message_puzzles);
        (size > 0).then(|| first..first + size)
    }

    /// Puzzles as whole lines.
    pub(crate) fn lines(&self, range: &Range<usize>) -> Bytes {
        self.puzzles.text.slice(self.puzzles.span(range))
    }

    /// Puzzles one by one, without line ends.
    pub(crate) fn entries(&self, range: &Range<usize>) -> Vec<Bytes> {
        let entry = |index: usize| {
            let span = self.puzzles.span(&(index..index + 1));
            self.puzzles.text.slice(span.start..span.end - 1)
        };
        range.clone().map(entry).collect()
    }

    /// Whether these lines are the expected answers, byte for byte.
    pub(crate) fn is_expected(&self, range: &Range<usize>, lines: &[u8]) -> bool {
        self.answers.of(range) == lines
    }

    /// The judgement of the expected answers.
    pub(crate) fn expected(&self, range: &Range<usize>) -> Judgement {
        let (from, to) =
            [range.start, range.end].map(|index| self.errors.partition_point(|&(at, _)| at < index)).into();
        let mut judgement = Judgement { right: range.len() as u64, ..Judgement::default() };
        for (_, code) in &self.errors[from..to] {
            *judgement.errors.entry(code).or_default() += 1;
        }
        judgement
    }

    /// Judges the answer lines to some puzzles.
    pub(crate) fn judge_lines(&self, range: &Range<usize>, lines: &[u8]) -> Judgement {
        if self.is_expected(range, lines) {
            return self.expected(range);
        }
        let mut judgement = Judgement::default();
        let mut given = lines.split_inclusive(|&byte| byte == b'\n');
        for index in range.clone() {
            let Some(line) = given.next() else { break };
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let is_right = self.is_right(index, line);
            match (is_right, self.code(index)) {
                (true, code) => judgement.count_right(code),
                // A server may have a lower node limit, so giving up is not wrong.
                (false, _) if is_given_up(line) => judgement.count_right(Some(GAVE_UP)),
                (false, _) => judgement.count_wrong(|| self.quote(index, line)),
            }
        }
        judgement.repeated = given.count() as u64;
        judgement
    }

    /// Judges answers that are messages. `first_line` is the line number that the first one must
    /// have.
    pub(crate) fn judge_answers(
        &self,
        range: &Range<usize>,
        first_line: u64,
        answers: &[proto::Answer],
    ) -> Judgement {
        let mut judgement = Judgement::default();
        for ((index, line), answer) in range.clone().zip(first_line..).zip(answers) {
            let known = self.code(index);
            let code = match &answer.result {
                Some(Answered::Solution(cells)) => {
                    let is_right = known.is_none() && self.is_right(index, cells.as_bytes());
                    is_right.then_some(None)
                }
                Some(Answered::Error(error)) => match code_name(error.code()) {
                    GAVE_UP => Some(Some(GAVE_UP)),
                    code => known.filter(|&known| known == code).map(Some),
                },
                Some(Answered::Count(_)) | None => None,
            };
            match code.filter(|_| answer.line == line) {
                Some(code) => judgement.count_right(code),
                None => judgement.count_wrong(|| self.quote(index, describe(answer).as_bytes())),
            }
        }
        judgement.repeated = answers.len().saturating_sub(range.len()) as u64;
        judgement
    }

    /// The code of a puzzle's expected error, if it has one.
    fn code(&self, index: usize) -> Option<&'static str> {
        let at = self.errors.binary_search_by_key(&index, |&(at, _)| at).ok()?;
        Some(self.errors[at].1)
    }

    /// Whether this is the expected answer, or any other solution of the puzzle.
    fn is_right(&self, index: usize, line: &[u8]) -> bool {
        let ours = self.answers.line(index);
        if !ours.is_empty() && line == ours {
            return true;
        }
        let (mut puzzle, mut solution) = (Grid::empty(self.format.order()), Grid::empty(self.format.order()));
        self.format.read_line(self.puzzles.line(index), 1, &mut puzzle).is_ok()
            && self.format.read_cells(line, &mut solution).is_ok()
            && solution.solves(&puzzle)
    }

    /// A puzzle and its wrong answer, as text for people.
    fn quote(&self, index: usize, answer: &[u8]) -> String {
        let cut =
            |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(MAX_QUOTED_BYTES)]).into_owned();
        let number = index % self.count + 1;
        format!("puzzle {number}, `{}`, got `{}`", cut(self.puzzles.line(index)), cut(answer))
    }
}

/// Whether a line has an answer in a list of puzzles: it is neither blank nor a comment.
fn is_answered(format: &Format, line: &[u8]) -> bool {
    Records::new(format, line, 1).read(&mut Grid::empty(format.order())).is_some()
}

const GAVE_UP: &str = "gave_up";

/// An answer message as text for people.
fn describe(answer: &proto::Answer) -> String {
    let words = match &answer.result {
        Some(Answered::Solution(cells)) => cells.clone(),
        Some(Answered::Error(error)) => format!("error: {}", error.message),
        Some(Answered::Count(count)) => format!("a count of {count}"),
        None => "nothing".to_owned(),
    };
    format!("{words}, for line {}", answer.line)
}

/// Whether this is the line of a puzzle that was given up.
fn is_given_up(line: &[u8]) -> bool {
    line.starts_with(b"error: ") && memchr::memmem::find(line, b" was given up after ").is_some()
}

fn solve_part(
    solvers: &Solvers,
    text: &[u8],
    range: Range<usize>,
    cancel: &AtomicBool,
) -> Result<Solved, Cancelled> {
    let (format, task) = (solvers.format(), solvers.task());
    let mut solved = Solved::default();
    let block = Block { text, first_line: range.start as u64 + 1 };
    let visit = |answer: &Answer<'_>| {
        let is_believed = match (&answer.result, answer.puzzle) {
            (Ok(Found::Solution(solution)), Some(puzzle)) => solution.solves(puzzle),
            _ => true,
        };
        // Without an expected answer, every received one is checked against the rules.
        if is_believed {
            task.form.write(answer, format, &mut solved.text);
        }
        if let Err(error) = &answer.result {
            solved.errors.push((range.start + solved.ends.len(), error.code()));
        }
        solved.ends.push(solved.text.len());
    };
    solvers.with(|solver| solver.answer_block(format, task, block, cancel, visit))?;
    Ok(solved)
}

/// The judgement of some answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Answers that are right, errors included.
    pub(crate) right: u64,
    /// The errors among them.
    pub(crate) errors: BTreeMap<&'static str, u64>,
    /// Answers that are wrong.
    pub(crate) wrong: u64,
    /// Answers beyond those requested.
    pub(crate) repeated: u64,
    /// The first wrong one.
    pub(crate) example: Option<String>,
}

impl Judgement {
    /// The judgement of answers that were only counted.
    pub(crate) fn unchecked(asked: u64, given: u64) -> Self {
        Self { right: given.min(asked), repeated: given.saturating_sub(asked), ..Self::default() }
    }

    /// The judgement of answers to another message.
    pub(crate) fn misplaced(given: usize, example: &str) -> Self {
        Self { wrong: given as u64, example: Some(example.to_owned()), ..Self::default() }
    }

    fn count_right(&mut self, code: Option<&'static str>) {
        self.right += 1;
        if let Some(code) = code {
            *self.errors.entry(code).or_default() += 1;
        }
    }

    fn count_wrong(&mut self, quote: impl FnOnce() -> String) {
        self.wrong += 1;
        self.example.get_or_insert_with(quote);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::input::Source;
    use crate::pipeline::pool;

    /// Two puzzles with one solution, one with several, a bad one, and one without.
    const PUZZLES: &str = "12.4341221434321\n214343211234341.\n1...............\n12\n123....4........\n";

    fn workload(text: &'static str) -> Workload {
        workload_of(text, 1)
    }

    fn workload_of(text: &'static str, message_puzzles: usize) -> Workload {
        let source = Source::reading("test".to_owned(), Box::new(Cursor::new(text))).unwrap();
        let mut reader = source.read(&Hint::default()).unwrap();
        Workload::read(&mut reader, message_puzzles, &pool(Some(1)).unwrap(), &Arc::default()).unwrap()
    }

    fn judgement(workload: &Workload, lines: &str) -> [u64; 3] {
        let judgement = workload.judge_lines(&(0..5), lines.as_bytes());
        [judgement.right, judgement.wrong, judgement.repeated]
    }

    #[test]
    fn answers_are_right_if_they_are_ours_or_any_solution() {
        let workload = workload(PUZZLES);
        let ours = String::from_utf8(workload.answers.text.to_vec()).unwrap();
        assert_eq!(ours.lines().count(), 5);
        assert!(ours.contains("error: Line 4 has the wrong length."), "{ours}");
        assert_eq!(judgement(&workload, &ours), [5, 0, 0]);
        assert_eq!(workload.expected(&(0..5)).errors.len(), 2);
        assert_eq!(workload.expected(&(0..3)).errors.len(), 0);
        let mut lines: Vec<&str> = ours.lines().collect();
        let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        // The second breaks a column.
        for (other, right) in [("1342421324313124", 5), ("1243432124133124", 4), ("", 4), ("error: x", 4)] {
            lines[2] = other;
            assert_eq!(judgement(&workload, &joined(&lines)), [right, 5 - right, 0], "{other}");
        }
        lines[2] = "error: Line 3 was given up after 7 nodes.";
        let given_up = workload.judge_lines(&(0..5), joined(&lines).as_bytes());
        assert_eq!((given_up.right, given_up.errors["gave_up"]), (5, 1));
        // The answers of neighbours, missing ones, and too many.
        let lines: Vec<&str> = ours.lines().collect();
        assert_eq!(judgement(&workload, &joined(&lines[1..]))[0], 0);
        assert_eq!(judgement(&workload, &joined(&lines[..3])), [3, 0, 0]);
        assert_eq!(judgement(&workload, &(ours.clone() + lines[4] + "\n")), [5, 0, 1]);
    }

    #[test]
    fn answers_as_messages_are_judged_by_code_and_line() {
        let workload = workload(PUZZLES);
        let solution = |line, cells: &str| proto::Answer {
            result: Some(Answered::Solution(cells.to_owned())),
            line,
            ..proto::Answer::default()
        };
        let error = |line, code: proto::ErrorCode| proto::Answer {
            result: Some(Answered::Error(proto::PuzzleError { code: code.into(), ..Default::default() })),
            line,
            ..proto::Answer::default()
        };
        let judge = |range, first, answers: &[proto::Answer]| {
            let judgement = workload.judge_answers(&range, first, answers);
            [judgement.right, judgement.wrong, judgement.repeated]
        };
        let first = "1234341221434321";
        assert_eq!(judge(0..1, 7, &[solution(7, first)]), [1, 0, 0]);
        assert_eq!(judge(0..1, 7, &[solution(8, first)]), [0, 1, 0]);
        assert_eq!(judge(0..1, 7, &[solution(7, first), solution(8, first)]), [1, 0, 1]);
        assert_eq!(judge(0..2, 1, &[solution(1, first)]), [1, 0, 0]);
        assert_eq!(judge(2..3, 1, &[solution(1, "1342421324313124")]), [1, 0, 0]);
        assert_eq!(judge(3..4, 1, &[error(1, proto::ErrorCode::WrongLength)]), [1, 0, 0]);
        assert_eq!(judge(3..4, 1, &[error(1, proto::ErrorCode::NoSolution)]), [0, 1, 0]);
        assert_eq!(judge(0..1, 1, &[error(1, proto::ErrorCode::NoSolution)]), [0, 1, 0]);
        assert_eq!(judge(0..1, 1, &[error(1, proto::ErrorCode::GaveUp)]), [1, 0, 0]);
        assert_eq!(judge(0..1, 1, &[proto::Answer { line: 1, ..Default::default() }]), [0, 1, 0]);
    }

    #[test]
    fn messages_go_round_and_end_at_the_limit() {
        let ranges = |size, limit| -> Vec<Range<usize>> {
            let workload = workload_of(PUZZLES, size);
            (0..).map_while(|number| workload.message(number, limit)).take(6).collect()
        };
        assert_eq!(ranges(2, None), [0..2, 2..4, 4..6, 1..3, 3..5, 0..2]);
        assert_eq!(ranges(2, Some(7)), [0..2, 2..4, 4..6, 1..2]);
        assert_eq!(ranges(1, Some(2)), [0..1, 1..2]);
        assert_eq!(ranges(12, Some(20)), [0..12, 2..10]);
    }

    #[test]
    fn a_message_runs_over_the_end_of_the_list() {
        let workload = workload_of(PUZZLES, 12);
        assert_eq!((workload.count(), workload.message_puzzles()), (5, 12));
        let message = workload.message(2, None).unwrap();
        assert_eq!(message, 4..16);
        let wanted = format!("123....4........\n{PUZZLES}{PUZZLES}12.4341221434321\n");
        assert_eq!(workload.lines(&message), wanted);
        assert_eq!(workload.entries(&(4..6)), ["123....4........", "12.4341221434321"]);
        // The answers are those to these lines by their numbers.
        assert_eq!(workload.expected(&message).errors.values().sum::<u64>(), 5);
        let errors = String::from_utf8(workload.answers.of(&message).to_vec()).unwrap();
        assert!(errors.contains("error: Line 9 has the wrong length."), "{errors}");
        assert!(errors.contains("error: Line 14 has the wrong length."), "{errors}");
        assert!(workload.quote(8, b"x").starts_with("puzzle 4, `12`, "));
    }

    #[test]
    fn lines_of_a_header_file_that_are_no_puzzles_of_a_list_are_left_out() {
        let workload = workload("2\n12.4341221434321\n\n# 7\n12\n  \n.234341221434321\n\n");
        assert_eq!((workload.count(), workload.left_out()), (3, 4));
        assert_eq!(workload.answers.count(), 3);
        assert_eq!(workload.lines(&(0..3)), "12.4341221434321\n12\n.234341221434321\n");
        let ours = String::from_utf8(workload.answers.text.to_vec()).unwrap();
        assert!(ours.contains("error: Line 2 has the wrong length."), "{ours}");
        let judged = workload.judge_lines(&(0..3), ours.as_bytes());
        assert_eq!((judged.right, judged.wrong), (3, 0));
    }

    #[test]
    fn puzzles_of_several_lines_are_put_on_one() {
        let workload = workload("12 34\n34 12\n\n21 43\n43 2.\n");
        assert_eq!((workload.count(), workload.left_out()), (1, 0));
        assert_eq!(workload.lines(&(0..1)), "123434122143432.\n");
    }
}
