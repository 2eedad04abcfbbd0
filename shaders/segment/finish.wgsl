// Items of scratch become elements or, with `argmax`, elements and their rows' numbers. With
// `initial`, they are joined with elements of the data; an element without rows keeps its bits.
// Then a launch stores elements or, with `places`, numbers. Results are numbered over [segments,
// inner]; an invocation owns an output vector. The CPU kernel is in src/segment/finish.rs.
@if(argmax && initial) import package::common::divide::quotient;
@if(argmax) import package::common::divide::quotients;
@if((!argmax || initial) && !bits64) import package::common::block::ELEMENT_BITS;
@if(initial && (bits8 || bits16)) import package::common::block::PER_WORD;
@if(initial) import package::common::element::element_key;
@if(initial && argmax) import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, invocation_number};
@if(initial && argmax) import package::common::rank::vector_rank;
@if(initial && !argmax) import package::common::source::source_word;
import package::common::vector::{OFFSETS, OUTPUTS};
@if(!places) import package::common::vector::{component_mask, store_vector};
@if(!initial) import package::common::vector::empty_vector;
@if(initial && !places) import package::common::vector::{store_words, vector_words};
@if(initial && !argmax) import package::common::vector::vector_max;
@if(initial && argmax) import package::common::vector::vector_above;
@if(argmax) import package::common::vector::load_elements;
import generated::{WORKGROUP, params};

@if(!places) @group(0) @binding(2) var<storage, read_write> result: array<u32>;

@if(!argmax && !initial) @group(0) @binding(1) var<storage, read> items: array<u32>;
@if(!argmax && initial) @group(0) @binding(3) var<storage, read> items: array<u32>;
@if(argmax && !initial) @group(0) @binding(3) var<storage, read> items: array<u32>;
@if(argmax && initial) @group(0) @binding(3) var<storage, read> data: array<u32>;
@if(argmax && initial) @group(0) @binding(5) var<storage, read> items: array<u32>;
@if(argmax && !initial) @group(0) @binding(4) var<storage, read_write> indices: array<u32>;
@if(places) @group(0) @binding(2) var<storage, read_write> indices: array<u32>;

// Which results this launch stores, by the marks of their items.
@if(!argmax)
fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return vec4<bool>(true);
}

// A launch binds some of the rows, and other launches the others.
@if(argmax)
fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return (mark == vec4<u32>(0u)) | is_row_here(mark);
}

@if(argmax)
fn is_row_here(mark: vec4<u32>) -> vec4<bool> {
    return ~mark - params.first_row < vec4<u32>(params.rows);
}

// The keys of results that have a mark; the others are unspecified.
@if(!argmax && !bits64)
fn item_keys(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    let keys = vec4<u32>(items[item.x], items[item.y], items[item.z], items[item.w]);
    return keys << vec4<u32>(32u - ELEMENT_BITS);
}

@if(!argmax && bits64)
fn item_keys(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(items[item.x + 1u], items[item.x], items[item.y + 1u], items[item.y]);
}

@if(argmax)
fn item_keys(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    let column = number - quotients(number, params.by_inner) * params.inner;
    let row = select(vec4<u32>(0u), ~mark - params.first_row, is_row_here(mark));
    return load_elements(params.base + row * params.inner + column);
}

@if(!argmax)
fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
}

@if(argmax && !initial)
fn position(row: u32) -> u32 {
    return row;
}

@if(places)
fn position(row: u32) -> u32 {
    let number = quotient(row, params.by_pitch);
    return number - quotient(number, params.by_positions) * params.by_positions.x;
}

@if((argmax && !initial) || places)
fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
    for (var i = 0u; i < OUTPUTS; i++) {
        if wanted[i] {
            // -1 if there is no row.
            let known = mark[i] != 0u;
            let at = (params.index_base + number[i]) * params.index_words;
            indices[at] = select(0xffffffffu, position(~mark[i]), known);
            if params.index_words == 2u {
                indices[at + 1u] = select(0xffffffffu, 0u, known);
            }
        }
    }
}

// A word of the data.
@if(initial && !argmax)
fn data_word(word: u32) -> u32 {
    return source_word(word);
}

@if(initial && argmax)
fn data_word(word: u32) -> u32 {
    return data[word];
}

// The bits of elements of the data, each in the low bits of its component.
@if(initial && (bits8 || bits16))
fn data_bits(element: vec4<u32>) -> vec4<u32> {
    let word = vec4<u32>(
        data_word(element.x / PER_WORD),
        data_word(element.y / PER_WORD),
        data_word(element.z / PER_WORD),
        data_word(element.w / PER_WORD),
    );
    return word >> ((element % vec4<u32>(PER_WORD)) * ELEMENT_BITS);
}

@if(initial && bits32)
fn data_bits(element: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        data_word(element.x),
        data_word(element.y),
        data_word(element.z),
        data_word(element.w),
    );
}

@if(initial && bits64)
fn data_bits(element: vec4<u32>) -> vec4<u32> {
    let x = element.x * 2u;
    let y = element.y * 2u;
    return vec4<u32>(data_word(x), data_word(x + 1u), data_word(y), data_word(y + 1u));
}

// Components whose low bits are shifted to the top.
@if(initial && !bits64)
fn at_top(bits: vec4<u32>) -> vec4<u32> {
    return bits << vec4<u32>(32u - ELEMENT_BITS);
}

@if(initial && bits64)
fn at_top(bits: vec4<u32>) -> vec4<u32> {
    return bits;
}

// Which results the data keeps: among equal elements its own comes first.
@if(initial && argmax)
fn keeps(keys: vec4<u32>, data: vec4<u32>) -> vec4<bool> {
    let ranking = kernel_ranking();
    let above = vector_above(vector_rank(keys, ranking), vector_rank(data, ranking));
    return !above & vec4<bool>(params.joins == 1u);
}

@if(initial && !argmax)
fn store_joined(vector: u32, keys: vec4<u32>, data: vec4<u32>, reached: vec4<bool>) {
    store_vector(vector, select(keys, vector_max(keys, data), params.joins == 1u), reached);
}

@if(initial && argmax && !places)
fn store_joined(vector: u32, keys: vec4<u32>, data: vec4<u32>, reached: vec4<bool>) {
    store_vector(vector, select(keys, data, component_mask(keeps(keys, data))), reached);
}

@if(!initial)
fn store(vector: u32, number: vec4<u32>, keys: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
    let known = component_mask(mark != vec4<u32>(0u));
    store_vector(vector, select(empty_vector(), keys, known), wanted);
    store_indices(number, mark, wanted);
}

@if(places)
fn store(vector: u32, number: vec4<u32>, keys: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
    let element = params.result_base + min(number, vec4<u32>(params.outputs - 1u));
    let data = at_top(element_key(data_bits(element)));
    store_indices(number, select(mark, vec4<u32>(0u), keeps(keys, data)), wanted);
}

@if(initial && !places)
fn store(vector: u32, number: vec4<u32>, keys: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
    let element = params.result_base + min(number, vec4<u32>(params.outputs - 1u));
    let bits = data_bits(element);
    let data = at_top(element_key(bits));
    let reached = mark != vec4<u32>(0u);
    if any(wanted & !reached) {
        store_words(vector, vector_words(at_top(bits)), wanted & !reached);
    }
    if any(wanted & reached) {
        store_joined(vector, keys, data, wanted & reached);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let vector = invocation_number(at);
    // Results before the first one belong to an earlier launch.
    let lead = params.result_base % OUTPUTS;
    if vector >= (lead + params.outputs + OUTPUTS - 1u) / OUTPUTS {
        return;
    }
    let number = vec4<u32>(vector * OUTPUTS - lead) + OFFSETS;
    let inside = number < vec4<u32>(params.outputs);
    let clamped = min(number, vec4<u32>(params.outputs - 1u));
    let item = clamped * params.item_words;
    let last = item + vec4<u32>(params.item_words - 1u);
    let mark = vec4<u32>(items[last.x], items[last.y], items[last.z], items[last.w]);
    let keys = item_keys(clamped, item, mark);
    let to = params.result_base / OUTPUTS + vector;
    store(to, number, keys, mark, inside & is_here(mark));
}
