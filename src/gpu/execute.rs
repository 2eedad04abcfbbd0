//! A plan's launches as compute passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::launch::Pass;
use super::record::Group;
use super::{Buffer, Gpu};
use crate::error::Result;
use crate::plan::{Launch, Plan, Role};

/// Plans in an encoder of their own, not yet given to the queue.
pub(crate) struct Recording {
    gpu: Arc<Gpu>,
    encoder: wgpu::CommandEncoder,
    submitted: Arc<AtomicBool>,
}

impl Recording {
    /// Adds a plan and gives its results, or adds nothing.
    pub(crate) async fn add(&mut self, plan: &Plan, inputs: &[&Buffer]) -> Result<Vec<Buffer>> {
        for input in inputs {
            input.check_submitted(Some(&self.submitted))?;
        }
        let gpu = &self.gpu;
        let made = || {
            let buffers = gpu.buffers(plan, inputs)?;
            let passes: Vec<_> = plan.launches.iter().map(|l| gpu.pass(l, &buffers)).collect();
            Ok((buffers, passes))
        };
        let (buffers, passes) = gpu.catch("a plan", made).await.inspect_err(|_| {
            plan.shaders().for_each(|shader| gpu.pipelines.forget(shader));
        })?;
        let group = Group::new(&mut self.encoder, "wgmax plan");
        passes.iter().for_each(|pass| pass.encode(group.0));
        drop(group);
        let outputs = buffers.into_iter().skip(inputs.len()).take(plan.outputs.len());
        let submitted = Some(self.submitted.clone());
        let output = |buffer| Buffer { gpu: gpu.clone(), buffer, submitted: submitted.clone() };
        Ok(outputs.map(output).collect())
    }

    /// Gives all of it to the queue.
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

impl Gpu {
    pub(crate) fn recording(self: &Arc<Self>) -> Recording {
        let encoder = self
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("wgmax chain") });
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

    /// Runs a plan launch by launch; `after` sees the buffer of each result after each.
    pub(crate) async fn execute_traced(
        self: &Arc<Self>,
        plan: &Plan,
        inputs: &[&Buffer],
        mut after: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        inputs.iter().try_for_each(|input| input.check_submitted(None))?;
        let buffers = self.catch("scratch", || self.buffers(plan, inputs)).await?;
        for (i, launch) in plan.launches.iter().enumerate() {
            self.catch("a launch", || {
                let mut encoder = self.encoder();
                self.pass(launch, &buffers).encode(&mut encoder);
                self.queue.submit([encoder.finish()]);
                Ok(())
            })
            .await?;
            for range in &launch.results {
                let size = plan.buffers[range.buffer].size.next_multiple_of(4);
                after(i, &self.read_bytes(&buffers[range.buffer], size, true).await?);
            }
        }
        Ok(())
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("wgmax plan") };
        self.device.create_command_encoder(&descriptor)
    }

    fn buffers(&self, plan: &Plan, inputs: &[&Buffer]) -> Result<Vec<wgpu::Buffer>> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        plan.buffers
            .iter()
            .enumerate()
            .map(|(i, buffer)| match buffer.role {
                Role::Input => Ok(inputs[i].buffer.clone()),
                Role::Output => self.create_buffer("wgmax output", buffer.size, usage),
                Role::Scratch => self.create_buffer("wgmax scratch", buffer.size, usage),
            })
            .collect()
    }

    fn pass(&self, launch: &Launch, buffers: &[wgpu::Buffer]) -> Pass {
        let label: Arc<str> = launch.shader.label().into();
        let pipeline = self.pipelines.get(&self.device, &launch.shader);
        // Not `create_buffer_init`, which panics on a device that has just been lost.
        let params = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(&label),
            size: launch.params.bytes().len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&params, 0, launch.params.bytes());
        Pass::new(
            self,
            (launch, label),
            (pipeline, launch.shader.words),
            params.as_entire_buffer_binding(),
            |range| (&buffers[range.buffer], 0),
        )
    }
}
