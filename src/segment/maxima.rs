//! `shaders/segment/blocks.wgsl` and `shaders/segment/elements.wgsl`: the maxima of segments whose ids
//! ascend, for rows of whole blocks and of any length.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::cast_slice;

use super::chunks::{self, Part, Visit, all_columns};
use super::params::Params;
use super::rows::{Carried, Form, Maxima, Packed};
use super::{argmax, column};
use crate::plan::{Call, Flags, Kernel, Shader};
use crate::tensor::ElementType;
use crate::tensor::key::{KeyOrder, Lane, with_order};
use crate::vector::{self, Elements, Loop, dispatch};

/// The maxima of ascending segments, block by block.
pub(super) static BLOCKS: Kernel =
    Kernel::new::<Params>("segment_blocks", "segment/blocks", run_blocks).flags(&["small_ids"]);

/// The maxima of ascending segments, element by element, or with `argmax` their rows: among all rows,
/// or among candidates that earlier launches carried.
pub(super) static ELEMENTS: Kernel =
    Kernel::new::<Params>("segment_elements", "segment/elements", run_elements)
        .constants(&[("RUN", |shader| run_rows(shader.element, shader.is("argmax")))])
        .flags(&["from_carry", "single", "argmax", "small_ids"])
        .only(has);

/// Rows of a tile for each invocation: as many as workgroup memory holds.
pub(super) const fn run_rows(element: ElementType, argmax: bool) -> u64 {
    match (argmax, element.size()) {
        (false, 8) | (true, ..8) => 3,
        (false, _) => 5,
        (true, _) => 1,
    }
}

/// Whether results are items first, because several elements share a word.
pub(super) const fn is_packed(element: ElementType) -> bool {
    element.size() < 4
}

/// Whether a variant exists. `from_carry` is for packed elements and candidates: a carry list of other
/// elements is read like rows. The ids of a carry list have one word.
fn has(element: ElementType, flags: Flags) -> bool {
    flags & 1 == 0 || flags & 8 == 0 && (is_packed(element) || flags & 4 > 0)
}

pub(crate) fn run_blocks(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    with_order!(shader.element, p.ranking, order => run(Elements(order), call));
}

pub(crate) fn run_elements(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    with_order!(shader.element, p.ranking, order => match shader.is("argmax") {
        true => argmax::rows(order, call),
        false => elements(order, shader.is("from_carry"), call),
    });
}

fn elements<O: KeyOrder>(order: O, from_carry: bool, call: Call<'_, '_>) {
    // A constant, so that no unused loops are compiled.
    if const { size_of::<O::Key>() >= 4 } {
        run(Elements(order), call);
    } else if from_carry {
        run(Carried::<O::Key>(PhantomData), call);
    } else {
        run(Packed(order), call);
    }
}

fn run<F: Form>(form: F, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let source = &cast_slice(call.sources[0])[p.base as usize..];
    chunks::run(&Maxima { source, inner: p.inner as usize, form }, call);
}

/// From this many bytes of a row on, the rows of a segment are read in several streams. On an AMD EPYC
/// rows of 256 bytes take 2.3 times as long that way, and rows of 2 KiB two thirds.
const MIN_STREAM: usize = 1024;

/// Maximum columns of a row that is read as so many, with elements of the next rows: loops over its columns would be
/// too short.
const NARROW: usize = 8;

impl<F: Form> Visit for Maxima<'_, F> {
    type State = F::Lane;
    type Result = F::Result;
    type Carry = F::Carry;

    #[inline(always)]
    fn nothing(&self) -> F::Lane {
        F::Lane::LOWEST
    }

    #[inline(always)]
    fn state_count(&self, columns: usize) -> usize {
        columns.max(NARROW)
    }

    #[inline(always)]
    fn add_rows(&self, states: &mut [F::Lane], rows: Range<usize>) {
        if self.inner <= NARROW
            && let Some(states) = states.first_chunk_mut::<NARROW>()
        {
            let mut keys = *states;
            for row in rows {
                let items = &self.source[row * self.inner..];
                match items.first_chunk::<NARROW>() {
                    Some(items) => vector::merge(self.form, &mut keys, items),
                    None => vector::merge(self.form, &mut keys, &items[..self.inner]),
                }
            }
            *states = keys;
            return;
        }
        let row = |i: usize| self.rows(rows.start + i..rows.start + i + 1);
        let order = match self.inner * size_of::<F::Item>() < MIN_STREAM {
            true => vector::RowOrder::Neighbours,
            false => vector::RowOrder::Streams,
        };
        vector::merge_rows(self.form, states, rows.len(), order, row);
    }

    #[inline(always)]
    fn result(&self, state: F::Lane) -> F::Result {
        self.form.result(state)
    }

    #[inline(always)]
    fn carry(&self, state: F::Lane) -> F::Carry {
        self.form.carry(state)
    }

    fn visit(&self, p: &Params, ids: &[u32], part: Part<'_, F::Result, F::Carry>) {
        dispatch(VisitPart(p, self, ids, part));
    }
}

struct VisitPart<'a, 'b, F: Form>(
    &'a Params,
    &'a Maxima<'a, F>,
    &'a [u32],
    Part<'b, F::Result, F::Carry>,
);

impl<F: Form> Loop for VisitPart<'_, '_, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(p, maxima, ids, part) = self;
        match maxima.inner {
            1 => column::visit(p, maxima, ids, part),
            _ => all_columns(p, maxima, ids, part),
        }
    }
}
