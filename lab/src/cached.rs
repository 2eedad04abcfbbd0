//! The bench's items on inputs that stay in the processor's caches. Beside the bench this tells what an item
//! waits for: if it is as slow as there, for its own instructions, otherwise for memory.

use clap::Args;
use regex::Regex;
use wgmax_cli::bench::item::{self, Attributes, Item};
use wgmax_cli::bench::measure;
use wgmax_cli::bench::times::Budget;
use wgmax_cli::options::On;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    on: On,
    /// Only items whose name matches this regular expression
    #[arg(long, default_value = "")]
    filter: Regex,
    /// KiB that an item reads and writes, at most; with few, starting threads takes most of the time
    #[arg(long, default_value_t = 8192)]
    kib: u64,
    /// Seconds to run each item
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let items = item::matching(&arguments.filter)?;
    let small = |item| small(item, arguments.kib << 10);
    let items = items.into_iter().map(small).collect::<anyhow::Result<_>>()?;
    let budget = Budget { runs: None, seconds: arguments.seconds };
    println!("{}", measure(&arguments.on, items, budget, 0)?);
    Ok(true)
}

/// The item on less data, so that it reads and writes at most so many bytes, if its windows and the rows of its
/// segments are not larger.
fn small(mut item: Item, max_bytes: u64) -> anyhow::Result<Item> {
    while item.bytes() > max_bytes && halve(&mut item) {
        (item.bytes_read, item.bytes_write) = item.byte_lens()?;
    }
    Ok(item)
}

/// Halves the outermost axis of an item that can be halved, and all that follows from it.
fn halve(item: &mut Item) -> bool {
    let last = item.shape.len() - 1;
    let axes = match &item.attrs {
        Attributes::Reduce { .. } => (0..=last).collect(),
        Attributes::Pool { layout, .. } if layout == "NHWC" => vec![0, last],
        Attributes::Pool { .. } | Attributes::Adaptive { .. } => vec![0, 1],
        Attributes::Segment { .. } | Attributes::Scatter { .. } => vec![0],
    };
    let Some(axis) = axes.into_iter().find(|&axis| item.shape[axis] > 1) else { return false };
    item.shape[axis] /= 2;
    if let Attributes::Segment { num_segments: count, .. }
    | Attributes::Scatter { elements: count, .. } = &mut item.attrs
    {
        *count = count.div_ceil(2);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_become_small() {
        for item in item::all().unwrap() {
            // One map of P10 is larger.
            assert!(small(item, 512 << 10).unwrap().bytes() <= 576 << 10);
        }
    }
}
