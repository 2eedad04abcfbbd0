// Ids from offsets: the segment of each row, or NONE. An invocation finds that of
// the first row of its run, and then goes on from there. The source is offsets of
// one or two words, signed; the last of them ends the last segment.
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// Where a segment begins, as far as that is a row.
fn offset_of(segment: u32) -> u32 {
    let at = (params.ids_base + segment) * params.id_words;
    let low = offsets[at];
    let high = offsets[at + params.id_words - 1u];
    let negative = i32(high) < 0;
    let large = params.id_words == 2u && high != 0u;
    return select(select(low, 0x7fffffffu, large), 0u, negative);
}

// The last segment that begins at a row or before it; NONE if none does. Offsets
// that do not ascend end the search somewhere.
fn segment_of(row: u32) -> u32 {
    var low = 0u;
    var high = params.segments + 1u;
    while low < high {
        let middle = (low + high) / 2u;
        if offset_of(middle) <= row {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low - 1u;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    if number >= params.runs {
        return;
    }
    let begin = number * params.run;
    let end = min(begin + params.run, params.rows);
    var segment = segment_of(params.first_row + begin);
    for (var i = begin; i < end; i++) {
        let row = params.first_row + i;
        if segment == NONE || segment >= params.segments || row >= offset_of(segment + 1u) {
            segment = segment_of(row);
        }
        result[params.result_base + i] = select(NONE, segment, segment < params.segments);
    }
}
