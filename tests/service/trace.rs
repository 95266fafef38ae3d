//! Trace: the steps of a search, followed by a client.

use bytes::Bytes;
use sudoku_stream::grid::Grid;
use sudoku_stream::service::Limits;
use sudoku_stream::service::proto::trace_step::Kind;
use sudoku_stream::service::proto::{
    Answer, ErrorCode, Metrics, Question, SolveOptions, TraceEnd, TraceRequest, TraceStep, answer,
};
use sudoku_stream::solver::STRATEGIES;
use tonic::{Code, Status};

use crate::harness::server::{
    Counters, Fault, Faulty, Running, config, config_with, eventually, nearly_solved, start,
};
use crate::harness::{assert_solves, by, error, grid, solution};

const EMPTY: &str = ".................................................................................";

/// A stream's steps, its end, and how many messages it took.
type StepObserver = (Vec<TraceStep>, TraceEnd, usize);

async fn trace(
    server: &Running,
    options: SolveOptions,
    text: &str,
    steps: u64,
) -> Result<StepObserver, Status> {
    let request = TraceRequest {
        options: Some(options),
        text: Bytes::copy_from_slice(text.as_bytes()),
        step_limit: steps,
        ..Default::default()
    };
    let mut stream = server.client().await.trace(request).await?.into_inner();
    let (mut told, mut messages) = (Vec::new(), 0);
    loop {
        let message = stream.message().await?.expect("the last message has the end");
        messages += 1;
        told.extend(message.steps);
        if let Some(end) = message.end {
            assert!(stream.message().await?.is_none(), "something came after the end");
            return Ok((told, end, messages));
        }
    }
}

fn answer_of(end: &TraceEnd) -> &Answer {
    end.answer.as_ref().expect("the search came to its end")
}

/// What steps tell of the cost of the search.
fn cost_of(steps: &[TraceStep]) -> Metrics {
    let count = |kind| steps.iter().filter(|step| step.kind() == kind).count() as u64;
    let (guesses, backtracks) = (count(Kind::Guess), count(Kind::Backtrack));
    let standing = steps.iter().scan(0, |standing, step| {
        match step.kind() {
            Kind::Guess => *standing += 1,
            Kind::Backtrack => *standing -= 1,
            _ => {}
        }
        Some(*standing)
    });
    let depth = standing.max().unwrap();
    Metrics { guesses, backtracks, depth, placements: guesses + count(Kind::Infer), ..Metrics::default() }
}

/// Puts digits where the steps say, and takes them back.
fn follow(puzzle: &str, steps: &[TraceStep]) -> Grid {
    let mut board = grid(puzzle);
    let mut placed = Vec::new();
    for step in steps {
        let cell = step.cell.map(|cell| {
            board.order().cell(cell.row as usize, cell.column as usize).expect("a cell of the grid")
        });
        match step.kind() {
            Kind::Guess | Kind::Infer => {
                let cell = cell.unwrap();
                assert_eq!(board.get(cell), None);
                let digit = board.order().digit(step.digit as usize).unwrap();
                board.set(cell, Some(digit));
                placed.push(cell);
            }
            Kind::Backtrack => {
                while let Some(last) = placed.pop() {
                    board.set(last, None);
                    if Some(last) == cell {
                        break;
                    }
                }
            }
            Kind::Conflict | Kind::Solved | Kind::NoSolution | Kind::GaveUp => {}
            Kind::BandComplete => assert!((1..=board.order().box_side()).contains(&(step.band as usize))),
            Kind::Unspecified => panic!("{step:?}"),
        }
    }
    board
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_steps_lead_to_the_solution() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    for name in STRATEGIES.iter().map(|strategy| strategy.name()).chain([""]) {
        let (steps, end, _) = trace(&server, by(name), puzzle, 0).await.unwrap();
        let answer = answer_of(&end);
        assert_solves(solution(answer), puzzle);
        assert_eq!(follow(puzzle, &steps), grid(solution(answer)), "{name}");
        let metrics = answer.metrics.unwrap();
        let placed = steps.iter().filter(|step| [Kind::Guess, Kind::Infer].contains(&step.kind())).count();
        assert_eq!(metrics.placements, placed as u64, "{name}");
        assert!(metrics.comparisons > 0, "{name}");
        assert_eq!(steps.iter().filter(|step| step.kind() == Kind::BandComplete).count(), 3, "{name}");
        assert_eq!(steps.last().unwrap().kind(), Kind::Solved, "{name}");
    }
}

/// The search is further than the steps that are sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_is_cut_short_costs_what_its_steps_tell() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    for strategy in STRATEGIES {
        let (whole, end, _) = trace(&server, by(strategy.name()), puzzle, 0).await.unwrap();
        // The last step says that it is solved, and counts for nothing.
        let steps = whole.len() as u64 - 1;
        let (cut, cut_end, _) = trace(&server, by(strategy.name()), puzzle, steps).await.unwrap();
        let wanted = Metrics { nodes: 0, comparisons: 0, ..answer_of(&end).metrics.unwrap() };
        assert_eq!(cut_end.metrics, Some(wanted), "{}", strategy.name());
        assert_eq!(cost_of(&cut), wanted, "{}", strategy.name());
        assert_eq!(end.metrics, Some(wanted), "{}", strategy.name());
    }
    let (cut, end, _) = trace(&server, by("propagation"), puzzle, 5).await.unwrap();
    assert_eq!(end.metrics, Some(cost_of(&cut)));
}

/// A search of many messages is told without a gap or a repetition, although each is told by a search of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_fit_together() {
    let server = start(config()).await;
    let options = SolveOptions { question: Question::Count.into(), count_limit: 300, ..by("backtracking") };
    let (whole, end, messages) = trace(&server, options.clone(), EMPTY, 100_000).await.unwrap();
    assert!(messages > 2, "{messages}");
    assert!(matches!(answer_of(&end).result, Some(answer::Result::Count(300))));
    assert_eq!(whole.iter().filter(|step| step.kind() == Kind::Solved).count(), 300);
    assert!(follow(EMPTY, &whole).is_solved());

    for limit in [1, 8_191, 8_192, 8_193, 16_384] {
        let (part, end, _) = trace(&server, options.clone(), EMPTY, limit).await.unwrap();
        assert_eq!(end.answer, None, "{limit}");
        assert_eq!(end.metrics, Some(cost_of(&part)), "{limit}");
        assert_eq!(part, whole[..usize::try_from(limit).unwrap()], "{limit}");
    }
    let all = whole.len() as u64;
    let (same, end, _) = trace(&server, options.clone(), EMPTY, all).await.unwrap();
    assert!(same == whole && end.answer.is_some());
    let (cut, end, _) = trace(&server, options, EMPTY, all - 1).await.unwrap();
    assert!(cut == whole[..whole.len() - 1] && end.answer.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_end_is_told() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    // Row 1 leaves only 9 for its last cell, which column 9 holds.
    let unsolvable = format!("12345678.{}9{}", ".".repeat(8), ".".repeat(63));
    let (steps, end, _) = trace(&server, by("propagation"), &unsolvable, 0).await.unwrap();
    assert_eq!(error(answer_of(&end)).code(), ErrorCode::NoSolution);
    assert_eq!(steps.last().unwrap().kind(), Kind::NoSolution);

    let options = SolveOptions { node_limit: 5, ..by("backtracking") };
    let (steps, end, _) = trace(&server, options, EMPTY, 0).await.unwrap();
    assert_eq!(error(answer_of(&end)).message, "The puzzle was given up after 5 nodes.");
    assert_eq!(steps.last().unwrap().kind(), Kind::GaveUp);

    let options = SolveOptions { question: Question::Unique.into(), ..by("dancing-links") };
    let (_, end, _) = trace(&server, options, EMPTY, 0).await.unwrap();
    assert_eq!(error(answer_of(&end)).code(), ErrorCode::NotUnique);

    for (text, code) in [
        ("", ErrorCode::Empty),
        ("12", ErrorCode::WrongLength),
        ("11..............", ErrorCode::RuleBroken),
        ("1q..............", ErrorCode::InvalidCharacter),
    ] {
        let (steps, end, _) = trace(&server, by(""), text, 0).await.unwrap();
        assert_eq!(error(answer_of(&end)).code(), code, "{text}");
        assert!(steps.is_empty());
    }
    let two = trace(&server, by(""), &format!("{puzzle}\n{puzzle}\n"), 0).await.unwrap_err();
    assert_eq!((two.code(), two.message()), (Code::InvalidArgument, "Trace takes one puzzle."));
    let unknown = trace(&server, by("guessing"), puzzle, 0).await.unwrap_err();
    assert_eq!(unknown.code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_has_limits_of_its_own() {
    let limits = Limits { trace_steps: 100, nodes: 10, ..Limits::default() };
    let server = start(sudoku_stream::service::Config { limits, ..config() }).await;
    let (steps, end, _) = trace(&server, by("backtracking"), EMPTY, u64::MAX).await.unwrap();
    assert!(steps.len() < 100);
    assert_eq!(error(answer_of(&end)).code(), ErrorCode::GaveUp);
    let limits = Limits { trace_steps: 100, ..Limits::default() };
    let server = start(sudoku_stream::service::Config { limits, ..config() }).await;
    let (steps, end, _) = trace(&server, by("backtracking"), EMPTY, u64::MAX).await.unwrap();
    assert_eq!((steps.len(), end.answer), (100, None));
}

/// A client that does not read, or leaves, holds up nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_read_cost_no_thread() {
    let server = start(config()).await;
    let request = || TraceRequest {
        options: Some(SolveOptions { question: Question::Count.into(), ..by("backtracking") }),
        text: Bytes::from_static(EMPTY.as_bytes()),
        step_limit: 1_000_000,
        ..Default::default()
    };
    let mut client = server.client().await;
    let mut idle = Vec::new();
    for _ in 0..8 {
        idle.push(client.trace(request()).await.unwrap().into_inner());
    }
    let puzzle = &nearly_solved(1)[0];
    let (_, end, _) = trace(&server, by(""), puzzle, 0).await.unwrap();
    assert_solves(solution(answer_of(&end)), puzzle);
    drop(idle);

    let faulty = Faulty::new(Fault::Endless);
    let Counters { running, .. } = faulty.counters.clone();
    let server = start(config_with(faulty)).await;
    let mut client = server.client().await;
    let stream = client.trace(TraceRequest { options: Some(by("faulty")), ..request() }).await.unwrap();
    let count = || running.load(std::sync::atomic::Ordering::SeqCst);
    eventually("the search", || count() == 1).await;
    drop(stream);
    eventually("its end", || count() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_breaks_down_ends_the_call_only() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let puzzle = &nearly_solved(1)[0];
    let broken = trace(&server, by("faulty"), puzzle, 0).await.unwrap_err();
    assert_eq!(broken.code(), Code::Internal);
    assert!(trace(&server, by("propagation"), puzzle, 0).await.is_ok());
}
