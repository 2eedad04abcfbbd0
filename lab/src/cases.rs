//! Random cases, ready to run on the machine.

use anyhow::{Result, ensure};
use wgmax::plan::Plan;
use wgmax::{Device, ElementType, Tensor, TensorDesc, View};
use wgmax_verify::Case;

use crate::machine::Memory;

/// A random case with a plan, its inputs in memory, and the CPU kernels' results.
pub struct Prepared {
    pub name: String,
    pub case: Case,
    pub plan: Plan,
    pub inputs: Vec<(Tensor, View)>,
    /// The results that are checked: the buffer of each, its layout, and its expected values.
    pub expected: Vec<(usize, View, Tensor)>,
    /// Whether the ids of segments are right.
    pub are_right: bool,
}

impl Prepared {
    /// A case, planned for a device with one of the library's tunings.
    pub fn new(device: &Device, seed: u64, index: u64, tuning: &'static str) -> Result<Self> {
        let (mut case, cpu) = (Case::nth(seed, index)?, Device::cpu());
        case.overrides.tuning = Some(tuning);
        // A tensor of bools holds only 0 and 1, and views have other bytes between elements.
        let is_bool = |tensor: &Tensor| tensor.element_type() == ElementType::Bool;
        case.overrides.views = case.overrides.views.filter(|_| !case.tensors.iter().any(is_bool));
        let plan = case.plan(device)?;
        let uploaded = case.upload(&cpu, &plan)?;
        let results = cpu.execute(&plan, uploaded.iter().collect::<Vec<_>>())?;
        let inputs = uploaded.into_iter().map(|input| {
            let (view, t) = (input.view().clone(), input.desc().element_type());
            let memory = TensorDesc::new(t, [view.byte_len() / t.size()])?;
            Ok((input.with_view(&memory)?.download()?, view))
        });
        let inputs: Vec<_> = inputs.collect::<wgmax::Result<_>>()?;
        // With wrong ids the status is the only result, the last one.
        let are_right = case.operator.checked(&case.inputs()).is_ok();
        let first = if are_right { 0 } else { results.len() - 1 };
        let expected = results.iter().zip(inputs.len()..).skip(first);
        let expected = expected
            .map(|(result, buffer)| Ok((buffer, result.view().clone(), result.download()?)))
            .collect::<wgmax::Result<_>>()?;
        let name = format!("case {index} of seed {seed}, {tuning}");
        Ok(Self { name, case, plan, inputs, expected, are_right })
    }

    /// Fails if a device has other results.
    pub fn check_on(&self, device: &Device) -> Result<()> {
        let found = self.case.execute(device, &self.plan)?;
        let mut pairs = found.iter().zip(&self.expected);
        let same = pairs.all(|(found, (.., expected))| found.bytes() == expected.bytes());
        ensure!(same, "{}: another result", self.name);
        Ok(())
    }

    /// Fails if the results in memory are not the expected ones.
    pub fn check(&self, memory: &Memory) -> Result<()> {
        for (buffer, view, expected) in &self.expected {
            let t = expected.element_type();
            let bytes = &bytemuck::cast_slice(memory.words(*buffer))[..view.byte_len()];
            let found = Tensor::from_bytes(t, [bytes.len() / t.size()], bytes)?;
            let found = Device::cpu().upload(&found)?.with_view(view)?.download()?;
            ensure!(found.bytes() == expected.bytes(), "{}: another result", self.name);
        }
        Ok(())
    }
}
