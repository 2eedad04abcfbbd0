// How positions of elements become indices, and where these are stored.
import kernel::{indices, params};
import package::common::divide::quotient;

// How positions become indices.
struct Numbering {
    // Words of an index, and where the first index goes, in indices.
    index_words: u32,
    index_base: u32,
    // The first plane's first element: its position in the source, and its index.
    plane_base: u32,
    offset_low: u32,
    offset_high: u32,
    // Where indices begin anew; 0 for nowhere.
    modulus_low: u32,
    modulus_high: u32,
    // A window without elements has the position of the first element of its plane and channel:
    // `plane_outputs` results are a plane, which begins `plane_pitch` elements behind the one
    // before, and `channels` are interleaved. The first result has the channel `first_channel`.
    plane_outputs: u32,
    plane_pitch: u32,
    channels: u32,
    first_channel: u32,
    // Column-major order: how many spatial axes there are, else 0; and their sizes.
    columns: u32,
    sizes: array<vec4<u32>, 2>,
    // Divisors: the results of a plane, the channels and the modulus.
    by_plane: vec4<u32>,
    by_channels: vec4<u32>,
    by_modulus: vec4<u32>,
}

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
        let over = high > modulus_high || (high == modulus_high && low >= modulus_low);
        if over && modulus_high > 0u {
            high -= modulus_high + select(0u, 1u, low < modulus_low);
            low -= modulus_low;
        }
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
