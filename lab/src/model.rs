//! A model of ten GPUs: how much of its memory's speed an item reaches. Nothing is measured. The numbers of a
//! GPU are from data sheets and vendors' guides; for M1 Max and Adreno 740, whose vendors say little, some are
//! estimates, and so is the latency, which is the same for all.
//!
//! A launch takes the longest of five times, each as if the others cost nothing: memory, near caches,
//! arithmetic, workgroup memory (32 words of different banks a clock and unit), and the latency of loads. A
//! launch is assumed to fill the GPU, although plans of reductions and segments aim at 65,536 invocations,
//! of which B200 and MI300X hold several times as many. Atomics cost what loads do; barriers, and a launch
//! whatever its size, cost nothing.

use std::fmt;

use crate::count::Counts;
use crate::machine::LANES;

/// A GPU, whose *units* are what its vendor calls SM, CU, Xe core, core or SP.
pub struct Gpu {
    pub name: &'static str,
    /// Bytes of memory a nanosecond.
    memory: f64,
    units: f64,
    /// Clocks a nanosecond.
    clock: f64,
    /// Integer operations a clock and unit.
    integers: f64,
    /// Bytes of the near cache a clock and unit.
    near: f64,
    /// Invocations that a unit holds.
    invocations: f64,
    /// Bytes of workgroup memory of a unit.
    workgroup_bytes: f64,
}

const fn gpu(
    name: &'static str,
    (memory, units, clock): (f64, f64, f64),
    (integers, near): (f64, f64),
    (invocations, kib): (f64, f64),
) -> Gpu {
    let workgroup_bytes = 1024.0 * kib;
    Gpu { name, memory, units, clock, integers, near, invocations, workgroup_bytes }
}

pub const GPUS: [Gpu; 10] = [
    gpu("H200", (4800.0, 132.0, 1.98), (64.0, 128.0), (2048.0, 228.0)),
    gpu("B200", (8000.0, 148.0, 1.97), (64.0, 128.0), (2048.0, 228.0)),
    gpu("MI300X", (5300.0, 304.0, 2.1), (64.0, 64.0), (2048.0, 64.0)),
    gpu("RTX 4090", (1008.0, 128.0, 2.52), (64.0, 128.0), (1536.0, 100.0)),
    gpu("RTX 3060", (360.0, 28.0, 1.78), (64.0, 128.0), (1536.0, 100.0)),
    gpu("RX 7900 XTX", (960.0, 96.0, 2.5), (64.0, 64.0), (1024.0, 64.0)),
    gpu("RX 6600", (224.0, 28.0, 2.49), (64.0, 64.0), (1024.0, 64.0)),
    gpu("Arc A770", (560.0, 32.0, 2.1), (128.0, 64.0), (1024.0, 128.0)),
    gpu("M1 Max", (400.0, 32.0, 1.3), (128.0, 64.0), (1024.0, 60.0)),
    gpu("Adreno 740", (67.0, 6.0, 0.68), (128.0, 64.0), (1024.0, 32.0)),
];

/// Nanoseconds from a load to its value, with the memory busy.
const LATENCY: f64 = 800.0;

/// What bounds an item's speed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bound {
    #[default]
    Memory,
    Near,
    Arithmetic,
    Workgroup,
    Latency,
}

/// A share of the memory's speed, and what bounds it.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub share: f64,
    pub bound: Bound,
}

impl fmt::Display for Share {
    /// Such as `0.58a`: the letter is the bound's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.bound {
            Bound::Memory => 'm',
            Bound::Near => 'c',
            Bound::Arithmetic => 'a',
            Bound::Workgroup => 'w',
            Bound::Latency => 'l',
        };
        write!(f, "{:.2}{letter}", self.share)
    }
}

impl Gpu {
    /// The time that the fewest bytes take, over that of the launches.
    pub fn share<'a>(&self, launches: impl IntoIterator<Item = &'a Counts>, fewest: u64) -> Share {
        let times = launches.into_iter().map(|counts| self.time(counts));
        let times: Vec<(f64, Bound)> = times.collect();
        let all: f64 = times.iter().map(|(time, _)| time).sum();
        let longest = times.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let bound = longest.map_or(Bound::Memory, |(_, bound)| bound);
        Share { share: fewest as f64 / self.memory / all, bound }
    }

    /// Nanoseconds that a launch takes, and what bounds it.
    fn time(&self, counts: &Counts) -> (f64, Bound) {
        let clocks = self.units * self.clock;
        let lanes = LANES as f64;
        let times = [
            (counts.memory as f64 / self.memory, Bound::Memory),
            (counts.requested as f64 / (self.near * clocks), Bound::Near),
            (counts.operations as f64 * lanes / (self.integers * clocks), Bound::Arithmetic),
            (counts.steps as f64 / clocks, Bound::Workgroup),
            (counts.waits as f64 * LATENCY / self.warps(counts), Bound::Latency),
        ];
        // The first of equal times.
        times.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or_default()
    }

    /// Warps of a launch that the GPU holds.
    fn warps(&self, counts: &Counts) -> f64 {
        let workgroup = counts.workgroup.max(1) as f64;
        let by_memory = (self.workgroup_bytes / counts.workgroup_bytes.max(1) as f64).floor();
        let groups = by_memory.min((self.invocations / workgroup).floor()).max(1.0);
        self.units * groups * workgroup / LANES as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fewest bytes take a nanosecond; one of the times is twice that.
    #[test]
    fn the_longest_time_bounds() {
        let gpu = &GPUS[0];
        let clocks = gpu.units * gpu.clock;
        let plain = Counts { memory: 4800, workgroup: 256, ..Counts::default() };
        let warps = clocks / LANES as f64;
        for (counts, bound) in [
            (Counts { memory: 9600, ..plain }, Bound::Memory),
            (Counts { requested: (2.0 * 128.0 * clocks) as u64, ..plain }, Bound::Near),
            (Counts { operations: (2.0 * 64.0 * warps) as u64, ..plain }, Bound::Arithmetic),
            (Counts { steps: (2.0 * clocks) as u64, ..plain }, Bound::Workgroup),
            (Counts { waits: (2.0 * gpu.warps(&plain) / LATENCY) as u64, ..plain }, Bound::Latency),
        ] {
            let Share { share, bound: found } = gpu.share([&counts], 4800);
            assert_eq!(found, bound);
            assert!((share - 0.5).abs() < 0.03, "{bound:?}: {share}");
        }
        let share = gpu.share([&plain, &plain], 4800);
        assert_eq!(share.to_string(), "0.50m");
    }

    /// Workgroup memory limits the invocations that a GPU holds.
    #[test]
    fn workgroup_memory_limits_invocations() {
        let gpu = &GPUS[2];
        let counts =
            |workgroup_bytes| Counts { workgroup: 256, workgroup_bytes, ..Counts::default() };
        assert_eq!(gpu.warps(&counts(0)), 304.0 * 64.0);
        assert_eq!(gpu.warps(&counts(16 << 10)), 304.0 * 32.0);
    }
}
