// The element that the position of an item names. Its place is the sum of two offsets: along the
// axes of the items, and along the axes that positions count.
import kernel::index_word;
import package::common::divide::quotient;
import generated::params;

const NOWHERE: u32 = 0xffffffffu;

// An offset, and whether the number is within the bounds of all axes.
struct Offset {
    at: u32,
    inside: bool,
}

fn offset_of(number: u32, begin: u32, end: u32) -> Offset {
    var rest = number;
    var offset = Offset(0u, true);
    for (var i = begin; i < end; i++) {
        let axis = params.axis[i];
        let outer = quotient(rest, axis);
        let at = rest - outer * axis.x;
        offset.at += at * axis.w;
        offset.inside = offset.inside && at < params.bounds[i / 4u][i % 4u];
        rest = outer;
    }
    return offset;
}

// The element of an item, counted from the launch's first; NOWHERE if the launch does not have it.
fn element_of(item: u32) -> u32 {
    let at = (params.index_base + item) * params.index_words;
    let position = index_word(at) - params.lowest;
    // The high word of each position.
    let high = select(0u, 0xffffffffu, params.lowest != 0u);
    if position >= params.positions || (params.index_words == 2u && index_word(at + 1u) != high) {
        return NOWHERE;
    }
    let place = offset_of(position, params.item_axes, params.axes);
    let own = offset_of(params.first + item, 0u, params.item_axes);
    let element = own.at + place.at - params.origin;
    return select(NOWHERE, element, own.inside && element < params.elements);
}
