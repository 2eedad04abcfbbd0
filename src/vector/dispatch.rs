//! Runs loops that are compiled for each vector extension of the processor.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering};

/// A loop together with its data.
///
/// `run` and all functions that it calls in the loop must be `#[inline(always)]`: only inlined code
/// is compiled again for each extension. Large closures, and closures called twice, are not
/// inlined.
pub trait Loop {
    /// The result.
    type Output;
    /// Whether the loop can use vectors. Otherwise it is compiled once.
    const VECTORS: bool = true;
    /// Runs the loop.
    fn run(self) -> Self::Output;
}

impl<T, F: FnOnce() -> T> Loop for F {
    type Output = T;
    #[inline(always)]
    fn run(self) -> T {
        self()
    }
}

/// A vector extension that loops are compiled for, in ascending width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extension {
    /// What every processor of the target has.
    Baseline,
    /// 256 bits.
    Avx2,
    /// 512 bits.
    Avx512,
}

impl Extension {
    /// Whether this processor has it.
    #[inline]
    pub fn is_detected(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Whether loops use it: this processor has it, and no test has set a narrower limit.
    #[inline]
    pub fn is_used(self) -> bool {
        if self as u8 > WIDEST.load(Ordering::Relaxed) {
            return false;
        }
        self.is_detected()
    }
}

/// The widest extension that loops use. Tests lower it, so that one processor tests the loops of
/// others.
static WIDEST: AtomicU8 = AtomicU8::new(Extension::Avx512 as u8);

/// From now on all loops of this process use no wider extension than this one.
pub fn limit_extension(widest: Extension) {
    WIDEST.store(widest as u8, Ordering::Relaxed);
}

/// Runs a loop compiled for the best vector extension of this processor.
#[inline]
pub fn dispatch<L: Loop>(f: L) -> L::Output {
    dispatch_up_to(Extension::Avx512, f)
}

/// Runs a loop compiled for the best vector extension of this processor that is no wider than
/// `widest`.
#[inline]
pub fn dispatch_up_to<L: Loop>(widest: Extension, f: L) -> L::Output {
    // Unit tests run what every processor has, which halves the time to compile them. tests/extensions.rs
    // runs all.
    #[cfg(all(target_arch = "x86_64", not(test)))]
    if L::VECTORS {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn avx512<L: Loop>(f: L) -> L::Output {
            f.run()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<L: Loop>(f: L) -> L::Output {
            f.run()
        }
        if widest >= Extension::Avx512 && Extension::Avx512.is_used() {
            // SAFETY: the function requires the four extensions that were just detected.
            return unsafe { avx512(f) };
        }
        if widest >= Extension::Avx2 && Extension::Avx2.is_used() {
            // SAFETY: the function requires avx2, which was just detected.
            return unsafe { avx2(f) };
        }
    }
    #[cfg(any(not(target_arch = "x86_64"), test))]
    let _ = widest;
    f.run()
}

/// Prefetches the cache line `ahead` bytes after the start of `items`, which may be after their end.
/// Does nothing on targets without such an instruction: processors prefetch without it, but not as
/// far.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], ahead: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = items.as_ptr().cast::<i8>().wrapping_add(ahead);
        // SAFETY: every x86-64 processor has the instruction, and no address makes it fail.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, ahead);
}
