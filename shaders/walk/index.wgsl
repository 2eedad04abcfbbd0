// Indices of one word.
alias Index = u32;

fn index_of(low: u32, high: u32) -> Index {
    return low;
}
