//! Texts of unary calls: as bytes or as a string, one puzzle of them, and their formats.

use std::collections::HashSet;
use std::fmt::Debug;

use bytes::Bytes;
use sudoku_stream::service::proto::{
    CheckRequest, CountRequest, GetPuzzleRequest, GetPuzzleResponse, HintRequest, Notation, SolveRequest,
    TextOptions, TraceRequest, ValidateRequest, ValidateResponse,
};
use tonic::{Code, Status};

use crate::errors::details;
use crate::harness::lines;
use crate::harness::server::{Running, all_of, config, nearly_solved, start};

/// The same text as bytes and as a string.
type Twins = (Bytes, String);

fn as_bytes(text: &str) -> Twins {
    (Bytes::copy_from_slice(text.as_bytes()), String::new())
}

fn as_string(text: &str) -> Twins {
    (Bytes::new(), text.to_owned())
}

fn twice(text: &str) -> Twins {
    (as_bytes(text).0, as_string(text).1)
}

/// The responses of all methods that take a text, printed, or their statuses.
async fn all_methods(server: &Running, (text, puzzle): Twins) -> [(&'static str, Result<String, Status>); 7] {
    fn printed<R: Debug>(response: Result<tonic::Response<R>, Status>) -> Result<String, Status> {
        response.map(|response| format!("{:?}", response.into_inner()))
    }
    let mut client = server.client().await;
    let (text, puzzle) = (|| text.clone(), || puzzle.clone());
    let solve = SolveRequest { text: text(), puzzle: puzzle(), ..Default::default() };
    let validate = ValidateRequest { text: text(), puzzle: puzzle(), ..Default::default() };
    let check = CheckRequest { text: text(), puzzle: puzzle(), ..Default::default() };
    let count = CountRequest { text: text(), puzzle: puzzle(), ..Default::default() };
    let trace = TraceRequest { text: text(), puzzle: puzzle(), ..Default::default() };
    let hint = HintRequest { text: text(), puzzle: puzzle(), ..Default::default() };
    let get = GetPuzzleRequest {
        text: Some(text()).filter(|text| !text.is_empty()),
        puzzle: Some(puzzle()).filter(|puzzle| !puzzle.is_empty()),
        ..Default::default()
    };
    let traced = match client.trace(trace).await {
        Ok(stream) => {
            let (steps, end) = all_of(stream.into_inner()).await;
            end.map(|()| format!("{steps:?}"))
        }
        Err(status) => Err(status),
    };
    [
        ("Solve", printed(client.solve(solve).await)),
        ("Validate", printed(client.validate(validate).await)),
        ("Check", printed(client.check(check).await)),
        ("Count", printed(client.count(count).await)),
        ("Trace", traced),
        ("Hint", printed(client.hint(hint).await)),
        ("GetPuzzle", printed(client.get_puzzle(get).await)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_may_come_as_bytes_or_as_a_string_but_not_as_both() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    for text in [puzzle.as_str(), "# easy\n\n3\n.........\n", "\u{feff}12..\n34..\n....\n....\n", "12"] {
        let bytes = all_methods(&server, as_bytes(text)).await;
        let string = all_methods(&server, as_string(text)).await;
        for ((method, bytes), (_, string)) in bytes.into_iter().zip(string) {
            match (bytes, string) {
                (Ok(bytes), Ok(string)) => assert_eq!(bytes, string, "{method} {text}"),
                (Err(bytes), Err(string)) => assert_eq!(bytes.message(), string.message(), "{method} {text}"),
                different => panic!("{method} {text}: {different:?}"),
            }
        }
    }
    for (method, response) in all_methods(&server, twice(puzzle)).await {
        let status = response.expect_err(method);
        let details = details(&status, Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, "puzzle", "{method}");
        assert_eq!(
            status.message(),
            "`text` and `puzzle` hold the same thing: send one of them.",
            "{method}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_field_that_was_sent_is_the_field_that_is_named() {
    let server = start(config()).await;
    let two = lines(&nearly_solved(2));
    // As bytes and as a string, a text that two alphabets fit, and two puzzles where one is wanted.
    let hex = format!("F0{}", ".".repeat(254));
    for (twins, field) in [(as_bytes as fn(&str) -> Twins, "text"), (as_string, "puzzle")] {
        for (method, response) in all_methods(&server, twins(&two)).await {
            if matches!(method, "Count" | "Trace" | "Hint") {
                let status = response.expect_err(method);
                let details = details(&status, Code::InvalidArgument, "FIELD_INVALID");
                assert_eq!(details.bad_request().unwrap().field_violations[0].field, field, "{method}");
                assert!(status.message().starts_with(&format!("{method} takes one ")), "{status:?}");
            } else {
                response.expect(method);
            }
        }
        for (method, response) in all_methods(&server, twins(&hex)).await {
            let details = details(&response.expect_err(method), Code::InvalidArgument, "FIELD_INVALID");
            assert_eq!(details.bad_request().unwrap().field_violations[0].field, "options.alphabet");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold_for_strings_too() {
    let mut small = config();
    small.limits.message_bytes = 2_000;
    small.limits.message_lines = 10;
    let server = start(small).await;
    for (method, response) in all_methods(&server, as_string(&"\n".repeat(11))).await {
        details(&response.expect_err(method), Code::ResourceExhausted, "MESSAGE_LINES_REACHED");
    }
    for (method, response) in all_methods(&server, as_string(&".".repeat(2_001))).await {
        details(&response.expect_err(method), Code::ResourceExhausted, "MESSAGE_BYTES_REACHED");
    }
}

async fn get(server: &Running, request: GetPuzzleRequest) -> Result<GetPuzzleResponse, Status> {
    server.client().await.get_puzzle(request).await.map(tonic::Response::into_inner)
}

fn puzzle_of(text: &str, index: Option<u64>) -> GetPuzzleRequest {
    GetPuzzleRequest { puzzle: Some(text.to_owned()), index, ..Default::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_puzzle_of_a_text_is_returned_by_number_or_at_random() {
    let server = start(config()).await;
    let puzzles = nearly_solved(4);
    let clash = format!("55{}", ".".repeat(79));
    let text = format!("{}\n\n# bad ones\n12\n{}\n{clash}\n{}\n", puzzles[0], puzzles[1], puzzles[2]);
    for (index, line, puzzle) in [(1, 1, 0), (3, 5, 1), (5, 7, 2)] {
        let got = get(&server, puzzle_of(&text, Some(index))).await.unwrap();
        assert_eq!((got.index, got.count, got.line, got.order), (index, 5, line, 3));
        assert_eq!(got.puzzle, puzzles[puzzle]);
        let format = got.format.unwrap();
        assert_eq!(
            (format.notation(), format.alphabet.as_str(), format.order),
            (Notation::Lines, "letters", 3)
        );
    }
    // Each good one in turn, and never a bad one.
    let mut seen = HashSet::new();
    while seen.len() < 3 {
        let got = get(&server, puzzle_of(&text, None)).await.unwrap();
        assert!([1, 3, 5].contains(&got.index), "{got:?}");
        seen.insert(got.index);
    }
    // A puzzle in rows has the cells in a line.
    let rows = "12..\n34..\n....\n....\n\n....\n....\n12..\n34..\n";
    let got = get(&server, puzzle_of(rows, Some(2))).await.unwrap();
    assert_eq!((got.puzzle.as_str(), got.line, got.order), ("........12..34..", 6, 2));
    assert_eq!(got.format.unwrap().notation(), Notation::Grid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_puzzle_that_is_bad_or_missing_is_told_in_exact_words() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    let clash = format!("55{}", ".".repeat(79));
    let several = format!("{puzzle}\n12\n{clash}\n");
    let cases = [
        (
            several.as_str(),
            Some(2),
            "wrong_length",
            "Line 2 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.",
        ),
        (&several, Some(3), "rule_broken", "Line 3 breaks the rules: 5 appears twice in row 1."),
        (&clash, None, "rule_broken", "The puzzle breaks the rules: 5 appears twice in row 1."),
        (
            "1 2\n3 4\n",
            None,
            "wrong_length",
            "Line 1 has the wrong length. It has 1 cell; a 9x9 puzzle has 81.",
        ),
        (
            &puzzle[1..],
            Some(1),
            "wrong_length",
            "The puzzle has 80 cells; a puzzle has 1, 16, 81, 256 or 625.",
        ),
        ("", None, "empty", "The puzzle is empty."),
        ("", Some(2), "empty", "The puzzle is empty."),
        ("\n# nothing\n", Some(1), "empty", "The puzzle is empty."),
        ("3\n", Some(1), "empty", "The puzzle is empty."),
        ("7\n.\n", Some(1), "invalid_block_size", "Invalid block size."),
    ];
    for (text, index, code, message) in cases {
        let status = get(&server, puzzle_of(text, index)).await.unwrap_err();
        let details = details(&status, Code::FailedPrecondition, "PUZZLE_MALFORMED");
        assert_eq!(status.message(), message, "{text:?}");
        assert_eq!(details.error_info().unwrap().metadata["code"], code, "{text:?}");
        let violation = &details.precondition_failure().unwrap().violations[0];
        assert_eq!((violation.r#type.as_str(), violation.subject.as_str()), ("PUZZLE_MALFORMED", "puzzle"));
        assert_eq!(violation.description, message);
    }
    let bytes = GetPuzzleRequest { text: Some(Bytes::new()), ..Default::default() };
    let status = get(&server, bytes).await.unwrap_err();
    let details = details(&status, Code::FailedPrecondition, "PUZZLE_MALFORMED");
    assert_eq!(details.precondition_failure().unwrap().violations[0].subject, "text");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_source_of_a_puzzle_is_wanted() {
    let server = start(config()).await;
    let puzzle = nearly_solved(1).remove(0);
    let none = "There is nothing to read: send one of `name`, `text` and `puzzle`.";
    let twice = "`text` and `puzzle` hold the same thing: send one of them.";
    let name = || "list.txt".to_owned();
    let text = || Some(Bytes::from(puzzle.clone()));
    let string = || Some(puzzle.clone());
    let any = GetPuzzleRequest::default;
    let cases = [
        (any(), "name", none),
        (GetPuzzleRequest { text: text(), puzzle: string(), ..any() }, "puzzle", twice),
        (GetPuzzleRequest { name: name(), text: text(), puzzle: string(), ..any() }, "puzzle", twice),
        (
            GetPuzzleRequest { name: name(), text: text(), ..any() },
            "text",
            "`name` names a data set, and `text` is a text: send one of them.",
        ),
        (
            GetPuzzleRequest { name: name(), puzzle: string(), ..any() },
            "puzzle",
            "`name` names a data set, and `puzzle` is a text: send one of them.",
        ),
        (
            GetPuzzleRequest { name: name(), first_line: 2, ..any() },
            "first_line",
            "A data set begins with line 1. `first_line` is for texts.",
        ),
        (puzzle_of(&puzzle, Some(0)), "index", "The text has one puzzle."),
        (puzzle_of(&puzzle, Some(2)), "index", "The text has one puzzle."),
        (
            GetPuzzleRequest { puzzle: string(), first_line: (1 << 62) + 1, ..any() },
            "first_line",
            "Lines are numbered up to 4611686018427387904.",
        ),
    ];
    for (request, field, message) in cases {
        let status = get(&server, request).await.unwrap_err();
        let details = details(&status, Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, field, "{message}");
        assert_eq!(status.message(), message);
    }
}

async fn validate(server: &Running, request: ValidateRequest) -> ValidateResponse {
    server.client().await.validate(request).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_format_that_was_detected_is_returned() {
    let server = start(config()).await;
    let four = "12....1.........";
    let wide = format!("AP{}", ".".repeat(254));
    let numbers = four.replace('.', "0").split("").skip(1).take(16).collect::<Vec<_>>().join(";");
    let pandas = format!("0;{numbers}\n1;{numbers}\n");
    let triples = "1 1 5\n2 2 3\n9 9 1\n";
    let format = |notation: Notation, alphabet: &str, order, column: &str, delimiter: &str| {
        Some(TextOptions {
            notation: notation.into(),
            alphabet: alphabet.to_owned(),
            order,
            column: column.to_owned(),
            delimiter: delimiter.to_owned(),
        })
    };
    let cases = [
        (format!("{four}\n"), format(Notation::Lines, "letters", 2, "", "")),
        (format!("# note\n\n{wide}\n"), format(Notation::Lines, "alpha", 4, "", "")),
        (format!("2\n{four}\n"), format(Notation::Header, "letters", 2, "", "")),
        ("12..\n34..\n....\n....\n".to_owned(), format(Notation::Grid, "letters", 2, "", "")),
        (triples.to_owned(), format(Notation::Triples, "letters", 3, "", "")),
        (format!("id,puzzle\n1,{four}\n2,{four}\n"), format(Notation::Csv, "letters", 2, "2", "comma")),
        (format!("{four}|x\n{four}|y\n"), format(Notation::Csv, "letters", 2, "1", "bar")),
        (format!("{numbers}\n{numbers}\n"), format(Notation::Cells, "letters", 2, "1", "semicolon")),
        (pandas, format(Notation::Cells, "letters", 2, "2", "semicolon")),
        (format!("{{\"q\":\"{four}\"}}\n"), format(Notation::Jsonl, "letters", 2, "q", "")),
        (String::new(), None),
        ("# nothing\n".to_owned(), None),
        ("3\n".to_owned(), None),
        ("7\n.\n".to_owned(), None),
    ];
    for (text, wanted) in cases {
        let found = validate(&server, ValidateRequest { puzzle: text.clone(), ..Default::default() }).await;
        assert_eq!(found.format, wanted, "{text}");
        assert_eq!(found.format.is_some(), found.puzzles > 0, "{text}");
        if wanted.is_some() {
            let got = get(&server, puzzle_of(&text, Some(1))).await.unwrap();
            assert_eq!(got.format, wanted, "{text}");
            // What is returned is an option, and means the same.
            let again = ValidateRequest { puzzle: text, options: found.format.clone(), ..Default::default() };
            assert_eq!(validate(&server, again).await, found);
        }
    }
    // What is given is what is returned.
    let options =
        TextOptions { notation: Notation::Lines.into(), alphabet: "abcd".to_owned(), ..Default::default() };
    let request = ValidateRequest {
        puzzle: "ab..............".to_owned(),
        options: Some(options),
        ..Default::default()
    };
    let found = validate(&server, request).await;
    assert_eq!((found.valid, found.format), (true, format(Notation::Lines, "abcd", 2, "", "")));
}
