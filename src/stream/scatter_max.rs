//! ScatterMax for tensors larger than a piece: the updates are rows of a SegmentMax, which runs in
//! pieces, and the host joins their maxima with the data.

use super::combine::{Assembled, Positions, bits, exceeds};
use super::options::Reporter;
use super::run_views;
use crate::base::error::{Error, Result};
use crate::device::Device;
use crate::operator::Operator;
use crate::segment::{ScatterMax, Scattered, SegmentMax};
use crate::tensor::key::{KeyOrder, Ranking, with_order};
use crate::tensor::{ElementType, Indices, Tensor, TensorView, memory};

/// Runs the operator. `others` are its indices, which have been checked, and its updates.
pub(super) async fn run(
    operator: &ScatterMax,
    device: &Device,
    data: &TensorView,
    others: &[Tensor],
    (max_piece, progress): (Option<u64>, &Reporter),
    wait: bool,
) -> Result<Vec<Tensor>> {
    let [indices, updates] = others else {
        return Err(Error::input_count(operator.name(), 3, 1 + others.len()));
    };
    let inputs = [data.desc(), indices.desc(), updates.desc()];
    let (outputs, scattered) = (operator.infer(inputs)?, operator.resolve(inputs)?);
    let (rows, inner) = (scattered.rows as usize, scattered.inner as usize);
    let parts = scattered.parts_of_rows(indices)?;
    let ids = Tensor::from_slice([rows], &parts)?;
    let segments = SegmentMax::unsorted()
        .num_segments(scattered.parts as usize)
        .extremum(operator.extremum)
        .nan(operator.nan)
        .indices(operator.indices.map(|_| Indices::new(ElementType::I64)));
    let rows: [TensorView; 2] = [(&updates.reshape([rows, inner])?).into(), (&ids).into()];
    let rows: Vec<&TensorView> = rows.iter().collect();
    let segments = Operator::from(segments);
    let found = Box::pin(run_views(&segments, device, &rows, max_piece, progress, wait)).await?;

    let mut values = Assembled::zeroed(&outputs[0])?;
    let mut positions = operator.indices.map(|_| Positions::none(&outputs[1])).transpose()?;
    let data = data.to_tensor()?;
    let t = data.element_type();
    let join = Join { operator, scattered: &scattered, parts: &parts, found: &found };
    with_order!(t, Ranking::new(t, operator.nan, operator.extremum), order => {
        join.all(order, bits(&data), values.bits_mut(), positions.as_mut().map(|p| &mut p.at[..]))?;
    });
    let mut results = vec![values.finish()?];
    results.extend(positions.map(Positions::finish).transpose()?);
    if operator.status {
        // Indices on the host are checked before the run, so nothing is wrong with them.
        results.push(Tensor::from_slice([2], &[0u32, 0])?);
    }
    Ok(results)
}

/// The maxima of the rows of each part, and where the rows go.
struct Join<'a> {
    operator: &'a ScatterMax,
    scattered: &'a Scattered,
    parts: &'a [i64],
    found: &'a [Tensor],
}

impl Join<'_> {
    fn all<O: KeyOrder>(
        &self,
        order: O,
        data: &[O::Key],
        values: &mut [O::Key],
        mut positions: Option<&mut [u64]>,
    ) -> Result<()> {
        let inner = self.scattered.inner as usize;
        let mut reached = memory::repeated(false, self.scattered.parts as usize)?;
        self.parts.iter().for_each(|&part| reached[part as usize] = true);
        let maxima = bits::<O::Key>(&self.found[0]);
        for (i, (value, (&own, &maximum))) in
            values.iter_mut().zip(data.iter().zip(maxima)).enumerate()
        {
            *value = match (reached[i / inner], self.operator.include_data, &mut positions) {
                (false, ..) => own,
                (_, true, None) => order.bits(order.key(own).max(order.key(maximum))),
                (_, true, Some(_)) if !exceeds(order, maximum, own) => order.bits(order.key(own)),
                (_, _, None) => maximum,
                (_, _, Some(positions)) => {
                    let rows: &[i64] = bytemuck::cast_slice(self.found[1].bytes());
                    let along = self.scattered.positions;
                    positions[i] = rows[i] as u64 / along.pitch % along.size;
                    maximum
                }
            };
        }
        Ok(())
    }
}
