//! Making puzzles over the wire.

use std::sync::atomic::AtomicBool;

use sudoku_stream::generate::{Constraints, Generator, Kind, Recipe};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::service::proto::{self, GenerateRequest, GenerateResponse};
use sudoku_stream::text::{Alphabet, Format, Notation};
use tokio::time::timeout;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::harness::server::{Running, all_of, config, start};
use crate::harness::{PATIENCE, grid};

async fn generate(server: &Running, request: GenerateRequest) -> Result<Vec<GenerateResponse>, Status> {
    let stream = server.client().await.generate(request).await?.into_inner();
    let (responses, end) = timeout(PATIENCE, all_of(stream)).await.unwrap();
    end.map(|()| responses)
}

fn puzzles(responses: &[GenerateResponse]) -> Vec<String> {
    let text: Vec<u8> = responses.iter().flat_map(|response| response.puzzles.iter().copied()).collect();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

fn solutions(responses: &[GenerateResponse]) -> Vec<String> {
    let text: Vec<u8> = responses.iter().flat_map(|response| response.solutions.iter().copied()).collect();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

fn fields(status: &Status) -> Vec<String> {
    let details = status.get_error_details();
    details.bad_request().unwrap().field_violations.iter().map(|v| v.field.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_puzzles_come_as_offline() {
    let server = start(config()).await;
    let request = GenerateRequest { count: 2500, seed: Some(21), with_solutions: true, ..Default::default() };
    let responses = generate(&server, request).await.unwrap();
    assert!(responses.len() > 1, "they come in parts");
    assert!(responses.iter().all(|response| response.seed == 21 && response.given_up == 0));
    let recipe = Recipe { order: Order::NINE, kind: Kind::Puzzle(Constraints::default()), attempts: 1000 };
    let offline = Generator::new(recipe, 21).unwrap().make(0, 2500, &AtomicBool::new(false)).unwrap();
    let (puzzles, solutions) = (puzzles(&responses), solutions(&responses));
    assert_eq!((puzzles.len(), solutions.len()), (2500, 2500));
    for ((puzzle, solution), made) in puzzles.iter().zip(&solutions).zip(offline) {
        assert_eq!(grid(puzzle), made.unwrap().clues);
        assert!(grid(solution).solves(&grid(puzzle)), "{puzzle} {solution}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_that_was_not_given_is_told() {
    let server = start(config()).await;
    let any = generate(&server, GenerateRequest { count: 5, ..Default::default() }).await.unwrap();
    let seed = Some(any[0].seed);
    let again = generate(&server, GenerateRequest { count: 5, seed, ..Default::default() }).await.unwrap();
    assert_eq!(puzzles(&again), puzzles(&any));
    let one = generate(&server, GenerateRequest::default()).await.unwrap();
    assert_eq!(puzzles(&one).len(), 1);
    assert!(one[0].solutions.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wishes_are_fulfilled() {
    let server = start(config()).await;
    for order in 1..=5 {
        let request = GenerateRequest { order, ..Default::default() };
        let made = puzzles(&generate(&server, request).await.unwrap());
        assert_eq!(grid(&made[0]).order().box_side(), order as usize);
    }
    let request = GenerateRequest {
        count: 20,
        clues: Some(32),
        symmetry: proto::Symmetry::Rotational.into(),
        difficulty: proto::Difficulty::Easy.into(),
        grid_source: proto::GridSource::Shuffled.into(),
        alphabet: "alpha".to_owned(),
        ..Default::default()
    };
    let format = Format::new(Notation::Lines, Order::NINE, "alpha".parse::<Alphabet>().unwrap()).unwrap();
    for puzzle in puzzles(&generate(&server, request).await.unwrap()) {
        let mut clues = Grid::empty(Order::NINE);
        format.read_cells(puzzle.as_bytes(), &mut clues).unwrap();
        assert_eq!(clues.filled(), 32);
        assert!((0..81).all(|cell| (clues.digits()[cell] == 0) == (clues.digits()[80 - cell] == 0)));
    }
    let boards =
        GenerateRequest { count: 9, random_clues: Some(50), with_solutions: true, ..Default::default() };
    let boards = generate(&server, boards).await.unwrap();
    assert!(solutions(&boards).is_empty());
    assert!(puzzles(&boards).iter().all(|board| grid(board).filled() == 50 && grid(board).keeps_rules()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn puzzles_that_were_given_up_are_counted() {
    let mut config = config();
    config.limits.attempts = 3;
    let server = start(config).await;
    // More attempts than the server allows are lowered.
    let request = GenerateRequest {
        count: 3000,
        clues: Some(23),
        seed: Some(22),
        attempts: 1_000_000,
        ..Default::default()
    };
    let responses = generate(&server, request).await.unwrap();
    let counts: Vec<u64> = responses.iter().map(|response| response.given_up).collect();
    assert!(counts.is_sorted() && counts[0] > 0, "{counts:?}");
    assert_eq!(puzzles(&responses).len() as u64 + counts.last().unwrap(), 3000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_wishes_are_refused_by_the_names_of_their_fields() {
    let mut config = config();
    config.limits.generated = 2000;
    let server = start(config).await;
    let none = GenerateRequest::default;
    let cases: Vec<(GenerateRequest, &[&str])> = vec![
        (GenerateRequest { order: 6, ..none() }, &["order"]),
        (GenerateRequest { count: 2001, ..none() }, &["count"]),
        (GenerateRequest { count: 21, order: 4, ..none() }, &["count"]),
        (GenerateRequest { count: 3, order: 5, ..none() }, &["count"]),
        (GenerateRequest { clues: Some(16), ..none() }, &["clues"]),
        (GenerateRequest { clues: Some(u32::MAX), ..none() }, &["clues"]),
        (
            GenerateRequest { clues: Some(22), symmetry: proto::Symmetry::Rotational90.into(), ..none() },
            &["symmetry"],
        ),
        (
            GenerateRequest { technique: "dynamic-forcing-chains".to_owned(), order: 4, ..none() },
            &["technique"],
        ),
        (
            GenerateRequest { symmetry: 77, difficulty: 78, grid_source: 79, ..none() },
            &["grid_source", "symmetry", "difficulty"],
        ),
        (GenerateRequest { difficulty: 2, least_guesses: Some(1), ..none() }, &["difficulty"]),
        (GenerateRequest { least_guesses: Some(5), most_guesses: Some(4), ..none() }, &["most_guesses"]),
        (GenerateRequest { random_clues: Some(82), ..none() }, &["random_clues"]),
        (GenerateRequest { random_clues: Some(20), minimal: true, ..none() }, &["random_clues"]),
        (GenerateRequest { alphabet: "hex".to_owned(), order: 5, ..none() }, &["alphabet"]),
        (GenerateRequest { alphabet: "x y".to_owned(), ..none() }, &["alphabet"]),
    ];
    for (request, wanted) in cases {
        let status = generate(&server, request.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{request:?}");
        assert_eq!(fields(&status), wanted, "{request:?}: {status:?}");
    }
    let family = GenerateRequest { technique: "wings".to_owned(), ..none() };
    let status = generate(&server, family).await.unwrap_err();
    assert_eq!(status.message(), "wings is a family of techniques. Name one of them: xy-wing, xyz-wing.");
}

/// Work on hand stops, and the pool is free for others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_is_worked_for_no_more() {
    let mut config = config();
    config.limits.streams = 1;
    config.limits.attempts = u64::MAX;
    let server = start(config).await;
    let mut client = server.client().await;
    // There is none, and nobody will find that out.
    let hopeless = GenerateRequest {
        count: 100_000,
        clues: Some(80),
        minimal: true,
        attempts: u64::MAX,
        ..Default::default()
    };
    let call = client.generate(hopeless).await.unwrap();
    let busy = generate(&server, GenerateRequest::default()).await.unwrap_err();
    assert_eq!(busy.code(), Code::ResourceExhausted);
    drop(call);
    let free = async {
        loop {
            match generate(&server, GenerateRequest { count: 40, ..Default::default() }).await {
                Ok(responses) => break responses,
                Err(status) => assert_eq!(status.code(), Code::ResourceExhausted),
            }
        }
    };
    assert_eq!(puzzles(&timeout(PATIENCE, free).await.unwrap()).len(), 40);
}
