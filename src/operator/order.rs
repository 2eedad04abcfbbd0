//! Operators on views, in the order that the elements have in memory.
//!
//! A reduction of a permuted tensor is a reduction of other axes of the same memory, and the
//! direction of a flipped axis does not matter. So planners get the axes in memory order, wherever
//! the operator allows it, and only the layout of the results differs.

use std::cmp::Reverse;

use super::{Layout, MaxPool, Operator, Padding, ReduceMax, SegmentMax};
use crate::base::error::Result;
use crate::tensor::View;

/// An operator on a view whose axes are in memory order. It replaces another one.
pub(crate) struct Ordered {
    pub operator: Operator,
    /// The first input.
    pub first: View,
    results: Results,
}

/// How the results of an [`Ordered`] operator become those of the replaced one: axes of size 1 are
/// added, then axes are flipped, and then permuted.
struct Results {
    new_axes: Vec<usize>,
    flipped: Vec<usize>,
    order: Vec<usize>,
}

impl Ordered {
    /// The view of the replacing operator's result, from that of the replaced one's.
    ///
    /// # Errors
    /// [`Error::TooManyAxes`](crate::Error::TooManyAxes).
    pub(crate) fn result(&self, view: &View) -> Result<View> {
        let Results { new_axes, flipped, order } = &self.results;
        if view.desc().rank() + new_axes.len() != order.len() {
            // The status of segments.
            return Ok(view.clone());
        }
        let mut view = view.clone();
        for &axis in new_axes {
            view = view.broadcast(axis, 1)?;
        }
        for &axis in flipped {
            view = view.step_by(axis, -1)?;
        }
        view.permute(order)
    }
}

impl Operator {
    /// An operator with the same results on the first input with its axes in memory order; `None` if
    /// they already have this order, or if the order matters. With `may_count_back`, positions may
    /// count from the last element.
    ///
    /// # Errors
    /// As [`Operator::infer`] for axes that the input does not have.
    pub(crate) fn in_memory_order(
        &self,
        first: &View,
        may_count_back: bool,
    ) -> Result<Option<Ordered>> {
        if first.is_contiguous() || first.desc().is_empty() {
            return Ok(None);
        }
        let ordered = match self {
            Self::ReduceMax(op) => reduce(op, first, may_count_back)?,
            Self::MaxPool(op) => pool(op, first)?,
            Self::SegmentMax(op) => segment(op, first)?,
            _ => None,
        };
        Ok(ordered.filter(|ordered| ordered.first != *first))
    }
}

/// The distance of a step along an axis. An axis of repeated elements has the largest.
fn distance(pitch: isize) -> usize {
    if pitch == 0 { usize::MAX } else { pitch.unsigned_abs() }
}

/// Some axes in memory order, the largest steps first. Axes of size 1 stay.
fn sorted(view: &View, axes: impl Iterator<Item = usize>) -> Vec<usize> {
    let (shape, pitches) = (view.desc().shape(), view.pitches());
    let mut slots: Vec<usize> = axes.collect();
    let mut large: Vec<usize> = slots.iter().copied().filter(|&axis| shape[axis] > 1).collect();
    large.sort_by_key(|&axis| Reverse(distance(pitches[axis])));
    let mut large = large.into_iter();
    for slot in slots.iter_mut().filter(|slot| shape[**slot] > 1) {
        *slot = large.next().unwrap_or(*slot);
    }
    slots
}

/// Flips axes that run backwards, and returns them.
fn forwards(view: &mut View, axes: impl Iterator<Item = usize>) -> Result<Vec<usize>> {
    let pitches = view.pitches();
    let flipped: Vec<usize> = axes.filter(|&axis| pitches[axis] < 0).collect();
    for &axis in &flipped {
        *view = view.step_by(axis, -1)?;
    }
    Ok(flipped)
}

/// Positions count along the reduced axes, so these keep their order, and their direction unless all
/// of them run backwards.
fn reduce(op: &ReduceMax, view: &View, may_count_back: bool) -> Result<Option<Ordered>> {
    let rank = view.desc().rank();
    let reduced = op.reduced(rank)?;
    let (mut first, is_free) = (view.clone(), op.indices.is_none());
    let mut operator = op.clone();
    let (shape, pitches) = (view.desc().shape(), view.pitches());
    let set = || (0..rank).filter(|&axis| reduced[axis]);
    let mut large = set().filter(|&axis| shape[axis] > 1).peekable();
    if !is_free && may_count_back && large.peek().is_some() && large.all(|axis| pitches[axis] < 0) {
        forwards(&mut first, set())?;
        operator = operator.counting_back();
    }
    let flipped = forwards(&mut first, (0..rank).filter(|&axis| !reduced[axis]))?;
    if is_free {
        forwards(&mut first, set())?;
        // One of repeated elements is enough.
        for axis in set() {
            if first.pitches()[axis] == 0 {
                first = first.slice(axis, 0..1)?;
            }
        }
    }
    let order = sorted(&first, 0..rank);
    let sets = order.iter().filter(|&&axis| reduced[axis] && shape[axis] > 1);
    if !is_free && !sets.is_sorted() {
        return Ok(None);
    }
    let axes = (0..rank).filter(|&i| reduced[order[i]]).map(|i| i as i64);
    let new_axes = if op.keep_dims { Vec::new() } else { set().collect() };
    let operator = operator.axes(axes).keep_dims(true).into();
    let first = first.permute(&order)?;
    Ok(Some(Ordered { operator, first, results: Results { new_axes, flipped, order } }))
}

/// Windows are along neighbouring axes. Batch and channels come before and after them.
fn pool(op: &MaxPool, view: &View) -> Result<Option<Ordered>> {
    let rank = view.desc().rank();
    let spatial_axes = op.output_sizes.as_ref().unwrap_or(&op.kernel).len();
    if op.indices.is_some() || rank != spatial_axes + 2 {
        return Ok(None);
    }
    let (channels, spatial) = match op.layout {
        Layout::Ncx => (1, 2..rank),
        Layout::Nxc => (rank - 1, 1..rank - 1),
    };
    let mut first = view.clone();
    let flipped = forwards(&mut first, [0, channels].into_iter())?;
    let along = sorted(&first, spatial.clone());
    let pitches = first.pitches();
    let pitch = |axis: usize| distance(pitches[axis]);
    let shape = first.desc().shape();
    let large = || along.iter().copied().filter(|&axis| shape[axis] > 1);
    let (farthest, nearest) = (large().map(pitch).max(), large().map(pitch).min());
    let others = sorted(&first, [0, channels].into_iter());
    let after = |axis: usize| shape[axis] > 1 && nearest.is_some_and(|near| pitch(axis) < near);
    let before = |axis: usize| shape[axis] == 1 || farthest.is_none_or(|far| pitch(axis) >= far);
    let (a, b) = (others[0], others[1]);
    // The axis with smaller steps comes second, unless it has one element.
    let (outer, inner) = if after(a) { (b, a) } else { (a, b) };
    let (layout, order) = match (before(outer), before(inner), after(inner)) {
        (true, true, _) => (Layout::Ncx, [&[outer, inner], &along[..]].concat()),
        (true, _, true) => (Layout::Nxc, [&[outer], &along[..], &[inner]].concat()),
        _ => return Ok(None),
    };
    let list = |values: &[usize]| -> Vec<usize> {
        match values.len() == along.len() {
            true => along.iter().map(|&axis| values[axis - spatial.start]).collect(),
            // The planner refuses a list of the wrong length.
            false => values.to_vec(),
        }
    };
    let mut operator = op.clone().layout(layout);
    operator.kernel = list(&op.kernel);
    operator.output_sizes = op.output_sizes.as_deref().map(list);
    if let Some(strides) = &op.strides {
        operator = operator.strides(list(strides));
    }
    if let Some(dilations) = &op.dilations {
        operator = operator.dilations(list(dilations));
    }
    if let Padding::Explicit { begin, end } = &op.padding {
        operator = operator.pads(list(begin), list(end));
    }
    let first = first.permute(&order)?;
    let results = Results { new_axes: Vec::new(), flipped, order };
    Ok(Some(Ordered { operator: operator.into(), first, results }))
}

/// The first axis, which numbers the rows, stays first.
fn segment(op: &SegmentMax, view: &View) -> Result<Option<Ordered>> {
    let rank = view.desc().rank();
    let mut first = view.clone();
    let flipped = forwards(&mut first, 1..rank)?;
    let order: Vec<usize> = (0..1.min(rank)).chain(sorted(&first, 1..rank)).collect();
    let first = first.permute(&order)?;
    let results = Results { new_axes: Vec::new(), flipped, order };
    Ok(Some(Ordered { operator: op.clone().into(), first, results }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{EmptySet, Indices};
    use crate::plan::Limits;
    use crate::tensor::{ElementType, TensorDesc};
    use crate::tuning::Tuning;

    fn view(shape: &[usize]) -> View {
        TensorDesc::new(ElementType::F32, shape).unwrap().into()
    }

    /// The kernels of the plan, and whether the CPU copies elements before one of them.
    fn kernels(
        operator: impl Into<Operator>,
        view: &View,
        others: &[&View],
    ) -> (Vec<String>, bool) {
        let inputs = [&[view], others].concat();
        let (limits, tuning) = (Limits::cpu(), Tuning::cpu(2));
        let plan = operator.into().plan_views(&inputs, &[], &limits, &tuning).unwrap();
        assert!(plan.inputs().iter().zip(&inputs).all(|(desc, view)| desc == view.desc()));
        let names = plan.launches().iter().map(|launch| launch.shader().kernel.name().to_string());
        let copies = plan.launches().iter().any(|launch| launch.gathered().is_some());
        (names.collect(), copies)
    }

    #[test]
    fn reductions_read_memory_in_its_order() {
        let rows = |axis: i64| ReduceMax::new().axes([axis]);
        let found = |axis: i64| rows(axis).indices(Indices::default());
        let whole = view(&[40, 50, 60]);
        let turned = whole.permute(&[2, 1, 0]).unwrap();
        let flipped = whole.step_by(2, -1).unwrap().step_by(0, -1).unwrap();
        let crop = whole.slice(2, 3..40).unwrap().slice(1, 1..50).unwrap();
        let wide = view(&[400, 300]).slice(0, 1..400).unwrap().slice(1, 3..300).unwrap();
        let repeated = whole.slice(1, 0..1).unwrap().slice(2, 0..59).unwrap();
        let repeated = repeated.permute(&[0, 2, 1]).unwrap().broadcast(3, 9).unwrap();
        let all = ReduceMax::new().indices(Indices::default());
        for (operator, view, expected) in [
            (rows(0), &turned, ("reduce_rows", "unpack")),
            (rows(2), &turned, ("reduce_columns", "unpack")),
            (rows(2).keep_dims(true), &turned, ("reduce_columns", "unpack")),
            (rows(2).axes([]), &turned, ("reduce_columns", "unpack")),
            (rows(2).axes([2, 1]), &turned, ("reduce_columns", "reduce_columns")),
            (found(0), &turned, ("reduce_rows", "unpack")),
            (rows(2), &flipped, ("reduce_rows", "unpack")),
            (rows(0), &flipped.permute(&[2, 0, 1]).unwrap(), ("reduce_rows", "unpack")),
            (found(2), &flipped, ("reduce_rows", "unpack")),
            (rows(0), &wide, ("reduce_columns", "reduce_columns")),
            (found(0), &wide, ("reduce_columns_index", "reduce_columns_index")),
            (rows(2), &crop, ("reduce_rows", "reduce_rows")),
            (found(2), &crop, ("reduce_rows", "reduce_rows")),
            (ReduceMax::new(), &wide, ("reduce_rows", "reduce_rows")),
            // Positions count along the original axes.
            (all.clone(), &turned, ("pack", "reduce_rows")),
        ] {
            let (names, copies) = kernels(operator.clone(), view, &[]);
            let ends = names.first().zip(names.last()).map(|(a, b)| (a.as_str(), b.as_str()));
            assert_eq!(ends, Some(expected), "{operator:?} of {view}: {names:?}");
            assert!(!copies, "{operator:?} of {view}");
        }
        // One of repeated elements is read.
        let ordered = Operator::from(rows(3)).in_memory_order(&repeated, true).unwrap().unwrap();
        assert_eq!(ordered.first.desc().shape(), [40, 59, 1, 1]);
        // Positions count in the direction of each axis, unless all of them run backwards.
        let flip = whole.step_by(1, -1).unwrap();
        assert!(Operator::from(all.clone()).in_memory_order(&flip, true).unwrap().is_none());
        let flip = flip.step_by(0, -1).unwrap().step_by(2, -1).unwrap();
        let ordered = Operator::from(all.clone()).in_memory_order(&flip, true).unwrap().unwrap();
        assert_eq!(
            (ordered.operator, ordered.first),
            (all.axes([0, 1, 2]).keep_dims(true).counting_back().into(), whole.clone())
        );
    }

    #[test]
    fn windows_lie_along_neighbouring_axes() {
        let pool = MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0], [0, 1]);
        let pool = pool.empty_window(EmptySet::Finite);
        let channels_last = view(&[2, 30, 40, 5]);
        let kernel = |operator: &MaxPool, view: &View| {
            let (names, copies) = kernels(operator.clone(), view, &[]);
            (names[0].clone(), copies)
        };
        let last = pool.clone().layout(Layout::Nxc);
        let direct = kernel(&last, &channels_last).0;
        // The layout is channels first, but memory has the channels last.
        let first = channels_last.permute(&[0, 3, 1, 2]).unwrap();
        assert_eq!(kernel(&pool, &first), (direct.clone(), false));
        // The axes of windows in another order, which their attributes follow.
        let turned = channels_last.permute(&[0, 3, 2, 1]).unwrap();
        let ordered = Operator::from(pool.clone()).in_memory_order(&turned, true).unwrap().unwrap();
        let expected = MaxPool::new([2, 3]).strides([1, 2]).pads([0, 1], [1, 0]);
        let expected = expected.empty_window(EmptySet::Finite).layout(Layout::Nxc);
        assert_eq!(ordered.operator, expected.into());
        assert_eq!(ordered.first, channels_last);
        assert_eq!(ordered.result(&view(&[2, 5, 20, 30])).unwrap().desc().shape(), [2, 30, 20, 5]);
        let shared = MaxPool::adaptive([7, 4]);
        let ordered = Operator::from(shared).in_memory_order(&turned, true).unwrap().unwrap();
        assert_eq!(ordered.operator, MaxPool::adaptive([4, 7]).layout(Layout::Nxc).into());
        // A batch that runs backwards, and a part of each picture.
        assert_eq!(kernel(&last, &channels_last.step_by(0, -1).unwrap()), (direct.clone(), false));
        let part = channels_last.slice(2, 3..30).unwrap().slice(1, 1..20).unwrap();
        assert_eq!(kernel(&last, &part), (direct, false));
        // Indices count in the original tensor, and batch and channels may not be between axes of
        // windows.
        let indices = pool.clone().indices(Indices::default());
        assert!(Operator::from(indices).in_memory_order(&first, true).unwrap().is_none());
        let between = channels_last.permute(&[0, 2, 1, 3]).unwrap();
        assert!(Operator::from(pool).in_memory_order(&between, true).unwrap().is_none());
    }

    #[test]
    fn columns_of_segments_come_in_the_order_of_memory() {
        let operator =
            SegmentMax::unsorted().num_segments(7).indices(ElementType::I32).status(true);
        let turned = view(&[30, 4, 5]).permute(&[0, 2, 1]).unwrap().step_by(1, -1).unwrap();
        let ids = TensorDesc::new(ElementType::I32, [30]).unwrap().into();
        let (names, copies) = kernels(operator.clone(), &turned, &[&ids]);
        assert!(!names.iter().any(|name| name == "pack") && !copies, "{names:?}");
        let ordered = Operator::from(operator).in_memory_order(&turned, true).unwrap().unwrap();
        let status = View::from(TensorDesc::new(ElementType::U32, [2]).unwrap());
        assert_eq!(ordered.result(&status).unwrap(), status);
    }
}
