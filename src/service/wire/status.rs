//! Statuses of calls that fail, each with details of `google.rpc` for programs.
//!
//! **Invariant:** every status has an `ErrorInfo` with a reason of ours in the domain [`DOMAIN`],
//! and is made here; `sudoku.proto` lists the reasons. Clients rely on them, and the layer around
//! all services ([`crate::service::net::observe`]) recognizes the statuses of the transport by the
//! lack of one: it explains those, and adds the id of the request to all.
//!
//! Other details depend on the error: the bad field, the limit, the data set, the retry delay.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use tonic::codegen::http::HeaderMap;
use tonic::server::NamedService;
use tonic::{Code, Status};
use tonic_health::pb::health_server::HealthServer;
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use crate::counted::counted;
use crate::service::wire::proto::sudoku_service_server::SudokuServiceServer;
use crate::text::{FormatError, Problem, PuzzleError};

/// The domain of our reasons.
pub(crate) const DOMAIN: &str = "sudoku.v1";

/// The name of the limit on open calls.
pub(crate) const MAX_STREAMS: &str = "max-streams";

/// The name of the time for which a stream may be idle while others wait.
const STREAM_IDLE: &str = "stream-idle-timeout";

/// The name of the time for which a client may leave its answers unread.
const IDLE: &str = "idle-timeout";

/// The name of a quota of open calls.
pub(crate) const STREAMS_QUOTA: &str = "streams";

/// The name of a quota of puzzles.
const PUZZLES_QUOTA: &str = "puzzles-per-second";

/// The limits that may let a call in later, by which our client knows that it may try again.
pub(crate) const PASSING_LIMITS: [&str; 3] = [MAX_STREAMS, STREAM_IDLE, STREAMS_QUOTA];

/// The retry delay for a server that is busy, or for another server if this one is shutting down.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The resource type of a data set.
const DATASET: &str = "sudoku.v1.Dataset";

/// The most characters of a name in the details, because headers have a limit.
const MAX_NAME_CHARS: usize = 100;

/// The metadata of a reason: names and values.
type Metadata<'a> = &'a [(&'a str, &'a str)];

/// Details with a reason.
fn error_info(reason: &str, metadata: Metadata<'_>) -> ErrorDetails {
    let metadata = metadata.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    ErrorDetails::with_error_info(reason, DOMAIN, metadata.collect::<HashMap<_, _>>())
}

fn status(code: Code, message: impl Into<String>, details: ErrorDetails) -> Status {
    Status::with_error_details(code, message, details)
}

/// The status of calls that end, or are refused, because the server is shutting down.
pub(crate) fn shutting_down() -> Status {
    let mut details = error_info("SHUTTING_DOWN", &[]);
    details.set_retry_info(Some(RETRY_DELAY));
    let message = "The server is shutting down. What it read has been answered; send the rest elsewhere.";
    status(Code::Unavailable, message, details)
}

/// The status of a call whose work panicked.
pub(crate) fn work_broke_down() -> Status {
    let message = "The work on this call broke down; the server's log says more.";
    status(Code::Internal, message, error_info("WORK_BROKE_DOWN", &[]))
}

/// The status of a call that exceeds a limit now, and may not later.
pub(crate) fn busy(name: &str, what: (&str, &str), limit: usize) -> Status {
    let (message, mut details) = beyond_limit(name, what, limit);
    details.set_retry_info(Some(RETRY_DELAY));
    status(Code::ResourceExhausted, message, details)
}

/// The status of a message, or of headers, that exceed a limit by themselves, so that retrying is
/// useless.
pub(crate) fn message_over_limit(name: &str, what: (&str, &str), limit: usize) -> Status {
    let (message, details) = beyond_limit(name, what, limit);
    status(Code::ResourceExhausted, message, details)
}

/// The status of a call that finds its client's share of a limit taken: `whose` has `share` of
/// `limit`.
pub(crate) fn share_reached(name: &str, whose: &str, share: usize, limit: usize, what: &str) -> Status {
    let message =
        format!("This {whose} has {share} of this server's {limit} {what}, and others have their share.");
    let metadata = [("limit", name), ("value", &limit.to_string()), ("share", &share.to_string())];
    let mut details = error_info(&reason_of(name), &metadata);
    details.add_quota_failure_violation(name, message.clone());
    details.set_retry_info(Some(RETRY_DELAY));
    status(Code::ResourceExhausted, message, details)
}

/// The status of a call beyond the quota of open calls of its token.
pub(crate) fn streams_quota_reached(quota: usize) -> Status {
    let calls = counted(quota as u64, "call");
    let message = format!("This token's quota of {calls} open at once is reached.");
    over_quota(STREAMS_QUOTA, quota, message, Some(RETRY_DELAY))
}

/// The status of a call beyond the quota of puzzles of its token, which covers it after `delay`.
pub(crate) fn puzzles_quota_reached(quota: u32, delay: Duration) -> Status {
    let puzzles = counted(quota.into(), "puzzle");
    let message = format!("This token's quota of {puzzles} a second is reached.");
    over_quota(PUZZLES_QUOTA, quota as usize, message, Some(delay))
}

/// The status of a call of more puzzles than the quota of its token ever covers, `most`, so that
/// retrying is useless.
pub(crate) fn beyond_puzzles_quota(quota: u32, puzzles: u64, most: u64) -> Status {
    let (puzzles, covered) = (counted(puzzles, "puzzle"), counted(quota.into(), "puzzle"));
    let message = format!(
        "A call of {puzzles} is too large for this token's quota of {covered} a second: send at most {most} at once."
    );
    over_quota(PUZZLES_QUOTA, quota as usize, message, None)
}

fn over_quota(name: &str, quota: usize, message: String, delay: Option<Duration>) -> Status {
    let metadata = [("limit", name), ("value", &*quota.to_string())];
    let mut details = error_info("QUOTA_REACHED", &metadata);
    details.add_quota_failure_violation(name, message.clone());
    if delay.is_some() {
        details.set_retry_info(delay);
    }
    status(Code::ResourceExhausted, message, details)
}

/// The status of a stream that was idle for this time or longer, while others waited for a place.
pub(crate) fn stream_idle(timeout: Duration) -> Status {
    let message = "This stream was idle while others waited. What was sent on it has been answered.";
    let value = timeout.as_secs_f64().to_string();
    let mut details = error_info("STREAM_IDLE", &[("limit", STREAM_IDLE), ("value", &value)]);
    details.add_quota_failure_violation(STREAM_IDLE, message);
    details.set_retry_info(Some(RETRY_DELAY));
    status(Code::ResourceExhausted, message, details)
}

/// The status of a call that had not brought a whole message when others needed its place.
pub(crate) fn message_not_whole(limit: usize) -> Status {
    let message = "This call had not brought a whole message when others needed its place.";
    let metadata = [("limit", MAX_STREAMS), ("value", &*limit.to_string())];
    let mut details = error_info("MESSAGE_NOT_WHOLE", &metadata);
    details.add_quota_failure_violation(MAX_STREAMS, message);
    details.set_retry_info(Some(RETRY_DELAY));
    status(Code::ResourceExhausted, message, details)
}

/// The status of a call whose token was valid when it began, and is not any more.
pub(crate) fn token_revoked() -> Status {
    let message = "The token of this call is no longer valid. What was read has been answered.";
    status(Code::Unauthenticated, message, error_info("TOKEN_REVOKED", &[]))
}

/// The reason of a call whose client does not read its answers.
pub(crate) const ANSWERS_UNREAD: &str = "ANSWERS_UNREAD";

/// The status of a call whose client has taken nothing of its answers for this time.
pub(crate) fn answers_unread(timeout: Duration) -> Status {
    let message = "The client does not read its answers: read while you send.";
    let metadata = [("limit", IDLE), ("value", &*timeout.as_secs_f64().to_string())];
    let mut details = error_info(ANSWERS_UNREAD, &metadata);
    details.add_quota_failure_violation(IDLE, message);
    status(Code::ResourceExhausted, message, details)
}

/// The reason of a call whose client left.
pub(crate) const CLIENT_LEFT: &str = "CLIENT_LEFT";

/// The status of a call whose client left before its request was whole.
pub(crate) fn client_left() -> Status {
    let message = "The client left before its request was whole.";
    status(Code::Cancelled, message, error_info(CLIENT_LEFT, &[]))
}

/// The status of a call whose body breaks off with its connection, for a client that has closed its
/// own side only. The error of the transport is its source, by which [`is_of_lost_client`] knows it.
pub(crate) fn broken_off(error: Status) -> Status {
    let mut status = body_invalid(BREAKS_OFF);
    status.set_source(Arc::new(error));
    status
}

/// Whether a status is about a body that breaks off with its connection.
pub(crate) fn is_of_lost_client(status: &Status) -> bool {
    is_explained(status) && status.source().is_some()
}

/// What is wrong with a body that ends before its last message does.
pub(crate) const BREAKS_OFF: &str = "The last message breaks off.";

/// The status of a call with a message that cannot be read.
pub(crate) fn message_unreadable(what: &str) -> Status {
    status(Code::InvalidArgument, sanitize(what), error_info("MESSAGE_UNREADABLE", &[]))
}

/// The status of a call with a second message where there is one.
pub(crate) fn second_message() -> Status {
    message_unreadable("This method takes one message, and a second one came.")
}

/// The status of a call by another method of HTTP than POST.
pub(crate) fn not_posted() -> Status {
    let message = "A call of gRPC is a POST request.";
    status(Code::InvalidArgument, message, error_info("METHOD_NOT_POST", &[]))
}

/// The status of a call whose first message did not come.
pub(crate) fn message_missing(time: Duration) -> Status {
    message_timeout(time, format!("No message has come for {} s.", time.as_secs_f64()))
}

/// The status of a call in which a message has stalled.
pub(crate) fn stalled_message(time: Duration) -> Status {
    let seconds = time.as_secs_f64();
    message_timeout(time, format!("A message has begun and has not gone on for {seconds} s."))
}

/// The status of a call with a message that is still not whole after `time`, because it comes at
/// less than `rate` bytes a second.
pub(crate) fn slow_message(time: Duration, waited: Duration, rate: u64) -> Status {
    let waited = waited.as_secs_f64();
    let message =
        format!("A message is not whole after {waited:.1} s: it comes at less than {rate} bytes a second.");
    message_timeout(time, message)
}

fn message_timeout(time: Duration, message: String) -> Status {
    let seconds = time.as_secs_f64();
    let metadata = [("limit", "message-timeout"), ("value", &*seconds.to_string())];
    let mut details = error_info("MESSAGE_TIMEOUT_REACHED", &metadata);
    details.add_quota_failure_violation("message-timeout", message.clone());
    status(Code::ResourceExhausted, message, details)
}

/// The message and details for a limit on `what`, a noun and the words behind it. The reason is made
/// of its name: `MAX_STREAMS_REACHED`.
fn beyond_limit(name: &str, (noun, of_which): (&str, &str), limit: usize) -> (String, ErrorDetails) {
    let limited = counted(limit as u64, noun);
    let message = format!("This server's limit of {limited} {of_which} is reached.");
    let mut details = error_info(&reason_of(name), &[("limit", name), ("value", &limit.to_string())]);
    details.add_quota_failure_violation(name, message.clone());
    (message, details)
}

/// The reason of a limit that is reached.
fn reason_of(name: &str) -> String {
    format!("{}_REACHED", name.replace('-', "_").to_uppercase())
}

/// The status of a request with invalid fields. The description of the first is the message.
pub(crate) fn bad_fields(violations: Vec<FieldViolation>) -> Status {
    let (message, field) =
        violations.first().map(|first| (first.description.clone(), first.field.clone())).unwrap_or_default();
    let mut details = error_info("FIELD_INVALID", &[("field", &field)]);
    details.set_bad_request(violations);
    status(Code::InvalidArgument, message, details)
}

/// A reader of the fields of a message, which reports all bad ones together.
pub(crate) struct RequestFields {
    parent: Option<&'static str>,
    violations: Vec<FieldViolation>,
}

impl RequestFields {
    pub(crate) const fn at_top() -> Self {
        Self { parent: None, violations: Vec::new() }
    }

    pub(crate) const fn below(parent: &'static str) -> Self {
        Self { parent: Some(parent), violations: Vec::new() }
    }

    /// Reads the fields of a message within this one.
    pub(crate) fn under<T>(&mut self, parent: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        let above = self.parent.replace(parent);
        let value = read(self);
        self.parent = above;
        value
    }

    pub(crate) fn read<T>(&mut self, field: &str, value: Result<T, String>) -> Option<T> {
        value
            .map_err(|what| self.violations.push(FieldViolation::new(self.path(field), sanitize(&what))))
            .ok()
    }

    fn path(&self, field: &str) -> String {
        self.parent.map_or_else(|| field.to_owned(), |parent| format!("{parent}.{field}"))
    }

    pub(crate) const fn are_good(&self) -> bool {
        self.violations.is_empty()
    }

    pub(crate) fn into_status(self) -> Status {
        bad_fields(self.violations)
    }
}

/// The status `INVALID_ARGUMENT` for one field, named by its path in the request.
pub(crate) fn invalid(field: &str, what: impl Into<String>) -> Status {
    let mut fields = RequestFields::at_top();
    fields.read::<()>(field, Err(what.into()));
    fields.into_status()
}

/// The status of a body that is no message: broken off, or not the JSON of the method.
pub(crate) fn body_invalid(what: &str) -> Status {
    status(Code::InvalidArgument, sanitize(what), error_info("BODY_INVALID", &[]))
}

/// The status of a header with a bad value.
pub(crate) fn header_invalid(name: &str, what: &str) -> Status {
    status(Code::InvalidArgument, sanitize(what), error_info("HEADER_INVALID", &[("header", name)]))
}

/// The status of a body in an encoding other than identity, over HTTP without gRPC.
pub(crate) fn body_encoding_unknown(encoding: &str) -> Status {
    let message =
        format!("Bodies in the encoding `{}` are not read; gzip, zstd and deflate are.", short(encoding));
    let accepted = ("accepted", "identity,deflate,gzip,zstd");
    status(Code::Unimplemented, message, error_info("ENCODING_UNKNOWN", &[accepted]))
}

/// The name of a code in the Connect protocol.
pub(crate) const fn connect_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "canceled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}

/// The longest message that quotes a client, because statuses travel in headers, which have a
/// limit.
const MAX_QUOTING_CHARS: usize = 400;

/// Makes a message that quotes a client fit for a header and a line of a log: cut to a bounded
/// length, and without control characters.
pub(crate) fn sanitize(message: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    let mut sanitized: String = message.chars().take(MAX_QUOTING_CHARS).map(shown).collect();
    if message.chars().nth(MAX_QUOTING_CHARS).is_some() {
        sanitized.push('…');
    }
    sanitized
}

/// The sentence of a puzzle that cannot be read, and the field of a request that mends it.
pub(crate) fn puzzle_sentence(error: &PuzzleError) -> String {
    match error.problem {
        Problem::AmbiguousBlockSize => {
            format!("{error} If this is a list of 1x1 puzzles, set options.notation to NOTATION_LINES.")
        }
        Problem::BlockSizeOrCount => format!(
            "{}, or set options.notation to NOTATION_LINES, which reads it as a bad puzzle.",
            error.to_string().trim_end_matches('.')
        ),
        _ => error.to_string(),
    }
}

/// The sentence of a text that cannot be read, and the field of a request that mends it.
pub(crate) fn format_sentence(error: &FormatError) -> String {
    match error {
        FormatError::Puzzle(error) => puzzle_sentence(error),
        FormatError::AmbiguousAlphabet { from_zero } => {
            format!("{error} Say which with options.alphabet: {from_zero} or letters.")
        }
        FormatError::AmbiguousLines => format!("{error} Say which with options.notation."),
        FormatError::AmbiguousLayout { .. } => {
            format!("{error} Say which with options.column, options.notation or options.order.")
        }
        FormatError::AmbiguousCells { .. } => format!(
            "{error} Set options.column to 2 for the last, or leave out the last column for the first."
        ),
        other => other.to_string(),
    }
}

/// The status of a text that cannot be read; `field` is the field that mends it, or that of the text.
/// Its details have the problem without that advice, for clients whose users set no fields.
pub(crate) fn format_unreadable(error: &FormatError, field: &str) -> Status {
    let message = sanitize(&format_sentence(error));
    let metadata = [("field", field), ("problem", &*sanitize(&error.to_string()))];
    let mut details = error_info("FIELD_INVALID", &metadata);
    details.set_bad_request(vec![FieldViolation::new(field, message.clone())]);
    status(Code::InvalidArgument, message, details)
}

/// The status of a call whose deadline has passed.
pub(crate) fn deadline_passed() -> Status {
    let message = "The deadline has passed; work on this call has stopped.";
    status(Code::DeadlineExceeded, message, error_info("DEADLINE_PASSED", &[]))
}

/// The status of a call without a token, or with an unknown one.
pub(crate) fn unauthenticated(is_given: bool) -> Status {
    let (reason, message) = if is_given {
        ("TOKEN_UNKNOWN", "This server does not know this token, or not any more: its operator has others.")
    } else {
        ("TOKEN_MISSING", "This server wants a token: send it as `authorization: Bearer TOKEN`.")
    };
    status(Code::Unauthenticated, message, error_info(reason, &[]))
}

/// The status for a data set that does not exist.
pub(crate) fn dataset_not_found(name: &str) -> Status {
    let message = sanitize(&format!("There is no data set `{name}`. ListDatasets names those there are."));
    dataset_status(Code::NotFound, "DATASET_NOT_FOUND", name, message)
}

/// The status for a data set that exists, but cannot be served.
pub(crate) fn dataset_not_servable(reason: &str, name: &str, message: &str) -> Status {
    let mut details = error_info(reason, &[("dataset", &short(name))]);
    details.add_precondition_failure_violation(reason, short(name), message);
    status(Code::FailedPrecondition, message, details)
}

/// The status for a puzzle of a text that cannot be returned, because it is bad or there is none;
/// `field` is the field of the text.
pub(crate) fn puzzle_malformed(field: &str, error: &PuzzleError) -> Status {
    const REASON: &str = "PUZZLE_MALFORMED";
    let message = puzzle_sentence(error);
    let mut details = error_info(REASON, &[("field", field), ("code", error.code())]);
    details.add_precondition_failure_violation(REASON, field, message.clone());
    status(Code::FailedPrecondition, message, details)
}

/// The status for a data set that changed while it was read.
pub(crate) fn dataset_changed(name: &str, message: String) -> Status {
    dataset_status(Code::Aborted, "DATASET_CHANGED", name, message)
}

/// The status for a data set, or the data directory, that cannot be read.
pub(crate) fn dataset_unreadable(name: &str, message: String) -> Status {
    dataset_status(Code::Internal, "DATASET_UNREADABLE", name, message)
}

fn dataset_status(code: Code, reason: &str, name: &str, message: String) -> Status {
    let name = short(name);
    let mut details = error_info(reason, &[("dataset", &name)]);
    details.set_resource_info(DATASET, name, "", "");
    status(code, message, details)
}

fn short(name: &str) -> String {
    sanitize(name).chars().take(MAX_NAME_CHARS).collect()
}

/// Completes a status: adds the id of the request, and explains it if the transport made it.
///
/// `headers` are those of the status, `path` is that of the request, and `message_bytes` is the
/// limit on messages.
pub(crate) fn complete(
    made: Status,
    headers: &HeaderMap,
    path: &str,
    request_id: &str,
    message_bytes: usize,
) -> Status {
    let made = if is_explained(&made) { made } else { explain(&made, headers, path, message_bytes) };
    let mut details = made.get_error_details();
    details.set_request_info(request_id, "");
    status(made.code(), made.message(), details)
}

/// Whether a status is one of ours, and none of the transport's.
pub(crate) fn is_explained(status: &Status) -> bool {
    !status.details().is_empty() && status.get_details_error_info().is_some()
}

/// The reason in the details of a status.
pub(crate) fn reason(status: &Status) -> Option<String> {
    status.get_details_error_info().map(|info| info.reason)
}

/// A status of ours for one of the transport's.
fn explain(made: &Status, headers: &HeaderMap, path: &str, message_bytes: usize) -> Status {
    match made.code() {
        // The transport uses OUT_OF_RANGE for a message that is too long uncompressed, and
        // RESOURCE_EXHAUSTED for one that is too long after decompression. No call of ours is out
        // of range.
        Code::OutOfRange | Code::ResourceExhausted => {
            message_over_limit("message-bytes", ("byte", "in a message"), message_bytes)
        }
        Code::Unimplemented => {
            match headers.get("grpc-accept-encoding").and_then(|list| list.to_str().ok()) {
                Some(accepted) => {
                    let message = format!("{}. This server takes {accepted}.", sanitize(made.message()));
                    status(made.code(), message, error_info("ENCODING_UNKNOWN", &[("accepted", accepted)]))
                }
                None => unknown_method(path),
            }
        }
        // All that the transport calls so is what it could not read of a message, with a full stop or without.
        Code::Internal => {
            let what = made.message().trim_end_matches('.');
            message_unreadable(&format!("The message cannot be read: {what}."))
        }
        code => status(code, sanitize(made.message()), error_info(name(code), &[])),
    }
}

/// What is wrong with a path that some clients make of an address with a slash at its end.
pub(crate) const TWO_SLASHES: &str = "The path begins with two slashes, and that of a method with one: leave out the slash behind the address.";

fn unknown_method(path: &str) -> Status {
    const OURS: &str = <SudokuServiceServer<()> as NamedService>::NAME;
    const REFLECTION: [&str; 2] =
        ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
    const HEALTH: &str = <HealthServer<()> as NamedService>::NAME;
    if path.starts_with("//") {
        return status(Code::Unimplemented, TWO_SLASHES, error_info("METHOD_UNKNOWN", &[]));
    }
    let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
    let is_reflection = REFLECTION.contains(&service);
    let message = if service == OURS || service == HEALTH || is_reflection {
        format!("The service {service} has no method `{}`.", short(method))
    } else {
        format!(
            "This server has no service `{}`. It has {OURS}, {HEALTH} and reflection, which lists them.",
            short(service)
        )
    };
    status(Code::Unimplemented, message, error_info("METHOD_UNKNOWN", &[]))
}

/// The name of a code in the protocol.
pub(crate) const fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Whether a status is a fault of the server, which belongs in its log.
pub(crate) fn is_own_fault(status: &Status) -> bool {
    matches!(status.code(), Code::Internal | Code::DataLoss | Code::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_names_the_time_until_it_covers_a_call_if_it_ever_does() {
        let delay = |status: &Status| status.get_details_retry_info().and_then(|info| info.retry_delay);
        let reached = puzzles_quota_reached(10, Duration::from_millis(2500));
        assert_eq!(delay(&reached), Some(Duration::from_millis(2500)));
        assert!(beyond_puzzles_quota(10, 21, 20).get_details_retry_info().is_none());
    }

    #[test]
    fn what_a_client_sent_is_quoted_within_bounds() {
        assert_eq!(sanitize("plain"), "plain");
        assert_eq!(sanitize("a\nb\x1b[31m"), "a\\nb\\u{1b}[31m");
        let long = sanitize(&"\0x".repeat(100_000));
        assert!(long.len() < 4_000 && long.ends_with('…'), "{}", long.len());
    }
}
