// Where the maximum of a window is: the first position, in the order of memory,
// of those that hold the largest element.
//
// A launch looks among the elements of the source, or among positions that
// earlier launches found (from_*), and gives either positions (to_*) or, in the
// end, the elements and their indices.
const NONE: u32 = 0xffffffffu;

struct State {
    best: vec4<u32>,
    at: vec4<u32>,
}

fn nothing() -> State {
    return State(vec4<u32>(0u), vec4<u32>(NONE));
}

fn see(state: State, element: vec4<u32>, there: vec4<bool>) -> State {
    let at = positions_of(select(vec4<u32>(0u), element, there), there);
    let known = at != vec4<u32>(NONE);
    let keys = lane_rank(load_lanes(select(vec4<u32>(0u), at, known)));
    let first = lane_equal(keys, state.best) & (at < state.at);
    let better = known & (lane_above(keys, state.best) | first);
    return State(select(state.best, keys, lane_mask(better)), select(state.at, at, better));
}
