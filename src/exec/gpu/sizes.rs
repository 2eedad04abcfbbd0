//! Plans for several sizes. The GPU chooses one when it runs.

use super::Gpu;
use super::bound::Place;
use super::launch::{Grid, Pass, bind};
use crate::base::error::Result;
use crate::plan::{Launch, Plan};

/// Chooses which launches of several plans run, by a number in a caller's buffer.
pub(super) struct Choice {
    pipeline: wgpu::ComputePipeline,
    /// Five words for each launch of all plans: the launch runs if the number is above the first and at
    /// most the second; the others are its grid.
    launches: wgpu::Buffer,
    /// The grids that are dispatched: three words for each launch, zeros if it does not run.
    grids: wgpu::Buffer,
}

/// Invocations of the one workgroup, if the device allows them.
const WORKGROUP: u32 = 64;

const TEXT: &str = "
struct Launch { above: u32, up_to: u32, x: u32, y: u32, z: u32 }

@group(0) @binding(0) var<storage, read> number: array<u32>;
@group(0) @binding(1) var<storage, read> launches: array<Launch>;
@group(0) @binding(2) var<storage, read_write> grids: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) first: u32) {
    for (var i = first; i < arrayLength(&launches); i += WORKGROUP) {
        let launch = launches[i];
        let runs = max(number[0], 1u) > launch.above && max(number[0], 1u) <= launch.up_to;
        grids[3u * i] = select(0u, launch.x, runs);
        grids[3u * i + 1u] = select(0u, launch.y, runs);
        grids[3u * i + 2u] = select(0u, launch.z, runs);
    }
}
";

impl Choice {
    /// A choice among plans for these sizes, in ascending order: the first size that is large enough,
    /// or else the last.
    pub(super) fn new<'a>(gpu: &Gpu, plans: impl Iterator<Item = (u32, &'a Plan)>) -> Result<Self> {
        let (mut words, mut above) = (Vec::new(), 0);
        let mut plans = plans.peekable();
        while let Some((size, plan)) = plans.next() {
            let up_to = if plans.peek().is_some() { size } else { u32::MAX };
            let launch = |launch: &Launch| {
                let [x, y, z] = launch.grid;
                [above, up_to, x, y, z]
            };
            words.extend(plan.launches.iter().flat_map(launch));
            above = size;
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let launches = gpu.create_buffer("wgmax sizes", words.len() as u64 * 4, usage)?;
        gpu.queue.write_buffer(&launches, 0, bytemuck::cast_slice(&words));
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT;
        let grids = gpu.create_buffer("wgmax grids", words.len() as u64 / 5 * 12, usage)?;
        let workgroup = WORKGROUP.min(gpu.info.limits.workgroup_size);
        let text = format!("const WORKGROUP = {workgroup}u;\n{TEXT}");
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("wgmax sizes"),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("wgmax sizes"),
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        Ok(Self { pipeline, launches, grids })
    }

    /// A pass that chooses a plan by the number at `number`, then the passes of all plans. Only those of
    /// the chosen plan run.
    pub(super) fn passes(&self, gpu: &Gpu, number: &Place, plans: Vec<Pass>) -> Vec<Pass> {
        // Results without elements need no launches.
        if plans.is_empty() {
            return plans;
        }
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("wgmax sizes"),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                bind(0, &number.0, number.1, 4),
                bind(1, &self.launches, 0, self.launches.size()),
                bind(2, &self.grids, 0, self.grids.size()),
            ],
        });
        let choose = Pass {
            label: "wgmax sizes".into(),
            pipeline: self.pipeline.clone().into(),
            group,
            grid: Grid::Known([1, 1, 1]),
        };
        let chosen = plans.into_iter().enumerate().map(|(i, pass)| Pass {
            grid: Grid::Chosen(self.grids.clone(), i as u64 * 12),
            ..pass
        });
        std::iter::once(choose).chain(chosen).collect()
    }
}
