//! `SolveLines`, and the client that `sudoku solve --server` uses.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::time::Duration;

use bytes::Bytes;
use sudoku_stream::answer::{OutputForm, Task};
use sudoku_stream::client::{ClientError, Endpoint, RetryPolicy, ServerError, SolveJob, solve_lines};
use sudoku_stream::service::proto::{
    self, ErrorCode, Question, SolveLinesRequest, SolveLinesResponse, SolveOptions,
};
use sudoku_stream::service::{Config, Limits};
use sudoku_stream::solver::Question::Count;
use sudoku_stream::text::{Hint, Notation};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::harness::server::{
    Fault, Faulty, Running, all_of, config, config_with, nearly_solved, offline, offline_task, start,
};
use crate::harness::{assert_solves, by, grid, lines};

/// Sends all requests and returns all responses and how the stream ended.
async fn exchange(
    server: &Running,
    requests: Vec<SolveLinesRequest>,
) -> (Vec<SolveLinesResponse>, Result<(), Status>) {
    let mut client = server.client().await;
    all_of(client.solve_lines(tokio_stream::iter(requests)).await.unwrap().into_inner()).await
}

/// The text cut into messages of so many lines.
fn requests(text: &str, lines_each: usize, options: Option<SolveOptions>) -> Vec<SolveLinesRequest> {
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let messages = lines.chunks(lines_each).map(|chunk| Bytes::from(chunk.concat()));
    let mut options = options;
    messages.map(|lines| SolveLinesRequest { options: options.take(), lines, ..Default::default() }).collect()
}

fn message(text: &str) -> SolveLinesRequest {
    SolveLinesRequest { lines: Bytes::copy_from_slice(text.as_bytes()), ..SolveLinesRequest::default() }
}

/// A text with all that may stand in one.
fn mixed(puzzles: &[String]) -> String {
    let mut text = String::new();
    for (k, puzzle) in puzzles.iter().enumerate() {
        match k % 50 {
            10 => text.push_str(&format!("{} too short\n", &puzzle[2..])),
            20 => text.push_str(&format!("{}?\n", &puzzle[1..])),
            30 => text.push_str(&format!("# comment\n\n{puzzle}\r\n")),
            40 => text.push_str(&format!("77{}\n", ".".repeat(79))),
            _ => text.push_str(&format!("{puzzle}\n")),
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_the_bytes_of_the_offline_path() {
    let server = start(config()).await;
    let puzzles = nearly_solved(1500);
    let csv: String = puzzles.iter().map(|puzzle| format!("{puzzle},\n")).collect();
    let texts = [
        mixed(&puzzles),
        format!("3\n{}", lines(&puzzles)),
        format!("quizzes,solutions\n{csv}"),
        mixed(&puzzles[..70]).trim_end().to_owned(),
    ];
    let forms = [
        (OutputForm::Solution, proto::OutputForm::Unspecified),
        (OutputForm::Pair, proto::OutputForm::Pair),
        (OutputForm::Csv, proto::OutputForm::Csv),
        (OutputForm::Jsonl, proto::OutputForm::Jsonl),
        (OutputForm::Grid, proto::OutputForm::Grid),
    ];
    for (k, text) in texts.iter().enumerate() {
        for (form, wire) in forms {
            let expected = offline(text, form);
            for lines_each in [1, 64, 1024] {
                let options = SolveOptions { output: wire.into(), ..Default::default() };
                let requests = requests(text, lines_each, Some(options));
                let count = requests.len();
                let (responses, end) = exchange(&server, requests).await;
                end.unwrap();
                assert_eq!(responses.len(), count, "one response a request");
                let answers: Vec<u8> = responses.iter().flat_map(|r| r.lines.iter().copied()).collect();
                assert!(answers == expected, "text {k}, {form}, {lines_each} lines a message");
            }
        }
    }
    // And what both paths say is right.
    for (puzzle, answer) in
        puzzles.iter().zip(offline(&texts[1], OutputForm::Solution).split(|&b| b == b'\n'))
    {
        assert_solves(str::from_utf8(answer).unwrap(), puzzle);
    }
}

/// A puzzle that is being searched may be given up by the clock; many that are searched together are not, whatever was
/// searched before them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_line_is_given_up_because_of_those_around_it() {
    let limits = Limits { puzzle_time: Duration::from_millis(8), ..config().limits };
    let server = start(Config { limits, threads: NonZeroUsize::new(1), ..config() }).await;
    // One in 24 takes several times `puzzle_time` to be counted, and longer than all others together.
    // Each message of several lines has one of these, in every order, and the line that is a message
    // of its own is one in some.
    let puzzles: Vec<String> = nearly_solved(211)
        .into_iter()
        .enumerate()
        .map(|(k, puzzle)| {
            let is_blank = |cell: usize| k.is_multiple_of(24) && (k + cell * 5) % 8 < 6;
            let cells = puzzle.bytes().enumerate();
            cells.map(|(cell, digit)| if is_blank(cell) { '.' } else { char::from(digit) }).collect()
        })
        .collect();
    let task = Task { question: Count { limit: 20_000 }, ..Task::default() };
    let expected = String::from_utf8(offline_task(&lines(&puzzles), task)).unwrap();
    assert_eq!(expected.matches("20000+\n").count(), 9);
    let sizes = [60, 1, 120, 30];
    let orders = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 1, 3, 0], [3, 2, 1, 0], [1, 0, 3, 2]];
    for order in orders {
        let options =
            SolveOptions { question: Question::Count.into(), count_limit: 20_000, ..Default::default() };
        let mut rest = &puzzles[..];
        let mut options = Some(options);
        let requests = order.map(|which| {
            let (these, others) = rest.split_at(sizes[which]);
            rest = others;
            // Too long to be put together with others.
            let padding = " ".repeat((16 << 10) / these.len() + 1);
            let text: String = these.iter().map(|puzzle| format!("{puzzle}{padding}\n")).collect();
            SolveLinesRequest { options: options.take(), ..message(&text) }
        });
        let (responses, end) = exchange(&server, requests.to_vec()).await;
        end.unwrap();
        let answers: Vec<u8> = responses.iter().flat_map(|r| r.lines.iter().copied()).collect();
        assert_eq!(String::from_utf8(answers).unwrap(), expected, "{order:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_has_a_response_and_every_line_a_number() {
    let server = start(config()).await;
    let puzzles = nearly_solved(2);
    let messages = [
        "\u{feff}# a comment\n".to_owned(),
        String::new(),
        format!("\n{}", puzzles[0]),
        "\n\n".to_owned(),
        format!("short\n{}\n", puzzles[1]),
    ];
    let (responses, end) = exchange(&server, messages.iter().map(|text| message(text)).collect()).await;
    end.unwrap();
    let texts: Vec<_> = responses.iter().map(|r| str::from_utf8(&r.lines).unwrap()).collect();
    assert_eq!([texts[0], texts[1], texts[3]], ["", "", ""]);
    assert_solves(texts[2].trim_end(), &puzzles[0]);
    let (error, solved) = texts[4].split_once('\n').unwrap();
    assert_eq!(error, "error: Line 6 has the wrong length. It has 5 cells; a 9x9 puzzle has 81.");
    assert_solves(solved.trim_end(), &puzzles[1]);

    let tallies: Vec<_> = responses.iter().map(|r| r.tally.clone().unwrap()).collect();
    assert_eq!(tallies.iter().map(|t| t.answers).collect::<Vec<_>>(), [0, 0, 1, 0, 2]);
    let errors: Vec<_> = tallies[4].errors.iter().map(|e| (e.code(), e.count)).collect();
    assert_eq!(errors, [(ErrorCode::WrongLength, 1)]);
    assert!(tallies[4].metrics.unwrap().nodes > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_header_ends_the_stream_after_what_came_before() {
    let server = start(config()).await;
    let (responses, end) = exchange(&server, vec![message("# hello\n"), message("4\n.\n")]).await;
    assert_eq!(responses.len(), 1);
    let status = end.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "Invalid block size."));
    assert_eq!(status.get_error_details().bad_request().unwrap().field_violations[0].field, "lines");
}

/// A stream is not read in an alphabet that may be the wrong one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_fit_two_alphabets_end_the_stream() {
    let server = start(config()).await;
    let hex = format!("F0{}\n", ".".repeat(254));
    let (responses, end) = exchange(&server, vec![message(&hex)]).await;
    assert!(responses.is_empty());
    let status = end.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("fits the alphabets hex and letters"), "{}", status.message());
    let details = status.get_error_details();
    assert_eq!(details.bad_request().unwrap().field_violations[0].field, "options.alphabet");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arrays_are_answered_as_puzzles() {
    let server = start(config()).await;
    let (responses, end) =
        exchange(&server, vec![message("[[1,0,0,0],[0,0,3,0],[0,4,0,0],[0,0,0,2]]\n")]).await;
    end.unwrap();
    let (answers, end) = exchange(&server, vec![message("1.....3..4.....2\n")]).await;
    end.unwrap();
    assert_eq!(responses[0].lines, answers[0].lines);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_of_objects_are_not_left_out_of_a_table() {
    let server = start(config()).await;
    for output in [proto::OutputForm::Csv, proto::OutputForm::Tsv] {
        let options = SolveOptions { output: output.into(), ..SolveOptions::default() };
        let object = "{\"puzzle\":\"1...............\",\"id\":1}\n";
        let status = exchange(&server, requests(object, 1, Some(options))).await.1.unwrap_err();
        assert_eq!(
            status.message(),
            "JSON objects have members, which have no columns in a table. Use OUTPUT_FORM_JSONL."
        );
    }
}

/// The answers to one message with options, which begins with this line.
async fn answers_from(
    server: &Running,
    first_line: u64,
    text: &str,
    options: &SolveOptions,
) -> Result<Vec<String>, Status> {
    let request = SolveLinesRequest { options: Some(options.clone()), first_line, ..message(text) };
    let (responses, end) = exchange(server, vec![request]).await;
    end?;
    let response = responses.into_iter().next().unwrap();
    let answers = str::from_utf8(&response.lines).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(response.tally.unwrap().answers, answers.len() as u64);
    Ok(answers)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_from_the_middle_of_a_text_has_a_heading_only_if_that_is_said() {
    let server = start(config()).await;
    let known = SolveOptions {
        notation: proto::Notation::Csv.into(),
        alphabet: "letters".to_owned(),
        order: 2,
        column: "2".to_owned(),
        delimiter: "comma".to_owned(),
        output: proto::OutputForm::Jsonl.into(),
        ..SolveOptions::default()
    };
    let nothing = SolveOptions { output: proto::OutputForm::Jsonl.into(), ..SolveOptions::default() };
    let puzzle = "12....1.........";
    let table = format!("編號,題目\n1,{puzzle}\n2,{puzzle}\n");
    for options in [&known, &nothing] {
        for (first_line, has_heading, is_heading) in [
            (0, None, true),
            (1, None, true),
            (1, Some(true), true),
            (1, Some(false), false),
            (2, None, false),
            (2, Some(false), false),
            (2, Some(true), true),
        ] {
            let options = SolveOptions { has_heading, ..options.clone() };
            let answers = answers_from(&server, first_line, &table, &options).await.unwrap();
            let case = format!("{first_line} {has_heading:?} {answers:?}");
            assert_eq!(answers.len(), if is_heading { 2 } else { 3 }, "{case}");
            let name = if is_heading { "編號" } else { "column_1" };
            assert!(answers.iter().all(|answer| answer.starts_with(&format!("{{\"{name}\":"))), "{case}");
        }
    }
    // The same with what else may be above puzzles.
    let list = format!("2\n{puzzle}\n");
    for (first_line, has_heading, count) in
        [(1, None, 1), (1, Some(false), 2), (7, None, 2), (7, Some(true), 1)]
    {
        let options = SolveOptions { has_heading, order: 2, ..SolveOptions::default() };
        let answers = answers_from(&server, first_line, &list, &options).await.unwrap();
        assert_eq!(answers.len(), count, "{first_line} {has_heading:?} {answers:?}");
    }
    // Rows without the column of the puzzle, and fields in quotes that go on, are bad rows.
    for text in ["7\n8\n", "1,\"a\nb\"\n"] {
        for first_line in [1, 9] {
            let answers = answers_from(&server, first_line, text, &known).await.unwrap();
            assert_eq!(answers.len(), 2, "{text:?} {first_line} {answers:?}");
        }
    }
}

/// A grid of 4x4 in a drawing, with a space for a blank and no line above the first row.
fn drawn(rows: [&str; 4]) -> String {
    let row = |row: &str| row.chars().map(|cell| format!("│ {cell} ")).collect::<String>();
    rows.map(|cells| format!("{}│\n├───┼───┼───┼───┤\n", row(cells))).concat()
}

/// Texts of grids, in parts that do not show by themselves what the rows of all look like.
fn divided_grids() -> Vec<(&'static str, Vec<String>)> {
    let parts = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect();
    let (first, second) = (["1 23", "    ", "  4 ", "4   "], [" 1  ", " 31 ", "1  3", "    "]);
    vec![
        (
            "drawn",
            vec!["├───┼───┼───┼───┤\n".to_owned(), drawn(first) + "\n", drawn(second) + "\n", drawn(first)],
        ),
        (
            "numbered",
            parts(&["::\n", "1;1;2;;\n2;;;1;2\n3;2;;;\n4;;;;\n\n", "::\n1;;3;;1\n2;;;;\n3;;;3;\n4;;;1;\n"]),
        ),
        (
            "dashes",
            parts(&["12--\n----\n--1-\n----\n\n", "----\n----\n----\n----\n\n", "----\n1---\n----\n---2\n"]),
        ),
        (
            "gaps",
            parts(&[
                "1,,,\n,,1,\n,1,,\n,,,1\n,,,\n",
                "2,,,\n,,2,\n,2,,\n,,,2\n,,,\n",
                ",,,\n3,,,\n,,3,\n,3,,\n,,,\n",
            ]),
        ),
        ("below a number", parts(&["4\n\n", "12..\n34..\n..1.\n....\n\n", "1...\n..1.\n.1..\n...1\n"])),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parts_of_a_text_are_read_by_the_sample_of_it() {
    let server = start(config()).await;
    let mut shown = 0;
    for (name, parts) in divided_grids() {
        let text = parts.concat();
        let wanted = String::from_utf8(offline(&text, OutputForm::Solution)).unwrap();
        let mut first_line = 1;
        let messages: Vec<SolveLinesRequest> = parts
            .iter()
            .map(|lines| {
                let request = SolveLinesRequest { first_line, ..message(lines) };
                first_line += lines.lines().count() as u64;
                request
            })
            .collect();
        let answers = async |streams: Vec<Vec<SolveLinesRequest>>, sample: &str| {
            let mut answers = String::new();
            for mut requests in streams {
                requests[0].sample = Bytes::copy_from_slice(sample.as_bytes());
                let responses = exchange(&server, requests).await.0;
                answers.extend(responses.iter().map(|r| str::from_utf8(&r.lines).unwrap()));
            }
            answers
        };
        let together = vec![messages.clone()];
        let apart: Vec<_> = messages.into_iter().map(|message| vec![message]).collect();
        assert_eq!(answers(together.clone(), &text).await, wanted, "{name}");
        assert_eq!(answers(apart.clone(), &text).await, wanted, "{name}");
        let differs = answers(together, "").await != wanted || answers(apart, "").await != wanted;
        shown += usize::from(differs);
    }
    assert!(shown > 2, "{shown} texts show what their rows look like");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sample_shows_what_is_above_the_puzzles() {
    let server = start(config()).await;
    let puzzle = "12....1.........";
    let lines = ["\u{FEFF}# a list\n", "id,puzzle\n", &format!("1,{puzzle}\n"), "2,bad\n"];
    let sample = Bytes::from(lines.concat());
    let in_form =
        |output: proto::OutputForm| SolveOptions { output: output.into(), ..SolveOptions::default() };
    // A heading that comes again is a row.
    for (first_line, text, counts) in [
        (0, &lines[..], &[0, 0, 1, 1][..]),
        (0, &[&lines.concat(), lines[1]], &[2, 1]),
        (2, &lines[1..], &[0, 1, 1]),
        (3, &lines[2..], &[1, 1]),
        (9, &lines[1..], &[1, 1, 1]),
    ] {
        for output in [proto::OutputForm::Jsonl, proto::OutputForm::Solution] {
            let mut requests: Vec<SolveLinesRequest> = text.iter().map(|lines| message(lines)).collect();
            requests[0].options = Some(in_form(output));
            requests[0].first_line = first_line;
            requests[0].sample = sample.clone();
            let (responses, end) = exchange(&server, requests).await;
            end.unwrap();
            let answers = responses.iter().map(|r| r.tally.as_ref().unwrap().answers);
            assert_eq!(answers.collect::<Vec<_>>(), counts, "{first_line} {text:?}");
            let all: String = responses.iter().map(|r| str::from_utf8(&r.lines).unwrap()).collect();
            if output == proto::OutputForm::Jsonl {
                assert!(all.lines().all(|answer| answer.starts_with("{\"id\":")), "{all}");
            } else {
                let line = first_line.max(1) + text.concat().lines().count() as u64 - 1;
                let last = all.lines().last().unwrap();
                assert!(last.starts_with(&format!("error: Line {line} has the wrong length.")), "{all}");
            }
        }
    }
    // So does a stream that comes to it later.
    let (below, all) = (lines[2..].concat(), lines.concat());
    let in_the_middle = SolveLinesRequest { first_line: 3, sample: sample.clone(), ..message(&below) };
    let at_the_start = SolveLinesRequest { first_line: 1, ..message(&all) };
    let (responses, end) = exchange(&server, vec![in_the_middle, at_the_start]).await;
    end.unwrap();
    assert_eq!(responses[0].lines, responses[1].lines);
    // What is behind its first 64 KiB is not looked at: whether `-` is a blank.
    for (times, is_bad) in [(1, false), (4096, true)] {
        let sample =
            Bytes::from(format!("{}1---\n--1-\n-1--\n---1\n", "1234\n3412\n2143\n4321\n".repeat(times)));
        let request = SolveLinesRequest { sample, ..message("12--\n34--\n----\n--1-\n") };
        let (responses, end) = exchange(&server, vec![request]).await;
        end.unwrap();
        assert_eq!(responses[0].lines.starts_with(b"error: "), is_bad);
    }
    let request = SolveLinesRequest { sample: format!("{puzzle}\r{puzzle}\r").into(), ..message(puzzle) };
    let status = exchange(&server, vec![request]).await.1.unwrap_err();
    assert!(status.message().starts_with("Line 1 goes on behind carriage returns; "), "{}", status.message());
    assert_eq!(status.get_error_details().bad_request().unwrap().field_violations[0].field, "sample");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_end_elsewhere_are_refused_by_their_numbers() {
    let server = start(config()).await;
    let puzzle = "12....1.........";
    let rows = format!("2,x,{puzzle}\n").repeat(9);
    for (text, sentence) in [
        // The line ends of old Macs.
        (format!("\nid,puzzle\r1,{puzzle}\r2,{puzzle}\r"), "goes on behind carriage returns; "),
        (format!("\n1,\"two\nlines\",{puzzle}\n{rows}"), "has a field in quotes that goes on "),
    ] {
        for (first_line, line) in [(0, 2), (1, 2), (1001, 1002)] {
            let status =
                answers_from(&server, first_line, &text, &SolveOptions::default()).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument);
            assert_eq!(status.get_error_details().bad_request().unwrap().field_violations[0].field, "lines");
            let beginning = format!("Line {line} {sentence}");
            assert!(status.message().starts_with(&beginning), "{}", status.message());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn puzzles_of_several_lines_come_whole_in_a_message() {
    let server = start(config()).await;
    let puzzles = nearly_solved(4);
    let rows = |puzzle: &String| -> String {
        puzzle.as_bytes().chunks(9).map(|row| format!("{}\n", str::from_utf8(row).unwrap())).collect()
    };
    let messages =
        puzzles.chunks(2).map(|pair| message(&pair.iter().map(rows).collect::<Vec<_>>().join("\n")));
    let (responses, end) = exchange(&server, messages.collect()).await;
    end.unwrap();
    let text: String = responses.iter().map(|r| str::from_utf8(&r.lines).unwrap()).collect();
    assert_eq!(text.lines().count(), 4);
    for (answer, puzzle) in text.lines().zip(&puzzles) {
        assert_solves(answer, puzzle);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_are_those_of_the_last_message_that_has_them() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    let line = format!("{puzzle}\n");
    let with = |options, text: &str| SolveLinesRequest { options: Some(options), ..message(text) };
    let count = SolveOptions { question: Question::Count.into(), ..Default::default() };
    let small = SolveOptions { order: 2, ..Default::default() };
    let (responses, end) = exchange(
        &server,
        vec![
            message(&line),
            with(count, &line),
            message(&line),
            // The size is known by now: this is a line of the wrong length.
            message("................\n"),
            // Other words about the text make it be looked at anew.
            with(small, "1234341221434321\n"),
            with(SolveOptions { output: 99, ..Default::default() }, &line),
            message(&line),
        ],
    )
    .await;
    let texts: Vec<_> = responses.iter().map(|r| str::from_utf8(&r.lines).unwrap().trim_end()).collect();
    assert_solves(texts[0], puzzle);
    let solutions: u64 = texts[1].parse().unwrap();
    assert!(solutions >= 1);
    assert_eq!(texts[2], texts[1]);
    assert_eq!(
        texts[3..],
        ["error: Line 4 has the wrong length. It has 16 cells; a 9x9 puzzle has 81.", "1234341221434321"]
    );
    let status = end.unwrap_err();
    assert_eq!(status.get_error_details().bad_request().unwrap().field_violations[0].field, "options.output");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_answers_each_of_its_lines_and_the_stream_lives() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let puzzles = nearly_solved(3);
    let sound = by("backtracking");
    let (responses, end) = exchange(
        &server,
        vec![
            message(&format!("{}\n# comment\n{}\n", puzzles[0], puzzles[1])),
            SolveLinesRequest { options: Some(sound), ..message(&puzzles[2]) },
        ],
    )
    .await;
    end.unwrap();
    let sentence = "was not answered because of an internal error.";
    let expected = format!("error: Line 1 {sentence}\nerror: Line 3 {sentence}\n");
    assert_eq!(responses[0].lines, expected);
    let tally = responses[0].tally.clone().unwrap();
    assert_eq!((tally.answers, tally.errors[0].code()), (2, ErrorCode::Internal));
    assert_solves(str::from_utf8(&responses[1].lines).unwrap().trim_end(), &puzzles[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_among_messages_that_are_searched_together_is_of_one_of_them() {
    let puzzles = nearly_solved(60);
    let server = start(config_with(Faulty::new(Fault::PanicOn(grid(&puzzles[31]))))).await;
    // The first says how puzzles are written, so the others are what can go together.
    let mut texts = vec![format!("{}\n", puzzles[0])];
    texts.extend(puzzles[1..].chunks(3).map(|three| three.join("\n")));
    let (responses, end) = exchange(&server, texts.iter().map(|text| message(text)).collect()).await;
    end.unwrap();
    let sentence = "was not answered because of an internal error.";
    for (place, (response, text)) in responses.iter().zip(&texts).enumerate() {
        let answers = str::from_utf8(&response.lines).unwrap();
        if text.contains(&puzzles[31]) {
            let lines = 3 * place - 1..3 * place + 2;
            let expected: String = lines.map(|line| format!("error: Line {line} {sentence}\n")).collect();
            assert_eq!(answers, expected);
        } else {
            assert_eq!(answers.lines().count(), text.lines().count());
            answers.lines().zip(text.lines()).for_each(|(answer, puzzle)| assert_solves(answer, puzzle));
        }
    }
    assert_eq!(responses.len(), texts.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_messages_are_answered_the_same_whether_they_come_together_or_one_by_one() {
    let server = start(config()).await;
    let puzzles = nearly_solved(400);
    let message_of = |(k, puzzle): (usize, &String)| {
        let text = match k % 11 {
            1 => puzzle.clone(),
            3 => String::new(),
            4 => "# a comment\n\n".to_owned(),
            5 => format!("short\n{puzzle}\r\n77{}", ".".repeat(79)),
            7 => lines(&puzzles[k..(k + 5).min(puzzles.len())]),
            8 => "\n".to_owned(),
            _ => format!("{puzzle}\n"),
        };
        // Some begin to count anew, one at the end of all numbers.
        let first_line = match k {
            150 => 7,
            390 => 1 << 62,
            _ => 0,
        };
        SolveLinesRequest { first_line, ..message(&text) }
    };
    let requests: Vec<_> = puzzles.iter().enumerate().map(message_of).collect();
    let (together, end) = exchange(&server, requests.clone()).await;
    end.unwrap();
    let (sender, receiver) = mpsc::channel(1);
    let mut client = server.client().await;
    let mut stream = client.solve_lines(ReceiverStream::new(receiver)).await.unwrap().into_inner();
    let mut each = Vec::new();
    for request in requests {
        sender.send(request).await.unwrap();
        each.push(stream.message().await.unwrap().unwrap());
    }
    let said = |response: SolveLinesResponse| {
        let tally = response.tally.unwrap();
        (String::from_utf8(response.lines.to_vec()).unwrap(), tally.answers, tally.errors)
    };
    let (together, each): (Vec<_>, Vec<_>) =
        (together.into_iter().map(said).collect(), each.into_iter().map(said).collect());
    assert_eq!(together.len(), each.len());
    for (place, (together, each)) in together.iter().zip(&each).enumerate() {
        assert_eq!(together, each, "message {place}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_are_not_numbered_beyond_what_a_number_holds() {
    let server = start(config()).await;
    for first_line in [(1 << 62) + 1, u64::MAX] {
        let requests =
            vec![message("12.4............\n"), SolveLinesRequest { first_line, ..message("x\n") }];
        let (responses, end) = exchange(&server, requests).await;
        assert_eq!(responses.len(), 1);
        let status = end.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(status.message(), "Lines are numbered up to 4611686018427387904.");
        assert_eq!(status.get_error_details().bad_request().unwrap().field_violations[0].field, "first_line");
    }
}

/// Sends blocks of lines by the companion's client.
async fn by_client(url: &str, text: &str) -> Result<(String, u64), ClientError<Infallible>> {
    by_client_as(url, text, &SolveJob::default()).await
}

async fn by_client_as(
    url: &str,
    text: &str,
    job: &SolveJob,
) -> Result<(String, u64), ClientError<Infallible>> {
    let (sender, blocks) = mpsc::channel(4);
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let messages: Vec<_> = lines.chunks(100).map(|chunk| Bytes::from(chunk.concat())).collect();
    tokio::spawn(async move {
        for message in messages {
            if sender.send(message).await.is_err() {
                return;
            }
        }
    });
    let mut answers = String::new();
    let mut told = 0;
    let sink = |lines: Bytes, tally: &sudoku_stream::answer::Tally| {
        answers.push_str(str::from_utf8(&lines).unwrap());
        told += tally.answers;
        Ok(())
    };
    let servers = [Endpoint::new(url)];
    let retry = RetryPolicy { retries: 0, ..RetryPolicy::default() };
    let total = solve_lines(&servers, &retry, job, blocks, sink, |_| ()).await?;
    assert_eq!(total.answers, told);
    assert_eq!(total.error_count(), answers.matches("error: ").count() as u64);
    Ok((answers, told))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_companions_client_gets_the_offline_answers() {
    let server = start(config()).await;
    let text = mixed(&nearly_solved(1234));
    let (answers, count) = by_client(&server.url(), &text).await.unwrap();
    assert_eq!(count, 1234);
    assert!(answers.as_bytes() == offline(&text, OutputForm::Solution));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_companions_client_says_what_to_do() {
    let server = start(config()).await;
    let refused = by_client(&server.url(), "5\n.\n").await.unwrap_err();
    assert_eq!(refused.to_string(), "The server refused after 0 answers: Invalid block size.");
    // The port of a server that has ended may be another test's by now; nobody is ever here.
    let url = "http://127.0.0.1:1";
    let nobody = by_client(url, "1\n").await.unwrap_err();
    assert_eq!(nobody.to_string(), format!("No server answers at {url}: start one with sudokud."));
    let nonsense = by_client("not a url", "").await.unwrap_err();
    assert!(matches!(nonsense, ClientError::Server(ServerError::Address(_))), "{nonsense}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_companions_client_counts_the_answers() {
    let server = start(config()).await;
    let (url, text) = (server.url(), "12....1.........\n# a comment\n....3......4....\n");
    let hint = Hint { notation: Some(Notation::Lines), has_heading: Some(false), ..Hint::default() };
    let job = SolveJob { hint, first_line: 7, ..SolveJob::default() };
    assert_eq!(by_client_as(&url, text, &job).await.unwrap().1, 2);
    // A list has no heading, so this one has an answer.
    let job = SolveJob { prelude: Bytes::from_static(b"1...............\n"), ..job };
    let error = by_client_as(&url, text, &job).await.unwrap_err();
    let advice = "Check the server's version and any proxy on the way, or solve the list without a server.";
    let sentence = "sent 3 answers to the lines from 7 on, which have 2 puzzles.";
    assert_eq!(error.to_string(), format!("{url} {sentence} {advice}"));
    let one = ServerError::Miscounted { url, line: 7, puzzles: 1, answers: 0 };
    assert!(
        one.to_string().contains(" sent 0 answers to the lines from 7 on, which have 1 puzzle. "),
        "{one}"
    );
}
