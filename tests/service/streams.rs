//! `SolveStream`.

use bytes::Bytes;
use sudoku_stream::service::proto::{
    AddedColumn, Answer, ErrorCode, Notation, Question, SolveOptions, SolveStreamRequest,
    SolveStreamResponse, TraceRequest, answer,
};
use tonic::{Code, Status};

use crate::harness::server::{Fault, Faulty, Running, all_of, config, config_with, nearly_solved, start};
use crate::harness::{assert_solves, by, error, grid, solution};

pub fn batch(batch_id: u64, puzzles: &[&[u8]]) -> SolveStreamRequest {
    let puzzles = puzzles.iter().map(|puzzle| Bytes::copy_from_slice(puzzle)).collect();
    SolveStreamRequest { options: None, batch_id, puzzles }
}

/// Sends all requests and returns all responses and how the stream ended.
pub async fn exchange(
    server: &Running,
    requests: Vec<SolveStreamRequest>,
) -> (Vec<SolveStreamResponse>, Result<(), Status>) {
    let mut client = server.client().await;
    all_of(client.solve_stream(tokio_stream::iter(requests)).await.unwrap().into_inner()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_batch_comes_back_in_order_with_its_id() {
    let server = start(config()).await;
    let puzzles = nearly_solved(2000);
    let mut requests = Vec::new();
    let mut rest = &puzzles[..];
    for k in 0.. {
        let (now, later) = rest.split_at((k * 7 % 23).min(rest.len()));
        let entries: Vec<_> = now.iter().map(String::as_bytes).collect();
        requests.push(batch(k as u64 * 1_000_003 % 997, &entries));
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    let (responses, end) = exchange(&server, requests.clone()).await;
    end.unwrap();
    assert_eq!(responses.len(), requests.len());
    let mut line = 1;
    for (response, request) in responses.iter().zip(&requests) {
        assert_eq!(response.batch_id, request.batch_id);
        assert_eq!(response.answers.len(), request.puzzles.len());
        for (answer, puzzle) in response.answers.iter().zip(&request.puzzles) {
            assert_eq!(answer.line, line);
            assert_solves(solution(answer), str::from_utf8(puzzle).unwrap());
            line += 1;
        }
    }
    assert_eq!(line, 2001);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_entry_gets_one_answer_whatever_it_holds() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    let mut not_utf8 = puzzle.clone().into_bytes();
    not_utf8[7] = 0xFF;
    let nul = [0; 81];
    let long = vec![b'1'; 200_000];
    let two_lines = format!("{puzzle}\n{puzzle}");
    let entries: Vec<&[u8]> = vec![
        b"",
        b"# comment",
        puzzle.as_bytes(),
        &not_utf8,
        &nul,
        &long,
        two_lines.as_bytes(),
        b"................",
        puzzle.as_bytes(),
    ];
    let (responses, end) =
        exchange(&server, vec![batch(1, &entries), batch(2, &[]), batch(3, &[b"\r\n"])]).await;
    end.unwrap();
    let answers = &responses[0].answers;
    assert_eq!(answers.len(), entries.len());
    let code = |answer: &Answer| error(answer).code();
    for (k, expected) in [
        (0, ErrorCode::WrongLength),
        (1, ErrorCode::WrongLength),
        (3, ErrorCode::InvalidCharacter),
        (4, ErrorCode::InvalidCharacter),
        (5, ErrorCode::WrongLength),
        (6, ErrorCode::WrongLength),
        (7, ErrorCode::WrongLength),
    ] {
        assert_eq!(code(&answers[k]), expected, "entry {k}");
        assert_eq!(error(&answers[k]).line, k as u64 + 1);
    }
    let message = "Line 4 has an invalid character. It is byte 0xFF in column 8.";
    assert_eq!(error(&answers[3]).message, message);
    for k in [2, 8] {
        assert_solves(solution(&answers[k]), puzzle);
    }
    assert!(responses[1].answers.is_empty());
    assert_eq!(
        error(&responses[2].answers[0]).message,
        "Line 10 has the wrong length. It has 0 cells; a 9x9 puzzle has 81."
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_puzzle_sets_the_size() {
    let server = start(config()).await;
    let small: &[u8] = b"12.4............";
    let nine = nearly_solved(1).remove(0);
    let (responses, end) =
        exchange(&server, vec![batch(1, &[b""]), batch(2, &[small]), batch(3, &[nine.as_bytes(), small])])
            .await;
    end.unwrap();
    assert_eq!(error(&responses[0].answers[0]).code(), ErrorCode::WrongLength);
    assert_solves(solution(&responses[1].answers[0]), str::from_utf8(small).unwrap());
    assert_eq!(error(&responses[2].answers[0]).code(), ErrorCode::WrongLength);
    assert_solves(solution(&responses[2].answers[1]), str::from_utf8(small).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_change_in_mid_stream() {
    let server = start(config()).await;
    let small: &[u8] = b"................";
    let ask = |question: Question| SolveOptions { question: question.into(), ..Default::default() };
    let with = |options, request| SolveStreamRequest { options: Some(options), ..request };
    let (responses, end) = exchange(
        &server,
        vec![
            batch(1, &[small]),
            with(ask(Question::Count), batch(2, &[small])),
            batch(3, &[small]),
            with(ask(Question::Unique), batch(4, &[small])),
            with(SolveOptions { notation: Notation::Grid.into(), ..Default::default() }, batch(5, &[small])),
        ],
    )
    .await;
    assert_solves(solution(&responses[0].answers[0]), "................");
    for response in &responses[1..3] {
        assert_eq!(response.answers[0].result, Some(answer::Result::Count(288)));
        assert!(response.answers[0].count_is_exact);
    }
    assert_eq!(error(&responses[3].answers[0]).code(), ErrorCode::NotUnique);
    assert_eq!(responses.len(), 4);
    assert_eq!(end.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_for_which_answers_have_no_place_are_refused() {
    let server = start(config()).await;
    let options = SolveOptions { added_columns: vec![AddedColumn::Rating.into()], ..Default::default() };
    let request = SolveStreamRequest { options: Some(options.clone()), ..batch(1, &[b"."]) };
    let (responses, end) = exchange(&server, vec![request]).await;
    assert_eq!(responses, []);
    let request = TraceRequest { options: Some(options), puzzle: ".".to_owned(), ..Default::default() };
    let trace = server.client().await.trace(request).await.map(|_| ());
    for (end, method) in [(end, "SolveStream"), (trace, "Trace")] {
        let status = end.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(
            status.message(),
            format!("{method} adds no columns to its answers. Use SolveLines or SolveDataset.")
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_among_batches_that_are_searched_together_is_of_one_of_them() {
    let puzzles = nearly_solved(60);
    let server = start(config_with(Faulty::new(Fault::PanicOn(grid(&puzzles[31]))))).await;
    let entries: Vec<_> = puzzles.iter().map(String::as_bytes).collect();
    let requests: Vec<_> = entries.chunks(3).zip(100..).map(|(three, id)| batch(id, three)).collect();
    let (responses, end) = exchange(&server, requests).await;
    end.unwrap();
    assert_eq!(responses.len(), 20);
    let mut line = 1;
    for (place, (response, three)) in responses.iter().zip(puzzles.chunks(3)).enumerate() {
        assert_eq!((response.batch_id, response.answers.len()), (100 + place as u64, 3));
        for (answer, puzzle) in response.answers.iter().zip(three) {
            assert_eq!(answer.line, line);
            line += 1;
            if place == 10 {
                assert_eq!(error(answer).code(), ErrorCode::Internal);
            } else {
                assert_solves(solution(answer), puzzle);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_answers_each_puzzle_of_its_batch() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let puzzle = nearly_solved(1).remove(0);
    let entries = [puzzle.as_bytes(); 3];
    let sound = by("backtracking");
    let last = SolveStreamRequest { options: Some(sound), ..batch(8, &entries) };
    let (responses, end) = exchange(&server, vec![batch(7, &entries), last]).await;
    end.unwrap();
    let codes: Vec<_> = responses[0].answers.iter().map(|answer| error(answer).code()).collect();
    assert_eq!(codes, [ErrorCode::Internal; 3]);
    assert_eq!(error(&responses[0].answers[2]).line, 3);
    assert_eq!(responses[1].batch_id, 8);
    assert_solves(solution(&responses[1].answers[2]), &puzzle);
}
