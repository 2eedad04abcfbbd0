//! A network for handwritten digits is trained twice, on the GPU and on the CPU. In the end all
//! weights are equal, bit for bit: the pools pass their gradients on in a defined order.
//!
//!     cargo run --release --example train
//!
//! The digits are drawn from glyphs, shifted and noisy. The network: a convolution, MaxPool with
//! overlapping windows, ReduceMax along rows, and a linear layer. All but MaxPool and ReduceMax is
//! computed here, one operation after the other, as it stands.

use wgmax::operator::{MaxPool, MaxPoolBackward, Operator, ReduceMax, ReduceMaxBackward};
use wgmax::sweep::Random;
use wgmax::{Device, Result, Tensor};

/// Ten digits of 5 x 7 points: a number for each row, a bit for each point.
const GLYPHS: [[u8; 7]; 10] = [
    [14, 17, 19, 21, 25, 17, 14],
    [4, 12, 4, 4, 4, 4, 14],
    [14, 17, 1, 2, 4, 8, 31],
    [31, 2, 4, 2, 1, 17, 14],
    [2, 6, 10, 18, 31, 2, 2],
    [31, 16, 30, 1, 1, 17, 14],
    [6, 8, 16, 30, 17, 17, 14],
    [31, 1, 2, 4, 8, 8, 8],
    [14, 17, 17, 14, 17, 17, 14],
    [14, 17, 17, 15, 1, 2, 12],
];
const CLASSES: usize = GLYPHS.len();
const PICTURES: usize = 16 * CLASSES;
/// Rows and columns of a picture, of what the convolution makes of it, and of its pool.
const SIDE: usize = 11;
const WIDE: usize = SIDE - 2;
const POOLED: usize = (WIDE - 3) / 2 + 1;
const CHANNELS: usize = 12;
const FEATURES: usize = CHANNELS * POOLED;
const STEPS: usize = 100;
const RATE: f32 = 0.2;

fn main() -> Result<()> {
    // Drivers that compute on the CPU are as good as hardware here.
    let (gpu, cpu) = (Device::gpu().or_else(|_| Device::auto())?, Device::cpu());
    let pictures = pictures();
    let (on_gpu, losses) = train(&gpu, &pictures)?;
    let (on_cpu, _) = train(&cpu, &pictures)?;
    println!("{}: loss {:.4} before, {:.4} after {STEPS} steps", gpu.info(), losses.0, losses.1);
    let differ = on_gpu.iter().zip(&on_cpu).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    assert_eq!(differ, 0, "weights differ");
    println!("and on the CPU: all {} weights are equal, bit for bit", on_cpu.len());
    assert!(losses.1 < losses.0 / 2.0, "the network has learned too little");
    Ok(())
}

/// A number between -1 and 1.
fn uniform(random: &mut Random) -> f32 {
    (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Pictures of each class in turn: the glyph somewhere in the picture, and noise.
fn pictures() -> Vec<f32> {
    let random = &mut Random(1);
    let mut pictures = vec![0.0; PICTURES * SIDE * SIDE];
    for (i, picture) in pictures.chunks_mut(SIDE * SIDE).enumerate() {
        picture.fill_with(|| 0.3 * uniform(random));
        let (x, y) = (random.next() as usize % (SIDE - 4), random.next() as usize % (SIDE - 6));
        for (row, bits) in GLYPHS[i % CLASSES].into_iter().enumerate() {
            for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                picture[(y + row) * SIDE + x + column] += 1.0;
            }
        }
    }
    pictures
}

/// Trains on a device: all weights, and the loss before and after.
fn train(device: &Device, pictures: &[f32]) -> Result<(Vec<f32>, (f32, f32))> {
    let pool = MaxPool::new([3, 3]).strides([2, 2]);
    let reduce = ReduceMax::new().axes([3]);
    let pool_backward = Operator::from(MaxPoolBackward::new(pool.clone()));
    let reduce_backward = Operator::from(ReduceMaxBackward::new(reduce.clone()));
    let (pool, reduce) = (Operator::from(pool), Operator::from(reduce));

    let random = &mut Random(2);
    let mut filters: Vec<f32> = (0..CHANNELS * 9).map(|_| 0.5 * uniform(random)).collect();
    let mut linear: Vec<f32> = (0..CLASSES * FEATURES).map(|_| 0.3 * uniform(random)).collect();
    let mut losses = Vec::new();
    for _ in 0..=STEPS {
        let convolved = convolve(pictures, &filters);
        let convolved = Tensor::from_slice([PICTURES, CHANNELS, WIDE, WIDE], &convolved)?;
        let pooled = &pool.run(device, &[&convolved])?[0];
        let reduced = &reduce.run(device, &[pooled])?[0];
        let (loss, of_linear, of_reduced) = classify(&reduced.to_vec()?, &linear);
        losses.push(loss);
        // And back again.
        let of_reduced = Tensor::from_slice(reduced.shape(), &of_reduced)?;
        let of_pooled = &reduce_backward.run(device, &[pooled, &of_reduced])?[0];
        let of_convolved = &pool_backward.run(device, &[&convolved, of_pooled])?[0];
        let of_filters = of_filters(pictures, &of_convolved.to_vec()?);
        let weights = linear.iter_mut().chain(&mut filters);
        for (weight, gradient) in weights.zip(of_linear.iter().chain(&of_filters)) {
            *weight -= RATE * gradient;
        }
    }
    Ok(([filters, linear].concat(), (losses[0], losses[STEPS])))
}

/// Each point of each channel of each picture, by number, with the place of its first tap.
fn points() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..PICTURES * CHANNELS * WIDE * WIDE).map(|number| {
        let (plane, point) = (number / (WIDE * WIDE), number % (WIDE * WIDE));
        let (picture, channel) = (plane / CHANNELS, plane % CHANNELS);
        (number, channel, picture * SIDE * SIDE + point / WIDE * SIDE + point % WIDE)
    })
}

fn convolve(pictures: &[f32], filters: &[f32]) -> Vec<f32> {
    let point = |(_, channel, at): (usize, usize, usize)| {
        let tap = |i: usize| filters[channel * 9 + i] * pictures[at + i / 3 * SIDE + i % 3];
        (0..9).map(tap).sum()
    };
    points().map(point).collect()
}

/// The gradient of the filters, from that of what the convolution made.
fn of_filters(pictures: &[f32], gradient: &[f32]) -> Vec<f32> {
    let mut filters = vec![0.0; CHANNELS * 9];
    for (number, channel, at) in points().filter(|&(number, ..)| gradient[number] != 0.0) {
        for i in 0..9 {
            filters[channel * 9 + i] += gradient[number] * pictures[at + i / 3 * SIDE + i % 3];
        }
    }
    filters
}

/// The mean cross-entropy of the linear layer's softmax, and its gradients: those of the layer's
/// weights and of the features.
fn classify(features: &[f32], linear: &[f32]) -> (f32, Vec<f32>, Vec<f32>) {
    let mut loss = 0.0;
    let (mut of_linear, mut of_features) = (vec![0.0; linear.len()], vec![0.0; features.len()]);
    let all = features.chunks(FEATURES).zip(of_features.chunks_mut(FEATURES));
    for (picture, (features, of_features)) in all.enumerate() {
        let score = |weights: &[f32]| weights.iter().zip(features).map(|(w, x)| w * x).sum();
        let scores: Vec<f32> = linear.chunks(FEATURES).map(score).collect();
        let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f32> = scores.iter().map(|score| (score - largest).exp()).collect();
        let sum: f32 = powers.iter().sum();
        for (class, power) in powers.iter().enumerate() {
            let wanted = f32::from(class == picture % CLASSES);
            loss -= wanted * (power / sum).ln() / PICTURES as f32;
            let of_score = (power / sum - wanted) / PICTURES as f32;
            let weights = class * FEATURES..(class + 1) * FEATURES;
            for (i, weight) in weights.enumerate() {
                of_linear[weight] += of_score * features[i];
                of_features[i] += of_score * linear[weight];
            }
        }
    }
    (loss, of_linear, of_features)
}
