//! SIMD support: which vector instructions this processor has, loops compiled for them, and
//! prefetching.
//!
//! The crate is compiled for any processor of its architecture. Code that gains from newer
//! instructions is compiled a second time for them and chosen at run time: the back ends of the
//! kernel in [`lanes`](crate::solver::lanes), which are written over vectors, and
//! [tasks](SimdTask), plain loops that the compiler vectorises by itself.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "instructions that not every processor has")
)]

/// A loop over many bytes or words that the compiler vectorises, such as reading and writing
/// puzzles.
pub(crate) trait SimdTask {
    /// The result.
    type Output;

    /// Runs the task.
    ///
    /// It is compiled for the instructions that [`dispatch`] chooses only if it is
    /// `inline(always)`, and so is everything that it calls. A closure would not do, because it is
    /// not inlined where it is called twice.
    fn work(self) -> Self::Output;
}

/// Runs a task with the widest vectors of this processor, up to the 256 bits of AVX2: text gains
/// nothing from more.
#[inline(always)]
pub(crate) fn dispatch<T: SimdTask>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        return x86::dispatch(task);
    }
    task.work()
}

/// Methods of two vectors, each by one instruction; behind the semicolon one by an instruction that
/// takes them the other way round.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! by_instruction {
    ($($name:ident $instruction:ident),+ $(; $swapped:ident $other:ident)?) => {
        $(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                unsafe { Self($instruction(self.0, other.0)) }
            }
        )+
        $(
            #[inline(always)]
            fn $swapped(self, other: Self) -> Self {
                unsafe { Self($other(other.0, self.0)) }
            }
        )?
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use by_instruction;

/// Prefetches all of `bytes` into the caches, because they are read soon. A hint without any other
/// effect; does nothing where the architecture has no such instruction in stable Rust.
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(bytes);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{has_avx2, has_avx512, prefers_256_bits};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid, _MM_HINT_T0, _mm_prefetch};
    use std::sync::LazyLock;

    use super::SimdTask;

    /// Whether the processor has AVX2 and what came with it: the features that code for AVX2 is
    /// compiled with.
    pub(crate) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    /// Whether the processor has AVX-512 F, BW and VL and what came with them: the features that
    /// code for AVX-512 is compiled with.
    pub(crate) fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    /// Whether the processor executes vectors of 256 bits at once and those of 512 in two steps, as
    /// Zen 4 does.
    ///
    /// AMD's processors report it under "performance optimization identifiers": AMD64 Architecture
    /// Programmer's Manual, volume 3, E.4. The answer is kept, because a virtual machine stops at
    /// each `cpuid`.
    pub(crate) fn prefers_256_bits() -> bool {
        const IDENTIFIERS: u32 = 0x8000_001A;
        const BITS_256: u32 = 1 << 2;
        const BITS_512: u32 = 1 << 3;
        static ANSWER: LazyLock<bool> = LazyLock::new(|| {
            #[allow(unused_unsafe, reason = "older compilers want it")]
            // SAFETY: every x86-64 has this instruction.
            let eax = |leaf| unsafe { __cpuid(leaf).eax };
            eax(0x8000_0000) >= IDENTIFIERS && eax(IDENTIFIERS) & (BITS_256 | BITS_512) == BITS_256
        });
        *ANSWER
    }

    /// Runs a task that is compiled for AVX2.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub(super) fn dispatch<T: SimdTask>(task: T) -> T::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled<T: SimdTask>(task: T) -> T::Output {
            task.work()
        }
        assert!(has_avx2());
        // SAFETY: the processor has the features that `compiled` enables.
        unsafe { compiled(task) }
    }

    pub(super) fn prefetch(bytes: &[u8]) {
        for line in bytes.chunks(64) {
            // SAFETY: every x86-64 has this instruction, which only hints at an address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
        }
    }
}
