//! Operators on host tensors. Inputs larger than the device are streamed in pieces.
//!
//! Each operator implements [`Work`]: it splits itself into pieces, each an operator on a part of
//! the inputs, and combines their results. [`drive`] schedules pieces and knows no operator.

mod combine;
mod drive;
mod gradient;
mod options;
mod part;
mod pool;
mod reduce;
mod run;
mod scatter;
mod scatter_max;
mod segment;
#[cfg(test)]
mod tests;
mod window;

use std::borrow::Cow;
use std::iter;

pub use options::{Progress, RunOptions};
pub use run::{Input, Run};

use crate::base::error::{Error, Result};
use crate::device::Device;
use crate::operator::Operator;
use crate::plan::{Limits, Plan};
use crate::tensor::{Outputs, Tensor, TensorDesc, TensorView, View};
use crate::tuning::Tuning;
use drive::{Budget, OnDevice, drive};
use options::Reporter;

/// The maximum size of a piece in bytes. Positions within a piece are `i32`.
const MAX_PIECE: u64 = 1 << 30;

/// What pieces are planned for.
#[derive(Clone, Copy)]
struct Planning<'a> {
    limits: &'a Limits,
    tuning: &'a Tuning,
}

/// An operator on host tensors that is computed in pieces.
trait Work {
    /// A part of the work. It holds ranges of the inputs, not their elements.
    type Piece: Clone;

    /// All of the work as one piece; `None` if the results have no elements.
    fn whole(&self) -> Option<Self::Piece>;
    /// Splits a piece in two, in the order in which they are combined; `None` if it cannot be
    /// split.
    fn split(&self, piece: &Self::Piece) -> Option<[Self::Piece; 2]>;
    /// A lower bound of the bytes of a piece's inputs and results, known without a plan.
    fn min_bytes(&self, piece: &Self::Piece) -> u64;
    /// The plan of a piece.
    fn plan(&self, piece: &mut Self::Piece, planning: Planning<'_>) -> Result<Plan>;
    /// The bytes of a planned piece's inputs.
    fn inputs<'a>(&'a self, piece: &'a Self::Piece) -> Result<Vec<Cow<'a, [u8]>>>;
    /// Combines the results of a piece with the earlier ones. Called in the order of the pieces.
    fn combine(&mut self, piece: &Self::Piece, results: &[Tensor]) -> Result<()>;
    /// The results, after all pieces have been combined.
    fn finish(self) -> Result<Vec<Tensor>>;
}

/// Runs an operator on host tensors. `wait`: whether this may block until the device is done.
async fn run(
    operator: &Operator,
    device: &Device,
    inputs: &[Input<'_>],
    options: RunOptions,
    wait: bool,
) -> Result<Outputs<Tensor>> {
    let total = inputs.iter().map(|input| input.desc().byte_len() as u64);
    let progress = Reporter::new(options.progress, total.fold(0, u64::saturating_add));
    let found = run_reported(operator, device, inputs, options.max_piece, &progress, wait).await?;
    Ok(Outputs::of(operator.output_names(), found))
}

async fn run_reported(
    operator: &Operator,
    device: &Device,
    inputs: &[Input<'_>],
    max_piece: Option<u64>,
    progress: &Reporter,
    wait: bool,
) -> Result<Vec<Tensor>> {
    let tensors: Option<Vec<&Tensor>> = inputs.iter().map(|input| input.tensor()).collect();
    if device.is_cpu()
        && let Some(tensors) = tensors
    {
        // The CPU reads the tensors in place.
        let operator = operator.checked(&tensors)?;
        let descs: Vec<&TensorDesc> = tensors.iter().map(|input| input.desc()).collect();
        match operator.plan(&descs, &device.info().limits, device.tuning()) {
            Err(Error::OverLimit { .. }) => {}
            plan => return OnDevice::new(device, wait).run(&plan?, &tensors, progress).await,
        }
    }
    let views: Vec<Cow<'_, TensorView>> = inputs.iter().map(|input| input.view()).collect();
    let views: Vec<&TensorView> = views.iter().map(|view| &**view).collect();
    run_views(operator, device, &views, max_piece, progress, wait).await
}

/// Runs an operator on views. It takes their axes in memory order.
async fn run_views(
    operator: &Operator,
    device: &Device,
    inputs: &[&TensorView],
    max_piece: Option<u64>,
    progress: &Reporter,
    wait: bool,
) -> Result<Vec<Tensor>> {
    // The other inputs must be contiguous.
    let others = inputs.iter().skip(1).map(|ids| ids.to_tensor()).collect::<Result<Vec<_>>>()?;
    let operator = match inputs {
        [first, ..] => operator.checked_for(first.desc(), &others.iter().collect::<Vec<_>>())?,
        [] => operator.clone(),
    };
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let outputs = operator.infer(&descs)?;
    let bytes = descs.iter().copied().chain(&outputs).map(|desc| desc.byte_len() as u64);
    let bytes = bytes.fold(0, u64::saturating_add);
    let Some(ordered) = operator.in_memory_order(inputs[0].view(), false)? else {
        return run_checked(&operator, device, inputs, &others, bytes, (max_piece, progress), wait)
            .await;
    };
    let first = TensorView::new(inputs[0].memory(), ordered.first.clone())?;
    let read: Vec<&TensorView> = iter::once(&first).chain(inputs[1..].iter().copied()).collect();
    let found =
        run_checked(&ordered.operator, device, &read, &others, bytes, (max_piece, progress), wait)
            .await?;
    let placed = found
        .iter()
        .zip(&outputs)
        .map(|(found, desc)| found.scattered(desc, &ordered.result(&desc.into())?));
    placed.collect()
}

/// Runs an operator. Its ids and indices, `others`, have been checked. It runs as a whole if it
/// fits the device, otherwise in pieces.
async fn run_checked(
    operator: &Operator,
    device: &Device,
    inputs: &[&TensorView],
    others: &[Tensor],
    bytes: u64,
    (max_piece, progress): (Option<u64>, &Reporter),
    wait: bool,
) -> Result<Vec<Tensor>> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let (limits, runner) = (&device.info().limits, OnDevice::new(device, wait));
    let piece = max_piece.unwrap_or(RunOptions::DEFAULT_MAX_PIECE);
    let mut budget = Budget { piece, buffer: limits.max_buffer_size };
    if device.is_cpu() {
        let views: Vec<&View> = inputs.iter().map(|input| input.view()).collect();
        match operator.plan_views(&views, &[], limits, device.tuning()) {
            Err(Error::OverLimit { .. }) => {}
            plan => {
                let uploaded =
                    inputs.iter().map(|i| device.upload(i.memory())?.with_view(i.view()));
                let uploaded = uploaded.collect::<Result<Vec<_>>>()?;
                return runner.execute(&plan?, &uploaded, progress).await;
            }
        }
    } else if bytes <= budget.piece {
        match operator.plan(&descs, limits, device.tuning()) {
            Ok(plan) if budget.holds(&plan) => {
                // The gaps between the elements of a view are not uploaded.
                let tensors = inputs.iter().map(|i| i.to_tensor()).collect::<Result<Vec<_>>>()?;
                let tensors: Vec<&Tensor> = tensors.iter().collect();
                match runner.run(&plan, &tensors, progress).await {
                    Err(Error::OutOfMemory { .. }) => budget.halve(drive::plan_bytes(&plan)),
                    other => return other,
                }
            }
            Ok(_) | Err(Error::OverLimit { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if scatter::stores_by_position(operator) {
        return scatter::run(operator, device, inputs, others, (max_piece, progress), wait).await;
    }
    if let Operator::ScatterMax(operator) = operator {
        let (data, how) = (inputs[0], (max_piece, progress));
        return scatter_max::run(operator, device, data, others, how, wait).await;
    }
    budget.piece = budget.piece.min(MAX_PIECE);
    let planning = Planning { limits, tuning: device.tuning() };
    match (operator, inputs) {
        (Operator::ReduceMax(operator), [input]) => {
            drive(reduce::Reduce::new(operator, input)?, &runner, planning, budget, progress).await
        }
        (Operator::MaxPool(operator), [input]) => {
            drive(pool::Pool::new(operator, input)?, &runner, planning, budget, progress).await
        }
        (Operator::SegmentMax(operator), [data, _]) => {
            // Pieces are ranges of rows and of their elements, if the elements have a common pitch.
            let gathered = match data.view().rows() {
                Ok(_) => (*data).clone(),
                Err(_) => data.to_tensor()?.into(),
            };
            let work = segment::Segment::new(operator, &gathered, &others[0])?;
            drive(work, &runner, planning, budget, progress).await
        }
        (Operator::MaxPoolBackward(operator), [first, _]) => {
            let inputs = [first.to_tensor()?, others[0].clone()];
            let work = gradient::Planes::new(operator, inputs)?;
            drive(work, &runner, planning, budget, progress).await
        }
        // `infer` has refused other numbers of inputs.
        _ => Ok(Vec::new()),
    }
}
