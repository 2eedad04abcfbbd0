//! The shapes of convolutions, pools and resized tensors.

use wgmax::TensorDesc;
use wgmax::dialect::Attribute;

use super::{Inference, Inferred, dims, wrong};

/// The windows along an axis.
struct Window {
    size: i128,
    stride: i128,
    dilation: i128,
    /// Padding at the beginning.
    before: i128,
    /// Total padding at both ends.
    padding: i128,
}

impl Window {
    /// Elements that a window spans.
    fn span(&self) -> i128 {
        (self.size - 1) * self.dilation + 1
    }
}

impl Inference<'_> {
    /// The windows of the attributes, along each spatial axis.
    fn windows(&self, kernel: &[i128]) -> Inferred<Vec<Window>> {
        let rank = kernel.len();
        let or_ones = |name: &str| self.ints(name).unwrap_or_else(|| vec![1; rank]);
        let (strides, dilations) = (or_ones("strides"), or_ones("dilations"));
        let pads = self.ints("pads").unwrap_or_else(|| vec![0; 2 * rank]);
        if strides.len() != rank || dilations.len() != rank || pads.len() != 2 * rank {
            return wrong(format!("its attributes are not those of {rank} spatial axes"));
        }
        if strides.iter().any(|&stride| stride < 1) {
            return wrong("a stride is not positive");
        }
        let window = |at: usize| Window {
            size: kernel[at],
            stride: strides[at].into(),
            dilation: dilations[at].into(),
            before: pads[at].into(),
            padding: i128::from(pads[at]) + i128::from(pads[rank + at]),
        };
        Ok((0..rank).map(window).collect())
    }

    /// How many windows there are along each spatial axis.
    fn counts(&self, sizes: &[i128], kernel: &[i128]) -> Inferred<Vec<i128>> {
        if sizes.len() != kernel.len() {
            return wrong(format!("{} spatial axes, but windows of {}", sizes.len(), kernel.len()));
        }
        let ceil = self.int("ceil_mode").is_some_and(|mode| mode != 0);
        let auto = self.text("auto_pad");
        let count = |(&size, window): (&i128, &Window)| {
            let (before, padding) =
                if auto == "VALID" { (0, 0) } else { (window.before, window.padding) };
            let spare = size + padding - window.span();
            match auto {
                "SAME_UPPER" | "SAME_LOWER" => (size + window.stride - 1).div_euclid(window.stride),
                _ if ceil => {
                    let last = (spare + window.stride - 1).div_euclid(window.stride);
                    // No window begins in the padding at the end.
                    last + i128::from(last * window.stride < size + before)
                }
                _ => spare.div_euclid(window.stride) + 1,
            }
        };
        Ok(sizes.iter().zip(&self.windows(kernel)?).map(count).collect())
    }

    /// The batch and channels of an input, and its spatial axes.
    fn spatial(&self, input: &TensorDesc) -> Inferred<(Vec<i128>, Vec<i128>)> {
        let mut shape = dims(input);
        match shape.len() {
            0 | 1 => wrong(format!("{input} has no channels")),
            _ => Ok((shape.drain(..2).collect(), shape)),
        }
    }

    /// The kernel's sizes: an attribute, or else those of the weights.
    fn kernel(&self, weights: &TensorDesc) -> Vec<i128> {
        match self.ints("kernel_shape") {
            Some(sizes) => sizes.into_iter().map(i128::from).collect(),
            None => dims(weights).into_iter().skip(2).collect(),
        }
    }

    pub(super) fn pool(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let (outer, sizes) = self.spatial(input)?;
        let Some(kernel) = self.ints("kernel_shape") else {
            return wrong("it has no kernel_shape");
        };
        let kernel: Vec<i128> = kernel.into_iter().map(i128::from).collect();
        Ok([outer, self.counts(&sizes, &kernel)?].concat())
    }

    pub(super) fn conv(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let (outer, sizes) = self.spatial(input)?;
        let weights = self.input(1)?;
        let Some(&channels) = dims(&weights).first() else {
            return wrong("its weight is a scalar");
        };
        let counts = self.counts(&sizes, &self.kernel(&weights))?;
        Ok([vec![outer[0], channels], counts].concat())
    }

    pub(super) fn conv_transpose(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let (outer, sizes) = self.spatial(input)?;
        let weights = self.input(1)?;
        let (kernel, rank) = (self.kernel(&weights), sizes.len());
        let Some(&group_channels) = dims(&weights).get(1) else {
            return wrong(format!("its weights are {weights}"));
        };
        let channels = group_channels * i128::from(self.int("group").unwrap_or(1));
        let shape = self.ints("output_shape");
        let added = self.ints("output_padding").unwrap_or_else(|| vec![0; rank]);
        if kernel.len() != rank || added.len() != rank {
            return wrong(format!("its attributes are not those of {rank} spatial axes"));
        }
        let same = self.text("auto_pad").starts_with("SAME");
        let windows = self.windows(&kernel)?;
        let sizes = sizes.iter().zip(&windows).enumerate().map(|(at, (&size, window))| {
            let given = shape.as_ref().and_then(|shape| shape.get(at));
            let all = window.stride * (size - 1) + window.span() + i128::from(added[at]);
            let made = if same { size * window.stride } else { all - window.padding };
            given.map_or(made, |&given| given.into())
        });
        Ok([outer[0], channels].into_iter().chain(sizes).collect())
    }

    /// Upsample has scales. Resize has them or sizes, since opset 11 after a region of interest.
    pub(super) fn resize(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let is_resize = self.node.operator == "Resize";
        let late = is_resize && self.opset >= 11;
        let sizes = if late && self.has(3) { Some(self.numbers(3)?) } else { None };
        let scales = match self.attributes.get("scales") {
            // The model's reader gives a list of floats as text.
            Some(Attribute::Other(text)) => {
                let numbers = text.trim_matches(['[', ']']).split(',');
                numbers.map(|number| number.trim().parse().ok()).collect()
            }
            _ if sizes.is_some() => None,
            _ => Some(self.numbers(if late { 2 } else { 1 })?),
        };
        let axes = match (is_resize, self.ints("axes")) {
            (true, Some(axes)) => axes,
            _ => (0..input.rank() as i64).collect(),
        };
        let mut shape = dims(input);
        for (at, &axis) in axes.iter().enumerate() {
            let axis = super::axis(axis, input.rank())?;
            shape[axis] = match (&sizes, &scales) {
                (Some(sizes), _) if sizes.len() == axes.len() => sizes[at] as i128,
                (None, Some(scales)) if scales.len() == axes.len() => {
                    // In f32, as ONNX computes it: 10 * 0.7 is 7 there, and 6.99 in f64.
                    (shape[axis] as f32 * scales[at] as f32).floor() as i128
                }
                _ => {
                    return wrong(format!(
                        "its sizes or scales are not those of {} axes",
                        axes.len()
                    ));
                }
            };
        }
        let policy = self.text("keep_aspect_ratio_policy");
        if sizes.is_some() && !matches!(policy, "" | "stretch") {
            return wrong(format!("the policy {policy:?} is not implemented here"));
        }
        Ok(shape)
    }
}
