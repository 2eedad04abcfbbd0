// Rows of whole blocks (16 bytes): an invocation owns a block of each row.
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> carry: array<vec4<u32>>;

struct State {
    acc: Acc,
}

fn nothing() -> State {
    var acc: Acc;
    return State(acc);
}

alias Row = vec4<u32>;

fn read_row(row: u32, column: u32) -> Row {
    return source_block(params.base / BLOCK + row * params.columns + column);
}

fn add_row(state: State, found: Row) -> State {
    return State(acc_add(state.acc, found));
}

fn store_result(id: u32, column: u32, state: State) {
    let block = params.result_base / BLOCK + id * params.columns + column;
    result[block] = store_words(acc_pack(state.acc));
}

fn store_carry(entry: u32, column: u32, state: State) {
    let block = params.carry_base / BLOCK + entry * params.columns + column;
    carry[block] = store_words(acc_pack(state.acc));
}
