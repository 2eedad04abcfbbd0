//! Samples of the process's resident memory.

use std::time::Duration;

/// Fewer samples than this are kept: when there are as many, every other one is dropped.
const MAX_SAMPLES: usize = 128;

/// Resident memory over a run.
#[derive(Default)]
pub struct Memory {
    /// One call in 2^n takes a sample, for this n. So the number of samples does not depend on time.
    thinned: u32,
    calls: u64,
    /// The time since the start, and bytes.
    samples: Vec<(Duration, u64)>,
}

/// Resident memory early and late in a run, in bytes: the medians of its second and last quarter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// In the second quarter.
    pub early: u64,
    /// In the last quarter.
    pub late: u64,
}

impl Memory {
    /// Called after each case, with the time since the start. Takes a sample if one is due.
    pub fn sample(&mut self, elapsed: Duration) {
        let due = self.calls.is_multiple_of(1 << self.thinned);
        self.calls += 1;
        if due && let Some(bytes) = resident() {
            self.push(elapsed, bytes);
        }
    }

    fn push(&mut self, at: Duration, bytes: u64) {
        self.samples.push((at, bytes));
        if self.samples.len() >= MAX_SAMPLES {
            self.samples = self.samples.iter().copied().step_by(2).collect();
            self.thinned += 1;
        }
    }

    /// Bytes at times since the start.
    pub fn samples(&self) -> &[(Duration, u64)] {
        &self.samples
    }

    /// `None` if there are too few samples, or if the system reports none.
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
    /// The growth in bytes.
    pub fn bytes(self) -> u64 {
        self.late.saturating_sub(self.early)
    }
}

/// The process's resident memory in bytes, if the system reports it.
fn resident() -> Option<u64> {
    // `statm` counts pages, without their size.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_thinned_and_growth_is_computed() {
        let mut memory = Memory::default();
        for second in 0..10_000u64 {
            memory.push(Duration::from_secs(second), 1 << 20);
        }
        assert!((MAX_SAMPLES / 2 - 1..MAX_SAMPLES).contains(&memory.samples.len()));
        assert_eq!(memory.growth(), Some(Growth { early: 1 << 20, late: 1 << 20 }));
        for (number, sample) in memory.samples.iter_mut().enumerate() {
            sample.1 += (number as u64) << 10;
        }
        assert!(memory.growth().unwrap().bytes() > 30 << 10);
        assert_eq!(Memory::default().growth(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_reports_resident_memory() {
        assert!(resident().unwrap() > 1 << 20);
        let mut memory = Memory::default();
        (0..3).for_each(|_| memory.sample(Duration::ZERO));
        assert_eq!((memory.samples.len(), memory.growth()), (3, None));
        memory.sample(Duration::ZERO);
        assert!(memory.growth().is_some());
        // Every second call from 128 samples on, then every fourth, then every eighth.
        (4..1000).for_each(|_| memory.sample(Duration::ZERO));
        assert_eq!((memory.thinned, memory.samples.len()), (3, 125));
    }
}
