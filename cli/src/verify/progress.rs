//! The progress of a sweep, on stderr.
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wgmax_verify::Choice;

use crate::output;
use crate::progress::Lines;

pub struct Progress {
    start: Instant,
    end: End,
    display: Display,
}

/// Where a sweep ends: at the first of these.
#[derive(Clone, Copy)]
struct End {
    cases: Option<u64>,
    time: Option<Duration>,
}

/// A bar on a terminal; elsewhere a line from time to time.
pub enum Display {
    Bar(ProgressBar),
    Lines(Lines),
    Nothing,
}

impl Display {
    pub fn new() -> Self {
        if output::is_quiet() {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Lines::new());
        }
        let bar = ProgressBar::new(1000);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let template = "{bar:20} {wide_msg}";
        bar.set_style(
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("█▉▊▋▌▍▎▏ "),
        );
        Self::Bar(bar)
    }

    /// Shows what is done, from 0 to 1, and a line on it.
    pub fn update(&mut self, fraction: f64, line: impl FnOnce() -> String) {
        match self {
            Self::Bar(bar) => {
                bar.set_position((fraction * 1000.0) as u64);
                bar.set_message(line());
            }
            Self::Lines(lines) => lines.update(line),
            Self::Nothing => {}
        }
    }

    pub fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Progress {
    pub fn new(choice: &Choice) -> Self {
        Self {
            start: Instant::now(),
            end: End { cases: choice.case.map(|_| 1).or(choice.cases), time: choice.time },
            display: Display::new(),
        }
    }

    pub fn step(&mut self, done: u64, mismatches: u64) {
        let (elapsed, end) = (self.start.elapsed(), self.end);
        let line = || end.line(done, mismatches, elapsed);
        self.display.update(end.fraction(done, elapsed), line);
    }

    pub fn end(&self) {
        self.display.end();
    }
}

impl End {
    /// The part of the sweep that is done, from 0 to 1.
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
        // The end that comes first counts.
        let line = progress.end.line(10, 2, at);
        assert_eq!(line, "10 of 100 cases, 2/s, 15 seconds left, 2 mismatches");
    }
}
