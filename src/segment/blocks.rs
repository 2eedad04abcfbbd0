//! `shaders/segment/blocks.wgsl`: the maxima of segments of rows of whole blocks.

use bytemuck::cast_slice;

use super::chunks;
use super::params::Params;
use super::rows::Maxima;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{KeyOrder, with_order};
use crate::vector::Elements;

/// The maxima of ascending segments, block by block.
pub(super) static BLOCKS: Kernel =
    Kernel::new::<Params>("segment_blocks", "segment/blocks", run).flags(&["small_ids"]);

pub(crate) fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    with_order!(shader.element, p.ranking, order => maxima(order, call));
}

fn maxima(order: impl KeyOrder, call: Call<'_, '_>) {
    let (p, elements) = (call.params(), Elements(order));
    let source = cast_slice(call.sources[0]);
    chunks::run(&Maxima::new(p, source, elements, elements, elements), call);
}
