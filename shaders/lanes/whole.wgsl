// Every slot lies in a line: the results of one place along all axes but the last.
fn slot_of(slot: u32) -> Slot {
    var s = numbered(slot);
    let line = quotient(s.number.x, params.by_line);
    let rest = quotient(line, params.by_axis1);
    let outer = quotient(rest, params.by_axis0);
    s.first1 = vec4<i32>(window(1u, line - rest * params.by_axis1.x));
    s.first0 = vec4<i32>(window(0u, rest - outer * params.by_axis0.x));
    s.origin = vec4<u32>(params.base + outer * params.outer_pitch);
    return place_along(s, s.number - vec4<u32>(line * params.by_line.x));
}
