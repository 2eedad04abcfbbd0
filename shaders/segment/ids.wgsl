// The ids of rows: of one word or two, or smaller ones (`small_ids`).
import generated::params;

@group(0) @binding(3) var<storage, read> ids: array<u32>;

// The segment of a row whose id is out of range, and of no row.
const NO_SEGMENT: u32 = 0xffffffffu;

// The segment of an id, counted from the first one of this launch, if there is one. Numbers of segments
// have 31 bits: an id below the first one, or a negative one of one word, wraps to a larger number; the
// high word of a negative id of two words is not 0.
struct Segment {
    number: u32,
    exists: bool,
}

// The segment of a row.
fn row_segment(row: u32) -> u32 {
    if params.id_words == 2u {
        return number_of(wide_segment(row));
    }
    return number_of(narrow_segment(row));
}

// The same for ids of one word.
fn narrow_segment(row: u32) -> Segment {
    let number = narrow_id(row) - params.first_segment;
    return Segment(number, number < params.segments);
}

// The same for ids of two words.
fn wide_segment(row: u32) -> Segment {
    return segment_of(wide_id(row));
}

// An id of one word has the high word 0.
fn segment_of(id: vec2<u32>) -> Segment {
    let number = id.x - params.first_segment;
    // A name of its own: in Metal `&` makes an integer, which initialises no truth value of a structure.
    let exists = (id.y == 0u) & (number < params.segments);
    return Segment(number, exists);
}

fn number_of(segment: Segment) -> u32 {
    return select(NO_SEGMENT, segment.number, segment.exists);
}

// The segment of an id if negative ones count back from `params.end`; they do not if it is 0.
fn segment_from_end(id: vec2<u32>) -> u32 {
    if params.end == 0u {
        return number_of(segment_of(id));
    }
    // The sum is below the end only if it passes 2^32. Then an id of one word is negative, and one of
    // two words is if its high word says so; and it is not below -end.
    let negative = select(0u, 0xffffffffu, params.id_words == 2u);
    let place = id.x + params.end;
    let counts_back = (place < params.end) & (id.y == negative);
    return number_of(segment_of(select(id, vec2<u32>(place, 0u), counts_back)));
}

@if(small_ids)
fn narrow_id(row: u32) -> u32 {
    return widened(ids[small_id_word(id_of(row))], id_of(row));
}

@if(!small_ids)
fn narrow_id(row: u32) -> u32 {
    return ids[id_of(row)];
}

fn wide_id(row: u32) -> vec2<u32> {
    return vec2(ids[2u * id_of(row)], ids[2u * id_of(row) + 1u]);
}

fn id_of(row: u32) -> u32 {
    return params.ids_base + row;
}

// The word that holds an id of 1 or 2 bytes.
fn small_id_word(id: u32) -> u32 {
    return id >> (3u - params.id_bits / 8u);
}

// Such an id, as a word.
fn widened(word: u32, id: u32) -> u32 {
    // Shifted to the top and back, which extends its sign.
    let unused = 32u - params.id_bits;
    let top = word << (unused - id * params.id_bits % 32u);
    return select(top >> unused, u32(i32(top) >> unused), params.id_sign != 0u);
}
