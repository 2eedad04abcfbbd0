// The element that the position of an item names. Its place is the sum of two offsets: along the
// axes of the items, and along the axes that positions count.
import kernel::index_word;
import package::common::divide::quotient;
import generated::params;

const NOWHERE: u32 = 0xffffffffu;

fn offset(number: u32, begin: u32, end: u32) -> u32 {
    var rest = number;
    var offset = 0u;
    for (var i = begin; i < end; i++) {
        let axis = params.axis[i];
        let outer = quotient(rest, axis);
        offset += (rest - outer * axis.x) * axis.w;
        rest = outer;
    }
    return offset;
}

// The element of an item, counted from the launch's first; NOWHERE if the launch does not have it.
fn element_of(item: u32) -> u32 {
    let at = (params.index_base + item) * params.index_words;
    let position = index_word(at);
    if position >= params.positions || (params.index_words == 2u && index_word(at + 1u) != 0u) {
        return NOWHERE;
    }
    let place = offset(position, params.item_axes, params.axes);
    let element = offset(params.first + item, 0u, params.item_axes) + place - params.origin;
    return select(NOWHERE, element, element < params.elements);
}
