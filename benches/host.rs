//! The host's part of the work: planning, recording, compiling, copying. `wgmax bench` measures the
//! operators.
//!
//!     cargo bench --bench host

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use wgmax::operator::{MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::plan::Limits;
use wgmax::wgpu::{self, BufferUsages};
use wgmax::{BufferRange, Device, ElementType, Tensor, TensorDesc, Tuning};

criterion_group!(benches, planning, recording, compiling, copying);
criterion_main!(benches);

/// An operator of each kind on a tensor of some tens of megabytes.
fn operators() -> wgmax::Result<Vec<(Operator, Vec<TensorDesc>)>> {
    let f32 = |shape: &[usize]| TensorDesc::new(ElementType::F32, shape);
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
    let ids = TensorDesc::new(ElementType::I32, [4_000_000])?;
    Ok(vec![
        (ReduceMax::new().axes([1]).into(), vec![f32(&[4096, 4096])?]),
        (pool.into(), vec![f32(&[16, 64, 112, 112])?]),
        (SegmentMax::sorted().num_segments(4000).into(), vec![f32(&[4_000_000])?, ids]),
    ])
}

/// wgpu's own objects, from which devices of wgmax can be made again.
fn opened() -> anyhow::Result<(wgpu::Device, wgpu::Queue)> {
    let adapter = wgmax::adapter("gpu")?;
    let descriptor =
        wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    Ok(pollster::block_on(adapter.request_device(&descriptor))?)
}

fn planning(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    let limits = Limits::from_wgpu(&wgpu::Limits::default());
    let tuning = Tuning::hardware();
    for (operator, inputs) in operators().unwrap() {
        let inputs: Vec<&TensorDesc> = inputs.iter().collect();
        group.bench_function(operator.name(), |bencher| {
            bencher.iter(|| operator.plan(&inputs, &limits, &tuning));
        });
    }
}

/// The same buffers again and again, as in a program that draws frames.
fn recording(criterion: &mut Criterion) {
    let (gpu, queue) = opened().unwrap();
    let device = Device::from_wgpu(&gpu, &queue).unwrap();
    let mut group = criterion.benchmark_group("record");
    for (operator, inputs) in operators().unwrap() {
        let inputs: Vec<&TensorDesc> = inputs.iter().collect();
        let prepared = device.prepare(&operator, &inputs).unwrap();
        let buffer = |desc: &TensorDesc| {
            gpu.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: (desc.byte_len() as u64).next_multiple_of(16),
                usage: BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        };
        let sources: Vec<_> = inputs.iter().map(|desc| buffer(desc)).collect();
        let results: Vec<_> = prepared.outputs().iter().map(buffer).collect();
        let sources: Vec<BufferRange> = sources.iter().map(Into::into).collect();
        let results: Vec<BufferRange> = results.iter().map(Into::into).collect();
        group.bench_function(operator.name(), |bencher| {
            bencher.iter_batched_ref(
                || gpu.create_command_encoder(&Default::default()),
                |encoder| {
                    prepared.record(encoder).inputs(&sources).outputs(&results).finish().unwrap()
                },
                BatchSize::SmallInput,
            );
        });
    }
}

/// Without pipelines of wgmax; the driver may have cached what it compiled.
fn compiling(criterion: &mut Criterion) {
    let (gpu, queue) = opened().unwrap();
    let mut group = criterion.benchmark_group("prepare");
    group.sample_size(10);
    for (operator, inputs) in operators().unwrap() {
        let inputs: Vec<&TensorDesc> = inputs.iter().collect();
        group.bench_function(operator.name(), |bencher| {
            bencher.iter_batched(
                || Device::from_wgpu(&gpu, &queue).unwrap(),
                |device| device.prepare(&operator, &inputs).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
}

fn copying(criterion: &mut Criterion) {
    let device = Device::gpu().unwrap();
    for mib in [1, 64] {
        let tensor = Tensor::from_bytes(ElementType::U8, [mib << 20], &vec![1; mib << 20]).unwrap();
        let on_device = device.upload(&tensor).unwrap();
        for name in ["upload", "download"] {
            let mut group = criterion.benchmark_group(name);
            group.sample_size(10).throughput(Throughput::Bytes((mib << 20) as u64));
            group.bench_with_input(
                BenchmarkId::from_parameter(format!("{mib} MiB")),
                &(),
                |b, ()| {
                    b.iter(|| match name {
                        "upload" => {
                            drop(device.upload(&tensor).unwrap());
                            device.wait().unwrap();
                        }
                        _ => drop(on_device.download().unwrap()),
                    });
                },
            );
        }
    }
}
