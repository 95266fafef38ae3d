//! Files and streams of puzzles, read in chunks of whole puzzles.
//!
//! ```text
//!   file, pipe ──▶ Source ──sample──▶ Reader ──▶ Chunk, Chunk, Chunk ..
//! ```
//!
//! A [`Source`] is where bytes come from: a memory map, standard input, a pipe, a compressed file.
//! [`Source::read`] detects the format and makes a [`Reader`], which cuts the input into
//! [`Chunk`]s. All sources take the same path: bytes are copied out once, and only the copy is
//! parsed, because a mapped file can change at any moment.
//!
//! | file | what it holds |
//! |---|---|
//! | `source.rs` | opening files and pipes; filling a buffer from them |
//! | `live.rs` | terminals, pipes and sockets: what can be read without waiting |
//! | `kind.rs` | what an input is, by its first bytes |
//! | `compression.rs`, `zip.rs`, `utf16.rs`, `npy.rs` | what is not plain text, decoded as it is read |
//! | `columnar/` | Parquet files as tables of text, with the cargo feature `parquet` |
//! | `map.rs` | memory maps that survive a file which shrinks |
//! | `stamp.rs` | identity and version of a file, to notice that it was changed |
//! | `prefix.rs` | the hash of what has been read |
//! | `sample.rs` | the first bytes, by which the format is detected |
//! | `reader.rs`, `chunk.rs` | chunks of whole puzzles, and their buffers |
//! | `seek.rs`, `shard.rs`, `resume.rs` | reading from another place than the start |
//! | `fingerprint.rs` | by which runs over shards of one input are known to belong together |
//! | `index.rs` | puzzle K of an input |
//! | `rewindable.rs` | inputs that are read more than once |
//! | `validate.rs` | a whole input validated on all cores |
//! | `error.rs` | why an input cannot be read |
//!
//! **Invariant:** memory is bounded however long the input or a line of it is. A chunk is at most
//! twice the chunk size ([`CHUNK_BYTES`] unless [`Reader::read_in_chunks_of`] sets another one), or
//! that and one unfinished puzzle of several lines; a line that is longer than any puzzle is cut
//! short while it is read, or refused where [`Reader::keep_lines`] is set. The service relies on
//! it, because its data sets can have any size.
//!
//! **Invariant:** an input that fails half-way is an error only after all puzzles before the
//! failure have been handed out.

mod chunk;
#[cfg(feature = "parquet")]
mod columnar;
mod compression;
mod error;
mod file_at;
mod fingerprint;
mod index;
mod kind;
mod live;
mod map;
mod npy;
mod prefix;
mod reader;
mod resume;
mod rewindable;
mod sample;
mod seek;
mod shard;
mod source;
mod stamp;
mod utf16;
mod validate;
mod zip;

pub use chunk::Chunk;
#[cfg(feature = "parquet")]
pub use columnar::ParquetFile;
#[cfg(feature = "parquet")]
pub(crate) use columnar::isolated;
pub(crate) use compression::unpacked;
pub use error::InputError;
pub use fingerprint::{InputFingerprint, ShardInput, ShardWitness};
pub use index::{Pick, Picked, PuzzleIndex, pick};
pub(crate) use kind::{ContentKind, Named};
pub use map::Mapped;
pub use npy::npy_header;
pub use prefix::Prefix;
pub(crate) use prefix::PrefixHasher;
pub use reader::{PassedLines, Reader};
pub use rewindable::Rewindable;
pub use shard::{NotAShard, Shard};
pub use source::Source;
pub use stamp::{FileId, Version};
pub use validate::{ValidateError, validate};

/// The compressed bytes that are read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// The default of [`Reader::read_in_chunks_of`]: about 1,600 puzzles of 81 cells.
pub const CHUNK_BYTES: usize = 128 * 1024;

/// The longest line that is skipped in order to find its end.
///
/// Nothing of it is kept, so it costs no memory; the bound is there because a device that never
/// ends a line would be read for ever.
pub const MAX_PASSED_BYTES: u64 = 256 << 20;

/// The name of standard input on the command line.
pub const STANDARD_INPUT: &str = "-";
