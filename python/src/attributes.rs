//! Operators from Python's arguments.

use pyo3::prelude::*;
use wgmax::operator::{
    EmptySegment, EmptySet, Indices, Layout, MaxPool, Order, Padding, Positions, ReduceMax,
    Rounding, SegmentMax, Segments,
};
use wgmax::{ElementType, Extremum, Nan};

use crate::exchange::element_type_of;
use crate::fields::{Fields, bad, boolean, integer, integers};

const NAN: [(&str, Nan); 2] = [("propagate", Nan::Propagate), ("ignore", Nan::Ignore)];
const EMPTY: [(&str, EmptySet); 2] =
    [("negative_infinity", EmptySet::NegativeInfinity), ("lowest", EmptySet::Lowest)];
const LIST: &str = "an integer, or one for each spatial axis";

/// An argument that may be absent.
pub(crate) type Optional<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// An operator with an attribute, if it is given.
pub(crate) fn set<O, V>(op: O, value: Option<V>, with: impl FnOnce(O, V) -> O) -> O {
    match value {
        Some(value) => with(op, value),
        None => op,
    }
}

/// `nan`: "propagate" or "ignore".
pub(crate) fn nan(fields: &mut Fields<'_, '_>) -> PyResult<Option<Nan>> {
    fields.choice("nan", &NAN)
}

fn index_type(fields: &mut Fields<'_, '_>) -> PyResult<ElementType> {
    match fields.take("index_type")? {
        None => Ok(ElementType::I64),
        Some(value) => match element_type_of(&value) {
            Ok(found @ (ElementType::I32 | ElementType::I64)) => Ok(found),
            _ => Err(bad("index_type", "int32 or int64", &value)),
        },
    }
}

/// The arguments of a reduction, and how its positions count. `indices`: positions alone are wanted.
pub(crate) fn reduce(
    extremum: Extremum,
    axis: Optional<'_, '_>,
    fields: &mut Fields<'_, '_>,
    indices: bool,
) -> PyResult<(ReduceMax, Positions)> {
    let mut op = ReduceMax::new().extremum(extremum);
    if let Some(axis) = axis.filter(|axis| !axis.is_none()) {
        let expected = "None, an integer, or a tuple of them";
        op = op.axes(each(axis, 1).ok_or_else(|| bad("axis", expected, axis))?);
    }
    op = set(op, fields.boolean("keepdims")?, ReduceMax::keep_dims);
    op = set(op, nan(fields)?, ReduceMax::nan);
    op = set(op, fields.choice("empty", &EMPTY)?, ReduceMax::empty_set);
    let element_type = index_type(fields)?;
    let last = fields.boolean("select_last")?.unwrap_or(false);
    let positions = Positions { element_type, last };
    if indices || fields.boolean("return_indices")?.unwrap_or(false) {
        op = op.indices(positions).values(!indices);
    }
    Ok((op, positions))
}

/// The arguments of a pooling of data with so many axes, and how its indices count.
pub(crate) fn pool<'py>(
    extremum: Extremum,
    rank: usize,
    kernel_size: &Bound<'py, PyAny>,
    stride: Optional<'_, 'py>,
    padding: Optional<'_, 'py>,
    fields: &mut Fields<'_, 'py>,
) -> PyResult<(MaxPool, Indices)> {
    let spatial = rank.saturating_sub(2);
    let list = |name: &str, value: &Bound<'_, PyAny>| {
        each(value, spatial).ok_or_else(|| bad(name, LIST, value))
    };
    let kernel = list("kernel_size", kernel_size)?;
    let stride = stride.filter(|stride| !stride.is_none());
    let strides = stride.map_or(Ok(kernel.clone()), |stride| list("stride", stride))?;
    let mut op = MaxPool::new(kernel).strides(strides).extremum(extremum);
    if let Some(padding) = padding.filter(|padding| !padding.is_none()) {
        op = op.padding(read_padding(padding, spatial)?);
    }
    if let Some(dilation) = fields.take("dilation")? {
        op = op.dilations(list("dilation", &dilation)?);
    }
    if let Some(ceil) = fields.take("ceil_mode")? {
        let rounding = |ceil| if ceil { Rounding::CeilTorch } else { Rounding::Floor };
        op = op.rounding(match ceil.extract::<String>() {
            Ok(all) if all == "all" => Rounding::Ceil,
            _ => rounding(
                boolean("ceil_mode", &ceil)
                    .map_err(|_| bad("ceil_mode", "True, False or 'all'", &ceil))?,
            ),
        });
    }
    let layout = fields.choice("layout", &[("NCX", Layout::Ncx), ("NXC", Layout::Nxc)])?;
    let layout = layout.unwrap_or(Layout::Ncx);
    op = op.layout(layout);
    op = set(op, nan(fields)?, MaxPool::nan);
    op = set(op, fields.choice("empty", &EMPTY)?, MaxPool::empty_window);
    let orders = [("row_major", Order::RowMajor), ("column_major", Order::ColumnMajor)];
    let order = fields.choice("index_order", &orders)?.unwrap_or(Order::RowMajor);
    // As PyTorch counts: within a plane.
    let plane = match (order, layout) {
        (Order::ColumnMajor, _) => 0,
        (_, Layout::Ncx) => 2,
        (_, Layout::Nxc) => 1,
    };
    let wrong = |axis: &Bound<'_, PyAny>| bad("index_axis", "an integer", axis);
    let axis = fields.take("index_axis")?;
    let axis = axis.map_or(Ok(plane), |axis| integer(&axis).ok_or_else(|| wrong(&axis)))?;
    let indices = Indices { element_type: index_type(fields)?, order, axis };
    if fields.boolean("return_indices")?.unwrap_or(false) {
        op = op.indices(indices);
    }
    Ok((op, indices))
}

/// An integer, one for each spatial axis, a pair for each, or a rule.
fn read_padding(value: &Bound<'_, PyAny>, spatial: usize) -> PyResult<Padding> {
    let wrong = || {
        let expected = "an integer, one or a pair for each spatial axis, 'valid', 'same_upper' or \
                        'same_lower'";
        bad("padding", expected, value)
    };
    if let Ok(rule) = value.extract::<String>() {
        return match rule.as_str() {
            "valid" => Ok(Padding::Valid),
            "same_upper" => Ok(Padding::SameUpper),
            "same_lower" => Ok(Padding::SameLower),
            _ => Err(wrong()),
        };
    }
    if let Some(each) = each(value, spatial) {
        return Ok(Padding::Explicit { begin: each.clone(), end: each });
    }
    let pair = |item: PyResult<Bound<'_, PyAny>>| match integers(&item?).as_deref() {
        Some(&[begin, end]) => Ok((begin, end)),
        _ => Err(wrong()),
    };
    let pairs: Vec<(i64, i64)> =
        value.try_iter().map_err(|_| wrong())?.map(pair).collect::<PyResult<_>>()?;
    let (begin, end) = pairs.into_iter().unzip();
    Ok(Padding::Explicit { begin, end })
}

/// The arguments of SegmentMax, the type of its indices, and whether ids at or above the number of
/// segments are errors.
pub(crate) fn segment(
    extremum: Extremum,
    num_segments: Optional<'_, '_>,
    fields: &mut Fields<'_, '_>,
) -> PyResult<(SegmentMax, ElementType, bool)> {
    let kinds = [
        ("sorted", Segments::Sorted),
        ("unsorted", Segments::Unsorted),
        ("offsets", Segments::Offsets),
    ];
    let mut op = match fields.choice("segments", &kinds)? {
        None | Some(Segments::Sorted) => SegmentMax::sorted(),
        Some(Segments::Unsorted) => SegmentMax::unsorted(),
        Some(Segments::Offsets) => SegmentMax::offsets(),
    };
    op = op.extremum(extremum);
    if let Some(count) = num_segments.filter(|count| !count.is_none()) {
        op = op
            .num_segments(integer(count).ok_or_else(|| bad("num_segments", "an integer", count))?);
    }
    let empties = [
        ("zero", EmptySegment::Zero),
        ("lowest", EmptySegment::Lowest),
        ("negative_infinity", EmptySegment::NegativeInfinity),
    ];
    op = set(op, fields.choice("empty", &empties)?, SegmentMax::empty_segment);
    op = set(op, nan(fields)?, SegmentMax::nan);
    let element_type = index_type(fields)?;
    if fields.boolean("return_indices")?.unwrap_or(false) {
        op = op.indices(element_type);
    }
    let refuses = fields.choice("mode", &[("raise", true), ("drop", false)])?.unwrap_or(true);
    Ok((op, element_type, refuses))
}

/// The sizes of a shape that may be absent.
pub(crate) fn shape(fields: &mut Fields<'_, '_>, name: &str) -> PyResult<Option<Vec<usize>>> {
    fields.take(name)?.map(|value| sizes(name, &value)).transpose()
}

/// The sizes of a shape: an integer, or several.
pub(crate) fn sizes(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let sizes = each(value, 1).and_then(|sizes| {
        sizes.into_iter().map(|size| usize::try_from(size).ok()).collect::<Option<Vec<usize>>>()
    });
    sizes.ok_or_else(|| bad(name, "a tuple of sizes", value))
}

/// Integers, or one that stands for so many.
pub(crate) fn each(value: &Bound<'_, PyAny>, count: usize) -> Option<Vec<i64>> {
    integer(value).map(|value| vec![value; count]).or_else(|| integers(value))
}
