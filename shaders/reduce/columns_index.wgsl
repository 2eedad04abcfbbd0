// The maximum of each column of a matrix, or of each of `splits` pieces of it, and its position, for
// several matrices. Results are numbered as in reduce/columns. The CPU kernel is in
// src/reduce/columns_index.rs.
//
// A workgroup has `tile` neighbouring output vectors, and WORKGROUP / tile invocations share each: an
// invocation reads every (WORKGROUP / tile)-th row. `aligned`: the results of a vector are in one
// matrix, and their elements begin with a word, or with 32 and 64 bits a block.
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, group_number};
import package::common::rank::vector_rank;
@if(aligned) import package::common::vector::load_aligned;
import package::common::vector::{
    OFFSETS, OUTPUTS, component_mask, load_elements, store_vector, vector_above, vector_equal
};
import package::reduce::positions::{NO_PLACE, store_position};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

var<workgroup> ranks: array<vec4<u32>, WORKGROUP>;
var<workgroup> places: array<vec4<u32>, WORKGROUP>;

// The results of a vector.
struct Columns {
    // Their elements in the first row of the unit, counted from the first element of the first
    // matrix; the number of that row, and that of the unit's last one, counted from it.
    element: vec4<u32>,
    row: vec4<u32>,
    last: vec4<u32>,
}

struct State {
    rank: vec4<u32>,
    place: vec4<u32>,
}

fn columns_of(number: vec4<u32>) -> Columns {
    let unit = number / params.width;
    let matrix = unit / params.splits;
    let row = (unit - matrix * params.splits) * params.chunk;
    let column = number - unit * params.width;
    let rows = vec4<u32>(params.len / params.width) - row;
    return Columns(
        matrix * params.len + row * params.width + column,
        row,
        min(vec4<u32>(params.chunk), rows) - vec4<u32>(1u),
    );
}

@if(aligned)
fn load_row(columns: Columns, i: vec4<u32>) -> vec4<u32> {
    return load_aligned(params.base + columns.element.x + i.x * params.width);
}

@if(!aligned)
fn load_row(columns: Columns, i: vec4<u32>) -> vec4<u32> {
    return load_elements(params.base + columns.element + i * params.width);
}

// Rows, and rows that come after them in the order of `row_at`.
fn with_later(a: State, b: State) -> State {
    return chosen(a, b, vector_above(b.rank, a.rank));
}

fn better(a: State, b: State) -> State {
    let first = vector_equal(b.rank, a.rank) & (b.place < a.place);
    return chosen(a, b, vector_above(b.rank, a.rank) | first);
}

fn chosen(a: State, b: State, takes: vec4<bool>) -> State {
    return State(
        select(a.rank, b.rank, component_mask(takes)),
        select(a.place, b.place, takes),
    );
}

// The rows of a unit in an order in which the first of equal elements counts: from the last row on if
// the last one does. Rows past the end are clamped, which changes nothing.
fn row_at(columns: Columns, number: u32) -> vec4<u32> {
    let i = min(vec4<u32>(number), columns.last);
    return select(i, columns.last - i, vec4<bool>(params.positions.tie_mask != 0u));
}

fn place_of(columns: Columns, i: vec4<u32>) -> vec4<u32> {
    return (columns.row + i) ^ vec4<u32>(params.positions.tie_mask);
}

fn row_state(columns: Columns, number: u32) -> State {
    let i = row_at(columns, number);
    return State(vector_rank(load_row(columns, i), kernel_ranking()), place_of(columns, i));
}

fn search(columns: Columns, share: u32) -> State {
    // If no rank is above the lowest, the first row counts.
    let first = place_of(columns, row_at(columns, share));
    let has_rows = share < params.chunk;
    var state = State(vec4<u32>(0u), select(vec4<u32>(NO_PLACE), first, has_rows));
    let step = WORKGROUP / params.tile;
    for (var row = share; row < params.chunk; row += 4u * step) {
        let s0 = row_state(columns, row);
        let s1 = row_state(columns, row + step);
        let s2 = row_state(columns, row + 2u * step);
        let s3 = row_state(columns, row + 3u * step);
        state = with_later(with_later(with_later(with_later(state, s0), s1), s2), s3);
    }
    return state;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let vector = group_number(at) * params.tile + at.local % params.tile;
    // Results before the first one belong to an earlier launch.
    let lead = params.result_base % OUTPUTS;
    let exists = vector < (lead + params.outputs + OUTPUTS - 1u) / OUTPUTS;
    let number = vec4<u32>(vector * OUTPUTS - lead) + OFFSETS;
    let wanted = number < vec4<u32>(params.outputs);
    var columns: Columns;
    var state: State;
    if exists {
        columns = columns_of(select(vec4<u32>(0u), number, wanted));
        state = search(columns, at.local / params.tile);
    }
    for (var step = WORKGROUP / 2u; step >= params.tile; step /= 2u) {
        if at.local >= step && at.local < 2u * step {
            ranks[at.local] = state.rank;
            places[at.local] = state.place;
        }
        workgroupBarrier();
        if at.local < step {
            state = better(state, State(ranks[at.local + step], places[at.local + step]));
        }
    }
    if !exists || at.local >= params.tile {
        return;
    }
    // Elements are loaded again, since the rank of a zero does not show its sign.
    let place = state.place ^ vec4<u32>(params.positions.tie_mask);
    let element = columns.element + (place - columns.row) * params.width;
    store_vector(params.result_base / OUTPUTS + vector, load_elements(params.base + element), wanted);
    for (var i = 0u; i < OUTPUTS; i++) {
        if wanted[i] {
            store_position(number[i], element[i], place[i]);
        }
    }
}
