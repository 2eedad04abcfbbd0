//! Items of growing size: time should be linear in bytes, whatever the axes.

use super::item::{Attributes, Item, Kind, SegmentSizes};
use super::report::{Line, Row};

/// Makes an item whose input has a number of bytes.
type OfSize = fn(usize) -> Item;

const MIN_BYTES: usize = 1 << 20;
/// The maximum, unless a limit or the memory of the device is smaller.
const MAX_BYTES: usize = 4 << 30;

/// Measures each kind of item from 1 MiB on, doubling, to the largest that is possible.
pub fn measure(measure: &mut dyn FnMut(Item) -> Option<Row>) -> anyhow::Result<Vec<Line>> {
    // The input is copied several times, on a software adapter in the same memory.
    let max_bytes = memory().map_or(1 << 30, |memory| (memory / 16).min(MAX_BYTES));
    let kinds: [(&'static str, OfSize); 5] = [
        ("all", all),
        ("rows", rows),
        ("columns", columns),
        ("pool", pool),
        ("segments", segments),
    ];
    let mut lines = Vec::new();
    for (name, item) in kinds {
        let mut line = Line { name, rows: Vec::new() };
        let mut bytes = MIN_BYTES;
        while bytes <= max_bytes {
            match measure(item(bytes)) {
                Some(row) if row.result.is_ok() => line.rows.push(row),
                _ => break,
            }
            bytes *= 2;
        }
        lines.push(line);
    }
    Ok(lines)
}

/// Bytes of available memory, if the system reports them.
fn memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

fn item(op: Kind, name: &str, shape: &[usize], attrs: Attributes, results: usize) -> Item {
    let elements: usize = shape.iter().product();
    let ids = if op == Kind::SegmentMax { shape[0] } else { 0 };
    Item {
        name: format!("{name} of {} MiB", (4 * elements) >> 20),
        op,
        dtype: "f32".into(),
        shape: shape.to_vec(),
        attrs,
        minimum: false,
        gradient: false,
        bytes_read: 4 * (elements + ids) as u64,
        bytes_write: 4 * results as u64,
    }
}

fn all(bytes: usize) -> Item {
    item(
        Kind::ReduceMax,
        "all",
        &[bytes / 4],
        Attributes::Reduce { axes: vec![0], indices: false },
        1,
    )
}

fn rows(bytes: usize) -> Item {
    let shape = [bytes / 4096, 1024];
    item(
        Kind::ReduceMax,
        "rows",
        &shape,
        Attributes::Reduce { axes: vec![1], indices: false },
        shape[0],
    )
}

fn columns(bytes: usize) -> Item {
    let shape = [bytes / 4096, 1024];
    item(
        Kind::ReduceMax,
        "columns",
        &shape,
        Attributes::Reduce { axes: vec![0], indices: false },
        shape[1],
    )
}

fn pool(bytes: usize) -> Item {
    let shape = [1, bytes >> 16, 128, 128];
    let attrs = Attributes::Pool {
        kernel: vec![3, 3],
        strides: vec![2, 2],
        pads: vec![1; 4],
        dilations: vec![1, 1],
        layout: "NCHW".into(),
        indices: false,
    };
    item(Kind::MaxPool, "pool", &shape, attrs, bytes / 16)
}

fn segments(bytes: usize) -> Item {
    let rows = bytes / 4;
    let attrs =
        Attributes::Segment { num_segments: rows / 64, dist: SegmentSizes::Random, _seed: 0 };
    item(Kind::SegmentMax, "segments", &[rows], attrs, rows / 64)
}
