//! Chunks: copies of parts of an input, each of whole puzzles.

use std::mem;
use std::sync::{Arc, Mutex};

use super::Prefix;
use crate::answer::Block;
use crate::poison::IgnorePoison as _;

/// Buffers for reuse: chunks return theirs when they are dropped.
pub(super) type ChunkBuffers = Arc<Mutex<Vec<Vec<u8>>>>;

/// A copy of a part of the input that holds whole puzzles.
#[derive(Debug)]
pub struct Chunk {
    pub(super) text: Vec<u8>,
    pub(super) first_line: u64,
    pub(super) end: u64,
    pub(super) prefix: Option<Prefix>,
    pub(super) buffers: ChunkBuffers,
}

impl Chunk {
    /// The text and the number of its first line.
    #[must_use]
    pub fn block(&self) -> Block<'_> {
        Block { text: &self.text, first_line: self.first_line }
    }

    /// The offset of the next chunk in the input, uncompressed.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The length and hash of what had been read of the input when the chunk was handed out:
    /// everything up to its end and some bytes more. `None` unless the source is
    /// [`Source::hashed`](super::Source::hashed).
    #[must_use]
    pub const fn prefix(&self) -> Option<Prefix> {
        self.prefix
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let buffer = mem::take(&mut self.text);
        self.buffers.lock().ignore_poison().push(buffer);
    }
}
