//! The operators of [WebNN](https://www.w3.org/TR/webnn/), a browser's interface to neural networks.
//!
//! It has no versions; this follows the text of June 2026. Types are f32, f16, i32, u32, i64, u64, i8 and
//! u8, every size is at least 1, and axes are not negative. The text mentions neither NaN nor padding as
//! elements: here NaN is ignored, and padding is never a maximum.

use super::attributes::{Call, Name, Reader, Types};
use super::{Attributes, Dialect};
use crate::base::error::{Error, Result};
use crate::operator::{self, EmptySet, Indices, Layout, Operator, Rounding};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{ElementType, TensorDesc};

/// `reduceMax` and `reduceMin`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReduceMax {
    /// Whether this is `reduceMax` or `reduceMin`.
    pub extremum: Extremum,
    /// The axes, each once; `None` for all, the default. An empty list leaves the input unchanged.
    pub axes: Option<Vec<i64>>,
    /// Whether reduced axes stay, with size 1. Default: false.
    pub keep_dimensions: bool,
    /// The treatment of NaN. WebNN does not define it.
    pub nan: Nan,
}

/// `argMax` and `argMin`: the first of equal elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgMax {
    /// Whether this is `argMax` or `argMin`.
    pub extremum: Extremum,
    /// The axis.
    pub axis: i64,
    /// Whether the axis stays, with size 1. Default: false.
    pub keep_dimensions: bool,
    /// `i32`, the default, or `i64`.
    pub output_data_type: ElementType,
    /// The treatment of NaN. WebNN does not define it.
    pub nan: Nan,
}

/// `maxPool2d`, of inputs of rank 4.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxPool2d {
    /// The sizes of the windows; `None` for the whole height and width, the default.
    pub window_dimensions: Option<Vec<i64>>,
    /// The padding: top, bottom, left, right. Default: zeros.
    pub padding: Vec<i64>,
    /// Default: ones.
    pub strides: Vec<i64>,
    /// Default: ones.
    pub dilations: Vec<i64>,
    /// `nchw`, the default, or `nhwc`.
    pub layout: Layout,
    /// Whether the number of windows is rounded up. A window in padding alone counts, and so does one that
    /// is larger than the padded input.
    pub rounds_up: bool,
    /// The height and width of the result: both rounded down, or both rounded up. `None`, the default,
    /// follows `rounds_up`.
    pub output_sizes: Option<Vec<i64>>,
    /// The treatment of NaN. WebNN does not define it.
    pub nan: Nan,
}

const TYPES: Types = {
    use ElementType::*;
    &[(1, &[F32, F16, I32, U32, I64, U64, I8, U8])]
};

const fn name(operator: &'static str) -> Name {
    Name { dialect: Dialect::WebNn, operator, version: None }
}

/// Refuses an input that WebNN does not have.
fn check(name: &Name, input: &TensorDesc) -> Result<()> {
    name.check_type(input, TYPES)?;
    name.check_shape(!input.shape().contains(&0), "sizes of 1 or more", input.shape())
}

/// Refuses an axis that is negative or out of range.
fn check_axis(axis: i64, rank: usize) -> Result<()> {
    let is_axis = usize::try_from(axis).is_ok_and(|axis| axis < rank);
    if is_axis { Ok(()) } else { Err(Error::AxisOutOfRange { axis, rank }) }
}

/// The only input of a node, which has no version.
fn input<'a>(call: &Call<'a>, name: &Name) -> Result<&'a TensorDesc> {
    name.check_version(call.node.version)?;
    let (input, []) = call.inputs(name, "1 input", false)?;
    Ok(input)
}

impl ReduceMax {
    /// The operator with the defaults of the specification.
    pub fn new(extremum: Extremum) -> Self {
        Self { extremum, axes: None, keep_dimensions: false, nan: Nan::Ignore }
    }

    fn name(&self) -> Name {
        name(self.extremum.name_of("reduceMax", "reduceMin"))
    }

    /// The operator with these attributes.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`]; [`Error::BadAttribute`] for a value of the wrong kind.
    pub fn from_attributes(extremum: Extremum, attributes: &Attributes) -> Result<Self> {
        let mut operator = Self::new(extremum);
        let mut reader = Reader::new(&operator.name(), attributes);
        operator.axes = reader.ints("axes")?;
        operator.keep_dimensions = reader.bool("keepDimensions")?;
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for its input.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`]; [`Error::ShapeNotInDialect`] for an axis of size 0;
    /// [`Error::AxisOutOfRange`], also for negative axes; [`Error::DuplicateAxis`].
    pub fn operator(&self, input: &TensorDesc) -> Result<operator::ReduceMax> {
        check(&self.name(), input)?;
        let mut operator = operator::ReduceMax::new()
            .extremum(self.extremum)
            .keep_dims(self.keep_dimensions)
            .nan(self.nan);
        if let Some(axes) = &self.axes {
            let rank = input.rank();
            axes.iter().try_for_each(|&axis| check_axis(axis, rank))?;
            let twice = axes.iter().enumerate().find(|(i, axis)| axes[..*i].contains(axis));
            if let Some((_, &axis)) = twice {
                return Err(Error::DuplicateAxis { axis, rank });
            }
            operator = operator.axes(axes.iter().copied());
        }
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(super) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let mut operator = Self::from_attributes(call.extremum, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        operator.operator(input(call, &operator.name())?).map(Into::into)
    }
}

impl ArgMax {
    /// The operator along an axis, with the defaults of the specification.
    pub fn new(extremum: Extremum, axis: i64) -> Self {
        let (keep_dimensions, output_data_type) = (false, ElementType::I32);
        Self { extremum, axis, keep_dimensions, output_data_type, nan: Nan::Ignore }
    }

    fn name(&self) -> Name {
        name(self.extremum.name_of("argMax", "argMin"))
    }

    /// The operator with these attributes.
    ///
    /// # Errors
    /// [`Error::MissingAttribute`] without `axis`; [`Error::UnknownAttribute`];
    /// [`Error::BadAttribute`] for an `outputDataType` other than `int32` and `int64`, and for a value of
    /// the wrong kind.
    pub fn from_attributes(extremum: Extremum, attributes: &Attributes) -> Result<Self> {
        let mut operator = Self::new(extremum, i64::MAX);
        let name = operator.name();
        let mut reader = Reader::new(&name, attributes);
        reader.int("axis", &mut operator.axis)?;
        if !attributes.contains_key("axis") {
            return Err(name.missing_attribute("axis"));
        }
        operator.keep_dimensions = reader.bool("keepDimensions")?;
        let types = [ElementType::I32, ElementType::I64];
        let value = &mut operator.output_data_type;
        reader.text("outputDataType", "int32 or int64", &types, value)?;
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for its input.
    ///
    /// # Errors
    /// As [`ReduceMax::operator`]; [`Error::IndexTooLarge`] if the type of positions cannot number the
    /// axis; [`Error::BadAttribute`] for another type of positions.
    pub fn operator(&self, input: &TensorDesc) -> Result<operator::ReduceMax> {
        check(&self.name(), input)?;
        check_axis(self.axis, input.rank())?;
        let operator = operator::ReduceMax::new()
            .axes([self.axis])
            .extremum(self.extremum)
            .keep_dims(self.keep_dimensions)
            .nan(self.nan)
            .indices(Indices::new(self.output_data_type))
            .values(false);
        operator.infer(input)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(super) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let mut operator = Self::from_attributes(call.extremum, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        operator.operator(input(call, &operator.name())?).map(Into::into)
    }
}

impl MaxPool2d {
    const NAME: Name = name("maxPool2d");

    /// The operator with the defaults of the specification.
    pub fn new() -> Self {
        Self {
            window_dimensions: None,
            padding: vec![0; 4],
            strides: vec![1; 2],
            dilations: vec![1; 2],
            layout: Layout::Ncx,
            rounds_up: false,
            output_sizes: None,
            nan: Nan::Ignore,
        }
    }

    /// The operator with these attributes. `outputShapeRounding` was `roundingType` until 2026.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`]; [`Error::BadAttribute`] for a `layout` other than `nchw` and `nhwc`, a
    /// rounding other than `floor` and `ceil`, and a value of the wrong kind.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self> {
        let (mut operator, mut reader) = (Self::new(), Reader::new(&Self::NAME, attributes));
        operator.window_dimensions = reader.ints("windowDimensions")?;
        for (name, list) in [
            ("padding", &mut operator.padding),
            ("strides", &mut operator.strides),
            ("dilations", &mut operator.dilations),
        ] {
            *list = reader.ints(name)?.unwrap_or(std::mem::take(list));
        }
        let layouts = [Layout::Ncx, Layout::Nxc];
        reader.text("layout", "nchw or nhwc", &layouts, &mut operator.layout)?;
        for name in ["roundingType", "outputShapeRounding"] {
            reader.text(name, "floor or ceil", &[false, true], &mut operator.rounds_up)?;
        }
        operator.output_sizes = reader.ints("outputSizes")?;
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for its input.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`]; [`Error::ShapeNotInDialect`] for a rank other than 4 and an axis of
    /// size 0; [`Error::BadAttribute`] for lists of the wrong length, numbers below 1 (padding: below 0)
    /// and `outputSizes` that rounding does not give; [`Error::WindowTooLarge`].
    pub fn operator(&self, input: &TensorDesc) -> Result<operator::MaxPool> {
        let shape = input.shape();
        Self::NAME.check_shape(shape.len() == 4, "an input of rank 4", shape)?;
        check(&Self::NAME, input)?;
        let spatial = if self.layout == Layout::Nxc { &shape[1..3] } else { &shape[2..4] };
        let whole: Vec<i64> = spatial.iter().map(|&size| size as i64).collect();
        let kernel = self.window_dimensions.as_ref().unwrap_or(&whole);
        let kernel = numbers("windowDimensions", "2 numbers from 1 on", kernel, 2, 1)?;
        let strides = numbers("strides", "2 numbers from 1 on", &self.strides, 2, 1)?;
        let dilations = numbers("dilations", "2 numbers from 1 on", &self.dilations, 2, 1)?;
        let padding = numbers("padding", "4 numbers from 0 on", &self.padding, 4, 0)?;
        let (begin, mut end) = ([padding[0], padding[2]], [padding[1], padding[3]]);
        // How many elements a window has on an axis, and how many windows there are, rounded down and up.
        let extent = |axis: usize| (kernel[axis] as i128 - 1) * dilations[axis] as i128 + 1;
        let counts = [0, 1].map(|axis| {
            let padded = (spatial[axis] + begin[axis]) as i128 + end[axis] as i128;
            let (room, stride) = (padded - extent(axis), strides[axis] as i128);
            [room.div_euclid(stride) + 1, (room + stride - 1).div_euclid(stride) + 1]
        });
        let outputs = match &self.output_sizes {
            None => counts.map(|of| of[usize::from(self.rounds_up)]),
            Some(given) => {
                let sizes: Vec<i128> = given.iter().map(|&size| size.into()).collect();
                let same = |up: usize| sizes == counts.map(|of| of[up]);
                if !same(0) && !same(1) {
                    return Err(Error::BadAttribute {
                        attribute: "outputSizes",
                        expected: "the height and width of the result, both rounded down or up",
                        value: format!("{given:?}"),
                    });
                }
                [sizes[0], sizes[1]]
            }
        };
        for axis in 0..2 {
            // If windows end after the padding, more padding is added. It changes no maximum.
            let last = (outputs[axis] - 1).max(0) * strides[axis] as i128 + extent(axis);
            let more = last - (spatial[axis] + begin[axis]) as i128;
            if outputs[axis] >= 1 && more > end[axis] as i128 {
                end[axis] = usize::try_from(more).unwrap_or(usize::MAX);
            }
        }
        let operator = operator::MaxPool::new(kernel)
            .strides(strides)
            .dilations(dilations)
            .pads(begin, end)
            .layout(self.layout)
            .rounding(Rounding::Floor)
            .empty_window(EmptySet::Identity)
            .nan(self.nan);
        operator.infer(input)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(super) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let mut operator = Self::from_attributes(&call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        operator.operator(input(call, &Self::NAME)?).map(Into::into)
    }
}

impl Default for MaxPool2d {
    /// [`MaxPool2d::new`].
    fn default() -> Self {
        Self::new()
    }
}

/// Checks that a list has `count` numbers, none of them below `min`.
fn numbers(
    attribute: &'static str,
    expected: &'static str,
    given: &[i64],
    count: usize,
    min: usize,
) -> Result<Vec<usize>> {
    let sizes: Vec<usize> = given.iter().filter_map(|&size| usize::try_from(size).ok()).collect();
    if given.len() == count && sizes.len() == count && sizes.iter().all(|&size| size >= min) {
        return Ok(sizes);
    }
    Err(Error::BadAttribute { attribute, expected, value: format!("{given:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::Padding;

    fn picture() -> TensorDesc {
        TensorDesc::new(ElementType::F32, [1, 1, 3, 5]).unwrap()
    }

    /// The order of the padding is top, bottom, left, right.
    #[test]
    fn padding_is_top_bottom_left_right() {
        let mut pool = MaxPool2d::new();
        pool.window_dimensions = Some(vec![1, 1]);
        pool.padding = vec![1, 0, 0, 2];
        let operator = pool.operator(&picture()).unwrap();
        assert_eq!(operator.padding, Padding::Explicit { begin: vec![1, 0], end: vec![0, 2] });
        assert_eq!(operator.infer(&picture()).unwrap()[0].shape(), [1, 1, 4, 7]);
    }

    /// Sizes may be those rounded down or up, but not one of each.
    #[test]
    fn sizes_are_rounded_alike() {
        let shape = |sizes: Option<[i64; 2]>, rounds_up: bool| {
            let mut pool = MaxPool2d::new();
            pool.window_dimensions = Some(vec![2, 2]);
            (pool.strides, pool.rounds_up) = (vec![2, 2], rounds_up);
            pool.output_sizes = sizes.map(Vec::from);
            let operator = pool.operator(&picture())?;
            Ok::<_, Error>(operator.infer(&picture())?[0].shape()[2..].to_vec())
        };
        assert_eq!(shape(None, false).unwrap(), [1, 2]);
        assert_eq!(shape(None, true).unwrap(), [2, 3]);
        assert_eq!(shape(Some([2, 3]), false).unwrap(), [2, 3]);
        assert_eq!(shape(Some([1, 2]), true).unwrap(), [1, 2]);
        for sizes in [[1, 3], [2, 2], [0, 1], [-1, 2]] {
            let error = shape(Some(sizes), false).unwrap_err();
            let found = matches!(error, Error::BadAttribute { attribute: "outputSizes", .. });
            assert!(found, "{error}");
        }
    }
}
