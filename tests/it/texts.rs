//! The corpus of `tests/texts`: each text means the same however it comes, and whatever is changed about it that
//! means nothing.
//!
//! A new layout comes with its texts: each is a file in `cases`, and an entry under its kind in `expected.json`. What a
//! text means is written by hand; a failure prints what is read instead.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Cursor, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::panic;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rayon::prelude::*;
use serde::Deserialize;
use sudoku_stream::answer::{OutputForm, Tally, Task};
use sudoku_stream::client::{Endpoint, RetryPolicy, SolveJob, solve_lines};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::{InputError, Reader, Source};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, Records};
use tokio::sync::mpsc;

use crate::harness::packed::gzip;
use crate::harness::server::{Running, config, start};
use crate::harness::{stderr, stdout, sudoku};

/// Texts of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    /// What they are, or what they show.
    #[serde(rename = "why")]
    _why: String,
    cases: BTreeMap<String, Case>,
}

/// What a text of the corpus means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the user says about it.
    #[serde(default)]
    hint: Said,
    /// Its puzzles in order: the line on which each begins and its cells, in the symbols of `letters`; or the
    /// sentence about a bad one.
    #[serde(default)]
    puzzles: Vec<String>,
    /// The sentence with which it is refused.
    refused: Option<String>,
    /// The changes that mean something in this text: by their names below, or `damage`.
    #[serde(default)]
    changed_by: Vec<String>,
}

/// Flags of the command line.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    notation: Option<String>,
    size: Option<usize>,
    alphabet: Option<String>,
    column: Option<String>,
    delimiter: Option<String>,
}

impl Said {
    fn hint(&self) -> Hint {
        Hint {
            notation: self.notation.as_ref().map(|name| name.parse().unwrap()),
            order: self.size.map(|side| Order::from_side(side).unwrap()),
            alphabet: self.alphabet.as_ref().map(|name| name.parse().unwrap()),
            column: self.column.as_ref().map(|name| name.parse().unwrap()),
            delimiter: self.delimiter.as_ref().map(|name| name.parse().unwrap()),
            has_heading: None,
        }
    }
}

/// The puzzles of a text, or why it is refused.
type Meaning = Result<Vec<String>, String>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts")
}

/// All cases by the names of their files.
fn cases() -> BTreeMap<String, Case> {
    let expected = fs::read(folder().join("expected.json")).unwrap();
    let kinds: BTreeMap<String, Kind> = serde_json::from_slice(&expected).unwrap();
    kinds.into_values().flat_map(|kind| kind.cases).collect()
}

impl Case {
    fn meaning(&self) -> Meaning {
        self.refused.clone().map_or_else(|| Ok(self.puzzles.clone()), Err)
    }
}

/// A stream that gives its text in pieces of this size.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}

fn pieces(text: &[u8], size: usize) -> Result<Source, InputError> {
    Source::reading("text".to_owned(), Box::new(Pieces(Cursor::new(text.to_vec()), size)))
}

/// A reader of a text that is not refused.
fn reader(text: &[u8], case: &Case) -> Reader {
    pieces(text, usize::MAX).unwrap().read(&case.hint.hint()).unwrap()
}

/// All puzzles that a reader hands out.
fn puzzles(reader: &mut Reader) -> Meaning {
    let order = reader.format().order();
    let letters = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
    let (mut grid, mut all) = (Grid::empty(order), Vec::new());
    while let Some(chunk) = reader.next_chunk().map_err(|error| error.to_string())? {
        let block = chunk.block();
        let mut records = Records::new(reader.format(), block.text, block.first_line);
        while let Some(record) = records.read(&mut grid) {
            all.push(record.error.map_or_else(
                || {
                    let mut cells = Vec::new();
                    letters.write_cells(&grid, &mut cells);
                    format!("{} {}", record.line, str::from_utf8(&cells).unwrap())
                },
                |error| error.to_string(),
            ));
        }
    }
    Ok(all)
}

fn meaning(source: Result<Source, InputError>, hint: &Hint) -> Meaning {
    let mut reader = source.and_then(|source| source.read(hint)).map_err(|error| error.to_string())?;
    puzzles(&mut reader)
}

/// The ways in which a text comes, with what it means in each.
fn ways(path: &Path, text: &[u8], hint: &Hint) -> Vec<(String, Meaning)> {
    // Sentences name the file, and advice that names none says FILE.
    let named = |meaning: Meaning| {
        meaning.map_err(|sentence| sentence.replace(path.to_str().unwrap(), "text").replace("FILE", "text"))
    };
    let mut ways = vec![
        ("mapped".to_owned(), meaning(Source::open(path, true), hint)),
        ("a file".to_owned(), meaning(Source::open(path, false), hint)),
    ];
    ways.extend([1, 7, 4096].map(|size| (format!("pieces of {size}"), meaning(pieces(text, size), hint))));
    for size in [1, 100] {
        let read = || {
            let mut reader = Source::open(path, true)?.read(hint)?;
            reader.read_in_chunks_of(size);
            Ok(puzzles(&mut reader))
        };
        ways.push((
            format!("chunks of {size}"),
            read().unwrap_or_else(|error: InputError| Err(error.to_string())),
        ));
    }
    for shards in [2, 3, 7] {
        let shard = |number: u64| {
            let mut reader = Source::open(path, true)?.read(hint)?;
            if reader.len_bytes().is_some() {
                reader.select_shard(format!("{number}/{shards}").parse().unwrap())?;
            } else if number > 1 {
                return Ok(Ok(Vec::new()));
            }
            Ok(puzzles(&mut reader))
        };
        let all = (1..=shards)
            .map(|number| shard(number).unwrap_or_else(|error: InputError| Err(error.to_string())))
            .collect::<Result<Vec<_>, _>>();
        ways.push((format!("{shards} shards"), all.map(|parts| parts.concat())));
    }
    ways.into_iter().map(|(way, meaning)| (way, named(meaning))).collect()
}

/// A change of a text that means nothing: its name, what becomes of the text, and the lines that are added above.
type Change = (&'static str, Vec<u8>, u64);

fn changes(text: &[u8]) -> Vec<Change> {
    let mut changes: Vec<Change> = vec![
        ("mark", [b"\xEF\xBB\xBF", text].concat(), 0),
        ("packed", gzip(text), 0),
        ("comment above", [b"# a comment\n\n", text].concat(), 2),
    ];
    if text.ends_with(b"\n") {
        changes.push(("no newline at the end", text.strip_suffix(b"\n").unwrap().to_vec(), 0));
    } else {
        changes.push(("newline at the end", [text, b"\n"].concat(), 0));
    }
    let Ok(text) = str::from_utf8(text) else { return changes };
    if !text.contains('\r') {
        changes.push(("line ends", text.replace('\n', "\r\n").into_bytes(), 0));
    }
    let indented = |line: &str| if line.trim().is_empty() { line.to_owned() } else { format!("    {line}") };
    changes.push(("indented", text.split_inclusive('\n').map(indented).collect::<String>().into_bytes(), 0));
    let wide = text.trim_start_matches('\u{FEFF}').encode_utf16().flat_map(u16::to_le_bytes);
    changes.push(("UTF-16", b"\xFF\xFE".iter().copied().chain(wide).collect(), 0));
    changes
}

/// What stays of an answer when a text is changed so: a bad cell may be in another column.
fn essence(answer: &str, lines: u64) -> String {
    let (words, number) = answer.strip_prefix("Line ").map_or(("", answer), |rest| ("Line ", rest));
    let (number, rest) = number.split_once(' ').unwrap();
    let number: u64 = number.parse().unwrap();
    let end = rest.find(". It is ").unwrap_or(rest.len());
    format!("{words}{} {}", number - lines, &rest[..end])
}

fn essences(meaning: Meaning, lines: u64) -> Option<Vec<String>> {
    meaning.ok().map(|puzzles| puzzles.iter().map(|answer| essence(answer, lines)).collect())
}

/// The text with one of its digits replaced by what is no cell, at some places.
fn damaged(text: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let digits: Vec<usize> = (0..text.len()).filter(|&at| matches!(text[at], b'1'..=b'9')).collect();
    let places =
        (0..4).filter_map(|part| digits.get(digits.len() * (2 * part + 1) / 8)).collect::<BTreeSet<_>>();
    let damage = |&at: &usize| (at, [&text[..at], b"q", &text[at + 1..]].concat());
    places.into_iter().map(damage).collect()
}

/// Whether what a damaged text means is what is left of this, or nothing.
fn is_left_of(found: &Meaning, wanted: &Meaning) -> bool {
    let (Ok(found), Ok(wanted)) = (found, wanted) else { return found.is_err() };
    found.len() == wanted.len()
        && found.iter().zip(wanted).filter(|(found, wanted)| found != wanted).count() <= 1
}

/// What differs in a case from what it means.
fn check(name: &str, case: &Case) -> Vec<String> {
    let path = folder().join("cases").join(name);
    let text = fs::read(&path).unwrap();
    let (hint, wanted) = (case.hint.hint(), case.meaning());
    assert!(case.refused.is_some() == case.puzzles.is_empty(), "{name} has puzzles or is refused");
    let mut faults = Vec::new();
    for (way, found) in ways(&path, &text, &hint) {
        if found != wanted {
            faults.push(format!("{name}, {way}: {found:#?}\nwanted: {wanted:#?}"));
        }
    }
    let damaged = if wanted.is_ok() { damaged(&text) } else { Vec::new() };
    for (at, text) in damaged {
        let found = meaning(pieces(&text, usize::MAX), &hint);
        if !is_left_of(&found, &wanted) && !case.changed_by.iter().any(|known| known == "damage") {
            faults.push(format!("{name}, damage at {at}: {found:#?}\nwanted: {wanted:#?}"));
        }
    }
    let wanted = essences(wanted, 0);
    for (change, text, lines) in changes(&text) {
        let found = meaning(pieces(&text, usize::MAX), &hint);
        let is_same = essences(found.clone(), lines) == wanted;
        if is_same == case.changed_by.iter().any(|known| known == change) {
            faults.push(format!("{name}, {change}: {found:#?}\nwanted: {wanted:#?}"));
        }
    }
    faults
}

#[test]
fn every_text_means_what_it_says_however_it_comes() {
    let cases = cases();
    let files = fs::read_dir(folder().join("cases")).unwrap();
    let files: BTreeSet<String> =
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(cases.keys().cloned().collect::<BTreeSet<_>>(), files);
    let faults = |(name, case): (&String, &Case)| {
        panic::catch_unwind(|| check(name, case)).unwrap_or_else(|_| vec![format!("{name}, a panic:")])
    };
    let faults: Vec<String> = cases.par_iter().flat_map_iter(faults).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The answers of a stream that is sent these messages.
async fn streamed(server: &Running, job: SolveJob, messages: Vec<Vec<u8>>) -> Vec<String> {
    let task = Task { form: OutputForm::Pair, node_limit: 1000, ..Task::default() };
    let (sender, blocks) = mpsc::channel(messages.len().max(1));
    for message in messages {
        sender.send(Bytes::from(message)).await.unwrap();
    }
    drop(sender);
    let mut answers = Vec::new();
    let sink = |lines: Bytes, _: &Tally| -> Result<(), Infallible> {
        answers.extend(str::from_utf8(&lines).unwrap().lines().map(str::to_owned));
        Ok(())
    };
    let (servers, job) = ([Endpoint::new(&server.url())], SolveJob { task, ..job });
    let end = solve_lines(&servers, &RetryPolicy::default(), &job, blocks, sink, |_| {}).await;
    answers.extend(end.err().map(|error| error.to_string()));
    answers
}

/// What the program sends of an input: what it has found out about its format, and parts of some puzzles.
fn parts(mut reader: Reader) -> (SolveJob, Vec<Vec<u8>>) {
    reader.read_in_chunks_of(200);
    let (prelude, first_line) = (Bytes::copy_from_slice(reader.prelude()), reader.line());
    let hint = Hint { has_heading: Some(!prelude.is_empty()), ..Hint::of(reader.format()) };
    let mut parts = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        parts.push(chunk.block().text.to_vec());
    }
    (SolveJob { hint, prelude, first_line, ..SolveJob::default() }, parts)
}

/// Cells in the symbols of `letters`, if all of them are known.
fn in_letters(cells: &str, alphabet: &Alphabet) -> Option<String> {
    let (symbols, letters) = (alphabet.symbols(), Alphabet::Letters.symbols());
    let letter = |cell| symbols.iter().position(|&symbol| symbol == cell).map(|at| letters[at].into());
    cells.bytes().map(|cell| if cell == b'.' { Some('.') } else { letter(cell) }).collect()
}

/// Whether this is an answer in this alphabet to a puzzle or a bad one.
fn answers(answer: &str, wanted: &str, alphabet: &Alphabet) -> bool {
    if wanted.starts_with("Line ") {
        return answer.strip_prefix("error: ") == Some(wanted);
    }
    let (line, cells) = wanted.split_once(' ').unwrap();
    match answer.strip_prefix("error: ") {
        Some(sentence) => sentence.starts_with(&format!("Line {line} ")),
        None => {
            let (puzzle, _) = answer.split_once(',').unwrap_or((answer, ""));
            in_letters(puzzle, alphabet).as_deref() == Some(cells)
        }
    }
}

/// What differs between these answers and the puzzles of a case.
fn compare(name: &str, way: &str, found: &[String], case: &Case, alphabet: &Alphabet) -> Option<String> {
    let mut pairs = found.iter().zip(&case.puzzles);
    let is_same =
        found.len() == case.puzzles.len() && pairs.all(|(found, wanted)| answers(found, wanted, alphabet));
    (!is_same).then(|| format!("{name}, {way}: {found:#?}\nwanted: {:#?}", case.puzzles))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_answers_the_puzzles_of_each_text() {
    let server = start(config()).await;
    let mut faults = Vec::new();
    for (name, case) in cases().iter().filter(|(_, case)| case.refused.is_none()) {
        let text = fs::read(folder().join("cases").join(name)).unwrap();
        let reader = reader(&text, case);
        let alphabet = reader.format().alphabet().clone();
        let (job, messages) = parts(reader);
        let found = streamed(&server, job, messages).await;
        faults.extend(compare(name, "parts of a stream", &found, case, &alphabet));
        let job = SolveJob { hint: case.hint.hint(), ..SolveJob::default() };
        let found = streamed(&server, job, vec![text]).await;
        // Arrays and addresses are known by the readers of files only.
        if found.last().is_some_and(|answer| answer.contains("The service reads lines, tables")) {
            continue;
        }
        faults.extend(compare(name, "a stream", &found, case, &alphabet));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Not every text is taken for a puzzle where it could be the name of a file.
#[test]
fn a_text_that_is_typed_means_the_same() {
    let is_short = |text: &[u8]| text.len() < 400 && text.contains(&b'\n') && !text.contains(&0);
    let typed = |(name, case): (&String, &Case)| {
        let text = fs::read(folder().join("cases").join(name)).unwrap();
        if case.refused.is_some() || case.hint.hint() != Hint::default() || !is_short(&text) {
            return None;
        }
        let mut command = sudoku(&["solve", "-q", "-j", "1", "-f", "pair", "--node-limit", "1000", "--"]);
        let output = command.arg(OsStr::from_bytes(&text)).output().unwrap();
        let found: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
        let is_taken = !stderr(&output).contains("os error");
        let reader = reader(&text, case);
        let alphabet = reader.format().alphabet();
        Some(is_taken.then(|| compare(name, "an argument", &found, case, alphabet)))
    };
    let typed: Vec<_> = cases().par_iter().filter_map(typed).collect();
    let faults: Vec<&String> = typed.iter().flatten().flatten().collect();
    assert!(faults.is_empty(), "{} faults:\n{faults:#?}", faults.len());
    assert!(typed.iter().flatten().count() * 2 > typed.len(), "too few are taken");
}
