//! Standard output, and how tensors look on it.

use std::io::{self, BufWriter, StdoutLock, Write};

use comfy_table::{Cell, Color, Table, presets};
use wgmax::{Element, ElementType, Tensor};

use super::color;

/// How many elements of a result are printed.
const SHOWN: usize = 64;

/// Standard output that goes quiet when its reader goes away, so that the work
/// goes on and the exit status says how it ended.
pub struct Output {
    inner: BufWriter<StdoutLock<'static>>,
    closed: bool,
}

impl Output {
    pub fn stdout() -> Self {
        Self { inner: BufWriter::new(io::stdout().lock()), closed: false }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        match self.inner.write(bytes) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        match self.inner.flush() {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// An empty table in the style of all tables here.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    // Colours are ours to choose, not the terminal's alone.
    match color::stdout() {
        true => table.enforce_styling(),
        false => table.force_no_tty(),
    };
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header.iter().copied());
    table
}

/// A cell of a table with good or bad news.
pub fn verdict(text: impl ToString, good: bool) -> Cell {
    Cell::new(text).fg(if good { Color::Green } else { Color::Red })
}

/// The type and shape, and the elements a row of the last dimension a line.
pub fn print(tensor: &Tensor, output: &mut Output) -> anyhow::Result<()> {
    writeln!(output, "{}", tensor.desc())?;
    let values = values(tensor, SHOWN)?;
    let width = values.iter().map(String::len).max().unwrap_or(0);
    let row = tensor.shape().last().copied().unwrap_or(1).max(1);
    // A long row is broken where a terminal would break it.
    let per_line = row.min((78 / (width + 1)).max(1));
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

/// Writes each result to its file, if it has one. Without a file for it, the first is printed.
pub fn deliver(
    results: &[Tensor],
    files: &[&Option<String>],
    output: &mut Output,
) -> anyhow::Result<()> {
    // Together, so that there are never maxima of this run beside indices of another.
    let written: Vec<(&str, &Tensor)> = files
        .iter()
        .zip(results)
        .filter_map(|(path, result)| Some((path.as_deref()?, result)))
        .collect();
    wgmax::io::write_all(&written)?;
    match files {
        [Some(_), ..] => Ok(()),
        _ => print(&results[0], output),
    }
}

/// The first `limit` elements as text.
pub fn values(tensor: &Tensor, limit: usize) -> wgmax::Result<Vec<String>> {
    fn list<T: Element>(tensor: &Tensor, limit: usize) -> wgmax::Result<Vec<String>> {
        Ok(tensor.as_slice::<T>()?.iter().take(limit).map(|value| format!("{value:?}")).collect())
    }
    match tensor.element_type() {
        ElementType::F32 => list::<f32>(tensor, limit),
        ElementType::F64 => list::<f64>(tensor, limit),
        ElementType::F16 => list::<half::f16>(tensor, limit),
        ElementType::Bf16 => list::<half::bf16>(tensor, limit),
        ElementType::I8 => list::<i8>(tensor, limit),
        ElementType::U8 => list::<u8>(tensor, limit),
        ElementType::I16 => list::<i16>(tensor, limit),
        ElementType::U16 => list::<u16>(tensor, limit),
        ElementType::I32 => list::<i32>(tensor, limit),
        ElementType::U32 => list::<u32>(tensor, limit),
        ElementType::I64 => list::<i64>(tensor, limit),
        ElementType::U64 => list::<u64>(tensor, limit),
        ElementType::Bool => list::<bool>(tensor, limit),
    }
}
