// Positions within the reduced axes: those of a launch's elements, and where those of its results
// are stored. The same in Rust is `Counting` in src/reduce/positions.rs.
import generated::params;

// Larger than any place.
const NO_PLACE: u32 = 0xffffffffu;

// The positions of the elements, which an earlier launch found.
@if(from_positions) @group(0) @binding(3) var<storage, read> earlier: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

// Stores the position of a result: that of an element, counted from the first element of the first
// matrix, at a place of the axis.
fn store_position(number: u32, element: u32, place: u32) {
    let at = (params.positions.result_base + number) * params.positions.words;
    indices[at] = position_before(element) + params.positions.first
        + place * params.positions.weight;
    if params.positions.words == 2u {
        indices[at + 1u] = 0u;
    }
}

@if(!from_positions)
fn position_before(element: u32) -> u32 {
    return 0u;
}

@if(from_positions)
fn position_before(element: u32) -> u32 {
    return earlier[params.positions.source_base + element];
}
