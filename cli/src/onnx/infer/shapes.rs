//! Which rule an operator has, and the rules of those that compute.

use wgmax::io::onnx::supported_type;
use wgmax::{ElementType, TensorDesc};

use super::{Inference, Inferred, Reason, axis, broadcast, desc, dims, wrong};

/// What gives as many elements of the same type as its first input.
const ALIKE: &str = "Abs BatchNormalization Ceil Celu Clip Cos CumSum Dropout Elu Erf Exp Floor \
    Gelu GroupNormalization HardSigmoid HardSwish Hardmax Identity InstanceNormalization \
    LayerNormalization LeakyRelu Log LogSoftmax LpNormalization LRN MeanVarianceNormalization \
    Mish Neg Not PRelu Reciprocal Relu Round Scatter ScatterElements ScatterND Selu Sigmoid Sign \
    Sin Softmax Softplus Softsign Sqrt Swish Tanh ThresholdedRelu Trilu";

impl Inference<'_> {
    /// The types and shapes of the outputs, the first ones at least.
    pub(super) fn outputs(&self) -> Inferred<Vec<TensorDesc>> {
        match self.node.operator.as_str() {
            _ if !self.node.domain.is_empty() => Err(Reason::NoRule),
            "GRU" | "LSTM" | "RNN" => self.recurrent(),
            "Split" => self.split(),
            name => Ok(vec![self.output(name)?]),
        }
    }

    /// The same of an operator with one output, or whose first one alone is told.
    fn output(&self, name: &str) -> Inferred<TensorDesc> {
        match name {
            _ if ALIKE.split(' ').any(|alike| alike == name) => self.input(0),
            "IsInf" | "IsNaN" => self.retyped(ElementType::Bool),
            "Cast" => self.cast(),
            "CastLike" | "DequantizeLinear" => self.retyped(self.input(1)?.element_type()),
            "QuantizeLinear" if self.has(2) => self.retyped(self.input(2)?.element_type()),
            "QuantizeLinear" => self.retyped(ElementType::U8),
            "Add" | "BitShift" | "Div" | "Max" | "Mean" | "Min" | "Mod" | "Mul" | "Pow" | "Sub"
            | "Sum" => self.together(None),
            "And" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Or"
            | "Xor" => self.together(Some(ElementType::Bool)),
            "Where" => self.together(Some(self.input(1)?.element_type())),
            "GatherElements" => desc(self.input(0)?.element_type(), dims(&self.input(1)?)),
            "Gemm" => self.gemm(),
            "MatMul" => self.mat_mul(),
            "ArgMax" | "ArgMin" => self.reduced(Some(ElementType::I64)),
            "GlobalAveragePool" | "GlobalLpPool" => self.global(),
            name if name.starts_with("Reduce") => self.reduced(None),
            "AveragePool" | "LpPool" => self.pool(),
            "Conv" => self.conv(),
            "ConvTranspose" => self.conv_transpose(),
            "Resize" | "Upsample" => self.resize(),
            "Concat" => self.concat(),
            "DepthToSpace" => self.blocks(true),
            "SpaceToDepth" => self.blocks(false),
            "Expand" => self.expand(),
            "Flatten" => self.flatten(),
            "Gather" => self.gather(),
            "Pad" => self.pad(),
            "Reshape" => self.reshape(),
            "Shape" => {
                let (begin, end) = self.slice_of_shape()?;
                desc(ElementType::I64, [(end - begin) as i128])
            }
            "Size" => desc(ElementType::I64, []),
            "Slice" => self.slice(),
            "Squeeze" => self.squeeze(),
            "Tile" => self.tile(),
            "Transpose" => self.transpose(),
            "Unsqueeze" => self.unsqueeze(),
            "ConstantOfShape" if !self.attributes.contains_key("value") => {
                desc(ElementType::F32, self.wide(0)?)
            }
            _ => Err(Reason::NoRule),
        }
    }

    /// The first input's shape, of another type.
    fn retyped(&self, element_type: ElementType) -> Inferred<TensorDesc> {
        desc(element_type, dims(&self.input(0)?))
    }

    fn cast(&self) -> Inferred<TensorDesc> {
        let to = self.int("to");
        let found = to.and_then(|to| supported_type(i32::try_from(to).ok()?));
        let Some(element_type) = found else { return wrong(format!("a cast to type {to:?}")) };
        self.retyped(element_type)
    }

    /// The shape that all inputs have together. Before opset 7 the first one has it.
    fn together(&self, element_type: Option<ElementType>) -> Inferred<TensorDesc> {
        let inputs = self.inputs()?;
        let Some(first) = inputs.first() else { return wrong("it has no input") };
        let element_type = element_type.unwrap_or(first.element_type());
        if self.opset < 7 {
            return desc(element_type, dims(first));
        }
        desc(element_type, broadcast(&inputs.iter().map(dims).collect::<Vec<_>>())?)
    }

    fn gemm(&self) -> Inferred<TensorDesc> {
        let (a, b) = (self.input(0)?, self.input(1)?);
        let (&[a0, a1], &[b0, b1]) = (a.shape(), b.shape()) else {
            return wrong(format!("{a} and {b} are not matrices"));
        };
        let is_set = |name| self.int(name).is_some_and(|value| value != 0);
        let rows = if is_set("transA") { a1 } else { a0 };
        let columns = if is_set("transB") { b0 } else { b1 };
        desc(a.element_type(), [rows as i128, columns as i128])
    }

    fn mat_mul(&self) -> Inferred<TensorDesc> {
        let inputs = [self.input(0)?, self.input(1)?];
        let [mut a, mut b] = [dims(&inputs[0]), dims(&inputs[1])];
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
        desc(inputs[0].element_type(), shape)
    }

    /// Some axes become 1, or vanish.
    fn reduced(&self, element_type: Option<ElementType>) -> Inferred<TensorDesc> {
        let input = self.input(0)?;
        let axes = match element_type {
            // ArgMax and ArgMin have one axis.
            Some(_) => Some(vec![self.int("axis").unwrap_or(0)]),
            None => self.either("axes", 1)?,
        };
        let is_set = |name, default| self.int(name).unwrap_or(default) != 0;
        let axes = match axes {
            Some(axes) if !axes.is_empty() => axes,
            _ if is_set("noop_with_empty_axes", 0) => return Ok(input),
            _ => (0..input.rank() as i64).collect(),
        };
        let mut shape: Vec<Option<i128>> = dims(&input).into_iter().map(Some).collect();
        for a in axes {
            shape[axis(a, input.rank())?] = is_set("keepdims", 1).then_some(1);
        }
        desc(element_type.unwrap_or(input.element_type()), shape.into_iter().flatten())
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
    fn global(&self) -> Inferred<TensorDesc> {
        let input = self.input(0)?;
        let of = |(at, dim)| if at < 2 { dim } else { 1 };
        desc(input.element_type(), dims(&input).into_iter().enumerate().map(of))
    }
}
