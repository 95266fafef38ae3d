//! Clients that must not get in, and what is written down of them.

use std::convert::Infallible;
use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rcgen::ExtendedKeyUsagePurpose;
use sudoku_stream::client::{ClientError, Endpoint, RetryPolicy, ServerError, SolveJob, solve_lines};
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::harness::authority::Authority;
use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, SUDOKUD, eventually, is_solution, lines};
use crate::row::{Row, Seen};
use crate::traffic::{easy, runtime};
use crate::wire::Wire;

pub fn rows() -> Vec<Row> {
    vec![Row {
        number: 23,
        fault: "no token, a wrong one, no certificate, a stranger's, an expired one, TLS 1.1, no TLS",
        expected: "UNAUTHENTICATED or refused; nothing of secrets or puzzles in a log of everything; serving",
        run: intruders,
    }]
}

const TOKEN: &str = "correct-horse-battery-staple";
const WRONG_TOKEN: &str = "another-token-of-some-length";

/// Has these solved and checks the answers.
async fn call(access: &Endpoint, puzzles: &[String]) -> Result<(), ClientError<Infallible>> {
    let (sender, blocks) = mpsc::channel(1);
    let text = Bytes::from(lines(puzzles));
    tokio::spawn(async move { sender.send(text).await });
    let answers = Arc::new(Mutex::new(Vec::new()));
    let sink = |lines: Bytes, _: &_| {
        answers.lock().unwrap().extend_from_slice(&lines);
        Ok(())
    };
    let once = RetryPolicy { retries: 0, ..RetryPolicy::default() };
    let servers = std::slice::from_ref(access);
    solve_lines(servers, &once, &SolveJob::default(), blocks, sink, |_| {}).await?;
    let answers = String::from_utf8(answers.lock().unwrap().clone()).unwrap();
    assert_eq!(answers.lines().count(), puzzles.len());
    assert!(answers.lines().zip(puzzles).all(|(answer, puzzle)| is_solution(answer, puzzle)), "{answers}");
    Ok(())
}

/// The first word of a client that knows TLS 1.1 and nothing later.
fn hello_of_tls_1_1() -> Vec<u8> {
    let mut hello = vec![3, 2];
    hello.extend([5; 32]);
    // No session; ECDHE_RSA and ECDHE_ECDSA with AES-128-CBC-SHA, and plain RSA; no compression.
    hello.extend([0, 0, 6, 0xC0, 0x13, 0xC0, 0x09, 0, 0x2F, 1, 0]);
    let length = u8::try_from(hello.len()).unwrap();
    let mut record = vec![22, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(hello);
    record
}

/// What the server says to a client of TLS 1.1: the number of its alert, if it sends one before it closes.
fn answer_to_tls_1_1(address: SocketAddr) -> Option<u8> {
    const ALERT: u8 = 21;
    let mut wire = Wire::bare(address);
    wire.send(&hello_of_tls_1_1());
    wire.socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut record = [0; 7];
    let alert = wire.socket.read_exact(&mut record).ok().map(|()| {
        assert_eq!(record[0], ALERT, "the server shakes hands: {record:?}");
        record[6]
    });
    wire.wait_for_end(PATIENCE);
    alert
}

fn intruders() -> Seen {
    let folder = TempDir::new().unwrap();
    let authority = Authority::new();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (certificate, key) = authority.sign(ExtendedKeyUsagePurpose::ServerAuth, false);
    let mut command = Command::new(SUDOKUD);
    command
        .args(["--tls-cert", &file("server.pem", &certificate), "--tls-key", &file("server.key", &key)])
        .args(["--client-ca", &file("clients.pem", &authority.pem)])
        .args(["--token-file", &file("tokens", TOKEN), "--handshake-timeout", "1"])
        .env("RUST_LOG", "trace");
    let daemon = Daemon::from_command(&mut command);

    let client = |authority: &Authority, is_old| authority.sign(ExtendedKeyUsagePurpose::ClientAuth, is_old);
    let known = client(&authority, false);
    let access = |identity: Option<&(String, String)>, token: Option<&str>| Endpoint {
        ca: Some(authority.pem.clone().into_bytes()),
        identity: identity.map(|(certificate, key)| (certificate.clone().into(), key.clone().into())),
        token: token.map(str::to_owned),
        ..Endpoint::new(&format!("https://{}", daemon.address))
    };
    let good = access(Some(&known), Some(TOKEN));
    let (stranger, expired) = (client(&Authority::new(), false), client(&authority, true));
    let plain = Endpoint { token: Some(TOKEN.to_owned()), ..Endpoint::new(&daemon.url()) };
    let puzzles = easy(30);
    runtime().block_on(async {
        call(&good, &puzzles[..10]).await.unwrap();
        for (who, intruder, sentence) in [
            ("no token", access(Some(&known), None), "wants a token"),
            ("a wrong token", access(Some(&known), Some(WRONG_TOKEN)), "does not know this token"),
        ] {
            match call(&intruder, &puzzles[10..]).await {
                Err(ClientError::Server(ServerError::Token { message, .. })) => {
                    assert!(message.contains(sentence), "{who}: {message}");
                }
                other => panic!("{who}: {other:?}"),
            }
        }
        for (who, intruder) in [
            ("no certificate", access(None, Some(TOKEN))),
            ("a stranger's certificate", access(Some(&stranger), Some(TOKEN))),
            ("an expired certificate", access(Some(&expired), Some(TOKEN))),
            ("no encryption", plain),
        ] {
            let refused = tokio::time::timeout(PATIENCE, call(&intruder, &puzzles[10..])).await.unwrap();
            assert!(refused.is_err(), "{who} gets in");
        }
        call(&good, &puzzles[..10]).await.unwrap();
    });
    let alert = answer_to_tls_1_1(daemon.address);
    Wire::bare(daemon.address).wait_for_end(PATIENCE);
    runtime().block_on(call(&good, &puzzles[..10])).unwrap();

    eventually("a log", || daemon.log().contains("SolveLines"));
    let log = daemon.log();
    for secret in [TOKEN, WRONG_TOKEN].into_iter().chain(puzzles.iter().map(String::as_str)) {
        assert!(!log.contains(secret), "the log has {secret}");
    }
    let alert = alert.map_or("closed".to_owned(), |alert| format!("alert {alert}"));
    Seen::good(format!(
        "all seven refused (TLS 1.1: {alert}); {} lines of log without a secret",
        log.lines().count()
    ))
}
