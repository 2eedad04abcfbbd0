//! How far a sweep is, on stderr.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::engine::Choice;

/// Between two lines where stderr is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A bar on a terminal, a line now and then elsewhere.
pub struct Progress {
    start: Instant,
    cases: Option<u64>,
    time: Option<Duration>,
    bar: Option<ProgressBar>,
    next_line: Duration,
    silent: bool,
}

impl Progress {
    pub fn new(choice: &Choice) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(1000);
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
            let template = "{bar:20} {wide_msg}";
            bar.set_style(
                ProgressStyle::with_template(template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("█▉▊▋▌▍▎▏ "),
            );
            bar
        });
        Self {
            start: Instant::now(),
            cases: choice.case.map(|_| 1).or(choice.cases),
            time: choice.time,
            bar,
            next_line: BETWEEN_LINES,
            silent: false,
        }
    }

    /// Says nothing.
    #[cfg(test)]
    pub fn silent() -> Self {
        Self { bar: None, silent: true, ..Self::new(&Choice::default()) }
    }

    pub fn step(&mut self, done: u64, mismatches: u64) {
        let elapsed = self.start.elapsed();
        if let Some(bar) = &self.bar {
            bar.set_position((self.share(done, elapsed) * 1000.0) as u64);
            bar.set_message(self.line(done, mismatches, elapsed));
        } else if elapsed >= self.next_line && !self.silent {
            self.next_line = elapsed + BETWEEN_LINES;
            // Nobody may be reading.
            let _ = writeln!(std::io::stderr(), "{}", self.line(done, mismatches, elapsed));
        }
    }

    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// How much of the sweep is done, from 0 to 1.
    fn share(&self, done: u64, elapsed: Duration) -> f64 {
        let cases = self.cases.map_or(0.0, |cases| done as f64 / cases.max(1) as f64);
        let time = self.time.map_or(0.0, |time| elapsed.as_secs_f64() / time.as_secs_f64());
        cases.max(time).min(1.0)
    }

    fn line(&self, done: u64, mismatches: u64, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        let of = self.cases.map_or_else(String::new, |cases| format!(" of {cases}"));
        let share = self.share(done, elapsed).max(1e-9);
        let left = Duration::from_secs_f64((seconds / share - seconds).min(1e9));
        let wrong = match mismatches {
            0 => "no mismatch".to_string(),
            1 => "1 mismatch".to_string(),
            n => format!("{n} mismatches"),
        };
        let rate = done as f64 / seconds;
        format!("{done}{of} cases, {rate:.0}/s, {} left, {wrong}", HumanDuration(left))
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
        let line = progress.line(50, 0, at);
        assert_eq!(line, "50 of 100 cases, 10/s, 5 seconds left, no mismatch");
        // Whichever ends first counts.
        let line = progress.line(10, 2, at);
        assert_eq!(line, "10 of 100 cases, 2/s, 15 seconds left, 2 mismatches");
    }
}
