// Lines of results are whole words.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
const RESULT: u32 = 4u * PER_WORD / BLOCK;

fn first_result(line: u32) -> u32 {
    return (params.result_base + line * params.by_line.x) / PER_WORD * RESULT;
}

fn line_length() -> u32 {
    return params.by_line.x / PER_WORD * RESULT;
}

// The packed keys of a step of a line; the last step may have fewer.
fn put_keys(line: u32, targets: Targets, number: u32, keys: vec4<u32>) {
    let at = line + number * 4u;
    let left = results_left(targets, number);
    let bits = store_words(keys);
    result[at] = bits.x;
    if left > 1u {
        result[at + 1u] = bits.y;
    }
    if left > 2u {
        result[at + 2u] = bits.z;
    }
    if left > 3u {
        result[at + 3u] = bits.w;
    }
}

// The first result of a step, where there are positions, whose elements have a word.
fn result_number(line: u32, targets: Targets, number: u32) -> u32 {
    return line + number * 4u - params.result_base;
}

// Words that a line has left from a step on.
fn results_left(targets: Targets, number: u32) -> u32 {
    return targets.length - number * 4u;
}
