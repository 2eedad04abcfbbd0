//! The bytes that the launches of the items load and store, counted on a modelled machine. No device
//! is used, so the counts are the same everywhere.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use rayon::prelude::*;
use regex::Regex;
use wgmax::plan::Plan;
use wgmax::{Device, Tensor, View, compare};
use wgmax_cli::bench::data;
use wgmax_cli::bench::item::{self, Attributes, Item, SegmentSizes};
use wgmax_cli::options::TuningChoice;

use crate::cases::limits;
use crate::count::{Counter, Counts};
use crate::machine::Memory;
use crate::report::{Counted, Report, Row};
use crate::run;

#[derive(Args)]
pub struct Arguments {
    /// Kind of device that the counted plans are fast on
    #[arg(long, value_enum, default_value = "hardware")]
    tuning: TuningChoice,
    /// Only items whose name matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// Maximum elements of an item
    #[arg(long, value_name = "N", default_value_t = 4 << 20)]
    elements: usize,
    /// Rows begin at multiples of so many bytes, as textures are copied to buffers
    #[arg(long, value_name = "BYTES", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..))]
    row_bytes: u16,
    /// Print the operations of each function of the shaders, too
    #[arg(long)]
    functions: bool,
    /// Print what a model of ten GPUs makes of the counts, too
    #[arg(long)]
    model: bool,
    /// Write all counts as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let items = item::matching(&arguments.filter)?;
    let report = count(&items, arguments.tuning, arguments.elements, arguments.row_bytes.into())?;
    println!("{report}");
    if arguments.functions {
        print!("{}", report.functions());
    }
    if arguments.model {
        println!("{}", report.model());
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, format!("{:#}\n", report.json()))?;
    }
    Ok(report.rows.iter().all(|row| row.result.is_ok()))
}

/// Counts the items, with at most this many elements each, and with rows of the data that begin at
/// multiples of `row_bytes` bytes.
pub fn count(
    items: &[Item],
    tuning: TuningChoice,
    elements: usize,
    row_bytes: usize,
) -> anyhow::Result<Report> {
    ensure!(tuning != TuningChoice::Cpu, "plans for the CPU launch no shaders");
    let rows = items.par_iter().map(|item| {
        let item = smaller(item, elements);
        let result = count_item(&item, tuning, row_bytes).map_err(|error| format!("{error:#}"));
        Row { item, result }
    });
    Ok(Report { plan: tuning.name(), rows: rows.collect() })
}

/// The same kind of item with at most this many elements: a part of the first axes. Rows and windows
/// stay unchanged, unless a single row has too many elements.
pub fn smaller(item: &Item, elements: usize) -> Item {
    let mut item = item.clone();
    while item.shape.iter().product::<usize>() > elements {
        let Some(axis) = item.shape.iter().position(|&size| size > 1) else { break };
        item.shape[axis] /= 2;
        match &mut item.attrs {
            Attributes::Segment { dist: SegmentSizes::Giant, .. } => {}
            Attributes::Segment { num_segments: count, .. }
            | Attributes::Scatter { elements: count, .. } => *count = (*count / 2).max(1),
            _ => {}
        }
    }
    item
}

fn count_item(item: &Item, choice: TuningChoice, row_bytes: usize) -> anyhow::Result<Counted> {
    let tensors = data::inputs(item)?;
    let inputs: Vec<&Tensor> = tensors.iter().collect();
    let operator = item.operator().checked(&inputs)?;
    // Saved indices, in place of the data, have no gaps.
    let has_data = item.pool_of_gradient().is_none_or(|(_, from_indices)| !from_indices);
    let placed = place(&inputs, if has_data { row_bytes } else { 1 })?;
    let views: Vec<&View> = placed.iter().map(|(_, view)| view).collect();
    let plan = operator.plan_views(&views, &[], &limits(), &choice.tuning())?;
    let (mut counter, mut launches) = (Counter::new(), Vec::new());
    let memory = run::run(&plan, &placed, run::programs(), &mut counter, |launch, counter| {
        launches.push((launch.label(), counter.take()));
    })?;
    check(&plan, &placed, &memory)?;
    // The last stores are still in the cache.
    if let Some((_, last)) = launches.last_mut() {
        last.memory += counter.rest();
    }
    let mut sum = Counts::default();
    launches.iter().for_each(|(_, counts)| sum.add(counts));
    let bytes = plan.inputs().iter().chain(plan.outputs()).map(|desc| desc.byte_len() as u64);
    Ok(Counted { launches, sum, functions: counter.functions, fewest: bytes.sum() })
}

/// The memory of the inputs, and the layout of their elements: the data's rows as requested, the
/// rest contiguous.
fn place(inputs: &[&Tensor], row_bytes: usize) -> anyhow::Result<Vec<(Tensor, View)>> {
    let mut placed: Vec<(Tensor, View)> =
        inputs.iter().map(|&input| (input.clone(), input.desc().into())).collect();
    let (data, view) = &mut placed[0];
    // Rows begin where elements do.
    let aligned = row_bytes.next_multiple_of(data.element_type().size());
    *view = View::with_aligned_rows(data.desc().clone(), aligned)?;
    if !view.is_contiguous() {
        let row = data.shape().last().map_or(1, |&row| row) * data.element_type().size();
        let mut memory = vec![0; view.byte_len()];
        let rows = data.bytes().chunks_exact(row);
        for (to, row) in memory.chunks_mut(row.next_multiple_of(aligned)).zip(rows) {
            to[..row.len()].copy_from_slice(row);
        }
        let elements = memory.len() / data.element_type().size();
        *data = Tensor::from_bytes(data.element_type(), [elements], &memory)?;
    }
    Ok(placed)
}

/// Counts of wrong results would mean nothing.
fn check(plan: &Plan, inputs: &[(Tensor, View)], memory: &Memory) -> anyhow::Result<()> {
    let cpu = Device::cpu();
    let uploaded = inputs.iter().map(|(tensor, view)| cpu.upload(tensor)?.with_view(view));
    let uploaded = uploaded.collect::<wgmax::Result<Vec<_>>>()?;
    let expected = cpu.execute(plan, uploaded.iter().collect::<Vec<_>>())?;
    for (expected, buffer) in expected.iter().zip(plan.inputs().len()..) {
        let expected = expected.download()?;
        let bytes = &bytemuck::cast_slice(memory.words(buffer))[..expected.bytes().len()];
        let result = Tensor::from_bytes(expected.element_type(), expected.shape(), bytes)?;
        let report = compare(&result, &expected)?;
        ensure!(report.is_equal(), "the machine has other results than the CPU: {report}");
    }
    Ok(())
}
