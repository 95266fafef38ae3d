//! Rate and Steps: how hard puzzles are for a person, and whole solutions by hand.

use std::time::Duration;

use sudoku_stream::service::proto::rating::Verdict;
use sudoku_stream::service::proto::{ErrorCode, RateRequest, RateResponse, StepsRequest, StepsResponse};
use tokio::time::timeout;
use tonic::{Code, Request, Status};

use crate::errors::details;
use crate::harness::server::{Fault, Faulty, Running, config, config_with, eventually, start};
use crate::harness::{PATIENCE, assert_solves};

/// A puzzle whose hardest step is a naked pair, ER 3.0 and EP and ED 1.2.
const PAIR: &str = "................12..3..4..............5.6.7...1.82........9..28..4......3.7..5...";

/// A puzzle that takes an X-wing, ER 3.2.
const X_WING: &str = "..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.";

const SEVERAL: &str = "12..............";

fn text(puzzle: &str) -> RateRequest {
    RateRequest { puzzle: puzzle.to_owned(), ..Default::default() }
}

fn board(puzzle: &str) -> StepsRequest {
    StepsRequest { puzzle: puzzle.to_owned(), ..Default::default() }
}

async fn rate(server: &Running, request: RateRequest) -> Result<RateResponse, Status> {
    server.client().await.rate(request).await.map(tonic::Response::into_inner)
}

async fn steps(server: &Running, request: StepsRequest) -> Result<StepsResponse, Status> {
    server.client().await.steps(request).await.map(tonic::Response::into_inner)
}

fn field(status: &Status) -> String {
    let named = details(status, Code::InvalidArgument, "FIELD_INVALID");
    named.bad_request().unwrap().field_violations[0].field.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_puzzle_has_a_rating_or_an_error_in_order() {
    let server = start(config()).await;
    let lines = format!("{PAIR}\n{X_WING}\n{}\n{}\n", &PAIR[1..], PAIR.replace('1', "."));
    let RateResponse { ratings } = rate(&server, text(&lines)).await.unwrap();
    assert_eq!(ratings.iter().map(|rating| rating.line).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let tenths = |at: usize| (ratings[at].er_tenths, ratings[at].ep_tenths, ratings[at].ed_tenths);
    assert_eq!((tenths(0), ratings[0].hardest.as_str()), ((30, 12, 12), "naked-pair"));
    assert_eq!((tenths(1), ratings[1].hardest.as_str()), ((32, 12, 12), "x-wing"));
    assert_eq!(ratings[0].verdict(), Verdict::Rated);
    assert_eq!(ratings[0].message, "3.0/1.2/1.2 naked pair");
    assert_eq!((ratings[0].clues, ratings[0].is_minimal), (17, Some(true)));
    let counted: u32 = ratings[0].techniques.iter().map(|technique| technique.count).sum();
    assert_eq!(counted, ratings[0].steps);
    for (at, code) in [(2, ErrorCode::WrongLength), (3, ErrorCode::NotUnique)] {
        assert_eq!(ratings[at].error.as_ref().unwrap().code(), code);
        assert_eq!(ratings[at].verdict(), Verdict::Unspecified);
        assert_eq!(ratings[at].message, ratings[at].error.as_ref().unwrap().message);
    }

    // The only puzzle is spoken of without a line.
    let RateResponse { ratings } = rate(&server, text(SEVERAL)).await.unwrap();
    assert_eq!((ratings[0].line, ratings[0].message.as_str()), (0, "The puzzle has more than one solution."));
    let RateResponse { ratings } = rate(&server, text("")).await.unwrap();
    assert_eq!(ratings[0].error.as_ref().unwrap().code(), ErrorCode::Empty);

    // A limit, and techniques that do not lead to the end.
    let above = rate(&server, RateRequest { up_to_tenths: 30, ..text(X_WING) }).await.unwrap();
    assert_eq!(
        (above.ratings[0].verdict(), above.ratings[0].message.as_str()),
        (Verdict::Above, "above 3.0")
    );
    let techniques = vec!["singles".to_owned()];
    let beyond = rate(&server, RateRequest { techniques, ..text(X_WING) }).await.unwrap();
    assert_eq!((beyond.ratings[0].verdict(), beyond.ratings[0].er_tenths), (Verdict::Beyond, 0));
    assert!(beyond.ratings[0].search.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_lead_to_the_solution_and_say_why() {
    let server = start(config()).await;
    for puzzle in [PAIR, X_WING, ".1....2.3..4...."] {
        let found = steps(&server, board(puzzle)).await.unwrap();
        assert!(found.is_solved, "{found:?}");
        assert_eq!(found.message, "The puzzle is solved.");
        let side = puzzle.len().isqrt();
        let mut now = puzzle.to_owned().into_bytes();
        for step in &found.steps {
            assert!(step.message.ends_with('.') && !step.look_at.is_empty(), "{step:?}");
            assert!(!step.placements.is_empty() || !step.eliminations.is_empty(), "{step:?}");
            assert!(step.rating_tenths >= 10, "{step:?}");
            for placement in &step.placements {
                let cell = placement.cell.unwrap();
                let at = (cell.row as usize - 1) * side + cell.column as usize - 1;
                assert_eq!(now[at], b'.');
                now[at] = b'0' + placement.digit as u8;
            }
        }
        assert_solves(std::str::from_utf8(&now).unwrap(), puzzle);
        // The rest from a step on is the same.
        let half = found.steps.len() / 2;
        let limited =
            steps(&server, StepsRequest { step_limit: half as u32, ..board(puzzle) }).await.unwrap();
        assert_eq!((limited.steps.as_slice(), limited.is_solved), (&found.steps[..half], false));
        assert_eq!(limited.message, "There are more steps.");
        let candidates = limited.candidates_after;
        let rest = steps(&server, StepsRequest { candidates, ..Default::default() }).await.unwrap();
        assert!(rest.is_solved, "{rest:?}");
    }
    let above = steps(&server, StepsRequest { up_to_tenths: 30, ..board(X_WING) }).await.unwrap();
    assert_eq!((above.is_solved, above.message.as_str()), (false, "The next step is harder than 3.0."));
    let stuck = steps(&server, board("11..............")).await.unwrap();
    assert!(stuck.stuck.unwrap().is_hopeless);
    assert_eq!(stuck.message, "The puzzle has no solution: 1 appears twice in row 1, at (1, 1) and (1, 2).");
    let bad = steps(&server, board("12")).await.unwrap();
    assert_eq!(bad.message, bad.error.unwrap().message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_is_refused_with_its_field() {
    let server = start(config()).await;
    for tenths in [9, 201, u32::MAX] {
        let status = rate(&server, RateRequest { up_to_tenths: tenths, ..text(PAIR) }).await.unwrap_err();
        assert_eq!(field(&status), "up_to_tenths");
        let status = steps(&server, StepsRequest { up_to_tenths: tenths, ..board(PAIR) }).await.unwrap_err();
        assert_eq!(field(&status), "up_to_tenths");
    }
    let techniques = vec!["wings".to_owned(), "guessing".to_owned()];
    let status = rate(&server, RateRequest { techniques, ..text(PAIR) }).await.unwrap_err();
    assert_eq!(field(&status), "techniques");
    let words = "\"guessing\" is no technique and no family of techniques. Families are singles, ";
    assert!(status.message().starts_with(words), "{status}");
    let status = steps(&server, board(&format!("{SEVERAL}\n{SEVERAL}\n"))).await.unwrap_err();
    assert_eq!((field(&status).as_str(), status.message()), ("puzzle", "Steps takes one board."));
    let both = RateRequest { text: PAIR.into(), ..text(PAIR) };
    assert_eq!(field(&rate(&server, both).await.unwrap_err()), "puzzle");
    let status = rate(&server, text(&"\n".repeat(16_385))).await.unwrap_err();
    details(&status, Code::ResourceExhausted, "MESSAGE_LINES_REACHED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_by_hand_ends_with_its_deadline_its_client_and_its_time() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let mut client = server.client_without_timers();
    let mut late = Request::new(board(PAIR));
    late.set_timeout(Duration::from_millis(200));
    let status = client.steps(late).await.unwrap_err();
    details(&status, Code::DeadlineExceeded, "DEADLINE_PASSED");
    eventually("the end of the search", || counters.running() == 0).await;
    let begun = counters.begun();
    let call = tokio::spawn(async move { client.steps(board(PAIR)).await });
    eventually("a search", || counters.begun() > begun && counters.running() > 0).await;
    call.abort();
    eventually("the end of the search", || counters.running() == 0).await;

    let mut impatient = config_with(Faulty::new(Fault::Endless));
    impatient.limits.puzzle_time = Duration::from_millis(100);
    let server = start(impatient).await;
    let given_up = timeout(PATIENCE, steps(&server, board(PAIR))).await.unwrap().unwrap();
    assert_eq!(given_up.error.unwrap().code(), ErrorCode::GaveUp);

    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let broken = steps(&server, board(PAIR)).await.unwrap();
    assert_eq!(broken.error.unwrap().code(), ErrorCode::Internal);
}
