//! Loops compiled for the vector instructions that the processor has.

#![allow(unsafe_code)]

/// A loop, and what it works on.
///
/// `run` and all that it calls in a loop must be `#[inline(always)]`: only what is inlined is
/// compiled anew for an extension. Closures are not, where they are large or called twice.
pub trait Loop {
    /// What it gives.
    type Output;
    /// Does it.
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
    {
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
            // SAFETY: the function has one requirement, these four extensions, and all were detected.
            return unsafe { avx512(f) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above, avx2 was just detected.
            return unsafe { avx2(f) };
        }
    }
    f.run()
}
