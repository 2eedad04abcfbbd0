//! Simpler attributes: the defaults, and smaller numbers.

use wgmax::operator::{
    EmptySet, Indices, Layout, MaxPool, Operator, Padding, ReduceMax, Rounding, ScatterMax,
    SegmentMax,
};
use wgmax::{Extremum, Nan};

use super::{Case, below, with_kernel, with_output_sizes};
use crate::cases::{PlanOverrides, draw, gradient};
use crate::oracle::reduced;

/// The case with one attribute simplified, or without a narrowed limit.
pub(super) fn simpler(case: &Case) -> Vec<Case> {
    let mut cases: Vec<Case> = wider(&case.overrides)
        .into_iter()
        .map(|overrides| Case { overrides, ..case.clone() })
        .collect();
    let rank = case.tensors[0].shape().len();
    let operators = match gradient::forward(&case.operator) {
        Some(forward) => {
            let simpler = operators(&forward, rank).into_iter();
            simpler.filter_map(Operator::backward).collect()
        }
        None => operators(&case.operator, rank),
    };
    if let Operator::MaxPool(op) = &case.operator {
        cases.extend(channels_first(case, op));
    }
    let cases_of = operators.into_iter().map(|operator| Case { operator, ..case.clone() });
    cases.extend(cases_of.filter_map(gradient::fit));
    cases
}

/// The operators with one attribute simplified, for data of this rank.
fn operators(operator: &Operator, rank: usize) -> Vec<Operator> {
    let mut simpler = match operator {
        Operator::ReduceMax(op) => changed(op, reduce_max(op, rank)),
        Operator::MaxPool(op) => changed(op, max_pool(op)),
        Operator::SegmentMax(op) => changed(op, segment_max(op)),
        Operator::ScatterMax(op) => changed(op, scatter_max(op)),
        _ => Vec::new(),
    };
    let mut plain = operator.clone();
    if draw::initial_of(&mut plain).is_some_and(|initial| initial.take().is_some()) {
        simpler.push(plain);
    }
    simpler
}

/// The new operators that differ from the old one.
fn changed<T: PartialEq + Into<Operator>>(old: &T, new: Vec<T>) -> Vec<Operator> {
    new.into_iter().filter(|new| new != old).map(Into::into).collect()
}

/// The narrowed limits with all or one of them removed.
fn wider(overrides: &PlanOverrides) -> Vec<PlanOverrides> {
    let all = [
        PlanOverrides::default(),
        PlanOverrides { target_parallelism: None, ..overrides.clone() },
        PlanOverrides { max_taps: None, ..overrides.clone() },
        PlanOverrides { max_iterations: None, ..overrides.clone() },
        PlanOverrides { max_workgroups_per_dimension: None, ..overrides.clone() },
        PlanOverrides { workgroup_size: None, ..overrides.clone() },
        PlanOverrides { max_binding_size: None, ..overrides.clone() },
        PlanOverrides { tuning: None, ..overrides.clone() },
    ];
    all.into_iter().filter(|wider| wider != overrides).collect()
}

fn reduce_max(op: &ReduceMax, rank: usize) -> Vec<ReduceMax> {
    let mut simpler = vec![
        op.clone().keep_dims(false),
        op.clone().extremum(Extremum::Maximum),
        op.clone().nan(Nan::Propagate),
        op.clone().empty_set(EmptySet::Identity),
        op.clone().values(true),
        op.clone().values(true).indices(None),
    ];
    let reduced = reduced(op, rank);
    let axes: Vec<i64> = (0..rank as i64).filter(|&axis| reduced[axis as usize]).collect();
    // The same axes as positive numbers, and then with one axis fewer.
    if op.axes.as_deref().is_some() {
        simpler.push(op.clone().axes(axes.iter().copied()));
    }
    let fewer = axes.iter().filter(|_| axes.len() > 1);
    simpler.extend(
        fewer.map(|left_out| op.clone().axes(axes.iter().copied().filter(|axis| axis != left_out))),
    );
    simpler
}

fn segment_max(op: &SegmentMax) -> Vec<SegmentMax> {
    vec![
        op.clone().status(false),
        op.clone().indices(None),
        op.clone().extremum(Extremum::Maximum),
        op.clone().nan(Nan::Propagate),
        op.clone().empty_segment(EmptySet::Zero),
    ]
}

fn scatter_max(op: &ScatterMax) -> Vec<ScatterMax> {
    vec![
        op.clone().status(false),
        op.clone().indices(None),
        op.clone().extremum(Extremum::Maximum),
        op.clone().nan(Nan::Propagate),
        op.clone().include_data(true),
    ]
}

fn max_pool(op: &MaxPool) -> Vec<MaxPool> {
    let spatial = op.kernel.len();
    let mut simpler = vec![
        op.clone().indices(None),
        op.clone().padding(Padding::Explicit { begin: Vec::new(), end: Vec::new() }),
        op.clone().rounding(Rounding::Floor),
        op.clone().extremum(Extremum::Maximum),
        op.clone().nan(Nan::Propagate),
        op.clone().empty_window(EmptySet::Identity),
    ];
    if let Some(indices) = op.indices {
        let plain = Indices::new(indices.element_type);
        simpler.push(op.clone().indices(plain));
    }
    simpler.extend(with_one_smaller(&op.kernel, 1).map(|kernel| with_kernel(op, kernel)));
    if let Some(sizes) = op.output_sizes.as_deref() {
        simpler.extend(with_one_smaller(sizes, 1).map(|sizes| with_output_sizes(op, sizes)));
    }
    if let Some(strides) = op.strides.as_deref() {
        simpler.push(op.clone().strides(vec![1; spatial]));
        simpler.extend(with_one_smaller(strides, 1).map(|strides| op.clone().strides(strides)));
    }
    if let Some(dilations) = op.dilations.as_deref() {
        simpler.push(op.clone().dilations(vec![1; spatial]));
        simpler.extend(
            with_one_smaller(dilations, 1).map(|dilations| op.clone().dilations(dilations)),
        );
    }
    if let Padding::Explicit { begin, end } = &op.padding {
        let pads = |begin: &[usize], end: &[usize]| op.clone().pads(begin.to_vec(), end.to_vec());
        simpler.extend(with_one_smaller(begin, 0).map(|begin| pads(&begin, end)));
        simpler.extend(with_one_smaller(end, 0).map(|end| pads(begin, &end)));
    }
    simpler
}

/// The list with one number made smaller, but not below `min`.
fn with_one_smaller(list: &[usize], min: usize) -> impl Iterator<Item = Vec<usize>> {
    list.iter().enumerate().flat_map(move |(i, &value)| {
        below(value, min).into_iter().map(move |smaller| {
            let mut list = list.to_vec();
            list[i] = smaller;
            list
        })
    })
}

/// The case with channels first. With one channel, both layouts have the same elements.
fn channels_first(case: &Case, op: &MaxPool) -> Option<Case> {
    let data = &case.tensors[0];
    let mut shape = data.shape().to_vec();
    if op.layout != Layout::Nxc || shape.pop() != Some(1) {
        return None;
    }
    shape.insert(1, 1);
    Some(Case {
        operator: op.clone().layout(Layout::Ncx).into(),
        tensors: vec![data.reshape(shape).ok()?],
        overrides: case.overrides.clone(),
    })
}
