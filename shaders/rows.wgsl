// What the kernels share that reduce rows. The twin of both is src/kernel/reduce_rows.rs.

struct Params {
    // Where the first row begins in the source, in elements.
    base: u32,
    // Rows.
    rows: u32,
    // Elements of a row.
    len: u32,
    // Pieces of a row.
    splits: u32,
    // Elements of a piece; the last one of a row may have fewer. In reduce_short: rows of an invocation,
    // a whole number of cells.
    chunk: u32,
    // Invocations that share a piece, a power of two.
    lanes: u32,
    // Where the first result goes, in cells (see store/).
    result_base: u32,
    // The key of NaN: all ones or 0.
    nan_key: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
