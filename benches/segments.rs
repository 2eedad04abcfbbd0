//! The cost of SegmentMax for each byte that it must read and write, for uneven segments: as a
//! ratio to segments of 1000 rows in the same run.
//!
//!     cargo bench --bench segments

use std::time::{Duration, Instant};

use wgmax::operator::{Operator, SegmentMax};
use wgmax::{Device, Tensor};

const ROUNDS: usize = 15;

/// Ids of so many rows, and the number of segments, for rows of so many elements.
type Kind = (&'static str, fn(usize, i64) -> (Vec<i32>, i64));

const KINDS: [Kind; 6] = [
    ("1000 rows each", |rows, _| of_size(rows, |_| 1000)),
    ("one giant", |rows, _| (vec![0; rows], 1)),
    ("a giant among 4 MB of empty ones", |rows, inner| (vec![7; rows], 1_000_000 / inner)),
    ("power law, 1 to 100,000", |rows, _| of_size(rows, |i| 100_000 / (1 + i * 7919 % 100_000))),
    ("about 4 rows each", |rows, _| of_size(rows, |i| 1 + i * 7919 % 7)),
    ("1 row each", |rows, _| of_size(rows, |_| 1)),
];

/// Successive segments with the sizes that `size` returns.
fn of_size(rows: usize, size: fn(usize) -> usize) -> (Vec<i32>, i64) {
    let mut ids = Vec::with_capacity(rows);
    let mut id = 0;
    while ids.len() < rows {
        let more = size(id as usize).max(1).min(rows - ids.len());
        ids.resize(ids.len() + more, id);
        id += 1;
    }
    (ids, id.into())
}

fn main() -> anyhow::Result<()> {
    for device in [Device::gpu(), Ok(Device::cpu())] {
        let device = device?;
        println!("{}", device.info());
        for (rows, inner) in [(4 << 20, 1), (64 << 10, 64)] {
            println!("f32 [{rows}, {inner}], i32 ids, sorted");
            println!(
                "{:>32} {:>9} {:>9} {:>8} {:>9}",
                "segments", "min ms", "median", "GB/s", "ratio"
            );
            let elements: Vec<f32> = (0..rows * inner).map(|i| (i as f32 * 0.7).sin()).collect();
            let data = device.upload(&Tensor::from_slice([rows, inner], &elements)?)?;
            let mut runs = Vec::new();
            for (name, ids) in KINDS {
                let (ids, segments) = ids(rows, inner as i64);
                let ids = device.upload(&Tensor::from_slice([rows], &ids)?)?;
                let operator = Operator::from(SegmentMax::sorted().num_segments(segments as usize));
                let plan = device.plan(&operator, [data.desc(), ids.desc()])?;
                let bytes =
                    data.desc().byte_len() + ids.desc().byte_len() + plan.outputs()[0].byte_len();
                runs.push((name, ids, plan, Vec::<Duration>::new(), bytes as f64));
            }
            for round in 0..ROUNDS + 2 {
                for (_, ids, plan, times, _) in &mut runs {
                    let start = Instant::now();
                    let result = device.execute(plan, [&data, ids])?;
                    device.wait()?;
                    // The first rounds compile, and warm up.
                    if round >= 2 {
                        times.push(start.elapsed());
                    }
                    drop(result);
                }
            }
            runs.iter_mut().for_each(|run| run.3.sort());
            let reference = runs[0].3[0].as_secs_f64() / runs[0].4;
            for (name, _, _, times, bytes) in &runs {
                let [min, median] = [times[0], times[ROUNDS / 2]].map(|t| t.as_secs_f64());
                println!(
                    "{name:>32} {:>9.2} {:>9.2} {:>8.2} {:>8.2}",
                    min * 1e3,
                    median * 1e3,
                    bytes / min / 1e9,
                    min / bytes / reference
                );
            }
        }
    }
    Ok(())
}
