//! The progress of a sweep, on stderr.
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressDrawTarget};
use wgmax_verify::Choice;

use crate::progress::Display;

/// The steps of the bar.
const STEPS: u64 = 1000;

pub struct Progress {
    start: Instant,
    end: End,
    display: Display,
}

/// A sweep ends at the first of these.
#[derive(Clone, Copy)]
struct End {
    cases: Option<u64>,
    time: Option<Duration>,
}

impl Progress {
    pub fn new(choice: &Choice) -> Self {
        let display = Display::new(Some(STEPS), "{bar:20} {wide_msg}");
        if let Display::Bar(bar) = &display {
            bar.set_style(bar.style().progress_chars("█▉▊▋▌▍▎▏ "));
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        }
        let cases = choice.case.map(|_| 1).or(choice.done).or(choice.cases);
        let end = End { cases, time: choice.time };
        Self { start: Instant::now(), end, display }
    }

    pub fn step(&mut self, done: u64, mismatches: u64) {
        let (elapsed, end) = (self.start.elapsed(), self.end);
        let line = || end.line(done, mismatches, elapsed);
        match &mut self.display {
            Display::Bar(bar) => {
                bar.set_position((end.fraction(done, elapsed) * STEPS as f64) as u64);
                bar.set_message(line());
            }
            Display::Lines(lines) => lines.update(line),
            Display::Nothing => {}
        }
    }
}

impl End {
    /// The fraction of the sweep that is done, from 0 to 1.
    fn fraction(&self, done: u64, elapsed: Duration) -> f64 {
        let cases = self.cases.map_or(0.0, |cases| done as f64 / cases.max(1) as f64);
        let time = self.time.map_or(0.0, |time| elapsed.as_secs_f64() / time.as_secs_f64());
        cases.max(time).min(1.0)
    }

    fn line(&self, done: u64, mismatches: u64, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        let of = self.cases.map_or_else(String::new, |cases| format!(" of {cases}"));
        let fraction = self.fraction(done, elapsed).max(1e-9);
        let left = Duration::from_secs_f64((seconds / fraction - seconds).min(1e9));
        let wrong = match mismatches {
            0 => "no mismatch".to_string(),
            1 => "1 mismatch".to_string(),
            n => format!("{n} mismatches"),
        };
        let rate = done as f64 / seconds;
        let cases = if self.cases == Some(1) { "case" } else { "cases" };
        format!("{done}{of} {cases}, {rate:.0}/s, {} left, {wrong}", HumanDuration(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_rate_time_and_mismatches() {
        let choice =
            Choice { cases: Some(100), time: Some(Duration::from_secs(20)), ..Choice::default() };
        let progress = Progress::new(&choice);
        let at = Duration::from_secs(5);
        let line = progress.end.line(50, 0, at);
        assert_eq!(line, "50 of 100 cases, 10/s, 5 seconds left, no mismatch");
        // The end that is reached first counts.
        let line = progress.end.line(10, 2, at);
        assert_eq!(line, "10 of 100 cases, 2/s, 15 seconds left, 2 mismatches");
    }
}
