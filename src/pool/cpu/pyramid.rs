//! Levels of a pyramid, one whole level after the other.

use bytemuck::{cast_slice, cast_slice_mut};

use super::adapters::Maxima;
use super::lines;
use crate::plan::{Call, Shader};
use crate::pool::params::PyramidParams;
use crate::tensor::key::{KeyOrder, Lane, with_order};
use crate::vector::Elements;

/// The maxima of each level, computed from the level above.
pub(in crate::pool) fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &PyramidParams = call.params();
    with_order!(shader.element, p.pool.ranking, order => levels(order, p, call));
}

fn levels<O: KeyOrder>(order: O, p: &PyramidParams, call: Call<'_, '_>) {
    let placed = call.view.and_then(|view| p.pool.windows.placed(view));
    let mut windows = placed.unwrap_or(p.pool.windows);
    let mut above = Vec::new();
    let all = &p.level[..p.levels as usize];
    for (i, level) in all.iter().enumerate() {
        let source: &[O::Key] = if i == 0 { cast_slice(call.sources[0]) } else { &above };
        let mut made = vec![O::Key::LOWEST; windows.outputs as usize];
        let (out, empty) = (&mut made[..], O::Key::LOWEST);
        lines::run(&windows, Elements(order), source, Maxima { out, order, empty });
        let (rows, columns) = (level.rows as usize, level.columns as usize);
        if let Some(result) = call.results.get_mut(level.result as usize) {
            let result: &mut [O::Key] = cast_slice_mut(result);
            for (number, line) in made.chunks(columns).enumerate() {
                let plane = number / rows * level.plane_pitch as usize;
                let row = number % rows * level.row_pitch as usize;
                let at = level.result_base as usize + plane + row;
                result[at..at + columns].copy_from_slice(line);
            }
        }
        if let Some(next) = all.get(i + 1) {
            windows = next.windows(level, windows.outputs);
        }
        above = made;
    }
}
