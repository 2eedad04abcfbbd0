//! Loops compiled for the vector instructions that the processor has.

#![allow(unsafe_code)]

/// Runs `f` compiled for the best vector extension of this processor.
///
/// `f` and all that it calls in a loop must be inlined into it: only what is
/// inlined is compiled anew for the extension.
#[inline]
pub fn dispatch<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn avx512<T>(f: impl FnOnce() -> T) -> T {
            f()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<T>(f: impl FnOnce() -> T) -> T {
            f()
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
    f()
}
