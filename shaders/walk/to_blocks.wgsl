// Lines of results are whole blocks.
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

fn first_result(line: u32) -> u32 {
    return (params.result_base + line * params.by_line.x) / BLOCK;
}

fn line_length() -> u32 {
    return 0u;
}

// The packed keys of a step of a line.
fn put_keys(line: u32, targets: Targets, number: u32, keys: vec4<u32>) {
    result[line + number * targets.pitch] = store_words(keys);
}

// The first result of a step, and how many it has; where there are positions, whose elements have a word.
fn result_number(line: u32, targets: Targets, number: u32) -> u32 {
    return (line + number * targets.pitch) * BLOCK - params.result_base;
}

fn results_left(targets: Targets, number: u32) -> u32 {
    return 4u;
}
