//! Three operators, one submit: the images of an album are pooled, reduced to one number for each
//! channel, and grouped. No tensor returns from the device in between.
//!
//!     cargo run --release --example chain

use anyhow::ensure;
use wgmax::operator::{MaxPool, ReduceMax, SegmentMax};
use wgmax::{Device, Tensor};

fn main() -> anyhow::Result<()> {
    // Eight images of three channels, and the album of each image. Album 3 is empty.
    let (images, channels, height, width) = (8, 3, 120, 160);
    let pixels: Vec<u8> = (0..images * channels * height * width)
        .map(|i: usize| (i.wrapping_mul(2_654_435_761) >> 12) as u8)
        .map(|byte| byte / 2)
        .collect();
    let images = Tensor::from_slice([images, channels, height, width], &pixels)?;
    let albums = Tensor::from_slice([8], &[0i32, 0, 1, 1, 1, 2, 4, 4])?;

    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
    let brightest = ReduceMax::new().axes([2, 3]);
    let by_album = SegmentMax::sorted().num_segments(5);

    let on = |device: &Device| -> wgmax::Result<Tensor> {
        let (images, albums) = (device.upload(&images)?, device.upload(&albums)?);
        let mut chain = device.chain();
        let pooled = chain.run(&pool, &images)?;
        let channels = chain.run(&brightest, &pooled[0])?;
        let result = chain.run(&by_album, [&channels[0], &albums])?;
        chain.submit()?;
        result[0].download()
    };

    // A GPU or a software adapter, so that the CPU is not compared with itself.
    let device = Device::gpu().or_else(|_| Device::auto())?;
    let (found, expected) = (on(&device)?, on(&Device::cpu())?);
    println!("on {}", device.info());
    for (album, channels) in found.to_vec::<u8>()?.chunks(3).enumerate() {
        println!("album {album}: {channels:?}");
    }
    ensure!(wgmax::compare(&found, &expected)?.is_equal(), "the CPU gives something else");
    println!("the CPU gives the same");
    Ok(())
}
