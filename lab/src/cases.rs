//! Random cases, ready to run on the machine.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use wgmax::plan::{Limits, Plan};
use wgmax::{Device, ElementType, Tensor, TensorDesc, Tuning, View, wgpu};
use wgmax_verify::Case;

use crate::machine::Memory;
use crate::run::STALE;

/// A random case with a plan, its inputs in memory, and the CPU kernels' results.
pub struct Prepared {
    pub name: String,
    pub case: Case,
    pub plan: Plan,
    /// How often loops of the plan may run.
    pub max_iterations: u32,
    pub inputs: Vec<(Tensor, View)>,
    /// The results that are checked: the buffer of each, its layout, and its expected values.
    pub expected: Vec<(usize, View, Tensor)>,
    /// Whether ids and indices are right.
    pub are_right: bool,
    /// Whether the case is one of `rare`.
    pub is_rare: bool,
}

impl Prepared {
    /// A case, planned for a GPU with one of the library's tunings.
    pub fn new(limits: &Limits, seed: u64, index: u64, tuning: &'static str) -> Result<Self> {
        Self::of(limits, Case::nth(seed, index)?, tuning, format!("case {index} of seed {seed}"))
    }

    /// The same for any case.
    pub fn of(limits: &Limits, mut case: Case, tuning: &'static str, name: String) -> Result<Self> {
        let cpu = Device::cpu();
        case.overrides.tuning = Some(tuning);
        // A tensor of bools holds only 0 and 1, and views have other bytes between elements.
        let is_bool = |tensor: &Tensor| tensor.element_type() == ElementType::Bool;
        case.overrides.views = case.overrides.views.filter(|_| !case.tensors.iter().any(is_bool));
        let (plan, limits) = case.plan_within(limits, &Tuning::hardware())?;
        let uploaded = case.upload(&cpu, &plan)?;
        let results = cpu.execute(&plan, uploaded.iter().collect::<Vec<_>>())?;
        let inputs = uploaded.into_iter().map(|input| {
            let (view, t) = (input.view().clone(), input.desc().element_type());
            let memory = TensorDesc::new(t, [view.byte_len() / t.size()])?;
            Ok((input.with_view(&memory)?.download()?, view))
        });
        let inputs: Vec<_> = inputs.collect::<wgmax::Result<_>>()?;
        let are_right = case.operator.checked(&case.inputs()).is_ok();
        // With wrong ids of segments the status is the only result, the last one.
        let first = if case.resolved()?.1 { 0 } else { results.len() - 1 };
        let expected = results.iter().zip(inputs.len()..).skip(first);
        let expected = expected
            .map(|(result, buffer)| Ok((buffer, result.view().clone(), result.download()?)))
            .collect::<wgmax::Result<_>>()?;
        let name = format!("{name}, {tuning}");
        let max_iterations = limits.max_iterations;
        Ok(Self { name, case, plan, max_iterations, inputs, expected, are_right, is_rare: false })
    }

    /// Whether a device has the expected results.
    pub fn is_right_on(&self, device: &Device) -> Result<bool> {
        let inputs =
            self.inputs.iter().map(|(memory, view)| device.upload(memory)?.with_view(view));
        let inputs: Vec<_> = inputs.collect::<wgmax::Result<_>>()?;
        let found = device.execute(&self.plan, inputs.iter().collect::<Vec<_>>())?;
        for (buffer, _, expected) in &self.expected {
            if found[buffer - inputs.len()].download()?.bytes() != expected.bytes() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fails if the results in memory are not the expected ones.
    pub fn check(&self, memory: &Memory) -> Result<()> {
        for result in &self.expected {
            let is_right = is_stored(result, memory) && is_kept_beside(&self.plan, result, memory);
            ensure!(is_right, "{}: another result", self.name);
        }
        Ok(())
    }
}

/// The limits of every GPU with WebGPU.
pub fn limits() -> Limits {
    Limits::from_wgpu(&wgpu::Limits::default())
}

/// The offsets of the elements of a view in memory.
pub fn places(view: &View) -> Vec<usize> {
    let mut places = vec![view.offset() as isize];
    for (&size, &pitch) in view.desc().shape().iter().zip(&view.pitches()) {
        let along = 0..size as isize;
        places = places.iter().flat_map(|at| along.clone().map(move |i| at + i * pitch)).collect();
    }
    places.into_iter().map(|at| at as usize).collect()
}

/// Whether memory has the elements of a result.
pub fn is_stored((buffer, view, expected): &(usize, View, Tensor), memory: &Memory) -> bool {
    let found: &[u8] = bytemuck::cast_slice(memory.words(*buffer));
    let size = expected.element_type().size();
    let mut elements = places(view).into_iter().zip(expected.bytes().chunks(size));
    elements.all(|(place, element)| &found[place * size..][..size] == element)
}

/// Whether the bytes beside a result's elements are unchanged, if `unpack` copies these to a view. Other
/// results may fill their last word.
pub fn is_kept_beside(
    plan: &Plan,
    (buffer, view, expected): &(usize, View, Tensor),
    memory: &Memory,
) -> bool {
    let is_copied = plan.launches().iter().any(|launch| {
        let mut bound = launch.bindings();
        launch.shader().kernel.name() == "unpack" && bound.any(|(_, bound, ..)| bound == *buffer)
    });
    if !is_copied {
        return true;
    }
    let size = expected.element_type().size();
    let elements: HashSet<usize> = places(view).into_iter().collect();
    let found: &[u8] = bytemuck::cast_slice(memory.words(*buffer));
    let before = STALE.to_le_bytes().into_iter().cycle();
    let end = view.byte_len().next_multiple_of(4);
    let mut all = found[..end].iter().zip(before).enumerate();
    all.all(|(at, (&now, before))| now == before || elements.contains(&(at / size)))
}
