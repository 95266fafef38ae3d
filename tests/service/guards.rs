//! Who gets in: encryption, certificates of clients, tokens, and what is read again while the server runs.

use std::convert::Infallible;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use sudoku_stream::client::{ClientError, Endpoint, RetryPolicy, SolveJob, solve_lines};
use sudoku_stream::service::proto::{
    GenerateRequest, RateRequest, SolveDatasetRequest, SolveLinesRequest, SolveRequest,
};
use sudoku_stream::service::{Config, Server, StartError, TlsFiles};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_types::StatusExt as _;

use crate::harness::authority::Authority;
use crate::harness::server::{Running, config, nearly_solved, start};
use crate::harness::{PATIENCE, assert_solves, lines};

const TOKEN: &str = "correct-horse-battery-staple";
const OTHER_TOKEN: &str = "another-token-of-some-length";

/// A folder with what a server needs.
struct Secrets {
    folder: TempDir,
    authority: Authority,
}

impl Secrets {
    fn new() -> Self {
        let secrets = Self { folder: tempfile::tempdir().unwrap(), authority: Authority::new() };
        secrets.renew();
        secrets.write("clients.pem", &secrets.authority.pem);
        secrets.write("tokens", &format!("# of the tests\n\n{TOKEN}\n"));
        secrets
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Puts a new certificate of the server in place.
    fn renew(&self) {
        let (certificate, key) = self.authority.sign(ExtendedKeyUsagePurpose::ServerAuth, false);
        self.write("server.pem", &certificate);
        self.write("server.key", &key);
    }

    fn tls(&self, knows_clients: bool) -> TlsFiles {
        TlsFiles {
            certificate: self.path("server.pem"),
            key: self.path("server.key"),
            client_ca: knows_clients.then(|| self.path("clients.pem")),
        }
    }

    fn encrypted(&self) -> Config {
        Config { tls: Some(self.tls(false)), ..config() }
    }

    fn access(&self, server: &Running) -> Endpoint {
        let url = format!("https://{}", server.address);
        Endpoint { ca: Some(self.authority.pem.clone().into_bytes()), ..Endpoint::new(&url) }
    }
}

/// Solves some puzzles and checks the answers.
async fn call(access: &Endpoint) -> Result<(), ClientError<Infallible>> {
    let puzzles = nearly_solved(20);
    let (sender, blocks) = mpsc::channel(1);
    let text = Bytes::from(lines(&puzzles));
    tokio::spawn(async move { sender.send(text).await });
    let answers = Arc::new(Mutex::new(Vec::new()));
    let sink = |lines: Bytes, _: &_| {
        answers.lock().unwrap().extend_from_slice(&lines);
        Ok(())
    };
    let servers = [access.clone()];
    let retry = RetryPolicy { retries: 0, ..RetryPolicy::default() };
    solve_lines(&servers, &retry, &SolveJob::default(), blocks, sink, |_| ()).await?;
    let answers = String::from_utf8(answers.lock().unwrap().clone()).unwrap();
    assert_eq!(answers.lines().count(), puzzles.len());
    answers.lines().zip(&puzzles).for_each(|(answer, puzzle)| assert_solves(answer, puzzle));
    Ok(())
}

#[track_caller]
fn said(result: Result<(), ClientError<Infallible>>) -> String {
    result.expect_err("it was let in").to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_encrypted_server_answers_those_who_trust_it() {
    let secrets = Secrets::new();
    let server = start(secrets.encrypted()).await;
    call(&secrets.access(&server)).await.unwrap();

    // Somebody else's authority, the system's, and no encryption.
    let stranger = Endpoint { ca: Some(Authority::new().pem.into_bytes()), ..secrets.access(&server) };
    let words = said(call(&stranger).await);
    let certificate = format!("The certificate of {} was ", server.url().replace("http://", "https://"));
    assert!(words.starts_with(&certificate) && words.contains("--tls-ca"), "{words}");
    let system = Endpoint { ca: None, ..secrets.access(&server) };
    assert!(call(&system).await.is_err());
    let host = server.url().replace("http://", "");
    let plain = said(call(&Endpoint::new(&server.url())).await);
    assert_eq!(plain, format!("This server speaks TLS: use https://{host}."));
    // It is none the worse for it.
    call(&secrets.access(&server)).await.unwrap();
}

/// A certificate that vouches for itself, and its key.
fn self_signed(name: &str, is_authority: bool) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    if is_authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_certificate_is_said() {
    let secrets = Secrets::new();
    let ours = secrets.authority.pem.clone();
    let signed = |purpose, is_old| secrets.authority.sign(purpose, is_old);
    let (server_auth, client_auth) =
        (ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth);
    // As `openssl req -x509` makes it, and as docs/service.md does.
    let (authority, vouching) = (self_signed("127.0.0.1", true), self_signed("127.0.0.1", false));
    let another_authority = self_signed("another", true).0;
    for (made, host, ca, words) in [
        (signed(server_auth.clone(), false), "127.0.0.1", &ours, ""),
        (vouching.clone(), "127.0.0.1", &vouching.0, ""),
        (
            authority.clone(),
            "127.0.0.1",
            &authority.0,
            "is that of an authority (CA:TRUE), which no server may use",
        ),
        (signed(server_auth.clone(), true), "127.0.0.1", &ours, "has expired"),
        (
            signed(server_auth.clone(), false),
            "localhost",
            &ours,
            "is for other names: 127.0.0.1. Use one of these",
        ),
        (
            signed(server_auth, false),
            "127.0.0.1",
            &another_authority,
            "by an authority that is not known here",
        ),
        (signed(client_auth, false), "127.0.0.1", &ours, "is for another purpose"),
    ] {
        secrets.write("server.pem", &made.0);
        secrets.write("server.key", &made.1);
        let server = start(secrets.encrypted()).await;
        let url = format!("https://{host}:{}", server.address.port());
        let answered = call(&Endpoint { ca: Some(ca.clone().into_bytes()), ..Endpoint::new(&url) }).await;
        if words.is_empty() {
            answered.unwrap();
            continue;
        }
        let sentence = said(answered);
        assert!(sentence.starts_with(&format!("The certificate of {url} ")), "{sentence}");
        assert!(sentence.contains(words) && sentence.ends_with('.'), "{words}: {sentence}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_protocol_at_the_other_end_is_named() {
    let plain = start(config()).await;
    let host = plain.address;
    let sentence = said(call(&Endpoint::new(&format!("https://{host}"))).await);
    assert_eq!(sentence, format!("This server does not speak TLS: use http://{host}."));

    // The port of the metrics speaks HTTP/1.1 only.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let web = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut socket, _) = listener.accept().unwrap();
        let mut preface = [0; 24];
        socket.read_exact(&mut preface).unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").unwrap();
        // Until the client has seen it and closes.
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let sentence = said(call(&Endpoint::new(&format!("http://{address}"))).await);
    assert!(sentence.starts_with(&format!("What answers at {address} speaks HTTP/1.1")), "{sentence}");
    web.join().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_show_a_certificate_where_one_is_wanted() {
    let secrets = Secrets::new();
    let server = start(Config { tls: Some(secrets.tls(true)), ..config() }).await;
    let known = secrets.authority.sign(ExtendedKeyUsagePurpose::ClientAuth, false);
    let stranger = Authority::new().sign(ExtendedKeyUsagePurpose::ClientAuth, false);
    let expired = secrets.authority.sign(ExtendedKeyUsagePurpose::ClientAuth, true);
    let as_client = |(certificate, key): (String, String)| Endpoint {
        identity: Some((certificate.into_bytes(), key.into_bytes())),
        ..secrets.access(&server)
    };
    call(&as_client(known)).await.unwrap();
    let url = secrets.access(&server).url;
    for (who, access, words) in [
        ("without a certificate", secrets.access(&server), "wants a certificate of its clients: "),
        ("with a stranger's", as_client(stranger), "does not accept this client's certificate"),
        (
            "with an old one",
            as_client(expired),
            "does not accept this client's certificate, because it has expired.",
        ),
    ] {
        let sentence = said(call(&access).await);
        // The server's alert may be overtaken by the end of the connection.
        let cut_off = format!("The connection to {url} was lost after 0 answers: It closed the connection. ");
        let is_said = sentence.starts_with(&format!("{url} {words}"));
        let is_guessed = sentence.starts_with(&cut_off) && sentence.contains("--tls-cert");
        assert!(is_said || is_guessed, "{who}: {sentence}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_need_a_token_and_probes_do_not() {
    let secrets = Secrets::new();
    let server = start(Config { token_file: Some(secrets.path("tokens")), ..config() }).await;
    let with = |token: &str| Endpoint { token: Some(token.to_owned()), ..Endpoint::new(&server.url()) };
    call(&with(TOKEN)).await.unwrap();
    let longer = format!("{TOKEN}x");
    let (unknown, missing) = ("does not know this token", "wants a token: send it as `authorization:");
    for (wrong, sentence) in [
        (OTHER_TOKEN, unknown),
        (&TOKEN[1..], unknown),
        (&longer, unknown),
        ("Bearer", unknown),
        ("", missing),
    ] {
        let words = said(call(&with(wrong)).await);
        assert!(words.contains(sentence) && !words.contains(TOKEN), "{wrong}: {words}");
        assert!(words.ends_with("The first token of the file that --token-file names is sent."), "{words}");
    }
    let words = said(call(&Endpoint::new(&server.url())).await);
    assert!(words.contains(missing), "{words}");

    let mut client = server.client().await;
    let request = || SolveRequest { text: Bytes::from_static(b"1..............."), ..Default::default() };
    let headers = [None, Some(TOKEN.to_owned()), Some(format!("Basic {TOKEN}")), Some("Bearer".to_owned())];
    for header in headers {
        let mut request = Request::new(request());
        if let Some(header) = &header {
            request.metadata_mut().insert("authorization", header.parse().unwrap());
        }
        let status = client.solve(request).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{header:?}");
        assert!(status.message().contains(missing), "{header:?}: {}", status.message());
    }
    let mut good = Request::new(request());
    good.metadata_mut().insert("authorization", format!("Bearer   {TOKEN}").parse().unwrap());
    assert!(client.solve(good).await.is_ok());

    let mut health = HealthClient::new(server.channel().await);
    assert!(health.check(HealthCheckRequest::default()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_token_of_the_file_lets_in() {
    let secrets = Secrets::new();
    let third = "yet-another-long-enough-token";
    secrets.write("tokens", &format!("{TOKEN}\n# of a colleague\n\n  {OTHER_TOKEN} \r\n{third}"));
    let server = start(Config { token_file: Some(secrets.path("tokens")), ..config() }).await;
    let with = |token: &str| Endpoint { token: Some(token.to_owned()), ..Endpoint::new(&server.url()) };
    for token in [TOKEN, OTHER_TOKEN, third] {
        call(&with(token)).await.unwrap_or_else(|error| panic!("{token}: {error}"));
    }
    for wrong in ["# of a colleague", "of a colleague", &format!("{TOKEN}{OTHER_TOKEN}")] {
        assert!(call(&with(wrong)).await.is_err(), "{wrong}");
    }
}

/// A request with the token of the client of this name.
fn by<T>(name: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {TOKEN}-{name}").parse().unwrap());
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quota_of_puzzles_divides_streams_and_refuses_what_it_never_covers() {
    let secrets = Secrets::new();
    let quota = |name: &str| format!("{name} = {TOKEN}-{name}, puzzles_per_second = 50\n");
    secrets.write("tokens", &["ada", "bob", "eve"].map(quota).concat());
    let puzzles = "1...............\n".repeat(1000);
    secrets.write("list", &puzzles);
    let data_dir = Some(secrets.folder.path().to_owned());
    let server = start(Config { token_file: Some(secrets.path("tokens")), data_dir, ..config() }).await;
    let mut client = server.client().await;
    let some =
        |count: usize| SolveRequest { text: puzzles[..17 * count].to_owned().into(), ..Default::default() };

    let whole = || SolveDatasetRequest { name: "list".to_owned(), ..Default::default() };
    let mut answers = client.solve_dataset(by("ada", whole())).await.unwrap().into_inner();
    let first = answers.message().await.unwrap().unwrap();
    assert_eq!(first.tally.unwrap().answers, 50, "a second's worth comes at once");

    let made = GenerateRequest { order: 2, count: 400, random_clues: Some(4), ..Default::default() };
    let mut made = client.generate(by("bob", made)).await.unwrap().into_inner();
    let first = made.message().await.unwrap().unwrap();
    assert!(first.puzzles.len() <= 17 * 50, "{first:?}");

    let status = client.solve(by("eve", some(101))).await.unwrap_err();
    assert_eq!(
        status.message(),
        "A call of 101 puzzles is too large for this token's quota of 50 puzzles a second: send at most 100 at once."
    );
    assert!(status.get_details_retry_info().is_none());
    let rate = RateRequest { text: puzzles[..17 * 101].to_owned().into(), ..Default::default() };
    assert_eq!(client.rate(by("eve", rate)).await.unwrap_err().message(), status.message());
    assert!(client.solve(by("eve", some(50))).await.is_ok(), "what was refused took nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_wait_for_their_quota_hold_up_nobody_else() {
    let secrets = Secrets::new();
    let tokens = format!("ada = {TOKEN}-ada, puzzles_per_second = 5\nbob = {TOKEN}-bob\n");
    secrets.write("tokens", &tokens);
    let threads = NonZeroUsize::new(1);
    let server = start(Config { threads, token_file: Some(secrets.path("tokens")), ..config() }).await;
    let mut client = server.client().await;
    let puzzles = |count: usize| Bytes::from("1...............\n".repeat(count));
    let mut streams = Vec::new();
    for _ in 0..2 {
        let message = SolveLinesRequest { lines: puzzles(1000), ..Default::default() };
        let messages = tokio_stream::once(message).chain(tokio_stream::pending());
        streams.push(client.solve_lines(by("ada", messages)).await.unwrap());
    }
    // Both have been read once there is that much to wait for.
    let one = || SolveRequest { text: puzzles(1), ..Default::default() };
    let wait = async || {
        let status = client.clone().solve(by("ada", one())).await.err()?;
        status.get_details_retry_info().unwrap().retry_delay
    };
    while wait().await.is_none_or(|delay| delay < Duration::from_secs(300)) {
        tokio::task::yield_now().await;
    }
    let large = SolveRequest { text: puzzles(1000), ..Default::default() };
    let answers = timeout(PATIENCE, client.solve(by("bob", large))).await.expect("others have their turn");
    assert_eq!(answers.unwrap().into_inner().answers.len(), 1000);
}

/// How reflection answers the question for all services.
async fn reflect(server: &Running, token: Option<&str>) -> Result<MessageResponse, Status> {
    let question = MessageRequest::ListServices(String::new());
    let question = ServerReflectionRequest { host: String::new(), message_request: Some(question) };
    let mut request = Request::new(tokio_stream::once(question));
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    let mut client = ServerReflectionClient::new(server.channel().await);
    let mut answers = client.server_reflection_info(request).await?.into_inner();
    Ok(answers.message().await?.unwrap().message_response.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reflection_needs_a_token_too() {
    let secrets = Secrets::new();
    let server = start(Config { token_file: Some(secrets.path("tokens")), ..config() }).await;
    for token in [None, Some(OTHER_TOKEN)] {
        let status = reflect(&server, token).await.expect_err("reflection answers whoever asks");
        assert_eq!(status.code(), Code::Unauthenticated, "{token:?}");
    }
    let answer = reflect(&server, Some(TOKEN)).await.unwrap();
    assert!(matches!(answer, MessageResponse::ListServicesResponse(_)), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_read_again_and_bad_ones_are_not_taken() {
    let secrets = Secrets::new();
    let bound = Server::bind(Config { token_file: Some(secrets.path("tokens")), ..secrets.encrypted() });
    let bound = bound.await.unwrap();
    let reloader = bound.reloader();
    let url = format!("https://{}", bound.local_addr());
    tokio::spawn(bound.serve(std::future::pending()));
    let ca = Some(secrets.authority.pem.clone().into_bytes());
    let with =
        |token: &str| Endpoint { ca: ca.clone(), token: Some(token.to_owned()), ..Endpoint::new(&url) };
    call(&with(TOKEN)).await.unwrap();

    secrets.write("tokens", OTHER_TOKEN);
    secrets.renew();
    assert!(call(&with(OTHER_TOKEN)).await.is_err(), "nobody has asked for it yet");
    assert!(reloader.reload().is_empty());
    call(&with(OTHER_TOKEN)).await.unwrap();
    assert!(call(&with(TOKEN)).await.is_err());

    // A broken or missing file leaves what was there.
    secrets.write("tokens", "short");
    secrets.write("server.pem", "nonsense");
    let problems: Vec<String> = reloader.reload().iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].ends_with("server.pem holds no certificate in PEM."), "{problems:?}");
    assert!(
        problems[1].ends_with("tokens has a token of fewer than 16 characters on line 1."),
        "{problems:?}"
    );
    fs::remove_file(secrets.path("tokens")).unwrap();
    assert_eq!(reloader.reload().len(), 2);
    call(&with(OTHER_TOKEN)).await.unwrap();

    // The certificate of another authority takes the place of the old one.
    let other = Authority::new();
    let (certificate, key) = other.sign(ExtendedKeyUsagePurpose::ServerAuth, false);
    secrets.write("server.pem", &certificate);
    secrets.write("tokens", OTHER_TOKEN);
    let problems: Vec<String> = reloader.reload().iter().map(ToString::to_string).collect();
    assert!(problems.len() == 1 && problems[0].contains("does not go with"), "{problems:?}");
    secrets.write("server.key", &key);
    assert!(reloader.reload().is_empty());
    assert!(call(&with(OTHER_TOKEN)).await.is_err());
    call(&Endpoint { ca: Some(other.pem.into_bytes()), ..with(OTHER_TOKEN) }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_guard_does_not_start() {
    let secrets = Secrets::new();
    let start = |config: Config| async { Server::bind(config).await.err().map(|error| error.to_string()) };
    let anywhere = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
    // Encrypted, it may be reached from anywhere.
    assert_eq!(start(Config { listen: vec![anywhere.into()], ..secrets.encrypted() }).await, None);
    let open = Config { listen: vec![anywhere.into()], token_file: Some(secrets.path("tokens")), ..config() };
    assert!(matches!(Server::bind(open).await, Err(StartError::Insecure(_))), "tokens in plain text");

    let missing = TlsFiles { key: secrets.path("none"), ..secrets.tls(false) };
    let words = start(Config { tls: Some(missing), ..config() }).await.unwrap();
    assert!(words.contains("none cannot be read: No such file or directory"), "{words}");
    let swapped = TlsFiles { key: secrets.path("server.pem"), ..secrets.tls(false) };
    let words = start(Config { tls: Some(swapped), ..config() }).await.unwrap();
    assert!(words.ends_with("server.pem holds no private key in PEM."), "{words}");
    let (_, other_key) = secrets.authority.sign(ExtendedKeyUsagePurpose::ServerAuth, false);
    secrets.write("other.key", &other_key);
    let mixed = TlsFiles { key: secrets.path("other.key"), ..secrets.tls(false) };
    let words = start(Config { tls: Some(mixed), ..config() }).await.unwrap();
    assert!(words.contains("does not go with"), "{words}");

    for (text, problem) in [
        ("", "has no token."),
        ("# nothing\n", "has no token."),
        ("short\n", "has a token of fewer than 16 characters on line 1."),
        ("\ntwo words are no token\n", "has a token that no header can carry on line 2."),
    ] {
        secrets.write("bad", text);
        let words = start(Config { token_file: Some(secrets.path("bad")), ..config() }).await.unwrap();
        assert!(words.ends_with(problem), "{words}");
        assert!(text.trim().is_empty() || !words.contains(text.trim()), "{words}");
    }
}
