//! Fingerprints of inputs, by which runs over shards of one input are known to belong together.
//!
//! A run over shard K/N reads everything up to the end of its shard, because it counts the lines
//! before it. So it notes two hashes: of everything before the byte at which its shard is cut off,
//! and of everything up to the byte at which the next one is. If the second of every shard is the
//! first of the next, all of them have read the same bytes.
//!
//! Two hashes that differ do not tell which of the two runs has read another input, so a run also
//! samples the whole input: its length, and some blocks that are spread over it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::prefix::{PrefixHasher, PrefixMark};
use super::{InputError, Prefix, Shard, Source};

/// The number of blocks that a sample consists of.
const SAMPLED_BLOCKS: u64 = 64;

/// The size of each.
const SAMPLED_BYTES: u64 = 4096;

/// The input of a shard, as its run has read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardInput {
    /// The length of the whole input in bytes.
    pub bytes: u64,
    /// A hash of some of its blocks.
    pub sample: u64,
    /// Everything before the byte at which the shard is cut off.
    pub before: Prefix,
    /// Everything before the byte at which the next shard is cut off, or the whole input.
    pub through: Prefix,
}

impl ShardInput {
    /// Whether its hashes are at the bytes at which this shard of such an input is cut off.
    #[must_use]
    pub fn fits(&self, shard: Shard) -> bool {
        let (begin, end) = shard.targets(self.bytes);
        (self.before.bytes, self.through.bytes) == (begin, end.unwrap_or(self.bytes))
    }
}

/// The hashes that a run over a shard notes while it reads its input.
#[derive(Clone, Debug)]
pub struct ShardWitness {
    bytes: u64,
    sample: u64,
    before: PrefixMark,
    through: PrefixMark,
}

impl ShardWitness {
    /// The input of the shard. `None` until its run has read up to the end of the shard.
    #[must_use]
    pub fn input(&self) -> Option<ShardInput> {
        let (before, through) = (*self.before.get()?, *self.through.get()?);
        Some(ShardInput { bytes: self.bytes, sample: self.sample, before, through })
    }
}

/// The fingerprint of a whole input: what the shards of that input must have noted.
#[derive(Clone, Debug)]
pub struct InputFingerprint {
    bytes: u64,
    sample: u64,
    /// The hashes at the ends of shards, in order.
    prefixes: Vec<Prefix>,
}

impl InputFingerprint {
    /// Reads the file at `path` to its end, and hashes it up to the borders of these shards.
    /// `watch` is called with the number of bytes read, and ends the reading by returning false:
    /// then there is no fingerprint.
    ///
    /// # Errors
    /// Errors of reading, and [`InputError::NotShardable`].
    pub fn of(
        path: &Path,
        shards: &[Shard],
        mut watch: impl FnMut(u64) -> bool,
    ) -> Result<Option<Self>, InputError> {
        let mut source = Source::open(path, true)?;
        source.check_shardable()?;
        let bytes = source.len_bytes().unwrap_or(0);
        let sample = source.sample_hash(bytes)?;
        let borders = |shard: &Shard| {
            let (begin, end) = shard.targets(bytes);
            [begin, end.unwrap_or(bytes)]
        };
        let mut ends: Vec<u64> = shards.iter().flat_map(borders).collect();
        ends.sort_unstable();
        ends.dedup();
        let marks: Vec<PrefixMark> = ends.iter().map(|_| PrefixMark::default()).collect();
        source.hasher = Some(PrefixHasher::with_marks(ends.into_iter().zip(marks.iter().cloned())));
        for end in (0..bytes).step_by(1 << 20).skip(1).chain([bytes]) {
            source.hash_up_to(end)?;
            if !watch(end) {
                return Ok(None);
            }
        }
        let prefixes = marks.iter().filter_map(|mark| mark.get().copied()).collect();
        Ok(Some(Self { bytes, sample, prefixes }))
    }

    /// The length of the input in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a run over a shard has read this input.
    #[must_use]
    pub fn matches(&self, shard: &ShardInput) -> bool {
        let is_known = |prefix: &Prefix| {
            let found = self.prefixes.binary_search_by_key(&prefix.bytes, |known| known.bytes);
            found.is_ok_and(|at| self.prefixes[at] == *prefix)
        };
        (shard.bytes, shard.sample) == (self.bytes, self.sample)
            && is_known(&shard.before)
            && is_known(&shard.through)
    }
}

impl Source {
    /// Hashes the source while it is read, and notes what a run over `shard` has read of it. To be
    /// called before the first byte is read.
    ///
    /// # Errors
    /// Errors of reading, and [`InputError::NotShardable`].
    pub fn witnessed(mut self, shard: Shard) -> Result<(Self, ShardWitness), InputError> {
        self.check_shardable()?;
        let bytes = self.len_bytes().unwrap_or(0);
        let sample = self.sample_hash(bytes)?;
        let witness =
            ShardWitness { bytes, sample, before: PrefixMark::default(), through: PrefixMark::default() };
        let (begin, end) = shard.targets(bytes);
        let marks = [
            (begin, PrefixMark::clone(&witness.before)),
            (end.unwrap_or(bytes), PrefixMark::clone(&witness.through)),
        ];
        self.hasher = Some(PrefixHasher::with_marks(marks));
        Ok((self, witness))
    }

    /// A hash of blocks that are spread over an input of so many bytes; of all of a short one.
    fn sample_hash(&self, bytes: u64) -> Result<u64, InputError> {
        let mut hasher = PrefixHasher::new();
        let last = bytes.saturating_sub(SAMPLED_BYTES);
        for block in 0..SAMPLED_BLOCKS {
            // Both factors are small, or the input is longer than any file.
            let offset = u128::from(last) * u128::from(block) / u128::from(SAMPLED_BLOCKS - 1);
            let offset = u64::try_from(offset).unwrap_or(last);
            let mut buffer = Vec::new();
            self.peek(offset, usize::try_from(SAMPLED_BYTES).unwrap_or(0), &mut buffer)?;
            hasher.add(hasher.prefix().bytes, &buffer);
        }
        Ok(hasher.prefix().hash)
    }
}
