//! MaxUnpool.

use super::{FLOATS, name};
use crate::base::error::{Error, Result};
use crate::dialect::Attributes;
use crate::dialect::attributes::{Call, Name, Reader, Types};
use crate::operator::{self, Operator};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [MaxUnpool](https://onnx.ai/onnx/operators/onnx__MaxUnpool.html), opsets 9, 11 and 22: f16, f32
/// and f64, from opset 22 also bf16.
///
/// The inputs are the values `X`, their indices `I` (`i64`), and `output_shape`, which may be
/// absent (`i64`). By default the result has the smallest shape that a pooling with these
/// attributes reduces to the shape of `X`. With `output_shape` the result may be larger, and pads do
/// not shrink it.
///
/// The text does not define how indices count in a larger result. ONNX's own tests count in the
/// smallest shape without pads, placed at the origin of the result; ONNX Runtime and PyTorch count
/// in the result: see [`MaxUnpool::indices_in_result`]. If the smallest shape does not fit into
/// `output_shape`, indices count in the result: so it usually is for the shape that a pooling with
/// pads had. If several values have the same index, the last is stored; an index that names no element
/// is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxUnpool {
    /// The model's opset: 9 or more.
    pub version: u32,
    /// The sizes of the windows.
    pub kernel_shape: Vec<i64>,
    /// The distances from window to window; empty for ones, the default.
    pub strides: Vec<i64>,
    /// The padding before each axis, then after each axis; empty for zeros, the default.
    pub pads: Vec<i64>,
    /// Whether indices count in the whole result, even if it is larger than the smallest shape.
    /// ONNX has no attribute for it. Default: false.
    pub indices_in_result: bool,
}

impl MaxUnpool {
    const VERSIONS: [u32; 3] = [9, 11, 22];

    /// The operator of a model of opset `version`, with the defaults of the specification.
    pub fn new(version: u32, kernel_shape: impl IntoIterator<Item = i64>) -> Self {
        let (strides, pads) = (Vec::new(), Vec::new());
        let kernel_shape = kernel_shape.into_iter().collect();
        Self { version, kernel_shape, strides, pads, indices_in_result: false }
    }

    /// The operator of a model of opset `version`, with these attributes. The others have their
    /// defaults.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] for an opset below 9, [`Error::UnknownOpset`] for one that is not
    /// known yet; [`Error::MissingAttribute`] without `kernel_shape`; [`Error::UnknownAttribute`];
    /// [`Error::BadAttribute`] for a value of the wrong kind.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let mut operator = Self::new(version, []);
        let name = operator.name()?;
        let mut reader = Reader::new(&name, attributes);
        operator.kernel_shape = reader.required_ints("kernel_shape")?;
        operator.strides = reader.ints("strides")?.unwrap_or_default();
        operator.pads = reader.ints("pads")?.unwrap_or_default();
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for `X`, `I` and the values of `output_shape`.
    ///
    /// # Errors
    /// As [`MaxUnpool::from_attributes`]; [`Error::TypeNotInDialect`] for an element type that the
    /// opset does not have; [`Error::ShapeNotInDialect`] for `X` without spatial axes;
    /// [`Error::BadAttribute`] for lists of the wrong length, kernels and strides below 1, negative
    /// pads, pads that leave no element, and an `output_shape` below the smallest shape with pads;
    /// [`Error::WrongInput`] for `I` of another shape.
    pub fn operator(
        &self,
        x: &TensorDesc,
        i: &TensorDesc,
        output_shape: Option<&[i64]>,
    ) -> Result<operator::MaxUnpool> {
        let name = self.name()?;
        name.check_type(x, FLOATS)?;
        name.check_type(i, INDICES)?;
        name.check_shape(x.rank() >= 3, "X of rank 3 or more", x.shape())?;
        let smallest = self.smallest(&name, x, output_shape.is_none())?;
        let result = match output_shape {
            None => smallest.clone(),
            Some(given) => larger(given, &smallest, &self.pads)?,
        };
        let fits = smallest.iter().zip(&result).all(|(smallest, size)| smallest <= size);
        let within = if self.indices_in_result || !fits { result.clone() } else { smallest };
        let operator = operator::MaxUnpool::new(result).indices_within(within);
        operator.infer([x, i])?;
        Ok(operator)
    }

    /// The smallest shape of a result.
    fn smallest(&self, name: &Name, x: &TensorDesc, padded: bool) -> Result<Vec<usize>> {
        let (x, element_type) = (x.shape(), x.element_type());
        let spatial = x.len() - 2;
        let list = |attribute, list: &[i64], len: usize, default, min: i64| {
            let expected = match min {
                1 => "a number from 1 on for each spatial axis",
                _ => "two numbers from 0 on for each spatial axis",
            };
            match list.is_empty() && default >= 0 {
                true => Ok(vec![default; len]),
                false if list.len() == len && list.iter().all(|&value| value >= min) => {
                    Ok(list.to_vec())
                }
                false => {
                    Err(Error::BadAttribute { attribute, expected, value: format!("{list:?}") })
                }
            }
        };
        let kernel = list("kernel_shape", &self.kernel_shape, spatial, -1, 1)?;
        let strides = list("strides", &self.strides, spatial, 1, 1)?;
        let pads = list("pads", &self.pads, 2 * spatial, 0, 0)?;
        let mut shape = x[..2].to_vec();
        for axis in 0..spatial {
            let windows = x[axis + 2] as i128;
            let pads = i128::from(pads[axis]) + i128::from(pads[axis + spatial]);
            let reach = (windows - 1) * i128::from(strides[axis]) + i128::from(kernel[axis]);
            let size = if padded { reach - pads } else { reach };
            let is_made = size >= 1 || windows > 0;
            name.check_shape(is_made, "X whose result has an element on each axis", x)?;
            if size < 1 {
                return Err(Error::BadAttribute {
                    attribute: "pads",
                    expected: "such that each axis of the result has an element",
                    value: format!("{:?} for {windows} windows", self.pads),
                });
            }
            shape.push(usize::try_from(size).unwrap_or(usize::MAX));
        }
        match shape.contains(&usize::MAX) {
            true => Err(Error::ShapeOverflow { element_type, shape }),
            false => Ok(shape),
        }
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        const COUNT: &str = "2 or 3 inputs";
        let operator = Self::from_attributes(call.version("MaxUnpool")?, &call.node.attributes)?;
        let name = operator.name()?;
        let (x, [i, output_shape]) = call.inputs(&name, COUNT, false)?;
        let i = i.ok_or_else(|| call.input_count(&name, COUNT))?;
        let numbers = |shape: &Tensor| {
            name.check_type(shape.desc(), INDICES)?;
            name.check_shape(shape.shape().len() == 1, "output_shape of rank 1", shape.shape())?;
            shape.to_vec()
        };
        let output_shape = output_shape.map(|shape| numbers(shape.tensor("output_shape")?));
        operator.operator(x, i.desc(), output_shape.transpose()?.as_deref()).map(Into::into)
    }

    /// The name with the operator's own version, which may be older than the opset.
    fn name(&self) -> Result<Name> {
        name("MaxUnpool", &Self::VERSIONS, self.version)
    }
}

/// The type of indices and shapes.
const INDICES: Types = &[(1, &[ElementType::I64])];

/// The given shape, if the smallest one fits into it, less its pads.
fn larger(given: &[i64], smallest: &[usize], pads: &[i64]) -> Result<Vec<usize>> {
    let sizes: Option<Vec<usize>> = given.iter().map(|&size| usize::try_from(size).ok()).collect();
    let spatial = smallest.len() - 2;
    let pad = |at: usize| pads.get(at).map_or(0, |&pad| usize::try_from(pad).unwrap_or(usize::MAX));
    let least = |axis: usize| {
        let padded = smallest[axis + 2].saturating_sub(pad(axis));
        padded.saturating_sub(pad(axis + spatial)).max(1)
    };
    let holds = |sizes: &Vec<usize>| {
        sizes.len() == smallest.len()
            && sizes[..2] == smallest[..2]
            && (0..spatial).all(|axis| sizes[axis + 2] >= least(axis))
    };
    sizes.filter(holds).ok_or_else(|| Error::BadAttribute {
        attribute: "output_shape",
        expected: "the batch and the channels of X, and no spatial axis below the smallest result",
        value: format!("{given:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(op: &MaxUnpool, x: &[usize], given: Option<&[i64]>) -> Result<[Vec<usize>; 2]> {
        let x = TensorDesc::new(ElementType::F32, x)?;
        let i = TensorDesc::new(ElementType::I64, x.shape())?;
        let op = op.operator(&x, &i, given)?;
        Ok([op.shape.to_vec(), op.indices_within.to_vec()])
    }

    #[test]
    fn the_smallest_result_and_larger_ones() {
        let mut op = MaxUnpool::new(11, [3, 2]);
        op.strides = vec![2, 2];
        op.pads = vec![1, 0, 0, 1];
        let x = [2, 1, 3, 2];
        let smallest = vec![2, 1, 6, 3];
        assert_eq!(shapes(&op, &x, None).unwrap(), [smallest.clone(), smallest]);
        // Pads do not shrink the result if the shape is given.
        let unpadded = vec![2, 1, 7, 4];
        let found = shapes(&op, &x, Some(&[2, 1, 8, 4])).unwrap();
        assert_eq!(found, [vec![2, 1, 8, 4], unpadded]);
        op.indices_in_result = true;
        let found = shapes(&op, &x, Some(&[2, 1, 8, 4])).unwrap();
        assert_eq!(found, [vec![2, 1, 8, 4], vec![2, 1, 8, 4]]);
        // Where the smallest shape without pads does not fit, indices can only count in the result.
        for in_result in [true, false] {
            op.indices_in_result = in_result;
            let found = shapes(&op, &x, Some(&[2, 1, 6, 4])).unwrap();
            assert_eq!(found, [vec![2, 1, 6, 4], vec![2, 1, 6, 4]]);
        }
        for given in [&[2, 1, 5, 4][..], &[2, 1, 6, 2], &[1, 1, 8, 4], &[2, 1, 8], &[2, 1, 8, -4]] {
            let error = shapes(&op, &x, Some(given)).unwrap_err();
            let found = matches!(error, Error::BadAttribute { attribute: "output_shape", .. });
            assert!(found, "{error}");
        }
    }

    #[test]
    fn bad_attributes_are_refused() {
        let of = |kernel: &[i64], strides: &[i64], pads: &[i64]| {
            let mut op = MaxUnpool::new(22, kernel.iter().copied());
            (op.strides, op.pads) = (strides.to_vec(), pads.to_vec());
            match shapes(&op, &[1, 1, 2, 2], None) {
                Err(Error::BadAttribute { attribute, .. }) => attribute,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(of(&[2], &[], &[]), "kernel_shape");
        assert_eq!(of(&[], &[], &[]), "kernel_shape");
        assert_eq!(of(&[2, 0], &[], &[]), "kernel_shape");
        assert_eq!(of(&[2, 2], &[0, 1], &[]), "strides");
        assert_eq!(of(&[2, 2], &[], &[0, 0]), "pads");
        assert_eq!(of(&[2, 2], &[], &[0, -1, 0, 0]), "pads");
        assert_eq!(of(&[2, 2], &[], &[0, 2, 0, 1]), "pads");
    }

    #[test]
    fn shapes_without_a_result_are_refused() {
        let mut op = MaxUnpool::new(22, [2, 2]);
        op.strides = vec![2, 2];
        let error = shapes(&op, &[1, 1, 0, 2], None).unwrap_err();
        assert!(matches!(error, Error::ShapeNotInDialect { .. }), "{error}");
        // The kernel is larger than the stride, so a result of no windows has an element.
        op.kernel_shape = vec![3, 2];
        assert_eq!(shapes(&op, &[1, 1, 0, 2], None).unwrap()[0], [1, 1, 1, 4]);
        op.strides = vec![i64::MAX, 2];
        let error = shapes(&op, &[1, 1, 4, 2], None).unwrap_err();
        let Error::ShapeOverflow { element_type: ElementType::F32, shape } = error else {
            panic!("{error}");
        };
        assert_eq!(shape, [1, 1, usize::MAX, 4]);
    }
}
