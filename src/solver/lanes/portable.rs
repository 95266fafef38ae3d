//! The back end for every machine: words of 128 bits, without asking what the machine has.

use super::word::Word;

/// 128 lanes: the width that a machine has at least, be it by SSE2 or by NEON.
#[derive(Clone, Copy)]
pub(super) struct Portable(Pair);

impl Word for Portable {
    const PARTS: usize = 2;

    #[inline(always)]
    fn splat(part: u64) -> Self {
        Self(Pair::new([part; 2]))
    }

    #[inline(always)]
    fn load(parts: &[u64]) -> Self {
        Self(Pair::new([parts[0], parts[1]]))
    }

    #[inline(always)]
    fn store(self, parts: &mut [u64]) {
        parts[..2].copy_from_slice(&self.0.parts());
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self(self.0.and_not(other.0))
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        Self(self.0.shift_left::<N>())
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        Self(self.0.shift_right::<N>())
    }
}

#[cfg(target_arch = "x86_64")]
use super::sse2::Pair;
#[cfg(not(target_arch = "x86_64"))]
use plain::Pair;

/// With plain arithmetic, of which the compiler makes vectors where it can.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    #[derive(Clone, Copy)]
    pub(super) struct Pair([u64; 2]);

    impl Pair {
        #[inline(always)]
        pub(super) const fn new(parts: [u64; 2]) -> Self {
            Self(parts)
        }

        #[inline(always)]
        pub(super) const fn parts(self) -> [u64; 2] {
            self.0
        }

        #[inline(always)]
        pub(super) const fn and(self, other: Self) -> Self {
            Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
        }

        #[inline(always)]
        pub(super) const fn or(self, other: Self) -> Self {
            Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
        }

        #[inline(always)]
        pub(super) const fn xor(self, other: Self) -> Self {
            Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
        }

        #[inline(always)]
        pub(super) const fn and_not(self, other: Self) -> Self {
            Self([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
        }

        #[inline(always)]
        pub(super) const fn shift_left<const N: u32>(self) -> Self {
            Self([self.0[0] << N, self.0[1] << N])
        }

        #[inline(always)]
        pub(super) const fn shift_right<const N: u32>(self) -> Self {
            Self([self.0[0] >> N, self.0[1] >> N])
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::sse2;
    use super::plain;

    #[test]
    fn vectors_and_plain_arithmetic_agree() {
        let samples: [u64; 7] =
            [0, 1, !0, 1 << 63, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, 0xA5A5_5A5A_3C3C_C3C3];
        for (i, &low) in samples.iter().enumerate() {
            for &high in &samples {
                let (a, b) = ([low, high], [samples[(i + 3) % samples.len()], low.rotate_left(7)]);
                let (v, p) = (|parts| sse2::Pair::new(parts), |parts| plain::Pair::new(parts));
                assert_eq!(v(a).parts(), a);
                assert_eq!(v(a).and(v(b)).parts(), p(a).and(p(b)).parts());
                assert_eq!(v(a).or(v(b)).parts(), p(a).or(p(b)).parts());
                assert_eq!(v(a).xor(v(b)).parts(), p(a).xor(p(b)).parts());
                assert_eq!(v(a).and_not(v(b)).parts(), p(a).and_not(p(b)).parts());
                assert_eq!(v(a).shift_left::<4>().parts(), p(a).shift_left::<4>().parts());
                assert_eq!(v(a).shift_left::<32>().parts(), p(a).shift_left::<32>().parts());
                assert_eq!(v(a).shift_right::<1>().parts(), p(a).shift_right::<1>().parts());
                assert_eq!(v(a).shift_right::<16>().parts(), p(a).shift_right::<16>().parts());
            }
        }
    }
}
