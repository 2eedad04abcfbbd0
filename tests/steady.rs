//! Recording in the steady state: no growth, and nothing beside the passes.

mod common;

use std::collections::HashSet;

use allocation_counter::{AllocationInfo, measure};
use common::program::{Program, program};
use common::{Random, tensor};
use wgmax::operator::{MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::wgpu;
use wgmax::{BufferRange, Device, ElementType, Prepared, Tensor, Tuning};

/// An operator that is prepared, with as many sets of buffers as stay bound.
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
        self.prepared.record(encoder, &ranges[..from.len()], &[to]).unwrap();
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

/// The wgpu objects that there are.
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

/// So many recordings, submitted by the hundred, and what they leave on the host.
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
    let device = Device::from_wgpu(&program.device, &program.queue);
    let all = recorded(&program, &device);
    // wgpu's own pools fill.
    rounds(&program, &all, 1000);
    let before = objects(&program);
    let left = rounds(&program, &all, 10_000);
    assert_eq!(objects(&program), before);
    // Were one thing kept a recording, it would be 20,000.
    assert!(left.count_current.abs() < 100, "{left:?}");
    assert!(left.bytes_current.abs() < 64 << 10, "{left:?}");
}

/// A recording allocates what wgpu does for its passes, and what asking after the device
/// takes, which does not depend on the operator.
#[test]
fn recordings_allocate_for_their_passes_alone() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
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
    assert!((beside[0] - beside[1]).abs() < 1.0, "{beside:?} beside the passes");
    assert!(beside[0] < 24.0, "{beside:?} beside the passes");
}

/// Software adapters get shaders that are written for attributes. There may be any number of
/// these, but not of their pipelines.
#[test]
fn pipelines_of_many_poolings_are_few() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    let device = device.with_tuning(Tuning::software());
    let input = tensor(ElementType::F32, &[1, 1, 4, 64], 2, &mut Random(3));
    let before = objects(&program)[3];
    let mut shaders = HashSet::new();
    for i in 0..100 {
        let (stride, dilation, taps) = (1 + i % 3, 1 + i / 3 % 9, 2 + i / 27);
        let pool = MaxPool::new([1, taps]).strides([1, stride]).dilations([1, dilation]);
        let operator = Operator::from(pool);
        shaders.extend(device.plan(&operator, &[input.desc()]).unwrap().shaders().copied());
        let expected = operator.run(&Device::cpu(), &[&input]).unwrap();
        let found = operator.run(&device, &[&input]).unwrap();
        assert!(found[0].bytes() == expected[0].bytes(), "{operator:?}");
    }
    assert!(shaders.len() > 80, "{}", shaders.len());
    let made = objects(&program)[3] - before;
    assert!(made <= 70, "{made} pipelines of {} shaders", shaders.len());
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
