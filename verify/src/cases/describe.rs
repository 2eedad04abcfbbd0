//! Describes a case in words, without defaults.

use std::fmt;

use wgmax::operator::{
    EmptySet, Layout, MaxPool, Numbering, Operator, Padding, ReduceMax, Rounding, Scalar,
    ScatterBy, ScatterMax, SegmentMax, Segments,
};
use wgmax::{Extremum, Nan};

use super::gradient::gradient_of;
use super::{Case, PlanOverrides};

impl fmt::Display for Case {
    /// The operator, its inputs' types and shapes, the attributes that are not defaults, and the
    /// narrowed limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descs: Vec<String> = self.tensors.iter().map(|t| t.desc().to_string()).collect();
        write!(f, "{} of {}", self.operator.name(), descs.join(" and "))?;
        let gradient = gradient_of(&self.operator);
        let forward = gradient.as_ref().map_or(&self.operator, |(forward, _)| forward);
        let mut attributes = match forward {
            Operator::ReduceMax(op) => reduce_max(op),
            Operator::MaxPool(op) => max_pool(op),
            Operator::SegmentMax(op) => segment_max(op),
            Operator::ScatterMax(op) => scatter_max(op),
            Operator::MaxUnpool(op) => vec![
                format!("to {:?}", op.shape),
                format!("indices within {:?}", op.indices_within),
            ],
            _ => Vec::new(),
        };
        let shape = gradient.as_ref().and_then(|(_, shape)| *shape);
        let of = if matches!(forward, Operator::ScatterMax(_)) { "indices" } else { "data" };
        attributes.extend(shape.map(|shape| format!("of {of} {shape:?}")));
        for attribute in attributes {
            write!(f, ", {attribute}")?;
        }
        match limits(&self.overrides).as_slice() {
            [] => Ok(()),
            limits => write!(f, "; planned with {}", limits.join(", ")),
        }
    }
}

fn nan(nan: Nan) -> Option<String> {
    (nan == Nan::Ignore).then(|| "NaN ignored".to_string())
}

fn empty(empty: EmptySet, extremum: Extremum, what: &str) -> Option<String> {
    (empty == EmptySet::Finite).then(|| format!("{what} give the {} finite value", last(extremum)))
}

/// The word for the finite value of an empty set.
fn last(extremum: Extremum) -> &'static str {
    match extremum {
        Extremum::Maximum => "lowest",
        Extremum::Minimum => "highest",
    }
}

fn initial(initial: Option<Scalar>) -> Option<String> {
    initial.map(|initial| format!("initial value {initial}"))
}

fn reduce_max(op: &ReduceMax) -> Vec<String> {
    let axes = op.axes.as_deref();
    let mut words = vec![axes.map_or("all axes".to_string(), |axes| format!("axes {axes:?}"))];
    words.extend(op.keep_dims.then(|| "dimensions kept".to_string()));
    words.extend(nan(op.nan));
    words.extend(empty(op.empty_set, op.extremum, "empty sets"));
    words.extend(initial(op.initial));
    words.extend(op.indices.map(|indices| {
        let which = if indices.last { "last" } else { "first" };
        format!("{which} {} positions", indices.element_type)
    }));
    words.extend((!op.values).then(|| "no values".to_string()));
    words
}

fn max_pool(op: &MaxPool) -> Vec<String> {
    let mut words = vec![match &op.output_sizes {
        None => format!("kernel {:?}", op.kernel),
        Some(sizes) => format!("output sizes {sizes:?}"),
    }];
    let mut list = |name: &str, list: Option<&[usize]>, default: usize| {
        let list = list.filter(|list| list.iter().any(|&v| v != default));
        words.extend(list.map(|list| format!("{name} {list:?}")));
    };
    list("strides", op.strides.as_deref(), 1);
    list("dilations", op.dilations.as_deref(), 1);
    if let Padding::Explicit { begin, end } = &op.padding {
        list("pads before", Some(begin), 0);
        list("pads after", Some(end), 0);
    }
    words.extend(match &op.padding {
        Padding::Explicit { .. } => None,
        Padding::SameUpper => Some("padding same upper".to_string()),
        Padding::SameLower => Some("padding same lower".to_string()),
        Padding::Valid => Some("padding valid".to_string()),
        other => Some(format!("padding {other:?}")),
    });
    words.extend(match op.rounding {
        Rounding::Floor => None,
        Rounding::Ceil => Some("rounded up".to_string()),
        Rounding::CeilTorch => Some("rounded up as in Torch".to_string()),
        other => Some(format!("rounded {other:?}")),
    });
    words.extend((op.layout == Layout::Nxc).then(|| "channels last".to_string()));
    words.extend(nan(op.nan));
    words.extend(empty(op.empty_window, op.extremum, "empty windows"));
    words.extend(initial(op.initial));
    words.extend(op.indices.map(|indices| match indices.numbering {
        Numbering::ColumnMajor => format!("column-major {} indices", indices.element_type),
        Numbering::FromAxis(axis) => format!("{} indices from axis {axis}", indices.element_type),
        _ => format!("{} indices", indices.element_type),
    }));
    words
}

fn segment_max(op: &SegmentMax) -> Vec<String> {
    let mut words = vec![match op.segments {
        Segments::Sorted => "ascending ids".to_string(),
        Segments::Unsorted => "ids in any order".to_string(),
        Segments::Offsets => "offsets".to_string(),
    }];
    words.extend(op.num_segments.map(|count| format!("{count} segments")));
    words.extend(nan(op.nan));
    words.extend(match op.empty_segment {
        EmptySet::Zero => None,
        EmptySet::Finite => empty(EmptySet::Finite, op.extremum, "empty segments"),
        EmptySet::Identity => Some("empty segments give an infinity".to_string()),
        other => Some(format!("empty segments {other:?}")),
    });
    words.extend(initial(op.initial));
    words.extend(op.indices.map(|indices| format!("{} rows", indices.element_type)));
    words.extend(op.status.then(|| "a status".to_string()));
    words
}

fn scatter_max(op: &ScatterMax) -> Vec<String> {
    let mut words = vec![match op.by {
        ScatterBy::Axis(axis) => format!("indices along axis {axis}"),
        ScatterBy::Vectors => "vectors of indices".to_string(),
    }];
    words.extend((!op.include_data).then(|| "without the data".to_string()));
    words.extend(nan(op.nan));
    words.extend(op.indices.map(|indices| format!("{} positions", indices.element_type)));
    words.extend(op.status.then(|| "a status".to_string()));
    words
}

fn limits(overrides: &PlanOverrides) -> Vec<String> {
    fn limit<T: fmt::Display>(name: &str, value: Option<T>) -> Option<String> {
        value.map(|value| format!("{name} {value}"))
    }
    [
        limit("target_parallelism", overrides.target_parallelism),
        limit("max_taps", overrides.max_taps),
        limit("max_iterations", overrides.max_iterations),
        limit("max_workgroups_per_dimension", overrides.max_workgroups_per_dimension),
        limit("workgroup_size", overrides.workgroup_size),
        limit("max_binding_size", overrides.max_binding_size),
        limit("tuning", overrides.tuning),
        limit("views", overrides.views),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{Random, Style, ids_tensor, tensor};
    use wgmax::ElementType;

    #[test]
    fn defaults_are_left_out() {
        let data =
            |shape: &[usize]| tensor(ElementType::F16, shape, Style::Any, &mut Random(1)).unwrap();
        let case = |operator: Operator, tensors| Case {
            operator,
            tensors,
            overrides: PlanOverrides { target_parallelism: Some(64), ..PlanOverrides::default() },
        };
        let pool = MaxPool::new([3, 1]).strides([1, 2]).pads([0, 0], [0, 1]).dilations([1, 1]);
        let pool = case(pool.into(), vec![data(&[1, 1, 3, 2])]);
        assert_eq!(
            pool.to_string(),
            "MaxPool of f16[1, 1, 3, 2], kernel [3, 1], strides [1, 2], pads after [0, 1]; \
             planned with target_parallelism 64"
        );
        let ids = ids_tensor(ElementType::I32, &[0, 2]).unwrap();
        let segments = SegmentMax::sorted().nan(Nan::Ignore).status(true);
        let mut segments = case(segments.into(), vec![data(&[2]), ids]);
        segments.overrides = PlanOverrides::default();
        let text = "SegmentMax of f16[2] and i32[2], ascending ids, NaN ignored, a status";
        assert_eq!(segments.to_string(), text);
    }
}
