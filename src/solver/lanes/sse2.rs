//! Words of 128 bits with the vectors that every x86-64 has.
#![expect(unsafe_code, reason = "vector instructions")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "one reason for all: every x86-64 has SSE2")]

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_andnot_si128, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_or_si128,
    _mm_set_epi64x, _mm_sll_epi64, _mm_srl_epi64, _mm_unpackhi_epi64, _mm_xor_si128,
};

/// Two parts in a register. By itself the compiler makes plain arithmetic of half of what stands in `portable`.
#[derive(Clone, Copy)]
pub(super) struct Pair(__m128i);

/// A shift's distance where the instruction takes it: the compiler makes a constant of it again.
#[inline(always)]
fn distance<const N: u32>() -> __m128i {
    unsafe { _mm_cvtsi32_si128(N.cast_signed()) }
}

impl Pair {
    #[inline(always)]
    pub(super) fn new([low, high]: [u64; 2]) -> Self {
        unsafe { Self(_mm_set_epi64x(high.cast_signed(), low.cast_signed())) }
    }

    #[inline(always)]
    pub(super) fn parts(self) -> [u64; 2] {
        unsafe {
            let high = _mm_unpackhi_epi64(self.0, self.0);
            [_mm_cvtsi128_si64(self.0).cast_unsigned(), _mm_cvtsi128_si64(high).cast_unsigned()]
        }
    }

    #[inline(always)]
    pub(super) fn and(self, other: Self) -> Self {
        unsafe { Self(_mm_and_si128(self.0, other.0)) }
    }

    #[inline(always)]
    pub(super) fn or(self, other: Self) -> Self {
        unsafe { Self(_mm_or_si128(self.0, other.0)) }
    }

    #[inline(always)]
    pub(super) fn xor(self, other: Self) -> Self {
        unsafe { Self(_mm_xor_si128(self.0, other.0)) }
    }

    #[inline(always)]
    pub(super) fn and_not(self, other: Self) -> Self {
        unsafe { Self(_mm_andnot_si128(other.0, self.0)) }
    }

    #[inline(always)]
    pub(super) fn shift_left<const N: u32>(self) -> Self {
        unsafe { Self(_mm_sll_epi64(self.0, distance::<N>())) }
    }

    #[inline(always)]
    pub(super) fn shift_right<const N: u32>(self) -> Self {
        unsafe { Self(_mm_srl_epi64(self.0, distance::<N>())) }
    }
}
