// Maxima of windows where the inner axis is whole blocks (16 bytes). The CPU kernel is in
// src/pool/cpu/.
import package::common::block::acc_pack;
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, invocation_number};
import package::pool::block_windows::{Sum, add_block, block_pitch, number_of, place_of};
import package::pool::block_windows::store_block;
import package::pool::windows::{has_element_by, tap_offset_by};
import generated::{WORKGROUP, params};

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = number_of(invocation_number(at));
    let place = place_of(number, number.along);
    if !place.wanted {
        return;
    }
    let ranking = kernel_ranking();
    let axis0 = params.windows.axes[0];
    let axis1 = params.windows.axes[1];
    let axis2 = params.windows.axes[2];
    var sum: Sum;
    for (var j0 = 0u; j0 < axis0.taps; j0++) {
        let at0 = place.first0 + tap_offset_by(axis0, j0);
        let inside0 = has_element_by(axis0, at0);
        let block0 = place.origin + u32(at0) * block_pitch(axis0);
        for (var j1 = 0u; j1 < axis1.taps; j1++) {
            let at1 = place.first1 + tap_offset_by(axis1, j1);
            let inside01 = inside0 && has_element_by(axis1, at1);
            let block01 = block0 + u32(at1) * block_pitch(axis1);
            for (var j2 = 0u; j2 < axis2.taps; j2++) {
                let at2 = place.first2 + tap_offset_by(axis2, j2);
                let block = block01 + u32(at2) * block_pitch(axis2);
                sum = add_block(sum, block, inside01 && has_element_by(axis2, at2), ranking);
            }
        }
    }
    store_block(place.target_block, acc_pack(sum.acc), sum.some);
}
