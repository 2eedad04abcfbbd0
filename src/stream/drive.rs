//! Schedules pieces: splits them until they fit, keeps two in flight, and continues with smaller
//! ones when the device runs out of memory.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::options::Reporter;
use super::{Planning, Work};
use crate::base::error::{Error, Result};
use crate::device::waiting::yield_now;
use crate::device::{Device, DeviceTensor};
use crate::exec::gpu::{Buffer, Gpu, Reading};
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorDesc};

/// The maximum number of pieces in flight: one is computed while the next is uploaded.
const MAX_IN_FLIGHT: usize = 2;
/// A piece smaller than this that exceeds a limit is not split further: its size is not the cause.
const MIN_SPLIT_BYTES: u64 = 4096;
/// If a smaller piece runs out of memory, the run fails instead of trying smaller ones.
const MIN_RETRY_BYTES: u64 = 1 << 16;

/// Executes the plans of pieces.
pub(super) trait Runner {
    /// A piece that has been started.
    type Pending;
    /// Starts a plan on the bytes of its inputs.
    async fn start(&self, plan: &Plan, inputs: Vec<Cow<'_, [u8]>>) -> Result<Self::Pending>;
    /// Waits for the results.
    async fn finish(&self, pending: Self::Pending) -> Result<Vec<Tensor>>;
}

/// Executes plans on a device.
pub(super) struct OnDevice<'a> {
    device: &'a Device,
    /// Whether this may block until the device is done.
    wait: bool,
    /// The inputs of pieces that a GPU has finished, by their sizes. Pieces have few sizes, and new
    /// memory takes longer to allocate than to fill.
    free: Mutex<Vec<Input>>,
}

/// An input of a piece on a GPU, and its bytes.
type Input = (usize, Buffer);

/// A piece that is in flight on a device.
pub(super) enum Pending {
    OnGpu(Vec<Input>, Vec<Reading>),
    Done(Vec<Tensor>),
}

impl<'a> OnDevice<'a> {
    pub(super) fn new(device: &'a Device, wait: bool) -> Self {
        Self { device, wait, free: Mutex::default() }
    }

    /// Uploads the inputs, executes a plan of the whole operator, and downloads the results.
    pub(super) async fn run(
        &self,
        plan: &Plan,
        inputs: &[&Tensor],
        progress: &Reporter,
    ) -> Result<Vec<Tensor>> {
        let mut uploaded = Vec::new();
        for input in inputs {
            uploaded.push(self.device.upload_async(input).await?);
        }
        self.execute(plan, &uploaded, progress).await
    }

    /// Executes a plan, and downloads the results.
    pub(super) async fn execute(
        &self,
        plan: &Plan,
        inputs: &[DeviceTensor],
        progress: &Reporter,
    ) -> Result<Vec<Tensor>> {
        progress.report(0.0, 0)?;
        let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
        let mut results = Vec::new();
        for result in self.device.execute_watched(plan, &inputs, progress.watch()).await? {
            results.push(result.fetch(self.wait).await?);
        }
        progress.report(1.0, 1)?;
        Ok(results)
    }

    fn free(&self) -> MutexGuard<'_, Vec<Input>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies an input to free memory of the same size, or else to new memory that replaces it.
    async fn upload(&self, gpu: &Arc<Gpu>, bytes: &[u8]) -> Result<Input> {
        let found = {
            let mut free = self.free();
            let found = free.iter().position(|(len, _)| *len == bytes.len());
            let taken = (!free.is_empty()).then(|| free.swap_remove(found.unwrap_or(0)));
            taken.filter(|_| found.is_some())
        };
        match found {
            None => Ok((bytes.len(), gpu.upload(bytes).await?)),
            Some((len, buffer)) => {
                gpu.upload_again(&buffer, bytes).await?;
                Ok((len, buffer))
            }
        }
    }

    async fn begin(
        &self,
        gpu: &Arc<Gpu>,
        plan: &Plan,
        inputs: Vec<Cow<'_, [u8]>>,
    ) -> Result<Pending> {
        let mut uploaded = Vec::new();
        for bytes in inputs {
            uploaded.push(self.upload(gpu, &bytes).await?);
        }
        let buffers: Vec<_> = uploaded.iter().map(|(_, buffer)| buffer).collect();
        let mut readings = Vec::new();
        for (buffer, desc) in gpu.execute(plan, &buffers).await?.iter().zip(&plan.outputs) {
            readings.push(buffer.read(0, desc).await?);
        }
        Ok(Pending::OnGpu(uploaded, readings))
    }
}

impl Runner for OnDevice<'_> {
    type Pending = Pending;

    async fn start(&self, plan: &Plan, inputs: Vec<Cow<'_, [u8]>>) -> Result<Pending> {
        if !self.wait {
            // The device may be faster than the host. Then only this lets the executor run other
            // tasks, and drop this work.
            yield_now().await;
        }
        if let Some(gpu) = self.device.gpu_backend() {
            let started = self.begin(gpu, plan, inputs).await;
            // The error may be exhausted memory.
            return started.inspect_err(|_| self.free().clear());
        }
        let tensor = |(bytes, desc): (&Cow<'_, [u8]>, &TensorDesc)| {
            Tensor::from_bytes(desc.element_type(), desc.shape(), bytes)
        };
        let tensors = inputs.iter().zip(plan.inputs()).map(tensor);
        let tensors = tensors.collect::<Result<Vec<_>>>()?;
        let tensors: Vec<&Tensor> = tensors.iter().collect();
        Ok(Pending::Done(self.run(plan, &tensors, &Reporter::default()).await?))
    }

    async fn finish(&self, pending: Pending) -> Result<Vec<Tensor>> {
        match (pending, self.device.gpu_backend()) {
            (Pending::OnGpu(inputs, readings), Some(gpu)) => {
                let mut results = Vec::new();
                for reading in readings {
                    results.push(gpu.finish(reading, self.wait).await?);
                }
                self.free().extend(inputs);
                Ok(results)
            }
            (Pending::Done(results), _) => Ok(results),
            (Pending::OnGpu(..), None) => unreachable!("a GPU started the piece"),
        }
    }
}

/// The memory that a piece may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Bytes of all its buffers.
    pub piece: u64,
    /// Bytes of each buffer.
    pub buffer: u64,
}

/// The bytes of all buffers of a plan.
pub(super) fn plan_bytes(plan: &Plan) -> u64 {
    plan.buffers.iter().fold(0, |sum: u64, buffer| sum.saturating_add(buffer.size))
}

impl Budget {
    pub(super) fn holds(&self, plan: &Plan) -> bool {
        plan_bytes(plan) <= self.piece && self.holds_buffers(plan)
    }

    /// Whether each single buffer is small enough.
    fn holds_buffers(&self, plan: &Plan) -> bool {
        plan.buffers.iter().all(|buffer| buffer.size.next_multiple_of(16) <= self.buffer)
    }

    /// Allows half of the `bytes` for which memory ran out.
    pub(super) fn halve(&mut self, bytes: u64) {
        self.piece = self.piece.min(bytes) / 2;
        tracing::info!("out of memory; continuing in pieces of {} bytes", self.piece);
    }
}

/// The next piece that fits, with its share of the work and its plan. `stack` holds the remaining
/// pieces and their shares, the next one on top; larger pieces are split there.
fn next<W: Work>(
    work: &W,
    stack: &mut Vec<(W::Piece, f64)>,
    planning: Planning<'_>,
    budget: Budget,
) -> Result<Option<(W::Piece, f64, Plan)>> {
    while let Some((mut piece, share)) = stack.pop() {
        let min_bytes = work.min_bytes(&piece);
        // A piece that is known to be too large is split before it is planned.
        let split = if min_bytes > budget.piece { work.split(&piece) } else { None };
        let halves = match split {
            Some(halves) => halves,
            None => match (work.plan(&mut piece, planning), work.split(&piece)) {
                (Ok(plan), _) if budget.holds(&plan) => return Ok(Some((piece, share, plan))),
                (Ok(_), Some(halves)) => halves,
                (Err(Error::OverLimit { .. }), Some(halves)) if min_bytes > MIN_SPLIT_BYTES => {
                    halves
                }
                (Ok(plan), None) if budget.holds_buffers(&plan) => {
                    return Ok(Some((piece, share, plan)));
                }
                (Ok(plan), None) => {
                    return Err(Error::OverLimit {
                        what: "a piece that cannot be split",
                        needed: plan.buffers.iter().map(|buffer| buffer.size).max().unwrap_or(0),
                        limit: "max_buffer_size",
                        allowed: budget.buffer,
                    });
                }
                (Err(error), _) => return Err(error),
            },
        };
        // Repeated halves add up to 1 without rounding errors.
        stack.extend(halves.into_iter().rev().map(|half| (half, share / 2.0)));
    }
    Ok(None)
}

/// Computes work in pieces within `budget`.
///
/// # Errors
/// [`Error::OverLimit`] if a piece is too large and cannot be split, [`Error::OutOfMemory`] if small
/// pieces run out of memory too, and errors of the device.
pub(super) async fn drive<W: Work, R: Runner>(
    mut work: W,
    runner: &R,
    planning: Planning<'_>,
    mut budget: Budget,
    progress: &Reporter,
) -> Result<Vec<Tensor>> {
    let mut stack: Vec<(W::Piece, f64)> =
        work.whole().map(|piece| (piece, 1.0)).into_iter().collect();
    let mut in_flight: VecDeque<InFlight<W, R>> = VecDeque::new();
    let (mut done, mut pieces) = (0.0, 0);
    let mut short_of_memory = false;
    progress.report(done, pieces)?;
    loop {
        // When memory is short, the pieces in flight finish first: that frees their memory.
        short_of_memory &= !in_flight.is_empty();
        let piece = match in_flight.len() < MAX_IN_FLIGHT && !short_of_memory {
            true => next(&work, &mut stack, planning, budget)?,
            false => None,
        };
        if let Some((piece, share, plan)) = piece {
            let bytes = plan_bytes(&plan);
            let started = match work.inputs(&piece) {
                Ok(inputs) => runner.start(&plan, inputs).await,
                Err(error) => Err(error),
            };
            match started {
                Ok(pending) => in_flight.push_back(InFlight { piece, share, bytes, pending }),
                Err(error) => {
                    check_retry(&work, &piece, bytes, error)?;
                    budget.halve(bytes);
                    short_of_memory = true;
                    stack.push((piece, share));
                }
            }
            continue;
        }
        let Some(first) = in_flight.pop_front() else { break };
        match runner.finish(first.pending).await {
            Ok(results) => {
                work.combine(&first.piece, &results)?;
                (done, pieces) = (done + first.share, pieces + 1);
                progress.report(done, pieces)?;
            }
            Err(error) => {
                check_retry(&work, &first.piece, first.bytes, error)?;
                budget.halve(first.bytes);
                // Pieces are combined in order, so later ones in flight start again too.
                stack.extend(in_flight.drain(..).rev().map(|later| (later.piece, later.share)));
                stack.push((first.piece, first.share));
            }
        }
    }
    work.finish()
}

/// A piece that has been started.
struct InFlight<W: Work, R: Runner> {
    piece: W::Piece,
    share: f64,
    bytes: u64,
    pending: R::Pending,
}

/// Checks whether smaller pieces may succeed after one of `bytes` failed.
///
/// # Errors
/// `error`, unless it is [`Error::OutOfMemory`] and the piece is large enough to be split.
fn check_retry<W: Work>(work: &W, piece: &W::Piece, bytes: u64, error: Error) -> Result<()> {
    match error {
        Error::OutOfMemory { .. } if bytes > MIN_RETRY_BYTES && work.split(piece).is_some() => {
            Ok(())
        }
        error => Err(error),
    }
}
