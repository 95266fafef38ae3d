//! A plain server with our methods that sends back what it gets: what messages cost by themselves.
//!
//! It has the service's flow control, allocator and number of threads, and its answers have the size of the
//! service's own. Nothing else stands between the socket and them.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use sudoku_stream::service::proto::sudoku_service_server::{SudokuService, SudokuServiceServer};
use sudoku_stream::service::{Limits, proto};
use tokio::net::TcpListener;
use tokio_stream::StreamExt as _;
use tonic::codegen::BoxStream;
use tonic::transport;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

use super::LINE_BYTES;
use super::process::LISTENING;

/// The cores for each thread that moves bytes, as `sudokud` has it.
const CORES_PER_TRANSPORT_THREAD: usize = 4;

/// A solution, whichever.
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// Serves until standard input ends, which it does with the process at its other end.
pub fn serve() {
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.div_ceil(CORES_PER_TRANSPORT_THREAD))
        .enable_all()
        .build()
        .expect("threads");
    runtime.spawn(async {
        let listener =
            TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("a free port");
        eprintln!("{LISTENING}{}", listener.local_addr().expect("an address"));
        let sockets = TcpIncoming::from(listener).with_nodelay(Some(true));
        // The windows, frames and streams of the service.
        transport::Server::builder()
            .initial_stream_window_size(1_u32 << 20)
            .initial_connection_window_size(512_u32 << 20)
            .max_frame_size(256_u32 << 10)
            .max_concurrent_streams(Limits::default().streams_per_connection)
            .add_service(SudokuServiceServer::new(Echo))
            .serve_with_incoming(sockets)
            .await
    });
    // Whatever it says, there is nobody left to serve.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    runtime.shutdown_background();
}

struct Echo;

/// An answer like those that the service gives to easy puzzles.
fn answer(line: u64) -> proto::Answer {
    proto::Answer {
        result: Some(proto::answer::Result::Solution(SOLUTION.to_owned())),
        metrics: Some(metrics(1)),
        count_is_exact: false,
        line,
    }
}

fn metrics(nodes: u64) -> proto::Metrics {
    proto::Metrics { nodes, ..proto::Metrics::default() }
}

fn echo_lines(request: proto::SolveLinesRequest) -> proto::SolveLinesResponse {
    let answers = (request.lines.len() / LINE_BYTES) as u64;
    let tally = proto::Tally { answers, errors: Vec::new(), metrics: Some(metrics(answers)) };
    proto::SolveLinesResponse { lines: request.lines, tally: Some(tally) }
}

fn echo_puzzles(request: proto::SolveStreamRequest) -> proto::SolveStreamResponse {
    let proto::SolveStreamRequest { batch_id, puzzles, .. } = request;
    let answers = puzzles.into_iter().map(|_| answer(batch_id)).collect();
    proto::SolveStreamResponse { batch_id, answers }
}

/// The stream that answers each message of another one by itself.
fn each<Q: Send + 'static, R: Send + 'static>(
    requests: Request<Streaming<Q>>,
    echo: fn(Q) -> R,
) -> Response<BoxStream<R>> {
    let responses = requests.into_inner().map(move |request| request.map(echo));
    Response::new(Box::pin(responses))
}

/// What a method says that is not compared.
fn not_here<R>() -> Result<R, Status> {
    Err(Status::unimplemented("the echo server solves nothing"))
}

#[tonic::async_trait]
impl SudokuService for Echo {
    type SolveStreamStream = BoxStream<proto::SolveStreamResponse>;
    type SolveLinesStream = BoxStream<proto::SolveLinesResponse>;
    type CanonicalizeStream = BoxStream<proto::CanonicalizeResponse>;
    type SolveDatasetStream = BoxStream<proto::SolveDatasetResponse>;
    type TraceStream = BoxStream<proto::TraceResponse>;
    type GenerateStream = BoxStream<proto::GenerateResponse>;

    async fn solve_stream(
        &self,
        requests: Request<Streaming<proto::SolveStreamRequest>>,
    ) -> Result<Response<Self::SolveStreamStream>, Status> {
        Ok(each(requests, echo_puzzles))
    }

    async fn solve_lines(
        &self,
        requests: Request<Streaming<proto::SolveLinesRequest>>,
    ) -> Result<Response<Self::SolveLinesStream>, Status> {
        Ok(each(requests, echo_lines))
    }

    async fn canonicalize(
        &self,
        _: Request<Streaming<proto::CanonicalizeRequest>>,
    ) -> Result<Response<Self::CanonicalizeStream>, Status> {
        not_here()
    }

    async fn solve(
        &self,
        request: Request<proto::SolveRequest>,
    ) -> Result<Response<proto::SolveResponse>, Status> {
        let lines = request.into_inner().text.len().div_ceil(LINE_BYTES) as u64;
        Ok(Response::new(proto::SolveResponse { answers: (0..lines).map(answer).collect() }))
    }

    async fn solve_dataset(
        &self,
        _: Request<proto::SolveDatasetRequest>,
    ) -> Result<Response<Self::SolveDatasetStream>, Status> {
        not_here()
    }

    async fn list_datasets(
        &self,
        _: Request<proto::ListDatasetsRequest>,
    ) -> Result<Response<proto::ListDatasetsResponse>, Status> {
        not_here()
    }

    async fn get_puzzle(
        &self,
        _: Request<proto::GetPuzzleRequest>,
    ) -> Result<Response<proto::GetPuzzleResponse>, Status> {
        not_here()
    }

    async fn validate(
        &self,
        _: Request<proto::ValidateRequest>,
    ) -> Result<Response<proto::ValidateResponse>, Status> {
        not_here()
    }

    async fn check(&self, _: Request<proto::CheckRequest>) -> Result<Response<proto::CheckResponse>, Status> {
        not_here()
    }

    async fn count(&self, _: Request<proto::CountRequest>) -> Result<Response<proto::CountResponse>, Status> {
        not_here()
    }

    async fn trace(&self, _: Request<proto::TraceRequest>) -> Result<Response<Self::TraceStream>, Status> {
        not_here()
    }

    async fn hint(&self, _: Request<proto::HintRequest>) -> Result<Response<proto::HintResponse>, Status> {
        not_here()
    }

    async fn rate(&self, _: Request<proto::RateRequest>) -> Result<Response<proto::RateResponse>, Status> {
        not_here()
    }

    async fn steps(&self, _: Request<proto::StepsRequest>) -> Result<Response<proto::StepsResponse>, Status> {
        not_here()
    }

    async fn generate(
        &self,
        _: Request<proto::GenerateRequest>,
    ) -> Result<Response<Self::GenerateStream>, Status> {
        not_here()
    }
}
