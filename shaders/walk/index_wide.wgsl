// Indices of two words.
alias Index = vec2<u32>;

fn index_of(low: u32, high: u32) -> Index {
    return vec2<u32>(low, high);
}
