//! Dilates a picture: each colour of a pixel becomes the largest of the 31 x 31 pixels around it. This is
//! MaxPool with stride 1 and padding that keeps the size.
//!
//!     cargo run --release --example dilate [FOLDER]
//!
//! Both pictures are written to the folder, or to the system's folder for temporary files.

use std::f32::consts::TAU;
use std::path::PathBuf;

use anyhow::Context;
use image::{Rgb, RgbImage};
use wgmax::operator::{Layout, MaxPool, Padding};
use wgmax::{Device, Run, Tensor, compare};

const WIDTH: u32 = 641;
const HEIGHT: u32 = 479;
const WINDOW: usize = 31;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let picture = draw();
    // In memory order: rows, columns, and the three colours as channels.
    let shape = [1, HEIGHT as usize, WIDTH as usize, 3];
    let input = Tensor::from_slice(shape, picture.as_raw())?;

    let dilation = MaxPool::new([WINDOW, WINDOW]).padding(Padding::SameUpper).layout(Layout::Nxc);
    // A GPU or a software adapter, so that the CPU is not compared with itself.
    let device = Device::gpu().or_else(|_| Device::auto())?;
    let cpu = Device::cpu();
    let [result] = dilation.run(&device, &input)?.exactly()?;
    let [expected] = dilation.run(&cpu, &input)?.exactly()?;

    let dilated = RgbImage::from_raw(WIDTH, HEIGHT, result.to_vec()?)
        .expect("the result has the picture's shape");
    for (name, picture) in [("before.png", &picture), ("dilated.png", &dilated)] {
        let path = folder.join(name);
        picture.save(&path).with_context(|| path.display().to_string())?;
        println!("{}", path.display());
    }
    println!("{} -> {}, window {WINDOW} x {WINDOW}", input.desc(), result.desc());
    println!("on {} and {}: {}", device.info(), cpu.info(), compare(&result, &expected)?);
    Ok(())
}

/// Thin curves and strokes on a dark ground.
fn draw() -> RgbImage {
    let mut picture = RgbImage::from_pixel(WIDTH, HEIGHT, Rgb([12, 14, 26]));
    // A rose of ten petals, whose colour changes along the curve.
    line(&mut picture, 4000, |t| {
        let angle = 2.0 * TAU * t;
        let r = 130.0 * (2.5 * angle).cos();
        let (sin, cos) = angle.sin_cos();
        (180.0 + r * cos, 170.0 + r * sin, hue(t))
    });
    // Two waves that cross.
    for (phase, colour) in [(0.0, Rgb([90, 200, 120])), (0.5, Rgb([220, 110, 60]))] {
        line(&mut picture, 2000, |t| {
            (641.0 * t, 400.0 + 34.0 * (TAU * (3.0 * t + phase)).sin(), colour)
        });
    }
    // A spiral.
    line(&mut picture, 4000, |t| {
        let (sin, cos) = (TAU * 5.0 * t).sin_cos();
        (490.0 + 110.0 * t * cos, 240.0 + 110.0 * t * sin, hue(1.0 - t))
    });
    // The letters M, A and X: one or two strokes each, on a grid of 4 x 6.
    let letters: [&[&[(f32, f32)]]; 3] = [
        &[&[(0.0, 6.0), (0.0, 0.0), (2.0, 3.0), (4.0, 0.0), (4.0, 6.0)]],
        &[&[(0.0, 6.0), (2.0, 0.0), (4.0, 6.0)], &[(0.7, 4.0), (3.3, 4.0)]],
        &[&[(0.0, 0.0), (4.0, 6.0)], &[(4.0, 0.0), (0.0, 6.0)]],
    ];
    for (number, letter) in letters.iter().enumerate() {
        let left = 380.0 + 80.0 * number as f32;
        for stroke in *letter {
            for ends in stroke.windows(2) {
                let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
                line(&mut picture, 200, |t| {
                    let (x, y) = (x0 + (x1 - x0) * t, y0 + (y1 - y0) * t);
                    (left + 12.0 * x, 24.0 + 12.0 * y, Rgb([235, 235, 225]))
                });
            }
        }
    }
    picture
}

/// Draws a curve as points: `curve` returns the coordinates and the colour at each time from 0 to 1.
fn line(picture: &mut RgbImage, points: u32, curve: impl Fn(f32) -> (f32, f32, Rgb<u8>)) {
    for point in 0..=points {
        let (x, y, colour) = curve(point as f32 / points as f32);
        // Negative coordinates become 0, and points beyond the size are left out.
        let (x, y) = (x.round() as u32, y.round() as u32);
        if x < WIDTH && y < HEIGHT {
            picture.put_pixel(x, y, colour);
        }
    }
}

/// The colour at an angle of the colour circle, in turns.
fn hue(t: f32) -> Rgb<u8> {
    let part = |shift: f32| (140.0 + 110.0 * (TAU * (t + shift)).cos()) as u8;
    Rgb([part(0.0), part(2.0 / 3.0), part(1.0 / 3.0)])
}
