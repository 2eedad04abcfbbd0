// Rows of whole strips of four blocks (64 bytes), for adapters whose invocations share no fetches: an
// invocation owns a strip of each row.
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> carry: array<vec4<u32>>;

struct State {
    a: Acc,
    b: Acc,
    c: Acc,
    d: Acc,
}

fn nothing() -> State {
    var acc: Acc;
    return State(acc, acc, acc, acc);
}

struct Row {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

fn read_row(row: u32, column: u32) -> Row {
    let block = params.base / BLOCK + 4u * (row * params.columns + column);
    return Row(
        source_block(block),
        source_block(block + 1u),
        source_block(block + 2u),
        source_block(block + 3u),
    );
}

fn add_row(state: State, found: Row) -> State {
    return State(
        acc_add(state.a, found.a),
        acc_add(state.b, found.b),
        acc_add(state.c, found.c),
        acc_add(state.d, found.d),
    );
}

fn store_result(id: u32, column: u32, state: State) {
    let block = params.result_base / BLOCK + 4u * (id * params.columns + column);
    result[block] = store_words(acc_pack(state.a));
    result[block + 1u] = store_words(acc_pack(state.b));
    result[block + 2u] = store_words(acc_pack(state.c));
    result[block + 3u] = store_words(acc_pack(state.d));
}

fn store_carry(entry: u32, column: u32, state: State) {
    let block = params.carry_base / BLOCK + 4u * (entry * params.columns + column);
    carry[block] = store_words(acc_pack(state.a));
    carry[block + 1u] = store_words(acc_pack(state.b));
    carry[block + 2u] = store_words(acc_pack(state.c));
    carry[block + 3u] = store_words(acc_pack(state.d));
}
