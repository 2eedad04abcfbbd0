// The maximum of a window.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

struct State {
    best: vec4<u32>,
    // Whether the window has an element at all.
    some: vec4<bool>,
}

fn nothing() -> State {
    return State(vec4<u32>(0u), vec4<bool>(false));
}

fn see(state: State, element: vec4<u32>, there: vec4<bool>) -> State {
    let keys = select(vec4<u32>(0u), load_tap(element), lane_mask(there));
    return State(lane_max(state.best, keys), state.some | there);
}

fn finish(number: u32, slot: Slot, state: State) {
    let best = select(lane_empty(), state.best, lane_mask(state.some));
    store_lanes(params.result_base / GROUP + number, best, slot.wanted);
}
