//! Vectors of sets in 256 bits with AVX2, and in 512 with AVX-512, where the compiler makes one
//! instruction of two or three of the same operations.
#![expect(unsafe_code, reason = "vector instructions that not every machine has")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: vectors are private to this file, and blocks are solved with them only by way of \
              `with_avx2`, `with_avx512vl` and `with_avx512`, which check for the instructions. Pointers are of slices of the \
              length that is read or written"
)]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi16, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_castsi256_si128,
    _mm256_cmpeq_epi16, _mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_movemask_epi8,
    _mm256_mullo_epi16, _mm256_or_si256, _mm256_packs_epi16, _mm256_set1_epi16, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_storeu_si256, _mm256_unpackhi_epi16,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm512_add_epi16, _mm512_and_si512, _mm512_andnot_si512, _mm512_broadcast_i32x4,
    _mm512_castsi256_si512, _mm512_extracti32x4_epi32, _mm512_inserti64x4, _mm512_movm_epi16,
    _mm512_mullo_epi16, _mm512_or_si512, _mm512_set1_epi16, _mm512_shuffle_epi8, _mm512_slli_epi16,
    _mm512_srli_epi16, _mm512_storeu_si512, _mm512_testn_epi16_mask, _mm512_unpackhi_epi16,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi16, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64,
};

use super::vector::{CellSets, SetVector};
use super::{MOST, PuzzleBlock};
use crate::simd::{by_instruction, has_avx2, has_avx512};

/// Solves a block with vectors of 512 bits.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn with_avx512(block: PuzzleBlock<'_>) -> u32 {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(block: PuzzleBlock<'_>) -> u32 {
        block.solve::<Sets512>()
    }
    assert!(has_avx512());
    unsafe { compiled(block) }
}

/// Solves a block with vectors of 256 bits and the instructions of AVX-512.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn with_avx512vl(block: PuzzleBlock<'_>) -> u32 {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(block: PuzzleBlock<'_>) -> u32 {
        block.solve::<Sets256>()
    }
    assert!(has_avx512());
    unsafe { compiled(block) }
}

/// Solves a block with AVX2.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn with_avx2(block: PuzzleBlock<'_>) -> u32 {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(block: PuzzleBlock<'_>) -> u32 {
        block.solve::<Sets256>()
    }
    assert!(has_avx2());
    unsafe { compiled(block) }
}

/// Sixteen sets. Private, because its constructors run instructions that not every processor has, as is
/// `Sets512`.
#[derive(Clone, Copy)]
struct Sets256(__m256i);

/// 32 sets.
#[derive(Clone, Copy)]
struct Sets512(__m512i);

/// Bytes of puzzles, sixteen of each, and words of two cells, eight for each 128 bits.
trait Transposed: SetVector {
    /// Sixteen bytes from `at` on of puzzles `first`, `first + 8` and so on.
    fn load(puzzles: &[[u8; 81]], first: usize, at: usize) -> Self;
    /// Writes sixteen bytes of each of these puzzles.
    fn store(self, solutions: &mut [[u8; 81]], first: usize, at: usize);
    /// The words, lanes of which there are no more than [`MOST`].
    fn words(self) -> [u16; MOST];
    /// The sets of the cells in the lower and in the upper bytes of words.
    fn sets(self) -> [Self; 2];
    /// Words of the digits of two cells with one each.
    fn digits(a: Self, b: Self) -> Self;
    /// Words, pairs of words and fours from the lower, and from the upper half of each 128 bits of two
    /// vectors, in turns.
    fn zip1(self, other: Self) -> [Self; 2];
    fn zip2(self, other: Self) -> [Self; 2];
    fn zip4(self, other: Self) -> [Self; 2];
}

/// Transposes eight by eight words in each 128 bits.
#[inline(always)]
fn transpose<V: Transposed>(rows: [V; 8]) -> [V; 8] {
    let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
    let ([a0, a1], [b0, b1], [c0, c1], [d0, d1]) = (r0.zip1(r1), r2.zip1(r3), r4.zip1(r5), r6.zip1(r7));
    let ([e0, e1], [e2, e3]) = (a0.zip2(b0), a1.zip2(b1));
    let ([f0, f1], [f2, f3]) = (c0.zip2(d0), c1.zip2(d1));
    let ([w0, w1], [w2, w3], [w4, w5], [w6, w7]) = (e0.zip4(f0), e1.zip4(f1), e2.zip4(f2), e3.zip4(f3));
    [w0, w1, w2, w3, w4, w5, w6, w7]
}

/// Words of the cells from `at` on, two in each.
#[inline(always)]
fn words_at<V: Transposed>(puzzles: &[[u8; 81]], at: usize) -> [V; 8] {
    let mut rows = [V::splat(0); 8];
    for (first, row) in rows.iter_mut().enumerate() {
        *row = V::load(puzzles, first, at);
    }
    transpose(rows)
}

#[inline(always)]
fn read<V: Transposed>(puzzles: &[[u8; 81]]) -> CellSets<V> {
    assert!(puzzles.len() == V::LANES);
    let mut cells = [V::splat(0); 81];
    for at in [0, 16, 32, 48, 64] {
        let words = words_at::<V>(puzzles, at);
        for (k, word) in words.into_iter().enumerate() {
            let [a, b] = word.sets();
            cells[at + 2 * k] = a;
            cells[at + 2 * k + 1] = b;
        }
    }
    let [.., last] = words_at::<V>(puzzles, 65);
    cells[80] = last.sets()[1];
    cells
}

#[inline(always)]
fn write<V: Transposed>(cells: &CellSets<V>, solutions: &mut [[u8; 81]]) {
    assert!(solutions.len() == V::LANES);
    for at in [0, 16, 32, 48, 64] {
        let mut words = [V::splat(0); 8];
        for (k, word) in words.iter_mut().enumerate() {
            *word = V::digits(cells[at + 2 * k], cells[at + 2 * k + 1]);
        }
        for (first, row) in transpose(words).into_iter().enumerate() {
            row.store(solutions, first, at);
        }
    }
    let last = V::digits(cells[80], cells[80]).words();
    for (solution, word) in solutions.iter_mut().zip(last) {
        let [digit, _] = word.to_le_bytes();
        solution[80] = digit;
    }
}

/// Sixteen bytes of a puzzle.
#[inline(always)]
fn load_bytes(puzzle: &[u8; 81], at: usize) -> __m128i {
    unsafe { _mm_loadu_si128(puzzle[at..][..16].as_ptr().cast()) }
}

#[inline(always)]
fn store_bytes(solution: &mut [u8; 81], at: usize, bytes: __m128i) {
    unsafe { _mm_storeu_si128(solution[at..][..16].as_mut_ptr().cast(), bytes) }
}

/// Sixteen bytes that are looked up by those of a vector.
#[inline(always)]
fn table(bytes: &[u8; 16]) -> __m128i {
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The lower and the upper byte of the set of a digit.
static LOW_BYTES: [u8; 16] = [0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0, 0, 0, 0, 0, 0, 0];
static HIGH_BYTES: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];

/// A factor of which the upper four bits differ for each of its shifts by 0 to 8: a set of one digit is
/// such a shift.
const HASH: u16 = 0b0000_1001_1010_1111;

/// The digit of a set by the upper four bits of its product.
static DIGITS: [u8; 16] = {
    let mut table = [0; 16];
    let mut digit = 1;
    while digit <= 9 {
        table[(HASH << (digit - 1) >> 12) as usize] = digit;
        digit += 1;
    }
    table
};

/// The methods that differ in the width of their instructions only. Those that are written out beside
/// them need other ones.
macro_rules! sets {
    (
        $sets:ident, $lanes:literal, $set1:ident, $and:ident, $or:ident, $andnot:ident, $add:ident, $storeu:ident,
        $shuffle:ident, $broadcast:ident, $slli:ident, $srli:ident, $mullo:ident,
        [$($zip:ident, $lo:ident, $hi:ident);*],
        { $($own:item)* }, { $($moved:item)* }
    ) => {
        impl SetVector for $sets {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(bits: u16) -> Self {
                unsafe { Self($set1(bits.cast_signed())) }
            }

            by_instruction!(or $or, and $and; and_not $andnot);

            #[inline(always)]
            fn minus_one(self) -> Self {
                unsafe { Self($add(self.0, $set1(-1))) }
            }

            #[inline(always)]
            fn read(puzzles: &[[u8; 81]]) -> CellSets<Self> {
                read(puzzles)
            }

            #[inline(always)]
            fn write(cells: &CellSets<Self>, solutions: &mut [[u8; 81]]) {
                write(cells, solutions);
            }

            $($own)*
        }

        impl Transposed for $sets {
            #[inline(always)]
            fn words(self) -> [u16; MOST] {
                let mut words = [0; MOST];
                unsafe { $storeu(words.as_mut_ptr().cast(), self.0) }
                words
            }

            #[inline(always)]
            fn sets(self) -> [Self; 2] {
                unsafe {
                    let low = $shuffle($broadcast(table(&LOW_BYTES)), self.0);
                    let high = $shuffle($broadcast(table(&HIGH_BYTES)), self.0);
                    let byte = $set1(0xFF);
                    let first = $or($and(low, byte), $slli::<8>(high));
                    let second = $or($srli::<8>(low), $andnot(byte, high));
                    [Self(first), Self(second)]
                }
            }

            #[inline(always)]
            fn digits(a: Self, b: Self) -> Self {
                unsafe {
                    let hash = $set1(HASH.cast_signed());
                    let a = $srli::<12>($mullo(a.0, hash));
                    let b = $srli::<12>($mullo(b.0, hash));
                    let both = $or(a, $slli::<8>(b));
                    Self($shuffle($broadcast(table(&DIGITS)), both))
                }
            }

            $(#[inline(always)]
            fn $zip(self, other: Self) -> [Self; 2] {
                unsafe { [Self($lo(self.0, other.0)), Self($hi(self.0, other.0))] }
            })*

            $($moved)*
        }
    };
}

sets!(
    Sets256, 16, _mm256_set1_epi16, _mm256_and_si256, _mm256_or_si256, _mm256_andnot_si256, _mm256_add_epi16, _mm256_storeu_si256,
    _mm256_shuffle_epi8, _mm256_broadcastsi128_si256, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_mullo_epi16,
    [
        zip1, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16;
        zip2, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32;
        zip4, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64
    ],
    {
        #[inline(always)]
        fn zeros(self) -> Self {
            unsafe { Self(_mm256_cmpeq_epi16(self.0, _mm256_setzero_si256())) }
        }

        #[inline(always)]
        fn zero_lanes(self) -> u32 {
            // A byte for each word, and the two halves of them side by side.
            let zeros = self.zeros().0;
            let halves = unsafe { (_mm256_castsi256_si128(zeros), _mm256_extracti128_si256::<1>(zeros)) };
            let (low, high) = unsafe { (_mm256_castsi128_si256(halves.0), _mm256_castsi128_si256(halves.1)) };
            let packed = unsafe { _mm256_movemask_epi8(_mm256_packs_epi16(low, high)) };
            packed.cast_unsigned() & 0xFFFF
        }
    },
    {
        #[inline(always)]
        fn load(puzzles: &[[u8; 81]], first: usize, at: usize) -> Self {
            let low = load_bytes(&puzzles[first], at);
            let high = load_bytes(&puzzles[first + 8], at);
            unsafe { Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)) }
        }

        #[inline(always)]
        fn store(self, solutions: &mut [[u8; 81]], first: usize, at: usize) {
            store_bytes(&mut solutions[first], at, unsafe { _mm256_castsi256_si128(self.0) });
            store_bytes(&mut solutions[first + 8], at, unsafe { _mm256_extracti128_si256::<1>(self.0) });
        }
    }
);

sets!(
    Sets512, 32, _mm512_set1_epi16, _mm512_and_si512, _mm512_or_si512, _mm512_andnot_si512, _mm512_add_epi16, _mm512_storeu_si512,
    _mm512_shuffle_epi8, _mm512_broadcast_i32x4, _mm512_slli_epi16, _mm512_srli_epi16, _mm512_mullo_epi16,
    [
        zip1, _mm512_unpacklo_epi16, _mm512_unpackhi_epi16;
        zip2, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32;
        zip4, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64
    ],
    {
        #[inline(always)]
        fn zeros(self) -> Self {
            unsafe { Self(_mm512_movm_epi16(_mm512_testn_epi16_mask(self.0, self.0))) }
        }

        #[inline(always)]
        fn zero_lanes(self) -> u32 {
            unsafe { _mm512_testn_epi16_mask(self.0, self.0) }
        }
    },
    {
        #[inline(always)]
        fn load(puzzles: &[[u8; 81]], first: usize, at: usize) -> Self {
            let (low, high) = (Sets256::load(puzzles, first, at), Sets256::load(puzzles, first + 16, at));
            unsafe { Self(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low.0), high.0)) }
        }

        #[inline(always)]
        fn store(self, solutions: &mut [[u8; 81]], first: usize, at: usize) {
            store_bytes(&mut solutions[first], at, unsafe { _mm512_extracti32x4_epi32::<0>(self.0) });
            store_bytes(&mut solutions[first + 8], at, unsafe { _mm512_extracti32x4_epi32::<1>(self.0) });
            store_bytes(&mut solutions[first + 16], at, unsafe { _mm512_extracti32x4_epi32::<2>(self.0) });
            store_bytes(&mut solutions[first + 24], at, unsafe { _mm512_extracti32x4_epi32::<3>(self.0) });
        }
    }
);
