//! A small network learns to read digits, once on a GPU and once on the CPU. In the end the weights
//! are equal in every bit: MaxPool, ReduceMax and their gradients are exact, and this program does all
//! other arithmetic on the host, in a fixed order. Its `exp` and `ln` are those of the system, so another
//! machine may compute other weights, but the same on both devices.
//!
//!     cargo run --release --example train

use anyhow::ensure;
use wgmax::operator::{MaxPool, MaxPoolBackward, Operator, ReduceMax, ReduceMaxBackward};
use wgmax::{Device, Run, Tensor};

const STEPS: usize = 100;
const BATCH: usize = 20;
const SIDE: usize = 12;
const FEATURES: usize = 8;
const DIGITS: usize = 10;
const RATE: f32 = 0.5;

/// Seven rows of five pixels for each digit: a bit is a pixel.
const GLYPHS: [[u8; 7]; DIGITS] = [
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

/// Random numbers from 0 to 1, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f32) as usize
    }
}

/// Digits at random places in noisy images, and their labels.
fn images(random: &mut Random) -> (Vec<f32>, Vec<usize>) {
    let mut pixels: Vec<f32> = (0..BATCH * SIDE * SIDE).map(|_| random.next() * 0.4).collect();
    let labels: Vec<usize> = (0..BATCH).map(|image| image % DIGITS).collect();
    for (image, &label) in pixels.chunks_mut(SIDE * SIDE).zip(&labels) {
        let (top, left) = (random.below(SIDE - 6), random.below(SIDE - 4));
        for (row, bits) in GLYPHS[label].iter().enumerate() {
            for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                image[(top + row) * SIDE + left + column] += 1.0;
            }
        }
    }
    (pixels, labels)
}

/// Calls `each` for all products of a 3 x 3 convolution that keeps the size, in a fixed order, with the
/// numbers of the result, the input and the weight.
fn products(inputs: usize, results: usize, side: usize, mut each: impl FnMut(usize, usize, usize)) {
    for image in 0..BATCH {
        for (to, y, x) in (0..results * side * side).map(|i| split(i, side)) {
            for (from, ky, kx) in (0..inputs * 9).map(|i| split(i, 3)) {
                let (row, column) = (y + ky, x + kx);
                if (1..=side).contains(&row) && (1..=side).contains(&column) {
                    let result = ((image * results + to) * side + y) * side + x;
                    let input = ((image * inputs + from) * side + row - 1) * side + column - 1;
                    each(result, input, ((to * inputs + from) * 3 + ky) * 3 + kx);
                }
            }
        }
    }
}

/// The plane, the row and the column of an element.
fn split(number: usize, side: usize) -> (usize, usize, usize) {
    (number / (side * side), number / side % side, number % side)
}

/// Trains on a device. Returns all weights, and the loss of each step.
fn train(device: &Device) -> anyhow::Result<(Vec<f32>, Vec<f32>)> {
    let run = |operator: Operator, inputs: [(&[usize], &[f32]); 2]| -> wgmax::Result<Vec<f32>> {
        let [first, second] = inputs.map(|(shape, elements)| Tensor::from_slice(shape, elements));
        let inputs = [&first?, &second?];
        operator.run(device, &inputs[..operator.input_count()])?[0].to_vec()
    };
    // Windows overlap, so gradients are added.
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
    let reduce = ReduceMax::new().axes([2, 3]);
    let half = SIDE / 2;
    let wide = [BATCH, FEATURES, SIDE, SIDE];
    let (pooled, scores) = ([BATCH, FEATURES, half, half], [BATCH, DIGITS, half, half]);

    let random = &mut Random(1);
    let mut first: Vec<f32> = (0..FEATURES * 9).map(|_| random.next() - 0.4).collect();
    let mut second: Vec<f32> =
        (0..DIGITS * FEATURES * 9).map(|_| (random.next() - 0.5) * 0.2).collect();
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        let (pixels, labels) = images(random);
        let mut features = vec![0.0; wide.iter().product()];
        products(1, FEATURES, SIDE, |r, i, w| features[r] += pixels[i] * first[w]);
        let maxima = run((&pool).into(), [(&wide, &features), (&[0], &[])])?;
        let kept: Vec<f32> = maxima.iter().map(|&x| x.max(0.0)).collect();
        let mut found = vec![0.0; scores.iter().product()];
        products(FEATURES, DIGITS, half, |r, i, w| found[r] += kept[i] * second[w]);
        let best = run((&reduce).into(), [(&scores, &found), (&[0], &[])])?;

        // The gradient of the mean cross entropy of a softmax.
        let (mut loss, mut gradient) = (0.0, Vec::new());
        for (scores, &label) in best.chunks(DIGITS).zip(&labels) {
            let top = scores.iter().copied().fold(f32::MIN, f32::max);
            let powers: Vec<f32> = scores.iter().map(|score| (score - top).exp()).collect();
            let sum: f32 = powers.iter().sum();
            loss -= (powers[label] / sum).ln() / BATCH as f32;
            gradient.extend(powers.iter().enumerate().map(|(digit, power)| {
                (power / sum - if digit == label { 1.0 } else { 0.0 }) / BATCH as f32
            }));
        }
        losses.push(loss);

        let backward = ReduceMaxBackward::new(reduce.clone()).into();
        let found = run(backward, [(&scores, &found), (&[BATCH, DIGITS], &gradient)])?;
        let (mut of_kept, mut of_second) = (vec![0.0; kept.len()], vec![0.0; second.len()]);
        products(FEATURES, DIGITS, half, |r, i, w| {
            of_kept[i] += found[r] * second[w];
            of_second[w] += found[r] * kept[i];
        });
        for (gradient, _) in of_kept.iter_mut().zip(&maxima).filter(|(_, x)| **x <= 0.0) {
            *gradient = 0.0;
        }
        let backward = MaxPoolBackward::new(pool.clone()).into();
        let features = run(backward, [(&wide, &features), (&pooled, &of_kept)])?;
        let mut of_first = vec![0.0; first.len()];
        products(1, FEATURES, SIDE, |r, i, w| of_first[w] += features[r] * pixels[i]);
        for (weights, gradients) in [(&mut first, of_first), (&mut second, of_second)] {
            weights.iter_mut().zip(gradients).for_each(|(weight, slope)| *weight -= RATE * slope);
        }
    }
    first.append(&mut second);
    Ok((first, losses))
}

fn main() -> anyhow::Result<()> {
    let (expected, losses) = train(&Device::cpu())?;
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let (before, after) = (mean(&losses[..5]), mean(&losses[STEPS - 5..]));
    println!("CPU: loss {before:.3} -> {after:.3} in {STEPS} steps");
    ensure!(after < before / 2.0, "it has not learned");
    match Device::gpu() {
        Ok(device) => {
            let (found, _) = train(&device)?;
            let pairs = found.iter().zip(&expected);
            let equal = pairs.filter(|(a, b)| a.to_bits() == b.to_bits()).count();
            println!("{}: {equal} of {} weights are equal", device.info().name, expected.len());
            ensure!(equal == expected.len(), "the weights differ");
        }
        Err(error) => println!("no GPU: {error}"),
    }
    Ok(())
}
