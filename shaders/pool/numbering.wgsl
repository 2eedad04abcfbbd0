// Turns positions of elements into indices, and stores them.
import kernel::indices;
import package::common::divide::quotient;
import generated::params;

// Stores the index of the element at a distance from the first plane's first element.
fn store_index(place: u32, distance: u32) {
    var from_offset = distance;
    if params.numbering.columns > 0u {
        from_offset = in_column_order(distance);
    }
    let offset_low = params.numbering.offset_low;
    let modulus_low = params.numbering.modulus_low;
    let modulus_high = params.numbering.modulus_high;
    var low: u32;
    var high: u32;
    if modulus_high == 0u && modulus_low > 0u {
        from_offset -= quotient(from_offset, params.numbering.by_modulus) * modulus_low;
        let left = modulus_low - offset_low;
        low = select(offset_low + from_offset, from_offset - left, from_offset >= left);
    } else {
        low = offset_low + from_offset;
        high = params.numbering.offset_high + select(0u, 1u, low < from_offset);
        let over = (high > modulus_high) | ((high == modulus_high) & (low >= modulus_low));
        let wraps = over & (modulus_high > 0u);
        high -= select(0u, modulus_high + select(0u, 1u, low < modulus_low), wraps);
        low -= select(0u, modulus_low, wraps);
    }
    indices[place * params.numbering.index_words] = low;
    if params.numbering.index_words == 2u {
        indices[place * 2u + 1u] = high;
    }
}

// Within each plane the first spatial axis becomes the fastest.
fn in_column_order(distance: u32) -> u32 {
    var rest = distance % params.numbering.plane_pitch;
    let plane = distance - rest;
    // From the last axis, whose places are farthest apart, to the first.
    var weight = params.numbering.plane_pitch;
    var index = 0u;
    for (var i = params.numbering.columns; i > 0u; i--) {
        let size = params.numbering.sizes[(i - 1u) / 4u][(i - 1u) % 4u];
        weight /= size;
        index += (rest % size) * weight;
        rest /= size;
    }
    return plane + index;
}
