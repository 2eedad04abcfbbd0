//! Host tensors that are larger than a device, in pieces.
//!
//! Each operator is a [`Work`]: it cuts itself into pieces, which are operators on parts of its inputs, and
//! puts their results together. [`drive`] knows pieces and no operator.

mod boxes;
mod combine;
mod drive;
mod options;
mod pool;
mod reduce;
mod segment;
#[cfg(test)]
mod tests;
mod window;

use std::borrow::Cow;

pub use options::{Progress, RunOptions};

use crate::device::{Device, DeviceTensor};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::plan::{Limits, Plan};
use crate::tensor::{Tensor, TensorDesc};
use drive::{Budget, OnGpu, drive};

/// A piece's positions in its own input have 31 bits.
const MOST: u64 = 1 << 30;

/// An operator on tensors of the host, in pieces.
trait Work {
    /// A part of the work. It says where its elements lie, and does not hold them.
    type Piece: Clone;

    /// All of the work; `None` if there is nothing to compute.
    fn whole(&self) -> Option<Self::Piece>;
    /// A piece as two, the first of which comes first; `None` for one that cannot be smaller.
    fn cut(&self, piece: &Self::Piece) -> Option<[Self::Piece; 2]>;
    /// Bytes of a piece's inputs and results, or somewhat less.
    fn bytes(&self, piece: &Self::Piece) -> u64;
    /// The plan of a piece.
    fn plan(&self, piece: &mut Self::Piece, limits: &Limits) -> Result<Plan>;
    /// The bytes of a planned piece's inputs.
    fn inputs<'a>(&'a self, piece: &'a Self::Piece) -> Vec<Cow<'a, [u8]>>;
    /// Takes the results of a piece. Pieces come in the order in which they were cut.
    fn land(&mut self, piece: &Self::Piece, results: &[Tensor]);
    /// The results, once all pieces are there.
    fn finish(self) -> Result<Vec<Tensor>>;
}

/// Runs an operator from the host and back: as a whole if it fits, otherwise in pieces. `wait`: block until
/// the device is done; for those who may block.
pub(crate) async fn run(
    operator: &Operator,
    device: &Device,
    inputs: &[&Tensor],
    options: RunOptions<'_>,
    wait: bool,
) -> Result<Vec<Tensor>> {
    let operator = operator.checked(inputs)?;
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let outputs = operator.infer(&descs)?;
    let limits = &device.info().limits;
    let Some(gpu) = device.gpu_backend() else {
        // The CPU's memory is the tensors' own.
        return whole(device, &operator.plan(&descs, limits)?, inputs, wait).await;
    };
    let most = options.max_piece.unwrap_or(RunOptions::DEFAULT_MAX_PIECE);
    let mut budget = Budget { piece: most, buffer: limits.max_buffer_size };
    let tensors = descs.iter().copied().chain(&outputs);
    let all = tensors.fold(0, |all: u64, desc| all.saturating_add(desc.byte_len() as u64));
    if all <= budget.piece {
        match operator.plan(&descs, limits) {
            Ok(plan) if budget.holds(&plan) => match whole(device, &plan, inputs, wait).await {
                Err(Error::OutOfMemory { .. }) => budget.halve(drive::bytes(&plan)),
                other => return other,
            },
            Ok(_) | Err(Error::OverLimit { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    budget.piece = budget.piece.min(MOST);
    let gpu = OnGpu { gpu, wait };
    let total = inputs.iter().map(|input| input.bytes().len() as u64).sum();
    let mut progress = options::Told::new(options.progress, total);
    match (&operator, inputs) {
        (Operator::ReduceMax(operator), [input]) => {
            drive(reduce::Reduce::new(operator, input)?, &gpu, limits, budget, &mut progress).await
        }
        (Operator::MaxPool(operator), [input]) => {
            drive(pool::Pool::new(operator, input)?, &gpu, limits, budget, &mut progress).await
        }
        (Operator::SegmentMax(operator), [data, ids]) => {
            let work = segment::Segment::new(operator, data, ids)?;
            drive(work, &gpu, limits, budget, &mut progress).await
        }
        // Counted by `infer`.
        _ => Ok(Vec::new()),
    }
}

async fn whole(
    device: &Device,
    plan: &Plan,
    inputs: &[&Tensor],
    wait: bool,
) -> Result<Vec<Tensor>> {
    let mut here = Vec::new();
    for input in inputs {
        here.push(device.upload_async(input).await?);
    }
    let here: Vec<&DeviceTensor> = here.iter().collect();
    let mut results = Vec::new();
    for result in device.execute_async(plan, &here).await? {
        results.push(result.fetch(wait).await?);
    }
    Ok(results)
}
