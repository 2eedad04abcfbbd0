// The maximum of columns, an invocation a strip of neighbouring blocks (16 bytes) of them, for
// adapters whose invocations share no fetches: each walks along a few rows at once, block by
// block. Every matrix, every row and the results begin a block.
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let pitch = params.width / BLOCK;
    let strips = (pitch + params.strip - 1u) / params.strip;
    let unit = number / strips;
    if unit >= params.outputs / params.width {
        return;
    }
    let begin = (number % strips) * params.strip;
    let end = min(begin + params.strip, pitch);
    let matrix = (params.base + (unit / params.splits) * params.len) / BLOCK;
    let first = matrix + (unit % params.splits) * params.chunk * pitch;
    // Rows past the last one of the piece are clamped to it, which changes no maximum. The last
    // row of the matrix may overlap the one before.
    let last = min(first + (params.chunk - 1u) * pitch, matrix + (params.len - params.width) / BLOCK);
    let target_block = params.result_base * PER_WORD / BLOCK + unit * pitch;
    for (var column = begin; column < end; column++) {
        var acc = Acc();
        var at = first;
        var row = 0u;
        loop {
            let w0 = source_block(min(at, last) + column);
            let w1 = source_block(min(at + pitch, last) + column);
            let w2 = source_block(min(at + 2u * pitch, last) + column);
            let w3 = source_block(min(at + 3u * pitch, last) + column);
            let w4 = source_block(min(at + 4u * pitch, last) + column);
            let w5 = source_block(min(at + 5u * pitch, last) + column);
            let w6 = source_block(min(at + 6u * pitch, last) + column);
            let w7 = source_block(min(at + 7u * pitch, last) + column);
            acc = acc_add(acc_add(acc_add(acc_add(acc, w0), w1), w2), w3);
            acc = acc_add(acc_add(acc_add(acc_add(acc, w4), w5), w6), w7);
            at += 8u * pitch;
            row += 8u;

            // Asked at the end, as in reduce_short.
            continuing {
                break if row >= params.chunk;
            }
        }
        result[target_block + column] = store_words(acc_pack(acc));
    }
}
