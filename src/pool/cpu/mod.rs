//! The CPU kernels of this module. The shaders differ in how they read, not in what they write:
//! here all use the same loops, over some lines of results at a time. The rows that the windows of
//! a line cover are merged place by place; then windows along the line are computed. Small planes
//! have a path of their own.

mod adapters;
mod along;
mod lines;
mod planes;
mod pyramid;
mod rows;
mod runs;
mod store;

use bytemuck::{cast_slice, cast_slice_mut};

use super::params::{Numbering, Params, Windows};
use crate::plan::{Call, Placement, Shader, first_params};
use crate::tensor::ElementType;
use crate::tensor::key::{Key, KeyOrder, Ranking, with_order};
use crate::vector::Elements;
use adapters::{Candidates, Indices, Located, Maxima, Output, Positions};
pub(super) use pyramid::run as run_levels;

/// Accepts views whose axes have a pitch each and whose lines have no gaps.
pub(super) fn reads_in_place(shader: &Shader, params: &[u32], view: &Placement) -> bool {
    let p: &Params = first_params(params);
    !shader.is("indices") && p.windows.placed(view).is_some()
}

/// The maxima of windows, or their positions. Parameters begin with those of all pools; with
/// indices, a numbering follows.
pub(crate) fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = first_params(call.params);
    match shader.is("indices") {
        true => {
            let n: &Numbering = first_params(&call.params[size_of::<Params>() / 4..]);
            with_order!(shader.element, p.ranking, order => find(order, p, n, call));
        }
        false => {
            let placed = call.view.and_then(|view| p.windows.placed(view));
            let p = &Params { windows: placed.unwrap_or(p.windows), ..*p };
            with_order!(shader.element, p.ranking, order => maxima(order, p, call));
        }
    }
}

/// The positions in a source of the maxima of windows; [`u32::MAX`] for a window without elements.
pub(crate) fn find_positions(
    element: ElementType,
    ranking: Ranking,
    windows: &Windows,
    source: &[u8],
    positions: &mut [u32],
) {
    with_order!(element, ranking, order => {
        let out = Positions { out: positions, order };
        lines::run(windows, Located(order), cast_slice(source), out);
    });
}

fn maxima<O: KeyOrder>(order: O, p: &Params, mut call: Call<'_, '_>) {
    let (source, result) = call.one::<O::Key>();
    let out = &mut result[p.result_base as usize..][..p.windows.outputs as usize];
    if planes::run(order, &p.windows, source, out) {
        return;
    }
    let empty = p.empty_key();
    lines::run(&p.windows, Elements(order), source, Maxima { out, order, empty });
}

/// Pools with positions: the elements found and their indices, or positions for a later launch.
fn find<O: KeyOrder>(order: O, p: &Params, n: &Numbering, call: Call<'_, '_>) {
    let outputs = p.windows.outputs as usize;
    let source = cast_slice(call.sources[0]);
    let earlier = call.sources.get(1).map(|bytes| cast_slice(bytes));
    match call.results {
        [values, indices] => {
            let words = n.index_words as usize;
            let values: &mut [O::Key] = cast_slice_mut(values);
            let values = &mut values[p.result_base as usize..][..outputs];
            let indices: &mut [u32] = cast_slice_mut(indices);
            let indices = &mut indices[n.index_base as usize * words..][..outputs * words];
            let out = Indices::new(order, n, p.empty_key(), source, (values, indices));
            search(order, p, source, earlier, out);
        }
        results => {
            let Some(result) = results.first_mut() else { return };
            let result: &mut [u32] = cast_slice_mut(result);
            let out = &mut result[p.result_base as usize..][..outputs];
            search(order, p, source, earlier, Positions { out, order });
        }
    }
}

/// Compares the elements of the source, or those at positions that an earlier launch found.
fn search<O: KeyOrder>(
    order: O,
    p: &Params,
    source: &[O::Key],
    earlier: Option<&[u32]>,
    out: impl Output<Lane = <O::Key as Key>::Found>,
) {
    match earlier {
        None => lines::run(&p.windows, Located(order), source, out),
        Some(positions) => lines::run(&p.windows, Candidates(order, source), positions, out),
    }
}
