//! `shaders/segment/blocks.wgsl` and `shaders/segment/elements.wgsl`: the maxima of segments whose ids
//! ascend, of rows of whole blocks and of any length.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::{Pod, cast_slice};

use super::chunks::{self, Part, Visit, all_columns};
use super::params::Params;
use super::{argmax, column};
use crate::plan::{Call, Flags, Kernel, Shader};
use crate::tensor::ElementType;
use crate::tensor::key::{Key, KeyOrder, Lane, with_order};
use crate::vector::{self, Elements, Load, Loop, Store, dispatch};

/// The maxima of ascending segments, block by block.
pub(super) static BLOCKS: Kernel =
    Kernel::new::<Params>("segment_blocks", "segment/blocks", run_blocks).flags(&["small_ids"]);

/// The maxima of ascending segments, element by element, or with `argmax` their rows: among all rows,
/// or among what earlier launches carried.
pub(super) static ELEMENTS: Kernel =
    Kernel::new::<Params>("segment_elements", "segment/elements", run_elements)
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
    // A constant, so that no order has loops that it does not need.
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

/// How rows are read, and what the result and the carry list hold of their maxima.
pub(super) trait Form: Load<Lane: Key> {
    type Result: Pod + Send;
    type Carry: Pod + Send;
    fn result(self, key: Self::Lane) -> Self::Result;
    fn carry(self, key: Self::Lane) -> Self::Carry;
}

impl<O: KeyOrder> Form for Elements<O> {
    type Result = O::Key;
    type Carry = O::Key;
    #[inline(always)]
    fn result(self, key: O::Key) -> O::Key {
        self.store(key)
    }
    #[inline(always)]
    fn carry(self, key: O::Key) -> O::Key {
        self.store(key)
    }
}

/// Packed elements, whose maxima become items: a key in a word, and its mark. The carry list holds
/// the keys.
#[derive(Clone, Copy)]
struct Packed<O>(O);

impl<O: KeyOrder> Load for Packed<O> {
    type Item = O::Key;
    type Lane = O::Key;
    #[inline(always)]
    fn load(self, item: O::Key, _: u32) -> O::Key {
        self.0.key(item)
    }
}

impl<O: KeyOrder> Form for Packed<O> {
    type Result = [u32; 2];
    type Carry = u32;
    #[inline(always)]
    fn result(self, key: O::Key) -> [u32; 2] {
        [words(key)[0], 1]
    }
    #[inline(always)]
    fn carry(self, key: O::Key) -> u32 {
        words(key)[0]
    }
}

/// The same from the carry list.
#[derive(Clone, Copy)]
struct Carried<K>(PhantomData<K>);

impl<K: Key> Load for Carried<K> {
    type Item = u32;
    type Lane = K;
    #[inline(always)]
    fn load(self, item: u32, _: u32) -> K {
        K::from_words(item, 0)
    }
}

impl<K: Key> Form for Carried<K> {
    type Result = [u32; 2];
    type Carry = u32;
    #[inline(always)]
    fn result(self, key: K) -> [u32; 2] {
        [words(key)[0], 1]
    }
    #[inline(always)]
    fn carry(self, key: K) -> u32 {
        words(key)[0]
    }
}

/// A key as its words, the low one first.
#[inline(always)]
pub(super) fn words<K: Key>(key: K) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes[..size_of::<K>()].copy_from_slice(bytemuck::bytes_of(&key));
    bytemuck::cast(bytes)
}

/// Rows, and how they are read and their maxima stored.
pub(super) struct Maxima<'a, F: Form> {
    source: &'a [F::Item],
    inner: usize,
    pub form: F,
}

impl<F: Form> Maxima<'_, F> {
    /// The elements of some rows.
    #[inline(always)]
    pub(super) fn rows(&self, rows: Range<usize>) -> &[F::Item] {
        &self.source[rows.start * self.inner..rows.end * self.inner]
    }
}

/// Bytes of a row from which on the rows of a segment are read in several streams. On an AMD EPYC rows
/// of 256 bytes take 2.3 times as long so, and rows of 2 KiB two thirds.
const MIN_STREAM: usize = 1024;

impl<F: Form> Visit for Maxima<'_, F> {
    type State = F::Lane;
    type Result = F::Result;
    type Carry = F::Carry;

    #[inline(always)]
    fn nothing(&self) -> F::Lane {
        F::Lane::LOWEST
    }

    #[inline(always)]
    fn add_rows(&self, states: &mut [F::Lane], rows: Range<usize>) {
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
