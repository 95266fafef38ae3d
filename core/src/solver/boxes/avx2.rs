//! Vectors of boxes in 256 bits, for x86-64 with AVX2, and with AVX-512, where the compiler makes
//! one instruction of two or three of the same operations.
#![expect(unsafe_code, reason = "vector instructions that not every machine has")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: vectors are private to this file, and tasks run on them only by way of `with_avx2` and \
              `with_avx512`, which check for the instructions. Pointers are of arrays of the length of a vector"
)]
#![expect(clippy::cast_possible_truncation, reason = "places in tables of 32 bytes")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi16, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi16,
    _mm256_extract_epi64, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_packus_epi16, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32,
    _mm256_set_m128i, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setr_epi32, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256, _mm256_testz_si256, _mm256_xor_si256,
    _mm256_zextsi128_si256,
};

use super::bytes::{HIGH_BYTES, HIGH_NIBBLES, LOW_BYTES, LOW_NIBBLES, NO, padded};
use super::vector::{BoardCells, BoxVector, LaneSets, VectorTask, in_boxes};
use crate::simd::{by_instruction, has_avx2, has_avx512};

/// Runs a task compiled for AVX-512.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn with_avx512<T: VectorTask>(task: T) -> T::Output {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled<T: VectorTask>(task: T) -> T::Output {
        task.work::<Avx2>()
    }
    assert!(has_avx512());
    unsafe { compiled(task) }
}

/// Runs a task compiled for AVX2.
///
/// # Panics
/// If the machine does not have the instructions.
pub(super) fn with_avx2<T: VectorTask>(task: T) -> T::Output {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled<T: VectorTask>(task: T) -> T::Output {
        task.work::<Avx2>()
    }
    assert!(has_avx2());
    unsafe { compiled(task) }
}

/// Sixteen lanes in one register. Private, because its constructors run instructions that not every
/// processor has.
#[derive(Clone, Copy)]
struct Avx2(__m256i);

/// The bytes of lanes, from their numbers.
const fn bytes(lanes: [u8; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut k = 0;
    while k < 8 {
        bytes[2 * k] = 2 * lanes[k];
        bytes[2 * k + 1] = 2 * lanes[k] + 1;
        k += 1;
    }
    // Shuffles work within 128 bits.
    let mut k = 0;
    while k < 16 {
        bytes[16 + k] = bytes[k];
        k += 1;
    }
    bytes
}

static NEXT_STACK: [u8; 32] = bytes([1, 2, 0, 3, 5, 6, 4, 7]);
static LAST_STACK: [u8; 32] = bytes([2, 0, 1, 3, 6, 4, 5, 7]);
/// Pairs of a stack's lanes in two bands, by stack.
static PAIRS: [u8; 32] = bytes([0, 4, 1, 5, 2, 6, 3, 7]);

#[inline(always)]
fn shuffled(vector: Avx2, by: &[u8; 32]) -> Avx2 {
    unsafe { Avx2(_mm256_shuffle_epi8(vector.0, _mm256_loadu_si256(by.as_ptr().cast()))) }
}

impl Avx2 {
    #[inline(always)]
    fn words(self) -> [u64; 3] {
        unsafe {
            [
                _mm256_extract_epi64::<0>(self.0).cast_unsigned(),
                _mm256_extract_epi64::<1>(self.0).cast_unsigned(),
                _mm256_extract_epi64::<2>(self.0).cast_unsigned(),
            ]
        }
    }
}

impl BoxVector for Avx2 {
    #[inline(always)]
    fn load(lanes: &LaneSets) -> Self {
        unsafe { Self(_mm256_loadu_si256(lanes.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self, lanes: &mut LaneSets) {
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn splat(digits: u16) -> Self {
        unsafe { Self(_mm256_set1_epi16(digits.cast_signed())) }
    }

    by_instruction!(and _mm256_and_si256, or _mm256_or_si256, xor _mm256_xor_si256; and_not _mm256_andnot_si256);

    #[inline(always)]
    fn minus_one(self) -> Self {
        unsafe { Self(_mm256_add_epi16(self.0, _mm256_set1_epi16(-1))) }
    }

    #[inline(always)]
    fn zeros(self) -> Self {
        unsafe { Self(_mm256_cmpeq_epi16(self.0, _mm256_setzero_si256())) }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        unsafe { _mm256_testz_si256(self.0, self.0) == 1 }
    }

    #[inline(always)]
    fn any_highest(self) -> bool {
        // Two bytes a lane; the higher one has the bit.
        unsafe { _mm256_movemask_epi8(self.0) & 0x002A_2A2A != 0 }
    }

    #[inline(always)]
    fn next_stack(self) -> Self {
        shuffled(self, &NEXT_STACK)
    }

    #[inline(always)]
    fn last_stack(self) -> Self {
        shuffled(self, &LAST_STACK)
    }

    #[inline(always)]
    fn next_band(self) -> Self {
        unsafe { Self(_mm256_permute4x64_epi64::<0b11_00_10_01>(self.0)) }
    }

    #[inline(always)]
    fn last_band(self) -> Self {
        unsafe { Self(_mm256_permute4x64_epi64::<0b11_01_00_10>(self.0)) }
    }

    #[inline(always)]
    fn bands(self) -> [u64; 3] {
        self.words()
    }

    #[inline(always)]
    fn stacks(self) -> [u64; 3] {
        let pairs = shuffled(self, &PAIRS);
        // Pairs of bands 0 and 1 are words 0 to 3, those of band 2 and none are 4 to 7.
        let order = unsafe { _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7) };
        Self(unsafe { _mm256_permutevar8x32_epi32(pairs.0, order) }).words()
    }

    #[inline(always)]
    fn read(digits: &[u8; 81]) -> BoardCells<Self> {
        let padded = padded(digits);
        [read_rows(&padded, 0), read_rows(&padded, 1), read_rows(&padded, 2)]
    }

    #[inline(always)]
    fn write(cells: &BoardCells<Self>, digits: &mut [u8; 81]) {
        // A row is written as 16 bytes, of which the next row replaces seven.
        let mut padded = [0_u8; 96];
        let rows = [rows(&cells[0]), rows(&cells[1]), rows(&cells[2])];
        for band in 0..3 {
            for row in 0..3 {
                let room = &mut padded[27 * band + 9 * row..][..16];
                unsafe { _mm_storeu_si128(room.as_mut_ptr().cast(), rows[row][band]) }
            }
        }
        digits.copy_from_slice(&padded[..81]);
    }
}

/// The cells of one row of each box.
#[inline(always)]
fn read_rows(padded: &[u8; 96], row: usize) -> [Avx2; 3] {
    let first = bytes_of(padded, 9 * row);
    let (second, third) = (bytes_of(padded, 27 + 9 * row), bytes_of(padded, 54 + 9 * row));
    let (outer, inner) = unsafe { (_mm256_set_m128i(third, first), _mm256_zextsi128_si256(second)) };
    [read_cells(outer, inner, 0), read_cells(outer, inner, 1), read_cells(outer, inner, 2)]
}

#[inline(always)]
fn read_cells(outer: __m256i, inner: __m256i, column: usize) -> Avx2 {
    // Both bytes of a lane get the digit, then each its part of the set.
    let digits = shuffled(Avx2(outer), &OUTER_BANDS[column]).or(shuffled(Avx2(inner), &INNER_BAND[column]));
    let low = Avx2(look_up(&LOW_BYTES, digits.0)).and(Avx2::load(&IN_LOW_BYTES));
    low.or(Avx2(look_up(&HIGH_BYTES, digits.0)).and(Avx2::load(&IN_HIGH_BYTES)))
}

/// The digits of one row of each box, by band: nine bytes and seven that mean nothing.
#[inline(always)]
fn rows(cells: &[Avx2; 3]) -> [__m128i; 3] {
    // One byte a set: 256 becomes 255.
    let two = digits_of(unsafe { _mm256_packus_epi16(cells[0].0, cells[1].0) });
    let third = digits_of(unsafe { _mm256_packus_epi16(cells[2].0, _mm256_setzero_si256()) });
    let outer = shuffled(two, &FROM_TWO[0]).or(shuffled(third, &FROM_THIRD[0]));
    let inner = shuffled(two, &FROM_TWO[1]).or(shuffled(third, &FROM_THIRD[1]));
    unsafe {
        [
            _mm256_castsi256_si128(outer.0),
            _mm256_castsi256_si128(inner.0),
            _mm256_extracti128_si256::<1>(outer.0),
        ]
    }
}

/// The digits of sets in a byte each.
#[inline(always)]
fn digits_of(sets: __m256i) -> Avx2 {
    unsafe {
        let nibbles = _mm256_set1_epi8(0x0F);
        let low = look_up(&LOW_NIBBLES, _mm256_and_si256(sets, nibbles));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(sets), nibbles);
        Avx2(_mm256_or_si256(low, look_up(&HIGH_NIBBLES, high)))
    }
}

/// Sixteen bytes from `at` on.
#[inline(always)]
fn bytes_of(padded: &[u8; 96], at: usize) -> __m128i {
    unsafe { _mm_loadu_si128(padded[at..][..16].as_ptr().cast()) }
}

/// The bytes of a table of sixteen at the places that each byte names, below 16.
#[inline(always)]
fn look_up(table: &[u8; 16], places: __m256i) -> __m256i {
    unsafe {
        let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
        _mm256_shuffle_epi8(table, places)
    }
}

/// From the bytes of rows to lanes, two bytes each: the boxes' cells in a column, by column. First
/// for the bands whose rows are in the lower and in the upper half, then for the one between.
static OUTER_BANDS: [[u8; 32]; 3] = from_rows(0);
static INNER_BAND: [[u8; 32]; 3] = from_rows(8);

const fn from_rows(at: usize) -> [[u8; 32]; 3] {
    let mut table = [[NO; 32]; 3];
    let mut k = 0;
    while k < 18 {
        let (column, stack, byte) = (k / 6, k / 2 % 3, k % 2);
        let place = at + 2 * stack + byte;
        table[column][place] = (3 * stack + column) as u8;
        table[column][16 + place] = table[column][place];
        k += 1;
    }
    table
}

/// The bytes of lanes with a box.
static IN_LOW_BYTES: LaneSets = in_boxes(0xFF);
static IN_HIGH_BYTES: LaneSets = in_boxes(0x100);

/// From bytes by column, band and stack to rows: for the first and last band, and for the one
/// between.
static FROM_TWO: [[u8; 32]; 2] = to_rows(0, 2);
static FROM_THIRD: [[u8; 32]; 2] = to_rows(2, 3);

/// The part of the rows that comes from columns `first` up to `end` of the boxes.
const fn to_rows(first: usize, end: usize) -> [[u8; 32]; 2] {
    let mut table = [[NO; 32]; 2];
    let mut k = 0;
    while k < 18 {
        let (inner, stack, column) = (k / 9, k / 3 % 3, k % 3);
        if first <= column && column < end {
            let place = 3 * stack + column;
            table[inner][place] = (8 * (column - first) + 4 * inner + stack) as u8;
            table[inner][16 + place] = table[inner][place];
        }
        k += 1;
    }
    table
}
