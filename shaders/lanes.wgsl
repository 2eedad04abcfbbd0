// A slot: GROUP neighbouring results, each with a lane of its own, wherever in
// the source its window lies.

struct Slot {
    // The results' numbers; those of lanes that are not wanted repeat others.
    number: vec4<u32>,
    // Lanes that have a result.
    wanted: vec4<bool>,
    // The source's element 0 of all three axes.
    origin: vec4<u32>,
    // Where the windows begin along each axis.
    first0: vec4<i32>,
    first1: vec4<i32>,
    first2: vec4<i32>,
}

// Slots begin at whole words of the result. The first one may have lanes before
// the first result, whose numbers wrap around to very large ones.
fn slot_of(slot: u32) -> Slot {
    var s: Slot;
    let number = vec4<u32>(slot * GROUP - params.result_base % GROUP) + LANES;
    s.wanted = number < vec4<u32>(params.outputs);
    s.number = min(number, vec4<u32>(params.outputs - 1u));

    // A line: the results of one place along all axes but the last.
    let line_length = params.axes[2].outputs * params.inner;
    let line = s.number.x / line_length;
    let place = s.number - vec4<u32>(line * line_length);
    var along = place;
    var inner = vec4<u32>(0u);
    if all(place < vec4<u32>(line_length)) {
        let rest = line / params.axes[1].outputs;
        let outer = rest / params.axes[0].outputs;
        s.first0 = vec4<i32>(window(0u, rest % params.axes[0].outputs));
        s.first1 = vec4<i32>(window(1u, line % params.axes[1].outputs));
        s.origin = vec4<u32>(params.base + outer * params.outer_pitch);
    } else {
        let lines = s.number / line_length;
        let rest = lines / params.axes[1].outputs;
        let outer = rest / params.axes[0].outputs;
        s.first0 = windows(0u, rest % params.axes[0].outputs);
        s.first1 = windows(1u, lines % params.axes[1].outputs);
        s.origin = params.base + outer * params.outer_pitch;
        along = s.number % line_length;
    }
    if params.inner > 1u {
        inner = along % params.inner;
        along = along / params.inner;
    }
    s.origin += inner;
    s.first2 = windows(2u, along);
    return s;
}

fn windows(axis: u32, number: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(number * params.axes[axis].stride) + params.axes[axis].start;
}

// Whether a place along an axis has an element.
fn inside(axis: u32, at: vec4<i32>) -> vec4<bool> {
    return vec4<u32>(at) < vec4<u32>(params.axes[axis].size);
}

// How far places along an axis are from its element 0.
fn along_axis(axis: u32, at: vec4<i32>) -> vec4<u32> {
    return vec4<u32>(at) * params.axes[axis].pitch;
}
