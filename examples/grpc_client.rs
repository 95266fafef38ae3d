//! A gRPC client that sends puzzles to a `sudokud` and prints the answers:
//! `cargo run --example grpc_client -- http://127.0.0.1:50051`
//!
//! Without an address it starts a server in its own process.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use sudoku_stream::service::proto::SolveStreamRequest;
use sudoku_stream::service::proto::answer::Result as Answer;
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::{Config, Server};

const PUZZLES: [&str; 2] =
    ["53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79", "too short"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = match std::env::args().nth(1) {
        Some(address) => address,
        None => own_server().await?,
    };
    let mut client = SudokuServiceClient::connect(address).await?;
    // One message with all puzzles; a stream may have any number of them.
    let request = SolveStreamRequest {
        batch_id: 1,
        puzzles: PUZZLES.map(|puzzle| Bytes::from_static(puzzle.as_bytes())).to_vec(),
        ..SolveStreamRequest::default()
    };
    let mut responses = client.solve_stream(tokio_stream::iter([request])).await?.into_inner();
    while let Some(response) = responses.message().await? {
        for answer in response.answers {
            match answer.result {
                Some(Answer::Solution(solution)) => println!("{solution}"),
                Some(Answer::Error(error)) => println!("error: {}", error.message),
                other => println!("{other:?}"),
            }
        }
    }
    Ok(())
}

/// Starts a server on a free port, which ends with this program.
async fn own_server() -> Result<String, Box<dyn Error>> {
    let listen = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()];
    let server = Server::bind(Config { listen, ..Config::default() }).await?;
    let address = format!("http://{}", server.local_addr());
    tokio::spawn(server.serve(std::future::pending()));
    Ok(address)
}
