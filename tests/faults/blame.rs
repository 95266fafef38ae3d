//! Whose fault it was: what clients and operators do wrong, and what is said of it.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use sudoku_stream::service::proto::{
    ListDatasetsRequest, SolveDatasetRequest, SolveLinesRequest, SolveRequest,
};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Request};

use crate::harness::daemon::Daemon;
use crate::harness::{Folder, PATIENCE, SUDOKUD, eventually, lines};
use crate::messages::{Caller, call_of, framed};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, client, easy, runtime, serves};
use crate::wire::{
    CANCEL, DATA, END_HEADERS, HEADERS, RST_STREAM, Wire, call_headers, claim, frame, header, message,
};

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            43,
            "2,000 clients that leave before their message is whole",
            "CANCELLED, and nothing in the log; lines that clients can cause are limited",
            leaving_early,
        ),
        row(
            50,
            "streams opened and reset in bursts, on 60 connections",
            "20 lines of log a minute at most, and how many were left out",
            resets,
        ),
        row(
            51,
            "a malformed time-out, a second message, GET, `bearer` in lower case, malformed headers",
            "INVALID_ARGUMENT, schemes in any case, a stream or a connection that ends; serving",
            malformed_calls,
        ),
        row(
            52,
            "garbage as messages and as requests",
            "INVALID_ARGUMENT in the figures, never INTERNAL or UNKNOWN",
            garbage,
        ),
        row(
            53,
            "--token-file a FIFO or a folder, --max-header-bytes 1, --max-message-bytes 99999999999999",
            "a sentence, said once, and exit code 2 at once",
            absurd_settings,
        ),
        row(
            54,
            "a token that is taken out of the file while its calls are open",
            "they end with UNAUTHENTICATED within --drain-timeout of the reload; others go on",
            revoked,
        ),
        row(
            55,
            "a client certificate of X.509 version 1",
            "refused, with a line that says why",
            old_certificate,
        ),
        row(56, "dot files in --data-dir", "neither listed nor served", dot_files),
    ]
}

fn leaving_early() -> Seen {
    const CALLS: u64 = 2_000;
    /// On a connection; fewer than its share while those before are not forgotten yet.
    const EACH: u64 = 20;
    let daemon = Daemon::with_figures(&[]);
    let half = [&claim(100)[..], &[7; 50]].concat();
    for round in 0..CALLS / EACH {
        let mut wire = Wire::open(daemon.address);
        for k in 0..EACH {
            let stream = 1 + 2 * u32::try_from(k).unwrap();
            assert!(wire.call(stream, "Solve"));
            assert!(wire.send(&frame(DATA, 0, stream, &half)));
            // Half of them cancel; the others go with the connection.
            if k % 2 == 0 {
                assert!(wire.ping(PATIENCE));
                assert!(wire.send(&frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())));
            }
        }
        assert!(wire.ping(PATIENCE));
        if round % 2 == 0 { wire.finish() } else { wire.reset() }
    }
    let figure = "sudoku_calls_total{method=\"Solve\",status=\"CANCELLED\"}";
    eventually("all of them cancelled", || daemon.figure(figure) == CALLS);
    let log = daemon.log();
    assert!(!log.contains("ERROR") && !log.contains("WARN"), "{log}");
    assert!(log.lines().count() < 10, "{log}");
    assert_serving(&daemon);
    Seen::good(format!("{CALLS} times CANCELLED, {} lines of log", log.lines().count()))
}

fn resets() -> Seen {
    const CONNECTIONS: usize = 60;
    let daemon = Daemon::with_figures(&[]);
    for _ in 0..CONNECTIONS {
        let mut wire = Wire::open(daemon.address);
        let pairs: Vec<u8> = (0..500u32)
            .flat_map(|k| {
                let stream = 1 + 2 * k;
                let call = frame(HEADERS, END_HEADERS, stream, &call_headers("SolveStream"));
                [call, frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())].concat()
            })
            .collect();
        wire.send(&pairs);
        wire.wait_for_end(PATIENCE);
    }
    let log = daemon.log();
    let said = log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    assert!(said <= 20, "{said} lines: {log}");
    assert_serving(&daemon);
    daemon.signal("-TERM");
    eventually("what was left out", || daemon.log().contains("lines like this were left out"));
    Seen::good(format!(
        "{CONNECTIONS} connections ended, {said} lines of log, and one for those that were left out"
    ))
}

const TOKEN: &str = "correct-horse-battery-staple";
const OTHER: &str = "another-token-of-some-length";

fn malformed_calls() -> Seen {
    let folder = Folder::new();
    let tokens = folder.write("tokens", TOKEN);
    let daemon = Daemon::with_figures(&["--token-file", &tokens]);
    let solve = message(&SolveRequest { text: Bytes::from(easy(1).remove(0)), ..Default::default() });
    runtime().block_on(async {
        let caller = Caller::connect(daemon.address).await;
        let with = |scheme: &str| {
            let mut call = call_of("Solve");
            call.headers_mut().insert("authorization", format!("{scheme} {TOKEN}").parse().unwrap());
            call
        };
        for scheme in ["Bearer", "bearer", "BEARER"] {
            assert_eq!(caller.call(with(scheme), solve.clone()).await.code, Some(Code::Ok), "{scheme}");
        }
        assert_eq!(caller.call(with("Basic"), solve.clone()).await.code, Some(Code::Unauthenticated));
        for time in ["-5S", "5", "soon", "999999999S", "", "5x"] {
            let mut call = with("Bearer");
            call.headers_mut().insert("grpc-timeout", time.parse().unwrap());
            let outcome = caller.call(call, solve.clone()).await;
            assert_eq!(outcome.code, Some(Code::InvalidArgument), "{time}: {outcome:?}");
        }
        let outcome = caller.call(with("Bearer"), solve.repeat(2)).await;
        assert_eq!(outcome.code, Some(Code::InvalidArgument), "{outcome:?}");
        let mut get = with("Bearer");
        *get.method_mut() = Method::GET;
        assert_eq!(caller.call(get, solve.clone()).await.code, Some(Code::InvalidArgument));
        // It is none the worse for it.
        assert_eq!(caller.call(with("Bearer"), solve.clone()).await.code, Some(Code::Ok));
    });
    let mut ends = Vec::new();
    for (name, bad) in [("upper case", header("X-Upper", "1")), ("connection", header("connection", "close"))]
    {
        let mut wire = Wire::open(daemon.address);
        wire.send(&frame(HEADERS, END_HEADERS, 1, &[call_headers("Solve"), bad].concat()));
        let end =
            wire.receive_until(PATIENCE, |frame| frame.kind == crate::wire::GOAWAY || frame.ends_stream());
        ends.push(format!(
            "{name}: {}",
            end.map_or("closed", |frame| if frame.kind == crate::wire::GOAWAY {
                "GOAWAY"
            } else {
                "the stream"
            })
        ));
    }
    Seen::good(format!(
        "time-outs, second messages and GET: INVALID_ARGUMENT; `bearer`: taken; {}",
        ends.join(", ")
    ))
}

fn garbage() -> Seen {
    let daemon = Daemon::with_figures(&[]);
    runtime().block_on(async {
        let caller = Caller::connect(daemon.address).await;
        for method in ["Solve", "SolveLines", "SolveStream"] {
            for (flag, body) in [(0, &[255; 50][..]), (1, b"abc"), (7, b""), (0, &[0x7B; 1000])] {
                let outcome = caller.call(call_of(method), framed(flag, body)).await;
                assert_eq!(outcome.code, Some(Code::InvalidArgument), "{method}: {outcome:?}");
            }
            let mut call = call_of(method);
            call.headers_mut().insert("content-type", "text/html".parse().unwrap());
            assert_eq!(caller.call(call, Vec::new()).await.http.as_u16(), 415);
        }
        serves(&daemon.url()).await;
    });
    let (_, page) = daemon.get("/metrics");
    let own: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("sudoku_calls_total"))
        .filter(|line| ["INTERNAL", "UNKNOWN", "DATA_LOSS"].iter().any(|status| line.contains(status)))
        .filter(|line| !line.ends_with(" 0"))
        .collect();
    assert!(own.is_empty(), "{own:?}");
    assert_eq!(daemon.figure("sudoku_calls_total{method=\"Solve\",status=\"INVALID_ARGUMENT\"}"), 5);
    assert!(!daemon.log().contains("ERROR"), "{}", daemon.log());
    Seen::good("15 pieces of garbage: all INVALID_ARGUMENT, none INTERNAL or UNKNOWN, no ERROR in the log")
}

/// What a server says that cannot start.
fn refusal(flags: &[&str]) -> String {
    let begin = Instant::now();
    let output = Command::new("timeout")
        .args(["20", SUDOKUD, "--listen", "127.0.0.1:0"])
        .args(flags)
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{flags:?} after {:?}: {words}", begin.elapsed());
    words
}

fn absurd_settings() -> Seen {
    let folder = Folder::new();
    let fifo = folder.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let here = folder.path("");
    let words = refusal(&["--token-file", &fifo]);
    assert!(words.contains("is no regular file"), "{words}");
    for flags in
        [["--token-file", &*here], ["--token-file", "none"], ["--data-dir", "none"], ["--config", &*fifo]]
    {
        let words = refusal(&flags);
        let sentence = words.trim_end().trim_start_matches("sudokud: ");
        // The error of the system, which is said once.
        for part in ["regular file", "No such file", "cannot be"] {
            assert!(sentence.matches(part).count() <= 1, "{flags:?}: {words}");
        }
        assert_eq!(words.lines().count(), 1, "{flags:?}: {words}");
    }
    for (flag, value) in [
        ("--max-header-bytes", "1"),
        ("--max-message-bytes", "99999999999999"),
        ("--listen", "nowhere"),
        ("--access-log", &*here),
        ("--access-log", &*fifo),
    ] {
        let words = refusal(&[flag, value]);
        assert!(words.contains(flag.trim_start_matches("--")) || words.contains("access log"), "{words}");
    }
    let words = refusal(&["--listen", "no-such-host.invalid:1"]);
    assert!(words.contains("no-such-host.invalid:1"), "{words}");
    Seen::good("ten settings refused with a sentence each, such as `The token file F is no regular file.`")
}

/// An idle stream of the client with a token. Its end shows the status.
async fn stream(
    client: &mut sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient<Channel>,
    token: &str,
) -> (mpsc::Sender<SolveLinesRequest>, tonic::Streaming<sudoku_stream::service::proto::SolveLinesResponse>) {
    let (sender, requests) = mpsc::channel(4);
    let lines = Bytes::from(lines(&easy(1)));
    sender.send(SolveLinesRequest { lines, ..Default::default() }).await.unwrap();
    let mut request = Request::new(ReceiverStream::new(requests));
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let mut answers = client.solve_lines(request).await.unwrap().into_inner();
    assert!(timeout(PATIENCE, answers.message()).await.unwrap().unwrap().is_some());
    (sender, answers)
}

fn revoked() -> Seen {
    let folder = Folder::new();
    let tokens = folder.write("tokens", format!("ada = {TOKEN}\nbob = {OTHER}, streams = 3\n"));
    let daemon = Daemon::with_figures(&["--token-file", &tokens, "--drain-timeout", "2"]);
    let took = runtime().block_on(async {
        let mut client = client(&daemon.url()).await;
        let (_ada, mut gone) = stream(&mut client, TOKEN).await;
        let (bob, mut stays) = stream(&mut client, OTHER).await;
        // What takes long and asks for nothing more is cut off in the end.
        let (puzzle, options) = crate::traffic::endless();
        let mut long = Request::new(SolveRequest {
            options: Some(options),
            text: Bytes::from(lines(&vec![puzzle; 200])),
            ..Default::default()
        });
        long.metadata_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        let mut other = client.clone();
        let long = tokio::spawn(async move { other.solve(long).await });
        eventually("three calls", || daemon.figure("sudoku_client_calls_open{client=\"ada\"}") == 2);
        assert_eq!(daemon.figure("sudoku_client_calls_open{client=\"bob\"}"), 1);
        folder.write("tokens", format!("bob = {OTHER}, streams = 2\n"));
        let begin = Instant::now();
        daemon.signal("-HUP");
        let status = timeout(PATIENCE, gone.message()).await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{status}");
        let took = begin.elapsed();
        eventually("the end of all calls of it", || {
            daemon.figure("sudoku_client_calls_open{client=\"ada\"}") == 0
        });
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        assert!(timeout(PATIENCE, long).await.unwrap().unwrap().is_err());
        bob.send(SolveLinesRequest { lines: Bytes::from(lines(&easy(1))), ..Default::default() })
            .await
            .unwrap();
        assert!(timeout(PATIENCE, stays.message()).await.unwrap().unwrap().is_some());
        took
    });
    Seen::good(format!(
        "the idle stream ended after {} ms, the long call within --drain-timeout 2; another token's goes on",
        took.as_millis()
    ))
}

/// Runs openssl in a folder.
fn openssl(folder: &Folder, arguments: &[&str]) -> bool {
    let output = Command::new("openssl").args(arguments).current_dir(folder.path("")).output();
    output.is_ok_and(|output| output.status.success())
}

fn old_certificate() -> Seen {
    let folder = Folder::new();
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout"];
    let ca =
        [&["req", "-x509", "-subj", "/CN=authority", "-days", "30", "-out", "ca.pem"][..], &key, &["ca.key"]]
            .concat();
    let request = [&["req", "-subj", "/CN=client", "-out", "client.csr"][..], &key, &["client.key"]].concat();
    let sign = [
        "x509",
        "-req",
        "-in",
        "client.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-days",
        "30",
        "-set_serial",
        "7",
        "-out",
        "client.pem",
    ];
    if !openssl(&folder, &ca) || !openssl(&folder, &request) || !openssl(&folder, &sign) {
        return Seen::Skipped("openssl is not installed, or makes none".to_owned());
    }
    let shown = Command::new("openssl")
        .args(["x509", "-in", &folder.path("client.pem"), "-noout", "-text"])
        .output()
        .unwrap();
    if !String::from_utf8_lossy(&shown.stdout).contains("Version: 1 ") {
        return Seen::Skipped("this openssl makes no certificates of version 1".to_owned());
    }
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let server = folder.write("server.pem", made.cert.pem());
    let server_key = folder.write("server.key", made.signing_key.serialize_pem());
    let daemon = Daemon::start(&[
        "--tls-cert",
        &server,
        "--tls-key",
        &server_key,
        "--client-ca",
        &folder.path("ca.pem"),
    ]);
    // Our own client would not even send it.
    let address = daemon.address.to_string();
    let client =
        ["-cert", &folder.path("client.pem"), "-key", &folder.path("client.key"), "-alpn", "h2", "-ign_eof"];
    let mut openssl = Command::new("timeout");
    openssl.args(["20", "openssl", "s_client", "-connect", &address]).args(client).stdin(Stdio::null());
    let shown = openssl.output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stderr).contains("alert"), "{shown:?}");
    eventually("a line of log", || daemon.log().contains("a TLS handshake failed"));
    let log = daemon.log();
    assert!(log.contains("X.509 version 1"), "{log}");
    Seen::good(
        "refused; the log has `a TLS handshake failed: the client's certificate is X.509 version 1 ...`",
    )
}

fn dot_files() -> Seen {
    let folder = Folder::new();
    folder.write("good.txt", lines(&easy(10)));
    folder.write(".hidden.txt", lines(&easy(10)));
    fs::create_dir(folder.path(".git")).unwrap();
    folder.write(".git/config", lines(&easy(10)));
    let daemon = Daemon::start(&["--data-dir", &folder.path("")]);
    let names = [".hidden.txt", "./.hidden.txt", ".git/config", "./.git/config"];
    runtime().block_on(async {
        let mut client = client(&daemon.url()).await;
        let listed = client.list_datasets(ListDatasetsRequest::default()).await.unwrap().into_inner();
        assert_eq!(listed.datasets.iter().map(|found| &*found.name).collect::<Vec<_>>(), ["good.txt"]);
        for name in names {
            let request = SolveDatasetRequest { name: name.to_owned(), ..Default::default() };
            let status = match client.solve_dataset(request).await {
                Ok(response) => response.into_inner().message().await.unwrap_err(),
                Err(status) => status,
            };
            assert_eq!(status.code(), Code::NotFound, "{name}");
        }
        for name in ["good.txt", "./good.txt"] {
            let request = SolveDatasetRequest { name: name.to_owned(), ..Default::default() };
            assert!(
                client.solve_dataset(request).await.unwrap().into_inner().message().await.unwrap().is_some()
            );
        }
    });
    Seen::good(format!("NOT_FOUND for {} names; good.txt is served", names.len()))
}
