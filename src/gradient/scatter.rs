//! `shaders/gradient/scatter.wgsl` and `shaders/gradient/claim.wgsl`: store values at positions.

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use super::params::Params;
use crate::base::threads::{self, CHUNK_LEN};
use crate::plan::{Call, Kernel, Shader};

/// Stores values at elements that no other value has.
pub(super) static SCATTER: Kernel =
    Kernel::new::<Params>("gradient_scatter", "gradient/scatter", scatter)
        .only(|t, _| t.is_float());

/// Stores the values of winners. It has one variant, with the same text.
pub(super) static UNPOOL: Kernel =
    Kernel::new::<Params>("unpool_scatter", "gradient/scatter", scatter)
        .flags(&["unpooled"])
        .only(|t, flags| t.is_float() && flags == 1);

/// Finds the last item of each element.
pub(super) static CLAIM: Kernel =
    Kernel::new::<Params>("unpool_claim", "gradient/claim", claim).untyped();

fn scatter(shader: &Shader, call: Call<'_, '_>) {
    match shader.element.size() {
        2 => values::<u16>(call),
        4 => values::<u32>(call),
        _ => values::<u64>(call),
    }
}

fn values<T: Pod + Send + Sync>(call: Call<'_, '_>) {
    let p: &Params = call.params();
    let values: &[T] = cast_slice(call.sources[0]);
    let indices: &[u32] = cast_slice(call.sources[1]);
    let winners: Option<&[u32]> = call.sources.get(2).map(|&winners| cast_slice(winners));
    let result: &mut [T] = cast_slice_mut(call.results[0]);
    let result = &mut result[p.result_base as usize..];
    let result = &mut result[..p.elements as usize];
    let values = &values[p.value_base as usize..];
    let (parts, items, elements) = p.parts();
    let some_parts = CHUNK_LEN.div_ceil(items.max(1)).min(parts);
    threads::each_chunk(result, some_parts * elements, |chunk, result| {
        let (first, begin) = (chunk * some_parts * items, chunk * some_parts * elements);
        let count = if parts == 1 { items } else { result.len() / elements * items };
        for (item, &value) in values.iter().enumerate().skip(first).take(count) {
            let Some(element) = p.element(item, indices) else { continue };
            let winner = |winners: &[u32]| winners[p.winner_base as usize + element];
            if winners.is_none_or(|winners| winner(winners) == p.first + item as u32 + 1) {
                result[element - begin] = value;
            }
        }
    });
}

fn claim(_: &Shader, mut call: Call<'_, '_>) {
    let p: &Params = call.params();
    let (indices, winners): (&[u32], &mut [u32]) = call.one();
    for item in 0..p.items as usize {
        if let Some(element) = p.element(item, indices) {
            let winner = &mut winners[p.winner_base as usize + element];
            let number = p.first + item as u32 + 1;
            *winner = (*winner).max(number);
        }
    }
}
