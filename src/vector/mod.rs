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
    RowOrder, Step, columns, merge, merge_rows, store, vector, windows, windows_but_last,
};
pub(crate) use narrow::{has_places, is_narrow, matrices, matrix_places};
pub(crate) use places::places;
pub(crate) use rows::rows;

/// With fewer elements, a CPU kernel stays on the calling thread: waking others would cost more.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;
