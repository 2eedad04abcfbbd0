// The maxima of ascending segments of rows of one element, unrolled by eight rows. Software
// adapters run both sides of a branch, and pay for each conditional store. So each row stores the
// maximum so far, and the store of a segment's last row remains. The results, the carry list
// among them, and the CPU kernel are those of segment/elements.
import package::common::element::element_key;
import package::common::invocation::{Invocation, invocation_number};
import package::common::key::{KEY_LOWEST, Key, key_max};
@if(bits8) import package::common::source::source_word;
@if(!bits8) import package::common::source::source_block;
import package::segment::chunks::{store_carry_id, visit_chunk};
import package::segment::elements::{
    Held, maximum_of, merge, read_row, store_carry, store_carry_at, store_result, store_result_at
};
import package::segment::ids::{NO_SEGMENT, number_of, segment_of};
import generated::{WORKGROUP, params};

// Ids in blocks of four words.
@group(0) @binding(3) var<storage, read> ids: array<vec4<u32>>;

fn id_word(at: u32) -> u32 {
    return ids[at / 4u][at % 4u];
}

// As in segment/ids.
fn row_segment(row: u32) -> u32 {
    let at = (params.ids_base + row) * params.id_words;
    let high = id_word(at + params.id_words - 1u);
    let id = vec2<u32>(id_word(at), select(0u, high, params.id_words == 2u));
    return number_of(segment_of(id));
}

// The segments of eight rows.
struct Segments {
    a: vec4<u32>,
    b: vec4<u32>,
}

// Those of rows whose ids begin a block, and are in range.
fn eight_segments(row: u32) -> Segments {
    let block = (params.ids_base + row) * params.id_words / 4u;
    var a = ids[block];
    var b = ids[block + 1u];
    if params.id_words == 2u {
        let c = ids[block + 2u];
        let d = ids[block + 3u];
        a = vec4<u32>(a.xz, b.xz);
        b = vec4<u32>(c.xz, d.xz);
    }
    return Segments(a - params.first_segment, b - params.first_segment);
}

// The keys of eight elements, which begin two words.
@if(bits8)
fn eight_keys(element: u32) -> array<Key, 8> {
    let low = source_word(element / 4u);
    let high = source_word(element / 4u + 1u);
    let keys = element_key(vec4<u32>(low, high, 0u, 0u)).xy;
    let a = (keys.xxxx >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    let b = (keys.yyyy >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    return array<Key, 8>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}

// The keys of eight elements, which begin a block.
@if(bits16)
fn eight_keys(element: u32) -> array<Key, 8> {
    let keys = element_key(source_block(element / 8u));
    let low = keys & vec4<u32>(0xffffu);
    let high = keys >> vec4<u32>(16u);
    return array<Key, 8>(low.x, high.x, low.y, high.y, low.z, high.z, low.w, high.w);
}

@if(bits32)
fn eight_keys(element: u32) -> array<Key, 8> {
    let a = element_key(source_block(element / 4u));
    let b = element_key(source_block(element / 4u + 1u));
    return array<Key, 8>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}

@if(bits64)
fn eight_keys(element: u32) -> array<Key, 8> {
    let a = element_key(source_block(element / 2u));
    let b = element_key(source_block(element / 2u + 1u));
    let c = element_key(source_block(element / 2u + 2u));
    let d = element_key(source_block(element / 2u + 3u));
    return array<Key, 8>(a.xy, a.zw, b.xy, b.zw, c.xy, c.zw, d.xy, d.zw);
}

struct Progress {
    // The segment of the row before, and its maximum so far.
    current: u32,
    key: Key,
    // The maximum of the first segment.
    head: Key,
}

// One row more. The first and the last segment of a chunk go to the carry list. If ids ascend, all
// other segments are between these two; those outside are not stored.
fn add_one(before: Progress, segment: u32, key: Key, first: u32, last: u32) -> Progress {
    let best = key_max(key, select(KEY_LOWEST, before.key, segment == before.current));
    if first < segment && segment < last {
        store_result_at(params.result_base + segment, best);
    }
    return Progress(segment, best, select(before.head, best, segment == first));
}

fn visit_unrolled(chunk: u32, first: u32, last: u32) {
    var so_far = Progress(first, KEY_LOWEST, KEY_LOWEST);
    let begin = chunk * params.chunk;
    for (var row = begin; row < begin + params.chunk; row += 8u) {
        let keys = eight_keys(params.base + row);
        let segments = eight_segments(row);
        so_far = add_one(so_far, segments.a.x, keys[0], first, last);
        so_far = add_one(so_far, segments.a.y, keys[1], first, last);
        so_far = add_one(so_far, segments.a.z, keys[2], first, last);
        so_far = add_one(so_far, segments.a.w, keys[3], first, last);
        so_far = add_one(so_far, segments.b.x, keys[4], first, last);
        so_far = add_one(so_far, segments.b.y, keys[5], first, last);
        so_far = add_one(so_far, segments.b.z, keys[6], first, last);
        so_far = add_one(so_far, segments.b.w, keys[7], first, last);
    }
    let entry = params.carry_base + 2u * chunk;
    store_carry_at(entry, so_far.head);
    store_carry_id(2u * chunk, 0u, first);
    if first == last {
        store_carry_id(2u * chunk + 1u, 0u, NO_SEGMENT);
    } else {
        store_carry_at(entry + 1u, so_far.key);
        store_carry_id(2u * chunk + 1u, 0u, last);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let chunk = invocation_number(at);
    if chunk >= params.chunks {
        return;
    }
    let begin = chunk * params.chunk;
    let first = row_segment(begin);
    let last = row_segment(begin + params.chunk - 1u);
    if first != NO_SEGMENT && last != NO_SEGMENT {
        visit_unrolled(chunk, first, last);
    } else {
        // Some of its ids are out of range.
        visit_chunk(chunk, 0u);
    }
}
