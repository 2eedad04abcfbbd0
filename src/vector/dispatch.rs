//! Runs loops that are compiled for each vector extension of the processor.

#![allow(unsafe_code)]

/// A loop together with its data.
///
/// `run` and all functions that it calls in the loop must be `#[inline(always)]`: only inlined code
/// is compiled again for each extension. Large closures, and closures called twice, are not
/// inlined.
pub trait Loop {
    /// The result.
    type Output;
    /// Whether there is anything for vectors. Otherwise the loop is compiled once.
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

/// Runs a loop compiled for the best vector extension of this processor.
#[inline]
pub fn dispatch<L: Loop>(f: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if L::VECTORS {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn avx512<L: Loop>(f: L) -> L::Output {
            f.run()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<L: Loop>(f: L) -> L::Output {
            f.run()
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the function requires these four extensions, which were just detected.
            return unsafe { avx512(f) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the function requires avx2, which was just detected.
            return unsafe { avx2(f) };
        }
    }
    f.run()
}
