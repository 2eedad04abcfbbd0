//! Random cases of the operators, reproducible from a seed on every machine.

mod aim;
mod describe;
mod draft;
mod draw;
mod elements;
mod gradient;
mod listed;
mod max_pool;
mod overrides;
mod random;
mod reduce_max;
mod scatter_max;
mod segment_max;
mod shrink;
mod views;

pub use elements::{Style, tensor};
pub use overrides::PlanOverrides;
pub use random::Random;
pub use segment_max::ids_tensor;
pub use shrink::{shrink, shrink_async};

use wgmax::internals;
use wgmax::operator::Operator;
use wgmax::plan::{Limits, Plan};
use wgmax::{Device, DeviceTensor, ElementType, Error, Result, Tensor, TensorDesc, Tuning, View};

use crate::oracle;

/// Plans with more launches take seconds and much memory, and find no further errors.
const MAX_LAUNCHES: usize = 200;

/// The operator of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
pub enum Kind {
    /// [`ReduceMax`](wgmax::operator::ReduceMax).
    ReduceMax,
    /// [`MaxPool`](wgmax::operator::MaxPool).
    MaxPool,
    /// [`SegmentMax`](wgmax::operator::SegmentMax).
    SegmentMax,
}

impl Kind {
    /// All operators.
    pub const ALL: [Self; 3] = [Self::ReduceMax, Self::MaxPool, Self::SegmentMax];

    /// The names of the kernels of the operator's plans that other operators do not have. Poolings
    /// use reductions too, if a window is all of an axis.
    pub fn kernels(self) -> impl Iterator<Item = &'static str> {
        aim::own_kernels(self).map(|kernel| kernel.name())
    }

    /// The operator's name, as in [`Operator::name`] for the maximum.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReduceMax => "ReduceMax",
            Self::MaxPool => "MaxPool",
            Self::SegmentMax => "SegmentMax",
        }
    }
}

/// An operator with its inputs, and the limits to plan it with.
#[derive(Clone, Debug)]
pub struct Case {
    /// The operator.
    pub operator: Operator,
    /// The operator's inputs, in its order.
    pub tensors: Vec<Tensor>,
    /// Limits and tuning to plan with instead of the device's own.
    pub overrides: PlanOverrides,
}

impl Case {
    /// The operator and element type of a case. A gradient counts as its operator, MaxUnpool as
    /// MaxPool, and ScatterMax as SegmentMax. Any 39 consecutive cases have each pair once.
    pub fn kind(index: u64) -> (Kind, ElementType) {
        let kinds = Kind::ALL.len() as u64;
        let types = ElementType::ALL.len() as u64;
        (Kind::ALL[(index % kinds) as usize], ElementType::ALL[(index / kinds % types) as usize])
    }

    /// The case `index` of a seed. It depends only on these two numbers.
    ///
    /// Each case aims at a variant of a kernel: within 2000 cases the plans have each of them, for
    /// each element type, on devices with the default limits of wgpu or larger ones.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]. A case has at most a few hundred thousand elements.
    pub fn nth(seed: u64, index: u64) -> Result<Self> {
        let random = &mut Random::stream(seed, index);
        let (draft, overrides) = Self::draft(random, seed, index)?;
        draft.case(Self::kind(index).0, overrides, random)
    }

    /// The case `index` of a seed, and the same with other elements: ascending ones, descending ones,
    /// and peaks at the ends of sets and of the parts that kernels cut them into. The last ones may
    /// have smaller bindings than the first ones, and so another plan. A small case also has the fills that
    /// show every lost or foreign element: see `listed`.
    ///
    /// # Errors
    /// As [`Case::nth`].
    pub fn fills(seed: u64, index: u64) -> Result<Vec<Self>> {
        let random = &mut Random::stream(seed, index);
        let (draft, overrides) = Self::draft(random, seed, index)?;
        let case = draft.case(Self::kind(index).0, overrides, random)?;
        let others = draft.refill(&case, Self::aim(index), random)?;
        let listed = listed::listed(&case)?;
        Ok([case].into_iter().chain(listed).chain(others).collect())
    }

    /// The aim of the case `index`.
    fn aim(index: u64) -> Option<aim::Aim> {
        let (kind, t) = Self::kind(index);
        aim::Aim::nth(kind, t, index / (Kind::ALL.len() * ElementType::ALL.len()) as u64)
    }

    fn draft(random: &mut Random, seed: u64, index: u64) -> Result<(draft::Draft, PlanOverrides)> {
        let (kind, t) = Self::kind(index);
        let budget = match random.below(100) {
            0 => 200_000,
            1..=9 => 20_000,
            10..=59 => 4000,
            _ => 300,
        };
        // Kernels have separate texts for views and for each size of workgroups, which take long to
        // compile. So a seed has views of a third of the types, and small workgroups of a quarter.
        let (seed, number) = (seed % 48, t as u64);
        let small = [8, 16, 32, 64][((seed / 4 + number / 4) % 4) as usize];
        let small = (seed + number).is_multiple_of(4).then_some(small);
        let (draft, mut overrides) = draw::draw(random, kind, t, budget, Self::aim(index), small)?;
        if (seed + number).is_multiple_of(3) && random.once_in(3) {
            overrides.views = Some(random.below(1 << 16));
        }
        Ok((draft, overrides))
    }

    /// A random case of an operator, for a tensor with element type `t` and about `budget`
    /// elements at most.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and [`Error::ShapeOverflow`] for a huge budget.
    pub fn random(kind: Kind, t: ElementType, budget: u64, random: &mut Random) -> Result<Self> {
        let small = random.pick(&[8, 16, 32, 64]);
        let (draft, mut overrides) = draw::draw(random, kind, t, budget, None, Some(small))?;
        overrides.views = random.once_in(4).then(|| random.below(1 << 16));
        draft.case(kind, overrides, random)
    }

    /// The tensors, in the form that [`Run::run`](wgmax::Run::run) takes.
    pub fn inputs(&self) -> Vec<&Tensor> {
        self.tensors.iter().collect()
    }

    /// The operator to plan, and whether its results count. The ids of segments may be wrong, like
    /// ids that no host has checked: then the status is the only result.
    ///
    /// # Errors
    /// As [`Operator::checked`].
    pub fn resolved(&self) -> Result<(Operator, bool)> {
        match (self.operator.checked(&self.inputs()), &self.operator) {
            (Ok(operator), _) => Ok((operator, true)),
            (Err(_), Operator::SegmentMax(op)) if op.status => Ok((self.operator.clone(), false)),
            // Its updates are dropped.
            (Err(Error::IndexOutOfRange { .. }), Operator::ScatterMax(op)) if op.status => {
                Ok((self.operator.clone(), true))
            }
            (Err(Error::IndexOutOfRange { .. }), Operator::ScatterMaxBackward(op))
                if op.scatter.status =>
            {
                Ok((self.operator.clone(), true))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Plans the case for a device with its narrowed limits. If these allow no plan, or only one
    /// with hundreds of launches, the device's own limits and tuning are used.
    ///
    /// # Errors
    /// As [`Operator::checked`] and [`Operator::plan`]. Wrong ids are not errors if the operator has
    /// a status.
    pub fn plan(&self, device: &Device) -> Result<Plan> {
        Ok(self.plan_within(&device.info().limits, device.tuning())?.0)
    }

    /// As [`Case::plan`], for any device with these limits and this tuning. Returns the limits of the plan, too.
    ///
    /// # Errors
    /// As [`Case::plan`].
    pub fn plan_within(&self, own: &Limits, own_tuning: &Tuning) -> Result<(Plan, Limits)> {
        let (operator, descs) = (self.resolved()?.0, self.descs());
        let limits = self.overrides.limits(own);
        let (inputs, results) = self.views(&operator, &descs)?;
        let inputs: Vec<&View> = inputs.iter().collect();
        let results: Vec<&View> = results.iter().collect();
        let tuning = self.overrides.tuning(own_tuning);
        match operator.plan_views(&inputs, &results, &limits, &tuning) {
            Ok(plan) if plan.launches().len() <= MAX_LAUNCHES => Ok((plan, limits)),
            Ok(_) | Err(Error::OverLimit { .. }) => {
                Ok((operator.plan(&descs, own, own_tuning)?, own.clone()))
            }
            Err(error) => Err(error),
        }
    }

    /// The views of the inputs, and those of the results. The latter are empty if the case has no views:
    /// then results are contiguous.
    fn views(&self, operator: &Operator, descs: &[&TensorDesc]) -> Result<(Vec<View>, Vec<View>)> {
        let mut random = self.overrides.views.map(Random);
        let mut view = |desc: &TensorDesc| {
            if let Some(random) = &mut random
                && !random.once_in(4)
            {
                return views::view(desc, random);
            }
            Ok(desc.into())
        };
        let inputs = descs.iter().map(|desc| view(desc)).collect::<Result<_>>()?;
        if self.overrides.views.is_none() {
            return Ok((inputs, Vec::new()));
        }
        let results = operator.infer(descs)?.iter().map(view).collect::<Result<_>>()?;
        Ok((inputs, results))
    }

    /// Plans the case as a device does, without the case's narrowed limits.
    ///
    /// # Errors
    /// As [`Case::plan`].
    pub fn own_plan(&self, device: &Device) -> Result<Plan> {
        device.plan(&self.resolved()?.0, self.descs())
    }

    /// Runs the case on a device, with the plan of [`Case::plan`]. For wrong ids the status is the
    /// only result.
    ///
    /// # Errors
    /// As [`Run::run`](wgmax::Run::run).
    pub fn run(&self, device: &Device) -> Result<Vec<Tensor>> {
        self.execute(device, &self.plan(device)?)
    }

    /// Runs the case on a device by a plan. For wrong ids the status is the only result.
    ///
    /// # Errors
    /// As [`Run::run`](wgmax::Run::run).
    pub fn execute(&self, device: &Device, plan: &Plan) -> Result<Vec<Tensor>> {
        pollster::block_on(self.execute_async(device, plan))
    }

    /// As [`Case::execute`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Run::run`](wgmax::Run::run).
    pub async fn execute_async(&self, device: &Device, plan: &Plan) -> Result<Vec<Tensor>> {
        let inputs = self.upload_async(device, plan).await?;
        let results = device.execute_async(plan, &inputs.iter().collect::<Vec<_>>()).await?;
        let first = if self.resolved()?.1 { 0 } else { results.len() - 1 };
        let mut found = Vec::new();
        for result in &results[first..] {
            found.push(result.download_async().await?);
        }
        Ok(found)
    }

    /// Copies the inputs to a device, with the layouts that a plan expects.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn upload(&self, device: &Device, plan: &Plan) -> Result<Vec<DeviceTensor>> {
        pollster::block_on(self.upload_async(device, plan))
    }

    /// As [`Case::upload`], without blocking.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub async fn upload_async(&self, device: &Device, plan: &Plan) -> Result<Vec<DeviceTensor>> {
        let mut uploaded = Vec::new();
        for (tensor, view) in self.tensors.iter().zip(internals::views(plan)) {
            uploaded.push(match view.is_contiguous() {
                true => device.upload_async(tensor).await?,
                false => {
                    let memory = views::memory(tensor, &view, self.operator.finds())?;
                    device.upload_async(&memory).await?.with_view(view.into_owned())?
                }
            });
        }
        Ok(uploaded)
    }

    /// The expected results, by the operator's definition.
    ///
    /// # Errors
    /// As [`oracle::run`].
    pub fn expected(&self) -> Result<Vec<Tensor>> {
        match (&self.operator, self.resolved()?.1, self.inputs().as_slice()) {
            (Operator::SegmentMax(op), false, [data, ids]) => {
                Ok(vec![oracle::status(op, data.shape()[0], ids)?])
            }
            (operator, _, inputs) => oracle::run(operator, inputs),
        }
    }

    fn descs(&self) -> Vec<&TensorDesc> {
        self.tensors.iter().map(Tensor::desc).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases are reproducible, and any 39 consecutive ones have each pair of operator and type.
    #[test]
    fn cases_depend_only_on_seed_and_index() {
        let mut kinds = std::collections::HashSet::new();
        for index in 100..139 {
            let (a, b) = (Case::nth(9, index).unwrap(), Case::nth(9, index).unwrap());
            assert_eq!((&a.operator, &a.overrides), (&b.operator, &b.overrides));
            for (a, b) in a.tensors.iter().zip(&b.tensors) {
                assert!(a.desc() == b.desc() && a.bytes() == b.bytes(), "case {index}");
            }
            let (kind, t) = Case::kind(index);
            let name = a.operator.name().replace("Min", "Max").replace("Backward", "");
            let name = name.replace("MaxUnpool", "MaxPool").replace("Adaptive", "");
            let name = name.replace("Scatter", "Segment");
            // The gradient follows saved positions.
            let data = usize::from(gradient::has_positions(&a.operator));
            assert_eq!(name, kind.name());
            assert_eq!(a.tensors[data].element_type(), t, "case {index}");
            kinds.insert((kind, t));
        }
        assert_eq!(kinds.len(), 39);
    }
}
