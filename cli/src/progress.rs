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

/// A bar on a terminal; elsewhere a line from time to time. Nothing if stderr gets only errors.
pub enum Display {
    Bar(ProgressBar),
    Lines(Lines),
    Nothing,
}

impl Display {
    /// The progress of work, with its length if it is known. `template` is that of the bar, which is not
    /// shown yet.
    pub fn new(length: Option<u64>, template: &str) -> Self {
        if output::is_quiet() {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Lines::new());
        }
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        Self::Bar(bar.with_style(style))
    }
}

impl Drop for Display {
    /// Removes the bar.
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// The progress of a run in pieces.
pub struct PieceProgress {
    /// Updated from the start, so that its estimates are good when it appears.
    display: Display,
    start: Instant,
}

impl PieceProgress {
    pub fn new() -> Self {
        let template =
            "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
        Self { display: Display::new(None, template), start: Instant::now() }
    }

    pub fn update(&mut self, progress: Progress) {
        match &mut self.display {
            Display::Bar(bar) => {
                bar.set_length(progress.total);
                bar.set_position(progress.done);
                if bar.is_hidden() && self.start.elapsed() >= QUIET {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
            }
            Display::Lines(lines) => {
                let (done, total) = (BinaryBytes(progress.done), BinaryBytes(progress.total));
                lines.update(|| format!("{done} of {total}"));
            }
            Display::Nothing => {}
        }
    }
}
