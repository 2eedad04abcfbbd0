//! `wgmax bench --traffic`: what the launches of the items load and store, counted on a machine
//! that is modelled. No device takes part, so the counts are the same everywhere.

mod cache;
mod count;
mod machine;
mod report;

use std::collections::HashMap;

use anyhow::{Context, ensure};
use rayon::prelude::*;
use wgmax::plan::{Launch, Limits, Plan};
use wgmax::{Device, Tensor, View, compare, wgpu};

use super::data;
use super::item::Item;
use crate::options::PlanChoice;
use crate::{interrupt, output};
use count::{Counter, Counts};
use machine::{Binding, Memory, Program};
pub use report::Report;

/// Workgroups that run side by side.
const SIDE: usize = 8;

/// What buffers hold before anything is stored: neither zeros nor the lowest element.
const STALE: u32 = 0xa5c3_5a3c;

/// An item, made smaller, and its counts.
pub struct Row {
    pub item: Item,
    pub result: Result<Counted, String>,
}

/// The label of each launch, and its counts.
type Launches = Vec<(String, Counts)>;

/// The counts of an item.
pub struct Counted {
    pub launches: Launches,
    pub sum: Counts,
    /// The fewest bytes: the inputs once, and the results once.
    pub fewest: u64,
}

/// Counts the items, with at most so many elements each, and with rows of the data that begin at
/// multiples of `row_bytes` bytes.
pub fn count(items: &[Item], plan: PlanChoice, elements: usize, row_bytes: usize) -> Report {
    let rows = items.par_iter().map(|item| {
        let item = item.smaller(elements);
        if interrupt::requested() {
            return None;
        }
        let result = count_item(&item, plan, row_bytes).map_err(|error| format!("{error:#}"));
        output::note(format_args!("{}: counted", item.name));
        Some(Row { item, result })
    });
    let rows: Vec<Row> = rows.flatten().collect();
    Report { plan: plan.name(), cut_off: rows.len() < items.len(), rows }
}

fn count_item(item: &Item, choice: PlanChoice, row_bytes: usize) -> anyhow::Result<Counted> {
    let tensors = data::inputs(item)?;
    let inputs: Vec<&Tensor> = tensors.iter().collect();
    let operator = item.operator().checked(&inputs)?;
    let limits = Limits::from_wgpu(&wgpu::Limits::default());
    // Saved indices, in place of the data, have no gaps.
    let has_data = item.pool_of_gradient().is_none_or(|(_, from_indices)| !from_indices);
    let placed = place(&inputs, if has_data { row_bytes } else { 1 })?;
    let views: Vec<&View> = placed.iter().map(|(_, view)| view).collect();
    let plan = operator.plan_views(&views, &[], &limits, &choice.tuning())?;
    let mut counter = Counter::new();
    let (launches, results) = run(&plan, &placed, &mut counter)?;
    check(&plan, &placed, &results)?;
    let mut sum = Counts::default();
    launches.iter().for_each(|(_, counts)| sum.add(counts));
    // What is stored last has yet to leave the cache.
    sum.memory += counter.rest();
    let bytes = plan.inputs().iter().chain(plan.outputs()).map(|desc| desc.byte_len() as u64);
    Ok(Counted { launches, sum, fewest: bytes.sum() })
}

/// The memory of the inputs, and where their elements lie in it: the rows of the data as asked for,
/// all else one after the other.
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

/// Runs a plan on the machine: the counts of each launch, and the results.
fn run(
    plan: &Plan,
    inputs: &[(Tensor, View)],
    counter: &mut Counter,
) -> anyhow::Result<(Launches, Vec<Tensor>)> {
    let buffers = plan.buffer_bytes().enumerate().map(|(i, bytes)| {
        // A whole number of blocks, as devices have them.
        let mut words = vec![STALE; bytes.next_multiple_of(16) as usize / 4];
        if let Some((input, _)) = inputs.get(i) {
            bytemuck::cast_slice_mut(&mut words)[..input.bytes().len()]
                .copy_from_slice(input.bytes());
        }
        words
    });
    let mut memory = Memory::new(buffers.collect());
    let mut programs = HashMap::new();
    let mut launches = Vec::new();
    for launch in plan.launches() {
        if !programs.contains_key(launch.shader()) {
            let program = Program::new(&launch.shader().source()).context(launch.label())?;
            programs.insert(*launch.shader(), program);
        }
        let program = &programs[launch.shader()];
        let bindings = bindings(launch);
        let params = [(0, launch.params())].into_iter().chain(launch.view_params()).collect();
        program
            .run(launch.grid(), SIDE, &params, &bindings, &mut memory, counter)
            .with_context(|| launch.label())?;
        let groups: u64 = launch.grid().iter().map(|&n| u64::from(n)).product();
        counter.counts.invocations = groups * program.workgroup() as u64;
        launches.push((launch.label(), counter.take()));
    }
    let outputs = (plan.inputs().len()..).zip(plan.outputs()).map(|(buffer, desc)| {
        let bytes = &bytemuck::cast_slice(memory.words(buffer))[..desc.byte_len()];
        Tensor::from_bytes(desc.element_type(), desc.shape(), bytes)
    });
    let outputs = outputs.collect::<wgmax::Result<_>>()?;
    Ok((launches, outputs))
}

/// What a launch binds, in words. Sources that are read in blocks are bound as whole ones.
fn bindings(launch: &Launch) -> HashMap<u32, Binding> {
    let bindings = launch.bindings().map(|(number, buffer, offset, bytes)| {
        let multiple = if number == 1 && !launch.shader().words { 16 } else { 4 };
        let len = bytes.next_multiple_of(multiple) as usize / 4;
        (number, Binding { buffer, first: offset as usize / 4, len })
    });
    bindings.collect()
}

/// Counts of wrong results would say nothing.
fn check(plan: &Plan, inputs: &[(Tensor, View)], results: &[Tensor]) -> anyhow::Result<()> {
    let cpu = Device::cpu();
    let uploaded = inputs.iter().map(|(tensor, view)| cpu.upload(tensor)?.with_view(view));
    let uploaded = uploaded.collect::<wgmax::Result<Vec<_>>>()?;
    let expected = cpu.execute(plan, &uploaded.iter().collect::<Vec<_>>())?;
    for (expected, result) in expected.iter().zip(results) {
        let report = compare(result, &expected.download()?)?;
        ensure!(report.is_equal(), "the machine has other results than the CPU: {report}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use wgmax::operator::{Operator, Positions, ReduceMax};
    use wgmax::{ElementType, TensorDesc, Tuning};
    use wgmax_verify::Case;

    use super::*;

    fn is_bool(case: &Case) -> bool {
        case.tensors.iter().any(|tensor| tensor.element_type() == ElementType::Bool)
    }

    /// Runs a random case with a plan of a tuning.
    fn run_case(case: &Case, tuning: &'static str) -> anyhow::Result<()> {
        let (mut case, cpu) = (case.clone(), Device::cpu());
        case.narrow.tuning = Some(tuning);
        // Of other bytes than 0 and 1, which lie between elements, there is no tensor of bools.
        case.narrow.views = case.narrow.views.filter(|_| !is_bool(&case));
        // Whole warps.
        case.narrow.workgroup_size = case.narrow.workgroup_size.map(|size| size.max(32));
        let plan = case.plan(&cpu)?;
        let placed = case.upload(&cpu, &plan)?.into_iter().map(|input| {
            let (view, t) = (input.view().clone(), input.desc().element_type());
            let memory = TensorDesc::new(t, [view.byte_len() / t.size()])?;
            Ok((input.with_view(&memory)?.download()?, view))
        });
        let placed = placed.collect::<wgmax::Result<Vec<_>>>()?;
        run(&plan, &placed, &mut Counter::new()).map(drop)
    }

    /// What random cases load and store lies in what they bind.
    #[test]
    fn random_cases_stay_in_their_bindings() {
        let outside = |index: u64| {
            let case = Case::nth(1, index).unwrap();
            let errors = ["hardware", "software"].map(|tuning| {
                let error = run_case(&case, tuning).err()?;
                Some(format!("case {index}, {tuning}: {error:#}: {case}"))
            });
            errors.into_iter().flatten()
        };
        let wrong: Vec<String> = (0..300).into_par_iter().flat_map_iter(outside).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Elements that end with the memory, the last of which do not fill a word.
    #[test]
    fn the_last_word_of_a_view_stays_in_its_binding() {
        let limits = Limits::from_wgpu(&wgpu::Limits::default());
        let reduce = ReduceMax::new().indices(Positions::default());
        for t in [ElementType::U8, ElementType::F16] {
            let elements = 64 / t.size();
            let memory = Tensor::from_bytes(t, [elements], &[1; 64]).unwrap();
            let view = View::new(TensorDesc::new(t, [elements - 3]).unwrap(), 3, [1]).unwrap();
            let plan = Operator::from(&reduce)
                .plan_views(&[&view], &[], &limits, &Tuning::hardware())
                .unwrap();
            run(&plan, &[(memory, view)], &mut Counter::new()).unwrap();
        }
    }
}
