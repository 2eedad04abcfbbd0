//! What is fast on a kind of device: numbers for all operators.

use crate::base::error::Result;
use crate::base::threads;
use crate::plan::{Limits, Target};
use crate::{gradient, pool, reduce, segment};

pub(crate) mod software;

/// What is fast on a kind of device. With these numbers planners choose kernels and divide work
/// among invocations and launches.
///
/// A device's [`Limits`] say what is allowed. Any plan runs, with the same result, on any device
/// that has its limits; a [`Device`](crate::Device) chooses the tuning that suits it.
#[derive(Clone, Debug)]
pub struct Tuning {
    pub(crate) name: &'static str,
    /// Invocations that fill the device. If there are fewer outputs, planners split the work of each.
    pub(crate) target_parallelism: u32,
    /// Contiguous words that an invocation of `fill` writes.
    pub(crate) words_per_fill: u32,
    pub(crate) reduce: reduce::Tuning,
    pub(crate) pool: pool::Tuning,
    pub(crate) segment: segment::Tuning,
    pub(crate) gradient: gradient::Tuning,
}

impl Tuning {
    /// The names that [`Tuning::named`] knows.
    pub const NAMES: [&'static str; 3] = ["hardware", "software", "cpu"];

    /// For GPUs, which coalesce the accesses of neighbouring invocations.
    pub fn hardware() -> Self {
        Self {
            name: "hardware",
            // Enough for the memory of an H200, with 64 bytes each in flight for 800 ns (estimated, not measured).
            target_parallelism: 1 << 16,
            words_per_fill: 1,
            reduce: reduce::HARDWARE,
            pool: pool::HARDWARE,
            segment: segment::HARDWARE,
            gradient: gradient::HARDWARE,
        }
    }

    /// For the CPU backend, with a number of threads.
    pub fn cpu(threads: usize) -> Self {
        Self {
            name: "cpu",
            target_parallelism: threads.saturating_mul(4 * 256).clamp(1, 1 << 20) as u32,
            words_per_fill: 1,
            reduce: reduce::CPU,
            pool: pool::CPU,
            segment: segment::CPU,
            gradient: gradient::HARDWARE,
        }
    }

    /// A tuning by its name: `hardware`, `software` or `cpu`, which uses all threads.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "hardware" => Some(Self::hardware()),
            "software" => Some(Self::software()),
            "cpu" => Some(Self::cpu(threads::count())),
            _ => None,
        }
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Invocations that fill the device.
    pub fn target_parallelism(&self) -> u32 {
        self.target_parallelism
    }

    /// The same with another number of invocations that fill the device. Tests use it to make
    /// planners treat small tensors like large ones.
    #[doc(hidden)]
    pub fn with_target_parallelism(self, invocations: u32) -> Self {
        Self { target_parallelism: invocations, ..self }
    }

    /// The same with another maximum of taps along an axis that an invocation reads one by one.
    /// Longer windows are computed from shorter ones, by more launches or within tiles.
    #[doc(hidden)]
    pub fn with_max_taps(mut self, taps: u32) -> Self {
        self.pool.max_taps = taps.into();
        self
    }

    /// The same without tiles and sliding windows of pools. Tests use it to run the general kernels with
    /// any windows.
    #[doc(hidden)]
    pub fn without_tiles(mut self) -> Self {
        self.pool.sliding = None;
        self.pool.max_tile_taps = 0;
        self.pool.max_gradient_taps = 0;
        self.pool.max_pyramid_levels = 0;
        self
    }

    /// The target of a plan.
    ///
    /// # Errors
    /// [`Error::BadLimit`](crate::Error::BadLimit).
    pub(crate) fn target<'a>(&self, limits: &'a Limits) -> Result<Target<'a>> {
        limits.check()?;
        Ok(Target {
            limits,
            parallelism: self.target_parallelism.max(1),
            words_per_fill: self.words_per_fill,
        })
    }
}
