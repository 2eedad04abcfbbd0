// What the segment kernels share. The twins are in src/kernel/segment*.rs.

struct Params {
    // Where the rows begin in the source, in elements.
    base: u32,
    // Rows, elements of a row, and what invocations own of a row: blocks or elements.
    rows: u32,
    inner: u32,
    columns: u32,
    // Rows of a run, which an invocation walks down, and runs.
    run: u32,
    runs: u32,
    // Segments of the result, and the id of the first of them.
    segments: u32,
    first_segment: u32,
    // Where the ids begin, in ids, and the words of an id.
    ids_base: u32,
    id_words: u32,
    // Where the result begins, in elements or, in scratch, in items of item_words
    // words; results altogether.
    result_base: u32,
    outputs: u32,
    // Where this launch's part of the carry list begins: in ids, and in elements or items.
    carry_ids_base: u32,
    carry_base: u32,
    // 1: there is no later launch, so nothing is carried.
    last: u32,
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // The key of a segment without rows, and its high word in 64-bit types.
    empty_low: u32,
    empty_high: u32,
    // Items of scratch: so many words, the last of them a mark that is 0 where
    // there is no row; where rows are wanted it is the complement of the row.
    item_words: u32,
    // Which word of its items a launch of segment_scatter finds.
    word: u32,
    // Where the items and the indices begin, and the words of an index.
    items_base: u32,
    index_base: u32,
    index_words: u32,
    // The number of the first row, and of the last one that there is.
    first_row: u32,
    last_row: u32,
    padding0: u32,
    padding1: u32,
    padding2: u32,
    by_columns: vec4<u32>,
    by_inner: vec4<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;

// The id of a row that has no place in the result.
const NONE: u32 = 0xffffffffu;
