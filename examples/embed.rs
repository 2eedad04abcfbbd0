//! wgmax as a part of another wgpu program: the program has its own device, buffers and encoder. It
//! fills a buffer with its own shader, lets wgmax record a MaxPool and a ReduceMax after it,
//! submits once and reads the result once.
//!
//!     cargo run --release --example embed

use anyhow::Context;
use wgmax::operator::{MaxPool, ReduceMax};
use wgmax::wgpu::{self, BufferUsages};
use wgmax::{Device, ElementType, Run, Tensor, TensorDesc, compare};

/// Waves, as a picture of one channel.
const HEIGHT: usize = 240;
const WIDTH: usize = 320;
const WAVES: &str = "
    @group(0) @binding(0) var<storage, read_write> picture: array<f32>;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&picture) {
            let x = f32(id.x % 320u);
            let y = f32(id.x / 320u);
            picture[id.x] = sin(x * 0.05) * cos(y * 0.07) + 0.001 * x;
        }
    }";

fn main() -> anyhow::Result<()> {
    pollster::block_on(run())
}

async fn run() -> anyhow::Result<()> {
    // The program's own device, queue and buffers.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let (device, queue) = adapter.request_device(&Default::default()).await?;
    let buffer = |label, size, usage| {
        let label = Some(label);
        let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false };
        device.create_buffer(&descriptor)
    };

    // Once: shapes, types, plans, pipelines, scratch.
    let wgmax = Device::from_wgpu(&device, &queue)?;
    let picture = TensorDesc::new(ElementType::F32, [1, 1, HEIGHT, WIDTH])?;
    let pool = wgmax.prepare_async(MaxPool::new([5, 5]).strides([4, 4]), &picture).await?;
    let pooled = &pool.outputs()[0];
    let rows = wgmax.prepare_async(ReduceMax::new().axes([3]), pooled).await?;
    let result = &rows.outputs()[0];

    let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let (front, back) = (picture.padded_byte_len(), result.padded_byte_len());
    let picture_buffer = buffer("picture", front, storage);
    let pooled_buffer = buffer("pooled", pooled.padded_byte_len(), storage);
    let result_buffer = buffer("rows", back, storage);
    let staging = buffer("staging", front + back, BufferUsages::MAP_READ | BufferUsages::COPY_DST);

    // Each frame: one encoder and one submit.
    let mut encoder = device.create_command_encoder(&Default::default());
    draw(&device, &mut encoder, &picture_buffer);
    pool.record(&mut encoder).input(&picture_buffer).output(&pooled_buffer).finish()?;
    rows.record(&mut encoder).input(&pooled_buffer).output(&result_buffer).finish()?;
    encoder.copy_buffer_to_buffer(&picture_buffer, 0, &staging, 0, front);
    encoder.copy_buffer_to_buffer(&result_buffer, 0, &staging, front, back);
    queue.submit([encoder.finish()]);

    staging.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = staging.get_mapped_range(..).context("mapping")?.to_vec();

    // The same on the CPU, from the picture that the shader drew.
    let cpu = Device::cpu();
    let tensor = |desc: &TensorDesc, begin: u64| {
        let bytes = &bytes[begin as usize..][..desc.byte_len()];
        Tensor::from_bytes(desc.element_type(), desc.shape(), bytes)
    };
    let (drawn, found) = (tensor(&picture, 0)?, tensor(result, front)?);
    let expected = MaxPool::new([5, 5]).strides([4, 4]).run(&cpu, &drawn)?;
    let expected = ReduceMax::new().axes([3]).run(&cpu, &expected[0])?;
    println!("{picture} -> {pooled} -> {result} on {}", wgmax.info());
    println!("against the CPU: {}", compare(&found, &expected[0])?);
    Ok(())
}

/// The program's own shader.
fn draw(device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, picture: &wgpu::Buffer) {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("waves"),
        source: wgpu::ShaderSource::Wgsl(WAVES.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("waves"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("waves"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: picture.as_entire_binding() }],
    });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups((HEIGHT * WIDTH).div_ceil(64) as u32, 1, 1);
}
