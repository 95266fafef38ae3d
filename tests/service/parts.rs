//! Long texts in parts: each read like the whole, by the format of the first.

use sudoku_stream::service::proto::{
    GetPuzzleRequest, Notation, PuzzleError, TextOptions, ValidateRequest, ValidateResponse,
};
use tonic::Code;
use tonic::transport::Channel;

use crate::errors::details;
use crate::harness::server::{config, start};

type Client = sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient<Channel>;

const GOOD: &str = "12....1.........";
const OTHER: &str = "....3......4....";
/// Two equal digits in a row.
const CLASH: &str = "11..............";

/// A text of one puzzle a line.
struct Whole {
    /// The lines that a first part has at least, so that it shows the format.
    begin: usize,
    lines: Vec<String>,
}

impl Whole {
    fn new(begin: usize, lines: &[&str]) -> Self {
        Self { begin, lines: lines.iter().map(|&line| line.to_owned()).collect() }
    }

    /// The text of some of its lines.
    fn part(&self, from: usize, to: usize) -> String {
        self.lines[from..to].iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A puzzle in numbers.
fn numbers(puzzle: &str, delimiter: &str) -> String {
    puzzle.replace('.', "0").chars().map(|digit| digit.to_string()).collect::<Vec<_>>().join(delimiter)
}

/// Texts whose later lines look like a heading, a header or another notation where a part begins.
fn wholes() -> Vec<(Notation, Whole)> {
    let (good, other, clash) = (numbers(GOOD, ","), numbers(OTHER, ","), numbers(CLASH, ","));
    let short = &good[2..];
    let quiz = |puzzle: &str| format!("{{\"q\":\"{puzzle}\",\"n\":3}}");
    vec![
        (
            Notation::Lines,
            Whole::new(
                2,
                &[
                    "\u{feff}# a list",
                    GOOD,
                    OTHER,
                    "",
                    "  # note",
                    GOOD,
                    CLASH,
                    "3",
                    "puzzle",
                    "12",
                    "",
                    GOOD,
                    "\u{feff}12....1.........",
                    "1 2 3 4",
                    "............",
                    GOOD,
                    "# end",
                    "",
                ],
            ),
        ),
        (
            Notation::Header,
            Whole::new(
                2,
                // Only `.` is a blank, and white space is no end.
                &[
                    "2",
                    GOOD,
                    OTHER,
                    CLASH,
                    "1200001000000000",
                    "12....1......... easy",
                    "",
                    "2",
                    "3",
                    GOOD,
                    "12....1........*",
                    "puzzle",
                    OTHER,
                ],
            ),
        ),
        (
            Notation::Csv,
            Whole::new(
                3,
                &[
                    "id;level;puzzle;solution",
                    "1;easy;12....1.........;1234341221434321",
                    "2;hard;....3......4....;",
                    "3;hard;11..............;",
                    "four",
                    "id;level;puzzle;solution",
                    "some;words;and;others",
                    "5;easy;12....1.........;?",
                    "12....1.........",
                    "a;b",
                    "",
                    "6;\"a;b\";....3......4....;",
                    "7;x;12....x.........;1",
                    "8;x;q2....1.........;1",
                ],
            ),
        ),
        (
            // Without a heading, and with a solution that looks like a puzzle.
            Notation::Csv,
            Whole::new(
                6,
                &[
                    "1234341221434321,12....1.........",
                    "1234341221434321,12....1.........",
                    "1234341221434321,.....41.........",
                    "1234341221434321,....3......4....",
                    "1234341221434321,1234341221434321",
                    "1234341221434321,11..............",
                    "puzzle,solution",
                    "1234341221434321",
                    "a,b",
                    ",",
                    "x,12....1.........",
                ],
            ),
        ),
        (Notation::Cells, {
            let rows = [&good, &other, &clash, short, &format!("7,{good}"), &format!("{good},"), "1,2,3"];
            Whole::new(2, &rows)
        }),
        (Notation::Cells, {
            // pandas: a heading and a column of row numbers. The rows that are left out after it
            // could be cells of their own.
            let heading: Vec<String> = (0..16).map(|column| column.to_string()).collect();
            let row = |number: usize, cells: &str| format!("{number},{cells}");
            let rows = [
                format!(",{}", heading.join(",")),
                row(0, &good),
                row(1, &other),
                row(2, &good),
                row(3, &other),
                row(4, &good),
                row(5, &good),
                row(6, &good.replacen('1', "q", 1)),
                row(7, &clash),
                format!(",{}", heading.join(",")),
                good.clone(),
                row(8, short),
                row(9, &good),
            ];
            Whole { begin: 7, lines: rows.to_vec() }
        }),
        (Notation::Jsonl, {
            let rows = [
                quiz(GOOD),
                quiz(OTHER),
                quiz(CLASH),
                format!("{{\"other\":\"{GOOD}\"}}"),
                "{\"q\" \"x\"}".to_owned(),
                GOOD.to_owned(),
                quiz("12"),
                "{\"q\":[1,2,0,0,0,0,1,0,0,0,0,0,0,0,0,0]}".to_owned(),
                String::new(),
                quiz("12....!........."),
            ];
            Whole { begin: 1, lines: rows.to_vec() }
        }),
    ]
}

async fn validate(
    client: &mut Client,
    puzzle: String,
    options: Option<TextOptions>,
    first_line: u64,
) -> ValidateResponse {
    let request = ValidateRequest { options, puzzle, first_line, ..Default::default() };
    client.validate(request).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_have_the_errors_of_the_whole_wherever_it_is_split() {
    let server = start(config()).await;
    let client = &mut server.client().await;
    for (notation, whole) in wholes() {
        let lines = whole.lines.len();
        let all = validate(client, whole.part(0, lines), None, 0).await;
        let format = all.format.clone().unwrap();
        assert_eq!(format.notation(), notation);
        assert!(!all.valid && all.bad_puzzles >= 3 && all.puzzles > all.bad_puzzles, "{notation:?}: {all:?}");
        // Every split into three, the last two of which may be of one line.
        for first in whole.begin..lines {
            for second in first..=lines {
                let mut sum = ValidateResponse { valid: true, ..Default::default() };
                let mut options = None;
                for (from, to) in [(0, first), (first, second), (second, lines)] {
                    let line = from as u64 + 1;
                    let found = validate(client, whole.part(from, to), options.clone(), line).await;
                    let what = || format!("{notation:?}, lines {} to {to} of {lines}", from + 1);
                    if from == 0 {
                        assert_eq!(found.format.as_ref(), Some(&format), "{}", what());
                        options.clone_from(&found.format);
                    } else {
                        let wanted = (found.puzzles > 0).then_some(&format);
                        assert_eq!(found.format.as_ref(), wanted, "{}", what());
                    }
                    assert_eq!(found.valid, found.bad_puzzles == 0 && found.errors.is_empty(), "{}", what());
                    sum.valid &= found.valid;
                    sum.puzzles += found.puzzles;
                    sum.bad_puzzles += found.bad_puzzles;
                    sum.errors.extend(found.errors);
                }
                sum.format = Some(format.clone());
                assert_eq!(sum, all, "{notation:?} after lines {first} and {second}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_puzzles_of_parts_are_those_of_the_whole() {
    let server = start(config()).await;
    let client = &mut server.client().await;
    for (notation, whole) in wholes() {
        let lines = whole.lines.len();
        let all = validate(client, whole.part(0, lines), None, 0).await;
        let mut get = async |puzzle: String, options: Option<TextOptions>, first_line, index| {
            let request = GetPuzzleRequest {
                puzzle: Some(puzzle),
                options,
                first_line,
                index: Some(index),
                ..Default::default()
            };
            let got = client.get_puzzle(request).await.map(tonic::Response::into_inner);
            got.map(|got| (got.puzzle, got.line))
                .map_err(|status| (status.code(), status.message().to_owned()))
        };
        let mut wanted = Vec::new();
        for index in 1..=all.puzzles {
            wanted.push(get(whole.part(0, lines), None, 0, index).await);
        }
        for split in whole.begin..lines {
            let mut index = 0;
            let mut found = Vec::new();
            for (text, line, options) in [
                (whole.part(0, split), 1, None),
                (whole.part(split, lines), split as u64 + 1, all.format.clone()),
            ] {
                index = 1;
                loop {
                    let got = get(text.clone(), options.clone(), line, index).await;
                    let is_beyond = matches!(&got, Err((Code::InvalidArgument, _)));
                    let is_empty = matches!(&got, Err((Code::FailedPrecondition, words)) if words == "The puzzle is empty.");
                    if is_beyond || is_empty {
                        break;
                    }
                    found.push(got);
                    index += 1;
                }
            }
            assert!(index > 0);
            assert_eq!(found, wanted, "{notation:?} after line {split}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_errors_of_a_part_name_lines_even_of_one_puzzle() {
    let server = start(config()).await;
    let client = &mut server.client().await;
    let said = |found: &ValidateResponse| -> Vec<(String, u64)> {
        found.errors.iter().map(|PuzzleError { message, line, .. }| (message.clone(), *line)).collect()
    };
    let short = || "123".to_owned();
    let words = "The puzzle has 3 cells; a puzzle has 1, 16, 81, 256 or 625.".to_owned();
    assert_eq!(said(&validate(client, short(), None, 0).await), [(words, 0)]);
    let line = |line: u64| {
        [(format!("Line {line} has the wrong length. It has 3 cells; a 9x9 puzzle has 81."), line)]
    };
    for first in [1, 2, 500_000, 1 << 62] {
        assert_eq!(said(&validate(client, short(), None, first).await), line(first));
    }
    assert_eq!(said(&validate(client, "# note\n\n123\n".to_owned(), None, 7).await), line(9));

    // An empty first part is an error, an empty part behind it is none.
    let empty = validate(client, "# note\n".to_owned(), None, 1).await;
    assert_eq!((empty.valid, said(&empty)), (false, vec![("The puzzle is empty.".to_owned(), 0)]));
    let tail = validate(client, "# note\n".to_owned(), None, 2).await;
    assert_eq!(tail, ValidateResponse { valid: true, ..Default::default() });

    // Without a format a part is detected as any text, so its heading is one.
    let table = format!("id,puzzle\n1,{GOOD}\n");
    let found = validate(client, table, None, 100).await;
    assert_eq!((found.puzzles, found.valid), (1, true));

    // What is refused is named by its line in the whole, too.
    let old = format!("{GOOD}\r{GOOD}\r");
    let request = ValidateRequest { puzzle: old, first_line: 1001, ..Default::default() };
    let status = client.validate(request).await.unwrap_err();
    assert!(status.message().starts_with("Line 1001 goes on behind carriage returns; "), "{status}");

    let request = ValidateRequest { puzzle: short(), first_line: (1 << 62) + 1, ..Default::default() };
    let status = client.validate(request).await.unwrap_err();
    assert_eq!(status.message(), "Lines are numbered up to 4611686018427387904.");
    let details = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    assert_eq!(details.bad_request().unwrap().field_violations[0].field, "first_line");

    // A format that makes no sense is refused for a part as for a whole.
    let options = TextOptions {
        notation: Notation::Lines.into(),
        alphabet: "hex".to_owned(),
        order: 5,
        ..Default::default()
    };
    let request =
        ValidateRequest { puzzle: short(), options: Some(options), first_line: 9, ..Default::default() };
    let status = client.validate(request).await.unwrap_err();
    assert_eq!(status.message(), "The alphabet hex does not fit 25x25 puzzles.");
}
