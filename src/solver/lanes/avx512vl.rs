//! The back end for x86-64 with AVX-512 on words of 256 bits: 256 lanes.
//!
//! It is for processors that do 512 bits in two steps, where longer words spare instructions but no time, and the state of twice as many
//! lanes does not fit into the nearest cache.
#![expect(unsafe_code, reason = "vector instructions that not every machine has")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: a word is only made and used inside `run`, which is only entered where the \
              processor has these instructions. Pointers come from slices whose length is checked"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __cpuid, __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_and_si256, _mm256_andnot_si256, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
    _mm256_storeu_si256, _mm256_ternarylogic_epi64, _mm256_xor_si256,
};

use super::avx2::distance;
use super::avx512::{self, Avx512};
use super::engine::{Engine, Job};
use super::transpose::Row;
use super::word::{Word, exchange_by_shifts};

/// Has this machine what [`run`] is compiled for?
pub(super) fn is_available() -> bool {
    avx512::is_available()
}

/// Does the processor say that it does 256 bits at a time and not 512? Those of AMD do: "performance optimization identifiers" in
/// their manual, AMD64 Architecture Programmer's Manual, volume 3, E.4.
pub(super) fn is_native() -> bool {
    const IDENTIFIERS: u32 = 0x8000_001A;
    const BITS_256: u32 = 1 << 2;
    const BITS_512: u32 = 1 << 3;
    #[allow(unused_unsafe, reason = "older compilers want it")]
    // SAFETY: every x86-64 has this instruction.
    let eax = |leaf| unsafe { __cpuid(leaf).eax };
    eax(0x8000_0000) >= IDENTIFIERS && eax(IDENTIFIERS) & (BITS_256 | BITS_512) == BITS_256
}

/// An engine, which only [`run`] may run.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn engine() -> Engine<Avx512Vl> {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled() -> Engine<Avx512Vl> {
        Engine::new()
    }
    assert!(is_available());
    unsafe { compiled() }
}

/// Runs the engine.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn run(engine: &mut Engine<Avx512Vl>, job: &mut Job<'_>) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(engine: &mut Engine<Avx512Vl>, job: &mut Job<'_>) {
        engine.run(job);
    }
    assert!(is_available());
    unsafe { compiled(engine, job) }
}

#[derive(Clone, Copy)]
pub(super) struct Avx512Vl(__m256i);

/// The function of three bits whose truth table is `TABLE`: bit `4 * a + 2 * b + c` is its value.
macro_rules! ternary {
    ($table:literal, $a:expr, $b:expr, $c:expr) => {
        unsafe { Self(_mm256_ternarylogic_epi64::<$table>($a.0, $b.0, $c.0)) }
    };
}

/// As in `avx512.rs`.
#[inline(always)]
fn exchange_bytes<const UPPER: u32>(a: Avx512Vl, b: Avx512Vl, order: [u8; 8]) -> (Avx512Vl, Avx512Vl) {
    let low = u64::from_le_bytes(order).cast_signed();
    let high = low | 0x0808_0808_0808_0808;
    unsafe {
        let order = _mm256_set_epi64x(high, low, high, low);
        (Avx512Vl(shuffle_some(a.0, b.0, UPPER, order)), Avx512Vl(shuffle_some(b.0, a.0, !UPPER, order)))
    }
}

/// As in `avx512.rs`.
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

impl Word for Avx512Vl {
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

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        unsafe { Self(_mm256_and_si256(self.0, other.0)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        unsafe { Self(_mm256_andnot_si256(other.0, self.0)) }
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        unsafe { Self(_mm256_sll_epi64(self.0, distance::<N>())) }
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        unsafe { Self(_mm256_srl_epi64(self.0, distance::<N>())) }
    }

    #[inline(always)]
    fn or3(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b1111_1110, a, b, c)
    }

    #[inline(always)]
    fn and3(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b1000_0000, a, b, c)
    }

    #[inline(always)]
    fn xor3(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b1001_0110, a, b, c)
    }

    #[inline(always)]
    fn majority(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b1110_1000, a, b, c)
    }

    #[inline(always)]
    fn and_nor(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b0001_0000, a, b, c)
    }

    #[inline(always)]
    fn or_and(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b1111_1000, a, b, c)
    }

    #[inline(always)]
    fn or_xor(a: Self, b: Self, c: Self) -> Self {
        ternary!(0b1111_0110, a, b, c)
    }

    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        ternary!(0b1100_1010, mask, a, b)
    }

    #[inline(always)]
    fn exchange<const N: u32>(a: Self, b: Self) -> (Self, Self) {
        match N {
            32 => exchange_bytes::<0xF0F0_F0F0>(a, b, [4, 5, 6, 7, 0, 1, 2, 3]),
            16 => exchange_bytes::<0xCCCC_CCCC>(a, b, [2, 3, 0, 1, 6, 7, 4, 5]),
            8 => exchange_bytes::<0xAAAA_AAAA>(a, b, [1, 0, 3, 2, 5, 4, 7, 6]),
            _ => exchange_by_shifts::<Self, N>(a, b),
        }
    }

    #[inline(always)]
    fn prefetch(bytes: &[u8]) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) }
    }

    // One puzzle at a time, whatever the length of the words.

    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        Avx512::planes(digits)
    }

    #[inline(always)]
    fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
        Avx512::digits(planes, digits);
    }

    #[inline(always)]
    fn row(digits: &[u8; 96]) -> Row {
        Avx512::row(digits)
    }

    #[inline(always)]
    fn solution(row: &Row, digits: &mut [u8; 81]) {
        Avx512::solution(row, digits);
    }
}
