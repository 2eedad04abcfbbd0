//! Pieces on their way: cut until they fit, two on the device at a time, smaller ones where memory runs out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::Work;
use super::options::Told;
use crate::error::{Error, Result};
use crate::gpu::{Gpu, Reading};
use crate::plan::{Limits, Plan};
use crate::tensor::Tensor;

/// Pieces that are on the device at a time: one is computed while the next one goes there.
const FLYING: usize = 2;
/// Pieces of fewer bytes are not cut because of a limit: it is not their size that is over it.
const LEAST: u64 = 4096;
/// A device that has no memory for so many bytes has none.
const LEAST_MEMORY: u64 = 1 << 16;

/// Where pieces run.
pub(super) trait Runner {
    /// A piece that is being computed.
    type Flight;
    /// Gives a plan to the device, with the bytes of its inputs.
    async fn start(&self, plan: &Plan, inputs: Vec<Cow<'_, [u8]>>) -> Result<Self::Flight>;
    /// Its results, once they are there.
    async fn land(&self, flight: Self::Flight) -> Result<Vec<Tensor>>;
}

/// A GPU; `wait` says whether it may be waited for.
pub(super) struct OnGpu<'a> {
    pub gpu: &'a Arc<Gpu>,
    pub wait: bool,
}

impl Runner for OnGpu<'_> {
    type Flight = Vec<Reading>;

    async fn start(&self, plan: &Plan, inputs: Vec<Cow<'_, [u8]>>) -> Result<Self::Flight> {
        let mut buffers = Vec::new();
        for bytes in inputs {
            buffers.push(self.gpu.upload(&bytes).await?);
        }
        let buffers: Vec<_> = buffers.iter().collect();
        let mut flight = Vec::new();
        for (buffer, desc) in self.gpu.execute(plan, &buffers).await?.iter().zip(&plan.outputs) {
            flight.push(buffer.read(desc).await?);
        }
        Ok(flight)
    }

    async fn land(&self, flight: Self::Flight) -> Result<Vec<Tensor>> {
        let mut results = Vec::new();
        for reading in flight {
            results.push(self.gpu.finish(reading, self.wait).await?);
        }
        Ok(results)
    }
}

/// What a piece may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Bytes of all its buffers.
    pub piece: u64,
    /// Bytes of each of them.
    pub buffer: u64,
}

/// What a plan takes, in bytes.
pub(super) fn bytes(plan: &Plan) -> u64 {
    plan.buffers.iter().fold(0, |sum: u64, buffer| sum.saturating_add(buffer.size))
}

impl Budget {
    pub(super) fn holds(&self, plan: &Plan) -> bool {
        bytes(plan) <= self.piece && self.buffers(plan)
    }

    /// Whether each buffer may be as large as it is.
    fn buffers(&self, plan: &Plan) -> bool {
        plan.buffers.iter().all(|buffer| buffer.size.next_multiple_of(16) <= self.buffer)
    }

    /// Half of what was too much.
    pub(super) fn halve(&mut self, bytes: u64) {
        self.piece = self.piece.min(bytes) / 2;
        tracing::info!("out of memory; going on in pieces of {} bytes", self.piece);
    }
}

/// The next piece that fits, of which those in `stack` come in order, the first one on top.
fn next<W: Work>(
    work: &W,
    stack: &mut Vec<(W::Piece, f64)>,
    limits: &Limits,
    budget: Budget,
) -> Result<Option<(W::Piece, f64, Plan)>> {
    while let Some((mut piece, share)) = stack.pop() {
        let least = work.bytes(&piece);
        // What is too large in any case need not be planned, unless it cannot be smaller.
        let cut = if least > budget.piece { work.cut(&piece) } else { None };
        let halves = match cut {
            Some(halves) => halves,
            None => match (work.plan(&mut piece, limits), work.cut(&piece)) {
                (Ok(plan), _) if budget.holds(&plan) => return Ok(Some((piece, share, plan))),
                (Ok(_), Some(halves)) => halves,
                (Err(Error::OverLimit { .. }), Some(halves)) if least > LEAST => halves,
                (Ok(plan), None) if budget.buffers(&plan) => return Ok(Some((piece, share, plan))),
                (Ok(plan), None) => {
                    return Err(Error::OverLimit {
                        what: "a piece that cannot be smaller",
                        needed: plan.buffers.iter().map(|buffer| buffer.size).max().unwrap_or(0),
                        limit: "max_buffer_size",
                        allowed: budget.buffer,
                    });
                }
                (Err(error), _) => return Err(error),
            },
        };
        // Halves of halves add up to 1 without any rounding.
        stack.extend(halves.into_iter().rev().map(|half| (half, share / 2.0)));
    }
    Ok(None)
}

/// Runs all of a work, in pieces that `budget` holds.
///
/// # Errors
/// [`Error::OverLimit`] for a piece that is too large and cannot be smaller, [`Error::OutOfMemory`] where
/// small pieces run out of memory too, and what the device reports.
pub(super) async fn drive<W: Work, R: Runner>(
    mut work: W,
    runner: &R,
    limits: &Limits,
    mut budget: Budget,
    progress: &mut Told<'_>,
) -> Result<Vec<Tensor>> {
    let mut stack: Vec<(W::Piece, f64)> =
        work.whole().map(|piece| (piece, 1.0)).into_iter().collect();
    let mut flying: VecDeque<Flying<W, R>> = VecDeque::new();
    let (mut done, mut pieces) = (0.0, 0);
    let mut short_of_memory = false;
    progress.tell(done, pieces);
    loop {
        // Those on their way land first where memory is short, which makes room.
        short_of_memory &= !flying.is_empty();
        let piece = match flying.len() < FLYING && !short_of_memory {
            true => next(&work, &mut stack, limits, budget)?,
            false => None,
        };
        if let Some((piece, share, plan)) = piece {
            let bytes = bytes(&plan);
            match runner.start(&plan, work.inputs(&piece)).await {
                Ok(flight) => flying.push_back(Flying { piece, share, bytes, flight }),
                Err(error) => {
                    may_shrink(&work, &piece, bytes, error)?;
                    budget.halve(bytes);
                    short_of_memory = true;
                    stack.push((piece, share));
                }
            }
            continue;
        }
        let Some(first) = flying.pop_front() else { break };
        match runner.land(first.flight).await {
            Ok(results) => {
                work.land(&first.piece, &results);
                (done, pieces) = (done + first.share, pieces + 1);
                progress.tell(done, pieces);
            }
            Err(error) => {
                may_shrink(&work, &first.piece, first.bytes, error)?;
                budget.halve(first.bytes);
                // Those behind it go again, since pieces land in order.
                stack.extend(flying.drain(..).rev().map(|later| (later.piece, later.share)));
                stack.push((first.piece, first.share));
            }
        }
    }
    work.finish()
}

/// A piece on the device.
struct Flying<W: Work, R: Runner> {
    piece: W::Piece,
    share: f64,
    bytes: u64,
    flight: R::Flight,
}

/// # Errors
/// The error, unless it is that memory ran out, and smaller pieces may help.
fn may_shrink<W: Work>(work: &W, piece: &W::Piece, bytes: u64, error: Error) -> Result<()> {
    match error {
        Error::OutOfMemory { .. } if bytes > LEAST_MEMORY && work.cut(piece).is_some() => Ok(()),
        error => Err(error),
    }
}
