// Rows of any length: an invocation owns an element of each row.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> carry: array<u32>;

struct State {
    key: Key,
}

fn nothing() -> State {
    return State(KEY_LOWEST);
}

alias Row = Key;

fn read_row(row: u32, column: u32) -> Row {
    return load_one(params.base + row * params.inner + column);
}

fn add_row(state: State, found: Row) -> State {
    return State(key_max(state.key, found));
}

fn store_result(id: u32, column: u32, state: State) {
    put_result(params.result_base + id * params.inner + column, state.key);
}

fn store_carry(entry: u32, column: u32, state: State) {
    put_carry(params.carry_base + entry * params.inner + column, state.key);
}
