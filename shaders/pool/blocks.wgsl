// Maxima of windows with an inner axis of whole blocks (16 bytes): an invocation owns a block of
// results, reads blocks and writes it. The CPU kernel is in src/pool/cpu/.
import package::common::block::{Acc, BLOCK, acc_add_with, acc_pack};
import package::common::divide::quotient;
import package::common::element::{element_words, kernel_ranking};
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_block;
import package::pool::windows::{
    has_element_by, line_windows, tap_offset_by, window_axis, window_start
};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    // Blocks of results are numbered over [lines, windows of axis 2, blocks of the inner axis].
    let number = invocation_number(at);
    if number >= params.windows.outputs / BLOCK {
        return;
    }
    let line = quotient(number, params.by_line_blocks);
    let in_line = number - line * params.by_line_blocks.x;
    let window = quotient(in_line, params.by_blocks);
    let own = line_windows(line);
    let first0 = window_start(0u, own.x);
    let first1 = window_start(1u, own.y);
    let first2 = window_start(2u, window);
    // The block of the source's element 0 of all three axes.
    let origin = (params.windows.base + own.z * params.windows.outer_pitch) / BLOCK
        + in_line - window * params.by_blocks.x;
    let ranking = kernel_ranking();
    let axis0 = window_axis(0u, own.x);
    let axis1 = window_axis(1u, own.y);
    let axis2 = window_axis(2u, window);
    var acc: Acc;
    // Whether the window has an element at all.
    var some = false;
    for (var j0 = 0u; j0 < axis0.taps; j0++) {
        let at0 = first0 + tap_offset_by(axis0, j0);
        let inside0 = has_element_by(axis0, at0);
        let block0 = origin + u32(at0) * (axis0.pitch / BLOCK);
        for (var j1 = 0u; j1 < axis1.taps; j1++) {
            let at1 = first1 + tap_offset_by(axis1, j1);
            let inside01 = inside0 && has_element_by(axis1, at1);
            let block01 = block0 + u32(at1) * (axis1.pitch / BLOCK);
            for (var j2 = 0u; j2 < axis2.taps; j2++) {
                let at2 = first2 + tap_offset_by(axis2, j2);
                if inside01 && has_element_by(axis2, at2) {
                    let block = block01 + u32(at2) * (axis2.pitch / BLOCK);
                    acc = acc_add_with(acc, source_block(block), ranking);
                    some = true;
                }
            }
        }
    }
    let keys = select(params.empty_block, acc_pack(acc), some);
    result[params.result_base / BLOCK + number] = element_words(keys);
}
