// The result is positions, for a later launch.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

fn finish(number: u32, slot: Slot, state: State) {
    for (var i = 0u; i < GROUP; i++) {
        if slot.wanted[i] {
            result[params.result_base + slot.number[i]] = state.at[i];
        }
    }
}
