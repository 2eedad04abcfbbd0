//! Operators that store values at positions, for tensors larger than a piece. Positions are found
//! in pieces, and one thread of the host stores the values.

use super::options::Reporter;
use super::run_views;
use crate::base::error::Result;
use crate::device::Device;
use crate::operator::Operator;
use crate::tensor::{Tensor, TensorDesc, TensorView};

/// Whether an operator stores values at positions.
pub(super) const fn stores_by_position(operator: &Operator) -> bool {
    matches!(
        operator,
        Operator::ReduceMaxBackward(_)
            | Operator::SegmentMaxBackward(_)
            | Operator::ScatterMaxBackward(_)
            | Operator::MaxUnpool(_)
    )
}

/// Runs such an operator. `others` are the inputs after the first one.
pub(super) async fn run(
    operator: &Operator,
    device: &Device,
    inputs: &[&TensorView],
    others: &[Tensor],
    (max_piece, progress): (Option<u64>, &Reporter),
    wait: bool,
) -> Result<Vec<Tensor>> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let results = operator.infer(&descs)?;
    let result = &results[0];
    let Some(last) = others.last() else { return Ok(Vec::new()) };
    let first = || inputs[0].to_tensor();
    // The operator that finds positions, and how many of the inputs it takes.
    let (forward, places) = match operator {
        Operator::ReduceMaxBackward(op) => {
            // Sets of empty data have no positions.
            if result.is_empty() {
                return Ok(vec![Tensor::filled(result.clone(), |_| ())?]);
            }
            let forward = op.forward(result);
            (forward.map(|forward| (Operator::from(forward), 1)), vec![op.places(result)?])
        }
        Operator::SegmentMaxBackward(op) => {
            let forward = (inputs.len() > 2).then(|| op.forward(result, last.desc()));
            let places = op.places(result, last.desc());
            (forward.map(|forward| (Operator::from(forward), 2)), vec![places])
        }
        Operator::ScatterMaxBackward(op) => {
            let forward = match descs[..] {
                [data, indices, updates, _] => Some(op.forward([data, indices, updates])?),
                _ => None,
            };
            let places = op.places(&descs)?.into();
            (forward.map(|forward| (Operator::from(forward), 3)), places)
        }
        Operator::MaxUnpool(op) => {
            return Ok(vec![op.places(result).store(&first()?, last, result)?]);
        }
        _ => return Ok(Vec::new()),
    };
    let positions = match forward {
        None => first()?,
        Some((forward, count)) => {
            let found =
                Box::pin(run_views(&forward, device, &inputs[..count], max_piece, progress, wait));
            let mut found = found.await?;
            found.swap_remove(found.len() - 1)
        }
    };
    let stored = places.iter().zip(&results);
    stored.map(|(places, result)| places.store(last, &positions, result)).collect()
}
