// The candidates are the rows themselves.
fn candidate_row(row: u32, column: u32) -> u32 {
    return params.first_row + row;
}
