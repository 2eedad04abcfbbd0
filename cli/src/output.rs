//! Standard output, and how tensors and sizes are printed on it.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use wgmax::{Tensor, TensorDesc};
pub use wgmax_verify::text::{counted, size, values};

use super::files;
use super::table;

/// The maximum number of elements of a result that are printed.
const MAX_PRINTED: usize = 64;

/// Standard output, or standard error if a report goes to standard output. If its reader closes it,
/// further output is dropped, so that the command still completes and its exit status is right.
pub struct Output {
    inner: BufWriter<Box<dyn Write>>,
    name: &'static str,
    closed: bool,
}

impl Output {
    pub fn stdout() -> Self {
        Self::new(Box::new(io::stdout().lock()), "standard output")
    }

    /// Standard error; prints nothing with `--quiet`.
    pub fn stderr() -> Self {
        let to: Box<dyn Write> =
            if is_quiet() { Box::new(io::sink()) } else { Box::new(io::stderr()) };
        Self::new(to, "standard error")
    }

    fn new(to: Box<dyn Write>, name: &'static str) -> Self {
        Self { inner: BufWriter::new(to), name, closed: false }
    }

    /// The outcome of a call, or `done` if the reader has closed the pipe. Errors name the output.
    fn unless_closed<T>(&mut self, outcome: io::Result<T>, done: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(done)
            }
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", self.name))),
            outcome => outcome,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let outcome = self.inner.write(bytes);
        self.unless_closed(outcome, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let outcome = self.inner.flush();
        self.unless_closed(outcome, ())
    }
}

/// Writes a text. Its first line is broken if it is too long.
pub fn put(output: &mut Output, text: impl Display) -> io::Result<()> {
    let text = text.to_string();
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    writeln!(output, "{}{rest}", table::wrapped(first, table::width(), ""))
}

/// Whether stderr gets only errors.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, remarks and progress are not printed.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether remarks and progress are suppressed.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// A remark beside results, on stderr.
pub fn remark(text: impl Display) {
    note(format_args!("wgmax: {text}"));
}

/// An error and its causes, without repetitions.
pub fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| {
        match text.is_empty() {
            true => cause,
            false if text.contains(&cause) => text,
            false => format!("{text}: {cause}"),
        }
    })
}

/// A line of progress, or a remark with its own beginning, on stderr.
pub fn note(line: impl Display) {
    if !is_quiet() {
        // An error here means that stderr is closed.
        let _ = writeln!(anstream::stderr(), "{line}");
    }
}

/// The type and shape of a tensor as JSON.
pub fn tensor_json(desc: &TensorDesc) -> Value {
    json!({ "type": desc.element_type().name(), "shape": desc.shape() })
}

/// Prints the type and shape of a tensor, and its elements, one row of the last axis on each line.
pub fn print(tensor: &Tensor, output: &mut Output) -> anyhow::Result<()> {
    writeln!(output, "{}", tensor.desc())?;
    let values = values(tensor, MAX_PRINTED);
    let width = values.iter().map(String::len).max().unwrap_or(0);
    let row = tensor.shape().last().copied().unwrap_or(1).max(1);
    // Long rows are broken at the width of a terminal.
    let per_line = row.min((table::width().saturating_sub(2) / (width + 1)).max(1));
    for row in values.chunks(row) {
        for line in row.chunks(per_line) {
            let cells: Vec<String> = line.iter().map(|v| format!("{v:>width$}")).collect();
            writeln!(output, "  {}", cells.join(" "))?;
        }
    }
    match tensor.len() - values.len() {
        0 => {}
        more => writeln!(output, "  and {more} more; write them all to a file with -o")?,
    }
    Ok(())
}

/// Writes each result to its file, if it has one. Without a file, the first is printed, unless
/// another goes to standard output.
pub fn deliver(
    results: &[Tensor],
    files: &[&Option<String>],
    force: bool,
    output: &mut Output,
) -> anyhow::Result<()> {
    // All files or none, so that maxima and indices always belong to the same run.
    let written: Vec<(&str, &Tensor)> = files
        .iter()
        .zip(results)
        .filter_map(|(path, result)| Some((path.as_deref()?, result)))
        .collect();
    files::write(&written, force)?;
    match written.iter().any(|(spec, _)| is_standard(spec)) || files[0].is_some() {
        true => Ok(()),
        false => print(&results[0], output),
    }
}

/// Whether a tensor comes from standard input, or goes to standard output.
pub fn is_standard(spec: &str) -> bool {
    wgmax::io::split(spec).is_ok_and(|(path, _)| path.is_none())
}
