//! The back end for x86-64 with AVX2: 256 lanes.
#![expect(unsafe_code, reason = "vector instructions that not every machine has")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: the words of this file are private to it, so code for them runs only by way of an \
              engine or a rule check, which are made only where the processor has the instructions. Pointers come \
              from slices whose length is checked"
)]

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_cvtsi32_si128, _mm_prefetch, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi64x, _mm256_sll_epi64,
    _mm256_srl_epi64, _mm256_storeu_si256, _mm256_xor_si256,
};

use super::engine::{Engine, LaneStats};
use super::entries::entries;
use super::job::SearchJob;
use super::packing::Packing;
use super::rules::RuleCheck;
use super::sse2::distance;
use super::word::Word;
use crate::simd::{by_instruction, has_avx2};

entries!(Avx2: Avx2Engine, Avx2RuleCheck, has_avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");

/// 256 lanes. Private, because its constructors run instructions that not every processor has.
#[derive(Clone, Copy)]
struct Avx2(__m256i);

/// The methods that words of 256 bits share in all back ends. The intrinsics must be imported where
/// this is used.
macro_rules! words_of_256_bits {
    () => {
        const PARTS: usize = 4;

        #[inline(always)]
        fn splat(part: u64) -> Self {
            unsafe { Self(_mm256_set1_epi64x(part.cast_signed())) }
        }

        #[inline(always)]
        fn load(parts: &[u64]) -> Self {
            assert!(parts.len() >= Self::PARTS);
            unsafe { Self(_mm256_loadu_si256(parts.as_ptr().cast())) }
        }

        #[inline(always)]
        fn store(self, parts: &mut [u64]) {
            assert!(parts.len() >= Self::PARTS);
            unsafe { _mm256_storeu_si256(parts.as_mut_ptr().cast(), self.0) }
        }

        by_instruction!(and _mm256_and_si256, or _mm256_or_si256, xor _mm256_xor_si256; and_not _mm256_andnot_si256);

        #[inline(always)]
        fn shift_left<const N: u32>(self) -> Self {
            unsafe { Self(_mm256_sll_epi64(self.0, distance::<N>())) }
        }

        #[inline(always)]
        fn shift_right<const N: u32>(self) -> Self {
            unsafe { Self(_mm256_srl_epi64(self.0, distance::<N>())) }
        }
    };
}
pub(super) use words_of_256_bits;

impl Word for Avx2 {
    words_of_256_bits!();
}

impl Packing for Avx2 {
    #[inline(always)]
    fn prefetch(bytes: &[u8]) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        let mut planes = [0; 4];
        for (k, digits) in digits.as_chunks::<32>().0.iter().enumerate() {
            for (bit, plane) in (0..).zip(&mut planes) {
                let bits = unsafe {
                    // `movemask` gathers the highest bit of each byte, so the wanted bit is moved
                    // there.
                    let digits = _mm256_loadu_si256(digits.as_ptr().cast());
                    _mm256_movemask_epi8(_mm256_sll_epi64(digits, _mm_cvtsi32_si128(7 - bit)))
                };
                *plane |= u128::from(bits.cast_unsigned()) << (32 * k);
            }
        }
        planes
    }
}
