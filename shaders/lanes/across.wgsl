// A slot may lie across the end of a line, the results of one place along all axes but the last.
fn slot_of(slot: u32) -> Slot {
    var s = numbered(slot);
    let line = quotients(s.number, params.by_line);
    let rest = quotients(line, params.by_axis1);
    let outer = quotients(rest, params.by_axis0);
    s.first1 = windows(1u, line - rest * params.by_axis1.x);
    s.first0 = windows(0u, rest - outer * params.by_axis0.x);
    s.origin = params.base + outer * params.outer_pitch;
    return place_along(s, s.number - line * params.by_line.x);
}
