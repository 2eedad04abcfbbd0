// Maxima of windows, sliding along lines. The CPU kernel is that of pool/.
import package::common::element::element_words;
import package::common::invocation::{Invocation, invocation_number};
import package::software::sliding_window::{ResultLines, slide};
import generated::WORKGROUP;

@if(!unaligned_result) @group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@if(unaligned_result) @group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    slide(invocation_number(at));
}

// Stores the packed keys of a step of a line.
@if(!unaligned_result)
fn store_step(line: u32, lines: ResultLines, step: u32, keys: vec4<u32>) {
    result[line + step * lines.pitch] = element_words(keys);
}

// The last step of a line may have fewer than four words.
@if(unaligned_result)
fn store_step(line: u32, lines: ResultLines, step: u32, keys: vec4<u32>) {
    let at = line + step * 4u;
    let left = lines.length - step * 4u;
    let words = element_words(keys);
    result[at] = words.x;
    if left > 1u {
        result[at + 1u] = words.y;
    }
    if left > 2u {
        result[at + 2u] = words.z;
    }
    if left > 3u {
        result[at + 3u] = words.w;
    }
}
