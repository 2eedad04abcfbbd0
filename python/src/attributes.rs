//! Operators from Python's arguments.

use std::fmt::Debug;

use pyo3::prelude::*;
use wgmax::operator::{
    EmptySet, Indices, Layout, MaxPool, Numbering, Padding, ReduceMax, Rounding, ScatterBy,
    ScatterMax, SegmentMax, Segments,
};
use wgmax::{ElementType, Error, Extremum, Nan};

use crate::error::raised;
use crate::exchange::element_type_of;
use crate::fields::{Fields, bad, boolean, integer, integers};

const NAN: [(&str, Nan); 2] = [("propagate", Nan::Propagate), ("ignore", Nan::Ignore)];
const EMPTY: [(&str, EmptySet); 2] =
    [("negative_infinity", EmptySet::Identity), ("lowest", EmptySet::Finite)];
const LIST: &str = "an integer, or one for each spatial axis";

/// An argument that may be absent.
pub(crate) type Optional<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

fn index_type(fields: &mut Fields<'_, '_>) -> PyResult<ElementType> {
    match fields.take("index_type")? {
        None => Ok(ElementType::I64),
        Some(value) => match element_type_of(&value) {
            Ok(found @ (ElementType::I32 | ElementType::I64)) => Ok(found),
            _ => Err(bad("index_type", "int32 or int64", &value)),
        },
    }
}

/// The arguments of a reduction, and how its positions are given. `alone`: positions are the only
/// result.
pub(crate) fn reduce(
    extremum: Extremum,
    axis: Optional<'_, '_>,
    fields: &mut Fields<'_, '_>,
    alone: bool,
) -> PyResult<(ReduceMax, Indices)> {
    let mut op = ReduceMax::new().extremum(extremum);
    if let Some(axis) = axis.filter(|axis| !axis.is_none()) {
        let expected = "None, an integer, or a tuple of them";
        op.axes = Some(each(axis, 1).ok_or_else(|| bad("axis", expected, axis))?);
    }
    op.keep_dims = fields.boolean("keepdims", op.keep_dims)?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    op.empty_set = fields.choice("empty", &EMPTY, op.empty_set)?;
    if !alone {
        op.initial = fields.scalar("initial")?;
    }
    let indices = Indices::new(index_type(fields)?).last(fields.boolean("select_last", false)?);
    if alone || fields.boolean("return_indices", false)? {
        op = op.indices(indices).values(!alone);
    }
    Ok((op, indices))
}

/// The arguments of a pooling of data of this rank, and how its indices count.
pub(crate) fn pool<'py>(
    extremum: Extremum,
    rank: usize,
    kernel_size: &Bound<'py, PyAny>,
    stride: Optional<'_, 'py>,
    padding: Optional<'_, 'py>,
    fields: &mut Fields<'_, 'py>,
) -> PyResult<(MaxPool, Indices)> {
    let spatial = rank.saturating_sub(2);
    let list = |name: &str, attribute: &'static str, value: &Bound<'_, PyAny>| {
        let list = each(value, spatial).ok_or_else(|| bad(name, LIST, value))?;
        numbers(attribute, "1 or more", &list)
    };
    let kernel = list("kernel_size", "kernel", kernel_size)?;
    let stride = stride.filter(|stride| !stride.is_none());
    let strides = stride.map_or(Ok(kernel.clone()), |stride| list("stride", "strides", stride))?;
    let mut op = MaxPool::new(kernel).strides(strides).extremum(extremum);
    if let Some(padding) = padding.filter(|padding| !padding.is_none()) {
        op.padding = read_padding(padding, spatial)?;
    }
    if let Some(dilation) = fields.take("dilation")? {
        op.dilations = Some(list("dilation", "dilations", &dilation)?);
    }
    if let Some(ceil) = fields.take("ceil_mode")? {
        let rounding = |ceil| if ceil { Rounding::CeilTorch } else { Rounding::Floor };
        op.rounding = match ceil.extract::<String>() {
            Ok(all) if all == "all" => Rounding::Ceil,
            _ => rounding(
                boolean("ceil_mode", &ceil)
                    .map_err(|_| bad("ceil_mode", "True, False or 'all'", &ceil))?,
            ),
        };
    }
    op.empty_window = fields.choice("empty", &EMPTY, op.empty_window)?;
    any_windows(op, rank, fields)
}

/// The arguments of a pooling whose windows split the axes of data of a shape evenly, and how its
/// indices count, if it has any. An axis without a number keeps its size.
pub(crate) fn adaptive<'py>(
    extremum: Extremum,
    shape: &[usize],
    output_size: &Bound<'py, PyAny>,
    fields: &mut Fields<'_, 'py>,
) -> PyResult<(MaxPool, Indices)> {
    let wrong =
        || bad("output_size", "None, an integer, or one or None for each axis", output_size);
    let spatial = shape.len().saturating_sub(2);
    let (mut op, indices) =
        any_windows(MaxPool::adaptive([]).extremum(extremum), shape.len(), fields)?;
    let given: Vec<Option<i64>> = match integer(output_size) {
        Some(size) => vec![Some(size); spatial],
        None if output_size.is_none() => vec![None; spatial],
        None => {
            let items = output_size.try_iter().map_err(|_| wrong())?;
            let size = |item: Bound<'_, PyAny>| match item.is_none() {
                true => Ok(None),
                false => integer(&item).map(Some).ok_or_else(wrong),
            };
            items.map(|item| size(item?)).collect::<PyResult<_>>()?
        }
    };
    let first = if op.layout == Layout::Nxc { 1 } else { 2 };
    let size = |(i, size): (usize, &Option<i64>)| match *size {
        Some(size) => number("output_size", "0 or more", size, &output_size),
        None => Ok(shape.get(first + i).copied().unwrap_or(0)),
    };
    op.output_sizes = Some(given.iter().enumerate().map(size).collect::<PyResult<_>>()?);
    Ok((op, indices))
}

/// The arguments of all poolings.
fn any_windows(
    mut op: MaxPool,
    rank: usize,
    fields: &mut Fields<'_, '_>,
) -> PyResult<(MaxPool, Indices)> {
    op.layout =
        fields.choice("layout", &[("NCX", Layout::Ncx), ("NXC", Layout::Nxc)], op.layout)?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    op.initial = fields.scalar("initial")?;
    let orders = [("row_major", false), ("column_major", true)];
    let is_column_major = fields.choice("index_order", &orders, false)?;
    let wrong = |axis: &Bound<'_, PyAny>| bad("index_axis", "an integer", axis);
    let axis = fields.take("index_axis")?;
    let axis = axis.map(|axis| integer(&axis).ok_or_else(|| wrong(&axis))).transpose()?;
    // As in PyTorch: within a plane.
    let plane = if op.layout == Layout::Nxc { 1 } else { 2 };
    let indices = Indices::new(index_type(fields)?).numbering(match is_column_major {
        true => Numbering::ColumnMajor,
        false => Numbering::FromAxis(axis.unwrap_or(plane)),
    });
    if fields.boolean("return_indices", false)? {
        if let Some(axis) = axis
            && is_column_major
            && ![0, -(rank as i64)].contains(&axis)
        {
            let (attribute, expected) = ("axis", "0 where indices are column-major");
            let value = axis.to_string();
            return Err(raised(match (-(rank as i64)..rank as i64).contains(&axis) {
                true => Error::BadAttribute { attribute, expected, value },
                false => Error::AxisOutOfRange { axis, rank },
            }));
        }
        op.indices = Some(indices);
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
        let begin = numbers("padding", "0 or more", &each)?;
        return Ok(Padding::Explicit { end: begin.clone(), begin });
    }
    let pair = |item: PyResult<Bound<'_, PyAny>>| match integers(&item?).as_deref() {
        Some(&[begin, end]) => Ok((begin, end)),
        _ => Err(wrong()),
    };
    let pairs: Vec<(i64, i64)> =
        value.try_iter().map_err(|_| wrong())?.map(pair).collect::<PyResult<_>>()?;
    let (begin, end): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    let begin = numbers("padding", "0 or more", &begin)?;
    Ok(Padding::Explicit { begin, end: numbers("padding", "0 or more", &end)? })
}

/// The arguments of ScatterMax, and the type of its indices.
pub(crate) fn scatter(
    extremum: Extremum,
    axis: Optional<'_, '_>,
    fields: &mut Fields<'_, '_>,
) -> PyResult<(ScatterMax, ElementType)> {
    let axis = axis.filter(|axis| !axis.is_none());
    let by = match (fields.boolean("vectors", false)?, axis) {
        (true, None) => ScatterBy::Vectors,
        (true, Some(axis)) => return Err(bad("axis", "absent beside vectors", axis)),
        (false, None) => ScatterBy::Axis(0),
        (false, Some(axis)) => {
            ScatterBy::Axis(integer(axis).ok_or_else(|| bad("axis", "an integer", axis))?)
        }
    };
    let mut op = ScatterMax::along(0).extremum(extremum);
    (op.by, op.include_data) = (by, fields.boolean("include_data", true)?);
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    let element_type = index_type(fields)?;
    op.indices = fields.boolean("return_indices", false)?.then(|| Indices::new(element_type));
    Ok((op, element_type))
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
    let mut op = SegmentMax::sorted().extremum(extremum);
    op.segments = fields.choice("segments", &kinds, op.segments)?;
    if let Some(count) = num_segments.filter(|count| !count.is_none()) {
        let count = integer(count).ok_or_else(|| bad("num_segments", "an integer", count))?;
        op.num_segments = Some(number("num_segments", "0 or more", count, &count)?);
    }
    let empties = [
        ("zero", EmptySet::Zero),
        ("lowest", EmptySet::Finite),
        ("negative_infinity", EmptySet::Identity),
    ];
    op.empty_segment = fields.choice("empty", &empties, op.empty_segment)?;
    op.initial = fields.scalar("initial")?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    let element_type = index_type(fields)?;
    if fields.boolean("return_indices", false)? {
        op = op.indices(element_type);
    }
    let refuses = fields.choice("mode", &[("raise", true), ("drop", false)], true)?;
    Ok((op, element_type, refuses))
}

/// A number of an operator's attribute, which is `given` as this value. If it is too small, this
/// refuses negative values, and the operator refuses 0 in the same words.
fn number(
    attribute: &'static str,
    range: &'static str,
    number: i64,
    given: &dyn Debug,
) -> PyResult<usize> {
    usize::try_from(number).map_err(|_| {
        let expected = if number < 0 { range } else { "below 2^32" };
        raised(Error::BadAttribute { attribute, expected, value: format!("{given:?}") })
    })
}

/// The numbers of an operator's attribute.
fn numbers(attribute: &'static str, range: &'static str, given: &[i64]) -> PyResult<Vec<usize>> {
    given.iter().map(|&each| number(attribute, range, each, &given)).collect()
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

/// Integers, or one that stands for `count` equal ones.
pub(crate) fn each(value: &Bound<'_, PyAny>, count: usize) -> Option<Vec<i64>> {
    integer(value).map(|value| vec![value; count]).or_else(|| integers(value))
}
