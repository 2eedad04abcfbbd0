//! Shared by the integration tests: devices, seeds, random tensors, and comparisons with the
//! oracle.

#![allow(dead_code, unused_imports)]

mod adapter;
pub mod onnx;
pub mod program;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use adapter::gpu;
use wgmax::plan::Limits;
use wgmax::{Device, ElementType, Run, RunOptions, Tensor, Tuning, compare, operator::Operator};
pub use wgmax_verify::Random;
use wgmax_verify::Style;
use wgmax_verify::oracle;

/// The seed of a run: `WGMAX_SEED`, or 1.
pub fn seed() -> u64 {
    let seed = match std::env::var("WGMAX_SEED") {
        Ok(text) => text.parse().expect("WGMAX_SEED is a number"),
        Err(_) => 1,
    };
    println!("WGMAX_SEED={seed}");
    seed
}

/// How many random rounds: `WGMAX_ROUNDS`, or in a short run, of fewer than 100, at most `most`. Without the
/// variable it is a run of 40.
pub fn rounds(most: u64) -> u64 {
    let given = std::env::var("WGMAX_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    match given.unwrap_or(40) {
        short @ ..100 => most.min(short),
        long => long,
    }
}

/// Some of a list of cases, others for each `turn`: an eighth in a short run, a quarter from 100 rounds on, all
/// from 400 on. `WGMAX_TURN` is added to `turn`, so that runs on different drivers take other cases.
pub fn some<T: Copy>(all: &[T], turn: usize) -> Vec<T> {
    let every = match rounds(u64::MAX) {
        ..100 => 8,
        100..400 => 4,
        400.. => 1,
    };
    all.iter().copied().skip(turn_of_run(turn) % every).step_by(every).collect()
}

/// One of a list of cases in a short run; otherwise all. The turn is as in [`some`].
pub fn one_if_short<T: Copy>(all: &[T], turn: usize) -> Vec<T> {
    match rounds(u64::MAX) {
        ..100 => vec![all[turn_of_run(turn) % all.len()]],
        100.. => all.to_vec(),
    }
}

fn turn_of_run(turn: usize) -> usize {
    let own: Option<usize> = std::env::var("WGMAX_TURN").ok().and_then(|own| own.parse().ok());
    turn + own.unwrap_or(0)
}

/// Random elements of a style by its number in [`Style::ALL`].
pub fn tensor(t: ElementType, shape: &[usize], style: usize, random: &mut Random) -> Tensor {
    wgmax_verify::tensor(t, shape, Style::ALL[style], random).unwrap()
}

/// The device with hardware tuning, and with software tuning: both must be right on any adapter.
pub fn both_tunings(device: &Device) -> [Device; 2] {
    [Tuning::hardware(), Tuning::software()].map(|tuning| device.with_tuning(tuning))
}

/// The device and its tuning, for messages.
pub fn describe(device: &Device) -> String {
    format!("{}, {} tuning", device.info(), device.tuning().name())
}

/// Limits with some of them changed.
pub fn limited(mut limits: Limits, change: impl FnOnce(&mut Limits)) -> Limits {
    change(&mut limits);
    limits
}

/// Options for a run in pieces of `piece` bytes, and a counter of its pieces. Progress must only
/// grow.
pub fn counted(piece: impl Into<Option<u64>>) -> (RunOptions, Arc<AtomicU64>) {
    let pieces = Arc::new(AtomicU64::new(0));
    let (counter, mut done) = (pieces.clone(), 0);
    let options = RunOptions::new().max_piece(piece).progress(move |progress| {
        assert!(done <= progress.done && progress.done <= progress.total, "{progress:?}");
        done = progress.done;
        counter.store(progress.pieces, Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    (options, pieces)
}

/// Ids as a tensor of `i32` or `i64`.
pub fn ids_tensor(t: ElementType, ids: &[i64]) -> Tensor {
    wgmax_verify::ids_tensor(t, ids).unwrap()
}

/// Runs an operator on devices, and compares all results with the oracle's, bit for bit.
#[track_caller]
pub fn check_oracle(devices: &[&Device], op: &Operator, inputs: &[&Tensor], what: &str) {
    // A run of tensors on the host refuses indices that name no element. On a device they are not
    // checked, and a status counts them.
    let may_be_wrong = match op {
        Operator::ScatterMax(scatter) => scatter.status,
        Operator::ScatterMaxBackward(backward) => backward.scatter.status,
        _ => false,
    };
    let unchecked = may_be_wrong && op.checked(inputs).is_err();
    let run = |device: &Device| {
        if !unchecked {
            return Ok(op.run(device, inputs)?.into_vec());
        }
        let inputs = inputs.iter().map(|input| device.upload(input));
        let inputs = inputs.collect::<wgmax::Result<Vec<_>>>()?;
        let found = device.run(op, inputs.iter().collect::<Vec<_>>())?;
        found.iter().map(|found| found.download()).collect()
    };
    let expected = oracle::run(op, inputs).unwrap_or_else(|e| panic!("{what}: {e}"));
    for device in devices {
        let on = describe(device);
        let found: Vec<Tensor> =
            run(device).unwrap_or_else(|e: wgmax::Error| panic!("{what} on {on}: {e}"));
        assert_eq!(found.len(), expected.len(), "{what} on {on}");
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let report = compare(found, expected)
                .unwrap_or_else(|e| panic!("{what} on {on}, result {i}: {e}"));
            assert!(report.is_equal(), "{what} on {on}, result {i} and the oracle's: {report}");
        }
    }
}
