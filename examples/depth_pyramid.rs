//! A pyramid of the largest depths, for culling: a texture holds the depths of a picture, and each texel
//! of a mip level becomes the maximum of the texels that it covers in the level above.
//!
//!     cargo run --release --example depth_pyramid

use anyhow::Context;
use wgmax::operator::{Layout, MaxPool};
use wgmax::wgpu::{self, TextureUsages};
use wgmax::{Device, Run, Tensor, TextureRange, View, compare, texture_view};

const WIDTH: u32 = 300;
const HEIGHT: u32 = 170;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R32Float;

fn main() -> anyhow::Result<()> {
    pollster::block_on(run())
}

async fn run() -> anyhow::Result<()> {
    // The program's own device, texture, and drawing.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let (device, queue) = adapter.request_device(&Default::default()).await?;
    let size = wgpu::Extent3d { width: WIDTH, height: HEIGHT, depth_or_array_layers: 1 };
    let levels = size.max_mips(wgpu::TextureDimension::D2);
    let depth = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("depth"),
        size,
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: TextureUsages::COPY_SRC | TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    let drawn = picture();
    let rows = wgpu::TexelCopyBufferLayout { bytes_per_row: Some(4 * WIDTH), ..Default::default() };
    queue.write_texture(depth.as_image_copy(), bytemuck::cast_slice(&drawn), rows, size);

    // Once: a pooling for each level, from the level above, all prepared as one.
    let wgmax = Device::from_wgpu(&device, &queue)?;
    let level = |number| TextureRange::mip_level(&depth, number);
    let view = |number| texture_view(FORMAT, level(number).size);
    let mut chain = wgmax.prepare_chain();
    let mut above = chain.input(view(0)?);
    for number in 1..levels {
        above = chain.add(half(level(number - 1).size), above)?[0];
        chain.output_as(above, view(number)?)?;
    }
    let pyramid = chain.prepare_async().await?;

    // Each frame: one encoder for the whole pyramid, one submit.
    let mut encoder = device.create_command_encoder(&Default::default());
    pyramid.record(&mut encoder).input(level(0)).outputs((1..levels).map(level)).finish()?;
    queue.submit([encoder.finish()]);

    // The same on the CPU.
    let cpu = Device::cpu();
    let mut expected = Tensor::from_slice([1, HEIGHT as usize, WIDTH as usize, 1], &drawn)?;
    for number in 1..levels {
        [expected] = half(level(number - 1).size).run(&cpu, &expected)?.exactly()?;
        let found = read(&device, &queue, level(number), view(number)?)?;
        let report = compare(&found, &expected)?;
        println!("level {number}, {}: {report}", found.desc());
        anyhow::ensure!(report.is_equal(), "the CPU has another result");
    }
    println!("the largest depth is {}", expected.as_slice::<f32>()?[0]);
    Ok(())
}

/// Windows of two texels, side by side. If the number of texels is odd, half of it is rounded down; then
/// windows have three texels and overlap, so that each texel is in a window.
fn half(size: wgpu::Extent3d) -> MaxPool {
    let sizes = [size.height, size.width].map(|size| size as usize);
    let kernel = sizes.map(|size| if size == 1 { 1 } else { 2 + size % 2 });
    MaxPool::new(kernel).strides([2, 2]).layout(Layout::Nxc)
}

/// Waves.
fn picture() -> Vec<f32> {
    let depth = |i: u32| ((i % WIDTH) as f32 * 0.05).sin() * ((i / WIDTH) as f32 * 0.07).cos();
    (0..WIDTH * HEIGHT).map(depth).collect()
}

/// Reads a mip level back, by a buffer whose rows have the pitch of the view.
fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    level: TextureRange<'_>,
    view: View,
) -> anyhow::Result<Tensor> {
    let row_bytes = (4 * level.size.width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("depths"),
        size: u64::from(row_bytes * level.size.height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let layout =
        wgpu::TexelCopyBufferLayout { bytes_per_row: Some(row_bytes), ..Default::default() };
    let from =
        wgpu::TexelCopyTextureInfo { mip_level: level.mip_level, ..level.texture.as_image_copy() };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(from, to, level.size);
    queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = buffer.get_mapped_range(..).context("mapping")?;
    let element = view.desc().element_type();
    let memory = Tensor::from_bytes(element, [bytes.len() / element.size()], &bytes)?;
    Ok(Device::cpu().upload(&memory)?.with_view(view)?.download()?)
}
