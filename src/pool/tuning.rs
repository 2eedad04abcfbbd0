//! How pools are cut into launches: what is fast, not what is allowed.

use super::groups::Group;
use super::params::{Numbering, Params};
use crate::plan::{Builder, Shader};

/// The numbers by which pools are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Taps of a window over several axes, at most, that one launch visits. More of them cost more
    /// than to write the maxima along one axis and to read them again.
    pub max_fused_taps: u64,
    /// Taps along one axis, at most, that an invocation visits one by one; at least 2. Longer
    /// windows are made of shorter ones.
    pub max_taps: u64,
    /// The same where positions are wanted, if it is less.
    pub max_index_taps: u64,
    /// Taps, at most, that are visited one by one where windows hardly overlap, so that making
    /// them of shorter ones costs more.
    pub max_apart_taps: u64,
    /// What a launch costs for each of its results, in taps: to write it and to read it again.
    pub launch_cost: u64,
    /// How much more a tap costs in a loop than in a text that is specialised for its window.
    pub loop_cost: u64,
    /// Taps of a window, over all axes of a launch, at most, where workgroups hold the elements
    /// that their windows share; 0 where they do not.
    pub max_tile_taps: u64,
    /// Taps of a window, over all axes, at most, where the gradient of the data is made by the
    /// launch that finds the maxima; 0 where it never is.
    pub max_gradient_taps: u64,
    /// Levels of a pyramid, at most, that one launch makes; 0 where each pooling has launches of its own.
    pub max_pyramid_levels: u32,
    /// What one of its launches costs, in bytes that are loaded meanwhile: some 5 us.
    pub pyramid_launch_bytes: u64,
    /// How the CPU kernel makes windows of two axes together, if that is what runs.
    pub cpu: Option<CpuWindows>,
    /// A kernel that replaces the general ones where it fits.
    pub special: Option<Special>,
}

/// Windows of two axes that the CPU kernel makes together: the rows of a window stay in the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuWindows {
    /// Bytes of the rows that a window covers, at most.
    pub max_bytes: u64,
    /// Taps along the first axis up to which two axes are always taken together. With more taps
    /// they are where making the windows of all rows, by tripling, costs less than each window by
    /// itself.
    pub few_rows: u64,
}

/// Where invocations coalesce their accesses.
pub(crate) const HARDWARE: Tuning = Tuning {
    max_fused_taps: 16,
    max_taps: 8,
    max_index_taps: 16,
    max_apart_taps: 512,
    launch_cost: 3,
    loop_cost: 1,
    max_tile_taps: 32,
    max_gradient_taps: 32,
    max_pyramid_levels: 6,
    pyramid_launch_bytes: 2 << 20,
    cpu: None,
    special: None,
};

/// The CPU backend makes long windows in a few steps itself.
pub(crate) const CPU: Tuning = Tuning {
    max_taps: u32::MAX as u64,
    max_index_taps: u32::MAX as u64,
    max_tile_taps: 0,
    max_gradient_taps: 1 << 10,
    max_pyramid_levels: 0,
    cpu: Some(CpuWindows { max_bytes: 32 << 10, few_rows: 3 }),
    ..HARDWARE
};

/// A kernel for some windows, in the place of the general ones: its launch for the maxima of a group,
/// if it has them, with the parameters of the general kernels; with a numbering also for their indices.
pub(crate) type Special =
    fn(&Builder<'_>, &Group, &Params, Option<&Numbering>) -> Option<SpecialLaunch>;

/// What is launched in the place of a general kernel, with its sources and results.
pub(crate) struct SpecialLaunch {
    pub shader: Shader,
    /// The words of its parameters.
    pub params: Vec<u32>,
    pub invocations: u64,
}
