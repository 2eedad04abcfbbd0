//! Operators from bytes: nodes of the dialects, and neutral operators.

use arbitrary::{Arbitrary, Result, Unstructured};
use wgmax::dialect::{Attribute, Attributes, Dialect, Node};
use wgmax::operator::{
    EmptySet, Indices, Layout, MaxPool, MaxPoolBackward, MaxUnpool, Numbering, Operator, Padding,
    ReduceMax, ReduceMaxBackward, Rounding, Scalar, ScatterMax, ScatterMaxBackward, SegmentMax,
    SegmentMaxBackward,
};
use wgmax::{ElementType, Extremum, Nan};

/// Names of attributes, values of texts: those that the dialects know, and one that none does.
const ATTRIBUTES: [&str; 28] = [
    "axes",
    "keepdims",
    "keep_dims",
    "noop_with_empty_axes",
    "kernel_shape",
    "kernel",
    "strides",
    "pads",
    "pads_begin",
    "pads_end",
    "dilations",
    "auto_pad",
    "ceil_mode",
    "storage_order",
    "rounding_type",
    "data_format",
    "index_element_type",
    "axis",
    "fill_mode",
    "exclude_pad",
    "select_last_index",
    "reduction",
    "use_init_val",
    "windowDimensions",
    "padding",
    "outputSizes",
    "layout",
    "what",
];
const TEXTS: [&str; 22] = [
    "NOTSET",
    "SAME_UPPER",
    "SAME_LOWER",
    "VALID",
    "None",
    "explicit",
    "same_upper",
    "same_lower",
    "valid",
    "floor",
    "ceil",
    "ceil_torch",
    "NXC",
    "NCX",
    "i32",
    "i64",
    "ZERO",
    "LOWEST",
    "max",
    "min",
    "nchw",
    "nhwc",
];

/// Names of operators: those of the dialects, and one that none has.
const OPERATORS: [&str; 21] = [
    "ReduceMax",
    "MaxPool",
    "SegmentMax",
    "Max",
    "ReduceMin",
    "ArgMax",
    "ArgMin",
    "GlobalMaxPool",
    "MaxUnpool",
    "MaxPoolBackward",
    "ReduceMaxBackward",
    "SegmentMaxBackward",
    "AdaptiveMaxPool",
    "ScatterMax",
    "ScatterElements",
    "ScatterND",
    "ScatterElementsUpdate",
    "ScatterNDUpdate",
    "reduceMax",
    "argMin",
    "maxPool2d",
];

/// Mostly small, sometimes any number.
fn number(from: &mut Unstructured) -> Result<i64> {
    match from.int_in_range(0..=15)? {
        0 => i64::arbitrary(from),
        1 => Ok(i32::arbitrary(from)?.into()),
        2..=4 => Ok(from.int_in_range(-8..=300)?),
        _ => Ok(from.int_in_range(-1..=5)?),
    }
}

/// A size of any magnitude.
pub(super) fn dimension(from: &mut Unstructured) -> Result<usize> {
    let bits = from.int_in_range(0..=36)?;
    from.int_in_range(0..=1usize << bits)
}

fn numbers(from: &mut Unstructured, max: usize) -> Result<Vec<i64>> {
    let count = from.int_in_range(0..=max)?;
    (0..count).map(|_| number(from)).collect()
}

/// As [`number`]: mostly small, and huge if that is negative.
fn size(from: &mut Unstructured) -> Result<usize> {
    Ok(number(from)? as usize)
}

/// One number for each of `count`, or by chance another number of them.
fn list<T>(
    from: &mut Unstructured,
    count: usize,
    number: fn(&mut Unstructured) -> Result<T>,
) -> Result<Vec<T>> {
    let count = if from.ratio(1, 16)? { from.int_in_range(0..=8)? } else { count };
    (0..count).map(|_| number(from)).collect()
}

/// A node that a dialect may know.
pub(super) fn node(from: &mut Unstructured) -> Result<Node> {
    let mut attributes = Attributes::new();
    for _ in 0..from.int_in_range(0..=7)? {
        let value = match from.int_in_range(0..=4)? {
            0 => Attribute::Int(number(from)?),
            1 | 2 => Attribute::Ints(numbers(from, 8)?),
            3 => Attribute::Text(from.choose(&TEXTS)?.to_string()),
            _ => match from.arbitrary()? {
                true => Attribute::Bool(from.arbitrary()?),
                false => Attribute::Other("1.5".to_string()),
            },
        };
        attributes.insert(from.choose(&ATTRIBUTES)?.to_string(), value);
    }
    Ok(Node {
        dialect: *from.choose(&[
            Dialect::Onnx,
            Dialect::OneDnn,
            Dialect::OpenVino,
            Dialect::WebNn,
            Dialect::Neutral,
        ])?,
        operator: from.choose(&OPERATORS)?.to_string(),
        version: if from.ratio(1, 4)? { None } else { Some(from.int_in_range(0..=25)?) },
        attributes,
        outputs: from.int_in_range(0..=3)?,
    })
}

fn extremum(from: &mut Unstructured) -> Result<Extremum> {
    Ok(if from.arbitrary()? { Extremum::Minimum } else { Extremum::Maximum })
}

/// An operator for data of a rank. Most of its attributes are valid.
pub(super) fn neutral(from: &mut Unstructured, rank: usize) -> Result<Operator> {
    let nan = *from.choose(&[Nan::Propagate, Nan::Ignore])?;
    let empty = *from.choose(&[EmptySet::Identity, EmptySet::Finite])?;
    let initial =
        from.ratio(1, 8)?.then(|| from.arbitrary::<i8>().map(Scalar::from)).transpose()?;
    let index =
        *from.choose(&[ElementType::I32, ElementType::I64, ElementType::I64, ElementType::U8])?;
    Ok(match from.int_in_range(0..=2)? {
        0 => {
            let mut operator =
                ReduceMax::new().nan(nan).empty_set(empty).keep_dims(from.arbitrary()?);
            operator.initial = initial;
            let axes = list(from, rank.min(2), number)?;
            let operator =
                if from.ratio(1, 8)? { operator.all_axes() } else { operator.axes(axes) };
            operator.extremum(extremum(from)?).into()
        }
        1 => {
            let spatial = rank.saturating_sub(2);
            let indices = Indices::new(index).numbering(match from.int_in_range(0..=2)? {
                0 => Numbering::ColumnMajor,
                _ => Numbering::FromAxis(from.int_in_range(-2..=2)?),
            });
            let padding = match from.int_in_range(0..=5)? {
                0 => Padding::SameUpper,
                1 => Padding::SameLower,
                2 => Padding::Valid,
                _ => Padding::Explicit {
                    begin: list(from, spatial, size)?,
                    end: list(from, spatial, size)?,
                },
            };
            let mut operator = MaxPool::new(list(from, spatial, size)?)
                .strides(list(from, spatial, size)?)
                .dilations(list(from, spatial, size)?)
                .padding(padding)
                .rounding(*from.choose(&[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch])?)
                .layout(*from.choose(&[Layout::Ncx, Layout::Nxc])?)
                .nan(nan)
                .empty_window(empty)
                .indices(from.arbitrary::<bool>()?.then_some(indices))
                .extremum(extremum(from)?);
            operator.initial = initial;
            operator.into()
        }
        _ => {
            let mut operator = match from.int_in_range(0..=2)? {
                0 => SegmentMax::sorted(),
                1 => SegmentMax::unsorted(),
                _ => SegmentMax::offsets(),
            };
            let empties = [EmptySet::Zero, EmptySet::Finite, EmptySet::Identity];
            operator.initial = initial;
            operator
                .num_segments(from.arbitrary::<bool>()?.then_some(size(from)?))
                .empty_segment(*from.choose(&empties)?)
                .nan(nan)
                .indices(from.arbitrary::<bool>()?.then(|| Indices::new(index)))
                .status(from.arbitrary()?)
                .extremum(extremum(from)?)
                .into()
        }
    })
}

/// A ScatterMax into data of a shape, and shapes for its indices and updates. Most of them fit.
pub(super) fn scatter(
    from: &mut Unstructured,
    shape: &[usize],
) -> Result<(ScatterMax, [Vec<usize>; 2])> {
    let mut within = |sizes: &[usize]| -> Result<Vec<usize>> {
        sizes.iter().map(|&size| from.int_in_range(0..=size)).collect()
    };
    let rank = shape.len();
    let (along, updates) = (within(shape)?, within(&[6, 6])?);
    let (operator, shapes) = if from.arbitrary()? {
        let axis = from.int_in_range(-(rank as i64)..=rank as i64)?;
        (ScatterMax::along(axis), [along.clone(), along])
    } else {
        let length = from.int_in_range(0..=rank)?;
        let rows = &updates[..from.int_in_range(0..=2)?];
        let indices = [rows, &[length]].concat();
        (ScatterMax::by_vectors(), [indices, [rows, &shape[length..]].concat()])
    };
    let operator = operator
        .include_data(from.arbitrary()?)
        .nan(*from.choose(&[Nan::Propagate, Nan::Ignore])?)
        .status(from.arbitrary()?)
        .extremum(extremum(from)?);
    let index = *from.choose(&[None, Some(ElementType::I32), Some(ElementType::I64)])?;
    Ok((operator.indices(index.map(Indices::new)), shapes))
}

/// The gradient of an operator, from data or from saved positions.
pub(super) fn backward(
    from: &mut Unstructured,
    forward: &Operator,
    saved: Option<(ElementType, &[usize])>,
) -> Result<Operator> {
    let element_type = saved.map_or(ElementType::I64, |(element_type, _)| element_type);
    let saved = saved.map(|(_, shape)| shape);
    Ok(match forward {
        Operator::ReduceMax(op) => {
            let last = from.arbitrary()?;
            let op = op.clone().indices(Indices::new(element_type).last(last));
            let backward = ReduceMaxBackward::new(op);
            saved.map_or(backward.clone(), |shape| backward.from_indices(shape)).into()
        }
        Operator::MaxPool(op) => {
            let backward = MaxPoolBackward::new(op.clone().indices(element_type));
            saved.map_or(backward.clone(), |shape| backward.from_indices(shape)).into()
        }
        Operator::SegmentMax(op) => {
            let backward = SegmentMaxBackward::new(op.clone().indices(element_type));
            saved.map_or(backward.clone(), |shape| backward.from_indices(shape)).into()
        }
        Operator::ScatterMax(op) => {
            let backward = ScatterMaxBackward::new(op.clone().indices(Indices::new(element_type)));
            saved.map_or(backward.clone(), |shape| backward.from_indices(shape)).into()
        }
        other => other.clone(),
    })
}

/// The operator whose positions, its second result, a gradient takes.
pub(super) fn forward(gradient: &Operator) -> Option<Operator> {
    match gradient {
        Operator::ReduceMaxBackward(op) => Some((&op.reduce).into()),
        Operator::MaxPoolBackward(op) => Some((&op.pool).into()),
        Operator::SegmentMaxBackward(op) => Some((&op.segment).into()),
        Operator::ScatterMaxBackward(op) => Some((&op.scatter).into()),
        _ => None,
    }
}

/// A MaxUnpool whose indices count in a shape, or in a part of it.
pub(super) fn unpool(from: &mut Unstructured, shape: &[usize]) -> Result<Operator> {
    let operator = MaxUnpool::new(shape);
    let within = shape.iter().map(|&size| from.int_in_range(0..=size));
    Ok(match within.collect::<Result<Vec<_>>>()? {
        within if from.arbitrary()? => operator.indices_within(within).into(),
        _ => operator.into(),
    })
}
