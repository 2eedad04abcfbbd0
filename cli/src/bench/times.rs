//! Repeated measurements.

use std::time::Instant;

use crate::interrupt;

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

    /// The shortest time; infinite without runs.
    pub fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median; infinite without runs.
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

/// How long an item is measured.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The number of runs, if given.
    pub runs: Option<usize>,
    /// Otherwise the time.
    pub seconds: f64,
}

impl Budget {
    /// With fewer runs a median has little meaning.
    const MIN_RUNS: usize = 9;
    const MAX_RUNS: usize = 2000;

    /// Whether `runs` since `start` are enough, or a signal has come.
    pub fn is_spent(&self, runs: usize, start: Instant) -> bool {
        if interrupt::requested() {
            return true;
        }
        if let Some(wanted) = self.runs {
            return runs >= wanted;
        }
        let spent = start.elapsed().as_secs_f64();
        let long = spent >= self.seconds;
        // Slow items have fewer runs, so that they do not take minutes.
        let too_long = spent >= 10.0 * self.seconds && runs >= 3;
        runs >= Self::MAX_RUNS || too_long || (long && runs >= Self::MIN_RUNS)
    }
}

/// The seconds that `f` takes, and its result.
pub fn seconds<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = f();
    (start.elapsed().as_secs_f64(), value)
}
