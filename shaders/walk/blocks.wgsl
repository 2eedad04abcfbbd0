// Lines are whole blocks.
fn unit(elements: u32) -> u32 {
    return elements / BLOCK;
}

fn count_positions() -> u32 {
    return params.axes[2].size / PER;
}

// The keys at a position of a row; 0 where there are none. `beside` is the number of the block there.
fn along(row: Row, across: Across, at: i32, beside: u32) -> vec4<u32> {
    let inside = row.inside && u32(at) < across.count;
    let block = row.at + select(0u, u32(at) * across.pitch + beside, inside);
    return load_key(source_block(block)) & vec4<u32>(select(0u, 0xffffffffu, inside));
}
