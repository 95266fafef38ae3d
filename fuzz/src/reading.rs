//! Reading, as all that reads does it.

use std::io::{self, Read};

use sudoku_stream::answer::Block;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::{InputError, Reader};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, PuzzleError, Records};

/// The longest sentence about a puzzle. What is quoted is a character at most.
const LONGEST_SENTENCE: usize = 160;

/// What stands for one puzzle.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The line on which it begins.
    pub line: u64,
    /// Its digits, or what is wrong with them.
    pub result: Result<Vec<u8>, PuzzleError>,
    /// The solution beside it.
    pub given: Option<Vec<u8>>,
}

/// The puzzles of a block.
pub fn records(format: &Format, block: Block<'_>) -> Vec<Seen> {
    let mut records = Records::new(format, block.text, block.first_line);
    let mut grid = Grid::empty(format.order());
    let mut seen = Vec::new();
    while let Some(record) = records.read(&mut grid) {
        let result = record.error.map_or_else(|| Ok(grid.digits().to_vec()), Err);
        seen.push(Seen { line: record.line, result, given: record.given.map(<[u8]>::to_vec) });
    }
    seen
}

/// All that a reader gives before it ends or fails, in chunks, and what it fails of.
pub fn chunks(reader: &mut Reader) -> (Vec<Seen>, Option<InputError>) {
    let mut seen = Vec::new();
    loop {
        match reader.next_chunk() {
            Ok(Some(chunk)) => seen.extend(records(reader.format(), chunk.block())),
            Ok(None) => return (seen, None),
            Err(error) => return (seen, Some(error)),
        }
    }
}

/// How many lines a text has. The last one needs no line end.
pub fn count_lines(text: &[u8]) -> u64 {
    text.split_inclusive(|&byte| byte == b'\n').count() as u64
}

/// Lines are numbered as they stand, and sentences are sentences.
pub fn assert_in_order(seen: &[Seen], lines: u64) {
    let mut before = 0;
    for (index, record) in seen.iter().enumerate() {
        assert!(before < record.line && record.line <= lines, "line {} after line {before}", record.line);
        before = record.line;
        let Err(error) = &record.result else { continue };
        let line = error.line.expect("a text has lines");
        let next = seen.get(index + 1).map_or(lines + 1, |next| next.line);
        assert!((record.line..next).contains(&line), "line {line} is not of the puzzle: {record:?}");
        assert_is_sentence(&error.to_string(), Some(line));
    }
}

/// A sentence about a puzzle.
pub fn assert_is_sentence(sentence: &str, line: Option<u64>) {
    let subject = line.map_or_else(|| "The puzzle ".to_owned(), |line| format!("Line {line} "));
    let is_plain = !sentence.contains(|c: char| c.is_control()) && sentence.len() <= LONGEST_SENTENCE;
    assert!(is_plain && sentence.ends_with('.'), "{sentence:?}");
    assert!(sentence.starts_with(&subject) || sentence == "Invalid block size.", "{sentence:?}");
}

/// What two bytes say about a text.
pub fn hint(how: u8, alphabet: u8) -> Hint {
    let notations = Notation::ALL.map(|(_, notation)| notation);
    let side = usize::from(alphabet / 5) % 5 + 1;
    Hint {
        notation: usize::from(how % 8).checked_sub(1).map(|place| notations[place]),
        order: Order::new(usize::from(how / 8 % 6)),
        alphabet: match alphabet % 6 {
            1 => Some(Alphabet::Letters),
            2 => Some(Alphabet::Ascii),
            3 => Some(Alphabet::Alpha),
            4 => Some(Alphabet::Hex),
            5 => "123456789abcdefghi*/()_0!"[..side * side].parse().ok(),
            _ => None,
        },
        ..Hint::default()
    }
}

/// A stream that gives its text in pieces of two sizes.
pub struct Pieces {
    text: Vec<u8>,
    at: usize,
    sizes: [usize; 2],
}

impl Pieces {
    pub fn new(text: &[u8], sizes: [usize; 2]) -> Self {
        Self { text: text.to_vec(), at: 0, sizes: sizes.map(|size| size.max(1)) }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.sizes.swap(0, 1);
        let length = self.sizes[0].min(buffer.len()).min(self.text.len() - self.at);
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}
