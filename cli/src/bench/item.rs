//! The work items: operators with attributes and inputs, and the fewest bytes that they move.

use regex::Regex;
use serde::Deserialize;
use wgmax::operator::{
    EmptySet, Indices, Layout, MaxPool, MaxPoolBackward, Operator, ReduceMax, ScatterMax,
    SegmentMax,
};
use wgmax::{ElementType, Extremum, TensorDesc};
use wgmax_verify::Kind;

/// One operator, and its inputs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    pub name: String,
    /// A scatter counts as SegmentMax.
    pub op: Kind,
    pub dtype: String,
    /// The shape of the data, or of a scatter's updates.
    pub shape: Vec<usize>,
    pub attrs: Attributes,
    /// Whether the minimum is computed.
    #[serde(default)]
    pub minimum: bool,
    /// Whether the gradient is computed: from the data or, if there are indices, from the indices.
    #[serde(default)]
    pub gradient: bool,
    /// Bytes of the inputs, each read once.
    pub bytes_read: u64,
    /// Bytes of the results, each written once.
    pub bytes_write: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Attributes {
    Reduce {
        axes: Vec<i64>,
        #[serde(default)]
        indices: bool,
    },
    Pool {
        kernel: Vec<usize>,
        strides: Vec<usize>,
        /// Before each axis, then after each.
        pads: Vec<usize>,
        dilations: Vec<usize>,
        layout: String,
        indices: bool,
    },
    Adaptive {
        output_sizes: Vec<usize>,
    },
    Segment {
        num_segments: usize,
        dist: SegmentSizes,
        /// Always 0: the ids of all items have the same seed.
        #[serde(rename = "seed")]
        _seed: u32,
    },
    Scatter {
        /// The number of elements of the data.
        elements: usize,
        dist: SegmentSizes,
        #[serde(rename = "seed")]
        _seed: u32,
    },
}

/// How rows are distributed over segments.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentSizes {
    Uniform,
    Random,
    Powerlaw,
    Giant,
    /// As [`SegmentSizes::Random`], with the rows in any order.
    Unordered,
}

/// Numbers as text; equal numbers are written once.
fn list<T: PartialEq + ToString>(numbers: &[T]) -> String {
    match numbers {
        [first, rest @ ..] if rest.iter().all(|number| number == first) => first.to_string(),
        _ => numbers.iter().map(T::to_string).collect::<Vec<_>>().join(","),
    }
}

/// The work items whose names match.
pub fn matching(filter: &Regex) -> anyhow::Result<Vec<Item>> {
    let mut items = all()?;
    items.retain(|item| filter.is_match(&item.name));
    anyhow::ensure!(!items.is_empty(), "no item's name matches {filter}");
    Ok(items)
}

/// All work items.
pub fn all() -> anyhow::Result<Vec<Item>> {
    Ok(serde_json::from_str(include_str!("items.json"))?)
}

impl Item {
    /// The fewest bytes that are read and written.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_write
    }

    /// The bytes of the inputs, and of the results.
    pub fn byte_lens(&self) -> anyhow::Result<(u64, u64)> {
        let inputs = self.inputs()?;
        let results = self.operator().infer(inputs.iter().collect::<Vec<_>>())?;
        let sum = |descs: &[TensorDesc]| descs.iter().map(|desc| desc.byte_len() as u64).sum();
        Ok((sum(&inputs), sum(&results)))
    }

    /// A description, for readers who do not know its name.
    pub fn description(&self) -> String {
        let desc = format!("{} {} {:?}", self.operator().name(), self.dtype, self.shape);
        match &self.attrs {
            Attributes::Reduce { axes, indices } => {
                let noun = if axes.len() == 1 { "axis" } else { "axes" };
                let text = format!("{desc}, {noun} {}", list(axes));
                text + if *indices { ", with indices" } else { "" }
            }
            Attributes::Adaptive { output_sizes } => {
                format!("{desc}, output sizes {}", list(output_sizes))
            }
            Attributes::Pool { kernel, strides, pads, dilations, layout, indices } => {
                let mut text = desc;
                if layout == "NHWC" {
                    text += ", channels last";
                }
                text += &format!(", kernel {}", list(kernel));
                let others =
                    [("strides", strides, 1), ("pads", pads, 0), ("dilations", dilations, 1)];
                for (name, numbers, default) in others {
                    if numbers.iter().any(|&number| number != default) {
                        text += &format!(", {name} {}", list(numbers));
                    }
                }
                text + match (indices, self.gradient) {
                    (false, _) => "",
                    (true, false) => ", with indices",
                    (true, true) => ", from indices",
                }
            }
            Attributes::Segment { num_segments, dist, .. } => {
                let sizes = match dist {
                    SegmentSizes::Uniform => "of one size",
                    SegmentSizes::Random => "of random sizes",
                    SegmentSizes::Powerlaw => "of sizes by a power law",
                    SegmentSizes::Giant => "(one giant)",
                    SegmentSizes::Unordered => "of random sizes, rows in any order",
                };
                format!("{desc}, {num_segments} segments {sizes}")
            }
            Attributes::Scatter { elements, dist, .. } => {
                let sizes = match dist {
                    SegmentSizes::Powerlaw => "by a power law",
                    _ => "evenly",
                };
                format!("{desc} to {elements} elements {sizes}")
            }
        }
    }

    pub fn element_type(&self) -> anyhow::Result<ElementType> {
        Ok(self.dtype.parse()?)
    }

    /// The number of segments, or of elements that updates go to, and how rows are distributed.
    pub fn segments(&self) -> Option<(usize, SegmentSizes)> {
        match self.attrs {
            Attributes::Segment { num_segments: count, dist, .. }
            | Attributes::Scatter { elements: count, dist, .. } => Some((count, dist)),
            _ => None,
        }
    }

    /// The elements that updates go to.
    pub fn scattered(&self) -> Option<usize> {
        match self.attrs {
            Attributes::Scatter { elements, .. } => Some(elements),
            _ => None,
        }
    }

    /// The bytes that the plain pass writes: for poolings as many as the results have, but no more than
    /// it reads of the first input; otherwise none.
    pub fn plain_writes(&self) -> anyhow::Result<u64> {
        match self.op {
            Kind::MaxPool => Ok(self.bytes_write.min(self.inputs()?[0].byte_len() as u64)),
            Kind::ReduceMax | Kind::SegmentMax => Ok(0),
        }
    }

    /// The pooling whose gradient is computed, and whether from its indices.
    pub fn pool_of_gradient(&self) -> Option<(MaxPool, bool)> {
        match self.operator() {
            Operator::MaxPoolBackward(backward) => {
                Some((backward.pool.clone(), backward.shape.is_some()))
            }
            _ => None,
        }
    }

    /// The types and shapes of the inputs.
    pub fn inputs(&self) -> anyhow::Result<Vec<TensorDesc>> {
        let mut inputs = vec![TensorDesc::new(self.element_type()?, &self.shape[..])?];
        if let Some((pool, from_indices)) = self.pool_of_gradient() {
            let results = pool.infer(&inputs[0])?;
            inputs.push(results[0].clone());
            // Indices replace the data.
            if from_indices {
                inputs[0] = results.indices()?.clone();
            }
        }
        if self.op == Kind::SegmentMax {
            inputs.push(TensorDesc::new(ElementType::I32, [self.shape[0]])?);
        }
        if let Some(elements) = self.scattered() {
            // The updates are last.
            inputs.reverse();
            inputs.insert(0, TensorDesc::new(self.element_type()?, [elements])?);
        }
        Ok(inputs)
    }

    pub fn operator(&self) -> Operator {
        let extremum = if self.minimum { Extremum::Minimum } else { Extremum::Maximum };
        match &self.attrs {
            Attributes::Reduce { axes, indices } => ReduceMax::new()
                .axes(axes.iter().copied())
                .extremum(extremum)
                .indices(indices.then(Indices::default))
                .into(),
            Attributes::Adaptive { output_sizes } => {
                MaxPool::adaptive(output_sizes.iter().copied()).extremum(extremum).into()
            }
            Attributes::Pool { kernel, strides, pads, dilations, layout, indices } => {
                let (begin, end) = pads.split_at(kernel.len());
                let channels_last = layout == "NHWC";
                let pool = MaxPool::new(kernel.iter().copied())
                    .strides(strides.iter().copied())
                    .pads(begin.iter().copied(), end.iter().copied())
                    .dilations(dilations.iter().copied())
                    .layout(if channels_last { Layout::Nxc } else { Layout::Ncx })
                    .indices(indices.then(Indices::default))
                    .extremum(extremum);
                let backward = || MaxPoolBackward::new(pool.clone());
                match (self.gradient, *indices) {
                    (false, _) => pool.into(),
                    (true, false) => backward().into(),
                    (true, true) => backward().from_indices(&self.shape[..]).into(),
                }
            }
            Attributes::Segment { num_segments, dist, .. } => match dist {
                SegmentSizes::Unordered => SegmentMax::unsorted(),
                _ => SegmentMax::sorted(),
            }
            .num_segments(*num_segments)
            .empty_segment(EmptySet::Identity)
            .extremum(extremum)
            .into(),
            Attributes::Scatter { .. } => ScatterMax::along(0).extremum(extremum).into(),
        }
    }
}
