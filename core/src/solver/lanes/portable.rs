//! The portable back end: 64-bit arithmetic, which the compiler vectorises where it can. 128 lanes.

use super::packing::Packing;
use super::word::Word;

/// Words of 128 bits, the vectors of SSE2 and NEON.
#[derive(Clone, Copy)]
pub(super) struct Portable([u64; 2]);

impl Word for Portable {
    const PARTS: usize = 2;

    #[inline(always)]
    fn splat(part: u64) -> Self {
        Self([part; 2])
    }

    #[inline(always)]
    fn load(parts: &[u64]) -> Self {
        Self([parts[0], parts[1]])
    }

    #[inline(always)]
    fn store(self, parts: &mut [u64]) {
        parts[..2].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        Self([self.0[0] << N, self.0[1] << N])
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        Self([self.0[0] >> N, self.0[1] >> N])
    }
}

impl Packing for Portable {}
