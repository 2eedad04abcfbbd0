// Rows and their ids, of one or two words each, signed.
@group(0) @binding(3) var<storage, read> ids: array<u32>;

// The segment of a row, counted from the first one of this launch.
fn row_id(row: u32) -> u32 {
    let at = (params.ids_base + row) * params.id_words;
    let low = ids[at];
    let high = select(0u, ids[at + params.id_words - 1u], params.id_words == 2u);
    // In one word a negative id has the top bit too, which no number of segments has.
    let id = low - params.first_segment;
    let inside = low < 0x80000000u && low >= params.first_segment && id < params.segments;
    return select(NONE, id, high == 0u && inside);
}
