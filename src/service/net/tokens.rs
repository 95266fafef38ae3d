//! Tokens: who may call, by which name, and how much.
//!
//! A call carries its token as `authorization: Bearer TOKEN`. The file has a token a line, alone or
//! with a name and quotas, or is TOML with a table for each name:
//!
//! ```text
//!   correct-horse-battery-staple
//!   ada = another-token-of-some-length, streams = 8, puzzles_per_second = 100000
//! ```
//!
//! **Invariant:** tokens are kept only as digests, and a call's token is compared with all of them
//! in constant time, so neither memory nor timing reveals a token.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde::Deserialize;
use subtle::ConstantTimeEq as _;

use crate::poison::IgnorePoison as _;
use crate::service::metrics;
use crate::service::net::files;

/// The scheme before the token in the header. Schemes are case-insensitive.
const SCHEME: &str = "bearer ";

/// The shortest token that is accepted, because shorter ones can be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// The longest name, which is a label in metrics.
const MAX_NAME_BYTES: usize = 64;

/// The error of a token file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("The token file {} {problem}", path.display())]
pub struct TokenError {
    path: PathBuf,
    problem: String,
}

type Digest = [u8; SHA256_OUTPUT_LEN];

/// What the calls with one token may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
struct Quotas {
    /// The most calls open at once.
    streams: Option<usize>,
    /// The puzzles a second; a second's worth at a time.
    puzzles_per_second: Option<u32>,
}

/// Those who have one token.
#[derive(Debug)]
pub(crate) struct Caller {
    number: u64,
    name: Option<Arc<str>>,
    digest: Digest,
    quotas: Quotas,
    /// Its open calls; counted by [`crate::service::net::admission`].
    open_calls: AtomicUsize,
    /// Shared with those who had the same token before its quotas changed.
    is_revoked: Arc<AtomicBool>,
    puzzles: Mutex<Bucket>,
}

/// The puzzles that may be asked for now.
#[derive(Debug)]
struct Bucket {
    level: f64,
    at: Instant,
}

impl Caller {
    fn new(entry: TokenEntry, is_revoked: Arc<AtomicBool>) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let level = entry.quotas.puzzles_per_second.map_or(0.0, f64::from);
        Arc::new(Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            name: entry.name,
            digest: entry.digest,
            quotas: entry.quotas,
            open_calls: AtomicUsize::new(0),
            is_revoked,
            puzzles: Mutex::new(Bucket { level, at: Instant::now() }),
        })
    }

    /// A caller with this quota, which it has not touched yet.
    #[cfg(test)]
    pub(crate) fn with_puzzles_per_second(quota: u32) -> Arc<Self> {
        let quotas = Quotas { streams: None, puzzles_per_second: Some(quota) };
        Self::new(TokenEntry { name: None, digest: digest_of(b""), quotas }, Arc::default())
    }

    fn is(&self, entry: &TokenEntry) -> bool {
        (&self.name, self.digest, self.quotas) == (&entry.name, entry.digest, entry.quotas)
    }

    /// A number that no other token of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The name, if the file has one.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        self.name.as_ref()
    }

    pub(super) fn open_calls(&self) -> &AtomicUsize {
        &self.open_calls
    }

    /// The most calls open at once, if there is a quota.
    pub(super) fn streams(&self) -> Option<usize> {
        self.quotas.streams
    }

    /// Whether the token is no longer in the file.
    pub(super) fn is_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::Relaxed)
    }

    /// The puzzles a second, if there is a quota.
    pub(crate) fn puzzles_per_second(&self) -> Option<u32> {
        self.quotas.puzzles_per_second
    }

    /// Takes puzzles off the quota, if there is one. Returns how long to wait until it covers them.
    pub(crate) fn take_puzzles(&self, puzzles: u64) -> Duration {
        let Some(quota) = self.puzzles_per_second() else { return Duration::ZERO };
        let rate = f64::from(quota);
        let mut bucket = self.puzzles.lock().ignore_poison();
        let now = Instant::now();
        let filled = bucket.level + (now - bucket.at).as_secs_f64() * rate;
        bucket.level = filled.min(rate) - puzzles as f64;
        bucket.at = now;
        let wait = if bucket.level < 0.0 { -bucket.level / rate } else { 0.0 };
        Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX)
    }

    /// Gives puzzles back to the quota, because nothing was done about them.
    pub(crate) fn give_back_puzzles(&self, puzzles: u64) {
        self.puzzles.lock().ignore_poison().level += puzzles as f64;
    }
}

/// The current tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    current: RwLock<Vec<Arc<Caller>>>,
}

impl Tokens {
    /// Reads a file of tokens. Blank lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(crate) fn open(path: PathBuf) -> Result<Self, TokenError> {
        let new = |entry| Caller::new(entry, Arc::default());
        let callers = read(&path)?.into_iter().map(new).collect::<Vec<_>>();
        describe(&callers);
        Ok(Self { path, current: RwLock::new(callers) })
    }

    /// Reads the file again, for calls from now on. The calls of tokens that are gone are for the
    /// caller to end.
    ///
    /// # Errors
    /// [`TokenError`]; the old tokens stay in force.
    pub(crate) fn reload(&self) -> Result<(), TokenError> {
        let entries = read(&self.path)?;
        let mut current = self.current.write().ignore_poison();
        let mut kept = Vec::with_capacity(entries.len());
        for entry in entries {
            kept.push(match current.iter().find(|caller| caller.digest == entry.digest) {
                // What it has open, and has used of its quota, stays counted.
                Some(same) if same.is(&entry) => Arc::clone(same),
                Some(other) => Caller::new(entry, Arc::clone(&other.is_revoked)),
                None => Caller::new(entry, Arc::default()),
            });
        }
        for caller in current.iter() {
            let is_kept = kept.iter().any(|other| other.digest == caller.digest);
            caller.is_revoked.store(!is_kept, Ordering::Relaxed);
        }
        describe(&kept);
        *current = kept;
        Ok(())
    }

    /// Whose token this is, in constant time.
    pub(super) fn caller(&self, token: &[u8]) -> Option<Arc<Caller>> {
        let given = digest_of(token);
        let callers = self.current.read().ignore_poison();
        // All are looked at, whichever it is.
        let found = callers.iter().fold(None, |found, caller| {
            if bool::from(caller.digest.ct_eq(&given)) { Some(caller) } else { found }
        });
        found.cloned()
    }

    /// Whether there are several, which share the server.
    pub(super) fn are_several(&self) -> bool {
        self.current.read().ignore_poison().len() > 1
    }
}

/// The token that a header carries, if it has one.
pub(super) fn token_in(header: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = header.split_at_checked(SCHEME.len())?;
    let token = token.trim_ascii_start();
    (scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) && !token.is_empty()).then_some(token)
}

/// Sets up the metrics of each name.
fn describe(callers: &[Arc<Caller>]) {
    for name in callers.iter().filter_map(|caller| caller.name()) {
        metrics::add_client(name);
    }
}

fn digest_of(token: &[u8]) -> Digest {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest(&SHA256, token).as_ref());
    bytes
}

/// A token as the file has it.
struct TokenEntry {
    name: Option<Arc<str>>,
    digest: Digest,
    quotas: Quotas,
}

fn read(path: &Path) -> Result<Vec<TokenEntry>, TokenError> {
    let wrong = |problem: String| TokenError { path: path.to_owned(), problem };
    let bytes = files::read(path).map_err(wrong)?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("is no text in UTF-8".to_owned()))?;
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let entries = if is_toml(text) { read_tables(text) } else { read_lines(text) }.map_err(wrong)?;
    for (place, entry) in entries.iter().enumerate() {
        if entries[..place].iter().any(|other| other.digest == entry.digest) {
            return Err(wrong("has the same token twice".to_owned()));
        }
    }
    if entries.is_empty() { Err(wrong("has no token".to_owned())) } else { Ok(entries) }
}

/// The lines of a text that are neither blank nor comments.
fn contents(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether a file is TOML: its first line of content is the head of a table.
fn is_toml(text: &str) -> bool {
    contents(text).next().is_some_and(|line| line.starts_with('[') && line.ends_with(']'))
}

/// The first token of a file for a client, which may be the server's own: with a name, quotas, or in
/// TOML.
#[must_use]
pub fn first_token(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_toml(text) {
        let (_, table) = text.split_once(']')?;
        let table = table.split("\n[").next()?;
        return toml::from_str(table).ok().map(|table: TokenTable| table.token);
    }
    let line = contents(text).next()?;
    Some(line.split_once(" = ").map_or(line, |(_, rest)| token_of(rest)).to_owned())
}

/// The token behind a name, before its quotas.
fn token_of(rest: &str) -> &str {
    rest.split(',').next().unwrap_or_default().trim()
}

/// What stands behind a name in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenTable {
    token: String,
    streams: Option<usize>,
    puzzles_per_second: Option<u32>,
}

// The errors must not quote a token, because they go to the log.
fn read_tables(text: &str) -> Result<Vec<TokenEntry>, String> {
    let tables: std::collections::BTreeMap<String, TokenTable> = toml::from_str(text).map_err(|error| {
        let before = error.span().map_or("", |span| &text[..span.start]);
        // These two quote the value, and a token may stand anywhere.
        let is_quoted = ["invalid type", "invalid value"].iter().any(|words| error.message().contains(words));
        let problem = if is_quoted { "a value of the wrong type" } else { error.message() };
        format!("is wrong on line {}: {problem}", before.matches('\n').count() + 1)
    })?;
    let entry = |(name, table): (String, TokenTable)| {
        let TokenTable { token, streams, puzzles_per_second } = table;
        let wrong = |problem: &str| format!("has {problem} for `{name}`");
        Ok(TokenEntry {
            digest: check_token(&token).map_err(|problem| wrong(&problem))?,
            quotas: Quotas { streams, puzzles_per_second }.checked().map_err(|problem| wrong(&problem))?,
            name: Some(check_name(&name).map_err(|problem| wrong(&problem))?),
        })
    };
    tables.into_iter().map(entry).collect()
}

fn read_lines(text: &str) -> Result<Vec<TokenEntry>, String> {
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        entries.push(read_line(line).map_err(|problem| format!("has {problem} on line {number}"))?);
    }
    Ok(entries)
}

/// Reads `token`, or `name = token, streams = N, puzzles_per_second = N`.
fn read_line(line: &str) -> Result<TokenEntry, String> {
    let Some((name, rest)) = line.split_once(" = ") else {
        return Ok(TokenEntry { name: None, digest: check_token(line)?, quotas: Quotas::default() });
    };
    let digest = check_token(token_of(rest))?;
    let mut quotas = Quotas::default();
    for part in rest.split(',').skip(1).map(str::trim) {
        let (quota, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        let wrong = || "a quota that is no whole number from 1".to_owned();
        match quota.trim() {
            "streams" => quotas.streams = Some(value.parse().map_err(|_| wrong())?),
            "puzzles_per_second" => quotas.puzzles_per_second = Some(value.parse().map_err(|_| wrong())?),
            _ => return Err("a quota other than `streams` and `puzzles_per_second`".to_owned()),
        }
    }
    Ok(TokenEntry { name: Some(check_name(name.trim())?), digest, quotas: quotas.checked()? })
}

impl Quotas {
    fn checked(self) -> Result<Self, String> {
        if self.streams == Some(0) || self.puzzles_per_second == Some(0) {
            return Err("a quota that is no whole number from 1".to_owned());
        }
        Ok(self)
    }
}

fn check_token(token: &str) -> Result<Digest, String> {
    if token.len() < MIN_TOKEN_BYTES {
        return Err(format!("a token of fewer than {MIN_TOKEN_BYTES} characters"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a token that no header can carry".to_owned());
    }
    Ok(digest_of(token.as_bytes()))
}

fn check_name(name: &str) -> Result<Arc<str>, String> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_good) {
        Ok(name.into())
    } else {
        Err(format!("a name that is not 1 to {MAX_NAME_BYTES} letters, digits, `-`, `_` and `.`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "correct-horse-battery-staple";
    /// A token that is a number.
    const NUMBER: &str = "1234567890123456";

    fn entries(text: &str) -> Result<Vec<(Option<String>, Quotas)>, String> {
        let entries = if is_toml(text) { read_tables(text) } else { read_lines(text) }?;
        Ok(entries.into_iter().map(|entry| (entry.name.map(|name| name.to_string()), entry.quotas)).collect())
    }

    #[test]
    fn tokens_have_names_and_quotas_if_the_file_says_so() {
        let none = Quotas::default();
        assert_eq!(entries(&format!("# plain\n\n {TOKEN}\n")), Ok(vec![(None, none)]));
        let padded = "c29tZSB0b2tlbiB0aGF0IGlzIGxvbmc=";
        assert_eq!(entries(padded), Ok(vec![(None, none)]));
        let quotas = Quotas { streams: Some(8), puzzles_per_second: Some(100_000) };
        let ada = || Some("ada".to_owned());
        let line = format!("ada = {TOKEN}, streams = 8, puzzles_per_second=100000\nbob = {padded}");
        assert_eq!(entries(&line), Ok(vec![(ada(), quotas), (Some("bob".to_owned()), none)]));
        let toml = format!("# who\n[ada]\ntoken = '{TOKEN}'\nstreams = 8\npuzzles_per_second = 100000\n");
        assert_eq!(entries(&toml), Ok(vec![(ada(), quotas)]));
    }

    #[test]
    fn a_client_may_have_the_file_of_the_server() {
        for text in [
            format!("\u{feff}{TOKEN}"),
            format!("# mine\n\n  {TOKEN} \n{NUMBER}\n"),
            format!("ada = {TOKEN}\nbob = {NUMBER}\n"),
            format!("ada = {TOKEN}, streams = 8, puzzles_per_second=100000\n"),
            format!("# who\n[zoe]\nstreams = 8\ntoken = '{TOKEN}'\n\n[ada]\ntoken = '{NUMBER}'\n"),
        ] {
            assert_eq!(first_token(&text).as_deref(), Some(TOKEN), "{text}");
        }
        assert_eq!(first_token("c29tZSB0b2tlbg==\n").as_deref(), Some("c29tZSB0b2tlbg=="));
        for none in ["", "# nothing\n", "[ada]\nstreams = 8\n"] {
            assert_eq!(first_token(none), None, "{none}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_without_the_token() {
        for (text, problem) in [
            ("short".to_owned(), "a token of fewer than 16 characters on line 1"),
            (format!("\nA b = {TOKEN}"), "a name that is not 1 to 64 letters"),
            (format!("ada = {TOKEN}, streams = 0"), "a quota that is no whole number from 1 on line 1"),
            (format!("ada = {TOKEN}, streams = many"), "a quota that is no whole number from 1 on line 1"),
            (format!("ada = {TOKEN}, cores = 2"), "a quota other than `streams` and `puzzles_per_second`"),
            (format!("[ada]\ntoken = '{TOKEN}'\ncores = 2"), "is wrong on line 3: unknown field `cores`"),
            (format!("[ada]\ntokens = '{TOKEN}'"), "is wrong on line"),
            (format!("[ada]\ntoken = '{TOKEN}'\nstreams = 0"), "a quota that is no whole number from 1 for"),
            (
                format!("[ada]\ntoken = '{TOKEN}'\nstreams = '{TOKEN}'"),
                "is wrong on line 3: a value of the wrong",
            ),
            (format!("[ada]\ntoken = ['{TOKEN}']"), "is wrong on line 2: a value of the wrong type"),
            (
                format!("[ada]\nstreams = {NUMBER}\ntoken = {NUMBER}"),
                "is wrong on line 3: a value of the wrong",
            ),
            (format!("[ada]\ntoken = '{TOKEN}'\nstreams = -{NUMBER}"), "is wrong on line 3: a value of the"),
            ("[ada]\ntoken = 'short'".to_owned(), "a token of fewer than 16 characters for `ada`"),
        ] {
            let error = entries(&text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
            assert!(!error.contains(TOKEN) && !error.contains(NUMBER), "{text}: {error}");
        }
    }

    #[test]
    fn a_quota_of_puzzles_is_a_rate() {
        let caller = Caller::with_puzzles_per_second(100);
        let begin = Instant::now();
        assert_eq!(caller.take_puzzles(90), Duration::ZERO);
        let wait = caller.take_puzzles(60);
        // It is refilled while the test runs.
        let half = Duration::from_millis(500);
        assert!(wait <= half && wait + begin.elapsed() >= half, "{wait:?}");
        caller.give_back_puzzles(60);
        assert_eq!(caller.take_puzzles(1), Duration::ZERO);
    }
}
