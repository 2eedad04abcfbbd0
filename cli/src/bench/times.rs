//! Repeated measurements.

use std::time::{Duration, Instant};

/// Seconds of each run.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn push(&mut self, seconds: f64) {
        self.0.push(seconds);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The shortest; infinite without runs.
    pub fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Infinite without runs.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::INFINITY,
            n if n % 2 == 1 => sorted[n / 2],
            n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
        }
    }
}

impl Extend<f64> for Times {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, seconds: I) {
        self.0.extend(seconds);
    }
}

/// How long to go on with an item.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// So many runs, if it is said.
    pub runs: Option<usize>,
    /// Else for so long.
    pub seconds: f64,
}

impl Budget {
    /// Fewer runs say nothing of a median.
    const FEWEST: usize = 9;
    const MOST: usize = 2000;

    /// Whether `runs` since `start` are enough.
    pub fn is_spent(&self, runs: usize, start: Instant) -> bool {
        if let Some(wanted) = self.runs {
            return runs >= wanted;
        }
        let spent = start.elapsed();
        let long = spent >= Duration::from_secs_f64(self.seconds);
        // An item that takes seconds is not run so often that it takes minutes.
        let too_long = spent >= Duration::from_secs_f64(10.0 * self.seconds) && runs >= 3;
        runs >= Self::MOST || too_long || (long && runs >= Self::FEWEST)
    }
}

/// Seconds that `f` takes, and what it gives.
pub fn seconds<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = f();
    (start.elapsed().as_secs_f64(), value)
}
