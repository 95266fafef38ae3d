//! Random numbers for tests.

/// A small generator (xorshift64, G. Marsaglia 2003), so that every run is the same.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 11) % end as u64) as usize
    }
}
