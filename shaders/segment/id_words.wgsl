// The words of ids or offsets, for kernels that read nothing else.
@if(small_ids) import package::segment::ids::{small_id_word, widened};
import generated::params;

@group(0) @binding(1) var<storage, read> ids: array<u32>;

@if(small_ids)
fn low_word(id: u32) -> u32 {
    return widened(ids[small_id_word(id)], id);
}

@if(!small_ids)
fn low_word(id: u32) -> u32 {
    return ids[id * params.id_words];
}

// The same as the low word if there is only one.
@if(small_ids)
fn high_word(id: u32) -> u32 {
    return low_word(id);
}

@if(!small_ids)
fn high_word(id: u32) -> u32 {
    return ids[(id + 1u) * params.id_words - 1u];
}
