//! How far something is, on stderr: a bar on a terminal, now and then a line elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wgmax::Progress;

/// What is done sooner than that is not worth a word.
const QUIET: Duration = Duration::from_secs(1);
/// From one line to the next, and to the first.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// What each line begins with, so that whoever reads stderr can tell it from what is wrong.
const MARK: &str = "progress:";

/// The lines where stderr is no terminal.
pub struct Lines {
    /// When the last one was written, or else the beginning.
    last: Instant,
}

impl Lines {
    pub fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// Writes the line if it is time for one.
    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.last.elapsed() >= BETWEEN_LINES {
            self.last = Instant::now();
            // There is nobody left to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "{MARK} {}", line());
        }
    }
}

/// How far a run in pieces is.
pub struct Shown {
    /// Hidden at first: it guesses well from what it has seen from the start on.
    bar: ProgressBar,
    hidden: bool,
    began: Instant,
    lines: Lines,
}

impl Shown {
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template =
            "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self { bar, hidden: true, began: Instant::now(), lines: Lines::new() }
    }

    pub fn update(&mut self, progress: Progress) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        if std::io::stderr().is_terminal() {
            if self.hidden && self.began.elapsed() >= QUIET {
                self.hidden = false;
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        } else {
            let (done, total) = (BinaryBytes(progress.done), BinaryBytes(progress.total));
            self.lines.tell(|| format!("{done} of {total}"));
        }
    }
}

impl Drop for Shown {
    /// Leaves no bar behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
