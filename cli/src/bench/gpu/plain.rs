//! The ceiling of a GPU: plain shaders that read a buffer once, or read one and write another
//! once, with the shape of the launch searched on the device.

mod text;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use wgmax::wgpu;

use super::clock::{Clock, Work};

/// Bytes of what an invocation reads at once.
const BLOCK: u64 = 16;

/// Searching goes over at most so many bytes.
const SEARCHED: u64 = 128 << 20;

/// Which blocks an invocation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    /// The whole grid walks side by side.
    Grid,
    /// Each workgroup has a piece of its own, and walks through it side by side.
    Group,
    /// Each invocation has a piece of its own.
    Lane,
}

/// How a plain pass is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    order: Order,
    workgroup: u32,
    /// Workgroups, or fewer where there is less to do.
    groups: u32,
    /// Blocks in flight an invocation.
    unroll: u32,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, workgroup, groups, unroll } = self;
        let order = match order {
            Order::Grid => "by grid",
            Order::Group => "by group",
            Order::Lane => "by lane",
        };
        write!(f, "{order}, {groups} x {workgroup}, {unroll} at once")
    }
}

/// What a pass moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    pub read: u64,
    /// 0: only read.
    pub write: u64,
}

impl Bytes {
    /// The same with less to read, where it is more than that.
    fn at_most(self, read: u64) -> Self {
        let parts = self.read.div_ceil(read).max(1);
        let part = |bytes: u64| bytes / parts / BLOCK * BLOCK;
        // Only as many blocks as go evenly into each other are the same shader.
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
    /// A piece that can be bound each.
    pieces: Vec<(wgpu::BindGroup, u32)>,
}

impl Pass {
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        for (group, groups) in &self.pieces {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(*groups, 1, 1);
        }
    }
}

/// Makes plain passes, and remembers which are fast.
#[derive(Default)]
pub struct Plain {
    pipelines: RefCell<HashMap<(u32, u32, u64, bool), wgpu::ComputePipeline>>,
    best: RefCell<HashMap<(u32, u64, bool), Shape>>,
}

impl Plain {
    /// The shape that is fastest on these buffers: for each order, its other parts are varied in turn until none gets better.
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
        let limits = clock.device.limits();
        let largest = limits
            .max_compute_invocations_per_workgroup
            .min(limits.max_compute_workgroup_size_x)
            .max(1);
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
        let workgroup = 256.min(largest);
        // What is best for one order is poor for another, so each is searched from a start of its own.
        let starts = [(Order::Grid, 1024), (Order::Group, 256), (Order::Lane, 16)];
        for (order, groups) in starts {
            let mut best = Shape { order, workgroup, groups, unroll: 4 };
            let mut seconds = time(best)?;
            loop {
                let (before, from) = (seconds, best);
                let variants = ([16, 64, 256, 1024, 4096, 65535].into_iter())
                    .map(|groups| Shape { groups, ..from })
                    .chain([1, 2, 4, 8, 16].map(|unroll| Shape { unroll, ..from }))
                    .chain([32, 64, 128, 256, 512].map(|workgroup| Shape { workgroup, ..from }));
                for variant in variants {
                    let groups = variant.groups.min(limits.max_compute_workgroups_per_dimension);
                    let variant = Shape { groups, ..variant };
                    if variant.workgroup > largest || !self.allows(variant, bytes) {
                        continue;
                    }
                    let taken = time(variant)?;
                    if taken < seconds {
                        (best, seconds) = (variant, taken);
                    }
                }
                if seconds > 0.97 * before {
                    break;
                }
            }
        }
        let best = self.duel(clock, source, result, bytes, known)?;
        self.best.borrow_mut().insert(key, best);
        Ok(best)
    }

    /// The best of the few that seemed fastest, in turn, so that a noisy moment decides nothing.
    fn duel(
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

    /// Mesa's llvmpipe leaves a loop after 65,535 rounds, and what writes has no need of many at once.
    fn allows(&self, shape: Shape, bytes: Bytes) -> bool {
        let lanes = u64::from(shape.groups * shape.workgroup);
        let rounds = bytes.read / BLOCK / (lanes * u64::from(shape.unroll)).max(1);
        rounds < 32_768 && (bytes.write == 0 || shape.unroll <= 4)
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
        let limits = clock.device.limits();
        let largest = limits.max_storage_buffer_binding_size;
        let count = bytes.read.div_ceil(largest).max(bytes.write.div_ceil(largest)).max(1);
        // Pieces begin where bindings may.
        let cut = |bytes: u64, i: u64| match i == count {
            true => bytes / BLOCK * BLOCK,
            false => bytes / count * i / 256 * 256,
        };
        let pieces = (0..count).map(|i| {
            let read = cut(bytes.read, i)..cut(bytes.read, i + 1);
            let write = cut(bytes.write, i)..cut(bytes.write, i + 1);
            let sources = (read.end - read.start) / BLOCK;
            let results = (write.end - write.start) / BLOCK;
            let (params, groups) = params(shape, sources, results);
            let params = wgpu::util::DeviceExt::create_buffer_init(
                &clock.device,
                &wgpu::util::BufferInitDescriptor {
                    label: Some("plain parameters"),
                    contents: bytemuck::cast_slice(&params),
                    usage: wgpu::BufferUsages::UNIFORM,
                },
            );
            let part = |buffer, start: u64, size: u64| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: start,
                    size: wgpu::BufferSize::new(size),
                })
            };
            let written = if results == 0 { BLOCK } else { write.end - write.start };
            let entries = [
                wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: part(source, read.start, read.end - read.start),
                },
                wgpu::BindGroupEntry { binding: 2, resource: part(result, write.start, written) },
            ];
            let group = clock.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("plain"),
                layout: &layout,
                entries: &entries,
            });
            (group, groups)
        });
        Pass { pieces: pieces.collect(), pipeline }
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

/// The parameters of a piece, and its workgroups.
fn params(shape: Shape, sources: u64, results: u64) -> ([u32; 8], u32) {
    let blocks = if results == 0 { sources } else { results } as u32;
    let Shape { order, workgroup, groups, unroll } = shape;
    let groups = groups.min(blocks.div_ceil(workgroup * unroll)).max(1);
    let lanes = groups * workgroup;
    // Where a workgroup begins, a lane in it, and its end; and the step from block to block.
    let [group, lane, end, length, step] = match order {
        Order::Grid => [workgroup, 1, 0, blocks, lanes],
        Order::Group => {
            let share = blocks.div_ceil(groups);
            [share, 1, 0, share, workgroup]
        }
        Order::Lane => {
            let share = blocks.div_ceil(lanes);
            [share * workgroup, share, share, share, 1]
        }
    };
    let rest = if results == 0 { 0 } else { sources % results };
    ([blocks, group, lane, end, length, step, rest as u32, 0], groups)
}
