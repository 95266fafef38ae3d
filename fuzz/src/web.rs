//! Any bytes as the body of an HTTP request, of any content type: it is answered, in the form that was asked for, and the
//! binary forms say what gRPC says.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Version};
use http_body_util::Full;
use tonic::Code;
use tonic::body::Body;

use super::requests::METHODS;
use super::serving::{answer, call};

/// The content types that are tried, and one that nobody takes.
const KINDS: [&str; 9] = [
    "application/json",
    "application/proto",
    "application/connect+json",
    "application/connect+proto",
    "application/grpc-web",
    "application/grpc-web-text",
    "application/grpc",
    "application/json; charset=utf-8",
    "text/plain",
];

/// Methods whose answers do not depend on chance.
const CERTAIN: [&str; 5] = ["Solve", "Validate", "Check", "Count", "Hint"];

/// The longest sentence of a failure; it may repeat a part of the request.
const MOST_WORDS: usize = 4_000;

/// The first byte is the method, the second the content type, the third what headers there are. The rest is the body.
pub fn run(data: &[u8]) {
    let Some((&[method, kind, headers], body)) = data.split_first_chunk() else { return };
    let method = METHODS.get(usize::from(method) % (METHODS.len() + 1)).map_or("Unknown", |&(name, _)| name);
    let kind = KINDS[usize::from(kind) % KINDS.len()];
    let mut request = Request::post(format!("/sudoku.v1.SudokuService/{method}"))
        .version(if headers & 1 == 0 { Version::HTTP_11 } else { Version::HTTP_2 })
        .header(CONTENT_TYPE, kind)
        .header("host", "localhost");
    if headers & 2 != 0 {
        request = request.header("connect-timeout-ms", "10000").header("connect-protocol-version", "1");
    }
    if headers & 4 != 0 {
        let name = HeaderValue::from_bytes(&body[..body.len().min(8)]);
        request = request.header("connect-timeout-ms", name.unwrap_or(HeaderValue::from_static("?")));
    }
    let request =
        request.body(Body::new(Full::new(Bytes::copy_from_slice(body)))).expect("the parts are valid");
    let (parts, answered) = answer(request);
    let kind_of_answer = text(&parts.headers, "content-type");
    match (kind, parts.status) {
        ("application/json" | "application/json; charset=utf-8", StatusCode::OK) => {
            let message: serde_json::Value = serde_json::from_slice(&answered).expect("JSON");
            assert!(message.is_object() && kind_of_answer == "application/json");
        }
        ("application/connect+json" | "application/connect+proto", StatusCode::OK) => {
            assert_eq!(kind_of_answer, kind);
            assert_ends(&answered, kind.ends_with("json"));
        }
        ("application/proto", StatusCode::OK) if CERTAIN.contains(&method) => {
            let ended = call(method, vec![Bytes::copy_from_slice(body)]);
            assert!(ended.status.is_none() && ended.responses == [answered], "{ended:?}");
        }
        ("application/grpc-web" | "application/grpc-web-text" | "application/grpc", StatusCode::OK) => {
            assert!(kind_of_answer.starts_with("application/grpc"), "{kind_of_answer}");
        }
        (_, StatusCode::OK) => assert_eq!(kind_of_answer, "application/proto"),
        (_, status) if kind_of_answer == "application/json" => {
            let code = assert_is_failure(&serde_json::from_slice(&answered).expect("JSON"));
            if kind == "application/proto" && CERTAIN.contains(&method) && headers & 4 == 0 {
                let ended = call(method, vec![Bytes::copy_from_slice(body)]);
                let expected = ended.status.expect("gRPC refuses it as well").code();
                // A message that cannot be read is the client's fault, which the layers around calls know.
                let same =
                    name(expected) == code || (expected == Code::Internal && code == "invalid_argument");
                assert!(same, "{expected:?} {code}");
            }
            assert!(
                status.is_client_error() || [501, 504].contains(&status.as_u16()) || code == "internal",
                "{code}"
            );
        }
        // A content type that the method does not take, or gRPC over HTTP/1.1: one sentence.
        (_, status) => {
            assert!([415, 505].contains(&status.as_u16()), "{status}");
            assert!(answered.ends_with(b".\n") && answered.is_ascii(), "{answered:?}");
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().expect("text"))
}

/// A failure in JSON has a code and a sentence. Returns the code.
fn assert_is_failure(error: &serde_json::Value) -> String {
    let words = error["message"].as_str().expect("a message");
    // The second is what the transport says of a message that cannot be decoded.
    let is_sentence = words.ends_with('.') || words.starts_with("failed to decode Protobuf message");
    assert!(is_sentence && words.len() < MOST_WORDS && !words.contains(char::is_control), "{words}");
    error["code"].as_str().expect("a code").to_owned()
}

/// A stream ends with an envelope that says how.
fn assert_ends(mut body: &[u8], is_json: bool) {
    while let Some((&[flags, length @ ..], rest)) = body.split_first_chunk::<5>() {
        let (message, rest) = rest.split_at(u32::from_be_bytes(length) as usize);
        let is_end = flags & 2 != 0;
        if is_end || is_json {
            let message: serde_json::Value = serde_json::from_slice(message).expect("JSON");
            if let Some(error) = message.get("error").filter(|_| is_end) {
                assert_is_failure(error);
            }
        }
        assert_eq!(is_end, rest.is_empty(), "the end is the last");
        body = rest;
    }
    assert!(body.is_empty());
}

/// The name of a code in the Connect protocol.
fn name(code: Code) -> String {
    format!("{code:?}").chars().fold(String::new(), |mut name, letter| {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        name
    })
}
