//! Recording in the steady state: memory does not grow, and only passes are allocated.

use crate::common::program::{Program, program};
use crate::common::{Random, tensor};
use allocation_counter::{AllocationInfo, measure};
use wgmax::operator::{Operator, ReduceMax, SegmentMax};
use wgmax::wgpu;
use wgmax::{BufferRange, Device, ElementType, Prepared, Tensor, texture_view};

/// A prepared operator, with as many sets of buffers as it keeps bind groups for.
struct Recorded {
    prepared: Prepared,
    launches: usize,
    sets: Vec<(Vec<wgpu::Buffer>, wgpu::Buffer)>,
}

impl Recorded {
    fn new(program: &Program, device: &Device, operator: &Operator, inputs: &[&Tensor]) -> Self {
        let descs: Vec<_> = inputs.iter().map(|tensor| tensor.desc()).collect();
        let plan = device.plan(operator, &descs).unwrap();
        let prepared = device.prepare(operator, &descs).unwrap();
        let size = plan.outputs()[0].padded_byte_len();
        let set = |_| {
            let from = inputs.iter().map(|tensor| program.upload(tensor, 0)).collect();
            (from, program.result(size))
        };
        Self { prepared, launches: plan.shaders().count(), sets: (0..4).map(set).collect() }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, i: usize) {
        let (from, to) = &self.sets[i % self.sets.len()];
        let mut ranges = [BufferRange::from(to); 2];
        for (range, buffer) in ranges.iter_mut().zip(from) {
            *range = buffer.into();
        }
        self.prepared.record(encoder).inputs(&ranges[..from.len()]).output(to).finish().unwrap();
    }
}

/// A reduction of one launch, and a segment maximum of many.
fn recorded(program: &Program, device: &Device) -> [Recorded; 2] {
    let small = tensor(ElementType::F32, &[64, 64], 2, &mut Random(1));
    let rows = tensor(ElementType::U8, &[5000, 3], 0, &mut Random(2));
    let ids: Vec<i32> = (0..5000).map(|row| row / 70).collect();
    let ids = Tensor::from_slice([5000], &ids).unwrap();
    let reduce: Operator = ReduceMax::new().axes([1]).into();
    let segments: Operator = SegmentMax::sorted().num_segments(100).into();
    let all = [
        Recorded::new(program, device, &reduce, &[&small]),
        Recorded::new(program, device, &segments, &[&rows, &ids]),
    ];
    assert!(all[0].launches == 1 && all[1].launches > 2);
    all
}

/// The numbers of live wgpu objects.
fn objects(program: &Program) -> [usize; 6] {
    let report = program.instance.generate_report().unwrap();
    let hub = report.hub_report();
    let all = [
        &hub.buffers,
        &hub.bind_groups,
        &hub.bind_group_layouts,
        &hub.compute_pipelines,
        &hub.shader_modules,
        &hub.command_encoders,
    ];
    all.map(|registry| registry.num_kept_from_user)
}

/// Makes `count` recordings, submits them by the hundred, and returns what stays allocated on the
/// host.
fn rounds(program: &Program, all: &[Recorded], count: usize) -> AllocationInfo {
    measure(|| {
        for first in (0..count).step_by(100) {
            let mut encoder = program.encoder();
            for i in first..first + 100 {
                all.iter().for_each(|recorded| recorded.record(&mut encoder, i / 3));
            }
            program.queue.submit([encoder.finish()]);
            program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        }
    })
}

#[test]
fn recordings_leave_nothing_behind() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let all = recorded(&program, &device);
    // The first rounds fill wgpu's own pools.
    rounds(&program, &all, 1000);
    let before = objects(&program);
    let left = rounds(&program, &all, 10_000);
    assert_eq!(objects(&program), before);
    // If each recording leaked one allocation, there would be 20,000.
    assert!(left.count_current.abs() < 100, "{left:?}");
    assert!(left.bytes_current.abs() < 64 << 10, "{left:?}");
}

/// Bind groups are kept for all sets of buffers that recur in turn, and for a few that do not.
#[test]
fn bind_groups_are_kept_for_all_buffers_that_come_again() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = tensor(ElementType::F32, &[64, 64], 2, &mut Random(1));
    let rows: Operator = ReduceMax::new().axes([1]).into();
    let bind_groups = || objects(&program)[1];
    for in_flight in [4, 6, 64] {
        let prepared = device.prepare(&rows, [input.desc()]).unwrap();
        let source = program.upload(&input, 0);
        let sets: Vec<_> = (0..in_flight).map(|_| program.result(256)).collect();
        let mut encoder = program.encoder();
        let before = bind_groups();
        for result in sets.iter().cycle().take(20 * in_flight) {
            prepared.record(&mut encoder).input(&source).output(result).finish().unwrap();
        }
        program.queue.submit([encoder.finish()]);
        program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        assert_eq!(bind_groups() - before, in_flight);
    }
    let prepared = device.prepare(&rows, [input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let before = bind_groups();
    for _ in 0..200 {
        let mut encoder = program.encoder();
        prepared.record(&mut encoder).input(&source).output(&program.result(256)).finish().unwrap();
        program.queue.submit([encoder.finish()]);
        program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }
    assert_eq!(bind_groups() - before, 4);
}

/// Recording uses what was reserved: bind groups, and scratch for textures.
#[test]
fn recording_what_was_reserved_makes_nothing() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let texture = || {
        program.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 100, height: 50, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    };
    let (from, to) = (texture(), texture());
    let view = texture_view(from.format(), from.size()).unwrap();
    let copy =
        device.prepare_into(ReduceMax::new().axes([]), &view, std::slice::from_ref(&view)).unwrap();
    let made = || objects(&program)[..2].to_vec();
    let before = made();
    copy.reserve().input(&from).output(&to).finish().unwrap();
    let reserved = made();
    assert!(reserved > before, "{reserved:?}, {before:?}");
    let mut encoder = program.encoder();
    copy.record(&mut encoder).input(&from).output(&to).finish().unwrap();
    assert_eq!(made(), reserved);
}

/// A recording allocates what wgpu needs for its passes, a fixed amount to check the device, and
/// a fixed amount to check each buffer.
#[test]
fn recordings_allocate_for_their_passes_alone() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let all = recorded(&program, &device);
    rounds(&program, &all, 200);

    let (pipeline, group) = raw(&program);
    let count = 400;
    let per = |f: &mut dyn FnMut(&mut wgpu::CommandEncoder, usize)| {
        let mut encoder = program.encoder();
        let mut round = |count| (0..count).for_each(|i| f(&mut encoder, i));
        round(50);
        measure(|| round(count)).count_total as f64 / count as f64
    };
    let pass = per(&mut |encoder, _| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("a label as long as one of ours"),
            timestamp_writes: None,
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    });
    let beside: Vec<f64> = all
        .iter()
        .map(|recorded| {
            let all = per(&mut |encoder, i| recorded.record(encoder, i));
            println!("{} launches: {all} allocations, {pass} a pass", recorded.launches);
            all - pass * recorded.launches as f64
        })
        .collect();
    // The first operator has two buffers, the second three.
    let buffer = beside[1] - beside[0];
    assert!(buffer < 8.0 && beside[0] - 2.0 * buffer < 24.0, "{beside:?} beside the passes");
}

/// A pipeline of the program's own, and what it binds.
fn raw(program: &Program) -> (wgpu::ComputePipeline, wgpu::BindGroup) {
    let source = "@group(0) @binding(0) var<storage, read_write> b: array<u32>;
        @compute @workgroup_size(1) fn main() { b[0] = 1u; }";
    let module = program.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline = program.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = program.result(16);
    let group = program.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    (pipeline, group)
}
