//! Items of growing size: time should be linear in bytes, whatever the axes. The smallest show the
//! fixed cost of a call. Windows of growing size on 4 MiB: 63 x 63 should take at most three times as
//! long as 3 x 3. Sets and lines of few elements on 16 MiB: loops over one of them would be too short.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use wgmax_cli::bench::item::Item;
use wgmax_cli::bench::times::Budget;
use wgmax_cli::bench::{ROTATED, measure};
use wgmax_cli::options::On;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    on: On,
    /// MiB of the largest inputs, but for windows; a device needs several times as much
    #[arg(long, default_value_t = 1024)]
    max_mib: usize,
    /// Seconds to run each item
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
    /// Write all measurements as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

const MIN_BYTES: usize = 4 << 10;
const WINDOWS: [usize; 13] = [2, 3, 4, 5, 7, 9, 13, 17, 24, 31, 40, 47, 63];

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let items = items(arguments.max_mib << 20);
    let budget = Budget { runs: None, seconds: arguments.seconds };
    let report = measure(&arguments.on, items, budget, ROTATED)?;
    println!("{report}");
    if let Some(path) = &arguments.json {
        std::fs::write(path, format!("{:#}\n", report.json()))?;
    }
    Ok(true)
}

fn items(max_bytes: usize) -> Vec<Item> {
    let sizes = || (0..).map(|i| MIN_BYTES << i).take_while(move |&bytes| bytes <= max_bytes);
    let kinds = [all, rows, columns, pool, segments];
    let grown = kinds.into_iter().flat_map(|kind| sizes().map(kind));
    grown.chain(windows()).chain(narrow()).chain(planes()).collect()
}

fn item(op: &str, name: &str, shape: &[usize], attrs: Value, results: usize) -> Item {
    let bytes = 4 * shape.iter().product::<usize>();
    let ids = if op == "SegmentMax" { 4 * shape[0] } else { 0 };
    let item = json!({
        "name": format!("{name} of {} KiB", bytes >> 10), "op": op, "dtype": "f32", "shape": shape,
        "attrs": attrs, "bytes_read": bytes + ids, "bytes_write": 4 * results,
    });
    serde_json::from_value(item).expect("an item")
}

fn all(bytes: usize) -> Item {
    item("ReduceMax", "all", &[bytes / 4], json!({ "axes": [0] }), 1)
}

fn rows(bytes: usize) -> Item {
    item("ReduceMax", "rows", &[bytes / 4096, 1024], json!({ "axes": [1] }), bytes / 4096)
}

fn columns(bytes: usize) -> Item {
    item("ReduceMax", "columns", &[bytes / 4096, 1024], json!({ "axes": [0] }), 1024)
}

fn pool(bytes: usize) -> Item {
    let attrs = json!({
        "kernel": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1],
        "layout": "NCHW", "indices": false,
    });
    item("MaxPool", "pool", &[1, bytes >> 12, 32, 32], attrs, bytes / 16)
}

/// Windows with stride 1 on 4 MiB, padded so that results have the shape of the input.
fn windows() -> impl Iterator<Item = Item> {
    let inputs = [("NCHW", [1, 16, 256, 256]), ("NHWC", [1, 256, 256, 16])];
    inputs.into_iter().flat_map(|(layout, shape)| {
        WINDOWS.into_iter().map(move |k| {
            let (before, after) = ((k - 1) / 2, k / 2);
            let attrs = json!({
                "kernel": [k, k], "strides": [1, 1], "pads": [before, before, after, after],
                "dilations": [1, 1], "layout": layout, "indices": false,
            });
            let name = format!("{layout} window {k} x {k}");
            item("MaxPool", &name, &shape, attrs, shape.iter().product())
        })
    })
}

/// Columns of narrow matrices, with and without positions.
fn narrow() -> impl Iterator<Item = Item> {
    let matrices = [[2, 2], [5, 3], [16, 3], [100, 8]].into_iter();
    matrices.flat_map(|[rows, width]| {
        [false, true].map(|indices| {
            let count = (4 << 20) / (rows * width);
            let attrs = json!({ "axes": [1], "indices": indices });
            let name =
                format!("columns of {rows} x {width}{}", if indices { ", positions" } else { "" });
            let results = count * width * if indices { 3 } else { 1 };
            item("ReduceMax", &name, &[count, rows, width], attrs, results)
        })
    })
}

/// Windows with a stride of 2, and as many elements of padding as fit before them, on small planes, with and without
/// positions.
fn planes() -> impl Iterator<Item = Item> {
    let planes =
        [(vec![7, 7], 3), (vec![14, 14], 2), (vec![28, 28], 3), (vec![8, 8, 8], 2), (vec![64], 2)];
    planes.into_iter().flat_map(|(spatial, k)| {
        let axes = spatial.len();
        let count = (4 << 20) / spatial.iter().product::<usize>();
        let pad = (k - 1) / 2;
        let results = spatial.iter().map(|size| (size + 2 * pad - k) / 2 + 1).product::<usize>();
        [false, true].map(|indices| {
            let attrs = json!({
                "kernel": vec![k; axes], "strides": vec![2; axes], "pads": vec![pad; 2 * axes],
                "dilations": vec![1; axes], "layout": "NCHW", "indices": indices,
            });
            let name =
                format!("window of {k} on {spatial:?}{}", if indices { ", positions" } else { "" });
            let shape: Vec<usize> = [1, count].into_iter().chain(spatial.clone()).collect();
            item("MaxPool", &name, &shape, attrs, count * results * if indices { 3 } else { 1 })
        })
    })
}

fn segments(bytes: usize) -> Item {
    let segments = bytes / 256;
    let attrs = json!({ "num_segments": segments, "dist": "random", "seed": 0 });
    item("SegmentMax", "segments", &[bytes / 4], attrs, segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read() {
        for item in items(MIN_BYTES) {
            let bytes = (item.bytes_read, item.bytes_write);
            assert_eq!(item.byte_lens().unwrap(), bytes, "{}", item.name);
        }
    }
}
