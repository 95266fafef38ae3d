//! Joining: the outputs of all shards of an input put together.
//!
//! **Invariant:** nothing is joined unless every shard is there once, all have read the same bytes
//! of one input and were made with the same options, and each output has the bytes that its
//! manifest describes. What is wrong is reported for all shards at once, because whoever runs a
//! thousand of them wants one list of those to run again.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Manifest, Output, OutputError};
use crate::answer::Tally;
use crate::counted;
use crate::input::{InputError, InputFingerprint, PrefixHasher};

/// The size of the pieces in which outputs are copied.
const PIECE_BYTES: usize = 1 << 20;

/// The most problems that are printed.
const MAX_SHOWN: usize = 20;

/// What was joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joined {
    /// The number of shards.
    pub shards: u64,
    /// The answers of all of them, without what they cost.
    pub tally: Tally,
}

/// The error of shards that were not joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The shards do not make up one output.
    #[error("{}", listed(.0))]
    Problems(Vec<JoinProblem>),
    /// The input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The caller's flag was set.
    #[error("The run was interrupted.")]
    Cancelled,
}

/// A reason why shards do not make up one output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinProblem {
    /// A manifest was named instead of the output that it is of.
    #[error("{0} is a manifest. Name only the files with answers.")]
    IsManifest(String),
    /// There is no manifest.
    #[error("{0} has no manifest: {0}.manifest does not exist. Run the shard with --manifest.")]
    NoManifest(String),
    /// The manifest has another format.
    #[error("{0}.manifest is no manifest that this version of sudoku understands.")]
    Unknown(String),
    /// The system refused.
    #[error("{name}: {cause}")]
    Io {
        /// The file.
        name: String,
        /// The system's error.
        cause: io::Error,
    },
    /// Shards are missing.
    #[error("{}", missing(.ranges, *.of))]
    Missing {
        /// The first and the last number of each gap.
        ranges: Vec<(u64, u64)>,
        /// The number of shards.
        of: u64,
    },
    /// A shard was named twice.
    #[error("{second} is shard {shard} once more, after {first}. Name one of them.")]
    Twice {
        /// The shard.
        shard: String,
        /// The file named first.
        first: String,
        /// The file named later.
        second: String,
    },
    /// An input was cut into another number of shards.
    #[error("{name} is shard {shard}, but the others are of {of}.")]
    OtherCount {
        /// The file.
        name: String,
        /// Its shard.
        shard: String,
        /// The number of shards.
        of: u64,
    },
    /// A shard was made by another program or command, or with other options.
    #[error("{name} was made with {setting}, but the others with {usual}.")]
    OtherSetting {
        /// The file.
        name: String,
        /// What differs.
        setting: String,
        /// The same of the others.
        usual: String,
    },
    /// A shard is of another input.
    #[error(
        "{name} belongs to another input than the others: to {input} with {bytes} bytes, and they to {usual} with {usual_bytes} bytes."
    )]
    OtherInput {
        /// The file.
        name: String,
        /// Its input.
        input: String,
        /// The length of that.
        bytes: u64,
        /// The input of the others.
        usual: String,
        /// The length of that.
        usual_bytes: u64,
    },
    /// A shard is of another input of the same length.
    #[error(
        "{name} belongs to another input than the others: to {input}, which had other content when it was solved."
    )]
    OtherContent {
        /// The file.
        name: String,
        /// Its input.
        input: String,
    },
    /// Two neighbours have not read the same bytes.
    #[error(
        "{first} and {second} have not read the same input: their first {bytes} bytes differ. Find out with --input FILE which of them is wrong."
    )]
    Differ {
        /// The file with the earlier shard.
        first: String,
        /// The file with the next one.
        second: String,
        /// The bytes that both have read.
        bytes: u64,
    },
    /// A shard is not of the input that was named.
    #[error("{name} does not belong to {input} as it is now.")]
    NotOfInput {
        /// The file.
        name: String,
        /// The input.
        input: String,
    },
    /// A file has another length than its manifest says.
    #[error(
        "{name} is damaged: it has {found} bytes, and its manifest says {expected}. Run the shard again."
    )]
    Length {
        /// The file.
        name: String,
        /// Its length.
        found: u64,
        /// The length in the manifest.
        expected: u64,
    },
    /// A file has other bytes than its manifest says.
    #[error("{0} is damaged: it does not have the bytes that its manifest describes. Run the shard again.")]
    Content(String),
}

/// One a line.
fn listed(problems: &[JoinProblem]) -> String {
    let mut text = "The shards cannot be joined:".to_owned();
    for problem in problems.iter().take(MAX_SHOWN) {
        text += &format!("\n  {problem}");
    }
    if problems.len() > MAX_SHOWN {
        text += &format!("\n  and {} more problems", problems.len() - MAX_SHOWN);
    }
    text
}

/// `Shards 2/8 and 5/8 to 7/8 are missing.`
fn missing(ranges: &[(u64, u64)], of: u64) -> String {
    let range = |&(first, last): &(u64, u64)| match last - first {
        0 => format!("{first}/{of}"),
        _ => format!("{first}/{of} to {last}/{of}"),
    };
    let mut names: Vec<String> = ranges.iter().take(MAX_SHOWN).map(range).collect();
    if ranges.len() > MAX_SHOWN {
        names.push("others".to_owned());
    }
    let is_one = matches!(ranges, [(first, last)] if first == last);
    let verb = if is_one { "is" } else { "are" };
    let noun = if is_one { "Shard" } else { "Shards" };
    format!("{noun} {} {verb} missing.", counted::listed(&names, "and"))
}

/// A shard: its output and its manifest.
struct ShardFile<'a> {
    path: &'a Path,
    manifest: Manifest,
}

impl ShardFile<'_> {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn number(&self) -> u64 {
        self.manifest.shard.number()
    }

    /// What the answers depend on besides the input, in words: program, options.
    fn settings(&self) -> impl Iterator<Item = String> {
        let option = |(name, value): &(String, Option<String>)| match value.as_deref() {
            Some("") => name.clone(),
            Some(value) => format!("{name} {value}"),
            None => format!("no {name}"),
        };
        let options = self.manifest.options.iter().map(option).collect::<Vec<_>>();
        [self.manifest.program.clone()].into_iter().chain(options)
    }

    /// Copies the output, if its bytes are those that the manifest describes; `write` gets the
    /// pieces.
    fn copy(
        &self,
        mut write: impl FnMut(&[u8]) -> Result<(), OutputError>,
        cancel: &AtomicBool,
    ) -> Result<Option<JoinProblem>, JoinError> {
        let io_problem = |cause| Ok(Some(JoinProblem::Io { name: self.name(), cause }));
        let mut file = match File::open(self.path) {
            Ok(file) => file,
            Err(cause) => return io_problem(cause),
        };
        let (mut hasher, mut buffer) = (PrefixHasher::new(), vec![0; PIECE_BYTES]);
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(JoinError::Cancelled);
            }
            let length = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return io_problem(cause),
            };
            hasher.add(hasher.prefix().bytes, &buffer[..length]);
            write(&buffer[..length])?;
            if hasher.prefix().bytes > self.manifest.output.bytes {
                break;
            }
        }
        let is_same = hasher.prefix() == self.manifest.output;
        Ok((!is_same).then(|| JoinProblem::Content(self.name())))
    }
}

/// Writes the outputs of all shards of an input, in their order, to `output`. Each is named once,
/// in any order, and has its [`Manifest`] beside it. With `input`, the shards must be of that file
/// as it is now. `watch` is called with the bytes read of outputs.
///
/// An output that is complete or absent stays absent unless everything is right; to another one
/// nothing is written before everything was looked at.
///
/// ```no_run
/// use std::path::{Path, PathBuf};
/// use std::sync::atomic::AtomicBool;
///
/// use sudoku_stream::offline::{Output, join};
///
/// // Written by `sudoku solve puzzles.txt --shard K/2 -o answers.K --manifest`.
/// let shards = ["answers.1", "answers.2"].map(PathBuf::from);
/// let mut output = Output::file(Path::new("answers.txt"), false)?;
/// let joined = join(&shards, None, &mut output, &AtomicBool::new(false), |_| ())?;
/// output.finish()?;
/// println!("{} answers", joined.tally.answers);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`JoinError`], with everything that is wrong with the shards.
pub fn join(
    files: &[PathBuf],
    input: Option<&Path>,
    output: &mut Output,
    cancel: &AtomicBool,
    mut watch: impl FnMut(u64),
) -> Result<Joined, JoinError> {
    let mut problems = Vec::new();
    let mut shards: Vec<ShardFile<'_>> = Vec::with_capacity(files.len());
    for path in files {
        match read_manifest(path) {
            Ok(manifest) => shards.push(ShardFile { path, manifest }),
            Err(problem) => problems.push(problem),
        }
    }
    check_settings(&shards, &mut problems);
    shards.sort_by_key(ShardFile::number);
    check_numbers(&shards, &mut problems);
    match input {
        Some(input) => check_input(&shards, input, cancel, &mut problems)?,
        None => check_neighbours(&shards, &mut problems),
    }
    check_lengths(&shards, &mut problems);
    if !problems.is_empty() {
        return Err(JoinError::Problems(problems));
    }
    let mut done = 0;
    if !output.is_atomic() {
        for shard in &shards {
            problems.extend(shard.copy(|_| Ok(()), cancel)?);
        }
    }
    for shard in &shards {
        let is_written = problems.is_empty();
        let copied = shard.copy(
            |piece| {
                done += piece.len() as u64;
                watch(done);
                if is_written { output.write(piece) } else { Ok(()) }
            },
            cancel,
        )?;
        // What was written already is of no use, but the other shards are looked at.
        problems.extend(copied);
        if !output.is_atomic() && !problems.is_empty() {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(JoinError::Problems(problems));
    }
    let mut joined = Joined::default();
    for tally in shards.iter().filter_map(|shard| shard.manifest.tally()) {
        joined.shards += 1;
        joined.tally.add(&tally);
    }
    Ok(joined)
}

fn read_manifest(path: &Path) -> Result<Manifest, JoinProblem> {
    let name = || path.display().to_string();
    if Manifest::is_path(path) {
        return Err(JoinProblem::IsManifest(name()));
    }
    match Manifest::read(path) {
        Ok(Some(manifest)) => Ok(manifest),
        Ok(None) => Err(JoinProblem::Unknown(name())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => match path.symlink_metadata() {
            Ok(_) => Err(JoinProblem::NoManifest(name())),
            Err(cause) => Err(JoinProblem::Io { name: name(), cause }),
        },
        Err(cause) => Err(JoinProblem::Io { name: Manifest::path_of(path).display().to_string(), cause }),
    }
}

/// The value that most shards have, and of those with as many the first.
fn usual<'a, K: PartialEq>(
    shards: &'a [ShardFile<'a>],
    key: impl Fn(&'a ShardFile<'a>) -> K,
) -> Option<&'a ShardFile<'a>> {
    let mut counts: Vec<(K, usize, &ShardFile<'_>)> = Vec::new();
    for shard in shards {
        let own = key(shard);
        match counts.iter_mut().find(|(known, ..)| *known == own) {
            Some((_, count, _)) => *count += 1,
            None => counts.push((own, 1, shard)),
        }
    }
    // The first of several with the same count.
    let most = counts.into_iter().rev().max_by_key(|&(_, count, _)| count);
    most.map(|(.., shard)| shard)
}

/// What all shards have to have in common: their number, the program, its options, and the input.
fn check_settings(shards: &[ShardFile<'_>], problems: &mut Vec<JoinProblem>) {
    let of = usual(shards, |shard| shard.manifest.shard.of());
    let setting = usual(shards, |shard| (&shard.manifest.program, &shard.manifest.options));
    let input = usual(shards, input_key);
    let (Some(of), Some(setting), Some(input)) = (of, setting, input) else { return };
    for shard in shards {
        let manifest = &shard.manifest;
        let name = shard.name();
        let (read, usual_read) = (&manifest.read, &input.manifest.read);
        if manifest.shard.of() != of.manifest.shard.of() {
            let shard = manifest.shard.to_string();
            problems.push(JoinProblem::OtherCount { name, shard, of: of.manifest.shard.of() });
        } else if let Some((setting, usual)) =
            shard.settings().zip(setting.settings()).find(|(own, usual)| own != usual)
        {
            problems.push(JoinProblem::OtherSetting { name, setting, usual });
        } else if read.bytes != usual_read.bytes {
            problems.push(JoinProblem::OtherInput {
                name,
                input: manifest.input.clone(),
                bytes: read.bytes,
                usual: input.manifest.input.clone(),
                usual_bytes: usual_read.bytes,
            });
        } else if read.sample != usual_read.sample {
            problems.push(JoinProblem::OtherContent { name, input: manifest.input.clone() });
        }
    }
}

/// What is known of the whole input of a shard.
const fn input_key(shard: &ShardFile<'_>) -> (u64, u64) {
    (shard.manifest.read.bytes, shard.manifest.read.sample)
}

/// Each shard must be there once. They are in order.
fn check_numbers(shards: &[ShardFile<'_>], problems: &mut Vec<JoinProblem>) {
    let Some(of) = usual(shards, |shard| shard.manifest.shard.of()) else { return };
    let of = of.manifest.shard.of();
    let (mut ranges, mut last): (_, Option<&ShardFile<'_>>) = (Vec::new(), None);
    for shard in shards.iter().filter(|shard| shard.manifest.shard.of() == of) {
        let before = last.map_or(0, ShardFile::number);
        if let Some(first) = last.filter(|_| before == shard.number()) {
            let (first, second) = (first.name(), shard.name());
            let shard = shard.manifest.shard.to_string();
            problems.push(JoinProblem::Twice { shard, first, second });
        } else if before + 1 < shard.number() {
            ranges.push((before + 1, shard.number() - 1));
        }
        last = Some(shard);
    }
    let before = last.map_or(0, ShardFile::number);
    if before < of {
        ranges.push((before + 1, of));
    }
    if !ranges.is_empty() {
        problems.push(JoinProblem::Missing { ranges, of });
    }
}

/// Neighbours must have read the same bytes. Those of another input were reported before.
fn check_neighbours(shards: &[ShardFile<'_>], problems: &mut Vec<JoinProblem>) {
    let Some(usual) = usual(shards, |shard| (shard.manifest.shard.of(), input_key(shard))) else { return };
    let key = (usual.manifest.shard.of(), input_key(usual));
    let shards: Vec<_> =
        shards.iter().filter(|shard| (shard.manifest.shard.of(), input_key(shard)) == key).collect();
    for pair in shards.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let (through, before) = (first.manifest.read.through, second.manifest.read.before);
        // Of shards with a gap between them, only those around the gap know.
        if first.number() + 1 == second.number() && through != before {
            let (first, second, bytes) = (first.name(), second.name(), through.bytes);
            problems.push(JoinProblem::Differ { first, second, bytes });
        }
    }
}

/// The shards must be of this file as it is now.
fn check_input(
    shards: &[ShardFile<'_>],
    input: &Path,
    cancel: &AtomicBool,
    problems: &mut Vec<JoinProblem>,
) -> Result<(), JoinError> {
    let numbers: Vec<_> = shards.iter().map(|shard| shard.manifest.shard).collect();
    let known = InputFingerprint::of(input, &numbers, |_| !cancel.load(Ordering::Relaxed))?;
    let known = known.ok_or(JoinError::Cancelled)?;
    for shard in shards.iter().filter(|shard| !known.matches(&shard.manifest.read)) {
        problems.push(JoinProblem::NotOfInput { name: shard.name(), input: input.display().to_string() });
    }
    Ok(())
}

/// Each file must have the length that its manifest says. That costs nothing, so it comes before
/// the bytes are read.
fn check_lengths(shards: &[ShardFile<'_>], problems: &mut Vec<JoinProblem>) {
    for shard in shards {
        let name = shard.name();
        let expected = shard.manifest.output.bytes;
        match shard.path.metadata() {
            Ok(found) if found.len() != expected || !found.is_file() => {
                problems.push(JoinProblem::Length { name, found: found.len(), expected });
            }
            Ok(_) => {}
            Err(cause) => problems.push(JoinProblem::Io { name, cause }),
        }
    }
}
