//! The back end for x86-64 with AVX-512: 512 lanes, and every function of three bits in one
//! instruction.
#![expect(unsafe_code, reason = "vector instructions that not every machine has")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: the words of this file are private to it, so code for them runs only by way of an \
              engine or a rule check, which are made only where the processor has the instructions. Pointers come \
              from slices whose length is checked"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm256_cmpeq_epi8_mask, _mm256_loadu_si256, _mm256_mask_add_epi8,
    _mm256_mask_mov_epi8, _mm256_mask_storeu_epi8, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_test_epi8_mask, _mm256_testn_epi8_mask, _mm512_and_si512, _mm512_andnot_si512,
    _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_mask_add_epi8, _mm512_mask_mov_epi8, _mm512_or_si512,
    _mm512_set_epi64, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_ternarylogic_epi64, _mm512_test_epi8_mask,
    _mm512_testn_epi8_mask, _mm512_xor_si512,
};

use super::engine::{Engine, LaneStats};
use super::entries::entries;
use super::job::SearchJob;
use super::packing::{CandidateRow, Packing, digits_of_row, row_of_digits};
use super::rules::RuleCheck;
use super::word::{Word, exchange_by_shifts};
use crate::simd::{by_instruction, has_avx512};

entries!(Avx512: Avx512Engine, Avx512RuleCheck, has_avx512, "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt");

/// 512 lanes. Private, because its constructors run instructions that not every processor has.
#[derive(Clone, Copy)]
struct Avx512(__m512i);

/// Functions of three words by `vpternlog`, which computes any function of three bits: its value
/// for `a`, `b` and `c` is bit `4 * a + 2 * b + c` of its table. All functions but [`Word::and3`],
/// unless others are named.
macro_rules! functions_of_three {
    ($ternary:ident) => {
        functions_of_three! {
            $ternary: or3 0b1111_1110, xor3 0b1001_0110, majority 0b1110_1000, and_nor 0b0001_0000,
            or_and 0b1111_1000, or_xor 0b1111_0110, select 0b1100_1010
        }
    };
    ($ternary:ident: $($name:ident $table:literal),+) => {
        $(
            #[inline(always)]
            fn $name(a: Self, b: Self, c: Self) -> Self {
                unsafe { Self($ternary::<$table>(a.0, b.0, c.0)) }
            }
        )+
    };
}
pub(super) use functions_of_three;

/// [`Word::exchange`] with whole bytes by `exchange_bytes`, and groups of 16 bits by the given
/// expression.
macro_rules! exchange {
    ($a:ident, $b:ident, 16 => $sixteen:expr) => {
        #[inline(always)]
        fn exchange<const N: u32>($a: Self, $b: Self) -> (Self, Self) {
            match N {
                32 => exchange_bytes::<0xF0F0_F0F0_F0F0_F0F0>($a, $b, [4, 5, 6, 7, 0, 1, 2, 3]),
                16 => $sixteen,
                8 => exchange_bytes::<0xAAAA_AAAA_AAAA_AAAA>($a, $b, [1, 0, 3, 2, 5, 4, 7, 6]),
                _ => exchange_by_shifts::<Self, N>($a, $b),
            }
        }
    };
}
pub(super) use exchange;

/// Exchanges bytes: `a` takes the bytes of `b` whose bit is set in `UPPER`, and `b` the other bytes
/// of `a`, permuted within each eight bytes by `order`.
#[inline(always)]
fn exchange_bytes<const UPPER: u64>(a: Avx512, b: Avx512, order: [u8; 8]) -> (Avx512, Avx512) {
    let low = u64::from_le_bytes(order).cast_signed();
    // The shuffle works on sixteen bytes: in the upper eight, indices are greater by eight.
    let high = low | 0x0808_0808_0808_0808;
    unsafe {
        let order = _mm512_set_epi64(high, low, high, low, high, low, high, low);
        (Avx512(shuffle_some(a.0, b.0, UPPER, order)), Avx512(shuffle_some(b.0, a.0, !UPPER, order)))
    }
}

/// `to` with the bytes of `mask` replaced by shuffled bytes of `from`.
///
/// Not the intrinsic, because the compiler expands that to three instructions, which take half as
/// long again as shifting and selecting.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn shuffle_some(mut to: __m512i, from: __m512i, mask: u64, order: __m512i) -> __m512i {
    unsafe {
        asm!(
            "vpshufb {to}{{{mask}}}, {from}, {order}",
            to = inout(zmm_reg) to,
            from = in(zmm_reg) from,
            order = in(zmm_reg) order,
            mask = in(kreg) mask,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    to
}

impl Word for Avx512 {
    const PARTS: usize = 8;

    #[inline(always)]
    fn splat(part: u64) -> Self {
        unsafe { Self(_mm512_set1_epi64(part.cast_signed())) }
    }

    #[inline(always)]
    fn load(parts: &[u64]) -> Self {
        assert!(parts.len() >= Self::PARTS);
        unsafe { Self(_mm512_loadu_si512(parts.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self, parts: &mut [u64]) {
        assert!(parts.len() >= Self::PARTS);
        unsafe { _mm512_storeu_si512(parts.as_mut_ptr().cast(), self.0) }
    }

    by_instruction!(and _mm512_and_si512, or _mm512_or_si512, xor _mm512_xor_si512; and_not _mm512_andnot_si512);

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        unsafe { Self(_mm512_slli_epi64::<N>(self.0)) }
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        unsafe { Self(_mm512_srli_epi64::<N>(self.0)) }
    }

    functions_of_three!(_mm512_ternarylogic_epi64);
    functions_of_three!(_mm512_ternarylogic_epi64: and3 0b1000_0000);

    exchange!(a, b, 16 => exchange_bytes::<0xCCCC_CCCC_CCCC_CCCC>(a, b, [2, 3, 0, 1, 6, 7, 4, 5]));
}

impl Packing for Avx512 {
    #[inline(always)]
    fn prefetch(bytes: &[u8]) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        unsafe { planes(digits) }
    }

    #[inline(always)]
    fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
        unsafe { self::digits(planes, digits) }
    }

    #[inline(always)]
    fn row(digits: &[u8; 96]) -> CandidateRow {
        unsafe { row(digits) }
    }

    #[inline(always)]
    fn solution(row: &CandidateRow, digits: &mut [u8; 81]) {
        unsafe { solution(row, digits) }
    }
}

/// [`Packing::planes`], which handles one puzzle at a time, so it serves shorter words too.
///
/// # Safety
/// The processor must have the instructions of this back end.
#[inline(always)]
pub(super) unsafe fn planes(digits: &[u8; 96]) -> [u128; 4] {
    let mut planes = [0; 4];
    for bit in 0..4 {
        let (head, tail) = unsafe {
            let (head, tail) = digits.split_at(64);
            (
                _mm512_test_epi8_mask(_mm512_loadu_si512(head.as_ptr().cast()), _mm512_set1_epi8(1 << bit)),
                _mm256_test_epi8_mask(_mm256_loadu_si256(tail.as_ptr().cast()), _mm256_set1_epi8(1 << bit)),
            )
        };
        planes[bit] = u128::from(tail) << 64 | u128::from(head);
    }
    planes
}

/// [`Packing::digits`], which handles one puzzle at a time, so it serves shorter words too.
///
/// # Safety
/// The processor must have the instructions of this back end.
#[inline(always)]
pub(super) unsafe fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
    let (first, last) = digits.split_at_mut(64);
    unsafe {
        let (mut head, mut tail) = (_mm512_setzero_si512(), _mm256_setzero_si256());
        for bit in 0..4 {
            let (in_head, in_tail) = (planes[bit] as u64, (planes[bit] >> 64) as u32);
            head = _mm512_mask_add_epi8(head, in_head, head, _mm512_set1_epi8(1 << bit));
            tail = _mm256_mask_add_epi8(tail, in_tail, tail, _mm256_set1_epi8(1 << bit));
        }
        _mm512_storeu_si512(first.as_mut_ptr().cast(), head);
        _mm256_mask_storeu_epi8(last.as_mut_ptr().cast(), (1 << 17) - 1, tail);
    }
}

/// [`Packing::row`], which handles one puzzle at a time, so it serves shorter words too.
///
/// # Safety
/// The processor must have the instructions of this back end.
#[inline(always)]
pub(super) unsafe fn row(digits: &[u8; 96]) -> CandidateRow {
    let mut cells = [0; 9];
    let (head, tail) = digits.split_at(64);
    unsafe {
        let head = _mm512_loadu_si512(head.as_ptr().cast());
        let tail = _mm256_loadu_si256(tail.as_ptr().cast());
        let blank_head = _mm512_testn_epi8_mask(head, head);
        let blank_tail = _mm256_testn_epi8_mask(tail, tail);
        for digit in 0..9 {
            let in_head = _mm512_cmpeq_epi8_mask(head, _mm512_set1_epi8(digit as i8 + 1)) | blank_head;
            let in_tail = _mm256_cmpeq_epi8_mask(tail, _mm256_set1_epi8(digit as i8 + 1)) | blank_tail;
            cells[digit] = u128::from(in_tail & ((1 << 17) - 1)) << 64 | u128::from(in_head);
        }
    }
    row_of_digits(&cells)
}

/// [`Packing::solution`], which handles one puzzle at a time, so it serves shorter words too.
///
/// # Safety
/// The processor must have the instructions of this back end.
#[inline(always)]
pub(super) unsafe fn solution(row: &CandidateRow, digits: &mut [u8; 81]) {
    let cells = digits_of_row(row);
    let (first, last) = digits.split_at_mut(64);
    unsafe {
        let (mut head, mut tail) = (_mm512_setzero_si512(), _mm256_setzero_si256());
        for digit in 0..9 {
            let (in_head, in_tail) = (cells[digit] as u64, (cells[digit] >> 64) as u32);
            head = _mm512_mask_mov_epi8(head, in_head, _mm512_set1_epi8(digit as i8 + 1));
            tail = _mm256_mask_mov_epi8(tail, in_tail, _mm256_set1_epi8(digit as i8 + 1));
        }
        _mm512_storeu_si512(first.as_mut_ptr().cast(), head);
        _mm256_mask_storeu_epi8(last.as_mut_ptr().cast(), (1 << 17) - 1, tail);
    }
}
