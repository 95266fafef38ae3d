//! Every notation, in and out, and every sentence about bad input, through the path that both
//! binaries take.

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

/// Rows of a grid text.
fn rows(cells: &str, side: usize) -> Vec<String> {
    cells.as_bytes().chunks(side).map(|row| String::from_utf8(row.to_vec()).unwrap()).collect()
}

/// The same text in `hex`, which is in `letters`: each value is written as the one before it.
fn in_hex(text: &str) -> String {
    let letters = "123456789ABCDEFG";
    text.chars().map(|c| letters.find(c).map_or(c, |at| char::from(b"0123456789ABCDEF"[at]))).collect()
}

const AMBIGUOUS_ALPHABET: &str = "The text fits the alphabets hex and letters, which read its 0 differently: \
    as the value 1, or as a blank. Say which with --alphabet hex or --alphabet letters.";

const AMBIGUOUS_LINES: &str = "The lines of 16 characters fit 4x4 puzzles, one a line, and the rows of 16x16 \
    puzzles. Say which with --notation lines or --notation grid.";

/// Lists that people have are read as what they are, or refused.
#[test]
fn large_lists_of_both_sizes_are_told_apart() {
    // Blanks say nothing, as far as is looked.
    assert_eq!(
        detected(format!("{}\n", ".".repeat(16)).repeat(8000).as_bytes(), &Hint::default()),
        AMBIGUOUS_LINES
    );
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
fn comments_of_any_length_are_passed_over() {
    // Longer than is looked at, at a time.
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
}

/// Not in the corpus, because a damaged line of such numbers is taken for a row.
#[test]
fn numbers_of_rows_and_columns_are_no_cells() {
    let labelled = |names: [&str; 9]| {
        let row = |(name, row): (&str, String)| {
            let cells: String = row.chars().flat_map(|cell| [',', cell]).collect();
            format!("{name}{cells}\n")
        };
        ",0,1,2,3,4,5,6,7,8\n".to_owned() + &names.into_iter().zip(rows(NINE, 9)).map(row).collect::<String>()
    };
    let numbered = labelled(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    let wanted = [2, 13, 23].map(|line| format!("{line} {NINE}"));
    assert_eq!(puzzles(format!("{numbered}\n{numbered}{numbered}").as_bytes(), &Hint::default()), wanted);
    let from_below = labelled(["R9", "R8", "R7", "R6", "R5", "R4", "R3", "R2", "R1"]);
    assert_eq!(puzzles(from_below.as_bytes(), &Hint::default()), [format!("2 {NINE}")]);
}

/// Not in the corpus, because the first mark is lost where the text is an argument.
#[test]
fn marks_below_the_first_line_are_named() {
    let text = format!("\n\u{FEFF}{0}\n\n\u{FEFF}{0}\n", rows(NINE, 9).join("\n"));
    let bad =
        |line| format!("Line {line} has an invalid character. It is U+FEFF, a byte-order mark, in column 1.");
    assert_eq!(puzzles(text.as_bytes(), &Hint::default()), [2, 12].map(bad));
}

/// Not in the corpus, because an object that is indented is refused.
#[test]
fn an_object_may_have_rows_and_rulers() {
    let ruler = "+---+---+---+";
    let bands: Vec<String> = rows(NINE, 9).chunks(3).map(|band| band.join("\\n")).collect();
    let object =
        format!("{{\"puzzle\":\"{ruler}\\n{}\\n{ruler}\\n\"}}\n", bands.join(&format!("\\n{ruler}\\n")));
    let wanted = [1, 2].map(|line| format!("{line} {NINE}"));
    assert_eq!(puzzles(object.repeat(2).as_bytes(), &Hint::default()), wanted);
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
    // Puzzle `k` has `k` in its first row's first cells, so that no two answers of a round are
    // equal.
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

            // The full grids from which the file was made solve its puzzles, by the verifier's
            // word.
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
