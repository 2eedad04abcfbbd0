//! Two reductions on the best available device. The second takes the result of the first, without a
//! copy to the host. The result is compared with the CPU's.
//!
//!     cargo run --release --example reduce_max

use wgmax::operator::ReduceMax;
use wgmax::{Device, Run, Tensor, compare};

fn main() -> anyhow::Result<()> {
    let elements: Vec<f32> = (0..64 * 100 * 30).map(|i| (i as f32 * 0.37).sin()).collect();
    let input = Tensor::from_slice([64, 100, 30], &elements)?;

    let device = Device::auto()?;
    let on_device = device.upload(&input)?;
    let rows = device.run(ReduceMax::new().axes([2]), &on_device)?;
    let columns = device.run(ReduceMax::new().axes([0]), &rows[0])?;
    let result = columns[0].download()?;

    let expected = ReduceMax::new().axes([0, 2]).run(&Device::cpu(), &input)?;
    println!("{} -> {} on {}", input.desc(), result.desc(), device.info());
    println!("against the CPU: {}", compare(&result, &expected[0])?);
    Ok(())
}
