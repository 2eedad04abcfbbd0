//! Executes plans on buffers of our own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::launch::Pass;
use super::record::DebugGroup;
use super::{Buffer, Gpu, TENSOR};
use crate::base::error::Result;
use crate::plan::{Plan, Role};

/// Plans recorded into one command encoder and not yet submitted.
pub(crate) struct Recording {
    gpu: Arc<Gpu>,
    encoder: wgpu::CommandEncoder,
    submitted: Arc<AtomicBool>,
}

impl Recording {
    /// Adds a plan and returns its result buffers. An error adds nothing.
    pub(crate) async fn add(&mut self, plan: &Plan, inputs: &[&Buffer]) -> Result<Vec<Buffer>> {
        check(inputs, Some(&self.submitted))?;
        let gpu = &self.gpu;
        let (buffers, passes) = gpu.instantiate(plan, inputs).await?;
        let group = DebugGroup::new(&mut self.encoder, "wgmax plan");
        passes.iter().for_each(|pass| pass.encode(group.0));
        drop(group);
        let outputs = buffers.into_iter().skip(inputs.len()).take(plan.outputs.len());
        let submitted = Some(self.submitted.clone());
        let output = |buffer| Buffer { gpu: gpu.clone(), buffer, submitted: submitted.clone() };
        Ok(outputs.map(output).collect())
    }

    /// Submits all recorded plans.
    pub(crate) async fn submit(self) -> Result<()> {
        let submit = || {
            self.gpu.queue.submit([self.encoder.finish()]);
            Ok(())
        };
        self.gpu.catch("a submit", submit).await?;
        self.submitted.store(true, Ordering::Release);
        Ok(())
    }
}

/// Checks the inputs of a plan. `mine` identifies its recording.
fn check(inputs: &[&Buffer], mine: Option<&Arc<AtomicBool>>) -> Result<()> {
    let mut inputs = inputs.iter().enumerate();
    inputs.try_for_each(|(i, input)| input.check(mine, "a plan", format!("input {i}")))
}

impl Gpu {
    pub(crate) fn recording(self: &Arc<Self>) -> Recording {
        let encoder = self.encoder("wgmax chain");
        Recording { gpu: self.clone(), encoder, submitted: Arc::default() }
    }

    /// Runs a plan with one submit.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        plan: &Plan,
        inputs: &[&Buffer],
    ) -> Result<Vec<Buffer>> {
        let mut recording = self.recording();
        let outputs = recording.add(plan, inputs).await?;
        recording.submit().await?;
        Ok(outputs)
    }

    /// Runs a plan one launch at a time. After each launch, `after` is called with the launch's
    /// number and the bytes of each buffer that it wrote to. `wait`: whether this may block.
    pub(crate) async fn execute_traced(
        self: &Arc<Self>,
        plan: &Plan,
        inputs: &[&Buffer],
        mut after: impl FnMut(usize, &[u8]),
        wait: bool,
    ) -> Result<()> {
        check(inputs, None)?;
        let (buffers, passes) = self.instantiate(plan, inputs).await?;
        for (i, (launch, pass)) in plan.launches.iter().zip(&passes).enumerate() {
            self.catch("a launch", || {
                let mut encoder = self.encoder("wgmax plan");
                pass.encode(&mut encoder);
                self.queue.submit([encoder.finish()]);
                Ok(())
            })
            .await?;
            for range in &launch.results {
                let size = plan.buffers[range.buffer].size;
                let whole = size.next_multiple_of(4);
                let bytes = self.read_bytes(&buffers[range.buffer], whole, wait).await?;
                after(i, &bytes[..size as usize]);
            }
        }
        Ok(())
    }

    /// Creates the buffers of a plan and binds its launches to them.
    async fn instantiate(
        &self,
        plan: &Plan,
        inputs: &[&Buffer],
    ) -> Result<(Vec<wgpu::Buffer>, Vec<Pass>)> {
        let instantiate = || {
            let buffers = self.buffers(plan, inputs)?;
            let compiled = self.compile(plan, |launch| [launch.shader; 2])?;
            let passes = self.bind(plan, &compiled, |range| (&buffers[range.buffer], 0));
            Ok((buffers, passes))
        };
        self.catch("a plan", instantiate).await.inspect_err(|_| {
            plan.shaders().for_each(|shader| self.pipelines.forget(shader));
        })
    }

    pub(super) fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        let label = Some(label);
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
    }

    fn buffers(&self, plan: &Plan, inputs: &[&Buffer]) -> Result<Vec<wgpu::Buffer>> {
        plan.buffers
            .iter()
            .enumerate()
            .map(|(i, buffer)| match buffer.role {
                Role::Input => Ok(inputs[i].buffer.clone()),
                Role::Output => self.create_buffer("wgmax output", buffer.size, TENSOR),
                Role::Scratch => self.create_buffer("wgmax scratch", buffer.size, TENSOR),
            })
            .collect()
    }
}
