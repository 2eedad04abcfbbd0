// The maximum of a window of a tile, and its position: the first one in the order of memory.
import package::common::element::kernel_ranking;
import package::common::key::{KEY_LOWEST, Key, key_above, key_max};
import package::common::rank::key_rank;
import package::pool::box::{Tile, key_at, keys};
import package::pool::windows::{has_element_by, tap_offset_by, window_axis};
import generated::{Axis, params};

// The axes of a window, for loops: drivers do not hoist a parameter out of them.
struct Axes {
    axis0: Axis,
    axis1: Axis,
    axis2: Axis,
}

struct Found {
    // The number of its key, and the position of the element in the source. If the window has no
    // element, they are those of no element.
    key: u32,
    at: u32,
}

fn window_axes(window: vec3<u32>) -> Axes {
    return Axes(window_axis(0u, window.x), window_axis(1u, window.y), window_axis(2u, window.z));
}

// The maximum of the window that begins at a place of the tile. Padding has the lowest key.
@if(doubled)
fn maximum(begin: vec3<u32>, axes: Axes) -> Key {
    let last = params.doubling.last;
    let at = key_at(begin);
    let best = key_max(pair(at, last.z), pair(at + last.y, last.z));
    if last.x == 0u {
        return best;
    }
    let other = at + last.x;
    return key_max(best, key_max(pair(other, last.z), pair(other + last.y, last.z)));
}

@if(doubled)
fn pair(at: u32, distance: u32) -> Key {
    return key_max(keys[at], keys[at + distance]);
}

@if(!doubled)
fn maximum(begin: vec3<u32>, axes: Axes) -> Key {
    let begin_key = key_at(begin);
    let pitch1 = params.tiles.cover.z;
    let pitch0 = params.tiles.cover.y * pitch1;
    let tap1 = u32(tap_offset_by(axes.axis2, 1u));
    let tap2 = u32(tap_offset_by(axes.axis2, 2u));
    var best = KEY_LOWEST;
    for (var j0 = 0u; j0 < axes.axis0.taps; j0++) {
        let begin0 = begin_key + u32(tap_offset_by(axes.axis0, j0)) * pitch0;
        for (var j1 = 0u; j1 < axes.axis1.taps; j1++) {
            let row = begin0 + u32(tap_offset_by(axes.axis1, j1)) * pitch1;
            // Most windows have at most three taps. Those beyond the last one repeat it.
            best = key_max(best, keys[row]);
            best = key_max(best, key_max(keys[row + tap1], keys[row + tap2]));
            for (var j2 = 3u; j2 < axes.axis2.taps; j2++) {
                best = key_max(best, keys[row + u32(tap_offset_by(axes.axis2, j2))]);
            }
        }
    }
    return best;
}

// The first maximum of the window that begins at a place of the tile.
fn first_maximum(tile: Tile, begin: vec3<u32>, axes: Axes) -> Found {
    let pitch1 = params.tiles.cover.z;
    let pitch0 = params.tiles.cover.y * pitch1;
    let begin_key = key_at(begin);
    let first = tile.first + vec3<i32>(begin);
    let ranking = kernel_ranking();
    var found = Found(0xffffffffu, 0xffffffffu);
    var rank = KEY_LOWEST;
    var some = false;
    for (var j0 = 0u; j0 < axes.axis0.taps; j0++) {
        let tap0 = u32(tap_offset_by(axes.axis0, j0));
        let at0 = first.x + i32(tap0);
        for (var j1 = 0u; j1 < axes.axis1.taps; j1++) {
            let tap1 = u32(tap_offset_by(axes.axis1, j1));
            let at1 = first.y + i32(tap1);
            if !has_element_by(axes.axis0, at0) || !has_element_by(axes.axis1, at1) {
                continue;
            }
            let row = begin_key + tap0 * pitch0 + tap1 * pitch1;
            let line = tile.origin + u32(at0) * axes.axis0.pitch + u32(at1) * axes.axis1.pitch;
            for (var j2 = 0u; j2 < axes.axis2.taps; j2++) {
                let tap2 = u32(tap_offset_by(axes.axis2, j2));
                let at2 = first.z + i32(tap2);
                let next = key_rank(keys[row + tap2], ranking);
                let has = has_element_by(axes.axis2, at2);
                // Padding has the lowest key; it is taken at most before the first element.
                let takes = !some | key_above(next, rank);
                found = Found(
                    select(found.key, row + tap2, takes),
                    select(found.at, line + u32(at2), takes),
                );
                rank = select(rank, next, takes);
                some |= has;
            }
        }
    }
    return found;
}
