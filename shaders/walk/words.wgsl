// Lines are whole words.
const ITEM: u32 = 4u * PER_WORD / BLOCK;

fn unit(elements: u32) -> u32 {
    return elements / PER_WORD * ITEM;
}

// Here words.
fn count_positions() -> u32 {
    return unit(params.axes[2].size);
}

// The keys of four words of a row; 0 where there are none.
fn along(row: Row, across: Across, at: i32, beside: u32) -> vec4<u32> {
    let word = vec4<i32>(at * 4) + vec4<i32>(0, 1, 2, 3);
    let inside = vec4<bool>(row.inside) & (vec4<u32>(word) < vec4<u32>(across.count));
    let place = vec4<u32>(row.at) + select(vec4<u32>(0u), vec4<u32>(word), inside);
    let words = vec4<u32>(
        source_word(place.x),
        source_word(place.y),
        source_word(place.z),
        source_word(place.w),
    );
    return select(vec4<u32>(0u), load_key(words), inside);
}
