//! What holds for every grid and every text: grids are read back as they were written, and nothing depends on how
//! a text is cut into pieces.

use std::io::{self, Read};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::{InputError, Reader, Source};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, Records, SAMPLE_BYTES, detect};

/// Characters that a custom alphabet may have.
const SYMBOLS: &str =
    "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0_*!$%&'()/:;<>?@[]^`{}~\\";

const NINE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const FOUR: &str = "..3..4.221..4.21";

/// A reader that gives its text in pieces of these sizes, over and over.
struct Pieces {
    text: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
    turn: usize,
}

impl Pieces {
    fn new(text: &[u8], sizes: &[usize]) -> Self {
        Self { text: text.to_vec(), at: 0, sizes: sizes.to_vec(), turn: 0 }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()].max(1);
        self.turn += 1;
        let length = size.min(buffer.len()).min(self.text.len() - self.at);
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// What stands for one puzzle: its line, its digits or what is wrong with them, and the solution beside it.
type Seen = (u64, Result<Vec<u8>, String>, Option<Vec<u8>>);

fn records(format: &Format, text: &[u8], first_line: u64) -> Vec<Seen> {
    let mut records = Records::new(format, text, first_line);
    let mut grid = Grid::empty(format.order());
    let mut seen = Vec::new();
    while let Some(record) = records.read(&mut grid) {
        let result = record.error.map_or_else(|| Ok(grid.digits().to_vec()), |error| Err(error.to_string()));
        seen.push((record.line, result, record.given.map(<[u8]>::to_vec)));
    }
    seen
}

fn all_records(reader: Result<Reader, InputError>) -> Result<Vec<Seen>, String> {
    let mut reader = reader.map_err(|error| error.to_string())?;
    let mut seen = Vec::new();
    while let Some(chunk) = reader.next_chunk().map_err(|error| error.to_string())? {
        seen.extend(records(reader.format(), chunk.block().text, chunk.block().first_line));
    }
    Ok(seen)
}

fn open(text: &[u8], sizes: &[usize], hint: &Hint) -> Result<Reader, InputError> {
    Source::reading("text".to_owned(), Box::new(Pieces::new(text, sizes)))?.read(hint)
}

/// An alphabet that fits the order.
fn alphabets(order: Order) -> impl Strategy<Value = Alphabet> {
    let custom = Just(SYMBOLS.to_owned().into_bytes()).prop_shuffle().prop_map(move |symbols| {
        let symbols = String::from_utf8(symbols[..order.side()].to_vec()).unwrap();
        symbols.parse::<Alphabet>().unwrap()
    });
    let named = vec![Alphabet::Letters, Alphabet::Ascii, Alphabet::Alpha, Alphabet::Hex];
    let named = select(named.into_iter().filter(|a| a.fits(order)).collect::<Vec<_>>());
    prop_oneof![named, custom]
}

fn grids(order: Order) -> impl Strategy<Value = Grid> {
    let side = u8::try_from(order.side()).unwrap();
    let cell = prop_oneof![1 => Just(0), 2 => 1..=side];
    prop::collection::vec(cell, order.cells()).prop_map(move |digits| Grid::from_digits(order, &digits))
}

/// Three grids of one order and an alphabet for them.
fn written() -> impl Strategy<Value = (Vec<Grid>, Alphabet)> {
    select(Order::ALL.to_vec())
        .prop_flat_map(|order| (prop::collection::vec(grids(order), 1..4), alphabets(order)))
}

fn digits(seen: &[Seen]) -> Vec<Vec<u8>> {
    seen.iter().map(|(_, result, _)| result.clone().unwrap()).collect()
}

/// One line of a text, of the kinds that matter to some notation.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let fixed = vec![
        NINE,
        FOUR,
        "",
        " ",
        "# comment",
        "1.......",
        "5 3 . | . 7 . | . . .",
        "53..7....",
        "5 3 . . 7 . . . .",
        "1234",
        "1 2 | 3 4",
        "1.3.",
        "------+-------+------",
        "1 2 3",
        "9 9 9",
        "3",
        "puzzle,solution",
        "x",
        "1 1 x",
        "\0",
        "\u{FEFF}",
        "é",
        "12341234:;<=>?@A",
    ];
    let fixed = select(fixed).prop_map(|text| text.as_bytes().to_vec());
    let pair = (select(vec![NINE, FOUR]), select(vec![",", " ", ";", "#"]), fixed.clone())
        .prop_map(|(cells, by, tail)| [cells.as_bytes(), by.as_bytes(), &tail].concat());
    let bytes = prop::collection::vec(any::<u8>(), 0..30);
    let cells = prop::collection::vec(select(b"1234.. |\t".to_vec()), 1..20);
    let line = prop_oneof![8 => fixed, 2 => pair, 1 => bytes, 2 => cells];
    (line, prop_oneof![3 => Just("\n"), 1 => Just("\r\n")])
        .prop_map(|(line, end)| [&line, end.as_bytes()].concat())
}

/// A short text, with or without an end to its last line.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop::collection::vec(line(), 0..40);
    // Rows that make whole puzzles now and then, with and without blank lines between them.
    let row = select(vec!["1 2 3 4\n", "1234\n", "12|34\n", "\n", "\n", "--+--\n", "12\n", "# x\n"]);
    let rows = prop::collection::vec(row.prop_map(|row| row.as_bytes().to_vec()), 0..40);
    (prop_oneof![lines, rows], any::<bool>()).prop_map(|(lines, is_ended)| {
        let mut text = lines.concat();
        if !is_ended {
            text.pop();
        }
        text
    })
}

fn formats() -> impl Strategy<Value = Format> {
    let notations: Vec<Notation> = Notation::ALL.iter().map(|(_, notation)| *notation).collect();
    (select(notations), select(vec![2, 3]), select(vec![Alphabet::Letters, Alphabet::Alpha, Alphabet::Hex]))
        .prop_filter_map("the alphabet has to fit", |(notation, order, alphabet)| {
            Format::new(notation, Order::new(order).unwrap(), alphabet).ok()
        })
}

/// The lines of a `lines` text that hold a puzzle, counted without any of the library.
fn count_naively(text: &[u8]) -> usize {
    let mut lines: Vec<String> = vec![String::new()];
    for &byte in text {
        match byte {
            b'\n' => lines.push(String::new()),
            _ => lines.last_mut().unwrap().push(char::from(byte)),
        }
    }
    let blank = [' ', '\t', '\r', '\u{c}'];
    let is_puzzle = |line: &&String| {
        let text = line.trim_start_matches(blank);
        !text.is_empty() && !text.starts_with('#')
    };
    lines.iter().filter(is_puzzle).count()
}

/// So many cases a run; a failure is told, not kept in a file.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn grids_are_read_back_as_they_were_written((grids, alphabet) in written(), pair in any::<bool>()) {
        let order = grids[0].order();
        let wanted: Vec<Vec<u8>> = grids.iter().map(|grid| grid.digits().to_vec()).collect();
        for notation in [Notation::Lines, Notation::Csv, Notation::Grid] {
            let format = Format::new(notation, order, alphabet.clone()).unwrap();
            let mut text = Vec::new();
            for grid in &grids {
                if notation == Notation::Grid {
                    format.write_grid(grid, &mut text);
                    text.extend_from_slice(if pair { b"\n" } else { b"" });
                } else {
                    format.write_cells(grid, &mut text);
                    if pair && notation == Notation::Csv {
                        text.push(b',');
                        format.write_cells(grid, &mut text);
                    }
                    text.push(b'\n');
                }
            }
            let heading = if notation == Notation::Csv { "puzzle,solution\n" } else { "" };
            let seen = records(&format, &format.readable(&text), 1 + heading.lines().count() as u64);
            prop_assert_eq!(digits(&seen), wanted.clone(), "{}", String::from_utf8_lossy(&text));
            // The text itself says what order it is of.
            let hint = Hint { notation: Some(notation), alphabet: Some(alphabet.clone()), ..Hint::default() };
            text.splice(0..0, heading.bytes());
            prop_assert_eq!(all_records(open(&text, &[7, 100], &hint)), Ok(seen), "{}", String::from_utf8_lossy(&text));
        }
        for grid in grids.iter().filter(|grid| grid.filled() > 0) {
            let format = Format::new(Notation::Triples, order, alphabet.clone()).unwrap();
            let mut text = Vec::new();
            format.write_triples(grid, &mut text);
            prop_assert_eq!(digits(&records(&format, &format.readable(&text), 1)), vec![grid.digits().to_vec()]);
        }
    }

    /// Nothing has to be said about what is written in letters, but for the smallest puzzles, which look like numbers.
    #[test]
    fn letters_are_found_out(order in 2usize..=5, seed in prop::collection::vec(any::<Index>(), 625), pair in any::<bool>()) {
        let order = Order::new(order).unwrap();
        let values: Vec<usize> = (0..=order.side()).collect();
        let mut digits: Vec<u8> = seed.iter().map(|index| u8::try_from(*index.get(&values)).unwrap()).collect();
        digits.truncate(order.cells());
        // The largest value is there, so that the triples say what order they are of.
        digits[0] = u8::try_from(order.side()).unwrap();
        let grid = Grid::from_digits(order, &digits);
        let plain = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
        let (mut lines, mut rows, mut triples) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..if pair { 2 } else { 1 } {
            plain.write_cells(&grid, &mut lines);
            lines.push(b'\n');
            plain.write_grid(&grid, &mut rows);
            rows.push(b'\n');
        }
        plain.write_triples(&grid, &mut triples);
        for (notation, text) in [(Notation::Lines, lines), (Notation::Grid, rows), (Notation::Triples, triples)] {
            let reader = open(&text, &[1000], &Hint::default()).unwrap();
            let format = reader.format().clone();
            prop_assert_eq!((format.notation(), format.order()), (notation, order));
            for (_, result, _) in all_records(Ok(reader)).unwrap() {
                prop_assert_eq!(result, Ok(digits.clone()));
            }
        }
    }

    /// Whatever the pieces in which a text arrives, blocks of whole puzzles hold the same puzzles on the same lines.
    #[test]
    fn blocks_hold_what_the_whole_holds(format in formats(), text in text(), sizes in prop::collection::vec(1usize..60, 1..6)) {
        let whole = records(&format, &text, 1);
        let mut parts = Vec::new();
        let (mut start, mut end, mut line) = (0, 0, 1);
        for size in sizes.iter().cycle() {
            end = (end + size).min(text.len());
            let at_end = end == text.len();
            let cut = format.cut(&text[start..end], at_end);
            prop_assert!(cut <= end - start);
            let block = &text[start..start + cut];
            prop_assert!(at_end || cut == 0 || block.ends_with(b"\n"));
            let puzzles = records(&format, block, line);
            prop_assert_eq!(format.notation().count_puzzles(block), puzzles.len() as u64);
            parts.extend(puzzles);
            line += memchr::memchr_iter(b'\n', block).count() as u64;
            start += cut;
            if at_end {
                break;
            }
        }
        prop_assert_eq!(parts, whole, "{:?}\n{}", format, String::from_utf8_lossy(&text));
    }

    /// Detection and reading take anything, and a puzzle's line is where it stands.
    #[test]
    fn lines_are_numbered_as_they_stand(text in text()) {
        if let Ok(opening) = detect(&text, &Hint::default()) {
            prop_assert!(opening.body <= text.len());
        }
        let hint = Hint { notation: Some(Notation::Lines), order: Some(Order::NINE), alphabet: Some(Alphabet::Letters), ..Hint::default() };
        match all_records(open(&text, &[5, 64], &hint)) {
            // Refused, or perhaps UTF-16.
            _ if text.contains(&0) => {}
            Err(error) => prop_assert_eq!((error.as_str(), count_naively(without_mark(&text))), ("text is empty.", 0)),
            Ok(seen) => {
                prop_assert_eq!(seen.len(), count_naively(without_mark(&text)));
                let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
                for (line, result, _) in seen {
                    let stands = String::from_utf8_lossy(lines[usize::try_from(line).unwrap() - 1]);
                    let is_nine = stands.trim_start_matches('\u{FEFF}').trim_end().split([' ', '\t', ',', ';', '#']).next();
                    if is_nine == Some(NINE) {
                        prop_assert!(result.is_ok(), "{:?}", stands);
                    } else if let Err(error) = result {
                        prop_assert!(error.starts_with(&format!("Line {line} ")), "{}", error);
                    }
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), notation in select(Notation::ALL.to_vec())) {
        let hints = [Hint::default(), Hint { notation: Some(notation.1), ..Hint::default() }];
        for hint in hints {
            let whole = all_records(open(&bytes, &[usize::MAX], &hint));
            prop_assert_eq!(all_records(open(&bytes, &[1, 3, 64], &hint)), whole);
        }
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

proptest! {
    #![proptest_config(config(12))]

    /// The same through chunks: texts of several, in pieces, from a file, and from a map.
    #[test]
    fn chunks_hold_what_the_whole_holds(
        part in text(),
        other in text(),
        long in prop_oneof![Just(0), 1usize..3 * SAMPLE_BYTES],
        sizes in prop::collection::vec(prop_oneof![1usize..100, 1000usize..100_000], 1..6),
        notation in prop::option::of(select(Notation::ALL.to_vec())),
    ) {
        let mut text = Vec::new();
        while text.len() < 4 * SAMPLE_BYTES {
            text.extend_from_slice(&part);
            text.extend_from_slice(b"\n53..7....\n");
        }
        text.resize(text.len() + long, b'4');
        text.push(b'\n');
        while text.len() < 7 * SAMPLE_BYTES {
            text.extend_from_slice(&other);
            text.extend_from_slice(FOUR.as_bytes());
            text.push(b'\n');
        }
        let hint = Hint { notation: notation.map(|(_, notation)| notation), ..Hint::default() };
        // What has no name of its own is called FILE in the commands of sentences.
        let of_text = |text: &str| text.replace("FILE", "text");
        let whole = all_records(open(&text, &[usize::MAX], &hint)).map_err(|error| of_text(&error));
        prop_assert_eq!(&all_records(open(&text, &sizes, &hint)).map_err(|error| of_text(&error)), &whole);
        // What has zero bytes is refused, or perhaps UTF-16.
        if let Ok(seen) = &whole && !text.contains(&0) {
            // Read as one block, without any reader.
            let reader = open(&text, &[usize::MAX], &hint).unwrap();
            let skipped = usize::try_from(reader.line() - 1).unwrap();
            let body: Vec<u8> = text.split_inclusive(|&byte| byte == b'\n').skip(skipped).flatten().copied().collect();
            let body = if skipped == 0 { without_mark(&body) } else { &body[..] };
            let readable = reader.format().readable(body);
            prop_assert_eq!(&records(reader.format(), &readable, reader.line()), seen);
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        for may_map in [true, false] {
            let name = |outcome: Result<Vec<Seen>, String>| {
                outcome.map_err(|error| error.replace(&file.path().display().to_string(), "text"))
            };
            let opened = Source::open(file.path(), may_map).and_then(|source| source.read(&hint));
            prop_assert_eq!(&name(all_records(opened)), &whole);
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// The shortcut for everyday lines reads what the plain way reads, or leaves it.
    #[test]
    fn everyday_lines_are_read_as_all_lines_are(
        lines in prop::collection::vec((any::<bool>(), "[1-9.0*_-]{80,82}|[ #1-9.A]{0,90}", any::<bool>()), 0..12),
        is_header in any::<bool>(),
        most in 1usize..14,
    ) {
        let mut text = String::new();
        for (is_everyday, line, is_dos) in &lines {
            text.push_str(if *is_everyday { NINE } else { line });
            text.push_str(if *is_dos { "\r\n" } else { "\n" });
        }
        let notation = if is_header { Notation::Header } else { Notation::Lines };
        let format = Format::new(notation, Order::NINE, Alphabet::Letters).unwrap();
        let plain = records(&format, text.as_bytes(), 1);

        let mut reader = Records::new(&format, text.as_bytes(), 1);
        let mut grid = Grid::empty(Order::NINE);
        let mut seen = Vec::new();
        loop {
            let (first, mut digits) = (reader.line(), vec![0xFF; 81 * most]);
            let count = reader.read_plain_9x9(&mut digits);
            prop_assert!(count <= most);
            let everyday = (first..).zip(digits.chunks(81).take(count));
            seen.extend(everyday.map(|(line, digits)| (line, Ok(digits.to_vec()), None)));
            if count == most {
                continue;
            }
            let Some(record) = reader.read(&mut grid) else { break };
            let result = record.error.map_or_else(|| Ok(grid.digits().to_vec()), |error| Err(error.to_string()));
            seen.push((record.line, result, None));
        }
        prop_assert_eq!(seen, plain);
    }
}
