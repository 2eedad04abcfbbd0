//! How pools are cut into launches: what is fast, not what is allowed.

use super::sliding::Sliding;

/// The numbers by which pools are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Maximum taps of a window over several axes that one launch reads. Beyond it, writing the
    /// maxima along one axis and reading them again is faster.
    pub max_fused_taps: u64,
    /// Maximum taps along one axis that an invocation reads one by one; at least 2. Longer windows
    /// are computed from shorter ones.
    pub max_taps: u64,
    /// The same for windows with positions, if it is less.
    pub max_index_taps: u64,
    /// Maximum taps that are read one by one if windows hardly overlap, so that shorter windows
    /// would cost more.
    pub max_apart_taps: u64,
    /// The cost of a launch for each of its results, in taps: to write it and to read it again.
    pub launch_cost: u64,
    /// How much more a tap costs in a loop than in a text that is specialised for its window.
    pub loop_cost: u64,
    /// Maximum taps of a window, over all axes of a launch, with which workgroups hold the elements
    /// that windows share and read each tap by itself; 0 for never.
    pub max_tile_taps: u64,
    /// Maximum taps of a window, over all axes, with which one launch finds maxima and computes the
    /// gradient of the data; 0 for never.
    pub max_gradient_taps: u64,
    /// Maximum levels of a pyramid in one launch; 0 if each pooling has launches of its own.
    pub max_pyramid_levels: u32,
    /// The cost of a pyramid's launch, in bytes that could be loaded meanwhile: some 5 us.
    pub pyramid_launch_bytes: u64,
    /// How the CPU kernel computes windows of two axes together, if it runs.
    pub cpu: Option<CpuWindows>,
    /// Which windows have their taps in the text of the shader, rather than in a loop.
    pub sliding: Option<Sliding>,
}

/// Windows of two axes that the CPU kernel computes together: the rows of a window stay in the
/// cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuWindows {
    /// Maximum bytes of the rows that a window covers.
    pub max_bytes: u64,
    /// Taps along the first axis up to which two axes are always taken together. With more taps,
    /// they are taken together if computing the windows of all rows, by tripling, costs less than
    /// each window by itself.
    pub few_rows: u64,
}

/// For devices that coalesce the accesses of neighbouring invocations.
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
    // Chosen by counts: `wgmax-lab traffic`. Tiles compute twice as many numbers for each byte.
    sliding: Some(Sliding {
        max_taps: 32,
        max_stride: 4,
        max_rows: 9,
        // No bound beyond that of rows: `max_first_reads` is one.
        max_rereads: 9,
        // With 9, windows of 31 need as many operations as tiles, and six times the requests.
        max_held: 6,
        // As on software adapters, which also run these plans.
        max_reads: 18,
        // With 15, 5 x 5 of f32 need more operations than tiles, by one line at a time.
        max_first_reads: 9,
        max_height: 4,
        in_flight: 64,
        breadths: &[],
        max_held_beside: 0,
        // Neighbours of a warp have neighbouring blocks. With one step, `invocations` has no effect.
        steps: 1,
        invocations: u64::MAX,
    }),
};

/// The CPU backend computes long windows in a few steps by itself.
pub(crate) const CPU: Tuning = Tuning {
    max_taps: u32::MAX as u64,
    max_index_taps: u32::MAX as u64,
    max_tile_taps: 0,
    max_gradient_taps: 1 << 10,
    max_pyramid_levels: 0,
    cpu: Some(CpuWindows { max_bytes: 32 << 10, few_rows: 3 }),
    sliding: None,
    ..HARDWARE
};
