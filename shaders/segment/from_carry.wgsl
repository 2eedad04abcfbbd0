// The candidates are what an earlier launch carried.
@group(0) @binding(5) var<storage, read> candidates: array<u32>;

fn candidate_row(row: u32, column: u32) -> u32 {
    // Rows without an id were never written.
    return min(candidates[params.items_base + row * params.inner + column], params.last_row);
}
