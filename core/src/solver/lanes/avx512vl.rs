//! The back end for x86-64 with AVX-512 on words of 256 bits: 256 lanes.
//!
//! It is for processors that execute 512 bits in two steps, such as Zen 4: there longer words save
//! instructions but no time, and the state of twice as many lanes does not fit into the first-level
//! cache.
#![expect(unsafe_code, reason = "vector instructions that not every machine has")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: the words of this file are private to it, so code for them runs only by way of an \
              engine or a rule check, which are made only where the processor has the instructions. Pointers come \
              from slices whose length is checked"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi16,
    _mm256_loadu_si256, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_sll_epi64,
    _mm256_slli_epi64, _mm256_srl_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_ternarylogic_epi64,
    _mm256_xor_si256,
};

use super::avx2::words_of_256_bits;
use super::avx512::{self, exchange, functions_of_three};
use super::engine::{Engine, LaneStats};
use super::entries::entries;
use super::job::SearchJob;
use super::packing::{CandidateRow, Packing};
use super::rules::RuleCheck;
use super::sse2::distance;
use super::word::{Word, exchange_by_shifts};
use crate::simd::{by_instruction, has_avx512};

entries!(Avx512Vl: Avx512VlEngine, Avx512VlRuleCheck, has_avx512, "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt");

/// 256 lanes. Private, because its constructors run instructions that not every processor has.
#[derive(Clone, Copy)]
struct Avx512Vl(__m256i);

/// The `exchange_bytes` of `avx512.rs` for words of 256 bits.
#[inline(always)]
fn exchange_bytes<const UPPER: u64>(a: Avx512Vl, b: Avx512Vl, order: [u8; 8]) -> (Avx512Vl, Avx512Vl) {
    let low = u64::from_le_bytes(order).cast_signed();
    let high = low | 0x0808_0808_0808_0808;
    unsafe {
        let order = _mm256_set_epi64x(high, low, high, low);
        (
            Avx512Vl(shuffle_some(a.0, b.0, UPPER as u32, order)),
            Avx512Vl(shuffle_some(b.0, a.0, !UPPER as u32, order)),
        )
    }
}

/// The `shuffle_some` of `avx512.rs` for words of 256 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn shuffle_some(mut to: __m256i, from: __m256i, mask: u32, order: __m256i) -> __m256i {
    unsafe {
        asm!(
            "vpshufb {to}{{{mask}}}, {from}, {order}",
            to = inout(ymm_reg) to,
            from = in(ymm_reg) from,
            order = in(ymm_reg) order,
            mask = in(kreg) mask,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    to
}

/// The same word behind a barrier: the compiler cannot merge the instructions before and after it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn opaque(mut word: __m256i) -> __m256i {
    unsafe {
        asm!("/* {word} */", word = inout(ymm_reg) word, options(pure, nomem, nostack, preserves_flags));
    }
    word
}

impl Word for Avx512Vl {
    words_of_256_bits!();

    functions_of_three!(_mm256_ternarylogic_epi64);

    /// Two instructions where one would do, because on Zen 4 an instruction with three operands
    /// delays stores: a store and two of them take 1.1 to 1.7 cycles, a store and four with two
    /// operands take one. A pass is bound by its stores, so this makes it a ninth shorter.
    /// Splitting more functions gains nothing.
    #[inline(always)]
    fn and3(a: Self, b: Self, c: Self) -> Self {
        a.and(Self(unsafe { opaque(b.and(c).0) }))
    }

    // Groups of 16 bits are blended, on other ports than the shuffles: loading and unloading take 5
    // % less time.
    exchange!(a, b, 16 => unsafe {
        const ODD: i32 = 0b1010_1010;
        (
            Self(_mm256_blend_epi16::<ODD>(a.0, _mm256_slli_epi64::<16>(b.0))),
            Self(_mm256_blend_epi16::<ODD>(_mm256_srli_epi64::<16>(a.0), b.0)),
        )
    });
}

/// Packing handles one puzzle at a time, so the instructions for 512 bits serve here too.
impl Packing for Avx512Vl {
    #[inline(always)]
    fn prefetch(bytes: &[u8]) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        unsafe { avx512::planes(digits) }
    }

    #[inline(always)]
    fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
        unsafe { avx512::digits(planes, digits) }
    }

    #[inline(always)]
    fn row(digits: &[u8; 96]) -> CandidateRow {
        unsafe { avx512::row(digits) }
    }

    #[inline(always)]
    fn solution(row: &CandidateRow, digits: &mut [u8; 81]) {
        unsafe { avx512::solution(row, digits) }
    }
}
