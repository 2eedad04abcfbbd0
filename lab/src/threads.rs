//! How the CPU's kernels divide work among many threads. One thread does all parts, so that a machine with few
//! cores shows it: the times of the parts, and of what is not shared, tell how long more threads would take.

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use regex::Regex;
use wgmax::internals::simulated;
use wgmax::{Device, DeviceTensor};
use wgmax_cli::bench::data;
use wgmax_cli::bench::item::{self, Item};

#[derive(Args)]
pub struct Arguments {
    /// Only items whose name matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// Runs of each item; the shortest time of each part counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

/// Threads that share an item's work.
const THREADS: [usize; 5] = [1, 2, 8, 32, 128];

/// The shortest times of an item for a number of threads.
struct Simulated {
    /// Of each part, for each time that work was shared.
    shared: Vec<Vec<Duration>>,
    /// Of all that was not shared.
    serial: Duration,
}

impl Simulated {
    /// All work.
    fn sum(&self) -> f64 {
        self.shared.iter().flatten().chain([&self.serial]).sum::<Duration>().as_secs_f64()
    }

    /// The time with so many threads, each of which takes the next part when it has finished one. They share no
    /// caches, and do not wait for memory more than one thread does.
    fn time(&self, threads: usize) -> f64 {
        let section = |parts: &Vec<Duration>| {
            let mut ends = vec![Duration::ZERO; threads];
            for &part in parts {
                *ends.iter_mut().min().expect("there is a thread") += part;
            }
            ends.into_iter().max().unwrap_or_default()
        };
        (self.serial + self.shared.iter().map(section).sum::<Duration>()).as_secs_f64()
    }

    /// The parts of the longest work that is shared.
    fn parts(&self) -> &[Duration] {
        self.shared.iter().max_by_key(|parts| parts.iter().sum::<Duration>()).map_or(&[], |p| p)
    }
}

/// Runs an item whose work is cut for a number of threads.
fn simulate(item: &Item, threads: usize, runs: usize) -> anyhow::Result<Simulated> {
    let mut result = Ok(Simulated { shared: Vec::new(), serial: Duration::MAX });
    // The device and its plan are for so many threads, too.
    simulated(threads, || result = simulate_on(&Device::cpu(), item, threads, runs));
    result
}

fn simulate_on(
    device: &Device,
    item: &Item,
    threads: usize,
    runs: usize,
) -> anyhow::Result<Simulated> {
    let inputs = data::inputs(item)?;
    let inputs: Vec<DeviceTensor> =
        inputs.iter().map(|input| device.upload(input)).collect::<Result<_, _>>()?;
    let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
    let plan = device
        .plan(item.operator(), inputs.iter().map(|input| input.desc()).collect::<Vec<_>>())?;
    let mut best = Simulated { shared: Vec::new(), serial: Duration::MAX };
    for _ in 0..runs.max(1) {
        let mut done = None;
        let begin = Instant::now();
        let shared = simulated(threads, || done = Some(device.execute(&plan, inputs.clone())));
        let all = begin.elapsed();
        done.expect("the work was done")?;
        best.serial = best.serial.min(all.saturating_sub(shared.iter().flatten().sum()));
        if best.shared.is_empty() {
            best.shared = shared;
            continue;
        }
        ensure!(best.shared.len() == shared.len(), "runs are divided differently");
        for (best, time) in best.shared.iter_mut().flatten().zip(shared.iter().flatten()) {
            *best = (*best).min(*time);
        }
    }
    Ok(best)
}

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let most = THREADS[THREADS.len() - 1];
    print!("{:<22}", "item");
    THREADS[1..].iter().for_each(|threads| print!("{:>8}", format!("x{threads}")));
    println!("{:>9}{:>9}{:>9}", "parts", "largest", "serial");
    for item in item::matching(&arguments.filter)? {
        let one = simulate(&item, 1, arguments.runs)?.sum();
        print!("{:<22}", item.name);
        let mut last = None;
        for threads in &THREADS[1..] {
            let simulated = simulate(&item, *threads, arguments.runs)?;
            print!("{:>8.1}", one / simulated.time(*threads));
            last = Some(simulated);
        }
        let last = last.expect("there are several numbers of threads");
        let parts = last.parts();
        let mean = parts.iter().sum::<Duration>().as_secs_f64() / parts.len().max(1) as f64;
        let largest = parts.iter().max().map_or(0.0, Duration::as_secs_f64);
        let serial = last.serial.as_secs_f64() / last.sum();
        println!(
            "{:>9}{:>9.2}{:>8.2}%",
            parts.len(),
            if parts.is_empty() { 0.0 } else { largest / mean },
            100.0 * serial
        );
    }
    println!(
        "\nspeed relative to one thread, by the number of threads; with {most}: the parts, the largest"
    );
    println!("relative to their mean, and the share of the time that is not shared");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::smaller;

    /// Bytes of a part that more threads need not share.
    const SMALL: u64 = 256 << 10;

    #[test]
    fn threads_get_parts_enough() {
        for item in item::matching(&Regex::new("").unwrap()).unwrap() {
            let item = smaller(&item, 4 << 20);
            let bytes: u64 = item.inputs().unwrap().iter().map(|desc| desc.byte_len() as u64).sum();
            for threads in [2, 8, 128] {
                // Of the launch with the most parts: which one takes the longest depends on what else runs.
                let simulated = simulate(&item, threads, 1).unwrap();
                let parts = simulated.shared.iter().map(Vec::len).max().unwrap_or(0) as u64;
                // Updates of one element go to items that each thread has for itself: threads are worth it if there
                // are many updates for each element.
                let enough = if item.name.starts_with('U') { 2 } else { 2 * threads as u64 };
                let name = &item.name;
                assert!(
                    parts >= enough || parts.max(1) * SMALL >= bytes,
                    "{name}: {parts} parts of {bytes} bytes for {threads} threads"
                );
            }
        }
    }
}
