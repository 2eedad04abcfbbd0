// The maximum of columns: an invocation owns a tile of neighbouring blocks (16 bytes) of them,
// and reads a few rows at once, block by block. Every matrix, every row and the results begin
// with a block. The CPU kernel is that of reduce/columns.
import package::common::block::{Acc, BLOCK, acc_add, acc_pack};
import package::common::element::element_words;
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_block;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = invocation_number(at);
    let pitch = params.width / BLOCK;
    let tiles = (pitch + params.tile - 1u) / params.tile;
    let unit = number / tiles;
    if unit >= params.outputs / params.width {
        return;
    }
    let begin = (number % tiles) * params.tile;
    let end = min(begin + params.tile, pitch);
    let matrix = (params.base + (unit / params.splits) * params.len) / BLOCK;
    let first = matrix + (unit % params.splits) * params.chunk * pitch;
    // Rows past the last one of the piece are clamped to it, which changes no maximum. The last
    // row of the matrix may overlap the one before.
    let last = min(
        first + (params.chunk - 1u) * pitch,
        matrix + (params.len - params.width) / BLOCK,
    );
    let target_block = params.result_base / BLOCK + unit * pitch;
    for (var column = begin; column < end; column++) {
        var acc = Acc();
        var place = first;
        var row = 0u;
        loop {
            let w0 = source_block(min(place, last) + column);
            let w1 = source_block(min(place + pitch, last) + column);
            let w2 = source_block(min(place + 2u * pitch, last) + column);
            let w3 = source_block(min(place + 3u * pitch, last) + column);
            let w4 = source_block(min(place + 4u * pitch, last) + column);
            let w5 = source_block(min(place + 5u * pitch, last) + column);
            let w6 = source_block(min(place + 6u * pitch, last) + column);
            let w7 = source_block(min(place + 7u * pitch, last) + column);
            acc = acc_add(acc_add(acc_add(acc_add(acc, w0), w1), w2), w3);
            acc = acc_add(acc_add(acc_add(acc_add(acc, w4), w5), w6), w7);
            place += 8u * pitch;
            row += 8u;

            // Tested at the end, as in short_rows.
            continuing {
                break if row >= params.chunk;
            }
        }
        result[target_block + column] = element_words(acc_pack(acc));
    }
}
