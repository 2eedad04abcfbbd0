// The results are the elements at the positions found, and their indices.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

fn finish(number: u32, slot: Slot, state: State) {
    let at = state.at;
    let known = at != vec4<u32>(NONE);
    let found = load_lanes(select(vec4<u32>(0u), at, known));
    let keys = select(lane_empty(), found, lane_mask(known));
    store_lanes(params.result_base / GROUP + number, keys, slot.wanted);
    for (var i = 0u; i < GROUP; i++) {
        if slot.wanted[i] {
            let n = slot.number[i];
            var distance = at[i] - params.plane_base;
            if !known[i] {
                let numbered = n + params.first_channel;
                let channel = numbered - quotient(numbered, params.by_channels) * params.channels;
                distance = quotient(n, params.by_plane) * params.plane_pitch + channel;
            }
            store_index(params.index_base + n, distance);
        }
    }
}

// The index of the element at a distance from the first plane's first element.
fn store_index(place: u32, distance: u32) {
    var from_offset = distance;
    if params.columns > 0u {
        from_offset = in_columns(distance);
    }
    var low: u32;
    var high: u32;
    if params.modulus_high == 0u && params.modulus_low > 0u {
        from_offset -= quotient(from_offset, params.by_modulus) * params.modulus_low;
        let room = params.modulus_low - params.offset_low;
        low = select(params.offset_low + from_offset, from_offset - room, from_offset >= room);
    } else {
        low = params.offset_low + from_offset;
        high = params.offset_high + select(0u, 1u, low < from_offset);
        let over = high > params.modulus_high || (high == params.modulus_high && low >= params.modulus_low);
        if over && params.modulus_high > 0u {
            high -= params.modulus_high + select(0u, 1u, low < params.modulus_low);
            low -= params.modulus_low;
        }
    }
    indices[place * params.index_words] = low;
    if params.index_words == 2u {
        indices[place * 2u + 1u] = high;
    }
}

// Within each plane the first spatial axis becomes the fastest.
fn in_columns(distance: u32) -> u32 {
    var rest = distance % params.plane_pitch;
    let plane = distance - rest;
    // From the last axis, whose places are farthest apart, to the first.
    var weight = params.plane_pitch;
    var index = 0u;
    for (var i = params.columns; i > 0u; i--) {
        let size = params.sizes[(i - 1u) / 4u][(i - 1u) % 4u];
        weight /= size;
        index += (rest % size) * weight;
        rest /= size;
    }
    return plane + index;
}
