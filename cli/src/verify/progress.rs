//! How far a sweep is, on stderr.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::engine::Choice;
use crate::progress::Lines;

pub struct Progress {
    start: Instant,
    aim: Aim,
    shown: Shown,
}

/// Where a sweep ends: at whichever it comes to first.
#[derive(Clone, Copy)]
struct Aim {
    cases: Option<u64>,
    time: Option<Duration>,
}

/// A bar on a terminal, a line now and then elsewhere.
enum Shown {
    Bar(ProgressBar),
    Lines(Lines),
    #[cfg(test)]
    Nothing,
}

impl Shown {
    fn new() -> Self {
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
}

impl Progress {
    pub fn new(choice: &Choice) -> Self {
        Self {
            start: Instant::now(),
            aim: Aim { cases: choice.case.map(|_| 1).or(choice.cases), time: choice.time },
            shown: Shown::new(),
        }
    }

    /// Says nothing.
    #[cfg(test)]
    pub fn silent() -> Self {
        Self { shown: Shown::Nothing, ..Self::new(&Choice::default()) }
    }

    pub fn step(&mut self, done: u64, mismatches: u64) {
        let elapsed = self.start.elapsed();
        let aim = self.aim;
        let line = || aim.line(done, mismatches, elapsed);
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_position((aim.share(done, elapsed) * 1000.0) as u64);
                bar.set_message(line());
            }
            Shown::Lines(lines) => lines.tell(line),
            #[cfg(test)]
            Shown::Nothing => {}
        }
    }

    pub fn end(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl Aim {
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
        let line = progress.aim.line(50, 0, at);
        assert_eq!(line, "50 of 100 cases, 10/s, 5 seconds left, no mismatch");
        // Whichever ends first counts.
        let line = progress.aim.line(10, 2, at);
        assert_eq!(line, "10 of 100 cases, 2/s, 15 seconds left, 2 mismatches");
    }
}
