//! Gradients of pools on software adapters: an invocation visits the windows of its own rows
//! (`shaders/software/gradient_rows.wgsl`); on hardware each element finds its windows.

use bytemuck::{bytes_of, pod_collect_to_vec};

use crate::gradient::{SpecialLaunch, Tuning, Windows, run_sums};
use crate::plan::{Builder, Call, Kernel, Shader, divisor};
use crate::wgsl::params;

/// The kernels for gradients.
pub(super) static KERNELS: [&Kernel; 1] = [&ROWS];

pub(super) const TUNING: Tuning = Tuning { special: Some(launch) };

/// Sums of the gradients of windows, accumulated in the result. So elements of 16 bits are excluded:
/// their sums have 32 bits.
static ROWS: Kernel = Kernel::new::<Params>("pool_gradient_rows", "software/gradient_rows", run)
    .only(|element, _| element.is_float() && element.size() >= 4);

/// Invocations that keep all cores busy.
const INVOCATIONS: u64 = 512;
/// Words that an iteration sets to 0.
const CLEARED: u64 = 8;
/// Maximum times that a window is read, by invocations that have neighbouring rows.
const MAX_REREADS: u64 = 4;

params! {
    /// How rows are divided among invocations.
    struct Strips {
        /// Invocations.
        count: u32,
        /// Places along the outer axis, and those of an invocation.
        outer: u32,
        places: u32,
        /// Rows of a place, and of an invocation.
        size: u32,
        rows: u32,
        /// Windows that begin with the same place of the first axis.
        row_windows: u32,
        padding: [u32; 2],
        /// A divisor: the invocations of a place.
        by_parts: [u32; 4],
    }

    struct Params {
        windows: Windows,
        strips: Strips,
    }
}

fn run(shader: &Shader, call: Call<'_, '_>) {
    let params: &Params = call.params();
    run_sums(shader, &params.windows, call);
}

fn launch(builder: &Builder<'_>, windows: &Windows) -> Option<SpecialLaunch> {
    if builder.item() < 4 || !windows.all_have_elements() {
        return None;
    }
    let strips = strips(builder, windows)?;
    let params = Params { windows: *windows, strips };
    Some(SpecialLaunch {
        shader: builder.shader(&ROWS),
        params: pod_collect_to_vec(bytes_of(&params)),
        invocations: strips.count.into(),
    })
}

/// The rows of each invocation; `None` if no number is small enough.
fn strips(builder: &Builder<'_>, windows: &Windows) -> Option<Strips> {
    let [first, second, third] = windows.axes;
    let (size, row) = (u64::from(first.size), u64::from(first.pitch));
    let outer = u64::from(windows.elements) / (size * row);
    let outputs = u64::from(first.outputs);
    let row_windows = u64::from(second.outputs) * u64::from(third.outputs) * u64::from(third.pitch);
    let windows_of = |rows: u64| {
        let reached = (rows - 1 + u64::from(first.reach)) / u64::from(first.stride) + 1;
        reached.min(outputs)
    };
    // Iterations of nested loops, and of loops after each other, count together.
    let iterations = |rows: u64| {
        let words = rows * row * builder.item() / 4;
        words / CLEARED + CLEARED + windows_of(rows) * row_windows
    };
    let max = builder.max_iterations();
    let wanted = INVOCATIONS.div_ceil(outer);
    let mut rows = size.div_ceil(wanted).max(u64::from(first.reach) + 1).min(size);
    while iterations(rows) > max {
        if rows == 1 {
            return None;
        }
        rows = rows.div_ceil(2);
    }
    let parts = size.div_ceil(rows);
    if parts > 1 && windows_of(rows) * parts > MAX_REREADS * outputs + parts {
        return None;
    }
    let places = match parts {
        1 => (outer / INVOCATIONS).clamp(1, (max / iterations(rows)).max(1)),
        _ => 1,
    };
    Some(Strips {
        count: (outer.div_ceil(places) * parts) as u32,
        outer: outer as u32,
        places: places as u32,
        size: size as u32,
        rows: rows as u32,
        row_windows: row_windows as u32,
        padding: [0; 2],
        by_parts: divisor(parts),
    })
}
