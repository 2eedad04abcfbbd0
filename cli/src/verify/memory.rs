//! The memory that the process holds, seen from time to time.

use std::time::{Duration, Instant};

/// Never more samples than this: beyond, every other one is dropped.
const MOST: usize = 128;

/// Resident memory over a run.
pub struct Memory {
    start: Instant,
    /// Every so many looks are a sample: how many there are does not depend on time.
    every: u64,
    looks: u64,
    /// When, and how many bytes.
    samples: Vec<(Duration, u64)>,
}

/// Resident memory early and late in a run, in bytes: the medians of its second and last quarter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    pub early: u64,
    pub late: u64,
}

impl Memory {
    pub fn new() -> Self {
        Self { start: Instant::now(), every: 1, looks: 0, samples: Vec::new() }
    }

    /// Looks, after a case, if it is its turn.
    pub fn look(&mut self) {
        let turn = self.looks.is_multiple_of(self.every);
        self.looks += 1;
        if turn && let Some(bytes) = resident() {
            self.take(self.start.elapsed(), bytes);
        }
    }

    fn take(&mut self, at: Duration, bytes: u64) {
        self.samples.push((at, bytes));
        if self.samples.len() >= MOST {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every = self.every.saturating_mul(2);
        }
    }

    pub fn samples(&self) -> &[(Duration, u64)] {
        &self.samples
    }

    /// None if it was not seen often enough, or is not known on this system.
    pub fn growth(&self) -> Option<Growth> {
        let quarter = self.samples.len() / 4;
        let median = |part: &[(Duration, u64)]| {
            let mut bytes: Vec<u64> = part.iter().map(|&(_, bytes)| bytes).collect();
            bytes.sort_unstable();
            bytes.get(bytes.len() / 2).copied()
        };
        let early = median(&self.samples[quarter..2 * quarter])?;
        let late = median(&self.samples[self.samples.len() - quarter..])?;
        Some(Growth { early, late })
    }
}

impl Growth {
    /// By how many bytes it grew.
    pub fn bytes(self) -> u64 {
        self.late.saturating_sub(self.early)
    }
}

/// The process's resident memory in bytes, where the system tells it.
fn resident() -> Option<u64> {
    // `statm` counts in pages, of a size that it does not tell.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_few_and_growth_is_seen() {
        let mut memory = Memory::new();
        for second in 0..10_000u64 {
            memory.take(Duration::from_secs(second), 1 << 20);
        }
        assert!((MOST / 2 - 1..MOST).contains(&memory.samples.len()));
        assert_eq!(memory.growth(), Some(Growth { early: 1 << 20, late: 1 << 20 }));
        for (number, sample) in memory.samples.iter_mut().enumerate() {
            sample.1 += (number as u64) << 10;
        }
        assert!(memory.growth().unwrap().bytes() > 30 << 10);
        assert_eq!(Memory::new().growth(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        assert!(resident().unwrap() > 1 << 20);
        let mut memory = Memory::new();
        (0..3).for_each(|_| memory.look());
        assert_eq!((memory.samples.len(), memory.growth()), (3, None));
        memory.look();
        assert!(memory.growth().is_some());
        // From 128 on every other one, and so on.
        (4..1000).for_each(|_| memory.look());
        assert_eq!((memory.every, memory.samples.len()), (8, 125));
    }
}
