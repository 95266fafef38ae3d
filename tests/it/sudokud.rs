//! The server as a process: how it starts, and how it ends.

use crate::harness::daemon::Daemon;
use crate::harness::{self, PATIENCE, SUDOKU, SUDOKUD, eventually, signal, unused_address};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{GenerateRequest, SolveOptions, SolveRequest};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

/// Far below the drain time-out of ten seconds, on an idle machine.
const PROMPT: Duration = Duration::from_secs(5);

fn sudokud(arguments: &[&str]) -> Command {
    let mut command = Command::new(SUDOKUD);
    command.args(arguments).env_remove("RUST_LOG").stderr(Stdio::piped());
    command
}

/// A server on a free port and the address from its log.
fn running(arguments: &[&str]) -> (Child, String) {
    started(&mut sudokud(arguments))
}

/// The same for one that has an environment.
fn started(command: &mut Command) -> (Child, String) {
    let mut child = command.args(["--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    let (_, address) = line.rsplit_once("listening on ").unwrap_or_else(|| panic!("{line}"));
    let address = address.trim_end().trim_end_matches(['"', '}']).to_owned();
    child.stderr = Some(log.into_inner());
    (child, address)
}

/// Waits for the end of a server.
#[track_caller]
fn ended(child: &mut Child) -> ExitStatus {
    harness::wait_for("the end of the server", || child.try_wait().unwrap())
}

#[test]
fn what_cannot_start_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let cases: [(&[&str], &str); 9] = [
        (&["--listen", &taken], "is in use. Stop what listens there, or choose another address"),
        (&["--listen", "192.0.2.1:4000", "--insecure"], "is not an address of this machine."),
        (&["--listen", "0.0.0.0:0"], "add --insecure if that is what you want."),
        (&["--data-dir", "/no/such/folder"], "The data directory /no/such/folder cannot be opened"),
        (&["--config", "/no/such/file"], "The configuration file /no/such/file cannot be read"),
        (&["--listen", "nonsense"], "write an address or a name and a port, as in 127.0.0.1:50051"),
        (&["--threads", "0"], "give a whole number from 1 to 1024"),
        (&["--threads", "1025"], "give a whole number from 1 to 1024"),
        (&["--max-nodes", "0"], "give a whole number from 1"),
    ];
    for (arguments, words) in cases {
        let output = sudokud(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_signal_ends_it_although_a_client_is_silent() {
    for name in ["-TERM", "-INT"] {
        let (mut child, address) = running(&["--drain-timeout", "600"]);
        let silent = TcpStream::connect(&address).unwrap();
        std::io::Write::write_all(&mut &silent, b"PRI * HTTP").unwrap();
        signal(&child, name);
        assert!(ended(&mut child).success());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("all calls have ended"), "{log}");
        drop(silent);
    }
}

#[test]
fn the_environment_and_a_file_say_the_same_as_flags() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("sudokud.toml");
    std::fs::write(&file, "listen = '127.0.0.1:0'\nlog = 'json'\ndrain-timeout = 1\n").unwrap();
    let mut child = Command::new(SUDOKUD)
        .env("SUDOKUD_CONFIG", &file)
        .env("SUDOKUD_THREADS", "1")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{') && line.contains("listening on 127.0.0.1:"), "{line}");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());

    let daemon = Daemon::from_command(Command::new(SUDOKUD).env("SUDOKUD_MAX_NODE", "1"));
    let words = "the environment variable SUDOKUD_MAX_NODE is no setting; a similar one is SUDOKUD_MAX_NODES";
    eventually("a word about a misspelt one", || daemon.log().contains(words));

    std::fs::write(&file, "lisen = '127.0.0.1:0'\n").unwrap();
    let output = sudokud(&["--config", file.to_str().unwrap()]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("lisen") && message.contains("is wrong"), "{message}");
}

/// Even a log of everything has no token in it, and a hangup replaces tokens.
#[test]
fn tokens_are_replaced_by_a_hangup_and_never_logged() {
    const FIRST: &str = "correct-horse-battery-staple";
    const SECOND: &str = "another-token-of-some-length";
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // As some editors begin a file.
    let marked = format!("\u{feff}{FIRST}\n");
    let (tokens, puzzle) = (file("tokens", &marked), file("puzzle", "1...............\n"));
    let (first, second) = (file("first", &marked), file("second", SECOND));

    let log = folder.path().join("log");
    let mut child = sudokud(&["--listen", "127.0.0.1:0", "--token-file", &tokens])
        .env("RUST_LOG", "trace")
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let log = || std::fs::read_to_string(&log).unwrap();
    let wait_for = |words: &str| wait_for(log, words);
    wait_for("listening on 127.0.0.1:");
    let address = log().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let url = format!("http://{address}");
    let code = |token: &str| {
        let mut command = Command::new(SUDOKU);
        command.args(["solve", &puzzle, "--server", &url, "--token-file", token]).env("RUST_LOG", "trace");
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(!said.contains(FIRST) && !said.contains(SECOND), "{said}");
        output.status.code()
    };
    assert_eq!((code(&first), code(&second)), (Some(0), Some(2)));

    std::fs::write(&tokens, "short").unwrap();
    signal(&child, "-HUP");
    wait_for("has a token of fewer than 16 characters on line 1. What was in use stays in use.");
    assert_eq!((code(&first), code(&second)), (Some(0), Some(2)));

    std::fs::write(&tokens, SECOND).unwrap();
    signal(&child, "-HUP");
    wait_for("certificates and tokens were read again");
    assert_eq!((code(&first), code(&second)), (Some(2), Some(0)));

    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    let log = log();
    assert!(log.contains("SolveLines"), "calls are logged at this level");
    assert!(!log.contains(FIRST) && !log.contains(SECOND));
}

/// What a server answers at a path of the address for metrics: the code, and all of it.
fn get(address: &str, request: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    std::io::Write::write_all(&mut socket, format!("{request} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    let code = text.split(' ').nth(1).and_then(|code| code.parse().ok());
    (code.unwrap_or_else(|| panic!("{text}")), text)
}

/// A server on free ports, with metrics. The address of the metrics, and that of the server as a URL.
fn running_with_metrics(arguments: &[&str]) -> (Child, String, String) {
    let both = ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
    let mut child = sudokud(&[&both, arguments].concat()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut said = |words: &str| {
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        line.split_once(words).unwrap_or_else(|| panic!("{line}")).1.trim_end().to_owned()
    };
    let metrics = said("serving metrics on http://");
    let metrics = metrics.strip_suffix("/metrics").unwrap().to_owned();
    let url = format!("http://{}", said("listening on "));
    child.stderr = Some(log.into_inner());
    (child, metrics, url)
}

/// The value of a figure.
#[track_caller]
fn figure(figures: &str, name: &str) -> u64 {
    let line = figures.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    let line = line.unwrap_or_else(|| panic!("no {name} in {figures}"));
    line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64
}

#[test]
fn figures_tell_what_the_server_did() {
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (mut child, admin, url) = running_with_metrics(&[]);
    let folder = tempfile::tempdir().unwrap();
    let puzzles = folder.path().join("puzzles");
    std::fs::write(&puzzles, "1...............\n12\n11..............\n....1...........\n").unwrap();
    let mut command = Command::new(SUDOKU);
    let solve = command.arg("solve").arg(&puzzles).args(["--server", &url]).output().unwrap();
    assert!(solve.status.success());

    // Answers go out before the thread that has found them is done with the batch.
    eventually("the end of all work", || {
        let figures = get(&admin, "GET /metrics").1;
        figure(&figures, "sudoku_batches_running") == 0 && figure(&figures, "sudoku_calls_open") == 0
    });
    let (code, figures) = get(&admin, "GET /metrics");
    assert_eq!(code, 200);
    let figure = |name: &str| figure(&figures, name);
    assert_eq!(figure("sudoku_puzzles_total{outcome=\"answered\"}"), 2);
    assert_eq!(figure("sudoku_puzzles_total{outcome=\"wrong_length\"}"), 1);
    assert_eq!(figure("sudoku_puzzles_total{outcome=\"rule_broken\"}"), 1);
    assert!(figure("sudoku_nodes_total") >= 2);
    assert_eq!(figure("sudoku_calls_total{method=\"SolveLines\",status=\"OK\"}"), 1);
    assert_eq!(figure("sudoku_messages_received_total{method=\"SolveLines\"}"), 1);
    assert_eq!(figure("sudoku_call_seconds_count{method=\"SolveLines\"}"), 1);
    assert_eq!(figure("sudoku_call_seconds_bucket{method=\"SolveLines\",le=\"+Inf\"}"), 1);
    assert_eq!(figure("sudoku_draining"), 0);
    assert!((before..before + 600).contains(&figure("process_start_time_seconds")));
    assert!(figure("sudoku_received_bytes_total") > 60 && figure("sudoku_sent_bytes_total") > 60);
    let build = figures.lines().find(|line| line.starts_with("sudoku_build_info{")).unwrap();
    for label in ["version=\"", "commit=\"", "rustc=\"rustc ", "backend=\""] {
        assert!(build.contains(label), "{build}");
    }
    assert!(figures.contains("# HELP sudoku_puzzles_total "));
    assert_eq!(get(&admin, "GET /healthz").0, 200);
    assert_eq!(get(&admin, "GET /readyz").0, 200);
    assert_eq!(get(&admin, "GET /").0, 404);
    assert_eq!(get(&admin, "POST /metrics").0, 405);

    let output = sudokud(&["--listen", "127.0.0.1:0", "--metrics-listen", &admin]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(&format!("Metrics cannot be served at {admin}")), "{message}");
    let output = sudokud(&["--metrics-listen", "0.0.0.0:1"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("metrics are not encrypted"), "{message}");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn readiness_and_health_end_when_it_shuts_down() {
    let (mut child, admin, url) = running_with_metrics(&["--drain-timeout", "600"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let channel = Endpoint::from_shared(url).unwrap().connect().await.unwrap();
        // A call that does not end as long as its client does not read: the server goes on draining.
        let mut client = SudokuServiceClient::new(channel.clone()).max_decoding_message_size(usize::MAX);
        let asked = GenerateRequest { order: 1, count: 1_000_000, ..Default::default() };
        let unread = client.generate(asked).await.unwrap().into_inner();
        let mut health = HealthClient::new(channel);
        let mut watch = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
        assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
        assert_eq!(get(&admin, "GET /readyz").0, 200);

        signal(&child, "-TERM");
        assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
        eventually("the end of its readiness", || get(&admin, "GET /readyz").0 != 200);
        assert_eq!(get(&admin, "GET /readyz").0, 503);
        assert_eq!(get(&admin, "GET /healthz").0, 200);
        let figures = get(&admin, "GET /metrics").1;
        assert_eq!(figure(&figures, "sudoku_draining"), 1);
        // The watch is a call too.
        assert_eq!(figure(&figures, "sudoku_calls_open"), 2);
        drop(unread);
        // The watch ends with the server.
        while watch.message().await.is_ok_and(|message| message.is_some()) {}
    });
    assert!(child.wait().unwrap().success());
}

/// Load balancers that ask within the delay send no more clients, and those who came are still answered.
#[test]
fn a_server_says_that_it_goes_before_its_port_is_closed() {
    let (mut child, admin, url) = running_with_metrics(&["--drain-delay", "600s"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        signal(&child, "-TERM");
        eventually("the end of its readiness", || get(&admin, "GET /readyz").0 == 503);
        // A new connection, with a call.
        let channel = Endpoint::from_shared(url).unwrap().connect().await.unwrap();
        let health = HealthClient::new(channel.clone()).check(HealthCheckRequest::default()).await.unwrap();
        assert_eq!(health.into_inner().status(), ServingStatus::NotServing);
        let asked = GenerateRequest { order: 1, count: 1, ..Default::default() };
        let mut made = SudokuServiceClient::new(channel).generate(asked).await.unwrap().into_inner();
        assert!(made.message().await.unwrap().is_some());
        // A second signal ends the delay too.
        signal(&child, "-TERM");
    });
    ended(&mut child);
}

/// A certificate for this machine that vouches for itself, and its key.
fn certificate() -> (String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// Even a log of everything has nothing in it that clients sent, but for ids, and each line of it is JSON.
#[test]
fn the_most_detailed_log_is_json_and_tells_no_secrets() {
    const TOKEN: &str = "correct-horse-battery-staple";
    const HEADER: &str = "hush-hush-in-a-header";
    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (pem, key) = certificate();
    let log = folder.path().join("log");
    let (certificate, key_file, tokens) = (file("cert", &pem), file("key", &key), file("tokens", TOKEN));
    let mut child = sudokud(&["--listen", "127.0.0.1:0", "--log", "json", "--token-file", &tokens])
        .args(["--tls-cert", &certificate, "--tls-key", &key_file])
        .env("RUST_LOG", "trace")
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let lines = || std::fs::read_to_string(&log).unwrap();
    let listening = wait_for(lines, "listening on ");
    let address = listening.split("listening on ").nth(1).unwrap().split('"').next().unwrap().to_owned();

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&pem));
        let endpoint = Endpoint::from_shared(format!("https://{address}")).unwrap().tls_config(tls).unwrap();
        let mut client = SudokuServiceClient::new(endpoint.connect().await.unwrap());
        for (id, token) in [("id-good", TOKEN), ("id-bad", "another-token-of-some-length")] {
            let text = format!("{PUZZLE}\n{PUZZLE}nonsense\n");
            let mut request = tonic::Request::new(SolveRequest { text: text.into(), ..Default::default() });
            let metadata = request.metadata_mut();
            metadata.insert("x-request-id", id.parse().unwrap());
            metadata.insert("x-note", HEADER.parse().unwrap());
            metadata.insert("authorization", format!("Bearer {token}").parse().unwrap());
            assert_eq!(client.solve(request).await.is_ok(), id == "id-good");
        }
    });
    wait_for(lines, "id-bad");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());

    let log = lines();
    let mut ended = Vec::new();
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        if line["fields"]["message"] == "the call has ended" {
            ended.push((line["span"]["request_id"].clone(), line["fields"]["status"].clone()));
        }
    }
    assert_eq!(ended, [("id-good".into(), "OK".into()), ("id-bad".into(), "UNAUTHENTICATED".into())]);
    let secret_lines = key.lines().filter(|line| !line.starts_with('-'));
    for secret in [TOKEN, "another-token", HEADER, &PUZZLE[..20], "534678912", "nonsense"]
        .into_iter()
        .chain(secret_lines)
    {
        assert!(!log.contains(secret), "the log has {secret}");
    }
}

/// Waits until a log has these words.
#[track_caller]
fn wait_for(log: impl Fn() -> String, words: &str) -> String {
    harness::wait_for(words, || Some(log()).filter(|log| log.contains(words)))
}

/// A collector of spans that keeps what it is sent.
struct Collector(mpsc::UnboundedSender<Span>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<tonic::Response<ExportTraceServiceResponse>, tonic::Status> {
        for spans in request.into_inner().resource_spans {
            let resource = spans.resource.unwrap_or_default().attributes;
            for mut span in spans.scope_spans.into_iter().flat_map(|spans| spans.spans) {
                span.attributes.extend(resource.clone());
                self.0.send(span).unwrap();
            }
        }
        Ok(tonic::Response::new(ExportTraceServiceResponse::default()))
    }
}

/// What a span, or the resource that it is of, says under a name.
fn value(span: &Span, name: &str) -> Option<Value> {
    span.attributes.iter().find(|attribute| attribute.key == name)?.value.clone()?.value
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    Some(match value(span, name)? {
        Value::StringValue(text) => text,
        other => panic!("{name}: {other:?}"),
    })
}

#[test]
fn spans_of_calls_reach_a_collector() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (sender, mut spans) = mpsc::unbounded_channel();
    let collector = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = TraceServiceServer::new(Collector(sender));
        let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
        tokio::spawn(tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming));
        format!("http://{address}")
    });

    // None of the calls of its own, but those that are part of a trace that is wanted.
    let (mut child, address) = started(
        sudokud(&["--otlp-endpoint", &collector, "--otlp-sample", "0"])
            .env("OTEL_RESOURCE_ATTRIBUTES", "service.name=of-the-environment,deployment.environment=test"),
    );
    let (good, bad, failed) = runtime.block_on(async {
        let url = format!("http://{address}");
        let mut client = SudokuServiceClient::connect(url).await.unwrap();
        let request = |strategy: &str, id: &str, is_sampled: bool| {
            let options = SolveOptions { strategy: strategy.to_owned(), ..Default::default() };
            let text = "1...............\n".into();
            let mut request =
                tonic::Request::new(SolveRequest { options: Some(options), text, ..Default::default() });
            let parent = format!("00-{TRACE}-{PARENT}-0{}", u8::from(is_sampled));
            request.metadata_mut().insert("traceparent", parent.parse().unwrap());
            request.metadata_mut().insert("x-request-id", id.parse().unwrap());
            request
        };
        client.solve(SolveRequest::default()).await.unwrap();
        client.solve(request("", "not-wanted", false)).await.unwrap();
        client.solve(request("", "span-good", true)).await.unwrap();
        // What waits to be sent is sent when the server ends.
        let good = timeout(PATIENCE, spans.recv()).await.unwrap().unwrap();
        client.solve(request("nonsense", "span-bad", true)).await.unwrap_err();
        let mut failing = request("", "span-failed", true);
        failing.metadata_mut().insert("grpc-encoding", "br".parse().unwrap());
        client.solve(failing).await.unwrap_err();
        drop(client);
        let parent = format!("00-{TRACE}-{PARENT}-01");
        for method in ["ListDatasets", "Missing"] {
            let mut socket = TcpStream::connect(&address).unwrap();
            let head = format!(
                "POST /sudoku.v1.SudokuService/{method} HTTP/1.1\r\nhost: localhost\r\nconnection: close"
            );
            let kind = "content-type: application/json\r\ncontent-length: 2";
            write!(socket, "{head}\r\ntraceparent: {parent}\r\n{kind}\r\n\r\n{{}}").unwrap();
            socket.read_to_string(&mut String::new()).unwrap();
        }
        signal(&child, "-TERM");
        let mut next = async || timeout(PATIENCE, spans.recv()).await.unwrap().unwrap();
        let (bad, failed) = (next().await, next().await);
        for (method, status) in
            [("sudoku.v1.SudokuService/ListDatasets", None), ("_OTHER", Some("unimplemented"))]
        {
            let json = next().await;
            let told = ["rpc.system.name", "rpc.method", "rpc.response.status_code", "error.type"];
            let told = told.map(|name| attribute(&json, name));
            let status = status.map(str::to_owned);
            assert_eq!(
                told,
                [Some("connectrpc".to_owned()), Some(method.to_owned()), status.clone(), status]
            );
        }
        (good, bad, failed)
    });
    assert!(child.wait().unwrap().success());
    if let Ok(more) = spans.try_recv() {
        panic!("five were wanted, and not {more:?}");
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (span, id, status) in [
        (&good, "span-good", "OK"),
        (&bad, "span-bad", "INVALID_ARGUMENT"),
        (&failed, "span-failed", "UNIMPLEMENTED"),
    ] {
        assert_eq!(span.name, "sudoku.v1.SudokuService/Solve");
        assert_eq!(span.kind(), SpanKind::Server);
        assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (TRACE.to_owned(), PARENT.to_owned()));
        assert_eq!(attribute(span, "request_id").as_deref(), Some(id));
        assert_eq!(attribute(span, "rpc.response.status_code").as_deref(), Some(status));
        assert_eq!(attribute(span, "rpc.system.name").as_deref(), Some("grpc"));
        assert_eq!(attribute(span, "rpc.method").as_deref(), Some("sudoku.v1.SudokuService/Solve"));
        // What the caller did wrong is no error of the server's span.
        let is_error = span.status.clone().unwrap_or_default().code == 2;
        assert_eq!(is_error, status == "UNIMPLEMENTED", "{span:?}");
        assert_eq!(attribute(span, "service.name").as_deref(), Some("of-the-environment"));
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        assert!(span.events.is_empty());
    }
    assert_eq!(value(&good, "lines"), Some(Value::IntValue(1)));
}

#[test]
fn a_collector_that_is_away_costs_nothing_but_a_line_in_the_log() {
    let away = unused_address();
    let (mut child, address) = running(&["--otlp-endpoint", &format!("http://{away}")]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let begin = Instant::now();
    runtime.block_on(async {
        let mut client = SudokuServiceClient::connect(format!("http://{address}")).await.unwrap();
        for _ in 0..5_000 {
            client.solve(SolveRequest::default()).await.unwrap();
        }
    });
    // A machine that is slow at the calls may be slow at the end too.
    let prompt = PROMPT + begin.elapsed();
    let begin = Instant::now();
    signal(&child, "-TERM");
    assert!(ended(&mut child).success());
    assert!(begin.elapsed() < prompt, "{:?}, and {prompt:?} were allowed", begin.elapsed());
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(log.matches("spans could not be sent and are lost").count(), 1, "{log}");
    assert!(log.contains("all calls have ended"), "{log}");

    for (flag, words) in
        [("127.0.0.1:4317", "Give a URL such as http://"), ("http://", "Spans cannot be sent to http://")]
    {
        let output = sudokud(&["--otlp-endpoint", flag]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn the_long_version_says_what_it_was_built_from() {
    for program in [SUDOKUD, SUDOKU] {
        let output = Command::new(program).arg("--version").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].ends_with(env!("CARGO_PKG_VERSION")), "{text}");
        assert!(lines[1].starts_with("commit: ") && lines[2].starts_with("compiler: rustc "), "{text}");
        assert!(lines[3].starts_with("back ends: ") && lines[3].ends_with("portable"), "{text}");
        let output = Command::new(program).arg("-V").output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    }
}

#[test]
fn limits_beyond_measure_are_no_limits() {
    let most = usize::MAX.to_string();
    let flags = ["--max-streams", "--max-connections", "--max-in-flight", "--max-in-flight-per-stream"];
    let flags: Vec<&str> = flags.iter().flat_map(|flag| [*flag, &most]).collect();
    let (child, address) = running(&flags);
    let url = format!("http://{address}");
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/good/nine.header");
    let solved = Command::new(SUDOKU).args(["solve", list, "--server", &url]).output().unwrap();
    assert!(solved.status.success(), "{}", String::from_utf8_lossy(&solved.stderr));
    signal(&child, "-TERM");
    assert!({ child }.wait().unwrap().success());
}

/// A flag lowers a limit, and the refusal names it.
#[test]
fn a_limit_of_generated_puzzles_is_set_by_a_flag() {
    let (mut child, address) =
        running(&["--max-generated", "3", "--max-attempts", "2", "--max-trace-steps", "4"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut client = SudokuServiceClient::connect(format!("http://{address}")).await.unwrap();
        let request = |count| GenerateRequest { order: 2, count, ..Default::default() };
        let mut made = client.generate(request(3)).await.unwrap().into_inner();
        let mut puzzles = 0;
        while let Some(response) = made.message().await.unwrap() {
            puzzles += String::from_utf8_lossy(&response.puzzles).lines().count();
        }
        assert_eq!(puzzles, 3);
        let refused = client.generate(request(4)).await.unwrap_err();
        assert!(refused.message().contains('3'), "{refused:?}");
    });
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
}
