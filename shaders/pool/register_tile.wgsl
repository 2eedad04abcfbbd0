// Maxima of windows along axis 2 alone, where the inner axis is whole blocks (16 bytes). An
// invocation computes a tile of eight windows that overlap: each lies `shift` taps behind the one
// before. What all of them cover is read once, then what each of them lacks towards either end.
// The CPU kernel is in src/pool/cpu/.
import package::common::block::{acc_add_keys, acc_pack};
import package::common::divide::quotient;
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, invocation_number};
import package::pool::block_windows::{Place, Sum, add_block, block_pitch, number_of};
import package::pool::block_windows::{place_of, store_block};
import package::pool::windows::has_element_by;
import generated::{WORKGROUP, params};

// Windows of a tile. The text below is written for as many.
const TILE: u32 = 8u;

// What holds a sum while others are made.
struct Held {
    keys: vec4<u32>,
    some: bool,
}

fn hold(sum: Sum) -> Held {
    return Held(acc_pack(sum.acc), sum.some);
}

// Adds taps from one on, counted from the first tap of the tile's first window.
fn add_taps(sum: Sum, first: Place, origin: u32, from_tap: u32, count: u32) -> Sum {
    let ranking = kernel_ranking();
    let axis = params.windows.axes[2];
    var added = sum;
    for (var j = from_tap; j < from_tap + count; j++) {
        let at2 = first.first2 + i32(j * axis.dilation);
        let block = origin + u32(at2) * block_pitch(axis);
        added = add_block(added, block, has_element_by(axis, at2), ranking);
    }
    return added;
}

// Stores window i of the tile: of its taps `begin` has those that all windows share and those
// before, `end` those behind.
fn store_window(first: Place, i: u32, begin: Held, end: Sum) {
    if first.window + i * params.spacing < params.windows.axes[2].outputs {
        let block = first.target_block + i * params.spacing * params.by_blocks.x;
        let keys = acc_pack(acc_add_keys(end.acc, begin.keys));
        store_block(block, keys, begin.some || end.some);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = number_of(invocation_number(at));
    // The windows of `spacing` tiles interleave.
    let tiles = quotient(number.along, params.by_spacing) * params.spacing;
    let first = place_of(number, number.along + tiles * (TILE - 1u));
    if !first.wanted {
        return;
    }
    // The other axes have windows of one element, which may lie in the padding.
    let axis0 = params.windows.axes[0];
    let axis1 = params.windows.axes[1];
    let inside = has_element_by(axis0, first.first0) && has_element_by(axis1, first.first1);
    let origin = first.origin + u32(first.first0) * block_pitch(axis0)
        + u32(first.first1) * block_pitch(axis1);
    // In the padding no taps are asked for.
    let taps = select(0u, params.windows.axes[2].taps, inside);
    let shift = select(0u, params.shift, inside);

    var sum: Sum;
    sum = add_taps(sum, first, origin, 7u * shift, taps - 7u * shift);
    let begin7 = hold(sum);
    sum = add_taps(sum, first, origin, 6u * shift, shift);
    let begin6 = hold(sum);
    sum = add_taps(sum, first, origin, 5u * shift, shift);
    let begin5 = hold(sum);
    sum = add_taps(sum, first, origin, 4u * shift, shift);
    let begin4 = hold(sum);
    sum = add_taps(sum, first, origin, 3u * shift, shift);
    let begin3 = hold(sum);
    sum = add_taps(sum, first, origin, 2u * shift, shift);
    let begin2 = hold(sum);
    sum = add_taps(sum, first, origin, shift, shift);
    let begin1 = hold(sum);
    sum = add_taps(sum, first, origin, 0u, shift);
    let begin0 = hold(sum);
    var end: Sum;
    store_window(first, 0u, begin0, end);
    end = add_taps(end, first, origin, taps, shift);
    store_window(first, 1u, begin1, end);
    end = add_taps(end, first, origin, taps + shift, shift);
    store_window(first, 2u, begin2, end);
    end = add_taps(end, first, origin, taps + 2u * shift, shift);
    store_window(first, 3u, begin3, end);
    end = add_taps(end, first, origin, taps + 3u * shift, shift);
    store_window(first, 4u, begin4, end);
    end = add_taps(end, first, origin, taps + 4u * shift, shift);
    store_window(first, 5u, begin5, end);
    end = add_taps(end, first, origin, taps + 5u * shift, shift);
    store_window(first, 6u, begin6, end);
    end = add_taps(end, first, origin, taps + 6u * shift, shift);
    store_window(first, 7u, begin7, end);
}
