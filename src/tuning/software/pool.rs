//! Pools on software adapters: windows slide along lines as far as they can.

use crate::pool::{HARDWARE, Sliding, Tuning};

/// On lavapipe 9 taps in a loop take 3 to 4 times as long as in a specialised text.
pub(super) const TUNING: Tuning = Tuning {
    loop_cost: 3,
    max_tile_taps: 0,
    max_gradient_taps: 0,
    // On lavapipe eight levels of 1080 x 1920 f32 take 54 ms by two launches of tiles, and 1.9 ms
    // by eight launches of sliding windows.
    max_pyramid_levels: 0,
    sliding: Some(SLIDING),
    ..HARDWARE
};

/// Measured on lavapipe, except `max_reads`.
const SLIDING: Sliding = Sliding {
    // Windows of 31 take a fifth of the time of gathering them, and 1.4 times that of windows of 13.
    max_taps: 32,
    max_stride: 4,
    // 5 x 5 of stride 1 at once took as long as one axis after the other.
    max_rows: 9,
    max_rereads: 4,
    max_held: 32,
    // SwiftShader takes half a second to compile 18 of them, and minutes for 27.
    max_reads: 18,
    // No bound.
    max_first_reads: usize::MAX,
    max_height: 1,
    in_flight: 0,
    // Neighbouring blocks share cache lines. One block took twice as long as two or four side by side,
    // and eight a quarter longer.
    breadths: &[4, 2],
    // More blocks do not stay in registers.
    max_held_beside: 12,
    // 56 steps take 1.3 to 1.5 times as long.
    steps: 448,
    invocations: 512,
};
