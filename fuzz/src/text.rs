//! Any bytes as a text, in every notation, alphabet and order: it is read without a panic, the same in one piece and in
//! many; what is read and written again is read as itself; and whatever else looks at it sees the same.

use std::sync::atomic::AtomicBool;

use sudoku_stream::answer::{
    Block, CandidateGrid, OutputForm, Solvers, StepMarks, Task, read_positions, validate_block,
};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::{InputError, Reader, Source};
use sudoku_stream::techniques::Position;
use sudoku_stream::text::{BYTE_ORDER_MARK, Format, Hint, Notation, Problem, PuzzleError, Records};

use super::reading::{Pieces, Seen, assert_in_order, assert_is_sentence, chunks, count_lines, hint, records};

/// Searching is not what is looked at here.
const NODES: u64 = 20;

/// The first bytes are notation and order, the alphabet, and two sizes of pieces. The text follows.
pub fn run(data: &[u8]) {
    let Some((&[how, alphabet, first, second], text)) = data.split_first_chunk() else { return };
    assert_positions(text);
    let hint = hint(how, alphabet);
    let sizes = [usize::from(first), usize::from(second)];
    let mut reader = match open(text, [usize::MAX; 2], &hint) {
        Ok(reader) => reader,
        Err(error) => {
            let again = open(text, sizes, &hint).map(|_| ()).expect_err("pieces make no difference");
            assert_eq!(error.to_string(), again.to_string());
            return assert_is_refusal(&error, count_lines(text));
        }
    };
    let format = reader.format().clone();
    let (whole, failure) = chunks(&mut reader);
    refused_or_not(text, sizes, &hint, &whole);
    if is_decoded(text) {
        // What else looks at a text is not given what a file is decoded from.
        let mut again = open(text, sizes, &hint).expect("pieces make no difference");
        let (seen, other) = chunks(&mut again);
        assert_eq!(
            (seen, other.map(|error| error.to_string())),
            (whole, failure.map(|error| error.to_string()))
        );
        return;
    }
    assert!(failure.is_none(), "{failure:?}");
    assert_in_order(&whole, count_lines(text));
    read_in_pieces(text, sizes, &hint, &whole);

    let readable = format.readable(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    let block = Block { text: &readable, first_line: 1 };
    let all = records(&format, block);
    cut_in_pieces(&format, block.text, sizes, &all);
    read_by_hint(&format, block, &all);
    assert_validated(&format, block, &all);
    assert_everyday(&format, block, &all);
    assert_answered(&format, block, &all);
    for digits in all.iter().filter_map(|seen| seen.result.as_ref().ok()) {
        assert_written(&format, digits);
    }
}

/// Positions that are read are read the same from their pencil marks and from a drawing.
fn assert_positions(text: &[u8]) {
    for (line, read) in read_positions(text).unwrap_or_default() {
        assert!((1..=count_lines(text).max(1)).contains(&line));
        let position = match read {
            Ok(position) => position,
            Err(error) => return assert!(error.to_string().ends_with('.'), "{error}"),
        };
        let again: Position = position.pencil_marks().parse().expect("it was written");
        assert_eq!(again, position);
        let counts = || {
            let blanks = position.order().all_cells().filter(|&cell| position.get(cell).is_none());
            blanks.map(|cell| position.candidates(cell).len())
        };
        // A cell without a candidate is drawn, and read by nobody.
        if counts().all(|count| count > 0) && counts().any(|count| count > 1) {
            let grid = CandidateGrid { position: &position, step: None, marks: StepMarks::Characters };
            let drawn = read_positions(grid.to_string().as_bytes()).expect("it was drawn");
            assert_eq!(drawn.len(), 1);
            assert_eq!(drawn[0].1.as_ref(), Ok(&position));
        }
    }
}

fn source(text: &[u8], sizes: [usize; 2]) -> Result<Source, InputError> {
    Source::reading("text".to_owned(), Box::new(Pieces::new(text, sizes)))
}

fn open(text: &[u8], sizes: [usize; 2], hint: &Hint) -> Result<Reader, InputError> {
    source(text, sizes)?.read_as_puzzles(hint)
}

/// A file with these bytes is refused as no puzzles only if it begins with none, in one sentence, and whatever its pieces.
/// One that ends in damage as well is refused for that.
fn refused_or_not(text: &[u8], sizes: [usize; 2], hint: &Hint, whole: &[Seen]) {
    let refusal = |sizes| source(text, sizes).and_then(|source| source.read(hint)).err();
    let (refused, again) = (refusal([usize::MAX; 2]), refusal(sizes));
    let sentence = refused.as_ref().map(ToString::to_string);
    assert_eq!(sentence, again.map(|error| error.to_string()), "pieces make no difference");
    match refused {
        None => {}
        Some(InputError::NoPuzzle { .. }) => {
            let sentence = sentence.unwrap_or_default();
            assert!(sentence.starts_with("text has no puzzles: "), "{sentence:?}");
            assert!(!sentence.contains(char::is_control), "{sentence:?}");
            let shown = String::from_utf8_lossy(text);
            assert!(whole.first().is_none_or(|seen| seen.result.is_err()), "{sentence:?} {shown:?} {hint:?}");
        }
        Some(InputError::Damaged { .. } | InputError::Io { .. }) => {
            assert!(whole.first().is_none_or(|seen| seen.result.is_err()));
        }
        Some(error) => panic!("{error:?}"),
    }
}

/// Is it read as something else than its bytes, if it is read at all?
fn is_decoded(text: &[u8]) -> bool {
    let begins = |head: &[u8]| text.starts_with(head);
    text.contains(&0) || begins(b"\xFF\xFE") || begins(b"\xFE\xFF") || begins(b"\x1F\x8B") || begins(b"BZh")
}

/// A text may be refused as a whole for few reasons.
fn assert_is_refusal(error: &InputError, lines: u64) {
    match error {
        InputError::Empty { .. } => assert_eq!(error.to_string(), "text is empty."),
        InputError::Format(refusal) => {
            use sudoku_stream::text::FormatError as F;
            match refusal {
                F::Puzzle(error) => {
                    assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error:?}");
                    assert_is_sentence(&error.to_string(), error.line);
                }
                F::AlphabetSize { .. } => assert!(error.to_string().ends_with(" puzzles."), "{error}"),
                F::BrokenRow { line } => assert!((1..=lines).contains(line), "{error}"),
                F::AmbiguousAlphabet { .. } | F::AmbiguousLines => {
                    assert!(error.to_string().contains("Say which with --"), "{error}");
                }
                _ => panic!("{error:?}"),
            }
        }
        // What looks like something else than text, and is not.
        InputError::Damaged { .. } | InputError::Foreign { .. } | InputError::NotText { .. } => {}
        InputError::Io { name, .. } => assert_eq!(name, "text"),
        _ => panic!("{error:?}"),
    }
}

/// The pieces in which a text arrives, and the chunks in which it is read, make no difference.
fn read_in_pieces(text: &[u8], sizes: [usize; 2], hint: &Hint, whole: &[Seen]) {
    let mut reader = open(text, sizes, hint).expect("pieces make no difference");
    reader.read_in_chunks_of(sizes[1].max(1) * 4);
    let (seen, failure) = chunks(&mut reader);
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(seen, whole);
}

/// Blocks of whole puzzles hold the same puzzles on the same lines, wherever the text is cut.
fn cut_in_pieces(format: &Format, text: &[u8], sizes: [usize; 2], whole: &[Seen]) {
    let (mut seen, mut first_line) = (Vec::new(), 1);
    let (mut start, mut end) = (0, 0);
    for size in sizes.iter().cycle() {
        end = (end + size.max(&1)).min(text.len());
        let at_end = end == text.len();
        let block = &text[start..start + format.cut(&text[start..end], at_end)];
        assert!(at_end || block.is_empty() || block.ends_with(b"\n"));
        seen.extend(records(format, Block { text: block, first_line }));
        first_line += count_lines(block);
        start += block.len();
        if at_end {
            break;
        }
    }
    assert_eq!(seen, whole, "{format:?}");
}

/// What a hint says of a format finds the same puzzles and errors, if it says all.
fn read_by_hint(format: &Format, block: Block<'_>, all: &[Seen]) {
    let hint = Hint::of(format);
    // Hints name no solutions, and a number that is out of range spoils a line only where a value is read.
    let may_differ = format.notation() == Notation::Jsonl;
    let same = hint.format().expect("what was detected makes sense");
    let Some(same) = same.filter(|_| !may_differ) else { return };
    assert_eq!(Hint::of(&same), hint);
    let seen = records(&same, block);
    assert_eq!(seen.len(), all.len());
    for (seen, wanted) in seen.iter().zip(all) {
        assert_eq!((seen.line, &seen.result), (wanted.line, &wanted.result));
    }
}

/// Validation sees what reading sees.
fn assert_validated(format: &Format, block: Block<'_>, all: &[Seen]) {
    let errors: Vec<PuzzleError> = all.iter().filter_map(|seen| what_is_wrong(format, seen)).collect();
    for limit in [usize::MAX, 1] {
        let found = validate_block(format, block, limit);
        assert_eq!((found.puzzles, found.bad), (all.len() as u64, errors.len() as u64));
        assert_eq!(found.errors, errors[..errors.len().min(limit)]);
    }
}

fn what_is_wrong(format: &Format, seen: &Seen) -> Option<PuzzleError> {
    match &seen.result {
        Err(error) => Some(error.clone()),
        Ok(digits) => {
            let grid = Grid::from_digits(format.order(), digits);
            let conflict = grid.first_conflict();
            assert_eq!(conflict.is_none(), grid.keeps_rules());
            conflict
                .map(|conflict| PuzzleError { problem: Problem::RuleBroken(conflict), line: Some(seen.line) })
        }
    }
}

/// The shortcut for everyday lines reads the puzzles that the plain way reads, or leaves them. What is
/// beside them in a table it passes over.
fn assert_everyday(format: &Format, block: Block<'_>, all: &[Seen]) {
    let mut records = Records::new(format, block.text, block.first_line);
    let mut grid = Grid::empty(format.order());
    let mut seen = Vec::new();
    loop {
        let (first, mut digits) = (records.line(), [0xFF; 3 * 81]);
        let count = records.read_plain_9x9(&mut digits);
        let everyday = (first..).zip(digits.chunks(81).take(count));
        seen.extend(everyday.map(|(line, digits)| (line, Ok(digits.to_vec()))));
        if count == 3 {
            continue;
        }
        let Some(record) = records.read(&mut grid) else { break };
        seen.push((record.line, record.error.map_or_else(|| Ok(grid.digits().to_vec()), Err)));
    }
    let all: Vec<_> = all.iter().map(|one| (one.line, one.result.clone())).collect();
    assert_eq!(seen, all);
}

/// One answer for each puzzle, each a line of its own, and the error of each bad one among them.
fn assert_answered(format: &Format, block: Block<'_>, all: &[Seen]) {
    for form in [OutputForm::Solution, OutputForm::Jsonl] {
        let task = Task { node_limit: NODES, form, ..Task::default() };
        let solvers = Solvers::new(format.clone(), task);
        let answers = solvers.write_answers(block, &AtomicBool::new(false)).expect("not cancelled");
        let lines: Vec<&[u8]> = answers.text.split_inclusive(|&byte| byte == b'\n').collect();
        assert_eq!((lines.len(), answers.tally.answers), (all.len(), all.len() as u64));
        for (seen, line) in all.iter().zip(lines) {
            let line = std::str::from_utf8(line).expect("answers are text");
            match what_is_wrong(format, seen) {
                Some(error) if form == OutputForm::Solution => {
                    assert_eq!(line, format!("error: {error}\n"));
                }
                Some(error) => assert!(line.contains(error.code()), "{line}"),
                None => assert!(!line.contains("internal"), "{line}"),
            }
        }
    }
}

/// A grid that is written in any notation is read back as it was.
fn assert_written(format: &Format, digits: &[u8]) {
    let order = format.order();
    let grid = Grid::from_digits(order, digits);
    for (name, notation) in Notation::ALL {
        let is_written = match notation {
            Notation::Header => [2, 3].contains(&order.box_side()),
            // A row that is the symbol `=` throughout would be a ruler.
            Notation::Grid => grid.keeps_rules(),
            // Nothing is written of a blank grid.
            Notation::Triples => grid.filled() > 0,
            _ => true,
        };
        if !is_written {
            continue;
        }
        let format = Format::new(notation, order, format.alphabet().clone()).expect("the alphabet fits");
        let mut text = Vec::new();
        format.write_puzzle(&grid, None, &mut text);
        let seen = records(&format, Block { text: &format.readable(&text), first_line: 1 });
        let wanted = Seen { line: 1, result: Ok(digits.to_vec()), given: None };
        assert_eq!(seen, [wanted], "{name} {}", String::from_utf8_lossy(&text));
        if notation == Notation::Lines && order != Order::ALL[0] {
            // The text itself says what order it is of.
            let hint = Hint {
                notation: Some(notation),
                alphabet: Some(format.alphabet().clone()),
                ..Hint::default()
            };
            let reader = open(&text, [7, 100], &hint).expect("it is a puzzle");
            assert_eq!(reader.format().order(), order);
        }
    }
}
