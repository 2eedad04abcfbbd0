//! Kernels and numbers that only software adapters get: GPUs that a driver emulates on the CPU
//! (Mesa's lavapipe and llvmpipe, SwiftShader, WARP).
//!
//! Such adapters run invocations in turn and coalesce no accesses: they are fast if each invocation
//! reads contiguous memory of its own. Loops, conditional stores and branches are slow, since both
//! sides of a branch run. The rest of the crate reaches this module only through
//! [`Tuning::software`]. The kernels give right results on any device.

mod gradient;
mod pool;
mod reduce;
mod segment;

use crate::plan::Kernel;
use crate::tuning::Tuning;

impl Tuning {
    /// For adapters that a driver emulates on the CPU.
    pub fn software() -> Self {
        Self {
            name: "software",
            // More than a few dozen cores and their vectors need, and so few that each invocation
            // has long contiguous parts of memory.
            target_parallelism: 4096,
            // On lavapipe 4 MiB take 1.46 ms word by word, 0.9 by fours, 0.67 by eights, and 0.6
            // by sixteens.
            words_per_fill: 8,
            reduce: reduce::TUNING,
            pool: pool::TUNING,
            segment: segment::TUNING,
            gradient: gradient::TUNING,
        }
    }
}

/// The kernels of this module.
pub(crate) fn kernels() -> impl Iterator<Item = &'static Kernel> {
    reduce::KERNELS.into_iter().chain(segment::KERNELS).chain(gradient::KERNELS)
}
