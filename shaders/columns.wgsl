// What the kernels share that take the maximum of each column of a matrix, or of
// each of `splits` pieces of it, for a series of matrices. The results are numbered
// over [matrices, splits, width]. The twin of both is src/kernel/reduce_columns.rs.

struct Params {
    // Where the first matrix begins in the source, in elements.
    base: u32,
    // Results: matrices * splits * width.
    outputs: u32,
    // Elements of a matrix, at least width. Where it is no multiple of width,
    // the last row is the last `width` elements: it overlaps the row before.
    len: u32,
    // Columns.
    width: u32,
    // Pieces of a column.
    splits: u32,
    // Rows of a piece; the last piece may have fewer.
    chunk: u32,
    // Where the first result goes, in cells (see store/).
    result_base: u32,
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // Blocks of a row that an invocation of reduce_strips walks along.
    strip: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
