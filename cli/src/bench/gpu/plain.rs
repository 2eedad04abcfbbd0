//! The bandwidth ceiling of a GPU: plain shaders that read a buffer once, or read one and write
//! another once. The shape of the launch is searched on the device.

mod text;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use wgmax::wgpu;

use super::clock::{Clock, Work};
use crate::interrupt;

/// Bytes that an invocation reads at once.
const BLOCK: u64 = 16;

/// The maximum number of bytes that the search runs over.
const SEARCHED: u64 = 128 << 20;

/// Which blocks an invocation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    /// Neighbouring invocations of the grid read neighbouring blocks.
    Grid,
    /// Each workgroup has a piece of its own, of which neighbouring invocations read neighbouring
    /// blocks.
    Workgroup,
    /// Each invocation has a piece of its own.
    Invocation,
}

/// How a plain pass is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    order: Order,
    workgroup: u32,
    /// The maximum number of workgroups.
    groups: u32,
    /// Blocks in flight of an invocation.
    unroll: u32,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, workgroup, groups, unroll } = self;
        let order = match order {
            Order::Grid => "by grid",
            Order::Workgroup => "by workgroup",
            Order::Invocation => "by invocation",
        };
        write!(f, "{order}, {groups} x {workgroup}, {unroll} at once")
    }
}

/// The bytes that a pass moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    pub read: u64,
    /// 0 if the pass only reads.
    pub write: u64,
}

impl Bytes {
    /// The same with fewer bytes to read, if there are more than `read`.
    fn at_most(self, read: u64) -> Self {
        let parts = self.read.div_ceil(read).max(1);
        let part = |bytes: u64| bytes / parts / BLOCK * BLOCK;
        // The shader is the same only if the blocks are in the same ratio.
        match parts {
            1 => self,
            _ if self.write == 0 => Self { read: part(self.read), write: 0 },
            _ => {
                let write = part(self.write).max(BLOCK);
                let (reads, rest) = self.reads();
                Self {
                    read: write * reads + if rest { write / 2 / BLOCK * BLOCK } else { 0 },
                    write,
                }
            }
        }
    }

    /// Passes with the same key have the same best shape.
    fn search_key(self) -> (u32, u64, bool) {
        let (reads, rest) = self.reads();
        (self.read.max(1).ilog2(), reads, rest)
    }

    /// Blocks that are read for each that is written, and whether some have one more.
    fn reads(self) -> (u64, bool) {
        match self.write / BLOCK {
            0 => (0, false),
            write => (self.read / BLOCK / write, !(self.read / BLOCK).is_multiple_of(write)),
        }
    }
}

/// A pass that is ready to be recorded.
pub struct Pass {
    pipeline: wgpu::ComputePipeline,
    /// A bind group and its workgroups, for each part of the buffers that can be bound.
    parts: Vec<(wgpu::BindGroup, u32)>,
}

impl Pass {
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        for (group, groups) in &self.parts {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(*groups, 1, 1);
        }
    }
}

/// Makes plain passes, and caches the best shapes.
#[derive(Default)]
pub struct Plain {
    pipelines: RefCell<HashMap<(u32, u32, u64, bool), wgpu::ComputePipeline>>,
    best: RefCell<HashMap<(u32, u64, bool), Shape>>,
}

impl Plain {
    /// The fastest shape on these buffers. For each order, the other parts of the shape are varied
    /// in turn until none improves.
    pub fn search(
        &self,
        clock: &Clock,
        source: &wgpu::Buffer,
        result: &wgpu::Buffer,
        bytes: Bytes,
    ) -> anyhow::Result<Shape> {
        let key = bytes.search_key();
        if let Some(&shape) = self.best.borrow().get(&key) {
            return Ok(shape);
        }
        let bytes = bytes.at_most(SEARCHED);
        let mut known: HashMap<Shape, f64> = HashMap::new();
        let mut time = |shape: Shape| -> anyhow::Result<f64> {
            if let Some(&seconds) = known.get(&shape) {
                return Ok(seconds);
            }
            let pass = self.pass(clock, source, result, bytes, shape);
            let work = |encoder: &mut wgpu::CommandEncoder| {
                pass.record(encoder);
                Ok(())
            };
            let runs = clock.time(&[&work as Work; 4])?;
            let seconds = runs.into_iter().fold(f64::INFINITY, f64::min);
            known.insert(shape, seconds);
            Ok(seconds)
        };
        let limits = clock.device.limits();
        // The best numbers of one order are bad for another, so each has a start of its own.
        let starts = [(Order::Grid, 1024), (Order::Workgroup, 256), (Order::Invocation, 16)];
        for (order, groups) in starts {
            let workgroup = 256.min(max_workgroup(&limits));
            let mut best = Shape { order, workgroup, groups, unroll: 4 };
            let mut seconds = time(best)?;
            loop {
                let before = seconds;
                for variant in best.variants(&limits, bytes) {
                    // Nothing is measured with the result.
                    if interrupt::requested() {
                        return Ok(best);
                    }
                    let variant_seconds = time(variant)?;
                    if variant_seconds < seconds {
                        (best, seconds) = (variant, variant_seconds);
                    }
                }
                if seconds > 0.97 * before {
                    break;
                }
            }
        }
        let best = self.fastest(clock, source, result, bytes, known)?;
        self.best.borrow_mut().insert(key, best);
        Ok(best)
    }

    /// Of the shapes that seemed fastest, the best when they are measured in turn, so that a noisy
    /// moment does not decide.
    fn fastest(
        &self,
        clock: &Clock,
        source: &wgpu::Buffer,
        result: &wgpu::Buffer,
        bytes: Bytes,
        known: HashMap<Shape, f64>,
    ) -> anyhow::Result<Shape> {
        let mut shapes: Vec<(Shape, f64)> = known.into_iter().collect();
        shapes.sort_by(|a, b| a.1.total_cmp(&b.1));
        shapes.truncate(5);
        let passes: Vec<Pass> = shapes
            .iter()
            .map(|&(shape, _)| self.pass(clock, source, result, bytes, shape))
            .collect();
        let record: Vec<_> = (passes.iter())
            .map(|pass| {
                move |encoder: &mut wgpu::CommandEncoder| {
                    pass.record(encoder);
                    Ok(())
                }
            })
            .collect();
        let work: Vec<Work> = record.iter().map(|work| work as Work).collect();
        for _ in 0..5 {
            for (shape, seconds) in shapes.iter_mut().zip(clock.time(&work)?) {
                shape.1 = shape.1.min(seconds);
            }
        }
        shapes.sort_by(|a, b| a.1.total_cmp(&b.1));
        Ok(shapes[0].0)
    }

    /// A pass over the first bytes of the buffers.
    pub fn pass(
        &self,
        clock: &Clock,
        source: &wgpu::Buffer,
        result: &wgpu::Buffer,
        bytes: Bytes,
        shape: Shape,
    ) -> Pass {
        let (reads, rest) = bytes.reads();
        let pipeline = self.pipeline(&clock.device, shape, reads, rest);
        let layout = pipeline.get_bind_group_layout(0);
        let max_binding = clock.device.limits().max_storage_buffer_binding_size;
        let count = bytes.read.div_ceil(max_binding).max(bytes.write.div_ceil(max_binding)).max(1);
        // Parts begin at multiples of the binding alignment.
        let cut = |bytes: u64, i: u64| match i == count {
            true => bytes / BLOCK * BLOCK,
            false => bytes / count * i / 256 * 256,
        };
        let parts = (0..count).map(|i| {
            let read = cut(bytes.read, i)..cut(bytes.read, i + 1);
            let write = cut(bytes.write, i)..cut(bytes.write, i + 1);
            let sources = (read.end - read.start) / BLOCK;
            let results = (write.end - write.start) / BLOCK;
            let (params, groups) = params(shape, sources, results);
            let written = if results == 0 { BLOCK } else { write.end - write.start };
            let source = binding(source, read.start, read.end - read.start);
            let result = binding(result, write.start, written);
            (bind_group(&clock.device, &layout, &params, source, result), groups)
        });
        Pass { parts: parts.collect(), pipeline }
    }

    fn pipeline(
        &self,
        device: &wgpu::Device,
        shape: Shape,
        reads: u64,
        rest: bool,
    ) -> wgpu::ComputePipeline {
        let key = (shape.workgroup, shape.unroll, reads, rest);
        let mut pipelines = self.pipelines.borrow_mut();
        let make = || {
            let text = match (reads, rest) {
                (0, false) => text::read(shape),
                _ => text::copy(shape, reads, rest),
            };
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("plain"),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("plain"),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            })
        };
        pipelines.entry(key).or_insert_with(make).clone()
    }
}

impl Shape {
    /// Shapes that differ in one number, as far as limits allow.
    fn variants(self, limits: &wgpu::Limits, bytes: Bytes) -> Vec<Self> {
        let max_groups = limits.max_compute_workgroups_per_dimension;
        let groups = [16, 64, 256, 1024, 4096, 65535].map(|groups| Self { groups, ..self });
        let unroll = [1, 2, 4, 8, 16].map(|unroll| Self { unroll, ..self });
        let workgroup = [32, 64, 128, 256, 512].map(|workgroup| Self { workgroup, ..self });
        let all = groups.into_iter().chain(unroll).chain(workgroup);
        all.map(|shape| Self { groups: shape.groups.min(max_groups), ..shape })
            .filter(|shape| shape.workgroup <= max_workgroup(limits) && shape.runs(bytes))
            .collect()
    }

    /// Whether loops are short enough: Mesa's llvmpipe leaves a loop after 65,535 iterations.
    /// Passes that write do not need many blocks in flight.
    fn runs(self, bytes: Bytes) -> bool {
        let invocations = u64::from(self.groups * self.workgroup);
        let iterations = bytes.read / BLOCK / (invocations * u64::from(self.unroll)).max(1);
        iterations < 32_768 && (bytes.write == 0 || self.unroll <= 4)
    }
}

fn max_workgroup(limits: &wgpu::Limits) -> u32 {
    let invocations = limits.max_compute_invocations_per_workgroup;
    invocations.min(limits.max_compute_workgroup_size_x).max(1)
}

fn binding(buffer: &wgpu::Buffer, offset: u64, size: u64) -> wgpu::BindingResource<'_> {
    let size = wgpu::BufferSize::new(size);
    wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size })
}

fn bind_group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    params: &[u32; 8],
    source: wgpu::BindingResource<'_>,
    result: wgpu::BindingResource<'_>,
) -> wgpu::BindGroup {
    let params = wgpu::util::DeviceExt::create_buffer_init(
        device,
        &wgpu::util::BufferInitDescriptor {
            label: Some("plain parameters"),
            contents: bytemuck::cast_slice(params),
            usage: wgpu::BufferUsages::UNIFORM,
        },
    );
    let entries = [
        wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() },
        wgpu::BindGroupEntry { binding: 1, resource: source },
        wgpu::BindGroupEntry { binding: 2, resource: result },
    ];
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("plain"),
        layout,
        entries: &entries,
    })
}

/// The parameters of a part, and its workgroups.
fn params(shape: Shape, sources: u64, results: u64) -> ([u32; 8], u32) {
    let blocks = if results == 0 { sources } else { results } as u32;
    let Shape { order, workgroup, groups, unroll } = shape;
    let groups = groups.min(blocks.div_ceil(workgroup * unroll)).max(1);
    let invocations = groups * workgroup;
    // The parameters `group`, `local`, `end`, `length` and `step` of the shader.
    let [group, local, end, length, step] = match order {
        Order::Grid => [workgroup, 1, 0, blocks, invocations],
        Order::Workgroup => {
            let share = blocks.div_ceil(groups);
            [share, 1, 0, share, workgroup]
        }
        Order::Invocation => {
            let share = blocks.div_ceil(invocations);
            [share * workgroup, share, share, share, 1]
        }
    };
    let rest = if results == 0 { 0 } else { sources % results };
    ([blocks, group, local, end, length, step, rest as u32, 0], groups)
}
