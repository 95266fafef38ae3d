//! What the server has besides its own methods, and messages that come packed.

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveRequest, SolveStreamRequest};
use tokio_stream::StreamExt as _;
use tonic::codec::CompressionEncoding::{self, Deflate, Gzip, Zstd};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::{v1, v1alpha};

use crate::harness::server::{config, nearly_solved, start};
use crate::harness::{assert_solves, solution};
use crate::streams::batch;

const ENCODINGS: [Option<CompressionEncoding>; 4] = [None, Some(Deflate), Some(Gzip), Some(Zstd)];

/// A client that packs what it sends and understands what comes packed, if an encoding is given.
macro_rules! packing {
    ($client:expr, $encoding:expr) => {
        match $encoding {
            None => $client,
            Some(encoding) => $client.send_compressed(encoding).accept_compressed(encoding),
        }
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn puzzles_are_solved_plain_and_packed() {
    let server = start(config()).await;
    let puzzles = nearly_solved(300);
    for encoding in ENCODINGS {
        let mut client = packing!(server.client().await, encoding);
        let text = Bytes::copy_from_slice(puzzles[0].as_bytes());
        let answers = client.solve(SolveRequest { options: None, text, ..Default::default() }).await.unwrap();
        if let Some(encoding) = encoding {
            let name = format!("{encoding:?}").to_lowercase();
            assert_eq!(answers.metadata().get("grpc-encoding").unwrap(), name.as_str());
        }
        assert_solves(solution(&answers.into_inner().answers[0]), &puzzles[0]);
        let requests: Vec<SolveStreamRequest> = puzzles
            .chunks(100)
            .map(|c| batch(1, &c.iter().map(String::as_bytes).collect::<Vec<_>>()))
            .collect();
        let stream = client.solve_stream(tokio_stream::iter(requests)).await.unwrap().into_inner();
        let responses: Vec<_> = stream.map(Result::unwrap).collect().await;
        let answers = responses.iter().flat_map(|response| &response.answers);
        assert_eq!(answers.clone().count(), 300);
        for (answer, puzzle) in answers.zip(&puzzles) {
            assert_solves(solution(answer), puzzle);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_takes_packed_questions_and_answers_plain() {
    let server = start(config()).await;
    for encoding in ENCODINGS {
        let mut client = packing!(HealthClient::new(server.channel().await), encoding);
        for service in ["", "sudoku.v1.SudokuService"] {
            let request = HealthCheckRequest { service: service.to_owned() };
            let response = client.check(request).await.unwrap();
            // Clients of gRPC-core that check health cannot read an answer that comes packed.
            assert!(response.metadata().get("grpc-encoding").is_none());
            assert_eq!(response.into_inner().status(), ServingStatus::Serving, "{service}");
        }
    }
}

/// The names of the services and whether the file of the contract is handed out, by one version of reflection.
macro_rules! reflected {
    ($version:ident, $server:expr, $encoding:expr) => {{
        use $version::server_reflection_client::ServerReflectionClient;
        use $version::server_reflection_request::MessageRequest;
        use $version::server_reflection_response::MessageResponse;
        let mut client = packing!(ServerReflectionClient::new($server.channel().await), $encoding);
        let ask = |question| $version::ServerReflectionRequest {
            host: String::new(),
            message_request: Some(question),
        };
        let symbol = "sudoku.v1.SudokuService.SolveLines".to_owned();
        let requests = tokio_stream::iter([
            ask(MessageRequest::ListServices(String::new())),
            ask(MessageRequest::FileContainingSymbol(symbol)),
        ]);
        let mut stream = client.server_reflection_info(requests).await.unwrap().into_inner();
        let mut next = async || stream.message().await.unwrap().unwrap().message_response.unwrap();
        let MessageResponse::ListServicesResponse(services) = next().await else { panic!() };
        let MessageResponse::FileDescriptorResponse(files) = next().await else { panic!() };
        assert_eq!(files.file_descriptor_proto.len(), 1);
        let names: Vec<_> = services.service.into_iter().map(|service| service.name).collect();
        names
    }};
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reflection_answers_in_both_versions_plain_and_packed() {
    let server = start(config()).await;
    for encoding in ENCODINGS {
        for names in [reflected!(v1, server, encoding), reflected!(v1alpha, server, encoding)] {
            for name in ["sudoku.v1.SudokuService", "grpc.health.v1.Health"] {
                assert!(names.iter().any(|n| n == name), "{names:?}");
            }
        }
    }
}
