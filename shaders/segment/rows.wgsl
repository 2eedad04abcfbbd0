// Which row of a segment has the maximum, the first of equal ones.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> carry: array<u32>;

struct State {
    key: Key,
    row: u32,
}

fn nothing() -> State {
    return State(KEY_LOWEST, NONE);
}

alias Row = State;

fn read_row(row: u32, column: u32) -> Row {
    let candidate = candidate_row(row, column);
    return Row(rank_one(load_one(params.base + candidate * params.inner + column)), candidate);
}

fn add_row(state: State, found: Row) -> State {
    let first = key_equal(found.key, state.key) && found.row < state.row;
    if key_above(found.key, state.key) || first {
        return found;
    }
    return state;
}

fn store_result(id: u32, column: u32, state: State) {
    result[params.result_base + id * params.inner + column] = ~state.row;
}

fn store_carry(entry: u32, column: u32, state: State) {
    carry[params.carry_base + entry * params.inner + column] = state.row;
}
