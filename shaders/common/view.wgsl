// The layout of a source that is a view: nested loops over places in memory. The host's part is in
// src/plan/placement.rs.
import package::common::divide::quotient;
import generated::view;

// What is contiguous: nothing (each element may be anywhere), every word of elements, or every
// block.
const ELEMENTS: u32 = 0u;
const BLOCKS: u32 = 2u;

struct MemoryPlace {
    // The place in memory, in elements.
    at: u32,
    // Elements of the source that are contiguous from there on, at least.
    row: u32,
}

// The place of an element. Elements past the end have the place of the last one.
fn memory_place(element: u32) -> MemoryPlace {
    let in_source = min(element, view.len - 1u);
    let number = view.first + in_source;
    let inner = view.axis[0];
    var rest = quotient(number, inner);
    let column = number - rest * inner.x;
    var at = view.base + column * inner.w;
    for (var i = 1u; i < view.axes; i++) {
        let axis = view.axis[i];
        let next = quotient(rest, axis);
        at += (rest - next * axis.x) * axis.w;
        rest = next;
    }
    // The size of a single loop is 0, unknown: then the length of the source is the limit.
    let row = min(inner.x - column, view.len - in_source);
    return MemoryPlace(at, select(1u, row, inner.w == 1u));
}
