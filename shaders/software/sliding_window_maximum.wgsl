// Maxima of windows, sliding along lines. The CPU kernel is that of pool/.
import package::common::element::element_words;
import package::common::invocation::{Invocation, invocation_number};
import package::pool::windows::Windows;
import package::software::sliding_window::{ResultLines, Strips, slide};
import generated::WORKGROUP;

struct Params {
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // The bits in which keys for the minimum differ from those for the maximum; 0 for the maximum.
    complement: u32,
    // The key of a window without elements, of which there are none here.
    empty_low: u32,
    empty_high: u32,
    // Where the first result goes, in elements.
    result_base: u32,
    windows: Windows,
    strips: Strips,
}

@group(0) @binding(0) var<uniform> params: Params;
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
