//! Runs a node on a device and on the CPU.

use std::time::{Duration, Instant};

use wgmax::{Device, Tensor};

use super::super::output::chain;
use super::entry::{Entry, Origin, Ready, State, Trial};
use super::random;
use super::values::Values;

/// The devices that nodes run on, and the number of runs.
pub struct Devices<'a> {
    /// The device that is compared with the CPU; `None` if it is the CPU.
    device: Option<&'a Device>,
    cpu: Device,
    runs: u16,
}

impl<'a> Devices<'a> {
    pub fn new(device: &'a Device, runs: u16) -> Self {
        match device.is_cpu() {
            true => Self { device: None, cpu: device.clone(), runs },
            false => Self { device: Some(device), cpu: Device::cpu(), runs },
        }
    }
}

/// Runs a node that is ready, and keeps its results.
pub fn run(entry: &mut Entry<'_>, devices: &Devices<'_>, values: &mut Values<'_>, seed: u64) {
    let State::Ready(ready) = &mut entry.state else { return };
    let trial =
        attempt(ready, &entry.node.inputs, devices, values, seed).map(|(trial, results)| {
            for ((name, _), result) in ready.outputs.iter().zip(results) {
                if !name.is_empty() {
                    values.results.insert(name.clone(), result);
                }
            }
            trial
        });
    ready.trial = Some(trial.map_err(|error| chain(&error)));
}

fn attempt(
    ready: &Ready,
    names: &[String],
    devices: &Devices<'_>,
    values: &Values<'_>,
    seed: u64,
) -> anyhow::Result<(Trial, Vec<Tensor>)> {
    // Tensors that exceed a device are refused before their elements are computed.
    for device in devices.device.into_iter().chain([&devices.cpu]) {
        ready.plan(device)?;
    }
    let bytes: usize = ready.outputs.iter().map(|(_, desc)| desc.byte_len()).sum();
    let fits = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    anyhow::ensure!(fits, "there is no memory for the result");

    let (mut origin, mut inputs) = (Origin::Tensor, Vec::new());
    for (name, desc) in names.iter().zip(&ready.inputs) {
        let (from, input) = match (values.tensor(name), values.constant(name)?) {
            (Some(tensor), _) => (Origin::Tensor, tensor.clone()),
            (None, Some(tensor)) => (Origin::Model, tensor),
            (None, None) => {
                let tensor = random::tensor(desc, seed, name)?;
                let tensor = match random::indexed(&ready.operator, &ready.inputs, inputs.len()) {
                    Some(elements) => random::below(&tensor, elements)?,
                    None => tensor,
                };
                (Origin::Random, tensor)
            }
        };
        origin = origin.max(from);
        inputs.push(input);
    }
    // Indices may be invalid.
    ready.operator.checked(&inputs.iter().collect::<Vec<_>>())?;
    let (cpu, expected) = timed(ready, &inputs, &devices.cpu, devices.runs)?;
    let Some(device) = devices.device else {
        return Ok((Trial { origin, cpu, device: None, comparisons: Vec::new() }, expected));
    };
    let (time, results) = timed(ready, &inputs, device, devices.runs)?;
    let pairs = results.iter().zip(&expected);
    let comparisons =
        pairs.map(|(a, b)| wgmax::compare(a, b)).collect::<wgmax::Result<Vec<_>>>()?;
    Ok((Trial { origin, cpu, device: Some(time), comparisons }, results))
}

/// The results, and the median time of some runs after a first one, which may compile shaders.
fn timed(
    ready: &Ready,
    inputs: &[Tensor],
    device: &Device,
    runs: u16,
) -> wgmax::Result<(Duration, Vec<Tensor>)> {
    let plan = ready.plan(device)?;
    let uploaded = inputs.iter().map(|input| device.upload(input));
    let uploaded = uploaded.collect::<wgmax::Result<Vec<_>>>()?;
    let inputs: Vec<_> = uploaded.iter().collect();
    let results = device.execute(&plan, &inputs)?;
    let results = results.iter().map(|result| result.download()).collect::<wgmax::Result<_>>()?;
    let mut times = Vec::with_capacity(runs.into());
    for _ in 0..runs {
        let start = Instant::now();
        device.execute(&plan, &inputs)?;
        device.wait()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok((times[times.len() / 2], results))
}
