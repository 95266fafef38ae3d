//! Prefix hash: the hash of what has been read of an input, from its first byte on.
//!
//! **Invariant:** equal prefixes mean equal bytes, which a resumed run relies on: it compares the
//! prefix with its journal, so that answers to two inputs are never mixed. The hash guards against
//! accidents and not against forgery, because every byte of a long run goes through it and a
//! cryptographic hash would cost as much as solving. It chains the hashes of blocks, because
//! rapidhash is a quarter faster over a block than over a stream of bytes.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use rapidhash::v3::rapidhash_v3;
use serde::{Deserialize, Serialize};

/// The size of a block. Reads of a file mostly end at a multiple of it, so few blocks are assembled
/// from pieces.
const BLOCK_BYTES: usize = 16 * 1024;

/// The beginning of an input, as its length and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefix {
    /// The length in bytes, uncompressed.
    pub bytes: u64,
    /// A 64-bit hash of these bytes.
    pub hash: u64,
}

/// The hash at a length that somebody else waits for.
pub(super) type PrefixMark = Arc<OnceLock<Prefix>>;

/// The incremental hash of an input; each byte counts once, however often it is read.
pub(crate) struct PrefixHasher {
    bytes: u64,
    /// The hash of all complete blocks.
    blocks: u64,
    /// The bytes behind them: an incomplete block.
    rest: Vec<u8>,
    /// The length at which the hash is to be remembered.
    checkpoint: Option<u64>,
    /// The hash that was remembered.
    remembered: Option<Prefix>,
    /// The lengths at which the hash is noted for others, in order.
    marks: VecDeque<(u64, PrefixMark)>,
}

/// The hash of all blocks up to `block`, where those before it have the hash `before`.
fn chain(before: u64, block: &[u8]) -> u64 {
    let mut pair = [0; 16];
    pair[..8].copy_from_slice(&before.to_le_bytes());
    pair[8..].copy_from_slice(&rapidhash_v3(block).to_le_bytes());
    rapidhash_v3(&pair)
}

impl PrefixHasher {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: 0,
            blocks: 0,
            rest: Vec::new(),
            checkpoint: None,
            remembered: None,
            marks: VecDeque::new(),
        }
    }

    /// Notes the hash at each of these lengths, which must be in order, once it is reached.
    pub(super) fn with_marks(marks: impl IntoIterator<Item = (u64, PrefixMark)>) -> Self {
        let mut hasher = Self { marks: marks.into_iter().collect(), ..Self::new() };
        hasher.note();
        hasher
    }

    /// Adds a piece of the input that begins at byte `offset`. Bytes that were added before are
    /// skipped. A piece behind a gap is ignored, because the bytes of the gap are not known.
    pub(crate) fn add(&mut self, offset: u64, piece: &[u8]) {
        let known = self.bytes.checked_sub(offset).and_then(|known| usize::try_from(known).ok());
        let Some(mut rest) = known.and_then(|known| piece.get(known..)) else { return };
        while let Some(length) = self.next_stop().filter(|&length| length <= rest.len()) {
            let (before, behind) = rest.split_at(length);
            self.write(before);
            self.note();
            rest = behind;
        }
        self.write(rest);
    }

    /// The bytes up to the next length at which the hash is wanted.
    fn next_stop(&self) -> Option<usize> {
        let ahead = self.checkpoint.and_then(|checkpoint| checkpoint.checked_sub(self.bytes));
        let mark = self.marks.front().map(|(at, _)| at - self.bytes);
        let ahead = ahead.into_iter().chain(mark).min()?;
        Some(usize::try_from(ahead).unwrap_or(usize::MAX))
    }

    /// Notes the hash wherever it is wanted at this length.
    fn note(&mut self) {
        if self.checkpoint == Some(self.bytes) {
            (self.remembered, self.checkpoint) = (Some(self.prefix()), None);
        }
        while self.marks.front().is_some_and(|&(at, _)| at == self.bytes) {
            let prefix = self.prefix();
            if let Some((_, mark)) = self.marks.pop_front() {
                // Nobody else sets it.
                let _ = mark.set(prefix);
            }
        }
    }

    fn write(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let mut piece = piece;
        if !self.rest.is_empty() {
            let (head, tail) = piece.split_at(piece.len().min(BLOCK_BYTES - self.rest.len()));
            self.rest.extend_from_slice(head);
            if self.rest.len() < BLOCK_BYTES {
                return;
            }
            self.blocks = chain(self.blocks, &self.rest);
            self.rest.clear();
            piece = tail;
        }
        let blocks = piece.chunks_exact(BLOCK_BYTES);
        self.rest.extend_from_slice(blocks.remainder());
        self.blocks = blocks.fold(self.blocks, chain);
    }

    /// The length and hash of all bytes added.
    pub(crate) fn prefix(&self) -> Prefix {
        let hash = if self.rest.is_empty() { self.blocks } else { chain(self.blocks, &self.rest) };
        Prefix { bytes: self.bytes, hash }
    }

    /// Remembers the hash of the first `bytes` bytes once they are added. Has no effect if more
    /// have been added already.
    pub(super) fn remember_at(&mut self, bytes: u64) {
        (self.checkpoint, self.remembered) = (Some(bytes), None);
        // Exactly that many may have been added already.
        self.add(self.bytes, &[]);
    }

    /// The hash at the length that [`Self::remember_at`] has set, once it has been reached.
    pub(super) const fn remembered(&self) -> Option<Prefix> {
        self.remembered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &[u8]) -> Prefix {
        let mut hasher = PrefixHasher::new();
        hasher.add(0, text);
        hasher.prefix()
    }

    #[test]
    fn pieces_of_any_length_come_to_the_same() {
        let text: Vec<u8> = (0..100_000_u32).map(|k| (k % 509 * k % 251).to_le_bytes()[0]).collect();
        for length in [1, 7, 1_000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES, 100_000] {
            let mut hasher = PrefixHasher::new();
            for (k, piece) in text.chunks(length).enumerate() {
                hasher.add((k * length) as u64, piece);
                assert!(hasher.rest.len() < BLOCK_BYTES);
            }
            assert_eq!(hasher.prefix(), of(&text), "{length}");
        }
        assert_eq!(of(&text).bytes, 100_000);
        for at in [0, BLOCK_BYTES - 1, BLOCK_BYTES, 99_999] {
            let mut other = text.clone();
            other[at] ^= 1;
            assert_ne!(of(&other).hash, of(&text).hash);
            assert_ne!(of(&text[..at]).hash, of(&text).hash);
        }
        // The same blocks in another order.
        let (first, second) = text[..2 * BLOCK_BYTES].split_at(BLOCK_BYTES);
        assert_ne!(of(&[second, first].concat()).hash, of(&[first, second].concat()).hash);
    }

    #[test]
    fn what_is_read_twice_counts_once_and_what_is_passed_over_not_at_all() {
        let text = b"abcdefghijklmnopqrstuvwxyz";
        let mut hasher = PrefixHasher::new();
        for (begin, end) in [(0, 10), (3, 8), (5, 15), (20, 26), (15, 15), (14, 20)] {
            hasher.add(begin as u64, &text[begin..end]);
        }
        assert_eq!(hasher.prefix(), of(&text[..20]));
    }

    #[test]
    fn marks_note_the_hash_at_their_length() {
        let text: Vec<u8> = (0..50_000_u32).map(|k| (k % 509 * k % 251).to_le_bytes()[0]).collect();
        let ends = [0, 0, 1, 7, BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES + 1, 49_999, 50_000, 50_001];
        for length in [1, 7, 1_000, BLOCK_BYTES, 50_000] {
            let marks: Vec<PrefixMark> = ends.iter().map(|_| PrefixMark::default()).collect();
            let mut hasher =
                PrefixHasher::with_marks(ends.iter().map(|&end| end as u64).zip(marks.iter().cloned()));
            hasher.remember_at(7);
            for (k, piece) in text.chunks(length).enumerate() {
                hasher.add((k * length) as u64, piece);
            }
            assert_eq!(hasher.remembered(), Some(of(&text[..7])));
            for (mark, end) in marks.iter().zip(ends) {
                assert_eq!(mark.get().copied(), text.get(..end).map(of), "{end}");
            }
            assert_eq!(hasher.prefix(), of(&text));
        }
    }

    #[test]
    fn a_hash_is_remembered_on_the_way() {
        let text = b"abcdefghijklmnopqrstuvwxyz";
        for (length, at) in [(1, 10), (10, 10), (7, 10), (26, 10), (26, 26), (5, 0), (26, 27)] {
            let mut hasher = PrefixHasher::new();
            hasher.remember_at(at as u64);
            for (k, piece) in text.chunks(length).enumerate() {
                hasher.add((k * length) as u64, piece);
            }
            assert_eq!(hasher.remembered(), text.get(..at).map(of), "{at}");
            assert_eq!(hasher.prefix(), of(text));
        }
        let mut hasher = PrefixHasher::new();
        hasher.add(0, text);
        hasher.remember_at(26);
        assert_eq!(hasher.remembered(), Some(of(text)));
        hasher.remember_at(25);
        assert_eq!(hasher.remembered(), None);
    }
}
