//! `shaders/segment/elements.wgsl`: the maxima of segments of rows of any length.

use std::marker::PhantomData;

use bytemuck::cast_slice;

use super::argmax;
use super::chunks;
use super::params::Params;
use super::rows::{Items, Maxima, Words};
use crate::plan::{Call, Flags, Kernel, Shader};
use crate::tensor::ElementType;
use crate::tensor::key::{KeyOrder, with_order};
use crate::vector::Elements;

/// The maxima of ascending segments, element by element, or with `argmax` their rows: among all rows,
/// or among what earlier launches carried.
pub(super) static ELEMENTS: Kernel =
    Kernel::new::<Params>("segment_elements", "segment/elements", run)
        .constants(&[("RUN", |shader| run_rows(shader.element, shader.is("argmax")))])
        .flags(&["from_carry", "single", "argmax", "small_ids"])
        .only(has);

/// Rows of a tile that an invocation looks at: as many as workgroup memory holds.
pub(super) const fn run_rows(element: ElementType, argmax: bool) -> u64 {
    match (argmax, element.size()) {
        (false, 8) | (true, ..8) => 3,
        (false, _) => 5,
        (true, _) => 1,
    }
}

/// Whether results go by way of items: several elements share a word.
pub(super) const fn is_packed(element: ElementType) -> bool {
    element.size() < 4
}

/// The carry list of other elements than packed ones holds elements, which are read as the rows, or
/// candidates. Its ids have one word.
fn has(element: ElementType, flags: Flags) -> bool {
    flags & 1 == 0 || flags & 8 == 0 && (is_packed(element) || flags & 4 > 0)
}

pub(crate) fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    if shader.is("argmax") {
        return with_order!(shader.element, p.ranking, order => argmax::rows(order, call));
    }
    let from_carry = shader.is("from_carry");
    with_order!(shader.element, p.ranking, order => maxima(order, from_carry, call));
}

fn maxima<O: KeyOrder>(order: O, from_carry: bool, call: Call<'_, '_>) {
    let (p, elements) = (call.params(), Elements(order));
    let (words, items) = (Words::<O::Key>(PhantomData), Items::<O::Key>(PhantomData));
    let source = call.sources[0];
    // A constant, so that no order has loops that it does not need.
    if const { size_of::<O::Key>() >= 4 } {
        chunks::run(&Maxima::new(p, cast_slice(source), elements, elements, elements), call);
    } else if from_carry {
        chunks::run(&Maxima::new(p, cast_slice(source), words, items, words), call);
    } else {
        chunks::run(&Maxima::new(p, cast_slice(source), elements, items, words), call);
    }
}
