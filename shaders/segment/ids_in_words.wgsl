@group(0) @binding(3) var<storage, read> ids: array<u32>;

fn id_word(at: u32) -> u32 {
    return ids[at];
}
