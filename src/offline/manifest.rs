//! Manifests: what the output of a shard is part of, written beside it for [`join`](super::join).
//!
//! The answers themselves are plain lines, so nothing in them tells of which input, which options
//! and which part they are. The manifest of `OUT` is `OUT.manifest`, and it has the length and the
//! hash of `OUT`: one that was left by another run does not fit.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Output, OutputError, Progress};
use crate::answer::Tally;
use crate::input::{Prefix, Shard, ShardInput};
use crate::text::Problem;

/// The version of the format.
const SCHEMA: u32 = 1;

/// The ending that makes the name of a manifest.
const ENDING: &str = ".manifest";

/// The largest manifest that is read. Real ones have some hundreds of bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The options in which the shards of an input may differ.
const OF_ONE_SHARD: [&str; 2] = ["--shard", "--stats"];

/// The record of a finished shard: its input, its options, its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    schema: u32,
    /// The shard, such as `2/8`.
    #[serde(with = "shard_as_text")]
    pub shard: Shard,
    /// The program, its version and the command.
    pub program: String,
    /// The path of the input.
    pub input: String,
    /// The input, as the run has read it.
    pub read: ShardInput,
    /// The options that answers depend on, with their values; the shard is not among them.
    pub options: Vec<(String, Option<String>)>,
    /// The number of answers.
    pub answers: u64,
    /// The number of error lines by code.
    pub errors: BTreeMap<String, u64>,
    /// The length and hash of the output.
    pub output: Prefix,
}

impl Manifest {
    /// The manifest of a shard whose answers are complete in `output`, for which so much was `read`.
    /// `None` if the output is that of no run over one file.
    ///
    /// # Errors
    /// The system's, with the name of the output.
    pub fn of(output: &Output, shard: Shard, read: ShardInput) -> Result<Option<Self>, OutputError> {
        let (Some(run), Some(content)) = (output.run(), output.content()?) else { return Ok(None) };
        let is_common = |(name, _): &&(String, Option<String>)| !OF_ONE_SHARD.contains(&name.as_str());
        let Progress { tally, counts, .. } = output.progress();
        let errors = tally.errors.iter().map(|(code, &count)| ((*code).to_owned(), count));
        // Rows are counted by names of their own.
        let of_rows =
            counts.iter().filter_map(|(name, &count)| Some((name.strip_prefix("error ")?.to_owned(), count)));
        Ok(Some(Self {
            schema: SCHEMA,
            shard,
            program: format!("{} {}", run.program, run.command),
            input: run.input.clone(),
            read,
            options: run.options.iter().filter(is_common).cloned().collect(),
            answers: tally.answers,
            errors: errors.chain(of_rows).collect(),
            output: content,
        }))
    }

    /// The path of the manifest of the output at `path`.
    #[must_use]
    pub fn path_of(path: &Path) -> PathBuf {
        let mut name = OsString::from(path);
        name.push(ENDING);
        name.into()
    }

    /// Whether a path is that of a manifest.
    pub(super) fn is_path(path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().ends_with(ENDING.as_bytes())
    }

    /// Writes the manifest of the output at `path`; it is complete or absent. It is synced if it
    /// `is_durable`.
    ///
    /// # Errors
    /// [`OutputError`], with the path of the manifest.
    pub fn write(&self, path: &Path, is_durable: bool) -> Result<(), OutputError> {
        let path = Self::path_of(path);
        let text = serde_json::to_string_pretty(self)
            .map_err(|cause| OutputError::Io { name: path.display().to_string(), cause: cause.into() })?;
        let mut output = Output::file(&path, is_durable)?;
        output.write(text.as_bytes())?;
        output.write(b"\n")?;
        output.finish()
    }

    /// Reads the manifest of the output at `path`. `None` if it is not one that a program of this
    /// version has written.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        let path = Self::path_of(path);
        if !path.metadata()?.is_file() {
            return Ok(None);
        }
        let mut text = Vec::new();
        File::open(path)?.take(MAX_BYTES).read_to_end(&mut text)?;
        let manifest = serde_json::from_slice(&text).ok();
        Ok(manifest.filter(|manifest: &Self| {
            manifest.schema == SCHEMA && manifest.read.fits(manifest.shard) && manifest.tally().is_some()
        }))
    }

    /// The tally of the answers, without what they cost. `None` if a code of an error is unknown.
    pub(super) fn tally(&self) -> Option<Tally> {
        let known = |(code, &count): (&String, &u64)| {
            Problem::CODES.into_iter().find(|known| known == code).map(|code| (code, count))
        };
        let errors: BTreeMap<_, _> = self.errors.iter().map(known).collect::<Option<_>>()?;
        Some(Tally { answers: self.answers, errors, ..Tally::default() })
    }
}

/// Shards as `2/8`.
mod shard_as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    use crate::input::Shard;

    pub(super) fn serialize<S: Serializer>(shard: &Shard, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(shard)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shard, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
