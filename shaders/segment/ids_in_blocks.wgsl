// Ids bound as blocks of four words.
@group(0) @binding(3) var<storage, read> ids: array<vec4<u32>>;

fn id_word(at: u32) -> u32 {
    return ids[at / 4u][at % 4u];
}

// The low words of the ids of eight rows, counted from the first one of this launch. They begin a block.
fn eight_ids(row: u32) -> array<u32, 8> {
    let block = (params.ids_base + row) * params.id_words / 4u;
    var a = ids[block];
    var b = ids[block + 1u];
    if params.id_words == 2u {
        let c = ids[block + 2u];
        let d = ids[block + 3u];
        a = vec4<u32>(a.xz, b.xz);
        b = vec4<u32>(c.xz, d.xz);
    }
    a -= vec4<u32>(params.first_segment);
    b -= vec4<u32>(params.first_segment);
    return array<u32, 8>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}
