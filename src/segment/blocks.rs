//! `shaders/segment/blocks.wgsl`: the maxima of segments of rows of whole blocks.

use bytemuck::cast_slice;

use super::chunks;
use super::maxima::Maxima;
use super::params::Params;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{Key, Keyed, with_keyed};
use crate::vector::Elements;

/// The maxima of ascending segments, block by block.
pub(super) static BLOCKS: Kernel = Kernel::new("segment_blocks", "segment/blocks", run);

pub(crate) fn run(shader: &Shader, call: Call<'_, '_>) {
    with_keyed!(shader.element, T => maxima::<T>(call));
}

fn maxima<T: Keyed>(call: Call<'_, '_>) {
    let p: &Params = call.params();
    let elements = Elements::<T> { nan: T::Key::nan(p.nan_key) };
    let source = cast_slice(call.sources[0]);
    chunks::run(&Maxima::new(p, source, elements, elements, elements), call);
}
