// Ids of one or two words each, signed.

// The segment of a row, counted from the first one of this launch.
fn row_id(row: u32) -> u32 {
    let at = (params.ids_base + row) * params.id_words;
    let low = id_word(at);
    var high = 0u;
    if params.id_words == 2u {
        high = id_word(at + 1u);
    }
    // In one word a negative id has the top bit too, which no number of segments has.
    let id = low - params.first_segment;
    let inside = low < 0x80000000u && low >= params.first_segment && id < params.segments;
    return select(NONE, id, high == 0u && inside);
}
