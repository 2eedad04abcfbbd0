//! How far a run in pieces is, on stderr: a bar on a terminal, now and then a line elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wgmax::Progress;

/// What is done sooner than that is not worth a word.
const QUIET: Duration = Duration::from_secs(1);
/// From one line to the next, and to the first.
const LINES: Duration = Duration::from_secs(10);

pub struct Shown {
    /// Hidden at first: it guesses well from what it has seen from the start on.
    bar: ProgressBar,
    hidden: bool,
    began: Instant,
    /// When the last line was written, if any was.
    last: Instant,
}

impl Shown {
    pub fn new() -> Self {
        let now = Instant::now();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template =
            "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self { bar, hidden: true, began: now, last: now }
    }

    pub fn update(&mut self, progress: Progress) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        if std::io::stderr().is_terminal() {
            if self.hidden && self.began.elapsed() >= QUIET {
                self.hidden = false;
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        } else if self.last.elapsed() >= LINES {
            self.last = Instant::now();
            let (done, total) = (BinaryBytes(progress.done), BinaryBytes(progress.total));
            // There is nobody left to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "wgmax: {done} of {total}");
        }
    }
}

impl Drop for Shown {
    /// Leaves no bar behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
