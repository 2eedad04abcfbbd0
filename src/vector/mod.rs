//! Loops over slices, compiled for each vector extension of the processor.
//!
//! This module knows keys, but no kernel. `dispatch` chooses the extension. `adapters` convert
//! elements to keys and back at the ends of a loop. `rows`, `narrow`, `places` and `fold` have the loops that
//! several kernels share.

mod adapters;
mod dispatch;
mod fold;
mod narrow;
mod places;
mod rows;

pub(crate) use adapters::{Elements, Load, Store};
pub use dispatch::Loop;
pub(crate) use dispatch::prefetch;
pub use dispatch::{Extension, dispatch, dispatch_up_to, limit_extension};
pub(crate) use fold::{
    RowOrder, Step, columns, merge, merge_rows, store, vector, whole, windows, windows_but_last,
};
pub(crate) use narrow::{has_places, is_narrow, matrices, matrix_places};
pub(crate) use places::places;
pub(crate) use rows::rows;

/// With fewer elements, a CPU kernel stays on the calling thread: waking others would cost more.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;

/// Random words for tests, with NaNs, infinities and zeros of all types among them.
#[cfg(test)]
pub(crate) fn random_words() -> impl FnMut() -> u64 {
    const SOME: [u64; 16] = [
        0,
        1 << 63,
        1 << 31,
        1 << 15,
        0x8000_8000_8000_8080,
        u64::MAX,
        0x7fff_7fff_7fff_ffff,
        0x7fc0_7e00_ffc0_fe00,
        0x7c00_fc00_7f80_ff80,
        0x7f80_0000_ff80_0000,
        0x7ff0 << 48,
        0xfff0 << 48,
        0x7f80_0000,
        0x7f80,
        0x7c00,
        0xfc00,
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59;
        SOME.get(number as usize).copied().unwrap_or(state)
    }
}
