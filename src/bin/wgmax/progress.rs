//! How far a run in pieces is, on stderr: a bar on a terminal, now and then a line elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressStyle};
use wgmax::Progress;

/// What is done sooner than that is not worth a word.
const QUIET: Duration = Duration::from_secs(1);
/// From one line to the next, and to the first.
const LINES: Duration = Duration::from_secs(10);

pub struct Shown {
    bar: Option<ProgressBar>,
    began: Instant,
    /// When the last line was written, if any was.
    last: Instant,
    terminal: bool,
}

impl Shown {
    pub fn new() -> Self {
        let now = Instant::now();
        Self { bar: None, began: now, last: now, terminal: std::io::stderr().is_terminal() }
    }

    pub fn update(&mut self, progress: Progress) {
        if self.terminal && (self.bar.is_some() || self.began.elapsed() >= QUIET) {
            let bar = self.bar.get_or_insert_with(|| bar(progress.total, self.began));
            bar.set_position(progress.done);
        } else if !self.terminal && self.last.elapsed() >= LINES {
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
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: u64, began: Instant) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left",
    );
    let bar = ProgressBar::new(total).with_elapsed(began.elapsed());
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
