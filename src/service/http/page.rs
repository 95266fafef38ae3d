//! The page: the files of `src/service/page/`, which are a part of the program. Lists that no method
//! returns are filled in.
//!
//! **Invariant:** the page runs no script and asks no host but its own: its policy allows neither
//! code in the document nor anything from elsewhere.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use rapidhash::v3::rapidhash_v3;
use tonic::body::Body;
use tonic::codegen::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use tonic::codegen::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};

use crate::generate::Difficulty;
use crate::grid::Order;
use crate::solver::{STRATEGIES, default_strategy};
use crate::techniques::Technique;

// `FILES`: the name and the content of each file, by the build script.
include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The file at `/`.
const INDEX: &str = "index.html";

/// The policy of the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The headers of every file.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    // A new version of the program has another page.
    (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    (VARY, HeaderValue::from_static("accept-encoding")),
];

/// A file of the page.
struct File {
    name: &'static str,
    content_type: HeaderValue,
    tag: HeaderValue,
    plain: Bytes,
    gzip: Bytes,
}

/// The files of the page that this program serves.
fn files(program: &str) -> &'static [File] {
    static PAGE: OnceLock<Vec<File>> = OnceLock::new();
    PAGE.get_or_init(|| {
        let files = FILES.iter().map(|&(name, content)| File::new(name, filled_in(name, content, program)));
        files.chain([File::new(TECHNIQUES, techniques().into())]).collect()
    })
}

/// The file of the techniques, which is no file here.
const TECHNIQUES: &str = "techniques.json";

/// All techniques with their texts.
fn techniques() -> Vec<u8> {
    let list: Vec<_> = Technique::ALL
        .into_iter()
        .map(|technique| {
            serde_json::json!({
                "name": technique.name(),
                "title": technique.title(),
                "ratingTenths": technique.base_rating().tenths(),
                "about": technique.about(),
            })
        })
        .collect();
    serde_json::Value::from(list).to_string().into_bytes()
}

/// The place of the strategies in [`INDEX`].
const STRATEGIES_PLACE: &str = "              <!-- strategies -->\n";

/// The place of the difficulties.
const DIFFICULTIES_PLACE: &str = "          <!-- difficulties -->\n";

/// The place of the program that serves the page.
const PROGRAM_PLACE: &str = "{program}";

/// A file with what is filled into it.
fn filled_in(name: &str, content: &'static [u8], program: &str) -> Cow<'static, [u8]> {
    match std::str::from_utf8(content) {
        Ok(text) if name == INDEX => text
            .replace(STRATEGIES_PLACE, &strategy_options())
            .replace(DIFFICULTIES_PLACE, &difficulty_options())
            .replace(PROGRAM_PLACE, program)
            .into_bytes()
            .into(),
        _ => content.into(),
    }
}

/// All difficulties as options, each class with its highest rating.
fn difficulty_options() -> String {
    let mut options = String::new();
    for (name, difficulty) in Difficulty::ALL {
        let value = format!("DIFFICULTY_{}", name.to_uppercase());
        let ratings = difficulty.ratings();
        let most = ratings.map(|ratings| format!(" data-most=\"{}\"", ratings.end().tenths()));
        let (most, summary) = (most.unwrap_or_default(), difficulty.summary());
        // Writing into a string does not fail.
        let _ = writeln!(options, "          <option value=\"{value}\"{most}>{name}, {summary}</option>");
    }
    options
}

/// All strategies as options: the one for all sizes first, because it is the default, and those
/// that have no steps of their own last.
fn strategy_options() -> String {
    let general = default_strategy(Order::ALL[0]).name();
    let mut strategies = STRATEGIES.to_vec();
    strategies.sort_by_key(|strategy| (strategy.searches_together(), strategy.name() != general));
    let mut options = String::new();
    for strategy in strategies {
        let (name, summary) = (strategy.name(), strategy.short_summary());
        // Writing into a string does not fail.
        let _ = writeln!(options, "              <option value=\"{name}\">{name}: {summary}</option>");
    }
    options
}

impl File {
    fn new(name: &'static str, content: Cow<'static, [u8]>) -> Self {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        // Writing into memory does not fail; a file that did not shrink is sent as it is anyway.
        let gzip = gzip.write_all(&content).and_then(|()| gzip.finish()).unwrap_or_default();
        let tag = format!("\"{:016x}\"", rapidhash_v3(&content));
        Self {
            name,
            content_type: content_type(name),
            tag: tag.try_into().unwrap_or_else(|_| HeaderValue::from_static("\"\"")),
            plain: match content {
                Cow::Borrowed(content) => Bytes::from_static(content),
                Cow::Owned(content) => content.into(),
            },
            gzip: gzip.into(),
        }
    }
}

fn content_type(name: &str) -> HeaderValue {
    HeaderValue::from_static(match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    })
}

/// The answer to a GET or HEAD, if the page is served, by this program, and has such a file.
pub(super) fn answer<B>(request: &Request<B>, program: Option<&str>) -> Option<Response<Body>> {
    let files = files(program?);
    let path = request.uri().path().strip_prefix('/')?;
    let name = if path.is_empty() { INDEX } else { path };
    let file = files.iter().find(|file| file.name == name)?;
    let headers = request.headers();
    let mut response = Response::new(Body::empty());
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response.headers_mut().insert(ETAG, file.tag.clone());
    if lists(headers, &IF_NONE_MATCH, |tag| tag == "*" || file.tag == tag.trim_start_matches("W/")) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Some(response);
    }
    response.headers_mut().insert(CONTENT_TYPE, file.content_type.clone());
    let content = if takes_gzip(headers, &ACCEPT_ENCODING) && file.gzip.len() < file.plain.len() {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        file.gzip.clone()
    } else {
        file.plain.clone()
    };
    // The transport leaves the body of an answer to HEAD out, and states its length.
    *response.body_mut() = Body::new(Full::new(content));
    Some(response)
}

/// Whether a client takes gzip, by this header.
pub(super) fn takes_gzip(headers: &HeaderMap, name: &HeaderName) -> bool {
    lists(headers, name, |coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// Whether a header that is a list has an element.
fn lists(headers: &HeaderMap, name: &HeaderName, is_it: impl Fn(&str) -> bool) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|element| is_it(element.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::wire::proto;
    use crate::text::Notation;

    fn get(path: &str, headers: &[(HeaderName, &'static str)]) -> Option<Response<Body>> {
        let mut request = Request::builder().uri(path).body(()).unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer(&request, Some("sudokud"))
    }

    #[test]
    fn every_file_has_a_type_that_browsers_take() {
        assert!(files("sudokud").iter().any(|file| file.name == INDEX));
        for file in files("sudokud") {
            assert_ne!(file.content_type, "application/octet-stream", "{}", file.name);
            assert!(!file.gzip.is_empty(), "{}", file.name);
        }
    }

    #[test]
    fn every_strategy_can_be_chosen_once() {
        let index = files("sudokud").iter().find(|file| file.name == INDEX).unwrap();
        let index = std::str::from_utf8(&index.plain).unwrap();
        assert!(!index.contains("<!--"));
        for strategy in STRATEGIES {
            let summary = strategy.short_summary();
            assert!(!summary.contains(['<', '&']), "{summary}");
            let option = format!("<option value=\"{0}\">{0}: {summary}</option>", strategy.name());
            assert_eq!(index.matches(&option).count(), 1, "{option}");
        }
        let (_, first) = index.split_once("<select id=\"strategy\">").unwrap();
        assert!(first.trim_start().starts_with("<option value=\"propagation\">"));
    }

    #[test]
    fn every_difficulty_can_be_chosen() {
        let index = files("sudokud").iter().find(|file| file.name == INDEX).unwrap();
        let index = std::str::from_utf8(&index.plain).unwrap();
        for (name, difficulty) in Difficulty::ALL {
            let known = proto::Difficulty::from_str_name(&format!("DIFFICULTY_{}", name.to_uppercase()));
            assert!(known.is_some(), "{name}");
            assert!(index.contains(&format!(">{name}, {}</option>", difficulty.summary())), "{name}");
        }
        assert!(!index.contains(PROGRAM_PLACE));
    }

    /// Notations are numbers in its messages, and no method lists them.
    #[test]
    fn the_page_names_notations_as_the_contract_and_those_of_several_lines() {
        let (_, script) = FILES.iter().find(|(name, _)| *name == "protobuf.js").unwrap();
        let script = std::str::from_utf8(script).unwrap();
        let (_, numbers) = script.split_once("export const NOTATION = { ").unwrap();
        let (numbers, _) = numbers.split_once(" };").unwrap();
        for entry in numbers.split(", ") {
            let (name, number) = entry.split_once(": ").unwrap();
            let known = proto::Notation::from_str_name(&format!("NOTATION_{name}"));
            assert_eq!(known.map(i32::from), number.parse().ok(), "{entry}");
        }
        for (name, notation) in Notation::ALL {
            let entry = format!("  [NOTATION.{}, \"{name}\"],\n", name.to_ascii_uppercase());
            assert_eq!(script.contains(&entry), !notation.is_by_line(), "{name}");
        }
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let first = get("/", &[]).unwrap();
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].to_str().unwrap().to_owned().leak();
        for known in [&*tag, "*", &*format!("\"other\", W/{tag}").leak()] {
            assert_eq!(get("/", &[(IF_NONE_MATCH, known)]).unwrap().status(), StatusCode::NOT_MODIFIED);
        }
        assert_eq!(get("/", &[(IF_NONE_MATCH, "\"other\"")]).unwrap().status(), StatusCode::OK);
    }

    #[test]
    fn files_are_compressed_for_those_who_take_it() {
        let coding = |accepted| {
            let response = get("/index.html", &[(ACCEPT_ENCODING, accepted)]).unwrap();
            response.headers().contains_key(CONTENT_ENCODING)
        };
        assert!(coding("gzip") && coding("br, GZip;q=0.5"));
        assert!(!coding("br") && !coding("gzip;q=0") && !coding("gzip; q=0.0"));
    }

    #[test]
    fn nothing_but_the_files_is_here() {
        for path in ["/missing.html", "/../Cargo.toml", "//index.html", "/index.html/"] {
            assert!(get(path, &[]).is_none(), "{path}");
        }
    }
}
