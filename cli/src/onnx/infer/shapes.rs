//! The list of rules by operator, and the rules of arithmetic operators.

use wgmax::internals::supported_type;
use wgmax::{ElementType, TensorDesc};

use super::{Inference, Inferred, Reason, axis, broadcast, desc, dims, wrong};

/// Operators whose output has as many elements as their first input.
const ALIKE: &str = "Abs BatchNormalization Cast CastLike Ceil Celu Clip Cos CumSum \
    DequantizeLinear Dropout Elu Erf Exp Floor Gelu GroupNormalization HardSigmoid HardSwish \
    Hardmax Identity InstanceNormalization IsInf IsNaN LayerNormalization LeakyRelu Log \
    LogSoftmax LpNormalization LRN MeanVarianceNormalization Mish Neg Not PRelu QuantizeLinear \
    Reciprocal Relu Round Scatter ScatterElements ScatterND Selu Sigmoid Sign Sin Softmax \
    Softplus Softsign Sqrt Swish Tanh ThresholdedRelu Trilu";

/// The type that a number names.
fn named_type(number: Option<i64>) -> Inferred<ElementType> {
    let found = number.and_then(|number| supported_type(i32::try_from(number).ok()?));
    found.map_or_else(|| wrong(format!("a result of type {number:?}")), Ok)
}

/// The dimensions of a result, from the first input.
type Rule<'a> = fn(&Inference<'a>, &TensorDesc) -> Inferred<Vec<i128>>;

impl<'a> Inference<'a> {
    /// The types and shapes of the outputs, the first ones at least.
    pub(super) fn outputs(&self) -> Inferred<Vec<TensorDesc>> {
        match self.node.operator.as_str() {
            _ if !self.node.domain.is_empty() => Err(Reason::NoRule),
            "GRU" | "LSTM" | "RNN" => self.recurrent(),
            "Size" => Ok(vec![desc(ElementType::I64, [])?]),
            "Split" => self.split(),
            name => {
                let rule = self.rule(name).ok_or(Reason::NoRule)?;
                let input = self.input(0)?;
                Ok(vec![desc(self.element_type(name, &input)?, rule(self, &input)?)?])
            }
        }
    }

    /// The type of the first output.
    pub(super) fn element_type(&self, name: &str, input: &TensorDesc) -> Inferred<ElementType> {
        let given = self.int("output_dtype");
        Ok(match name {
            "And" | "Equal" | "Greater" | "GreaterOrEqual" | "IsInf" | "IsNaN" | "Less"
            | "LessOrEqual" | "Or" | "Xor" => ElementType::Bool,
            "ArgMax" | "ArgMin" | "Shape" | "Size" => ElementType::I64,
            "Cast" => return named_type(self.int("to")),
            "DequantizeLinear" | "QuantizeLinear" if given.is_some_and(|to| to != 0) => {
                return named_type(given);
            }
            "CastLike" | "DequantizeLinear" | "Where" => self.input(1)?.element_type(),
            "ConstantOfShape" => ElementType::F32,
            "QuantizeLinear" if self.has(2) => self.input(2)?.element_type(),
            "QuantizeLinear" => ElementType::U8,
            _ => input.element_type(),
        })
    }

    /// The rule for the shape of the first output, if there is one.
    fn rule(&self, name: &str) -> Option<Rule<'a>> {
        Some(match name {
            _ if ALIKE.split(' ').any(|alike| alike == name) => |_, input| Ok(dims(input)),
            "Add" | "And" | "BitShift" | "Div" | "Equal" | "Greater" | "GreaterOrEqual"
            | "Less" | "LessOrEqual" | "Max" | "Mean" | "Min" | "Mod" | "Mul" | "Or" | "Pow"
            | "Sub" | "Sum" | "Where" | "Xor" => Self::together,
            "GatherElements" => |this, _| Ok(dims(&this.input(1)?)),
            "Gemm" => Self::gemm,
            "MatMul" => Self::mat_mul,
            "GlobalAveragePool" | "GlobalLpPool" => Self::global,
            name if name.starts_with("Reduce") => Self::reduced,
            "ArgMax" | "ArgMin" => Self::reduced,
            "AveragePool" | "LpPool" => Self::pool,
            "Conv" => Self::conv,
            "ConvTranspose" => Self::conv_transpose,
            "Resize" | "Upsample" => Self::resize,
            "Concat" => Self::concat,
            "DepthToSpace" | "SpaceToDepth" => Self::blocks,
            "Expand" => |this, input| broadcast(&[dims(input), this.wide(1)?]),
            "Flatten" => Self::flatten,
            "Gather" => Self::gather,
            "Pad" => Self::pad,
            "Reshape" => Self::reshape,
            "Shape" => |this, input| Ok(vec![this.slice_of_shape(input).len() as i128]),
            "Slice" => Self::slice,
            "Squeeze" => Self::squeeze,
            "Tile" => Self::tile,
            "Transpose" => Self::transpose,
            "Unsqueeze" => Self::unsqueeze,
            "ConstantOfShape" if !self.attributes.contains_key("value") => |this, _| this.wide(0),
            _ => return None,
        })
    }

    /// The broadcast shape of all inputs. Before opset 7 it is that of the first one.
    fn together(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let inputs = self.inputs()?;
        match self.opset < 7 {
            true => Ok(dims(input)),
            false => broadcast(&inputs.iter().map(dims).collect::<Vec<_>>()),
        }
    }

    fn gemm(&self, a: &TensorDesc) -> Inferred<Vec<i128>> {
        let b = self.input(1)?;
        let (&[a0, a1], &[b0, b1]) = (a.shape(), b.shape()) else {
            return wrong(format!("{a} and {b} are not matrices"));
        };
        let is_set = |name| self.int(name).is_some_and(|value| value != 0);
        let rows = if is_set("transA") { a1 } else { a0 };
        let columns = if is_set("transB") { b0 } else { b1 };
        Ok(vec![rows as i128, columns as i128])
    }

    fn mat_mul(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let [mut a, mut b] = [dims(input), dims(&self.input(1)?)];
        let (row, column) = (a.len() == 1, b.len() == 1);
        if row {
            a.insert(0, 1);
        }
        if column {
            b.push(1);
        }
        let (&[ref of_a @ .., rows, _], &[ref of_b @ .., _, columns]) =
            (a.as_slice(), b.as_slice())
        else {
            return wrong("a factor is a scalar");
        };
        let mut shape = broadcast(&[of_a.to_vec(), of_b.to_vec()])?;
        shape.extend((!row).then_some(rows));
        shape.extend((!column).then_some(columns));
        Ok(shape)
    }

    /// Some axes become 1, or are dropped.
    fn reduced(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let axes = match self.node.operator.starts_with("Arg") {
            true => Some(vec![self.int("axis").unwrap_or(0)]),
            false => self.either("axes", 1)?,
        };
        let is_set = |name, default| self.int(name).unwrap_or(default) != 0;
        let axes = match axes {
            Some(axes) if !axes.is_empty() => axes,
            _ if is_set("noop_with_empty_axes", 0) => return Ok(dims(input)),
            _ => (0..input.rank() as i64).collect(),
        };
        let mut shape: Vec<Option<i128>> = dims(input).into_iter().map(Some).collect();
        for a in axes {
            shape[axis(a, input.rank())?] = is_set("keepdims", 1).then_some(1);
        }
        Ok(shape.into_iter().flatten().collect())
    }

    /// All states, the last state, and the last cell of an LSTM.
    fn recurrent(&self) -> Inferred<Vec<TensorDesc>> {
        let (input, weights) = (self.input(0)?, self.input(1)?);
        let (&[a, b, _], Some(&directions)) = (&dims(&input)[..], dims(&weights).first()) else {
            return wrong(format!("{input} is not a sequence, or {weights} not its weights"));
        };
        let Some(hidden) = self.int("hidden_size") else { return wrong("it has no hidden_size") };
        let hidden = hidden.into();
        let [all, last] = match self.int("layout") {
            Some(1) => [vec![a, b, directions, hidden], vec![a, directions, hidden]],
            _ => [vec![a, directions, b, hidden], vec![directions, b, hidden]],
        };
        [all, last.clone(), last].into_iter().map(|dims| desc(input.element_type(), dims)).collect()
    }

    /// One result for each channel.
    fn global(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let of = |(at, dim)| if at < 2 { dim } else { 1 };
        Ok(dims(input).into_iter().enumerate().map(of).collect())
    }
}
