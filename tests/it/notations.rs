//! Every notation, in and out, and every sentence about bad input, through the path that both binaries take.

use crate::harness::large_list;
use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sudoku_stream::answer::{Block, OutputForm, Solvers, Task, check_block, validate_block};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::{InputError, Reader, Source};
use sudoku_stream::solver::{Question, strategy};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, Problem, PuzzleError, Records};

/// An easy puzzle, and its solution.
const NINE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const NINE_SOLVED: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
/// The same at 4x4.
const FOUR: &str = "..3..4.221..4.21";
const FOUR_SOLVED: &str = "1234341221434321";

fn reader(text: &[u8], hint: &Hint) -> Result<Reader, InputError> {
    Source::reading("text".to_owned(), Box::new(Cursor::new(text.to_vec())))?.read(hint)
}

/// What a text is taken for: `lines 9x9 letters`.
fn detected(text: &[u8], hint: &Hint) -> String {
    let source = Source::reading("text".to_owned(), Box::new(Cursor::new(text.to_vec()))).unwrap();
    match source.read_as_puzzles(hint) {
        Ok(reader) => {
            let format = reader.format();
            format!("{} {} {}", format.notation(), format.order(), format.alphabet())
        }
        Err(error) => error.to_string(),
    }
}

/// A text, and what it is to be taken for.
struct Detection {
    name: &'static str,
    text: String,
    wanted: &'static str,
}

/// A list of [`Detection`]s, each as `name: text => wanted`.
macro_rules! detections {
    ($($name:literal: $text:expr => $wanted:expr,)*) => {
        [$(Detection { name: $name, text: String::from($text), wanted: $wanted }),*]
    };
}

/// The puzzles of a text as `line cells`, bad ones as their sentence.
fn puzzles(text: &[u8], hint: &Hint) -> Vec<String> {
    let mut reader = reader(text, hint).unwrap();
    let format = reader.format().clone();
    let mut grid = Grid::empty(format.order());
    let mut all = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        let block = chunk.block();
        let mut records = Records::new(&format, block.text, block.first_line);
        while let Some(record) = records.read(&mut grid) {
            all.push(match record.error {
                Some(error) => error.to_string(),
                None => format!("{} {}", record.line, cells(&format, &grid)),
            });
        }
    }
    all
}

fn cells(format: &Format, grid: &Grid) -> String {
    let mut out = Vec::new();
    format.write_cells(grid, &mut out);
    String::from_utf8(out).unwrap()
}

/// The answers to everything that a reader hands out.
fn answer_all(mut reader: Reader, task: Task) -> Vec<String> {
    let solvers = Solvers::new(reader.format().clone(), task);
    let mut text = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        let written = solvers.write_answers(chunk.block(), &AtomicBool::new(false)).unwrap();
        text.extend(written.text);
    }
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

fn answers(text: &[u8], hint: &Hint, task: Task) -> Vec<String> {
    answer_all(reader(text, hint).unwrap(), task)
}

/// A hint as users type it: notation, order and alphabet, each `-` for none.
fn hint(words: &str) -> Hint {
    let mut words = words.split(' ').map(|word| Some(word).filter(|&word| word != "-"));
    let mut next = || words.next().flatten();
    Hint {
        notation: next().map(|word| word.parse().unwrap()),
        order: next().map(|word| Order::new(word.parse().unwrap()).unwrap()),
        alphabet: next().map(|word| word.parse().unwrap()),
        ..Hint::default()
    }
}

/// Rows of a grid text.
fn rows(cells: &str, side: usize) -> Vec<String> {
    cells.as_bytes().chunks(side).map(|row| String::from_utf8(row.to_vec()).unwrap()).collect()
}

fn apart(row: &str) -> String {
    row.chars().map(String::from).collect::<Vec<_>>().join(" ")
}

fn nine_rows() -> Vec<String> {
    rows(NINE, 9)
}

/// 16x16 rows in letters: the pattern grid, with a blank in the first cell of every row.
fn sixteen_rows() -> Vec<String> {
    let value = |row: usize, column: usize| (4 * (row % 4) + row / 4 + column) % 16;
    let symbol = |value: usize| char::from(b"123456789ABCDEFG"[value]);
    let cell = |row, column| if column == 0 { '.' } else { symbol(value(row, column)) };
    (0..16).map(|row| (0..16).map(|column| cell(row, column)).collect()).collect()
}

/// The same text with the values above 9 written otherwise: what stands for 10 and on.
fn respelled(text: &str, above_nine: &str) -> String {
    let respell = |c: char| match c {
        'A'..='G' => char::from(above_nine.as_bytes()[c as usize - 'A' as usize]),
        _ => c,
    };
    text.chars().map(respell).collect()
}

#[test]
fn texts_are_taken_for_what_they_are() {
    let nine = nine_rows();
    let nine_apart: Vec<String> = nine.iter().map(|row| apart(row)).collect();
    let digits = NINE.replace('.', "0");
    let four_digits = FOUR.replace('.', "0");
    let sixteen = sixteen_rows();
    let sixteen_apart: Vec<String> = sixteen.iter().map(|row| apart(row)).collect();
    let grouped = |row: &String, by: usize, with: &str| {
        row.as_bytes().chunks(by).map(|g| std::str::from_utf8(g).unwrap()).collect::<Vec<_>>().join(with)
    };
    let short = &NINE[..80];
    let lines = |first: &str| format!("{first}\n{NINE}\n{NINE_SOLVED}\n");
    let ascii = respelled(&sixteen.concat(), ":;<=>?@");
    let ascii_rows: Vec<String> = sixteen.iter().map(|row| respelled(row, ":;<=>?@")).collect();
    let numbers: Vec<String> = sixteen
        .iter()
        .map(|row| {
            let number = |c: char| c.to_digit(17).map_or("0".to_owned(), |value| value.to_string());
            row.chars().map(number).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let padded: Vec<String> = numbers
        .iter()
        .map(|row| row.split(' ').map(|number| format!("{number:0>2}")).collect::<Vec<_>>().join(" "))
        .collect();
    let header = "Invalid block size.";
    let one_or_header = "Invalid block size. If this is a list of 1x1 puzzles, say --notation lines.";
    let one_or_count = "Invalid block size. If line 1 is the number of puzzles, delete it, or say --notation lines, \
        which reads it as a bad puzzle.";
    let cases = detections! {
        "a line": NINE => "lines 9x9 letters",
        "a line with its end": format!("{NINE}\n") => "lines 9x9 letters",
        "4x4 lines": format!("{FOUR}\n{FOUR_SOLVED}\n") => "lines 4x4 letters",
        "4x4 lines with middle dots": format!("{FOUR}\n{FOUR_SOLVED}\n").replace('.', "·") => "lines 4x4 letters",
        "a 4x4 line with middle dots": FOUR.replace('.', "·") => "lines 4x4 letters",
        "a 4x4 line of digits above another": format!("{four_digits}\n{FOUR}\n") => "lines 4x4 letters",
        "a 9x9 line of digits above another": format!("{digits}\n{NINE}\n") => "lines 9x9 letters",
        "a number above rows": format!("3\n{}\n", nine.join("\n")) => "grid 9x9 letters",
        "the number of grids above them": format!("2\n{0}\n\n{0}\n", nine.join("\n")) => "grid 9x9 letters",
        "a number above rows of a damaged puzzle": format!("3\n{}\n", nine[1..].join("\n")) => "grid 9x9 letters",
        "a number above rows of puzzles, one of which is damaged":
            format!("3\n{}\n\n4\n{}\n", nine[1..].join("\n"), nine.join("\n"))
            => "grid 9x9 letters",
        "a first row of digits with one too many":
            format!("3000017000\n{}\n{}\n", nine[1..].join("\n"), nine.join("\n"))
            => "grid 9x9 letters",
        "a name of puzzles above rows": format!("Puzzle\n{}\n", nine.join("\n")) => "grid 9x9 letters",
        "names of puzzles above rows": format!("Quizzes\n{0}\n\nQuizzes\n{0}\n", nine.join("\n")) => "grid 9x9 letters",
        "a name and a word above rows apart": format!("Puzzle, hard\n{}\n", nine_apart.join("\n")) => "grid 9x9 letters",
        "a number above 16x16 rows": format!("16\n{}\n", sixteen.join("\n")) => "grid 16x16 letters",
        "the block size above 16x16 rows": format!("4\n{}\n", sixteen.join("\n")) => "grid 16x16 letters",
        "two above 4x4 lines": format!("2\n{FOUR}\n{FOUR_SOLVED}\n") => "header 4x4 letters",
        "a name above 16x16 rows": format!("Sudoku\n{}\n", sixteen.join("\n")) => "grid 16x16 letters",
        "a name above 4x4 puzzles": format!("sudoku\n{FOUR}\n{FOUR}\n") => "csv 4x4 letters",
        "a name above bad puzzles": format!("puzzle\n{short}\n{NINE}\n") => "csv 9x9 letters",
        "a sentence about puzzles above a list":
            format!("Some puzzles\nby Ann\n{NINE}\n{NINE}\n")
            => "lines 9x9 letters",
        "our own error lines above a list":
            format!("{0}{0}{NINE}\n{NINE}\n", "error: Line 1 has the wrong length. It has 3 cells; a 9x9 puzzle has 81.\n")
            => "lines 9x9 letters",
        "a blank cell": ".\n" => "lines 1x1 letters",
        "lines of one cell": ".\n1\n" => "lines 1x1 letters",
        "lines of one cell, a 1 first": "1\n.\n1\n" => one_or_header,
        "lines of one cell, a 0 first": "0\n1\n\n# note\n.\n" => one_or_header,
        "two lines of a 1": "1\n1" => one_or_header,
        "a 1 above a comment": "1\n# note\n" => "lines 1x1 letters",
        "lines of one cell and one that is not": "1\n.\n12\n" => header,
        "16x16 line": sixteen.concat() => "lines 16x16 letters",
        "ascii shows": ascii.clone() => "lines 16x16 ascii",
        "ascii shows in a later line": format!("{}\n{ascii}\n", ".".repeat(256)) => "lines 16x16 ascii",
        "one bad character does not hide ascii":
            ascii.replacen("..", "!.", 1).replacen('.', "!", 1)
            => "lines 16x16 ascii",
        "letters win where both fit": "A".repeat(625) => "lines 25x25 letters",
        "a wrong alphabet in one line of three":
            format!("{0}\n{0}\n{ascii}\n", sixteen.concat())
            => "lines 16x16 letters",
        "semicolons begin comments": format!("{NINE};{}\n{NINE}\n", "?".repeat(174)) => "lines 9x9 letters",
        "header 2": format!("2\n{FOUR}\n") => "header 4x4 letters",
        "header 3": format!("3\n{NINE}\n") => "header 9x9 letters",
        "header with white space": format!(" 3 \r\n{NINE}\r\n") => "header 9x9 letters",
        "header above nothing but bad lines": "3\nx\n" => "header 9x9 letters",
        "header 1": format!("1\n{NINE}\n") => header,
        "header 4": format!("4\n{NINE}\n") => header,
        "header 17": format!("17\n{NINE}\n") => header,
        "header -3": format!("-3\n{NINE}\n") => header,
        "header 03": format!("03\n{NINE}\n") => header,
        "header 0": format!("0\n{NINE}\n") => header,
        "header of fifteen digits": format!("123456789012345\n{NINE}\n") => header,
        "header of four digits": format!("1234\n{NINE}\n") => header,
        "a list below its number": format!("49151\n{NINE}\n{NINE}\n") => one_or_count,
        "a list of 4x4 puzzles and a bad one below their number":
            format!("6\r\n{FOUR}\r\nx\n\n{FOUR} easy\n")
            => one_or_count,
        "the side above rows": format!("9\n{}\n", nine.join("\n")) => "grid 9x9 letters",
        "a number above bad lines": format!("49151\n{NINE}\n{short}\n{short}\n") => header,
        "header 4 above puzzles": format!("4\n{NINE}\n{NINE}\n{NINE}\n{NINE}\n") => header,
        "header 1 above more than a cell": "1\n1\n.\n12\n" => header,
        "header 4 above cells": "4\n1\n.\n" => header,
        "header 3 above cells": "3\n1\n.\n" => "header 9x9 letters",
        "a comment above the header": format!("# easy\n\n3\n{NINE}\n") => "header 9x9 letters",
        "grid apart": nine_apart.join("\n") => "grid 9x9 letters",
        "grid together": nine.join("\n") => "grid 9x9 letters",
        "grid of digits together": rows(&digits, 9).join("\n") => "grid 9x9 letters",
        "4x4 grid of digits together": rows(&four_digits, 4).join("\n") => "grid 4x4 letters",
        "grid in groups":
            nine.iter().map(|r| grouped(r, 3, " ")).collect::<Vec<_>>().join("\n")
            => "grid 9x9 letters",
        "grid of digits in groups, which are no triples":
            rows(&digits, 9).iter().map(|r| grouped(r, 3, " ")).collect::<Vec<_>>().join("\n")
            => "grid 9x9 letters",
        "16x16 grid together": sixteen.join("\n") => "grid 16x16 letters",
        "16x16 grid together in ascii": ascii_rows.join("\n") => "grid 16x16 ascii",
        "16x16 grid apart": sixteen_apart.join("\n") => "grid 16x16 letters",
        "16x16 grid of numbers": numbers.join("\n") => "grid 16x16 letters",
        "16x16 grid in four groups with rulers":
            sixteen.iter().map(|r| grouped(r, 4, "|")).collect::<Vec<_>>().join("\n")
            => "grid 16x16 letters",
        "4x4 with middle dots": FOUR.replace('.', "·") => "lines 4x4 letters",
        "a ruler first": format!("+---+---+\n{}", nine.join("\n")) => "grid 9x9 letters",
        "rulers of = are not ascii":
            format!("=====\n{}", sixteen_apart.join("\n=====\n"))
            => "grid 16x16 letters",
        "4x4 lines with a five":
            format!("{FOUR}\n{}\n{FOUR}\n", FOUR.replace('4', "5"))
            => "lines 4x4 letters",
        "a bad first row of a grid": format!("5 3\n{}", nine_apart[1..].join("\n")) => "grid 9x9 letters",
        "16x16 grid of padded numbers": padded.join("\n") => "grid 16x16 letters",
        "16x16 grid of padded numbers and commas": padded.join("\n").replace(' ', ",") => "grid 16x16 letters",
        "padded numbers on a line": padded.join(" ") => "cells 16x16 letters",
        "triples": "1 1 5\n1 2 3\n9 9 9\n" => "triples 9x9 letters",
        "triples of a 4x4": "1 1 4\n4 4 1\n" => "triples 4x4 letters",
        "triples with commas": "1,1,16\n2, 1, 3\n" => "triples 16x16 letters",
        "triples of R": "\"row\" \"column\" \"value\"\n\"1\" 1 2 9\n\"2\" 3 4 5\n" => "triples 9x9 letters",
        "triples with a bad line": "1 1\n1 2 3\n9 9 9\n" => "triples 9x9 letters",
        "triples with a value of no size": "1 1 100\n1 2 3\n9 9 9\n" => "triples 9x9 letters",
        "lines with two numbers behind":
            format!("{four_digits} 3 5\n{four_digits} 2 5\n")
            => "lines 4x4 letters",
        "csv": format!("puzzle,solution\n{NINE},{NINE_SOLVED}\n") => "csv 9x9 letters",
        "csv of one column": format!("Quizzes\n{NINE}\n") => "csv 9x9 letters",
        "csv with other names": format!("board,result\n{NINE},{NINE_SOLVED}\n") => "csv 9x9 letters",
        "a table of Markdown": format!("| board | rating |\n|:-:|---|\n| {NINE} | 5 |\n") => "csv 9x9 letters",
        "a table of R without quotes": format!("puzzle n\n1 {NINE} 5\n2 {NINE} 6\n") => "csv 9x9 letters",
        "csv with an id of one letter":
            format!("n,difficulty_level,puzzle\n1,2,{NINE}\n")
            => "csv 9x9 letters",
        "csv with a bad first row":
            format!("puzzle,solution\n12,12\n{NINE},{NINE_SOLVED}\n")
            => "csv 9x9 letters",
        "lines with commas": format!("{NINE},easy\n{NINE},hard, I think\n") => "lines 9x9 letters",
        "fields without a heading": format!("{NINE},easy\n{NINE},hard\n") => "csv 9x9 letters",
        // A bad first line does not spoil the size of the others.
        "80 cells first": lines(short) => "lines 9x9 letters",
        "16 cells first": lines(&NINE[..16]) => "lines 9x9 letters",
        "25 cells first": lines(&NINE[..25]) => "lines 9x9 letters",
        "9 cells first": lines(&NINE[..9]) => "lines 9x9 letters",
        "4 cells first": lines("5..3") => "lines 9x9 letters",
        "1 cell first": lines("x") => "lines 9x9 letters",
        "words first": lines("what is this") => "lines 9x9 letters",
        "the size that most have": format!("{FOUR}\n{NINE}\n{NINE}\n") => "lines 9x9 letters",
        "nonsense": "what is this\n" => "lines 9x9 letters",
    };
    for Detection { name, text, wanted } in cases {
        assert_eq!(detected(text.as_bytes(), &Hint::default()), wanted, "{name}: {text}");
        let marked = format!("\u{FEFF}{}", text.replace('\n', "\r\n"));
        assert_eq!(detected(marked.as_bytes(), &Hint::default()), wanted, "{name}, marked, CRLF");
        assert_eq!(detected(indented(&text).as_bytes(), &Hint::default()), wanted, "{name}, indented");
    }
}

/// The text as a block of code in Markdown or in a forum.
fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

#[test]
fn what_the_user_says_is_obeyed() {
    let sixteen = sixteen_rows().join("\n");
    let cases: &[(&str, &str, &str)] = &[
        (NINE, "lines 2", "lines 4x4 letters"),
        (NINE, "lines - ascii", "lines 9x9 ascii"),
        (NINE, "- - 123456789", "lines 9x9 123456789"),
        (NINE, "header", "Invalid block size."),
        ("3\n", "- 1", "lines 1x1 letters"),
        ("1\n.\n12\n", "- 1", "lines 1x1 letters"),
        ("1\n.\n12\n", "lines", "lines 9x9 letters"),
        ("1\n.\n1\n", "lines", "lines 1x1 letters"),
        ("7\n.\n7\n", "- - 7", "lines 1x1 7"),
        ("1\n.\n1\n", "header", "Invalid block size."),
        ("1\n.\n1\n", "- 2", "Invalid block size."),
        ("1 2 3\n", "lines", "lines 9x9 letters"),
        ("1 2 3\n", "triples 5", "triples 25x25 letters"),
        (NINE, "- - hex", "lines 9x9 hex"),
        (NINE, "- - 1234", "The alphabet 1234 does not fit 9x9 puzzles."),
        (NINE, "- 5 hex", "The alphabet hex does not fit 25x25 puzzles."),
        (&sixteen, "- 2", "lines 4x4 letters"),
        (&sixteen, "- 4", "grid 16x16 letters"),
        (&sixteen, "lines", "lines 4x4 letters"),
    ];
    for (text, words, wanted) in cases {
        assert_eq!(detected(text.as_bytes(), &hint(words)), *wanted, "{words}: {text}");
    }
    // Values 1 to 4 of an alphabet are frequent in 4x4 lines, those above in the rows of a 16x16 grid.
    let alpha = |text: &str| respelled(&text.replace(|c: char| c.is_ascii_digit(), "H"), "IJKLMNO");
    assert_eq!(detected(alpha(&sixteen).as_bytes(), &hint("- - alpha")), "grid 16x16 alpha");
    assert_eq!(detected("ABCDABCDABCD....\n".repeat(16).as_bytes(), &hint("- - alpha")), "lines 4x4 alpha");
}

/// The same text in `hex`, which is in `letters`: each value is written as the one before it.
fn in_hex(text: &str) -> String {
    let letters = "123456789ABCDEFG";
    text.chars().map(|c| letters.find(c).map_or(c, |at| char::from(b"0123456789ABCDEF"[at]))).collect()
}

/// The symbols of 25x25 puzzles whose first value is 0.
const LARGE_FROM_ZERO: &str = "0123456789ABCDEFGHIJKLMNO";

const AMBIGUOUS_ALPHABET: &str = "The text fits the alphabets hex and letters, which read its 0 differently: \
    as the value 1, or as a blank. Say which with --alphabet hex or --alphabet letters.";

/// The same for 25x25.
const AMBIGUOUS_LARGE_ALPHABET: &str = "The text fits the alphabets 0123456789ABCDEFGHIJKLMNO and letters, which \
    read its 0 differently: as the value 1, or as a blank. Say which with --alphabet 0123456789ABCDEFGHIJKLMNO or --alphabet letters.";

#[test]
fn hex_is_told_from_letters_or_refused() {
    let rows = sixteen_rows();
    let letters = rows.concat();
    let without_g = letters.replace('G', ".");
    let hex = in_hex(&letters);
    let hex_rows: Vec<String> = rows.iter().map(|row| in_hex(row)).collect();
    let hex_apart: Vec<String> = hex_rows.iter().map(|row| apart(row)).collect();
    let full = "0123456789ABCDEF456789ABCDEF012389ABCDEF01234567CDEF0123456789AB".repeat(4);
    let from_zero = |blank: &str, end: &str| {
        let cell = |c: char| c.to_digit(16).map_or_else(|| blank.to_owned(), |value| format!("{value}{end}"));
        let row = |row: &String| row.chars().map(cell).collect::<Vec<_>>().join(",");
        hex_rows.iter().map(row).collect::<Vec<_>>().join("\n")
    };
    let four = "0,1,-1,-1\n-1,-1,0,1\n1,0,2,-1\n-1,-1,1,0\n";
    let drawn_four = "+-----+-----+\n| 0 1 | . . |\n| . . | 0 1 |\n+-----+-----+\n| 1 0 | 2 . |\n| . . | 1 0 |\n+-----+-----+\n";
    let nine: String =
        NINE.chars().map(|c| char::from_digit(c.to_digit(10).unwrap_or(10) - 1, 9).unwrap_or('.')).collect();
    let row = |row: &[u8]| {
        row.chunks(3).map(|cells| str::from_utf8(cells).unwrap()).collect::<Vec<_>>().join(" | ")
    };
    let bands =
        nine.as_bytes().chunks(27).map(|band| band.chunks(9).map(row).collect::<Vec<_>>().join(" |\n| "));
    let ruler = "+-----+-----+-----+\n";
    let drawn_nine: String =
        bands.map(|band| format!("{ruler}| {band} |\n")).chain([ruler.to_owned()]).collect();
    // Of 25x25, every seventh cell of the pattern grid.
    let value = |at: usize| (5 * (at / 25 % 5) + at / 125 + at % 25) % 25;
    let large: Vec<Option<usize>> = (0..625).map(|at| (at % 7 == 0).then(|| value(at))).collect();
    let number = |cell: &Option<usize>| cell.map_or("-1".to_owned(), |value| value.to_string());
    let large_apart: Vec<String> =
        large.chunks(25).map(|row| row.iter().map(number).collect::<Vec<_>>().join(",")).collect();
    let symbol =
        |cell: &Option<usize>| cell.map_or('.', |value| char::from(LARGE_FROM_ZERO.as_bytes()[value]));
    let large_line: String = large.iter().map(symbol).collect();
    let refused_large = AMBIGUOUS_LARGE_ALPHABET;
    let refused = AMBIGUOUS_ALPHABET;
    let cases = detections! {
        "a hex line": hex.clone() => refused,
        "in lower case": hex.to_lowercase() => refused,
        "with a comment": format!("{hex} easy\n") => refused,
        "a 0 below a blank puzzle": format!("{0}.\n{0}0\n", ".".repeat(255)) => refused,
        "a solution in hex": full.clone() => refused,
        "hex in a table": format!("puzzle,solution\n{hex},{full}\n") => refused,
        "rows together": hex_rows.join("\n") => refused,
        "rows apart": hex_apart.join("\n") => refused,
        "a G in one of three": format!("{hex}\n{}\n{hex}\n", hex.replacen('F', "G", 1)) => refused,
        "a bad character in one of two": format!("{}\n{hex}\n", hex.replacen('F', "x", 1)) => refused,
        "numbers from 0": from_zero("-1", "") => refused,
        "numbers from 0 with fractions": from_zero("nan", ".0") => refused,
        "numbers from 0 to 24": large_apart.join("\n") => refused_large,
        "numbers from 0 to 24 on a line": large_apart.join(",") => refused_large,
        "a line of 25x25 from 0": large_line.clone() => refused_large,
        "numbers from 0 to 3": four => refused,
        "numbers from 0 to 3, on a line": four.trim().replace('\n', ",") => refused,
        "numbers from 0 to 3 and nothing": four.replace("-1", "") => refused,
        "numbers from 0 to 3, in a drawing": drawn_four => refused,
        "digits from 0 to 8, in a drawing": drawn_nine => refused,
        "digits from 0 to 8, with lines of other lengths": format!("{nine}\n123\n45\n") => refused,
        "numbers from 0 to 4": "0,1,-1,4\n-1,-1,0,1\n1,0,4,-1\n4,-1,1,0\n" => "grid 4x4 letters",
        // Without a 0, solutions differ in no more than the name of a value that is no clue.
        "no 0": hex.replace('0', ".") => "lines 16x16 letters",
        "letters": letters.clone() => "lines 16x16 letters",
        "letters, 0 for blanks": letters.replace('.', "0") => "lines 16x16 letters",
        "letters, both for blanks": letters.replacen('.', "0", 5) => "lines 16x16 letters",
        "no G": without_g.clone() => "lines 16x16 letters",
        "no G, 0 for blanks": without_g.replace('.', "0") => "lines 16x16 letters",
        "no G, and another blank":
            without_g.replacen('.', "0", 5).replacen('.', "_", 1)
            => refused,
        "no G, and each line has its own blank":
            format!("{without_g}\n{}\n", without_g.replace('.', "0"))
            => "lines 16x16 letters",
        "a bad 0 in one of three":
            format!("{letters}\n{}\n{letters}\n", without_g.replacen('.', "0", 1))
            => "lines 16x16 letters",
        "nothing but 0": "0".repeat(256) => "lines 16x16 letters",
        "rows with 0 for blanks": rows.join("\n").replace('.', "0") => "grid 16x16 letters",
        "rows without G": rows.join("\n").replace(['G', '.'], "0") => "grid 16x16 letters",
        "ascii has a 0 too": respelled(&letters, ":;<=>?@").replacen('.', "0", 3) => "lines 16x16 ascii",
        "9x9 without a 9": NINE.replacen('.', "0", 5).replace('9', ".") => refused,
        "4x4 without a 4": FOUR.replacen('.', "0", 2).replace('4', ".") => refused,
        "9x9 with both blanks": NINE.replacen('.', "0", 5) => "lines 9x9 letters",
        "9x9 with 0 for blanks": NINE.replace('9', ".").replace('.', "0") => "lines 9x9 letters",
        "lists of 9x9 put together":
            format!("{NINE}\n{}\n", NINE.replace(['.', '9'], "0"))
            => "lines 9x9 letters",
    };
    for Detection { name, text, wanted } in cases {
        assert_eq!(detected(text.as_bytes(), &Hint::default()), wanted, "{name}: {text}");
        assert_eq!(detected(indented(&text).as_bytes(), &Hint::default()), wanted, "{name}, indented");
    }
    for (words, wanted) in [
        ("- - hex", "lines 16x16 hex"),
        ("lines 4 hex", "lines 16x16 hex"),
        ("- - letters", "lines 16x16 letters"),
        ("- - 0123456789ABCDEF", "lines 16x16 0123456789ABCDEF"),
        ("lines", refused),
        ("- 4", refused),
        ("- 5", "lines 25x25 letters"),
    ] {
        assert_eq!(detected(hex.as_bytes(), &hint(words)), wanted, "{words}");
    }
    let told = puzzles(large_apart.join("\n").as_bytes(), &hint(&format!("- - {LARGE_FROM_ZERO}")));
    assert_eq!(told, [format!("1 {large_line}")]);
    for text in [hex_rows.join("\n"), from_zero("-1", ""), from_zero("nan", ".0"), from_zero("", ".0")] {
        assert_eq!(puzzles(text.as_bytes(), &hint("- - hex")), [format!("1 {hex}")]);
    }
}

#[test]
fn hex_has_every_blank_but_0() {
    let rows = sixteen_rows();
    let hex = in_hex(&rows.concat());
    let hex_rows: Vec<String> = rows.iter().map(|row| in_hex(row)).collect();
    let separated = |row: &String, by: &str| row.chars().map(String::from).collect::<Vec<_>>().join(by);
    let all = |row: fn(&str) -> String| hex_rows.iter().map(|cells| row(cells) + "\n").collect::<String>();
    let in_boxes = |row: &str| {
        let boxes: Vec<String> =
            row.as_bytes().chunks(4).map(|cells| apart(std::str::from_utf8(cells).unwrap())).collect();
        format!("| {} |", boxes.join(" | "))
    };
    let texts = [
        hex.clone(),
        hex_rows.join("\n"),
        all(apart),
        format!("+-------+\n{}", all(in_boxes)),
        separated(&hex, ","),
        format!("{},\n", separated(&hex, ",")),
        format!("id,puzzle\n7,{hex}\n"),
        format!("{{\"puzzle\":\"{hex}\"}}\n"),
    ];
    for blank in [".", "_", "*", "-", "?", "x", "X", "\u{B7}"] {
        for text in &texts {
            let text = text.replace('.', blank);
            assert_eq!(detected(text.as_bytes(), &Hint::default()), AMBIGUOUS_ALPHABET, "{text}");
            let read = puzzles(text.as_bytes(), &hint("- - hex"));
            assert_eq!(read.len(), 1, "{text}");
            assert!(read[0].ends_with(&format!(" {hex}")), "{read:?} {text}");
        }
        let nine = NINE.replacen('.', "0", 5).replace('9', ".").replace('.', blank);
        assert_eq!(detected(nine.as_bytes(), &Hint::default()), AMBIGUOUS_ALPHABET, "{nine}");
    }
    // So is nothing between commas.
    let fields = hex_rows.iter().map(|row| separated(row, ",") + "\n").collect::<String>();
    for text in [&fields, &texts[4]] {
        let text = text.replace('.', "");
        assert_eq!(detected(text.as_bytes(), &Hint::default()), AMBIGUOUS_ALPHABET, "{text}");
        assert_eq!(puzzles(text.as_bytes(), &hint("- - hex")), [format!("1 {hex}")]);
    }
    // A space between bars is a blank too, if no cell is another one, as a 0 would be in letters.
    let spaces = texts[3].replace('.', " ");
    assert_eq!(detected(spaces.as_bytes(), &Hint::default()), AMBIGUOUS_ALPHABET, "{spaces}");
    assert_eq!(puzzles(spaces.as_bytes(), &hint("- - hex")), [format!("2 {hex}")]);
}

const AMBIGUOUS_LINES: &str = "The lines of 16 characters fit 4x4 puzzles, one a line, and the rows of 16x16 \
    puzzles. Say which with --notation lines or --notation grid.";

/// The rows with nothing but the values 1 to 4, and some more: pairs of a row, from 0, and a value.
fn sparse_rows(more: &[(usize, char)]) -> Vec<String> {
    let row = |(row, cells): (usize, String)| {
        let is_kept = |c: char| ('1'..='4').contains(&c) || more.contains(&(row, c));
        cells.chars().map(|c| if is_kept(c) { c } else { '.' }).collect()
    };
    sixteen_rows().into_iter().enumerate().map(row).collect()
}

#[test]
fn rows_of_16x16_puzzles_are_told_from_4x4_puzzles_or_refused() {
    let small = sparse_rows(&[]);
    let sparse = sparse_rows(&[(3, '5'), (8, 'G'), (9, 'A')]);
    let blank = ".".repeat(16);
    let blanks = |count: usize| format!("{blank}\n").repeat(count);
    let bands =
        |rows: &[String], by: &str| rows.chunks(4).map(|band| band.join("\n")).collect::<Vec<_>>().join(by);
    let without_clash = ".1....2.3..4....";
    let (grid, lines) = ("grid 16x16 letters", "lines 4x4 letters");
    let refused = AMBIGUOUS_LINES;
    let cases = detections! {
        "no value above 4": small.join("\n") => refused,
        "no value above 4, 0 for blanks": small.join("\n").replace('.', "0") => refused,
        "no value above 4, a blank line between all": small.join("\n\n") => refused,
        "no value above 4, two puzzles": format!("{0}\n{0}\n", small.join("\n")) => refused,
        "nothing but blanks": blanks(16) => refused,
        "nothing but blanks, two puzzles": blanks(32) => refused,
        "nothing but blanks, as far as is looked": blanks(8000) => refused,
        "a value above 4": sparse_rows(&[(3, '5')]).join("\n") => grid,
        "a few values above 4": sparse.join("\n") => grid,
        "the same, 0 for blanks": sparse.join("\n").replace('.', "0") => grid,
        "the same in ascii": sparse.join("\n").replace('G', "@").replace('A', ":") => "grid 16x16 ascii",
        "two of them": format!("{0}\n\n{0}\n", sparse.join("\n")) => grid,
        "a blank puzzle, and one with a few": format!("{}{}\n", blanks(16), sparse.join("\n")) => grid,
        "a bad character": sparse.join("\n").replacen('1', "x", 1) => grid,
        "a value twice in a row": sparse.join("\n").replacen("G.", "GG", 1) => grid,
        "a row too few": sparse[..15].join("\n") => grid,
        "a row too many": format!("{}\n{blank}\n", sparse.join("\n")) => grid,
        "half a puzzle": sixteen_rows()[..8].join("\n") => grid,
        "rulers": bands(&small, "\n----+----+----+----\n") => grid,
        "rulers as long as a row": bands(&small, "\n----------------\n") => grid,
        "bands apart": bands(&small, "\n\n") + "\n" => grid,
        "puzzles apart": format!("{0}\n{0}", blanks(16)) => grid,
        "blank lines inside of bands": format!("{}\n{}", blanks(6), blanks(10)) => lines,
        "fifteen lines": small[..15].join("\n") => lines,
        "seventeen blank lines": blanks(17) => lines,
        "4x4 puzzles": format!("{FOUR}\n").repeat(16) => lines,
        "4x4 puzzles without a value twice": format!("{without_clash}\n").repeat(16) => lines,
        "4x4 puzzles of one clue": format!("1{}\n", &blank[1..]).repeat(16) => lines,
        "other blanks, which are those of both": format!("{}_..\n", &blank[..13]).repeat(16) => refused,
        "blanks that look like rulers": "----------------\n".repeat(16) => lines,
        "three good lines and a bad one":
            format!("{0}\n{0}\n{0}\n{1}\n", without_clash, without_clash.replace('4', "7"))
            => lines,
        "fifteen good lines and a bad one":
            format!("{}{}\n", format!("{without_clash}\n").repeat(15), without_clash.replace('4', "7"))
            => lines,
        "a bad clue in a 4x4 puzzle": format!("1..5{}\n", &blank[..12]) => lines,
        "4x4 puzzles in alpha": "ABCDCDABBADCDCBA\n".repeat(16) => "lines 4x4 alpha",
    };
    for Detection { name, text, wanted } in cases {
        assert_eq!(detected(text.as_bytes(), &Hint::default()), wanted, "{name}:\n{text}");
        assert_eq!(detected(indented(&text).as_bytes(), &Hint::default()), wanted, "{name}, indented");
        let text = text.replace('\n', "\r\n");
        assert_eq!(detected(text.as_bytes(), &Hint::default()), wanted, "{name}, CRLF");
    }
    for text in [small.join("\n"), blanks(16)] {
        for (words, wanted) in [("lines", lines), ("grid", grid), ("- 2", lines), ("- 4", grid)] {
            assert_eq!(detected(text.as_bytes(), &hint(words)), wanted, "{words}");
        }
    }
    assert_eq!(puzzles(sparse.join("\n").as_bytes(), &Hint::default()), [format!("1 {}", sparse.concat())]);
}

/// Lists that people have are read as what they are, or refused.
#[test]
fn large_lists_of_both_sizes_are_told_apart() {
    if let Some(path) = large_list("4x4.txt") {
        let text = fs::read_to_string(path).unwrap();
        let all: Vec<&str> = text.lines().collect();
        for part in all.windows(16).chain([&all[..]]) {
            assert_eq!(
                detected(part.join("\n").as_bytes(), &Hint::default()),
                "lines 4x4 letters",
                "{part:?}"
            );
        }
    }
    let Some(path) = large_list("16x16.txt") else { return };
    let text = fs::read_to_string(path).unwrap();
    let mut grids = String::new();
    for blank in [".", "0"] {
        let seen = detected(text.replace('.', blank).as_bytes(), &Hint::default());
        assert_eq!(seen, "lines 16x16 letters");
        for line in text.lines() {
            let line_blank = line.replace('.', blank);
            let seen = |text: &str| detected(text.as_bytes(), &Hint::default());
            assert_eq!(seen(&line_blank), "lines 16x16 letters", "{line_blank}");
            let rows = rows(&line_blank, 16);
            let has_large = line.contains(|c: char| !('1'..='4').contains(&c) && c != '.');
            let wanted = if has_large { "grid 16x16 letters" } else { AMBIGUOUS_LINES };
            assert_eq!(seen(&rows.join("\n")), wanted, "{}", rows.join("\n"));
            grids += &(rows.join("\n") + "\n\n");
        }
    }
    assert_eq!(detected(grids.as_bytes(), &Hint::default()), "grid 16x16 letters");
    assert_eq!(puzzles(grids.as_bytes(), &Hint::default()).len(), 2 * text.lines().count());

    assert_eq!(detected(in_hex(&text).as_bytes(), &Hint::default()), AMBIGUOUS_ALPHABET);
    for line in text.lines().map(in_hex) {
        let wanted = if line.contains('0') { AMBIGUOUS_ALPHABET } else { "lines 16x16 letters" };
        assert_eq!(detected(line.as_bytes(), &Hint::default()), wanted, "{line}");
    }
}

#[test]
fn texts_without_a_puzzle_are_empty() {
    for text in
        ["", "\n", "\r\n \n\t\n", "# only\n# comments", "\u{FEFF}", "\u{FEFF}\n", "3\n", "3", "2\n\n\n"]
    {
        assert_eq!(detected(text.as_bytes(), &Hint::default()), "text is empty.", "{text:?}");
    }
    for text in ["puzzle,solution\n", "puzzle,solution", "puzzle\n\n# none\n"] {
        assert_eq!(detected(text.as_bytes(), &Hint::default()), "text is empty.", "{text:?}");
    }
    // A longer comment than is looked at, at a time.
    let long = format!("# {}\n", "x".repeat(200_000));
    assert_eq!(detected(long.as_bytes(), &Hint::default()), "text is empty.");
    let text = format!("{long}{long}{}\n{NINE}\n", " ".repeat(70_000));
    assert_eq!(puzzles(text.as_bytes(), &Hint::default()), [format!("4 {NINE}")]);
}

#[test]
fn a_bad_block_size_is_told_with_its_line() {
    let error = reader(b"# easy\n\n7\n....\n", &Hint::default()).err().unwrap();
    let InputError::Format(sudoku_stream::text::FormatError::Puzzle(error)) = error else {
        panic!("{error}")
    };
    assert_eq!((error.to_string().as_str(), error.code()), ("Invalid block size.", "invalid_block_size"));
    assert_eq!(error.line, Some(3));
    let below_count = format!("\n# easy\n2000\n{NINE}\n{NINE}\n");
    let error = reader(below_count.as_bytes(), &Hint::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "Invalid block size. If line 3 is the number of puzzles, delete it, or say --notation lines, which reads it as \
         a bad puzzle."
    );
    let told = puzzles(below_count.as_bytes(), &hint("lines"));
    let bad = "Line 3 has the wrong length. It has 4 cells; a 9x9 puzzle has 81.".to_owned();
    assert_eq!(told, [bad, format!("4 {NINE}"), format!("5 {NINE}")]);
}

/// What each notation makes of a text: the user's words, the text, the puzzles or sentences.
#[test]
fn puzzles_are_read_in_every_notation() {
    let ok = |line: usize| format!("{line} {NINE}");
    let nine = nine_rows();
    let grid = nine.iter().map(|row| apart(row)).collect::<Vec<_>>().join("\n");
    let ruled = format!(
        "+-------+-------+-------+\n{}\n+-------+-------+-------+\n",
        nine.iter()
            .map(|r| format!("| {} | {} | {} |", apart(&r[..3]), apart(&r[3..6]), apart(&r[6..])))
            .collect::<Vec<_>>()
            .join("\n")
    );
    let together = nine.join("\n");
    let band_blanks = nine.chunks(3).map(|band| band.join("\n")).collect::<Vec<_>>().join("\n\n");
    let double_spaced = nine.join("\n\n");
    let without = |skip: usize| nine.iter().skip(skip).cloned().collect::<Vec<_>>().join("\n");
    let length = |line: usize| format!("Line {line} has the wrong length.");
    let counted = |line: usize, cells: usize| {
        let noun = if cells == 1 { "cell" } else { "cells" };
        format!("{} It has {cells} {noun}; a 9x9 puzzle has 81.", length(line))
    };
    let bad = |line: usize, character: &str, column: usize| {
        format!("Line {line} has an invalid character. It is {character} in column {column}.")
    };
    let twelve = NINE_SOLVED;
    let padded = grid.split(' ').map(|cell| format!("0{}", cell.replace('.', "0").replace('\n', "\n0")));
    let padded = padded.collect::<Vec<_>>().join(" ");
    let (mark, named) = ("\u{FEFF}", "U+FEFF, a byte-order mark,");
    let labelled = |names: &[&str]| {
        let row = |(name, row): (&&str, &String)| format!("{name},{}\n", apart(row).replace(' ', ","));
        ",0,1,2,3,4,5,6,7,8\n".to_owned() + &names.iter().zip(&nine).map(row).collect::<String>()
    };
    let cases: Vec<(&str, String, Vec<String>)> = vec![
        // lines
        ("-", format!("{NINE}\n{NINE}"), vec![ok(1), ok(2)]),
        ("-", format!("{NINE}\r\n{NINE}\r\n"), vec![ok(1), ok(2)]),
        ("-", format!("\n# easy\n  # hard\n{NINE}\n \t\r\n{NINE}\n\n"), vec![ok(4), ok(6)]),
        (
            "-",
            [" 1.5", "\t1.5", ",1.5", ";1.5", "#1.5", " ; # ,", "   "]
                .map(|c| format!("{NINE}{c}\n"))
                .concat(),
            (1..=7).map(ok).collect(),
        ),
        (
            "-",
            [".", "0", "_", "*", "-"].map(|b| NINE.replace('.', b) + "\n").concat(),
            (1..=5).map(ok).collect(),
        ),
        ("-", format!("{NINE}\n{FOUR}\n{NINE}\n"), vec![ok(1), counted(2, 16), ok(3)]),
        ("-", format!("{NINE}\n ; {NINE}\n\u{1}\n"), vec![ok(1), counted(2, 0), counted(3, 1)]),
        (
            "-",
            [" ", "\t", "    ", " \t ", "\u{c}"].map(|indent| format!("{indent}{NINE}\n")).concat(),
            (1..=5).map(ok).collect(),
        ),
        (
            "-",
            format!(" {NINE} 1.5\n\t{NINE}; x\n  {NINE}#\r\n   {NINE}\t\n \t#{NINE}\n    {NINE}"),
            vec![ok(1), ok(2), ok(3), ok(4), ok(6)],
        ),
        (
            "-",
            format!("  {NINE}\n  {}\n   {}\n", &NINE[1..], NINE.replacen('3', "q", 1)),
            vec![ok(1), counted(2, 80), bad(3, "'q'", 5)],
        ),
        ("-", format!("   {NINE}\n").repeat(3), vec![ok(1), ok(2), ok(3)]),
        (
            "lines",
            format!("{FOUR}\n  {FOUR}\n  x\n"),
            vec![
                format!("1 {FOUR}"),
                format!("2 {FOUR}"),
                "Line 3 has the wrong length. It has 1 cell; a 4x4 puzzle has 16.".into(),
            ],
        ),
        ("-", "  .\n\t1\n".into(), vec!["1 .".into(), "2 1".into()]),
        ("header", format!("3\n {NINE}\n{NINE}\n"), vec![length(2), ok(3)]),
        ("lines 1", "1\n.\n2\n".into(), vec!["1 1".into(), "2 .".into(), bad(3, "'2'", 1)]),
        ("- 2 hex", "0123230110323...\n".into(), vec!["1 0123230110323...".into()]),
        ("- - abcd", "abcd.0_*-bcdaaaa\n".into(), vec!["1 abcd.....bcdaaaa".into()]),
        ("- - ;0_*", format!("{0}\n#\n", "0;*_.-0;*_.-0;*_"), vec!["1 0;*_..0;*_..0;*_".into()]),
        ("- 4 alpha", "aP".repeat(128), vec![format!("1 {}", "AP".repeat(128))]),
        ("- 4", "gG".repeat(128), vec![format!("1 {}", "GG".repeat(128))]),
        ("- 4 letters", "hG".repeat(128), vec![bad(1, "'h'", 1)]),
        // header
        ("-", format!("3\n{NINE}\n{NINE}\r\n{NINE}"), vec![ok(2), ok(3), ok(4)]),
        ("-", format!("3\n{}\n", NINE.replacen('.', "0", 1)), vec![bad(2, "'0'", 3)]),
        ("-", format!("3\n\n{NINE} \n# x\n{NINE}\n"), vec![length(2), length(3), length(4), ok(5)]),
        // grid
        ("-", grid.clone(), vec![ok(1)]),
        ("-", together.clone(), vec![ok(1)]),
        ("-", ruled.clone(), vec![ok(2)]),
        ("-", format!("{ruled}\n{ruled}\n{ruled}"), vec![ok(2), ok(14), ok(26)]),
        ("-", format!("{ruled}{ruled}"), vec![ok(2), ok(13)]),
        ("-", format!("{grid}\n{together}\n\n\n# x\n{grid}"), vec![ok(1), ok(10), ok(22)]),
        ("-", format!("\r\n{}\r\n", grid.replace('\n', "\r\n")), vec![ok(2)]),
        ("-", format!("{band_blanks}\n\n{band_blanks}\n"), vec![ok(1), ok(13)]),
        ("-", format!("{double_spaced}\n\n{double_spaced}\n"), vec![ok(1), ok(19)]),
        ("-", format!("{grid}\n\n# half\n5 3 4\n"), vec![ok(1), length(12)]),
        // A short puzzle, whatever it lacks, does not spoil the next.
        ("-", format!("{}\n\n{grid}\n\n{grid}", without(1)), vec![length(8), ok(10), ok(20)]),
        ("-", format!("{}\n\n{grid}\n\n{grid}", without(3)), vec![length(6), ok(8), ok(18)]),
        ("-", format!("{}\n\n{grid}\n\n{grid}", without(6)), vec![length(3), ok(5), ok(15)]),
        ("-", format!("{}\n\n{grid}\n\n{grid}", without(8)), vec![length(1), ok(3), ok(13)]),
        ("-", format!("{}\n\n\n{grid}{}", without(3), "\n".repeat(9)), vec![length(6), ok(9)]),
        ("-", format!("{0}\n\n{1}\n\n{grid}", without(4), without(5)), vec![length(5), length(10), ok(12)]),
        // Length comes before characters, wherever each is.
        (
            "grid",
            format!("x{}\n{}\n{}\n", &together[1..29], &together[30..38], &together[40..]),
            vec![length(4)],
        ),
        ("grid", together.replacen('.', "q", 1), vec![bad(1, "'q'", 3)]),
        ("grid", together.replacen('.', "é", 1), vec![bad(1, "'é'", 3)]),
        ("grid", grid.replacen('.', "éé", 1), vec![bad(1, "'é'", 5)]),
        ("grid", grid.replacen(". .", "é 10", 1), vec![bad(1, "'é'", 5)]),
        (
            "grid",
            grid.replacen(". .", ". 10", 1),
            vec!["Line 1 has an invalid character. The value 10 is outside 1 to 9.".into()],
        ),
        ("grid", grid.replacen(". .", ". +1", 1), vec![bad(1, "'+'", 7)]),
        ("grid", grid.replacen(". .", "· _", 1), vec![ok(1)]),
        ("grid", grid.replacen("5 3 . .", "5 3 0 00", 1), vec![bad(1, "'0'", 7)]),
        ("grid", grid.replacen("5 3", "05 03", 1), vec![ok(1)]),
        ("-", padded.clone(), vec![ok(1)]),
        ("-", padded.replace(' ', ","), vec![ok(1)]),
        ("-", format!("{0}\n{0}\n", padded.replace('\n', " ")), vec![ok(1), ok(2)]),
        ("-", format!("{together}\n{mark}{together}\n{grid}\n"), vec![ok(1), bad(10, named, 1), ok(19)]),
        ("-", format!("\n{mark}{together}\n\n{mark}{grid}\n"), vec![bad(2, named, 1), bad(12, named, 1)]),
        ("-", format!("\n{mark}Grid 1\n{together}\n"), vec![ok(3)]),
        ("-", format!("Unsolved\n{together}\nUnsolved\n{together}\n"), vec![ok(2), ok(12)]),
        (
            "-",
            format!("1\n{together}\n\n2\n{}\n\n3\n{together}\n", without(1)),
            vec![ok(2), length(12), ok(23)],
        ),
        // With the numbers or letters of rows and columns.
        (
            "-",
            format!("{0}\n{0}{0}", labelled(&["0", "1", "2", "3", "4", "5", "6", "7", "8"])),
            vec![ok(2), ok(13), ok(23)],
        ),
        ("-", labelled(&["A", "B", "C", "D", "E", "F", "G", "H", "I"]).repeat(2), vec![ok(2), ok(12)]),
        ("-", labelled(&["R9", "R8", "R7", "R6", "R5", "R4", "R3", "R2", "R1"]), vec![ok(2)]),
        ("-", labelled(&["4", "1", "8", "3", "9", "5", "2", "7", "6"]), vec![ok(2)]),
        // triples
        (
            "-",
            "\"row\" \"column\" \"value\"\n\"1\" 1 1 5\n\"2\" 9 9 9\n".into(),
            vec![format!("2 5{}9", ".".repeat(79))],
        ),
        ("-", "1 1 5\r\n# x\n\n9,9;9\n".into(), vec![format!("1 5{}9", ".".repeat(79))]),
        ("triples 3", "\n2 1 5\n".into(), vec![format!("2 {}5{}", ".".repeat(9), ".".repeat(71))]),
        (
            "triples 3",
            "0 3 1".into(),
            vec!["Line 1 has an invalid character. The row 0 is outside 1 to 9.".into()],
        ),
        (
            "triples 3",
            "1 1 1\n1 10 1".into(),
            vec!["Line 2 has an invalid character. The column 10 is outside 1 to 9.".into()],
        ),
        (
            "triples 3",
            "1 1 0".into(),
            vec!["Line 1 has an invalid character. The value 0 is outside 1 to 9.".into()],
        ),
        ("triples 3", "1 1 q".into(), vec![bad(1, "'q'", 5)]),
        ("triples 3", "1 é 3".into(), vec![bad(1, "'é'", 3)]),
        ("triples 3", "-1 1 3".into(), vec![bad(1, "'-'", 1)]),
        ("triples 3", "1 +1 3".into(), vec![bad(1, "'+'", 3)]),
        ("triples 3", "1 1 99999999999999999999".into(), vec![bad(1, "'9'", 5)]),
        ("triples 3", "1 1 1 1".into(), vec![length(1)]),
        (
            "triples 3",
            "2 2 1\n2 2 1".into(),
            vec!["Line 2 breaks the rules: cell (2, 2) is set twice.".into()],
        ),
        ("triples 3", "2 2 1\n2 2 1\n0 1 1\n1 x 1\n1 1".into(), vec![length(5)]),
        (
            "triples 3",
            "2 2 1\n2 2 1\n0 1 1\n1 x 1".into(),
            vec!["Line 3 has an invalid character. The row 0 is outside 1 to 9.".into()],
        ),
        // csv
        (
            "-",
            format!("puzzle,solution\n{NINE},{NINE_SOLVED}\r\n\n# x\n{NINE},\n{NINE}"),
            vec![ok(2), ok(5), ok(6)],
        ),
        (
            "-",
            format!(
                "id,puzzle,solution,clues\n7,{NINE},{twelve},30\n\"8\" , \"{NINE}\" ,\"{twelve}\",30\n9\n"
            ),
            vec![ok(2), ok(3), counted(4, 0)],
        ),
        ("-", format!("name,puzzle\n\"Doe, Jo\",{NINE}\nq,q{}\n", &NINE[1..]), vec![ok(2), bad(3, "'q'", 3)]),
        ("-", format!("é,puzzle\né,q{}\né,{NINE}\n", &NINE[1..]), vec![bad(2, "'q'", 3), ok(3)]),
        ("-", format!("id,board\n7,{NINE}\n"), vec![ok(2)]),
        ("-", format!("| n | board |\n|---|------:|\n| 1 | {NINE} |\n"), vec![ok(3)]),
        ("-", format!("| n | board |\n| :-: | --- |\n| 1 | {NINE} |\n"), vec![ok(3)]),
        ("-", format!("| puzzle | solution |\n| --- | --- |\n| {NINE} | {NINE_SOLVED} |\n"), vec![ok(3)]),
        ("-", format!("puzzle n\n1 {NINE} 5\n2 {NINE} 6\n"), vec![ok(2), ok(3)]),
        // jsonl
        (
            "-",
            format!("{{\"puzzle\":\"{0}\"}}\n{{\"puzzle\":\"{0}\"}}\n", ruled.replace('\n', "\\n")),
            vec![ok(1), ok(2)],
        ),
        // Told that it is a table, a reader does not take the first puzzle for a heading.
        ("csv", format!("{NINE},{NINE_SOLVED}\n{NINE}\n"), vec![ok(1), ok(2)]),
    ];
    for (words, text, wanted) in cases {
        assert_eq!(puzzles(text.as_bytes(), &hint(words)), wanted, "{words}: {text}");
        if words != "header" {
            let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
            assert_eq!(puzzles(&marked, &hint(words)), wanted, "marked: {text}");
        }
    }
}

#[test]
fn numbers_above_nine_stand_in_grids() {
    let rows = sixteen_rows();
    let number = |c: char| c.to_digit(17).map_or(".".to_owned(), |value| value.to_string());
    let text: Vec<String> =
        rows.iter().map(|row| row.chars().map(number).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(puzzles(text.join("\n").as_bytes(), &Hint::default()), [format!("1 {}", rows.concat())]);
    let wrong = text.join("\n").replacen("16", "17", 1);
    assert_eq!(puzzles(wrong.as_bytes(), &Hint::default()).len(), 1);
    assert!(
        puzzles(wrong.as_bytes(), &Hint::default())[0].contains("The value 17 is outside 1 to 16."),
        "{wrong}"
    );
}

/// Every byte in the middle of a puzzle between two others, against the table of the notation.
#[test]
fn every_byte_is_a_cell_a_comment_or_an_error() {
    let (before, after) = NINE.split_at(40);
    for byte in 0..=255u8 {
        let mut text = format!("{NINE}\n{before}").into_bytes();
        text.push(byte);
        text.extend_from_slice(format!("{}\n{NINE}", &after[1..]).as_bytes());
        if byte == 0 {
            let error = reader(&text, &Hint::default()).err().unwrap().to_string();
            assert_eq!(error, "text is no text: it has a zero byte at offset 122.");
            continue;
        }
        let bad = |what: String| vec![format!("Line 2 has an invalid character. It is {what} in column 41.")];
        let length =
            |line: u8| format!("Line {line} has the wrong length. It has 40 cells; a 9x9 puzzle has 81.");
        let middle = match byte {
            b'1'..=b'9' => vec![format!("2 {before}{}{}", char::from(byte), &after[1..])],
            b'.' | b'0' | b'_' | b'*' | b'-' | b'?' | b'x' | b'X' => {
                vec![format!("2 {before}.{}", &after[1..])]
            }
            b' ' | b'\t' | b',' | b';' | b'#' => vec![length(2)],
            b'\n' => vec![length(2), length(3)],
            b'!'..=b'~' => bad(format!("'{}'", char::from(byte))),
            0..=127 => bad(format!("U+{byte:04X}")),
            _ => bad(format!("byte 0x{byte:02X}")),
        };
        let last = if byte == b'\n' { 4 } else { 3 };
        let wanted = [vec![format!("1 {NINE}")], middle, vec![format!("{last} {NINE}")]].concat();
        assert_eq!(puzzles(&text, &Hint::default()), wanted, "byte {byte}");
    }
}

/// Length is counted in characters, where the text is UTF-8, and in bytes where it is not.
#[test]
fn characters_of_several_bytes_count_once() {
    let with = |part: &[u8], cells: usize| [part, ".".repeat(cells).as_bytes()].concat();
    let cases: &[(Vec<u8>, &str)] = &[
        (with("é".as_bytes(), 80), "Line 2 has an invalid character. It is 'é' in column 1."),
        (with("é".as_bytes(), 79), "Line 2 has the wrong length. It has 80 cells; a 9x9 puzzle has 81."),
        (with("5€é".as_bytes(), 78), "Line 2 has an invalid character. It is U+20AC in column 2."),
        (with("\u{200D}".as_bytes(), 80), "Line 2 has an invalid character. It is U+200D in column 1."),
        (with("🦀".as_bytes(), 77), "Line 2 has the wrong length. It has 78 cells; a 9x9 puzzle has 81."),
        (with(b"5\xE9", 79), "Line 2 has an invalid character. It is byte 0xE9 in column 2."),
        (with(b"\xE9", 79), "Line 2 has the wrong length. It has 80 cells; a 9x9 puzzle has 81."),
        (with("é!\u{7}".as_bytes(), 78), "Line 2 has an invalid character. It is 'é' in column 1."),
    ];
    for (line, wanted) in cases {
        let text = [format!("{NINE}\n").as_bytes(), line, b"\n"].concat();
        assert_eq!(puzzles(&text, &Hint::default())[1], *wanted, "{}", String::from_utf8_lossy(line));
    }
}

/// Every sentence and code about a puzzle of a text, as the answer to it.
#[test]
fn every_sentence_is_an_answer_in_its_place() {
    let unsolvable = "123....4........";
    let clash = |cells: &str| format!("Line 2 breaks the rules: {cells}.");
    let unique = Task { question: Question::Unique, ..Task::default() };
    // Enough for the good puzzles.
    let limited = Task { strategy: strategy("backtracking"), node_limit: 15, ..Task::default() };
    let default = Task::default();
    let cases: &[(Task, &str, String, &str)] = &[
        (
            default,
            "12",
            "Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.".into(),
            "wrong_length",
        ),
        (
            default,
            "12..q...........",
            "Line 2 has an invalid character. It is 'q' in column 5.".into(),
            "invalid_character",
        ),
        (default, "1..1............", clash("1 appears twice in row 1"), "rule_broken"),
        (default, "1.......1.......", clash("1 appears twice in column 1"), "rule_broken"),
        (default, "1....1..........", clash("1 appears twice in box 1"), "rule_broken"),
        (default, unsolvable, "Line 2 has no solution.".into(), "no_solution"),
        (unique, "1...............", "Line 2 has more than one solution.".into(), "not_unique"),
        (unique, unsolvable, "Line 2 has no solution.".into(), "no_solution"),
        (limited, "................", "Line 2 was given up after 15 nodes.".into(), "gave_up"),
        // Length comes before characters, characters before rules, rules before search.
        (
            default,
            "xx1..1",
            "Line 2 has the wrong length. It has 6 cells; a 4x4 puzzle has 16.".into(),
            "wrong_length",
        ),
        (
            default,
            "11.q............",
            "Line 2 has an invalid character. It is 'q' in column 4.".into(),
            "invalid_character",
        ),
        (default, "123....41.......", clash("1 appears twice in column 1"), "rule_broken"),
    ];
    for (task, line, sentence, code) in cases {
        let text = format!("{FOUR}\n{line}\n\n{FOUR}\n");
        let error = format!("error: {sentence}");
        let wanted = [FOUR_SOLVED, &error, FOUR_SOLVED];
        assert_eq!(answers(text.as_bytes(), &Hint::default(), *task), wanted, "{line}");

        let json = Task { form: OutputForm::Jsonl, ..*task };
        let object = &answers(text.as_bytes(), &Hint::default(), json)[1];
        let json: serde_json::Value = serde_json::from_str(object).unwrap();
        assert_eq!(
            (&json["error"]["code"], &json["error"]["message"]),
            (&(*code).into(), &sentence.as_str().into())
        );
        assert_eq!(json["line"], 2);
    }
}

#[test]
fn a_puzzle_by_itself_has_the_same_sentences_without_a_line() {
    let order = Order::NINE;
    let mut clash = Grid::empty(order);
    clash.digits_mut()[9..18].copy_from_slice(&[7, 0, 0, 0, 0, 0, 0, 0, 7]);
    let cases = [
        (Problem::Empty, "The puzzle is empty.", "empty"),
        (Problem::WrongLength, "The puzzle has the wrong length.", "wrong_length"),
        (
            Problem::CellCount { cells: 80 },
            "The puzzle has 80 cells; a puzzle has 1, 16, 81, 256 or 625.",
            "wrong_length",
        ),
        (
            Problem::RuleBroken(clash.first_conflict().unwrap()),
            "The puzzle breaks the rules: 7 appears twice in row 2.",
            "rule_broken",
        ),
        (Problem::NoSolution, "The puzzle has no solution.", "no_solution"),
        (Problem::NotUnique, "The puzzle has more than one solution.", "not_unique"),
        (Problem::GaveUp { nodes: 1_000_000 }, "The puzzle was given up after 1000000 nodes.", "gave_up"),
        (Problem::InvalidBlockSize, "Invalid block size.", "invalid_block_size"),
    ];
    for (problem, sentence, code) in cases {
        let error = PuzzleError { problem, line: None };
        assert_eq!((error.to_string().as_str(), error.code()), (sentence, code));
    }
}

#[test]
fn checking_says_which_grids_are_solved() {
    let spoiled = NINE_SOLVED.replacen("53", "35", 1);
    let cases: &[(String, &[&str])] = &[
        (
            format!("{NINE_SOLVED}\n{NINE}\n{spoiled}\n12\n"),
            &[
                "Line 1 is correctly solved.",
                "Line 2 is NOT solved.",
                "Line 3 is NOT solved.",
                "Line 4 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.",
            ],
        ),
        (
            format!(
                "puzzle,solution\n{NINE},{NINE_SOLVED}\n{NINE},{spoiled}\n{NINE},12\n{NINE_SOLVED},\n{spoiled},{NINE_SOLVED}\n"
            ),
            &[
                "Line 2 is correctly solved.",
                "Line 3 is NOT solved.",
                "Line 4 has a wrong solution beside it. It has 2 cells; a 9x9 solution has 81.",
                "Line 5 is correctly solved.",
                "Line 6 is NOT solved.",
            ],
        ),
        // A second column that is no solution is none.
        (format!("puzzle,rating\n{NINE_SOLVED},1.5\n"), &["Line 2 is correctly solved."]),
        (format!("id,board,result\n1,{NINE},{NINE_SOLVED}\n"), &["Line 2 is correctly solved."]),
        (
            format!("answer,puzzle\n\"{NINE_SOLVED}\",\"{NINE}\"\n{NINE},{NINE}\n"),
            &["Line 2 is correctly solved.", "Line 3 is NOT solved."],
        ),
    ];
    for (text, wanted) in cases {
        let mut reader = reader(text.as_bytes(), &Hint::default()).unwrap();
        let chunk = reader.next_chunk().unwrap().unwrap();
        let mut sentences = Vec::new();
        let cancel = AtomicBool::new(false);
        check_block(reader.format(), chunk.block(), &cancel, |check| sentences.push(check.to_string()))
            .unwrap();
        assert_eq!(sentences, *wanted, "{text}");
    }
    let alone = sudoku_stream::answer::check_grid(&Grid::empty(Order::NINE), None);
    assert_eq!(alone.to_string(), "The puzzle is NOT solved.");
}

#[test]
fn answers_come_one_a_puzzle_and_in_order() {
    // Puzzle `k` has `k` in its first row's first cells, so that no two answers of a round are equal.
    let mut text = String::new();
    let mut wanted = Vec::new();
    for line in 1..=3000 {
        let (puzzle, answer) = match line % 5 {
            0 => (
                "nonsense".to_owned(),
                format!("error: Line {line} has the wrong length. It has 8 cells; a 4x4 puzzle has 16."),
            ),
            1 => (FOUR.to_owned(), FOUR_SOLVED.to_owned()),
            2 => (swapped(FOUR), swapped(FOUR_SOLVED)),
            3 => ("123....4........".to_owned(), format!("error: Line {line} has no solution.")),
            _ => ("# nothing".to_owned(), String::new()),
        };
        text += &(puzzle + if line % 7 == 0 { " rated 1.5\r\n" } else { "\n" });
        wanted.extend(Some(answer).filter(|answer| !answer.is_empty()));
    }
    assert_eq!(answers(text.as_bytes(), &Hint::default(), Task::default()), wanted);
}

/// The same with 1 and 2 exchanged.
fn swapped(cells: &str) -> String {
    cells
        .chars()
        .map(|c| {
            if c == '1' {
                '2'
            } else if c == '2' {
                '1'
            } else {
                c
            }
        })
        .collect()
}

#[test]
fn lines_by_themselves_are_read_as_in_a_text() {
    let format = |notation| Format::new(notation, Order::NINE, Alphabet::Letters).unwrap();
    let read = |notation, line: &str| {
        let mut grid = Grid::empty(Order::NINE);
        let format = format(notation);
        format
            .read_line(line.as_bytes(), 7, &mut grid)
            .map(|()| cells(&format, &grid))
            .map_err(|e| e.to_string())
    };
    let length = Err("Line 7 has the wrong length.".to_owned());
    for end in ["", "\n", "\r\n"] {
        for notation in [Notation::Lines, Notation::Header] {
            assert_eq!(read(notation, &format!("{NINE}{end}")), Ok(NINE.to_owned()), "{notation} {end:?}");
        }
        assert_eq!(read(Notation::Lines, &format!("{NINE} easy{end}")), Ok(NINE.to_owned()));
        assert_eq!(read(Notation::Header, &format!("{NINE} easy{end}")), length);
        // Nothing is passed over.
        let none =
            length.clone().map_err(|sentence: String| sentence + " It has 0 cells; a 9x9 puzzle has 81.");
        assert_eq!(read(Notation::Lines, end), none);
        assert_eq!(read(Notation::Lines, &format!("# easy{end}")), none);
    }
    let zero = NINE.replacen('.', "0", 1);
    let sentence = "Line 7 has an invalid character. It is '0' in column 3.";
    assert_eq!(read(Notation::Header, &zero), Err(sentence.to_owned()));
    assert_eq!(read(Notation::Lines, &zero), Ok(NINE.to_owned()));
}

#[test]
fn names_are_read_back_and_others_are_refused() {
    for (name, notation) in Notation::ALL {
        assert_eq!(name.parse(), Ok(notation));
        assert_eq!(notation.to_string(), name);
    }
    assert_eq!(
        "sdk".parse::<Notation>().unwrap_err().to_string(),
        "`sdk` is no notation. Use lines, header, grid, triples, csv, cells or jsonl."
    );
    for name in ["letters", "ascii", "alpha", "hex", "abcd", "x", "123456789", "_*;0", "ponmlkjihgfedcba"] {
        assert_eq!(name.parse::<Alphabet>().unwrap().to_string(), name);
    }
    let bad = [
        "", "ab", "aabc", "ab c", "abc.", "abc#", "ab,c", "abc\"", "abc|", "abc-", "abc+", "abc=", "abcé",
        "ab\tc",
    ];
    for name in bad {
        assert!(name.parse::<Alphabet>().is_err(), "{name}");
    }
}

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder)
}

/// The files of a fixture folder, as their names.
fn files(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fixtures(folder)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn each_bad_file_gives_its_sentence() {
    let table = fs::read_to_string(fixtures("bad").join("sentences.tsv")).unwrap();
    let mut named = BTreeSet::from(["README.md".to_owned(), "sentences.tsv".to_owned()]);
    for row in table.lines() {
        let [file, sentence, code] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        named.insert(file.to_owned());
        let open = || Source::open(&fixtures("bad").join(file), true).unwrap().read(&Hint::default());
        let mut reader = match open() {
            Ok(reader) => reader,
            Err(error) => {
                assert_eq!((error.to_string().as_str(), code), (sentence, "invalid_block_size"), "{file}");
                continue;
            }
        };
        let format = reader.format().clone();
        assert_eq!(format.notation(), Notation::Header, "{file}");
        let found = validate_block(&format, reader.next_chunk().unwrap().unwrap().block(), 9);
        assert_eq!((found.puzzles, found.bad), (6, 1), "{file}");
        assert_eq!(
            (found.errors[0].to_string().as_str(), found.errors[0].code()),
            (sentence, code),
            "{file}"
        );

        // Keeping going, the bad line is answered by its sentence and the others are solved.
        let answers = answer_all(open().unwrap(), Task::default());
        let text = fs::read_to_string(fixtures("bad").join(file)).unwrap();
        assert_eq!(answers.len(), 6, "{file}");
        let bad_line: usize = sentence.split(' ').nth(1).unwrap().parse().unwrap();
        for (index, (answer, puzzle)) in answers.iter().zip(text.lines().skip(1)).enumerate() {
            if index + 2 == bad_line {
                assert_eq!(*answer, format!("error: {sentence}"));
            } else {
                assert_solves(&format, answer, puzzle);
            }
        }
    }
    assert_eq!(named, files("bad"));
}

fn assert_solves(format: &Format, answer: &str, puzzle: &str) {
    let grid = |text: &str| {
        let mut grid = Grid::empty(format.order());
        format.read_cells(text.as_bytes(), &mut grid).unwrap_or_else(|error| panic!("{error:?}: {text}"));
        grid
    };
    assert!(grid(answer).solves(&grid(puzzle)), "{answer} does not solve {puzzle}");
}

#[test]
fn each_good_file_is_read_and_solved() {
    let formats = [
        ("sixteen.lines", "lines 16x16 letters"),
        ("twenty_five.lines", "lines 25x25 letters"),
        ("sixteen_ascii.lines", "lines 16x16 ascii"),
        ("nine.header", "header 9x9 letters"),
        ("four.header", "header 4x4 letters"),
        ("one.grid", "grid 9x9 letters"),
        ("two.grid", "grid 9x9 letters"),
        ("one.triples", "triples 9x9 letters"),
        ("solutions.csv", "csv 9x9 letters"),
        ("lines.gz", "lines 9x9 letters"),
        ("lines.zst", "lines 9x9 letters"),
        ("lines.bz2", "lines 9x9 letters"),
        ("lines.xz", "lines 9x9 letters"),
        ("lines.zip", "lines 9x9 letters"),
    ];
    let mut named = BTreeSet::from(["README.md".to_owned()]);
    for (file, wanted) in formats {
        named.extend([file.to_owned(), format!("{file}.answers")]);
        let path = fixtures("good").join(file);
        let expected = fs::read_to_string(path.with_file_name(format!("{file}.answers"))).unwrap();
        for may_map in [true, false] {
            let open = || Source::open(&path, may_map).unwrap().read(&Hint::default()).unwrap();
            let format = open().format().clone();
            assert_eq!(
                format!("{} {} {}", format.notation(), format.order(), format.alphabet()),
                wanted,
                "{file}"
            );

            // The full grids from which the file was made solve its puzzles, by the verifier's word.
            let mut reader = open();
            let chunk = reader.next_chunk().unwrap().unwrap();
            let mut records = Records::new(&format, chunk.block().text, chunk.block().first_line);
            let mut puzzle = Grid::empty(format.order());
            for answer in expected.lines() {
                let record = records.read(&mut puzzle).unwrap();
                assert_eq!(record.error, None, "{file}");
                assert_solves(&format, answer, &cells(&lines_like(&format), &puzzle));
                assert!(record.given.is_none_or(|given| given == answer.as_bytes()), "{file}");
            }
            assert!(records.read(&mut puzzle).is_none(), "{file}");

            let task = Task { question: Question::Unique, ..Task::default() };
            assert_eq!(answer_all(open(), task), expected.lines().collect::<Vec<_>>(), "{file}");
        }
    }
    assert_eq!(named, files("good"));
}

/// The format of the same puzzles one a line.
fn lines_like(format: &Format) -> Format {
    Format::new(Notation::Lines, format.order(), format.alphabet().clone()).unwrap()
}

#[test]
fn a_block_may_begin_at_any_line() {
    let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).unwrap();
    let solvers = Solvers::new(format, Task::default());
    let text = format!("{NINE}\n\nx\n");
    let block = Block { text: text.as_bytes(), first_line: 500_001 };
    let written = solvers.write_answers(block, &AtomicBool::new(false)).unwrap();
    let wanted = format!(
        "{NINE_SOLVED}\nerror: Line 500003 has the wrong length. It has 1 cell; a 9x9 puzzle has 81.\n"
    );
    assert_eq!(String::from_utf8(written.text).unwrap(), wanted);
    assert_eq!((written.tally.answers, written.tally.error_count()), (2, 1));
    assert_eq!(written.tally.errors.get("wrong_length"), Some(&1));
}
