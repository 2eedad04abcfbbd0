//! The operators: plain attributes, fully resolved, independent of dialects and devices.

mod arg_max;
mod order;
mod together;

pub use crate::gradient::{
    MaxPoolBackward, MaxUnpool, ReduceMaxBackward, ScatterMaxBackward, SegmentMaxBackward,
};
pub use crate::pool::{Layout, MaxPool, Padding, Rounding};
pub use crate::reduce::ReduceMax;
pub use crate::segment::{ScatterBy, ScatterMax, SegmentMax, Segments};
pub use crate::tensor::axes::axes_from_tensor;
pub use crate::tensor::{EmptySet, Indices, Inputs, Numbering, Scalar};
pub use arg_max::ArgMax;

use std::iter;

use crate::base::error::{Error, Result};
use crate::plan::{Kernel, Limits, Plan, check_results};
use crate::tensor::key::Extremum;
use crate::tensor::{Names, Outputs, Tensor, TensorDesc, View};
use crate::tuning::Tuning;
use crate::tuning::software;
use crate::{gradient, plan, pool, reduce, segment};

pub(crate) use together::Link;

/// Any of the operators.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Operator {
    /// The maximum or minimum along axes.
    ReduceMax(ReduceMax),
    /// The maximum or minimum of windows, and its position.
    MaxPool(MaxPool),
    /// The maximum or minimum of the rows of each segment.
    SegmentMax(SegmentMax),
    /// For each element, the maximum or minimum of itself and of the updates that go to it.
    ScatterMax(ScatterMax),
    /// The gradient of a ReduceMax.
    ReduceMaxBackward(ReduceMaxBackward),
    /// The gradient of a MaxPool.
    MaxPoolBackward(MaxPoolBackward),
    /// The gradient of a SegmentMax.
    SegmentMaxBackward(SegmentMaxBackward),
    /// The gradients of a ScatterMax.
    ScatterMaxBackward(ScatterMaxBackward),
    /// Values at the positions that indices name, and zeros elsewhere.
    MaxUnpool(MaxUnpool),
}

/// Converts each kind, by value and by reference, to an [`Operator`], and plans it.
macro_rules! operators {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Operator {
            fn from(operator: $kind) -> Self {
                Self::$kind(operator)
            }
        }

        impl From<&$kind> for Operator {
            fn from(operator: &$kind) -> Self {
                Self::$kind(operator.clone())
            }
        }

        impl $kind {
            /// The launches that compute the operator within a device's limits. `tuning` chooses
            /// fast ones. The inputs are those of `infer`.
            ///
            /// # Errors
            /// As [`Operator::plan`].
            pub fn plan<'a>(
                &self,
                inputs: impl Inputs<&'a TensorDesc>,
                limits: &Limits,
                tuning: &Tuning,
            ) -> Result<Plan> {
                Operator::from(self).plan(inputs, limits, tuning)
            }
        }
    )*};
}

operators!(
    ReduceMax,
    MaxPool,
    SegmentMax,
    ScatterMax,
    ReduceMaxBackward,
    MaxPoolBackward,
    SegmentMaxBackward,
    ScatterMaxBackward,
    MaxUnpool
);

impl From<&Operator> for Operator {
    fn from(operator: &Self) -> Self {
        operator.clone()
    }
}

impl Operator {
    /// The operator's name: `ReduceMax`, `MaxPool`, `SegmentMax`, `ScatterMax`, `ReduceMin`, `MinPool`,
    /// `SegmentMin`, `ScatterMin` or `MaxUnpool`; of a gradient, `MaxPoolBackward`, `MinPoolBackward` and so on.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ReduceMax(op) => op.name(),
            Self::MaxPool(op) => op.name(),
            Self::SegmentMax(op) => op.name(),
            Self::ScatterMax(op) => op.name(),
            Self::MaxPoolBackward(op) => op.name(),
            Self::ReduceMaxBackward(op) => op.name(),
            Self::SegmentMaxBackward(op) => op.name(),
            Self::ScatterMaxBackward(op) => op.name(),
            Self::MaxUnpool(_) => "MaxUnpool",
        }
    }

    /// Which results the operator has.
    pub(crate) fn output_names(&self) -> Names {
        let names = |values, indices, status| Names { values, indices, status };
        match self {
            Self::ReduceMax(op) => names(op.values, op.indices.is_some(), false),
            Self::MaxPool(op) => names(true, op.indices.is_some(), false),
            Self::SegmentMax(op) => names(true, op.indices.is_some(), op.status),
            Self::ScatterMax(op) => names(true, op.indices.is_some(), op.status),
            _ => Names::VALUES,
        }
    }

    /// The gradient of the operator, from its inputs and the gradient of its maxima or minima. `None`
    /// for gradients and [`MaxUnpool`].
    pub fn backward(self) -> Option<Self> {
        match self {
            Self::ReduceMax(op) => Some(ReduceMaxBackward::new(op).into()),
            Self::MaxPool(op) => Some(MaxPoolBackward::new(op).into()),
            Self::SegmentMax(op) => Some(SegmentMaxBackward::new(op).into()),
            Self::ScatterMax(op) => Some(ScatterMaxBackward::new(op).into()),
            _ => None,
        }
    }

    /// Whether the operator computes the maximum or the minimum; [`Extremum::Maximum`] for
    /// [`MaxUnpool`], which computes neither.
    #[doc(hidden)]
    pub fn finds(&self) -> Extremum {
        match self {
            Self::ReduceMax(op) => op.extremum,
            Self::MaxPool(op) => op.extremum,
            Self::SegmentMax(op) => op.extremum,
            Self::ScatterMax(op) => op.extremum,
            Self::ReduceMaxBackward(op) => op.reduce.extremum,
            Self::MaxPoolBackward(op) => op.pool.extremum,
            Self::SegmentMaxBackward(op) => op.segment.extremum,
            Self::ScatterMaxBackward(op) => op.scatter.extremum,
            Self::MaxUnpool(_) => Extremum::Maximum,
        }
    }

    /// How many tensors the operator takes.
    pub const fn input_count(&self) -> usize {
        match self {
            Self::ReduceMax(_) | Self::MaxPool(_) => 1,
            Self::SegmentMax(_)
            | Self::ReduceMaxBackward(_)
            | Self::MaxPoolBackward(_)
            | Self::MaxUnpool(_) => 2,
            Self::ScatterMax(_) => 3,
            Self::SegmentMaxBackward(op) => op.input_count(),
            Self::ScatterMaxBackward(op) => op.input_count(),
        }
    }

    /// The number of inputs, counted from the first, that may have fewer rows than planned: each row of the
    /// results depends on one row alone, or ids tell which rows count.
    ///
    /// # Errors
    /// [`Error::NoSizes`] if none may; those of [`Operator::infer`].
    pub(crate) fn inputs_with_rows(&self, first: &TensorDesc) -> Result<usize> {
        let reason = match self {
            Self::ReduceMax(op) if first.rank() == 0 || op.resolve(first)?.reduced[0] => {
                "it reduces the first axis, so every result depends on all rows; leave axis 0 out of \
                 its axes, or use `Device::prepare`"
            }
            Self::SegmentMax(op) if op.segments == Segments::Offsets => {
                "its offsets already tell which rows count; use `Device::prepare`"
            }
            Self::ReduceMax(_) | Self::MaxPool(_) => return Ok(1),
            Self::SegmentMax(_) => return Ok(2),
            _ => "only ReduceMax, MaxPool, SegmentMax and their minima can; use `Device::prepare`",
        };
        Err(Error::NoSizes { operator: self.name(), reason })
    }

    /// The types and shapes of the results.
    ///
    /// # Errors
    /// [`Error::InputCount`], and the errors of the operator for such inputs.
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let inputs = inputs.into_inputs();
        match self {
            Self::ReduceMax(op) => op.infer(inputs),
            Self::MaxPool(op) => op.infer(inputs),
            Self::SegmentMax(op) => op.infer(inputs),
            Self::ScatterMax(op) => op.infer(inputs),
            Self::ReduceMaxBackward(op) => op.infer(inputs),
            Self::MaxPoolBackward(op) => op.infer(inputs),
            Self::SegmentMaxBackward(op) => op.infer(inputs),
            Self::ScatterMaxBackward(op) => op.infer(inputs),
            Self::MaxUnpool(op) => op.infer(inputs),
        }
    }

    /// The launches that compute the operator within a device's limits. `tuning` chooses fast ones.
    ///
    /// # Errors
    /// As [`Operator::infer`], [`Error::NoComputeShaders`], [`Error::BadLimit`] and
    /// [`Error::OverLimit`]; [`Error::IndexTooLarge`]
    /// for the gradient of a pooling whose planes have more than 2^31 elements.
    pub fn plan<'a>(
        &self,
        inputs: impl Inputs<&'a TensorDesc>,
        limits: &Limits,
        tuning: &Tuning,
    ) -> Result<Plan> {
        let (inputs, target) = (&inputs.into_inputs()[..], tuning.target(limits)?);
        match (self, inputs) {
            (Self::ReduceMax(op), [input]) => {
                reduce::plan(op.resolve(input)?, target, &tuning.reduce)
            }
            (Self::MaxPool(op), [input]) => {
                pool::plan(op.resolve(input)?, target, &tuning.pool, &tuning.reduce)
            }
            (Self::SegmentMax(op), [data, ids]) => {
                let outputs = op.infer([*data, ids])?;
                segment::plan(op, data, ids, outputs, target, &tuning.segment)
            }
            (Self::ScatterMax(op), &[data, indices, updates]) => {
                segment::plan_scatter(op, [data, indices, updates], target, &tuning.segment)
            }
            (Self::ReduceMaxBackward(op), &[first, gradient]) => {
                op.plan_with([first, gradient], target, &tuning.reduce)
            }
            (Self::MaxPoolBackward(op), &[first, gradient]) => {
                let tunings = (&tuning.pool, &tuning.reduce, &tuning.gradient);
                op.plan_with([first, gradient], target, tunings)
            }
            (Self::SegmentMaxBackward(op), inputs) => op.plan_with(inputs, target, &tuning.segment),
            (Self::ScatterMaxBackward(op), inputs) => op.plan_with(inputs, target, &tuning.segment),
            (Self::MaxUnpool(op), &[values, indices]) => op.plan_with([values, indices], target),
            _ => Err(Error::input_count(self.name(), self.input_count(), inputs.len())),
        }
    }

    /// As [`Operator::plan`], for inputs and results with these views. If `results` is empty, each result is
    /// contiguous.
    ///
    /// # Errors
    /// As [`Operator::plan`]; [`Error::BadView`] for a result in which two elements may share an address,
    /// [`Error::OutputBuffers`] and [`Error::WrongResult`] for results that the operator does not have.
    pub fn plan_views(
        &self,
        inputs: &[&View],
        results: &[&View],
        limits: &Limits,
        tuning: &Tuning,
    ) -> Result<Plan> {
        let descs: Vec<&TensorDesc> = inputs.iter().map(|view| view.desc()).collect();
        let target = tuning.target(limits)?;
        let ordered = match inputs.first() {
            Some(first) if descs.len() == self.input_count() => {
                self.in_memory_order(first, true)?
            }
            _ => None,
        };
        let plain = || self.plan(&descs, limits, tuning)?.with_views(inputs, results, target);
        let Some(ordered) = ordered else { return plain() };
        let replaced = || {
            let outputs = self.infer(&descs)?;
            check_results(&outputs, results)?;
            let is_ours = results.is_empty();
            let results: Vec<View> = match results {
                [] => outputs.iter().map(View::from).collect(),
                given => given.iter().map(|&view| view.clone()).collect(),
            };
            let placed =
                results.iter().map(|view| ordered.result(view)).collect::<Result<Vec<_>>>()?;
            let mut placed: Vec<&View> = placed.iter().collect();
            if is_ours && placed.iter().all(|view| view.is_contiguous()) {
                placed.clear();
            }
            let read: Vec<&View> =
                iter::once(&ordered.first).chain(inputs[1..].iter().copied()).collect();
            let descs: Vec<&TensorDesc> = read.iter().map(|view| view.desc()).collect();
            let plan = ordered.operator.plan(&descs, limits, tuning)?;
            let plan = plan.with_views(&read, &placed, target)?;
            Ok(plan.seen_as(inputs, &results))
        };
        match replaced() {
            // Neighbouring results may be farther apart than a binding is long.
            Err(Error::OverLimit { .. }) => plain(),
            plan => plan,
        }
    }

    /// The operator for tensors on the host, whose values are checked: SegmentMax checks its ids and
    /// derives the number of segments; its gradient checks ids, too. ScatterMax, its gradients and
    /// MaxUnpool check their indices.
    ///
    /// # Errors
    /// As [`SegmentMax::checked`], and [`Error::IndexOutOfRange`].
    pub fn checked(&self, inputs: &[&Tensor]) -> Result<Self> {
        match inputs.split_first() {
            Some((first, others)) => self.checked_for(first.desc(), others),
            None => Ok(self.clone()),
        }
    }

    /// As [`Operator::checked`], if only the type and shape of the first input are known.
    ///
    /// # Errors
    /// As [`Operator::checked`].
    pub fn checked_for(&self, first: &TensorDesc, others: &[&Tensor]) -> Result<Self> {
        match (self, others) {
            (Self::SegmentMax(op), [ids]) => return Ok(op.checked(first, ids)?.into()),
            (Self::SegmentMaxBackward(op), [ids, gradient]) => {
                op.check(first, ids, gradient.desc())?;
            }
            (Self::ScatterMax(op), [indices, updates]) => {
                op.checked(first, indices, updates.desc())?;
            }
            (Self::ScatterMaxBackward(op), [indices, updates, gradient]) => {
                op.check(first, indices, [updates.desc(), gradient.desc()])?;
            }
            (Self::MaxUnpool(op), [indices]) => op.check(first, indices)?,
            _ => {}
        }
        Ok(self.clone())
    }
}
/// All kernels. A file of `shaders/` that has an entry point belongs to one of them.
#[doc(hidden)]
pub fn kernels() -> Vec<&'static Kernel> {
    let own = plan::KERNELS.into_iter().chain(reduce::KERNELS);
    let own = own.chain(pool::KERNELS).chain(segment::KERNELS).chain(gradient::KERNELS);
    own.chain(software::kernels()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::plan::Shader;
    use crate::wgsl::{FILES, Type};

    /// The list is complete: each entry point belongs to one kernel, and names are unique.
    #[test]
    fn every_entry_point_is_a_kernels() {
        let files = FILES.iter().filter(|(_, text)| text.contains("@compute"));
        let files: HashSet<&str> = files.map(|(path, _)| *path).collect();
        let kernels = kernels();
        assert_eq!(files, kernels.iter().map(|kernel| kernel.file()).collect());
        let names: HashSet<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
        assert_eq!(names.len(), kernels.len());
    }

    /// Parameters are at the offsets from which shaders read them.
    #[test]
    fn structures_are_the_same_in_rust_and_wgsl() {
        for kernel in kernels() {
            let module = naga::front::wgsl::parse_str(&kernel.shaders(64)[0].source()).unwrap();
            let mut structures = vec![("Params", kernel.params)];
            while let Some((name, structure)) = structures.pop() {
                let mut types = module.types.iter().map(|(_, known)| known);
                let found = types.find(|known| known.name.as_deref() == Some(name)).unwrap();
                let naga::TypeInner::Struct { members, .. } = &found.inner else {
                    panic!("{name}")
                };
                for (offset, member) in structure.members() {
                    if let Type::Structure(inner) | Type::Array(&Type::Structure(inner), _) =
                        member.of
                    {
                        structures.push((inner.name, inner));
                    }
                    if !matches!(member.of, Type::Padding(_)) {
                        let mut found = members.iter();
                        let found = found.find(|m| m.name.as_deref() == Some(member.name)).unwrap();
                        assert_eq!(found.offset as usize, offset, "{kernel:?}: {}", member.name);
                    }
                }
            }
        }
    }

    /// Each flag changes the text, for some element type.
    #[test]
    fn every_flag_is_read() {
        for kernel in kernels() {
            let mut shaders = kernel.shaders(64);
            let pitched = shaders[0].pitched;
            shaders.retain(|shader| {
                !shader.words && !shader.shared_buffer && shader.pitched == pitched
            });
            let text = |shader: &Shader| format!("{}{}", shader.element, shader.source());
            let texts: HashSet<String> = shaders.iter().map(text).collect();
            assert_eq!(texts.len(), shaders.len(), "{kernel:?}");
        }
    }
}
