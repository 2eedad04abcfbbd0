//! One launch: what it binds, and its compute pass.

use std::sync::Arc;

use super::{Gpu, PADDING};
use crate::plan::{Launch, Range};

/// A launch with all that it binds.
pub(super) struct Pass {
    label: Arc<str>,
    pipeline: Arc<wgpu::ComputePipeline>,
    group: wgpu::BindGroup,
    grid: [u32; 3],
}

impl Pass {
    /// Binds a launch. `place` gives the buffer of a plan's range and where the plan's buffer begins
    /// in it; `words` is that of the pipeline's shader, which may not read beyond the first source.
    pub(super) fn new<'a>(
        gpu: &Gpu,
        (launch, label): (&Launch, Arc<str>),
        (pipeline, words): (Arc<wgpu::ComputePipeline>, bool),
        params: wgpu::BufferBinding<'a>,
        place: impl Fn(&Range) -> (&'a wgpu::Buffer, u64),
    ) -> Self {
        let bind = |binding: usize, range: &Range, multiple: u64| {
            let (buffer, begin) = place(range);
            wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: begin + range.offset,
                    size: wgpu::BufferSize::new(range.size.next_multiple_of(multiple)),
                }),
            }
        };
        let resource = wgpu::BindingResource::Buffer(params);
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource }];
        for (i, range) in launch.sources.iter().enumerate() {
            // Only the first source is read in blocks.
            let multiple = if i == 0 && !words { PADDING } else { 4 };
            entries.push(bind(1 + 2 * i, range, multiple));
        }
        for (i, range) in launch.results.iter().enumerate() {
            entries.push(bind(2 + 2 * i, range, 4));
        }
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&label),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Self { label, pipeline, group, grid: launch.grid }
    }

    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&self.label),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let [x, y, z] = self.grid;
        pass.dispatch_workgroups(x, y, z);
    }
}
