// The parameters of the kernels that take rows with ids: those that go through chunks of them
// (blocks, elements, argmax, and two in software/), and scatter.

struct Params {
    // Where the rows begin in the source, in elements.
    base: u32,
    // Rows.
    rows: u32,
    // Elements of a row.
    inner: u32,
    // Parts of a row, each of which is one invocation's: blocks, column tiles or elements.
    columns: u32,
    // Rows of a chunk, which one workgroup or invocation goes through; the last one may have fewer.
    chunk: u32,
    // Chunks.
    chunks: u32,
    // Segments of the result.
    segments: u32,
    // The id of the first of them.
    first_segment: u32,
    // Where the ids begin, in ids.
    ids_base: u32,
    // Words of an id: 1 or 2.
    id_words: u32,
    // Where the result begins, in elements or, in scratch, in items.
    result_base: u32,
    // Where this launch's part of the carry list begins, in elements or words.
    carry_base: u32,
    // The same for the ids of the carry list.
    carry_ids_base: u32,
    // In argmax: where the candidates begin, in words.
    candidates_base: u32,
    // 1: no launch follows, so nothing is carried.
    last: u32,
    // In scatter: words of an item, and which of them the launch finds.
    item_words: u32,
    word: u32,
    // The number of the launch's first row.
    first_row: u32,
    // The number of the last row that there is.
    last_row: u32,
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // The bits in which keys for the minimum differ from those for the maximum; 0 for the maximum.
    complement: u32,
    // In segment/groups: columns of a workgroup, and runs of rows that it has of each.
    width: u32,
    runs: u32,
    // In blocks: rows of a run.
    run_rows: u32,
    // In segment/tiles: rows of a tile, and tiles of a chunk.
    tile: u32,
    tiles: u32,
    padding0: u32,
    padding1: u32,
    // The divisors of `columns` and `width`, and of the number of workgroups that share a row.
    by_columns: vec4<u32>,
    by_width: vec4<u32>,
    by_parts: vec4<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
