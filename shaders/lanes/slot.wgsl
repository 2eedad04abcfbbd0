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
fn numbered(slot: u32) -> Slot {
    var s: Slot;
    let number = vec4<u32>(slot * GROUP - params.result_base % GROUP) + LANES;
    s.wanted = number < vec4<u32>(params.outputs);
    s.number = min(number, vec4<u32>(params.outputs - 1u));
    return s;
}

// The places along axis 2 and the inner axis, of results numbered along both.
fn place_along(s: Slot, along: vec4<u32>) -> Slot {
    var placed = s;
    let place = quotients(along, params.by_inner);
    placed.origin += along - place * params.inner;
    placed.first2 = windows(2u, place);
    return placed;
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
