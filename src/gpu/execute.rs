//! A plan's launches as compute passes.

use std::sync::Arc;

use wgpu::util::DeviceExt;

use super::{Buffer, Gpu, PADDING};
use crate::error::Result;
use crate::plan::{Launch, Plan, Range, Role};

impl Gpu {
    /// Runs a plan with one submit.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        plan: &Plan,
        inputs: &[&Buffer],
    ) -> Result<Vec<Buffer>> {
        let run = || {
            let buffers = self.buffers(plan, inputs)?;
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for launch in &plan.launches {
                self.encode(&mut encoder, launch, &buffers);
            }
            self.queue.submit([encoder.finish()]);
            Ok(buffers)
        };
        let buffers = self.catch("a plan", run).await.inspect_err(|_| {
            plan.shaders().for_each(|shader| self.pipelines.forget(shader));
        })?;
        let outputs = buffers.into_iter().skip(inputs.len()).take(plan.outputs.len());
        Ok(outputs.map(|buffer| Buffer { gpu: self.clone(), buffer }).collect())
    }

    /// Runs a plan launch by launch; `after` sees the buffer of each result after each.
    pub(crate) async fn execute_traced(
        self: &Arc<Self>,
        plan: &Plan,
        inputs: &[&Buffer],
        mut after: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let buffers = self.catch("scratch", || self.buffers(plan, inputs)).await?;
        for (i, launch) in plan.launches.iter().enumerate() {
            self.catch("a launch", || {
                let mut encoder = self.device.create_command_encoder(&Default::default());
                self.encode(&mut encoder, launch, &buffers);
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

    fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        launch: &Launch,
        buffers: &[wgpu::Buffer],
    ) {
        let label = launch.shader.label();
        let pipeline = self.pipelines.get(&self.device, &launch.shader);
        let params = self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(&label),
            contents: launch.params.bytes(),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let bind = |binding: u32, range: &Range| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffers[range.buffer],
                offset: range.offset,
                size: wgpu::BufferSize::new(range.size.next_multiple_of(PADDING)),
            }),
        };
        let mut entries =
            vec![wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() }];
        entries.extend((1..).step_by(2).zip(&launch.sources).map(|(at, range)| bind(at, range)));
        entries.extend((2..).step_by(2).zip(&launch.results).map(|(at, range)| bind(at, range)));
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&label),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&label),
            timestamp_writes: None,
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        let [x, y, z] = launch.grid;
        pass.dispatch_workgroups(x, y, z);
    }
}
