//! Vectors of boxes in two registers of 128 bits, for 64-bit Arm: bands 0 and 1, and band 2.
#![expect(unsafe_code, reason = "vector instructions")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: every processor of this architecture has NEON. Pointers are of arrays of the length \
              that is read or written"
)]
#![expect(clippy::cast_possible_truncation, reason = "places in tables of 32 bytes")]

use std::arch::aarch64::{
    uint8x16_t, uint8x16x2_t, uint16x8_t, vandq_u8, vandq_u16, vbicq_u16, vceqzq_u16, vdupq_n_u8,
    vdupq_n_u16, veorq_u16, vextq_u64, vgetq_lane_u64, vld1q_u8, vld1q_u16, vmaxvq_u16, vorrq_u8, vorrq_u16,
    vqmovn_high_u16, vqmovn_u16, vqtbl1q_u8, vqtbl2q_u8, vreinterpretq_u8_u16, vreinterpretq_u16_u8,
    vreinterpretq_u16_u64, vreinterpretq_u64_u16, vsetq_lane_u64, vshrq_n_u8, vst1q_u8, vst1q_u16, vsubq_u16,
    vzip1q_u64, vzip2q_u64,
};

use super::bytes::{HIGH_BYTES, HIGH_NIBBLES, LOW_BYTES, LOW_NIBBLES, NO, padded};
use super::vector::{BoardCells, BoxVector, LANES, LaneSets, in_boxes};

/// Eight lanes in each register.
#[derive(Clone, Copy)]
pub(super) struct Neon(uint16x8_t, uint16x8_t);

/// The bytes of eight lanes, from their numbers.
const fn bytes(lanes: [u8; 8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let mut k = 0;
    while k < 8 {
        bytes[2 * k] = 2 * lanes[k];
        bytes[2 * k + 1] = 2 * lanes[k] + 1;
        k += 1;
    }
    bytes
}

static NEXT_STACK: [u8; 16] = bytes([1, 2, 0, 3, 5, 6, 4, 7]);
static LAST_STACK: [u8; 16] = bytes([2, 0, 1, 3, 6, 4, 5, 7]);
/// The lanes of stacks 0 and 1, and those of stack 2, each followed by an idle one.
static STACKS: [[u8; 16]; 2] = [bytes([0, 4, 8, 12, 1, 5, 9, 13]), bytes([2, 6, 10, 14, 3, 7, 11, 15])];
static BOXES: LaneSets = in_boxes(0xFFFF);

#[inline(always)]
fn table(table: &[u8; 16]) -> uint8x16_t {
    unsafe { vld1q_u8(table.as_ptr()) }
}

impl Neon {
    #[inline(always)]
    fn shuffled(self, by: &[u8; 16]) -> Self {
        let by = table(by);
        let half =
            |half: uint16x8_t| unsafe { vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u16(half), by)) };
        Self(half(self.0), half(self.1))
    }

    #[inline(always)]
    fn bytes(self) -> uint8x16x2_t {
        unsafe { uint8x16x2_t(vreinterpretq_u8_u16(self.0), vreinterpretq_u8_u16(self.1)) }
    }

    #[inline(always)]
    fn words(self) -> [u64; 3] {
        unsafe {
            let (first, second) = (vreinterpretq_u64_u16(self.0), vreinterpretq_u64_u16(self.1));
            [vgetq_lane_u64::<0>(first), vgetq_lane_u64::<1>(first), vgetq_lane_u64::<0>(second)]
        }
    }
}

impl BoxVector for Neon {
    #[inline(always)]
    fn load(lanes: &LaneSets) -> Self {
        let (first, second) = lanes.split_at(LANES / 2);
        unsafe { Self(vld1q_u16(first.as_ptr()), vld1q_u16(second.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, lanes: &mut LaneSets) {
        let (first, second) = lanes.split_at_mut(LANES / 2);
        unsafe {
            vst1q_u16(first.as_mut_ptr(), self.0);
            vst1q_u16(second.as_mut_ptr(), self.1);
        }
    }

    #[inline(always)]
    fn splat(digits: u16) -> Self {
        let all = unsafe { vdupq_n_u16(digits) };
        Self(all, all)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        unsafe { Self(vandq_u16(self.0, other.0), vandq_u16(self.1, other.1)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        unsafe { Self(vorrq_u16(self.0, other.0), vorrq_u16(self.1, other.1)) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        unsafe { Self(veorq_u16(self.0, other.0), veorq_u16(self.1, other.1)) }
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        unsafe { Self(vbicq_u16(self.0, other.0), vbicq_u16(self.1, other.1)) }
    }

    #[inline(always)]
    fn minus_one(self) -> Self {
        unsafe {
            let one = vdupq_n_u16(1);
            Self(vsubq_u16(self.0, one), vsubq_u16(self.1, one))
        }
    }

    #[inline(always)]
    fn zeros(self) -> Self {
        unsafe { Self(vceqzq_u16(self.0), vceqzq_u16(self.1)) }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        unsafe { vmaxvq_u16(vorrq_u16(self.0, self.1)) == 0 }
    }

    #[inline(always)]
    fn any_highest(self) -> bool {
        let boxes = self.and(Self::load(&BOXES));
        unsafe { vmaxvq_u16(vorrq_u16(boxes.0, boxes.1)) >= 0x8000 }
    }

    #[inline(always)]
    fn next_stack(self) -> Self {
        self.shuffled(&NEXT_STACK)
    }

    #[inline(always)]
    fn last_stack(self) -> Self {
        self.shuffled(&LAST_STACK)
    }

    #[inline(always)]
    fn next_band(self) -> Self {
        unsafe {
            let (first, second) = (vreinterpretq_u64_u16(self.0), vreinterpretq_u64_u16(self.1));
            let idle_stays = vsetq_lane_u64::<0>(vgetq_lane_u64::<0>(first), second);
            Self(vreinterpretq_u16_u64(vextq_u64::<1>(first, second)), vreinterpretq_u16_u64(idle_stays))
        }
    }

    #[inline(always)]
    fn last_band(self) -> Self {
        unsafe {
            let (first, second) = (vreinterpretq_u64_u16(self.0), vreinterpretq_u64_u16(self.1));
            Self(
                vreinterpretq_u16_u64(vzip1q_u64(second, first)),
                vreinterpretq_u16_u64(vzip2q_u64(first, second)),
            )
        }
    }

    #[inline(always)]
    fn bands(self) -> [u64; 3] {
        self.words()
    }

    #[inline(always)]
    fn stacks(self) -> [u64; 3] {
        let stack = |by: &[u8; 16]| unsafe { vreinterpretq_u16_u8(vqtbl2q_u8(self.bytes(), table(by))) };
        Self(stack(&STACKS[0]), stack(&STACKS[1])).words()
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
        let rows = [digits_by_box(&cells[0]), digits_by_box(&cells[1]), digits_by_box(&cells[2])];
        for band in 0..3 {
            for row in 0..3 {
                let room = &mut padded[27 * band + 9 * row..][..16];
                unsafe { vst1q_u8(room.as_mut_ptr(), vqtbl2q_u8(rows[row], table(&TO_ROWS[band]))) }
            }
        }
        digits.copy_from_slice(&padded[..81]);
    }
}

/// The cells of one row of each box.
#[inline(always)]
fn read_rows(padded: &[u8; 96], row: usize) -> [Neon; 3] {
    let band = |band: usize| unsafe { vld1q_u8(padded[27 * band + 9 * row..][..16].as_ptr()) };
    let (outer, last) = (uint8x16x2_t(band(0), band(1)), band(2));
    [0, 1, 2].map(|column| unsafe {
        // Both bytes of a lane get the digit, then each its part of the set.
        let first = vqtbl2q_u8(outer, table(&FIRST_BANDS[column]));
        let second = vqtbl1q_u8(last, table(&LAST_BAND[column]));
        Neon(set_of(first, &BOXES_OF_TWO), set_of(second, &BOXES_OF_ONE))
    })
}

/// The sets of digits, each of which stands in both bytes of its lane.
#[inline(always)]
fn set_of(digits: uint8x16_t, parts: &[[u8; 16]; 2]) -> uint16x8_t {
    unsafe {
        let low = vandq_u8(vqtbl1q_u8(table(&LOW_BYTES), digits), table(&parts[0]));
        let high = vandq_u8(vqtbl1q_u8(table(&HIGH_BYTES), digits), table(&parts[1]));
        vreinterpretq_u16_u8(vorrq_u8(low, high))
    }
}

/// The digits of one row of each box: 16 bytes for each of two columns, then those of the third.
#[inline(always)]
fn digits_by_box(cells: &[Neon; 3]) -> uint8x16x2_t {
    // Lanes 3, 7 and 11 are idle, and so are the last four: the third column takes their places.
    unsafe {
        // One byte a set: 256 becomes 255.
        let narrow = |cells: &Neon| vqmovn_high_u16(vqmovn_u16(cells.0), cells.1);
        let (first, second, third) = (narrow(&cells[0]), narrow(&cells[1]), narrow(&cells[2]));
        let (to_first, to_second) = (table(&THIRD_BESIDE_FIRST), table(&THIRD_BESIDE_SECOND));
        let first = vorrq_u8(first, vqtbl1q_u8(third, to_first));
        let second = vorrq_u8(second, vqtbl1q_u8(third, to_second));
        uint8x16x2_t(digits_of(first), digits_of(second))
    }
}

/// The digits of sets in a byte each.
#[inline(always)]
fn digits_of(sets: uint8x16_t) -> uint8x16_t {
    unsafe {
        let low = vqtbl1q_u8(table(&LOW_NIBBLES), vandq_u8(sets, vdupq_n_u8(0x0F)));
        vorrq_u8(low, vqtbl1q_u8(table(&HIGH_NIBBLES), vshrq_n_u8::<4>(sets)))
    }
}

/// From the bytes of a row in each band to lanes, two bytes each: the boxes' cells in a column. First
/// for two bands, then for the third.
static FIRST_BANDS: [[u8; 16]; 3] = from_rows(2);
static LAST_BAND: [[u8; 16]; 3] = from_rows(1);

const fn from_rows(bands: usize) -> [[u8; 16]; 3] {
    let mut table = [[NO; 16]; 3];
    let mut k = 0;
    while k < 18 * bands {
        let (band, column, stack, byte) = (k / 18, k / 6 % 3, k / 2 % 3, k % 2);
        table[column][8 * band + 2 * stack + byte] = (16 * band + 3 * stack + column) as u8;
        k += 1;
    }
    table
}

/// Where the low and the high bytes of lanes with a box are: in two bands, and in one.
static BOXES_OF_TWO: [[u8; 16]; 2] = bytes_of_boxes(2);
static BOXES_OF_ONE: [[u8; 16]; 2] = bytes_of_boxes(1);

const fn bytes_of_boxes(bands: usize) -> [[u8; 16]; 2] {
    let mut table = [[0; 16]; 2];
    let mut k = 0;
    while k < 3 * bands {
        let lane = k / 3 * 4 + k % 3;
        table[0][2 * lane] = 0xFF;
        table[1][2 * lane + 1] = 0xFF;
        k += 1;
    }
    table
}

/// The idle places of a vector in bytes, one for each band and four more. The first and second vector
/// take the boxes of the third column: stacks 0 and 1 there, stack 2 here.
static THIRD_BESIDE_FIRST: [u8; 16] = [NO, NO, NO, 0, NO, NO, NO, 4, NO, NO, NO, 8, 1, 5, 9, NO];
static THIRD_BESIDE_SECOND: [u8; 16] = [NO, NO, NO, 2, NO, NO, NO, 6, NO, NO, NO, 10, NO, NO, NO, NO];

/// From bytes by box, in these places, to the row of a band.
static TO_ROWS: [[u8; 16]; 3] = [to_row(0), to_row(1), to_row(2)];

const fn to_row(band: usize) -> [u8; 16] {
    let mut table = [NO; 16];
    let mut stack = 0;
    while stack < 3 {
        table[3 * stack] = (4 * band + stack) as u8;
        table[3 * stack + 1] = (16 + 4 * band + stack) as u8;
        stack += 1;
    }
    table[2] = (4 * band + 3) as u8;
    table[5] = (12 + band) as u8;
    table[8] = (16 + 4 * band + 3) as u8;
    table
}
