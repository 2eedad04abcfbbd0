//! The bandwidth ceiling of a GPU: plain shaders that read a buffer once, or read one and write
//! another once.

use std::fmt;

use wgmax::wgpu;
use wgmax::wgpu::util::DeviceExt;

use super::clock::{Clock, Work};

/// Bytes that an invocation reads at once.
const BLOCK: u64 = 16;

/// Invocations of a workgroup, and blocks in flight for each, as in the shaders.
const WORKGROUP: u32 = 256;
const UNROLL: u32 = 4;

/// Passes of each shape. The fastest counts.
const ROUNDS: usize = 4;

/// Which blocks an invocation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Neighbouring invocations of the grid read neighbouring blocks.
    Grid,
    /// Each invocation has its own piece.
    Invocation,
}

/// How a plain pass is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub order: Order,
    /// The maximum number of workgroups.
    pub groups: u32,
}

impl Shape {
    /// The shapes that are tried: some for GPUs, and the last for adapters that a driver emulates.
    pub const USUAL: [Self; 4] = [
        Self { order: Order::Grid, groups: 1024 },
        Self { order: Order::Grid, groups: 65535 },
        Self { order: Order::Grid, groups: 128 },
        Self { order: Order::Invocation, groups: 16 },
    ];
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by {:?}, {} x {WORKGROUP}", self.order, self.groups)
    }
}

/// The buffers of a pass, and how many bytes it moves from the beginning of each, if they can be bound.
#[derive(Clone, Copy)]
pub struct Moved<'a> {
    pub source: &'a wgpu::Buffer,
    pub read: u64,
    pub result: &'a wgpu::Buffer,
    /// 0 if the pass only reads, and otherwise at most `read`.
    pub write: u64,
}

/// A pass that is ready to be recorded.
pub struct Pass {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    groups: u32,
    /// The bytes that it moves.
    pub bytes: u64,
}

impl Pass {
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) -> anyhow::Result<()> {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.groups, 1, 1);
        Ok(())
    }
}

/// Makes plain passes.
pub struct Plain {
    read: wgpu::ComputePipeline,
    copy: wgpu::ComputePipeline,
}

impl Plain {
    pub fn new(device: &wgpu::Device) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("plain.wgsl"));
        let pipeline = |name| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("plain"),
                layout: None,
                module: &module,
                entry_point: Some(name),
                compilation_options: Default::default(),
                cache: None,
            })
        };
        Self { read: pipeline("read_all"), copy: pipeline("copy_all") }
    }

    /// The seconds of the fastest pass of each shape, the fastest shape first. Shapes are measured
    /// in turn, so that a noisy moment does not decide.
    pub fn race(
        &self,
        clock: &Clock,
        shapes: &[Shape],
        moved: Moved,
    ) -> anyhow::Result<Vec<(Shape, f64)>> {
        let passes = shapes.iter().map(|&shape| self.pass(&clock.device, moved, shape));
        let passes: Vec<Pass> = passes.collect();
        let record =
            passes.iter().map(|pass| Box::new(|encoder: &mut _| pass.record(encoder)) as Work);
        let work: Vec<Work> = record.collect();
        let mut times: Vec<(Shape, f64)> = shapes.iter().map(|&s| (s, f64::INFINITY)).collect();
        for _ in 0..ROUNDS {
            for ((_, min), seconds) in times.iter_mut().zip(clock.time(&work)?) {
                *min = min.min(seconds);
            }
        }
        times.sort_by(|a, b| a.1.total_cmp(&b.1));
        Ok(times)
    }

    pub fn pass(&self, device: &wgpu::Device, moved: Moved, shape: Shape) -> Pass {
        let pipeline = if moved.write == 0 { &self.read } else { &self.copy };
        // The bytes written stay in proportion to the bytes read.
        let max_binding = device.limits().max_storage_buffer_binding_size;
        let read = moved.read.min(max_binding) / BLOCK;
        let write = moved.write * read / moved.read.max(1);
        let (params, groups) = params(shape, read, write);
        let params = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("plain parameters"),
            contents: bytemuck::cast_slice(&params),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let bound = |buffer, blocks: u64| {
            let size = wgpu::BufferSize::new(BLOCK * blocks.max(1));
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size })
        };
        let resources =
            [params.as_entire_binding(), bound(moved.source, read), bound(moved.result, write)];
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("plain"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Pass { pipeline: pipeline.clone(), group, groups, bytes: BLOCK * (read + write) }
    }
}

/// The parameters of a pass over so many blocks, and its workgroups.
fn params(shape: Shape, sources: u64, results: u64) -> ([u32; 6], u32) {
    let blocks = if results == 0 { sources } else { results } as u32;
    let groups = shape.groups.min(blocks.div_ceil(WORKGROUP * UNROLL)).max(1);
    let invocations = groups * WORKGROUP;
    let [first, length, step] = match shape.order {
        Order::Grid => [1, blocks, invocations],
        Order::Invocation => [blocks.div_ceil(invocations), blocks.div_ceil(invocations), 1],
    };
    let (reads, rest) = match results {
        0 => (0, 0),
        _ => ((sources / results) as u32, (sources % results) as u32),
    };
    ([blocks, first, length, step, reads, rest], groups)
}
