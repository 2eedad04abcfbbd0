//! Progress on stderr: a bar on a terminal, elsewhere a line from time to time.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wgmax::Progress;

use super::output;

/// Runs shorter than this show no bar.
const QUIET: Duration = Duration::from_secs(1);
/// The time before each line.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Begins each line, so that readers of stderr can tell progress from errors.
const MARK: &str = "progress:";

/// Lines, for a stderr that is no terminal.
pub struct Lines {
    /// When the last line was written, or the start.
    last: Instant,
}

impl Lines {
    pub fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// Writes the line if enough time has passed.
    pub fn update(&mut self, line: impl FnOnce() -> String) {
        if self.last.elapsed() >= BETWEEN_LINES {
            self.last = Instant::now();
            output::note(format_args!("{MARK} {}", line()));
        }
    }
}

/// The progress of a run in pieces.
pub struct PieceProgress {
    /// Updated from the start, so that its estimates are good when it appears.
    bar: ProgressBar,
    hidden: bool,
    start: Instant,
    lines: Lines,
}

impl PieceProgress {
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template =
            "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self { bar, hidden: true, start: Instant::now(), lines: Lines::new() }
    }

    pub fn update(&mut self, progress: Progress) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        if std::io::stderr().is_terminal() {
            if self.hidden && !output::is_quiet() && self.start.elapsed() >= QUIET {
                self.hidden = false;
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        } else {
            let (done, total) = (BinaryBytes(progress.done), BinaryBytes(progress.total));
            self.lines.update(|| format!("{done} of {total}"));
        }
    }
}

impl Drop for PieceProgress {
    /// Removes the bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
