//! The brightest texel of a picture, for automatic exposure in each frame: the maximum of each
//! channel of an RGBA16F texture, written to a buffer for the program's own shaders.
//!
//!     cargo run --release --example exposure

use anyhow::Context;
use half::f16;
use wgmax::operator::ReduceMax;
use wgmax::wgpu::{self, BufferUsages, TextureUsages};
use wgmax::{Device, texture_view};

const SIZE: wgpu::Extent3d = wgpu::Extent3d { width: 321, height: 200, depth_or_array_layers: 1 };
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

fn main() -> anyhow::Result<()> {
    pollster::block_on(run())
}

async fn run() -> anyhow::Result<()> {
    // The program's own device, and its picture.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let (device, queue) = adapter.request_device(&Default::default()).await?;
    let picture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
        view_formats: &[],
    });

    // Once: the colours of all texels, without alpha. The view has their layout in the rows that
    // the texture is copied to.
    let wgmax = Device::from_wgpu(&device, &queue)?;
    let colours = texture_view(FORMAT, SIZE)?.slice(3, 0..3)?;
    let brightest = ReduceMax::new().axes([0, 1, 2]).keep_dims(false);
    let brightest = wgmax.prepare_async(brightest, &colours).await?;
    let buffer = |label, usage| {
        let (size, mapped_at_creation) = (brightest.outputs()[0].padded_byte_len(), false);
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation,
        })
    };
    let result = buffer("brightest", BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let staging = buffer("staging", BufferUsages::MAP_READ | BufferUsages::COPY_DST);

    for frame in 0..3 {
        let texels = draw(frame);
        let layout = wgpu::TexelCopyBufferLayout {
            bytes_per_row: Some(8 * SIZE.width),
            ..Default::default()
        };
        queue.write_texture(picture.as_image_copy(), bytemuck::cast_slice(&texels), layout, SIZE);
        let mut encoder = device.create_command_encoder(&Default::default());
        brightest.record(&mut encoder).input(&picture).output(&result).finish()?;
        encoder.copy_buffer_to_buffer(&result, 0, &staging, 0, staging.size());
        queue.submit([encoder.finish()]);

        staging.map_async(wgpu::MapMode::Read, .., |_| ());
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let bytes = staging.get_mapped_range(..).context("mapping")?.to_vec();
        staging.unmap();
        let found: &[f16] = &bytemuck::cast_slice(&bytes)[..3];
        let largest =
            |channel| texels.iter().skip(channel).step_by(4).fold(f16::MIN, |a, b| a.max(*b));
        let expected = [0, 1, 2].map(largest);
        println!("frame {frame}: the brightest red, green and blue are {found:?}");
        anyhow::ensure!(found == expected, "the CPU finds {expected:?}");
    }
    Ok(())
}

/// A light that moves, red, green and blue, and opaque.
fn draw(frame: u32) -> Vec<f16> {
    let texel = |i: u32| {
        let (x, y) = ((i % SIZE.width) as f32, (i / SIZE.width) as f32);
        let (dx, dy) = (x - 60.0 - 40.0 * frame as f32, y - 90.0);
        let light = (30.0 + 10.0 * frame as f32) / (1.0 + 0.01 * (dx * dx + dy * dy));
        [light, 0.8 * light + 0.1, 0.25 * light, 1.0].map(f16::from_f32)
    };
    (0..SIZE.width * SIZE.height).flat_map(texel).collect()
}
