//! Streams as clients send them, good and bad lines mixed and the options changed on the way: each message has its
//! response, each line its answer, and the answers are those of the same lines in a file.

use std::sync::atomic::AtomicBool;

use arbitrary::{Arbitrary as _, Unstructured};
use bytes::Bytes;
use prost::Message as _;
use sudoku_stream::answer::{Block, OutputForm, Solvers, Task};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::service::proto;
use sudoku_stream::solver::{Question, STRATEGIES};
use sudoku_stream::text::{Alphabet, Format, Notation};

use super::reading::count_lines;
use super::requests::{assert_is_answer, decode};
use super::serving::{NODES, call};

/// The most messages of a stream.
const MESSAGES: usize = 8;

/// The most lines of a message: fewer than make the strategy `fast` search them together.
const LINES: usize = 3;

/// Lines of all kinds; most are of 4x4 puzzles.
const KNOWN: &[&str] = &[
    "12.4............",
    "1...............",
    "................",
    "1234341221434321",
    "11..............",
    "..3..4.221..4.21",
    "1234341.........",
    "x...............",
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    ".................................................................................",
    "# a comment",
    "",
    " ",
    "1234 # and a comment",
    "\u{e9}...............",
    ".",
];

/// What the bytes are made into.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    // What is left of too few bytes reads as zeros, and that is a stream too.
    match bytes.arbitrary() {
        Ok(true) => puzzles(&mut bytes),
        _ => lines(&mut bytes),
    }
}

/// A line without its end.
fn line(bytes: &mut Unstructured<'_>) -> Vec<u8> {
    if bytes.ratio(4, 5).unwrap_or(true) {
        return bytes.choose(KNOWN).map_or(KNOWN[0], |line| line).as_bytes().to_vec();
    }
    let length = bytes.int_in_range(0..=20).unwrap_or(0);
    let mut line = bytes.bytes(length).map(<[u8]>::to_vec).unwrap_or_default();
    line.retain(|&byte| byte != b'\n');
    line
}

fn messages(bytes: &mut Unstructured<'_>) -> Vec<Vec<Vec<u8>>> {
    let count = bytes.int_in_range(1..=MESSAGES).unwrap_or(1);
    let message = |bytes: &mut Unstructured<'_>| {
        let lines = bytes.int_in_range(0..=LINES).unwrap_or(1);
        (0..lines).map(|_| line(bytes)).collect()
    };
    (0..count).map(|_| message(bytes)).collect()
}

/// A strategy, and what is asked.
fn task(bytes: &mut Unstructured<'_>) -> Task {
    let strategies = STRATEGIES.iter().copied().filter(|strategy| strategy.supports(Order::ALL[1]));
    let strategies: Vec<_> = strategies.collect();
    let questions = [Question::First, Question::Unique, Question::Count { limit: 7 }];
    let (_, form) = *bytes.choose(&OutputForm::ALL).unwrap_or(&OutputForm::ALL[0]);
    Task {
        strategy: bytes.choose(&strategies).ok().copied(),
        question: *bytes.choose(&questions).unwrap_or(&Question::First),
        node_limit: bytes.int_in_range(1..=NODES).unwrap_or(NODES),
        form,
        ..Task::default()
    }
}

fn options(task: &Task) -> proto::SolveOptions {
    let (question, count_limit) = match task.question {
        Question::First => (proto::Question::First, 0),
        Question::Unique => (proto::Question::Unique, 0),
        Question::Count { limit } => (proto::Question::Count, limit),
    };
    let output = format!("OUTPUT_FORM_{}", task.form.to_string().to_uppercase());
    proto::SolveOptions {
        strategy: task.strategy.map(|strategy| strategy.name().to_owned()).unwrap_or_default(),
        question: question.into(),
        count_limit,
        node_limit: task.node_limit,
        notation: proto::Notation::Lines.into(),
        alphabet: "letters".to_owned(),
        order: 2,
        output: proto::OutputForm::from_str_name(&output).expect("every form has a number").into(),
        measure: task.measure,
        ..proto::SolveOptions::default()
    }
}

/// `SolveLines`, with 4x4 puzzles. The options may change with every message.
fn lines(bytes: &mut Unstructured<'_>) {
    let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).expect("the letters fit");
    let (mut requests, mut wanted) = (Vec::new(), Vec::new());
    let (mut current, mut next_line) = (task(bytes), 1);
    for (index, lines) in messages(bytes).into_iter().enumerate() {
        let is_new = index == 0 || bool::arbitrary(bytes).unwrap_or(false);
        if is_new && index > 0 {
            current = task(bytes);
        }
        let mut text = lines.join(&b'\n');
        if bool::arbitrary(bytes).unwrap_or(true) && !lines.is_empty() {
            text.push(b'\n');
        }
        let jump = if bytes.ratio(1, 8).unwrap_or(false) {
            u64::from(u16::arbitrary(bytes).unwrap_or(1))
        } else {
            0
        };
        if jump > 0 {
            next_line = jump;
        }
        let block = Block { text: &text, first_line: next_line };
        let solvers = Solvers::new(format.clone(), current);
        let written = solvers.write_answers(block, &AtomicBool::new(false)).expect("nothing cancels it");
        next_line += count_lines(&text);
        wanted.push((written.text, written.tally.answers));
        let options = is_new.then(|| options(&current));
        let (lines, sample) = (Bytes::from(text), Bytes::new());
        let request = proto::SolveLinesRequest { options, lines, first_line: jump, sample };
        requests.push(Bytes::from(request.encode_to_vec()));
    }
    let ended = call("SolveLines", requests);
    assert!(ended.status.is_none(), "{:?}", ended.status);
    assert_eq!(ended.responses.len(), wanted.len());
    for (response, (text, answers)) in ended.responses.iter().zip(&wanted) {
        let response: proto::SolveLinesResponse = decode(response);
        assert_eq!(String::from_utf8_lossy(&response.lines), String::from_utf8_lossy(text));
        assert_eq!(response.tally.expect("a response has a tally").answers, *answers);
    }
}

/// `SolveStream`, with puzzles of any size.
fn puzzles(bytes: &mut Unstructured<'_>) {
    let options = options(&task(bytes));
    // The size may be found out, or said.
    let order = if bool::arbitrary(bytes).unwrap_or(false) { 2 } else { 0 };
    let mut options = Some(proto::SolveOptions { order, ..options });
    let messages = messages(bytes);
    let requests = messages.iter().zip(1..).map(|(puzzles, batch_id)| {
        let puzzles = puzzles.iter().map(|puzzle| Bytes::from(puzzle.clone())).collect();
        let request = proto::SolveStreamRequest { options: options.take(), batch_id, puzzles };
        Bytes::from(request.encode_to_vec())
    });
    let ended = call("SolveStream", requests.collect());
    assert!(ended.status.is_none(), "{:?}", ended.status);
    assert_eq!(ended.responses.len(), messages.len());
    let mut line = 0;
    for ((response, puzzles), batch_id) in ended.responses.iter().zip(&messages).zip(1..) {
        let response: proto::SolveStreamResponse = decode(response);
        assert_eq!((response.batch_id, response.answers.len()), (batch_id, puzzles.len()));
        for (answer, puzzle) in response.answers.iter().zip(puzzles) {
            line += 1;
            assert_eq!(answer.line, line);
            assert_is_answer(answer);
            if let Some(proto::answer::Result::Solution(solution)) = &answer.result {
                assert_solves(solution, puzzle);
            }
        }
    }
}

/// A solution has the clues of its puzzle.
fn assert_solves(solution: &str, puzzle: &[u8]) {
    let order = Order::from_cells(solution.len()).expect("a size of puzzles");
    let format = Format::new(Notation::Lines, order, Alphabet::Letters).expect("the letters fit");
    let (mut grid, mut solved) = (Grid::empty(order), Grid::empty(order));
    format.read_line(puzzle, 1, &mut grid).expect("what was solved can be read");
    format.read_cells(solution.as_bytes(), &mut solved).expect("solutions can be read");
    assert!(solved.solves(&grid), "{solution} does not solve {}", String::from_utf8_lossy(puzzle));
}
