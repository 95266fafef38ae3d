//! The portable back end on x86-64, where every processor has SSE2: words of 128 bits. From
//! `portable.rs` the compiler makes scalar code in half of the places, which takes twice as long.
#![expect(unsafe_code, reason = "vector instructions")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "one reason for all: every x86-64 has SSE2")]

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_andnot_si128, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_or_si128,
    _mm_set_epi64x, _mm_sll_epi64, _mm_srl_epi64, _mm_unpackhi_epi64, _mm_xor_si128,
};

use super::packing::Packing;
use super::word::Word;
use crate::simd::by_instruction;

/// 128 lanes.
#[derive(Clone, Copy)]
pub(super) struct Sse2(__m128i);

/// The distance of a shift, in a vector register as the instruction takes it. The compiler folds it
/// to a constant.
#[inline(always)]
pub(super) fn distance<const N: u32>() -> __m128i {
    unsafe { _mm_cvtsi32_si128(N.cast_signed()) }
}

impl Word for Sse2 {
    const PARTS: usize = 2;

    #[inline(always)]
    fn splat(part: u64) -> Self {
        Self::load(&[part; 2])
    }

    #[inline(always)]
    fn load(parts: &[u64]) -> Self {
        unsafe { Self(_mm_set_epi64x(parts[1].cast_signed(), parts[0].cast_signed())) }
    }

    #[inline(always)]
    fn store(self, parts: &mut [u64]) {
        let (low, high) =
            unsafe { (_mm_cvtsi128_si64(self.0), _mm_cvtsi128_si64(_mm_unpackhi_epi64(self.0, self.0))) };
        parts[..2].copy_from_slice(&[low.cast_unsigned(), high.cast_unsigned()]);
    }

    by_instruction!(and _mm_and_si128, or _mm_or_si128, xor _mm_xor_si128; and_not _mm_andnot_si128);

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        unsafe { Self(_mm_sll_epi64(self.0, distance::<N>())) }
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        unsafe { Self(_mm_srl_epi64(self.0, distance::<N>())) }
    }
}

impl Packing for Sse2 {}

#[cfg(test)]
mod tests {
    use super::super::portable::Portable;
    use super::*;

    fn parts<W: Word>(word: W) -> [u64; 2] {
        let mut parts = [0; 2];
        word.store(&mut parts);
        parts
    }

    #[test]
    fn vectors_and_plain_arithmetic_agree() {
        let samples: [u64; 7] =
            [0, 1, !0, 1 << 63, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, 0xA5A5_5A5A_3C3C_C3C3];
        for (i, &low) in samples.iter().enumerate() {
            assert_eq!(parts(Sse2::splat(low)), [low; 2]);
            for &high in &samples {
                let (a, b) = ([low, high], [samples[(i + 3) % samples.len()], low.rotate_left(7)]);
                let (v, p) = (|parts: [u64; 2]| Sse2::load(&parts), |parts: [u64; 2]| Portable::load(&parts));
                assert_eq!(parts(v(a)), a);
                assert_eq!(parts(v(a).and(v(b))), parts(p(a).and(p(b))));
                assert_eq!(parts(v(a).or(v(b))), parts(p(a).or(p(b))));
                assert_eq!(parts(v(a).xor(v(b))), parts(p(a).xor(p(b))));
                assert_eq!(parts(v(a).and_not(v(b))), parts(p(a).and_not(p(b))));
                assert_eq!(parts(v(a).shift_left::<4>()), parts(p(a).shift_left::<4>()));
                assert_eq!(parts(v(a).shift_left::<32>()), parts(p(a).shift_left::<32>()));
                assert_eq!(parts(v(a).shift_right::<1>()), parts(p(a).shift_right::<1>()));
                assert_eq!(parts(v(a).shift_right::<16>()), parts(p(a).shift_right::<16>()));
            }
        }
    }
}
