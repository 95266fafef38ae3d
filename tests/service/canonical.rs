//! `Canonicalize`: canonical forms over a stream.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use sudoku_stream::service::proto::canonical_form::Result as Form;
use sudoku_stream::service::proto::{
    CanonicalBasis, CanonicalForm, CanonicalizeOptions, CanonicalizeRequest, CanonicalizeResponse, ErrorCode,
    Notation,
};
use sudoku_stream::service::{Config, Stopped};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status};

use crate::errors::details;
use crate::harness::server::{Running, all_of, config, start};
use crate::harness::{
    PATIENCE, disguise, feed, fixture, grid, stdout, succeeded, sudoku, text, unique_puzzles,
};

fn batch(batch_id: u64, puzzles: &[&[u8]]) -> CanonicalizeRequest {
    let puzzles = puzzles.iter().map(|puzzle| Bytes::copy_from_slice(puzzle)).collect();
    CanonicalizeRequest { options: None, batch_id, puzzles }
}

fn asking(options: CanonicalizeOptions, request: CanonicalizeRequest) -> CanonicalizeRequest {
    CanonicalizeRequest { options: Some(options), ..request }
}

async fn exchange(
    server: &Running,
    requests: Vec<CanonicalizeRequest>,
) -> (Vec<CanonicalizeResponse>, Result<(), Status>) {
    let mut client = server.client().await;
    all_of(client.canonicalize(tokio_stream::iter(requests)).await.unwrap().into_inner()).await
}

/// The line that `sudoku canon` writes for a form, with its disguise if it has one.
fn line(form: &CanonicalForm) -> String {
    match form.result.as_ref().unwrap() {
        Form::Form(cells) if form.disguise.is_empty() => cells.clone(),
        Form::Form(cells) => format!("{cells} {}", form.disguise),
        Form::Error(error) => format!("error: {}", error.message),
    }
}

#[track_caller]
fn code(form: &CanonicalForm) -> ErrorCode {
    match form.result.as_ref().unwrap() {
        Form::Error(error) => {
            assert_eq!((form.automorphisms, form.basis()), (0, CanonicalBasis::Unspecified));
            assert_eq!((error.line, form.disguise.as_str()), (form.line, ""));
            error.code()
        }
        Form::Form(cells) => panic!("{cells} is no error"),
    }
}

/// The lines of the fixtures that may be read as 9x9 puzzles, good and bad, and others.
fn lines_of_fixtures() -> Vec<String> {
    let bad = fs::read_dir(fixture("bad")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = bad.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    files.sort();
    let bad = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>();
    let known = fs::read_to_string(fixture("strategies.txt")).unwrap();
    let mut lines: Vec<String> = known.lines().chain(bad.lines()).map(str::to_owned).collect();
    lines.retain(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.extend(unique_puzzles(300));
    lines.extend([".".repeat(81), format!("{}1", ".".repeat(80)), format!("11{}", ".".repeat(79))]);
    let unsolvable = format!("12345678.{}9{}", ".".repeat(8), ".".repeat(63));
    lines.extend([unsolvable, "12".to_owned(), "é".repeat(81)]);
    lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_are_those_of_the_command_byte_for_byte() {
    let server = start(config()).await;
    let lines = lines_of_fixtures();
    assert!(lines.len() > 350);
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    for (basis, by) in [
        (CanonicalBasis::Unspecified, &[][..]),
        (CanonicalBasis::Solution, &["--by", "solution"]),
        (CanonicalBasis::Puzzle, &["--by", "puzzle"]),
    ] {
        for with_disguises in [false, true] {
            let mut args = ["canon", "-q", "--notation", "lines", "--size", "9"].to_vec();
            args.extend(by);
            args.extend(with_disguises.then_some("--disguise"));
            let output = feed(&mut sudoku(&args), input.as_bytes());
            succeeded(&output);
            let options =
                CanonicalizeOptions { basis: basis.into(), with_disguises, ..CanonicalizeOptions::default() };
            // Of one puzzle, of several, and of none.
            let mut requests = vec![asking(options, batch(0, &[]))];
            let mut rest = &lines[..];
            while !rest.is_empty() {
                let id = requests.len() as u64;
                let (now, later) = rest.split_at(requests.len().min(rest.len()).min(40));
                requests.push(batch(id, &now.iter().map(String::as_bytes).collect::<Vec<_>>()));
                rest = later;
            }
            let (responses, end) = exchange(&server, requests.clone()).await;
            end.unwrap();
            assert_eq!(responses.len(), requests.len());
            for (response, request) in responses.iter().zip(&requests) {
                let answered = (response.batch_id, response.forms.len());
                assert_eq!(answered, (request.batch_id, request.puzzles.len()));
            }
            let forms: Vec<&CanonicalForm> = responses.iter().flat_map(|response| &response.forms).collect();
            assert!(forms.iter().map(|form| form.line).eq(1..=lines.len() as u64));
            let written: String = forms.iter().map(|form| line(form) + "\n").collect();
            assert_eq!(written, stdout(&output), "{by:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_disguises_of_a_puzzle_have_one_form() {
    let server = start(config()).await;
    let puzzles: Vec<String> =
        (0..400).map(|k| text(&disguise(&grid(&unique_puzzles(20)[k % 20]), k as u64))).collect();
    let blank = ".".repeat(81);
    let entries: Vec<&[u8]> = puzzles.iter().map(String::as_bytes).chain([blank.as_bytes()]).collect();
    let (responses, end) = exchange(&server, vec![batch(1, &entries)]).await;
    end.unwrap();
    let forms = &responses[0].forms;
    for (k, form) in forms[..400].iter().enumerate() {
        assert_eq!(form.result, forms[k % 20].result);
        assert_eq!(form.basis(), CanonicalBasis::Solution);
        assert!(form.automorphisms >= 1 && form.disguise.is_empty());
    }
    // The blank grid is the same in each of its disguises.
    assert_eq!(forms[400].result, Some(Form::Form(blank)));
    assert_eq!((forms[400].basis(), forms[400].automorphisms), (CanonicalBasis::Puzzle, 3_359_232));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_entry_has_one_answer_whatever_it_holds() {
    let server = start(config()).await;
    let puzzle = unique_puzzles(1).remove(0);
    let mut not_utf8 = puzzle.clone().into_bytes();
    not_utf8[7] = 0xFF;
    let two_lines = format!("{puzzle}\n{puzzle}");
    let entries: Vec<&[u8]> = vec![
        b"",
        b"# comment",
        puzzle.as_bytes(),
        &not_utf8,
        &[0; 81],
        &[b'1'; 200_000],
        two_lines.as_bytes(),
        b"................",
        puzzle.as_bytes(),
    ];
    let (responses, end) = exchange(&server, vec![batch(1, &entries), batch(2, &[b"\r\n"])]).await;
    end.unwrap();
    let forms = &responses[0].forms;
    assert_eq!(forms.len(), entries.len());
    for (k, expected) in [
        (0, ErrorCode::WrongLength),
        (1, ErrorCode::WrongLength),
        (3, ErrorCode::InvalidCharacter),
        (4, ErrorCode::InvalidCharacter),
        (5, ErrorCode::WrongLength),
        (6, ErrorCode::WrongLength),
        (7, ErrorCode::WrongLength),
    ] {
        assert_eq!(code(&forms[k]), expected, "entry {k}");
    }
    let message = "error: Line 4 has an invalid character. It is byte 0xFF in column 8.";
    assert_eq!(line(&forms[3]), message);
    assert_eq!(forms[2].result, forms[8].result);
    assert_eq!(
        line(&responses[1].forms[0]),
        "error: Line 10 has the wrong length. It has 0 cells; a 9x9 puzzle has 81."
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_change_in_mid_stream_and_bad_ones_end_it_by_their_name() {
    let server = start(config()).await;
    let several = format!("1{}", ".".repeat(80));
    let entry: &[&[u8]] = &[several.as_bytes()];
    let by = |basis: CanonicalBasis| CanonicalizeOptions { basis: basis.into(), ..Default::default() };
    let letters = several.replace('1', "x");
    let alphabet = "xbcdefghi".to_owned();
    let requests = vec![
        batch(1, entry),
        asking(by(CanonicalBasis::Solution), batch(2, entry)),
        batch(3, entry),
        asking(
            CanonicalizeOptions { alphabet, with_disguises: true, ..by(CanonicalBasis::Puzzle) },
            batch(4, &[letters.as_bytes()]),
        ),
        asking(by(CanonicalBasis::Puzzle), batch(5, entry)),
    ];
    let (responses, end) = exchange(&server, requests).await;
    end.unwrap();
    let forms: Vec<&CanonicalForm> = responses.iter().map(|response| &response.forms[0]).collect();
    let last = format!("{}1", ".".repeat(80));
    assert_eq!(forms[0].result, Some(Form::Form(last.clone())));
    assert_eq!([code(forms[1]), code(forms[2])], [ErrorCode::NotUnique; 2]);
    // In the characters of the puzzle.
    assert_eq!(forms[3].result, Some(Form::Form(last.replace('1', "x"))));
    assert!(forms[3].disguise.contains("rows"));
    assert_eq!((forms[4].result.clone(), forms[4].disguise.as_str()), (Some(Form::Form(last)), ""));

    let good = CanonicalizeOptions::default;
    for (options, field) in [
        (CanonicalizeOptions { basis: 9, ..good() }, "options.basis"),
        (CanonicalizeOptions { alphabet: "aa".to_owned(), ..good() }, "options.alphabet"),
        (CanonicalizeOptions { notation: 77, ..good() }, "options.notation"),
        (CanonicalizeOptions { notation: Notation::Grid.into(), ..good() }, "options.notation"),
    ] {
        let (responses, end) =
            exchange(&server, vec![batch(1, entry), asking(options, batch(2, entry))]).await;
        assert_eq!(responses.len(), 1, "what came before is answered");
        let details = details(&end.unwrap_err(), Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, field);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold_as_for_other_streams() {
    let mut config = config();
    config.limits.message_lines = 10;
    config.limits.message_bytes = 5_000;
    config.limits.nodes = 1;
    let server = start(config).await;
    let entries = [&b"1"[..]; 11];
    let large = vec![b'.'; 5_001];
    for (above, reason) in
        [(batch(2, &entries), "MESSAGE_LINES_REACHED"), (batch(2, &[&large]), "MESSAGE_BYTES_REACHED")]
    {
        let (responses, end) = exchange(&server, vec![batch(1, &entries[..10]), above]).await;
        assert_eq!(responses.len(), 1, "what came before is answered");
        details(&end.unwrap_err(), Code::ResourceExhausted, reason);
    }
    // A search within a node does not show that a hard puzzle has one solution.
    let hard: &[u8] = b"8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";
    let options = CanonicalizeOptions { node_limit: 1_000_000, ..CanonicalizeOptions::default() };
    let (responses, end) = exchange(&server, vec![asking(options, batch(1, &[hard]))]).await;
    end.unwrap();
    assert_eq!(code(&responses[0].forms[0]), ErrorCode::GaveUp);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_by_its_deadline_by_draining_and_by_its_client() {
    let server = start(Config { drain_timeout: 10 * PATIENCE, ..config() }).await;
    let puzzles = unique_puzzles(1_000);
    let entries: Vec<&[u8]> = puzzles.iter().map(String::as_bytes).collect();
    let endless = |entries: &[&[u8]]| {
        let request = batch(1, entries);
        tokio_stream::iter(std::iter::repeat_with(move || request.clone()))
    };
    let mut request = Request::new(endless(&entries));
    request.set_timeout(Duration::from_millis(300));
    let stream = server.client_without_timers().canonicalize(request).await.unwrap();
    let (responses, end) = timeout(PATIENCE, all_of(stream.into_inner())).await.unwrap();
    details(&end.unwrap_err(), Code::DeadlineExceeded, "DEADLINE_PASSED");
    assert!(responses.iter().all(|response| response.forms.len() == 1_000));

    // One whose client goes is gone, so that the server stops at once.
    let mut stream = server.client().await.canonicalize(endless(&entries)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap().forms.len(), 1_000);
    drop(stream);

    let (sender, requests) = mpsc::channel(1);
    sender.send(batch(7, &entries)).await.unwrap();
    let mut stream =
        server.client().await.canonicalize(ReceiverStream::new(requests)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap().batch_id, 7);
    let ending = tokio::spawn(async move { stream.message().await.unwrap_err() });
    assert_eq!(timeout(PATIENCE, server.stop()).await.unwrap().unwrap(), Stopped::Drained);
    details(&timeout(PATIENCE, ending).await.unwrap().unwrap(), Code::Unavailable, "SHUTTING_DOWN");
    drop(sender);
}
