//! Hint: the next step by hand.

use std::time::Duration;

use sudoku_stream::service::proto::hint_response::Result as R;
use sudoku_stream::service::proto::house::Kind;
use sudoku_stream::service::proto::{
    self, ErrorCode, HintRequest, HintResponse, Notation, Placement, TextOptions,
};
use tokio::time::timeout;
use tonic::{Code, Request, Status};

use crate::errors::details;
use crate::harness::server::{Fault, Faulty, Running, config, config_with, eventually, nearly_solved, start};
use crate::harness::{PATIENCE, assert_solves};

/// A puzzle with one solution that singles cannot begin with.
const HARD: &str = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";

const BLANK: &str = "................";

fn board(board: &str) -> HintRequest {
    HintRequest { puzzle: board.to_owned(), ..Default::default() }
}

fn entries(clues: &str, entries: &str) -> HintRequest {
    HintRequest { clues: clues.to_owned(), ..board(entries) }
}

async fn hint(server: &Running, request: HintRequest) -> Result<HintResponse, Status> {
    server.client().await.hint(request).await.map(tonic::Response::into_inner)
}

/// A step: its technique, the house to look at, the digits to put into cells, whether it is forced.
type Told = (String, Option<(Kind, u32)>, Vec<(u32, u32, u32)>, bool);

fn cells(placements: &[Placement]) -> Vec<(u32, u32, u32)> {
    let cell = |at: &Placement| at.cell.map(|cell| (cell.row, cell.column, at.digit)).unwrap();
    placements.iter().map(cell).collect()
}

fn step(response: &HintResponse) -> Told {
    let Some(R::Step(step)) = &response.result else { panic!("{response:?}") };
    let house = step.house.map(|house| (house.kind(), house.number));
    (step.technique.clone(), house, cells(&step.placements), step.is_forced)
}

fn stuck(response: &HintResponse) -> &proto::Stuck {
    let Some(R::Stuck(stuck)) = &response.result else { panic!("{response:?}") };
    stuck
}

fn error(response: &HintResponse) -> (ErrorCode, &str) {
    let Some(R::Error(error)) = &response.result else { panic!("{response:?}") };
    assert_eq!((&error.message, error.line), (&response.message, 0));
    (error.code(), &error.message)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_has_its_technique_its_place_and_its_digits() {
    let server = start(config()).await;
    // Eight digits around a cell, in three houses.
    let mut naked = vec![b'.'; 81];
    for (row, column, digit) in [
        (1, 2, b'1'),
        (1, 5, b'2'),
        (1, 8, b'3'),
        (4, 1, b'4'),
        (6, 1, b'5'),
        (9, 1, b'6'),
        (2, 2, b'7'),
        (3, 3, b'8'),
    ] {
        naked[(row - 1) * 9 + column - 1] = digit;
    }
    let naked = String::from_utf8(naked).unwrap();
    // The last cell of a row of 16x16, which is the value 16.
    let wide = format!("123456789ABCDEF.{}", ".".repeat(240));
    let told = |technique: &str, house, cell| (technique.to_owned(), house, vec![cell], true);
    let cases = [
        (
            "123.............",
            told("last cell", Some((Kind::Row, 1)), (1, 4, 4)),
            "(1, 4) is 4: it is the last blank cell of row 1 (last cell).",
        ),
        (
            "1...3...2.......",
            told("last cell", Some((Kind::Column, 1)), (4, 1, 4)),
            "(4, 1) is 4: it is the last blank cell of column 1 (last cell).",
        ),
        (
            "1..........1....",
            told("hidden single", Some((Kind::Box, 2)), (2, 3, 1)),
            "(2, 3) is 1: in box 2, 1 fits nowhere else (hidden single).",
        ),
        (
            &naked,
            told("naked single", None, (1, 1, 9)),
            "(1, 1) is 9: no other digit is left for it (naked single).",
        ),
        (
            &wide,
            told("last cell", Some((Kind::Row, 1)), (1, 16, 16)),
            "(1, 16) is 16: it is the last blank cell of row 1 (last cell).",
        ),
    ];
    for (text, wanted, message) in cases {
        let response = hint(&server, board(text)).await.unwrap();
        assert_eq!((step(&response), response.message.as_str()), (wanted, message), "{text}");
    }

    // Where no technique applies, a search tells a digit, and whether it is the only one.
    let techniques = vec!["singles".to_owned(), "x-wing".to_owned()];
    let response = hint(&server, HintRequest { techniques, ..board(HARD) }).await.unwrap();
    let (technique, house, placements, is_forced) = step(&response);
    assert_eq!((technique.as_str(), house, placements.len(), is_forced), ("search", None, 1, true));
    let (row, column, digit) = placements[0];
    let sentence = format!("({row}, {column}) is {digit}, as a search found");
    assert!(response.message.starts_with(&sentence), "{}", response.message);
    let response = hint(&server, board(BLANK)).await.unwrap();
    assert!(matches!(step(&response), (technique, None, _, false) if technique == "search"));

    let response = hint(&server, board("1234341221434321")).await.unwrap();
    assert_eq!(response.result, Some(R::Finished(proto::Finished {})));
    assert_eq!(response.message, "The puzzle is solved: nothing is left to fill in.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_lead_to_the_solution() {
    let server = start(config()).await;
    for puzzle in [HARD, &nearly_solved(1)[0], "12....1........."] {
        let side = puzzle.len().isqrt();
        let mut now = puzzle.to_owned().into_bytes();
        let mut candidates = String::new();
        loop {
            let request = entries(puzzle, std::str::from_utf8(&now).unwrap());
            let response = hint(&server, HintRequest { candidates, ..request }).await.unwrap();
            if response.result == Some(R::Finished(proto::Finished {})) {
                break;
            }
            let Some(R::Step(told)) = &response.result else { panic!("{response:?}") };
            assert_eq!(told.message, response.message);
            assert!(!told.placements.is_empty() || !told.eliminations.is_empty());
            candidates = told.candidates_after.clone();
            for (row, column, digit) in step(&response).2 {
                let cell = &mut now[(row as usize - 1) * side + column as usize - 1];
                assert_eq!(*cell, b'.');
                *cell = b'0' + digit as u8;
            }
        }
        assert_solves(std::str::from_utf8(&now).unwrap(), puzzle);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_without_a_solution_is_told_with_the_reason() {
    let server = start(config()).await;
    // The solution has a 1 at (1, 2).
    let wrong = format!("82{}", &HARD[2..]);
    let response = hint(&server, entries(HARD, &wrong)).await.unwrap();
    assert_eq!(response.message, "There is no solution any more. The 2 at (1, 2) is wrong.");
    let told = stuck(&response);
    assert_eq!((told.is_hopeless, &told.conflict, cells(&told.wrong)), (false, &None, vec![(1, 2, 2)]));

    // A broken rule, and the entry that breaks it.
    let clash = format!("88{}", &HARD[2..]);
    let response = hint(&server, entries(HARD, &clash)).await.unwrap();
    let told = stuck(&response);
    assert_eq!((told.is_hopeless, cells(&told.wrong)), (false, vec![(1, 2, 8)]));
    let conflict = told.conflict.as_ref().unwrap();
    assert_eq!((conflict.kind(), conflict.digit), (proto::flaw::Kind::Conflict, 8));
    assert_eq!(conflict.message, "8 appears twice in row 1, at (1, 1) and (1, 2)");
    let at: Vec<_> = conflict.cells.iter().map(|cell| (cell.row, cell.column)).collect();
    assert_eq!(at, [(1, 1), (1, 2)]);

    // Of several solutions nobody knows which was meant.
    let response = hint(&server, entries(BLANK, "12.3..4.........")).await.unwrap();
    assert!(!stuck(&response).is_hopeless && stuck(&response).wrong.is_empty(), "{response:?}");

    // Without clues the board itself is the puzzle, which has none.
    for board_itself in [board(&wrong), entries(&wrong, &wrong)] {
        let response = hint(&server, board_itself).await.unwrap();
        assert_eq!(response.message, "The puzzle has no solution.");
        assert!(stuck(&response).is_hopeless && stuck(&response).wrong.is_empty());
    }
    let response = hint(&server, board("1234341221434322")).await.unwrap();
    assert!(stuck(&response).is_hopeless && stuck(&response).conflict.is_some(), "full, and wrong");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_that_cannot_be_read_is_an_answer_in_exact_words() {
    let server = start(config()).await;
    let cases = [
        ("", ErrorCode::Empty, "The puzzle is empty."),
        ("# nothing\n", ErrorCode::Empty, "The puzzle is empty."),
        ("7\n.\n", ErrorCode::InvalidBlockSize, "Invalid block size."),
        (&HARD[1..], ErrorCode::WrongLength, "The puzzle has 80 cells; a puzzle has 1, 16, 81, 256 or 625."),
        (
            "12....q.........",
            ErrorCode::InvalidCharacter,
            "The puzzle has an invalid character. It is 'q' in column 7.",
        ),
    ];
    for (text, code, message) in cases {
        let response = hint(&server, board(text)).await.unwrap();
        assert_eq!(error(&response), (code, message));
    }
    let status = hint(&server, board(&format!("{BLANK}\n{BLANK}\n"))).await.unwrap_err();
    assert_eq!(status.message(), "Hint takes one board.");
    let named = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    assert_eq!(named.bad_request().unwrap().field_violations[0].field, "puzzle");
    let options = Some(TextOptions { order: 6, ..Default::default() });
    let status = hint(&server, HintRequest { options, ..board(BLANK) }).await.unwrap_err();
    let named = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    assert_eq!(named.bad_request().unwrap().field_violations[0].field, "options.order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn candidates_come_with_the_board_or_instead_of_it() {
    let server = start(config()).await;
    let four = ".1....2.3..4....";
    // All marks that the rules leave, one by one.
    let marks: String = (0..64).map(|at| ["1", "2", "3", "4"][at % 4]).collect();
    let with =
        |candidates: &str, puzzle: &str| HintRequest { candidates: candidates.to_owned(), ..board(puzzle) };
    let plain = hint(&server, board(four)).await.unwrap();
    assert_eq!(
        hint(&server, with(&marks, four)).await.unwrap(),
        plain,
        "marks against the rules are nothing"
    );
    // Without a board they are the board.
    let Some(R::Step(told)) = &plain.result else { panic!("{plain:?}") };
    let alone = hint(&server, with(&told.candidates_after, "")).await.unwrap();
    assert!(matches!(alone.result, Some(R::Step(_))), "{alone:?}");
    // A candidate of the solution that is gone is told.
    // The solution has a 4 at (1, 1), (1, 3) or (1, 4), because the clue of row 1 is a 1.
    let missing: String =
        marks.char_indices().map(|(at, mark)| if at < 16 && mark == '4' { '.' } else { mark }).collect();
    let response = hint(&server, with(&missing, four)).await.unwrap();
    assert!(!stuck(&response).missing.is_empty(), "{response:?}");
    assert!(response.message.contains("The candidate 4 is missing at "), "{}", response.message);

    for (candidates, puzzle, message) in [
        ("12", four, "2 characters are no pencil marks"),
        (&"x".repeat(64), four, "Character 1 is 'x'"),
        (marks.as_str(), HARD, "These are candidates of a 4x4 board, and the board is 9x9."),
    ] {
        let status = hint(&server, with(candidates, puzzle)).await.unwrap_err();
        assert!(status.message().starts_with(message), "{status:?}");
        let named = details(&status, Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(named.bad_request().unwrap().field_violations[0].field, "candidates");
    }
    let techniques = vec!["swordfish".to_owned(), "no such".to_owned()];
    let status = hint(&server, HintRequest { techniques, ..board(four) }).await.unwrap_err();
    let named = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    assert_eq!(named.bad_request().unwrap().field_violations[0].field, "techniques");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clues_are_a_puzzle_that_the_board_keeps() {
    let server = start(config()).await;
    let four = "12....1.........";
    let rows = "12..\n..1.\n....\n....\n";
    // In any notation, and with the values of the board's alphabet.
    for clues in [four, rows, "2\n12....1.........\n", "1 1 1\n1 2 2\n2 3 1\n"] {
        let response = hint(&server, entries(clues, four)).await.unwrap();
        assert!(matches!(response.result, Some(R::Step(_))), "{clues}: {response:?}");
    }
    let alpha = format!("AP{}", ".".repeat(254));
    let response = hint(&server, entries(&format!("A{}", ".".repeat(255)), &alpha)).await.unwrap();
    assert!(matches!(response.result, Some(R::Step(_) | R::Error(_))), "{response:?}");

    let end = "The clues are one 4x4 puzzle, as the board.";
    let clash = format!("11{}", ".".repeat(14));
    let cases = [
        (
            HARD.to_owned(),
            format!("The puzzle has the wrong length. It has 81 cells; a 4x4 puzzle has 16. {end}"),
        ),
        ("3\n".to_owned() + HARD, format!("The puzzle is 9x9. {end}")),
        (four[1..].to_owned(), format!("The puzzle has 15 cells; a puzzle has 1, 16, 81, 256 or 625. {end}")),
        (
            "12....q.........".to_owned(),
            format!("The puzzle has an invalid character. It is 'q' in column 7. {end}"),
        ),
        ("# nothing".to_owned(), format!("The puzzle is empty. {end}")),
        ("7\n.\n".to_owned(), format!("Invalid block size. {end}")),
        (format!("{four}\n{four}\n"), format!("There are several puzzles. {end}")),
        ("13....1.........".to_owned(), "The board has 2 at (1, 2), where the clue is 3.".to_owned()),
        ("123...1.........".to_owned(), "The board is blank at (1, 3), where the clue is 3.".to_owned()),
        (clash, "The board has 2 at (1, 2), where the clue is 1.".to_owned()),
    ];
    for (clues, message) in cases {
        let status = hint(&server, entries(&clues, four)).await.unwrap_err();
        assert_eq!(status.message(), message, "{clues}");
        let named = details(&status, Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(named.bad_request().unwrap().field_violations[0].field, "clues");
    }
    let lines = "\n".repeat(16_385);
    let status = hint(&server, entries(&lines, four)).await.unwrap_err();
    details(&status, Code::ResourceExhausted, "MESSAGE_LINES_REACHED");
    // The notation that is given is that of both.
    let options = Some(TextOptions { notation: Notation::Lines.into(), ..Default::default() });
    let status = hint(&server, HintRequest { options, ..entries(rows, four) }).await.unwrap_err();
    assert_eq!(status.message(), format!("There are several puzzles. {end}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_for_hints_have_limits() {
    let mut few = config();
    few.limits.nodes = 1;
    let lowered = start(few).await;
    let server = start(config()).await;
    for (server, node_limit) in [(&server, 1), (&lowered, 0), (&lowered, u64::MAX)] {
        let response = hint(server, HintRequest { node_limit, ..board(BLANK) }).await.unwrap();
        let (code, message) = error(&response);
        assert_eq!(code, ErrorCode::GaveUp);
        assert!(message.starts_with("The puzzle was given up after "), "{message}");
        // What is seen without a search is told all the same.
        let single = format!("12345678.{}", ".".repeat(72));
        let response = hint(server, HintRequest { node_limit, ..board(&single) }).await.unwrap();
        assert_eq!(step(&response).0, "last cell");
    }

    // By time, too.
    let endless = Faulty::new(Fault::Endless);
    let mut impatient = config_with(endless);
    impatient.limits.puzzle_time = Duration::from_millis(100);
    let server = start(impatient).await;
    let given_up = timeout(PATIENCE, hint(&server, board(HARD))).await.unwrap().unwrap();
    assert_eq!(error(&given_up), (ErrorCode::GaveUp, "The puzzle was given up after 0 nodes."));
    let response = timeout(PATIENCE, hint(&server, board("123............."))).await.unwrap().unwrap();
    assert_eq!(step(&response).0, "last cell");
    let clash = entries(BLANK, &format!("11{}", ".".repeat(14)));
    let response = timeout(PATIENCE, hint(&server, clash)).await.unwrap().unwrap();
    assert!(stuck(&response).conflict.is_some() && stuck(&response).wrong.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hint_ends_with_its_deadline_and_with_its_client() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let mut client = server.client_without_timers();
    let mut late = Request::new(board(HARD));
    late.set_timeout(Duration::from_millis(200));
    let status = client.hint(late).await.unwrap_err();
    details(&status, Code::DeadlineExceeded, "DEADLINE_PASSED");
    eventually("the end of the search", || counters.running() == 0).await;

    let begun = counters.begun();
    let call = tokio::spawn(async move { client.hint(board(HARD)).await });
    eventually("a search", || counters.begun() > begun && counters.running() > 0).await;
    call.abort();
    eventually("the end of the search", || counters.running() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_an_answer() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    for _ in 0..4 {
        let response = hint(&server, board(HARD)).await.unwrap();
        let sentence = "The puzzle was not answered because of an internal error.";
        assert_eq!(error(&response), (ErrorCode::Internal, sentence));
    }
}
