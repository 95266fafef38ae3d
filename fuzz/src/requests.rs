//! Any bytes as the messages of any method: each call ends, with responses that hold what they promise or with a status.

use bytes::Bytes;
use prost::Message;
use sudoku_stream::answer::validate_block;
use sudoku_stream::grid::Order;
use sudoku_stream::input::{Reader, Source};
use sudoku_stream::service::proto;
use sudoku_stream::text::{Hint, Notation};

use super::reading::{Pieces, assert_is_sentence, count_lines};
use super::serving::{Ended, GENERATED, NODES, STEPS, call};

/// What holds of the messages of a call, of which there is at least one, and of its responses.
type Check = fn(&[Bytes], &Ended);

/// The methods, by the numbers that seeds have for them: a new one comes last.
pub const METHODS: [(&str, Check); 15] = [
    ("SolveLines", assert_lines),
    ("SolveStream", assert_stream),
    ("Solve", |messages, ended| unary(messages, ended, assert_solved)),
    ("Validate", |messages, ended| unary(messages, ended, assert_validated)),
    ("Check", |messages, ended| unary(messages, ended, assert_checked)),
    ("Count", |messages, ended| unary(messages, ended, assert_counted)),
    ("Trace", |_, ended| assert_traced(ended)),
    ("Generate", assert_generated),
    ("SolveDataset", |_, ended| assert_dataset(ended)),
    ("ListDatasets", |messages, ended| unary(messages, ended, assert_listed)),
    ("GetPuzzle", |messages, ended| unary(messages, ended, assert_picked)),
    ("Hint", |messages, ended| unary(messages, ended, assert_hinted)),
    ("Rate", |messages, ended| unary(messages, ended, assert_rated)),
    ("Steps", |messages, ended| unary(messages, ended, assert_solved_by_hand)),
    ("Canonicalize", assert_canonical),
];

/// The first byte is the method. Then there are messages, each after two bytes for its length; the last takes what is left.
pub fn run(data: &[u8]) {
    let Some((&method, mut rest)) = data.split_first() else { return };
    let (method, check) = METHODS[usize::from(method) % METHODS.len()];
    let mut messages = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk() {
        let (message, tail) = tail.split_at(tail.len().min(u16::from_le_bytes(*length).into()));
        messages.push(Bytes::copy_from_slice(message));
        rest = tail;
    }
    let ended = call(method, messages.clone());
    if !messages.is_empty() {
        check(&messages, &ended);
    }
}

/// A request is answered by one response; if it was not understood, by none.
fn unary<Q: Message + Default, R: Message + Default>(messages: &[Bytes], ended: &Ended, check: fn(&Q, &R)) {
    if ended.status.is_some() {
        return;
    }
    let request = Q::decode(messages[0].clone()).expect("what is no message is not answered");
    let [response] = &ended.responses[..] else { panic!("{} responses", ended.responses.len()) };
    check(&request, &decode(response));
}

/// A response of the service.
pub fn decode<R: Message + Default>(response: &Bytes) -> R {
    R::decode(response.clone()).expect("the service sends messages")
}

/// What an error says.
pub fn assert_is_error(error: &proto::PuzzleError) {
    assert!(error.code() != proto::ErrorCode::Unspecified && error.code() != proto::ErrorCode::Internal);
    assert_is_sentence(&error.message, Some(error.line).filter(|&line| line > 0));
}

/// An answer to a puzzle of a search of at most [`NODES`].
pub fn assert_is_answer(answer: &proto::Answer) {
    use proto::answer::Result as R;
    match answer.result.as_ref().expect("an answer has a result") {
        R::Error(error) => {
            assert_is_error(error);
            // What is wrong may stand on a later line of the puzzle.
            assert!(error.line >= answer.line && (answer.line > 0 || error.line == 0));
        }
        R::Solution(cells) => assert_is_solution(cells),
        R::Count(_) => {}
    }
    let metrics = answer.metrics.as_ref().expect("an answer has metrics");
    assert!(metrics.nodes <= NODES, "{metrics:?}");
}

/// No row, column or box of it has a character twice. This knows nothing of grids.
fn assert_is_solution(cells: &str) {
    let cells = cells.as_bytes();
    let b = (1..=5).find(|b| b * b * b * b == cells.len()).expect("a size of puzzles");
    let side = b * b;
    for house in 0..side {
        let row = |i: usize| cells[house * side + i];
        let column = |i: usize| cells[i * side + house];
        let in_box = |i: usize| cells[(house / b * b + i / b) * side + house % b * b + i % b];
        for at in [&row as &dyn Fn(usize) -> u8, &column, &in_box] {
            let mut seen: Vec<u8> = (0..side).map(at).collect();
            seen.sort_unstable();
            seen.dedup();
            assert!(seen.len() == side && !seen.contains(&b'.'), "{}", String::from_utf8_lossy(cells));
        }
    }
}

/// How the notation, the alphabet and the order of a request would be said to a reader.
fn hint(notation: i32, alphabet: &str, order: u32, column: &str, delimiter: &str) -> Hint {
    let place = usize::try_from(notation).ok().and_then(|number| number.checked_sub(1));
    Hint {
        notation: place.map(|place| Notation::ALL[place].1),
        alphabet: (!alphabet.is_empty()).then(|| alphabet.parse().expect("the service took it")),
        order: Order::new(order as usize),
        column: (!column.is_empty()).then(|| column.parse().expect("the service took it")),
        delimiter: (!delimiter.is_empty()).then(|| delimiter.parse().expect("the service took it")),
        has_heading: None,
    }
}

fn text_hint(options: Option<&proto::TextOptions>) -> Hint {
    let proto::TextOptions { notation, alphabet, order, column, delimiter } =
        options.cloned().unwrap_or_default();
    hint(notation, &alphabet, order, &column, &delimiter)
}

/// The text as a file of puzzles would be read. `None` if it has no puzzle, or a bad header.
fn read(text: &[u8], hint: &Hint) -> Option<Reader> {
    // First bytes that mean something in a file mean nothing in a message, nor do zero bytes.
    let mut text = [b"\n", text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)].concat();
    text.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = 1);
    let pieces = Box::new(Pieces::new(&text, [usize::MAX; 2]));
    Source::reading("text".to_owned(), pieces).ok()?.read_as_puzzles(hint).ok()
}

/// The text of a request that was answered, which is in one of these fields.
fn either<'a>(text: &'a [u8], puzzle: &'a str) -> &'a [u8] {
    assert!(text.is_empty() || puzzle.is_empty());
    if text.is_empty() { puzzle.as_bytes() } else { text }
}

/// Looks at the text as a file would be read, and counts the puzzles.
fn count(text: &[u8], hint: &Hint) -> Option<(u64, u64)> {
    let mut reader = read(text, hint)?;
    let (mut puzzles, mut bad) = (0, 0);
    while let Ok(Some(chunk)) = reader.next_chunk() {
        let found = validate_block(reader.format(), chunk.block(), 0);
        puzzles += found.puzzles;
        bad += found.bad;
    }
    Some((puzzles, bad))
}

fn assert_solved(request: &proto::SolveRequest, response: &proto::SolveResponse) {
    let options = request.options.clone().unwrap_or_default();
    let hint = Hint {
        has_heading: options.has_heading,
        ..hint(options.notation, &options.alphabet, options.order, &options.column, &options.delimiter)
    };
    let text = either(&request.text, &request.puzzle);
    let puzzles = count(text, &hint).map_or(1, |(puzzles, _)| puzzles.max(1));
    assert_eq!(response.answers.len() as u64, puzzles, "{:?} {hint:?}", String::from_utf8_lossy(text));
    response.answers.iter().for_each(assert_is_answer);
}

fn assert_validated(request: &proto::ValidateRequest, response: &proto::ValidateResponse) {
    let text = either(&request.text, &request.puzzle);
    if request.first_line <= 1 {
        let (puzzles, bad) = count(text, &text_hint(request.options.as_ref())).unwrap_or_default();
        assert_eq!((response.puzzles, response.bad_puzzles), (puzzles, bad));
        assert_eq!(response.valid, puzzles > 0 && bad == 0);
    }
    assert_eq!(response.valid, response.errors.is_empty());
    response.errors.iter().for_each(assert_is_error);
    let lines = request.first_line..request.first_line.saturating_add(count_lines(text));
    let is_inside = |error: &proto::PuzzleError| error.line == 0 || lines.contains(&error.line);
    assert!(request.first_line == 0 || response.errors.iter().all(is_inside), "{response:?}");
    assert_eq!(response.format.is_some(), response.puzzles > 0);
}

fn assert_checked(request: &proto::CheckRequest, response: &proto::CheckResponse) {
    let text = either(&request.text, &request.puzzle);
    let grids = count(text, &text_hint(request.options.as_ref())).map_or(1, |(grids, _)| grids.max(1));
    assert_eq!(response.grids.len() as u64, grids);
    for grid in &response.grids {
        assert!(!grid.solved || (grid.flaws.is_empty() && grid.error.is_none() && grid.blanks == 0));
        grid.error.iter().for_each(assert_is_error);
    }
}

fn assert_counted(request: &proto::CountRequest, response: &proto::CountResponse) {
    use proto::count_response::Result as R;
    match response.result.as_ref().expect("a count or an error") {
        R::Count(count) => {
            let limit = if request.count_limit == 0 { 1_000 } else { request.count_limit };
            assert!(*count < limit || (*count == limit && !response.count_is_exact));
        }
        R::Error(error) => assert_is_error(error),
    }
}

fn assert_picked(request: &proto::GetPuzzleRequest, response: &proto::GetPuzzleResponse) {
    assert!((1..=response.count).contains(&response.index));
    assert!(request.index.is_none_or(|index| index == response.index));
    let order = Order::new(response.order as usize).expect("an order");
    assert_eq!(response.puzzle.len(), order.cells());
    assert_eq!(response.format.as_ref().expect("a puzzle has a format").order, response.order);
    assert!(response.line >= request.first_line.max(1));
}

fn assert_hinted(request: &proto::HintRequest, response: &proto::HintResponse) {
    use proto::hint_response::Result as R;
    either(&request.text, &request.puzzle);
    assert!(response.message.ends_with('.'), "{response:?}");
    let is_cell = |placement: &proto::Placement| {
        let cell = placement.cell.expect("a placement has a cell");
        [cell.row, cell.column, placement.digit].iter().all(|number| (1..=25).contains(number))
    };
    match response.result.as_ref().expect("a hint has a result") {
        R::Step(step) => {
            assert!(step.placements.iter().chain(&step.eliminations).all(is_cell), "{step:?}");
            assert!(!step.placements.is_empty() || !step.eliminations.is_empty(), "{step:?}");
            assert!(step.is_forced || step.technique == "search", "{step:?}");
            assert_eq!(step.name.is_empty(), step.technique == "search", "{step:?}");
        }
        R::Finished(_) => {}
        R::Stuck(stuck) => {
            assert!(stuck.wrong.iter().all(is_cell), "{stuck:?}");
            assert!(stuck.wrong.is_empty() || !(stuck.is_hopeless || request.clues.is_empty()), "{stuck:?}");
        }
        R::Error(error) => assert_is_error(error),
    }
}

fn assert_rated(request: &proto::RateRequest, response: &proto::RateResponse) {
    use proto::rating::Verdict;
    either(&request.text, &request.puzzle);
    assert!(!response.ratings.is_empty());
    for rating in &response.ratings {
        assert_eq!(rating.error.is_some(), rating.verdict() == Verdict::Unspecified, "{rating:?}");
        assert!(rating.verdict() == Verdict::Rated || rating.er_tenths == 0, "{rating:?}");
        assert!(rating.ed_tenths <= rating.ep_tenths && rating.ep_tenths <= rating.er_tenths, "{rating:?}");
        let counted: u32 = rating.techniques.iter().map(|technique| technique.count).sum();
        assert_eq!(counted, rating.steps, "{rating:?}");
        if let Some(error) = &rating.error {
            assert_is_error(error);
        }
    }
}

fn assert_solved_by_hand(request: &proto::StepsRequest, response: &proto::StepsResponse) {
    either(&request.text, &request.puzzle);
    assert!(response.message.ends_with('.'), "{response:?}");
    let limit = request.step_limit as usize;
    assert!(limit == 0 || response.steps.len() <= limit, "{response:?}");
    for step in &response.steps {
        assert!(!step.placements.is_empty() || !step.eliminations.is_empty(), "{step:?}");
    }
    if let Some(error) = &response.error {
        assert_is_error(error);
    }
}

fn assert_listed(request: &proto::ListDatasetsRequest, response: &proto::ListDatasetsResponse) {
    let names: Vec<&str> = response.datasets.iter().map(|dataset| &*dataset.name).collect();
    assert!(names.is_sorted() && names.iter().all(|name| **name > *request.page_token));
    assert!(request.page_size == 0 || names.len() <= request.page_size as usize);
}

fn assert_traced(ended: &Ended) {
    let responses: Vec<proto::TraceResponse> = ended.responses.iter().map(decode).collect();
    let steps: usize = responses.iter().map(|response| response.steps.len()).sum();
    assert!(steps as u64 <= STEPS);
    let ends = responses.iter().filter(|response| response.end.is_some()).count();
    assert_eq!(ends, usize::from(ended.status.is_none()));
    assert!(ended.status.is_some() || responses.last().is_some_and(|last| last.end.is_some()));
    for answer in responses.iter().filter_map(|response| response.end.as_ref()?.answer.as_ref()) {
        assert_is_answer(answer);
    }
}

fn assert_generated(messages: &[Bytes], ended: &Ended) {
    if ended.status.is_some() {
        return;
    }
    let request = proto::GenerateRequest::decode(messages[0].clone()).expect("it was understood");
    let responses: Vec<proto::GenerateResponse> = ended.responses.iter().map(decode).collect();
    let lines = |text: &Bytes| count_lines(text);
    let made: u64 = responses.iter().map(|response| lines(&response.puzzles)).sum();
    let given_up = responses.last().map_or(0, |last| last.given_up);
    assert!(request.count <= GENERATED);
    assert_eq!(made + given_up, request.count.max(1));
    for response in &responses {
        let with_solutions = request.with_solutions && request.random_clues.is_none();
        let wanted = if with_solutions { lines(&response.puzzles) } else { 0 };
        assert_eq!(lines(&response.solutions), wanted);
        let text = std::str::from_utf8(&response.solutions).expect("alphabets are ASCII");
        text.lines().for_each(assert_is_solution);
    }
}

fn assert_dataset(ended: &Ended) {
    let responses: Vec<proto::SolveDatasetResponse> = ended.responses.iter().map(decode).collect();
    let mut before = 0;
    for response in &responses {
        let tally = response.tally.as_ref().expect("a response has a tally");
        assert!(tally.answers >= before);
        before = tally.answers;
    }
}

fn assert_lines(messages: &[Bytes], ended: &Ended) {
    assert_each_answered(messages.len(), ended);
    for response in &ended.responses {
        let response: proto::SolveLinesResponse = decode(response);
        let tally = response.tally.expect("a response has a tally");
        assert!(tally.errors.iter().map(|error| error.count).sum::<u64>() <= tally.answers);
        assert_eq!(response.lines.is_empty(), tally.answers == 0);
    }
}

fn assert_stream(messages: &[Bytes], ended: &Ended) {
    assert_each_answered(messages.len(), ended);
    let mut line = 0;
    for (message, response) in messages.iter().zip(&ended.responses) {
        let request = proto::SolveStreamRequest::decode(message.clone()).expect("it was answered");
        let response: proto::SolveStreamResponse = decode(response);
        assert_eq!((response.batch_id, response.answers.len()), (request.batch_id, request.puzzles.len()));
        for answer in &response.answers {
            line += 1;
            assert_eq!(answer.line, line);
            assert_is_answer(answer);
        }
    }
}

fn assert_canonical(messages: &[Bytes], ended: &Ended) {
    use proto::canonical_form::Result as R;
    assert_each_answered(messages.len(), ended);
    let mut line = 0;
    let mut with_disguises = false;
    for (message, response) in messages.iter().zip(&ended.responses) {
        let request = proto::CanonicalizeRequest::decode(message.clone()).expect("it was answered");
        let response: proto::CanonicalizeResponse = decode(response);
        assert_eq!((response.batch_id, response.forms.len()), (request.batch_id, request.puzzles.len()));
        with_disguises = request.options.map_or(with_disguises, |options| options.with_disguises);
        for form in &response.forms {
            line += 1;
            assert_eq!(form.line, line);
            match form.result.as_ref().expect("a form has a result") {
                R::Error(error) => {
                    assert_is_error(error);
                    assert_eq!((error.line, form.automorphisms, form.disguise.as_str()), (line, 0, ""));
                }
                R::Form(cells) => {
                    assert_eq!(cells.len(), 81);
                    assert!(form.automorphisms > 0 && form.basis() != proto::CanonicalBasis::Unspecified);
                    assert_eq!(form.disguise.is_empty(), !with_disguises);
                }
            }
        }
    }
}

/// Each message has a response, unless a bad one ended the stream.
fn assert_each_answered(messages: usize, ended: &Ended) {
    match ended.status {
        None => assert_eq!(ended.responses.len(), messages),
        Some(_) => assert!(ended.responses.len() < messages),
    }
}
