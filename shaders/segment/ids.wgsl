// The ids of rows: of one word or two, or smaller ones (`small_ids`).
import generated::params;

@group(0) @binding(3) var<storage, read> ids: array<u32>;

// The segment of a row whose id is out of range, and of no row.
const NO_SEGMENT: u32 = 0xffffffffu;

// The segment of a row, counted from the first one of this launch.
fn row_segment(row: u32) -> u32 {
    if params.id_words == 2u {
        return wide_segment(row);
    }
    return narrow_segment(row);
}

// The same for ids of one word.
@if(small_ids)
fn narrow_segment(row: u32) -> u32 {
    return segment_of(widened(ids[small_id_word(id_of(row))], id_of(row)), 0u);
}

@if(!small_ids)
fn narrow_segment(row: u32) -> u32 {
    return segment_of(ids[id_of(row)], 0u);
}

// The same for ids of two words.
fn wide_segment(row: u32) -> u32 {
    return segment_of(ids[2u * id_of(row)], ids[2u * id_of(row) + 1u]);
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

// The segment of an id. A negative id of one word has the top bit set, as no number of segments
// has; of two words, its high word is not 0.
fn segment_of(low: u32, high: u32) -> u32 {
    let segment = low - params.first_segment;
    let inside = low < 0x80000000u && low >= params.first_segment && segment < params.segments;
    return select(NO_SEGMENT, segment, high == 0u && inside);
}
