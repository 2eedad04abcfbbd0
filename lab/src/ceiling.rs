//! The bandwidth of a device's memory: many ways to read it once, or to read it and to write. The
//! bench tries a few of them with each item.

use clap::Args;
use wgmax::internals::Extension;
use wgmax_cli::bench::Bench;
use wgmax_cli::bench::cpu::plain as cpu;
use wgmax_cli::bench::gpu::{self, plain};
use wgmax_cli::options::On;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    on: On,
    /// MiB to read
    #[arg(long, default_value_t = 64)]
    read: usize,
    /// MiB to write, at most as many
    #[arg(long, default_value_t = 0)]
    write: usize,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let [read, write] = [arguments.read, arguments.write].map(|mib| mib << 20);
    anyhow::ensure!(write <= read, "a pass writes at most as much as it reads");
    let Bench { device, gpu } = Bench::open(&arguments.on)?;
    let mut bytes = (read + write) as u64;
    let times: Vec<(String, f64)> = match gpu {
        None => {
            // More than the caches of most processors.
            let copies = vec![vec![1; read / 4]; (256 << 20) / read.max(1) + 1];
            let copies: Vec<&[u32]> = copies.iter().map(|copy| &copy[..]).collect();
            let times = cpu::race(&on_the_cpu(), &copies, &mut vec![0; write / 4]);
            times.into_iter().map(|(shape, time)| (shape.to_string(), time)).collect()
        }
        Some(on) => {
            let (read, write) = (read as u64, write as u64);
            let (source, result) = (gpu::buffer(&device, read)?, gpu::buffer(&device, write)?);
            let moved = plain::Moved { source: &source, read, result: &result, write };
            // At most as much as can be bound.
            bytes = on.plain.pass(&on.clock.device, moved, plain::Shape::USUAL[0]).bytes;
            let times = on.plain.race(&on.clock, &on_a_gpu(), moved)?;
            times.into_iter().map(|(shape, time)| (shape.to_string(), time)).collect()
        }
    };
    for (shape, time) in times {
        println!("{:8.2} GB/s  {shape}", bytes as f64 / time * 1e-9);
    }
    Ok(true)
}

fn on_the_cpu() -> Vec<cpu::Shape> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let extensions = [Extension::Avx512, Extension::Avx2, Extension::Baseline];
    let mut shapes = Vec::new();
    for extension in extensions.into_iter().filter(|extension| extension.is_detected()) {
        for streams in [1, 2, 4, 8] {
            for pieces in [1, threads, 4 * threads, 16 * threads] {
                shapes.push(cpu::Shape { extension, streams, pieces });
            }
        }
    }
    shapes
}

fn on_a_gpu() -> Vec<plain::Shape> {
    let orders = [plain::Order::Grid, plain::Order::Invocation];
    let of = |order| [16, 64, 256, 1024, 4096, 65535].map(|groups| plain::Shape { order, groups });
    orders.into_iter().flat_map(of).collect()
}
