//! The back end for 64-bit Arm, where every processor has NEON: words of 128 bits. From
//! `portable.rs` the compiler makes scalar code in places, and it finds neither the instructions
//! that choose bits nor those that exchange them.
#![expect(unsafe_code, reason = "vector instructions")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all: every processor of this architecture has NEON. Pointers come from slices and arrays \
              whose length is checked"
)]

use std::arch::aarch64::{
    uint8x16_t, uint64x2_t, vandq_u8, vandq_u64, vbicq_u64, vbslq_u64, vdupq_n_s64, vdupq_n_u8, vdupq_n_u64,
    veorq_u64, vld1q_u8, vld1q_u64, vorrq_u64, vpaddq_u8, vqtbl1q_u8, vreinterpretq_u8_u64,
    vreinterpretq_u16_u64, vreinterpretq_u32_u64, vreinterpretq_u64_u8, vreinterpretq_u64_u16,
    vreinterpretq_u64_u32, vshlq_u64, vsliq_n_u8, vsriq_n_u8, vst1q_u8, vst1q_u64, vtrn1q_u8, vtrn1q_u16,
    vtrn1q_u32, vtrn2q_u8, vtrn2q_u16, vtrn2q_u32, vtstq_u8,
};

use super::packing::Packing;
use super::word::{Word, exchange_by_shifts};
use crate::simd::by_instruction;

/// 128 lanes.
#[derive(Clone, Copy)]
pub(super) struct Neon(uint64x2_t);

/// The distance of a shift, negative to the right. The compiler folds it into the instruction.
#[inline(always)]
fn shifted(word: uint64x2_t, left: i64) -> uint64x2_t {
    unsafe { vshlq_u64(word, vdupq_n_s64(left)) }
}

impl Word for Neon {
    const PARTS: usize = 2;

    #[inline(always)]
    fn splat(part: u64) -> Self {
        unsafe { Self(vdupq_n_u64(part)) }
    }

    #[inline(always)]
    fn load(parts: &[u64]) -> Self {
        assert!(parts.len() >= Self::PARTS);
        unsafe { Self(vld1q_u64(parts.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, parts: &mut [u64]) {
        assert!(parts.len() >= Self::PARTS);
        unsafe { vst1q_u64(parts.as_mut_ptr(), self.0) }
    }

    by_instruction!(and vandq_u64, or vorrq_u64, xor veorq_u64, and_not vbicq_u64);

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        Self(shifted(self.0, i64::from(N)))
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        Self(shifted(self.0, -i64::from(N)))
    }

    /// Where two bits are the same they decide, else the third does.
    #[inline(always)]
    fn majority(a: Self, b: Self, c: Self) -> Self {
        Self::select(a.xor(b), c, a)
    }

    #[inline(always)]
    fn and_nor(a: Self, b: Self, c: Self) -> Self {
        a.and_not(b).and_not(c)
    }

    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        unsafe { Self(vbslq_u64(mask.0, a.0, b.0)) }
    }

    /// Where groups are pairs of elements, it is a transposition of elements; where they are bytes,
    /// shifts that insert.
    #[inline(always)]
    fn exchange<const N: u32>(a: Self, b: Self) -> (Self, Self) {
        unsafe {
            match N {
                32 => {
                    let (a, b) = (vreinterpretq_u32_u64(a.0), vreinterpretq_u32_u64(b.0));
                    let (low, high) = (vtrn1q_u32(a, b), vtrn2q_u32(a, b));
                    (Self(vreinterpretq_u64_u32(low)), Self(vreinterpretq_u64_u32(high)))
                }
                16 => {
                    let (a, b) = (vreinterpretq_u16_u64(a.0), vreinterpretq_u16_u64(b.0));
                    let (low, high) = (vtrn1q_u16(a, b), vtrn2q_u16(a, b));
                    (Self(vreinterpretq_u64_u16(low)), Self(vreinterpretq_u64_u16(high)))
                }
                8 => {
                    let (a, b) = (vreinterpretq_u8_u64(a.0), vreinterpretq_u8_u64(b.0));
                    let (low, high) = (vtrn1q_u8(a, b), vtrn2q_u8(a, b));
                    (Self(vreinterpretq_u64_u8(low)), Self(vreinterpretq_u64_u8(high)))
                }
                4 => {
                    let (a, b) = (vreinterpretq_u8_u64(a.0), vreinterpretq_u8_u64(b.0));
                    let (low, high) = (vsliq_n_u8::<4>(a, b), vsriq_n_u8::<4>(b, a));
                    (Self(vreinterpretq_u64_u8(low)), Self(vreinterpretq_u64_u8(high)))
                }
                _ => exchange_by_shifts::<Self, N>(a, b),
            }
        }
    }
}

/// The bit of a byte that stands for its place among eight.
static PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// For each of two bytes, eight times its place.
static EIGHT_OF_EACH: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

impl Packing for Neon {
    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        let vectors = digits.as_chunks::<16>().0;
        [plane(vectors, 1), plane(vectors, 2), plane(vectors, 4), plane(vectors, 8)]
    }

    #[inline(always)]
    fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
        let mut bytes = [0; 96];
        for (group, sixteen) in bytes.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let is_set = |plane: usize| unsafe {
                let bits = vdupq_n_u64((planes[plane] >> (16 * group)) as u64 & 0xFFFF);
                let spread = vqtbl1q_u8(vreinterpretq_u8_u64(bits), vld1q_u8(EIGHT_OF_EACH.as_ptr()));
                vtstq_u8(spread, vld1q_u8(PLACES.as_ptr()))
            };
            unsafe {
                // Each plane below comes in as the lowest bit.
                let mut sum = vandq_u8(is_set(3), vdupq_n_u8(1));
                for plane in [2, 1, 0] {
                    sum = vsliq_n_u8::<1>(is_set(plane), sum);
                }
                vst1q_u8(sixteen.as_mut_ptr(), sum);
            }
        }
        digits.copy_from_slice(&bytes[..81]);
    }
}

/// The bits of 96 bytes: bit `cell` is set where the byte has a bit of `bit`.
#[inline(always)]
fn plane(bytes: &[[u8; 16]], bit: u8) -> u128 {
    unsafe {
        let places = vld1q_u8(PLACES.as_ptr());
        let bits = |k: usize| {
            let is_set = vtstq_u8(vld1q_u8(bytes[k].as_ptr()), vdupq_n_u8(bit));
            vandq_u8(is_set, places)
        };
        // Eight bytes with different bits add up to one.
        let four = |k: usize| {
            sum_of_pairs(sum_of_pairs(bits(k), bits(k + 1)), sum_of_pairs(bits(k + 2), bits(k + 3)))
        };
        let two = sum_of_pairs(bits(4), bits(5));
        let all = sum_of_pairs(four(0), sum_of_pairs(two, two));
        let mut plane = [0; 16];
        vst1q_u8(plane.as_mut_ptr(), all);
        // The last four bytes repeat the two vectors that have no others beside them.
        u128::from_le_bytes(plane) & ((1 << 96) - 1)
    }
}

/// The sums of neighbouring bytes, of `a` in the lower half and of `b` in the upper one.
#[inline(always)]
fn sum_of_pairs(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    unsafe { vpaddq_u8(a, b) }
}

#[cfg(test)]
mod tests {
    use super::super::portable::Portable;
    use super::*;

    const SAMPLES: [u64; 7] =
        [0, 1, !0, 1 << 63, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, 0xA5A5_5A5A_3C3C_C3C3];

    fn parts<W: Word>(word: W) -> [u64; 2] {
        let mut parts = [0; 2];
        word.store(&mut parts);
        parts
    }

    /// What a function gives for all pairs of samples and a third word.
    fn all<W: Word>(f: impl Fn(W, W, W) -> W) -> Vec<[u64; 2]> {
        let word = |k: usize| W::load(&[SAMPLES[k % 7], SAMPLES[(k / 7 + k) % 7].rotate_left(11)]);
        let third = |i: usize, j: usize| word(i + 3 * j + 5);
        let pairs = (0..49).flat_map(|i| (0..49).map(move |j| (i, j)));
        pairs.map(|(i, j)| parts(f(word(i), word(j), third(i, j)))).collect()
    }

    macro_rules! agree {
        ($($of:expr),* $(,)?) => {
            $({
                fn apply<W: Word>(a: W, b: W, c: W) -> W {
                    let of: fn(W, W, W) -> W = $of;
                    of(a, b, c)
                }
                assert_eq!(all::<Neon>(apply), all::<Portable>(apply), "{}", stringify!($of));
            })*
        };
    }

    #[test]
    fn vectors_and_plain_arithmetic_agree() {
        agree!(
            |a, _, _| a,
            |a, b, _| a.and(b),
            |a, b, _| a.or(b),
            |a, b, _| a.xor(b),
            |a, b, _| a.and_not(b),
            |a, _, _| a.shift_left::<1>(),
            |a, _, _| a.shift_left::<32>(),
            |a, _, _| a.shift_right::<2>(),
            |a, _, _| a.shift_right::<16>(),
            |a, b, c| W::majority(a, b, c),
            |a, b, c| W::and_nor(a, b, c),
            |a, b, c| W::select(a, b, c),
            |a, b, _| W::exchange::<32>(a, b).0,
            |a, b, _| W::exchange::<32>(a, b).1,
            |a, b, _| W::exchange::<16>(a, b).0,
            |a, b, _| W::exchange::<16>(a, b).1,
            |a, b, _| W::exchange::<8>(a, b).0,
            |a, b, _| W::exchange::<8>(a, b).1,
            |a, b, _| W::exchange::<4>(a, b).0,
            |a, b, _| W::exchange::<4>(a, b).1,
            |a, b, _| W::exchange::<2>(a, b).0,
            |a, b, _| W::exchange::<1>(a, b).1,
        );
    }

    #[test]
    fn planes_are_packed_as_by_plain_arithmetic() {
        let mut bytes = [0; 96];
        for round in 0..200_usize {
            for (cell, byte) in bytes[..81].iter_mut().enumerate() {
                *byte = u8::try_from((cell * 7 + cell * cell * round + round / 3) % 10).unwrap();
            }
            let planes = Neon::planes(&bytes);
            assert_eq!(planes, Portable::planes(&bytes));
            let (mut own, mut plain) = ([0; 81], [0; 81]);
            Neon::digits(&planes, &mut own);
            Portable::digits(&planes, &mut plain);
            assert_eq!((own, own.as_slice()), (plain, &bytes[..81]));
        }
    }
}
