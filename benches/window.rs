//! The cost of a pooling as its window grows, as a ratio to k = 3 in the same run.
//!
//!     cargo bench --bench window

use std::time::{Duration, Instant};

use wgmax::operator::{Layout, MaxPool, Padding};
use wgmax::{Device, Tensor};

const WINDOWS: [usize; 13] = [2, 3, 4, 5, 7, 9, 13, 17, 24, 31, 40, 47, 63];
/// Windows run in turn, this many times, so that a slow moment affects all of them alike.
const ROUNDS: usize = 15;

fn main() -> anyhow::Result<()> {
    // [batch, channels, height, width] and [batch, height, width, channels], 4 MiB each.
    let inputs = [(Layout::Ncx, [1, 16, 256, 256]), (Layout::Nxc, [1, 256, 256, 16])];
    for device in [Device::gpu(), Ok(Device::cpu())] {
        let device = device?;
        println!("{}", device.info());
        for (layout, shape) in inputs {
            println!("f32 {layout:?} {shape:?}, stride 1, padded to the same size");
            println!(
                "{:>8} {:>9} {:>9} {:>7} {:>9}",
                "k", "min ms", "median", "to k=3", "launches"
            );
            let elements: Vec<f32> =
                (0..shape.iter().product::<usize>()).map(|i| (i as f32 * 0.7).sin()).collect();
            let input = device.upload(&Tensor::from_slice(shape, &elements)?)?;
            let plans = WINDOWS
                .iter()
                .map(|&k| {
                    let pool = MaxPool::new([k, k]).padding(Padding::SameUpper).layout(layout);
                    device.plan(pool, [input.desc()])
                })
                .collect::<wgmax::Result<Vec<_>>>()?;
            let mut times: Vec<Vec<Duration>> = vec![Vec::new(); plans.len()];
            for round in 0..ROUNDS + 2 {
                for (plan, times) in plans.iter().zip(&mut times) {
                    let start = Instant::now();
                    let result = device.execute(plan, [&input])?;
                    device.wait()?;
                    // The first rounds compile, and warm up.
                    if round >= 2 {
                        times.push(start.elapsed());
                    }
                    drop(result);
                }
            }
            times.iter_mut().for_each(|times| times.sort());
            let reference = times[1][0].as_secs_f64();
            for ((k, plan), times) in WINDOWS.iter().zip(&plans).zip(&times) {
                let [min, median] = [times[0], times[ROUNDS / 2]].map(|t| t.as_secs_f64());
                println!(
                    "{:>8} {:>9.2} {:>9.2} {:>7.2} {:>9}",
                    format!("{k}x{k}"),
                    min * 1e3,
                    median * 1e3,
                    min / reference,
                    plan.shaders().count()
                );
            }
        }
    }
    Ok(())
}
