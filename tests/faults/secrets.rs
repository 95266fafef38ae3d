//! Certificates and tokens: replaced while the server runs, and never told to anybody.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{self, GetPuzzleRequest, SolveRequest};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use crate::companion::{Ended, run};
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, SUDOKUD, eventually, is_solution, lines, sudoku, unused_address};
use crate::row::{Row, Seen};
use crate::traffic::{easy, runtime};

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            31,
            "certificate, key and tokens replaced, broken, removed while the server runs",
            "the new ones after SIGHUP; the old ones stay where the new are no good",
            replaced,
        ),
        row(
            40,
            "a log of everything; random methods and names",
            "no token, key or puzzle in the log; labels of figures bounded",
            told_to_nobody,
        ),
    ]
}

const FIRST: &str = "correct-horse-battery-staple";
const SECOND: &str = "another-token-of-some-length";

/// What a server and its clients need, in a folder.
struct Secrets {
    folder: Folder,
    list: String,
}

impl Secrets {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("first", FIRST);
        folder.write("second", SECOND);
        let list = folder.write("list", lines(&easy(100)));
        let secrets = Self { folder, list };
        secrets.renew("ca1");
        secrets.folder.write("tokens", FIRST);
        secrets
    }

    /// A new certificate of the server, which vouches for itself, and its key. Clients find it under `name`.
    fn renew(&self, name: &str) {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        self.folder.write("server.key", made.signing_key.serialize_pem());
        self.folder.write("server.pem", made.cert.pem());
        self.folder.write(name, made.cert.pem());
    }

    fn path(&self, name: &str) -> String {
        self.folder.path(name)
    }

    /// A server with these secrets.
    fn daemon(&self, more: &[&str], log: &str) -> Daemon {
        let mut command = Command::new(SUDOKUD);
        command.env("RUST_LOG", log).args(more);
        command.args(["--tls-cert", &self.path("server.pem"), "--tls-key", &self.path("server.key")]);
        command.args(["--token-file", &self.path("tokens")]);
        Daemon::from_command(&mut command)
    }

    /// A run of the companion on the server, by who trusts one certificate and has one token.
    fn call(&self, daemon: &Daemon, ca: &str, token: &str) -> Ended {
        let (url, ca, token) = (format!("https://{}", daemon.address), self.path(ca), self.path(token));
        let access = ["--server", &url, "--tls-ca", &ca, "--token-file", &token];
        run(&mut sudoku(&[&["solve", &self.list], &access[..]].concat()))
    }

    #[track_caller]
    fn assert_let_in(&self, daemon: &Daemon, ca: &str, token: &str) {
        let ended = self.call(daemon, ca, token);
        ended.assert_code(0);
        let puzzles = easy(100);
        assert_eq!(ended.text().lines().count(), puzzles.len());
        assert!(ended.text().lines().zip(&puzzles).all(|(answer, puzzle)| is_solution(answer, puzzle)));
    }

    #[track_caller]
    fn assert_kept_out(&self, daemon: &Daemon, ca: &str, token: &str, words: &str) {
        let ended = self.call(daemon, ca, token);
        ended.assert_code(2);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
}

fn replaced() -> Seen {
    let secrets = Secrets::new();
    let daemon = secrets.daemon(&[], "info");
    let (no_trust, no_token) = ("was not signed by the authority of that name", "does not know this token");
    secrets.assert_let_in(&daemon, "ca1", "first");
    secrets.assert_kept_out(&daemon, "ca1", "second", no_token);

    secrets.renew("ca2");
    secrets.folder.write("tokens", SECOND);
    // Nobody has asked for them yet.
    secrets.assert_let_in(&daemon, "ca1", "first");
    daemon.signal("-HUP");
    eventually("reading", || daemon.log().contains("certificates and tokens were read again"));
    secrets.assert_let_in(&daemon, "ca2", "second");
    secrets.assert_kept_out(&daemon, "ca2", "first", no_token);
    secrets.assert_kept_out(&daemon, "ca1", "second", no_trust);

    let mut complaints = 0;
    let mut stays = |what: &str| {
        complaints += 2;
        daemon.signal("-HUP");
        eventually(what, || daemon.log().matches("What was in use stays in use.").count() == complaints);
        secrets.assert_let_in(&daemon, "ca2", "second");
    };
    secrets.folder.write("server.pem", "nonsense");
    secrets.folder.write("tokens", "short");
    stays("complaints about what is broken");
    // A key that does not go with its certificate.
    fs::copy(secrets.path("ca1"), secrets.path("server.pem")).unwrap();
    stays("complaints about what does not fit");
    for name in ["server.pem", "server.key", "tokens"] {
        fs::remove_file(secrets.path(name)).unwrap();
    }
    stays("complaints about what is missing");
    for words in
        ["holds no certificate in PEM", "does not go with", "cannot be read: No such file or directory"]
    {
        assert!(daemon.log().contains(words), "{words}");
    }
    secrets.renew("ca3");
    secrets.folder.write("tokens", FIRST);
    daemon.signal("-HUP");
    eventually("reading", || daemon.log().matches("were read again").count() == 2);
    secrets.assert_let_in(&daemon, "ca3", "first");
    Seen::good("`What was in use stays in use.`, and it does; good ones are used after the next SIGHUP")
}

/// The page of figures.
fn scrape(address: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.0 200"), "{text}");
    text
}

/// The names of all figures with their labels.
fn series(page: &str) -> Vec<&str> {
    let lines = page.split("\r\n\r\n").nth(1).unwrap().lines();
    let mut series: Vec<&str> = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.rsplit_once(' '))
        .map(|pair| pair.0)
        .collect();
    series.sort_unstable();
    series
}

/// Calls of methods and of data sets that nobody has heard of.
async fn nonsense(
    client: &SudokuServiceClient<tonic::transport::Channel>,
    channel: &tonic::transport::Channel,
    times: usize,
) {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    for k in 0..times {
        let bearer = format!("Bearer {FIRST}").parse::<tonic::metadata::MetadataValue<_>>().unwrap();
        let mut request = Request::new(SolveRequest::default());
        request.metadata_mut().insert("authorization", bearer.clone());
        let path = PathAndQuery::try_from(format!("/sudoku.v1.SudokuService/Zebra{times}x{k}")).unwrap();
        grpc.ready().await.unwrap();
        let codec = ProstCodec::<SolveRequest, proto::SolveResponse>::default();
        let status = grpc.unary(request, path, codec).await.unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented);

        let name = format!("zebra{times}x{k}");
        let mut request = Request::new(GetPuzzleRequest { name: name.clone(), ..Default::default() });
        request.metadata_mut().insert("authorization", bearer.clone());
        let status = client.clone().get_puzzle(request).await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound);

        let options = proto::SolveOptions { strategy: name, ..Default::default() };
        let mut request =
            Request::new(SolveRequest { options: Some(options), text: "1".into(), ..Default::default() });
        request.metadata_mut().insert("authorization", bearer);
        let status = client.clone().solve(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
    }
}

fn told_to_nobody() -> Seen {
    let secrets = Secrets::new();
    let metrics = unused_address().to_string();
    let daemon = secrets.daemon(&["--metrics-listen", &metrics], "trace");
    secrets.assert_let_in(&daemon, "ca1", "first");
    secrets.assert_kept_out(&daemon, "ca1", "second", "does not know this token");
    let solution = secrets.call(&daemon, "ca1", "first").text().lines().next().unwrap().to_owned();

    let ca = Certificate::from_pem(fs::read(secrets.path("ca1")).unwrap());
    let (few, many) = runtime().block_on(async {
        let endpoint = Endpoint::from_shared(format!("https://{}", daemon.address)).unwrap();
        let endpoint = endpoint.tls_config(ClientTlsConfig::new().ca_certificate(ca)).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let client = SudokuServiceClient::new(channel.clone());
        nonsense(&client, &channel, 10).await;
        let few = scrape(&metrics);
        nonsense(&client, &channel, 200).await;
        (few, scrape(&metrics))
    });
    assert_eq!(series(&few), series(&many), "figures grow with what clients say");
    assert!(!many.to_lowercase().contains("zebra"), "a client's word is a label");

    daemon.signal("-HUP");
    eventually("reading", || daemon.log().contains("were read again"));
    let log = daemon.log();
    assert!(log.contains("SolveLines") && log.contains("DEBUG"), "calls are not logged");
    let key = fs::read_to_string(secrets.path("server.key")).unwrap();
    let puzzles = easy(100);
    let mut hidden: Vec<&str> = vec![FIRST, SECOND, &solution];
    hidden.extend(key.lines().filter(|line| !line.starts_with("-----")));
    hidden.extend(puzzles.iter().map(String::as_str));
    for secret in &hidden {
        assert!(!log.contains(secret), "the log has {secret}");
    }
    Seen::good(format!(
        "{} lines of log with none of {} secrets; {} figures, as many after 200 strange names as after 10",
        log.lines().count(),
        hidden.len(),
        series(&many).len()
    ))
}
