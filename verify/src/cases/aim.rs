//! The aims of cases: each variant of each kernel, for each element type.

use wgmax::internals::{has_variant, software_kernels, variant};
use wgmax::operator::{Operator, kernels};
use wgmax::plan::{Kernel, Limits, Shader};
use wgmax::{ElementType, TensorDesc, Tuning};

use super::{Kind, PlanOverrides, Random};

/// Turns without an aim, for each operator: untargeted cases.
const FREE: usize = 2;

/// The rounds of a short run, in which all types together launch each kernel.
const FIRST_ROUNDS: u64 = 7;

/// A variant of a kernel that a case should launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aim {
    kernel: &'static Kernel,
    flags: u8,
    tuning: &'static str,
}

impl Aim {
    /// The aim of the cases of an operator and a type in a round: each variant of each of its
    /// kernels in turn, first with the hardware tuning, later with others too. `None` is any case.
    /// Types begin with different kernels, so that the first rounds launch all kernels.
    pub fn nth(kind: Kind, t: ElementType, round: u64) -> Option<Self> {
        let variants = variants(kind, t);
        let turns = (variants.len() + FREE) as u64;
        let round = round + t as u64 * FIRST_ROUNDS;
        let (kernel, flags) = *variants.get((round % turns) as usize)?;
        // Only plans with the software tuning have these kernels.
        let tuning = match software_kernels().any(|own| own == kernel) {
            true => "software",
            false => ["hardware", "software", "hardware", "cpu"][(round / turns % 4) as usize],
        };
        Some(Self { kernel, flags, tuning })
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &'static str {
        self.kernel.name()
    }

    /// Whether the kernel has a flag, and it is set.
    pub fn is(&self, flag: &str) -> bool {
        let at = self.kernel.flag_names().iter().position(|&name| name == flag);
        at.is_some_and(|at| self.flags & (1 << at) > 0)
    }

    /// Random limits with which the case may meet its aim. `tries` is how often that failed; after many
    /// failures other tunings are tried.
    pub fn overrides(
        &self,
        workgroup: Option<u32>,
        random: &mut Random,
        tries: u64,
    ) -> PlanOverrides {
        let mut overrides = PlanOverrides::random(workgroup, random);
        if tries < 200 {
            overrides.tuning = Some(self.tuning);
        }
        // Bindings that cut tensors at any element; for every other case with positions.
        let often = ["index", "scatter", "pool_gradient", "gradient_rows"];
        let often = often.iter().any(|end| self.kernel().ends_with(end))
            || self.is("indices")
            || self.is("positions");
        if random.once_in(if often { 2 } else { 4 }) {
            overrides.max_binding_size = Some(1000);
        }
        // Long pieces and chunks: by default tensors as small as these are cut into short ones.
        if random.once_in(if self.kernel().starts_with("segment") { 2 } else { 4 }) {
            overrides.target_parallelism = Some(random.pick(&[1, 1, 8, 64]));
        }
        overrides
    }

    /// Whether the plan of an operator has the variant.
    pub fn is_met(
        &self,
        operator: &Operator,
        inputs: &[&TensorDesc],
        overrides: &PlanOverrides,
    ) -> bool {
        let limits = overrides.limits(&Limits::from_wgpu(&wgmax::wgpu::Limits::default()));
        let plan = operator.plan(inputs, &limits, &overrides.tuning(&Tuning::hardware()));
        let same = |shader: &Shader| shader.kernel == self.kernel && variant(shader) == self.flags;
        plan.is_ok_and(|plan| {
            plan.launches().len() <= super::MAX_LAUNCHES && plan.shaders().any(same)
        })
    }
}

/// The kernels of an operator's plans that other operators do not have.
pub(super) fn own_kernels(kind: Kind) -> impl Iterator<Item = &'static Kernel> {
    let prefixes = match kind {
        Kind::ReduceMax => &["reduce", "gradient", "fill", "join"][..],
        Kind::MaxPool => &["pool", "unpool", "fill"],
        // Gradients from given rows: unpool_claim comes with unpool_scatter.
        Kind::SegmentMax => &["segment", "scatter", "gradient", "unpool_scatter", "fill"],
    };
    let own =
        move |kernel: &&Kernel| prefixes.iter().any(|prefix| kernel.name().starts_with(prefix));
    kernels().into_iter().filter(own)
}

/// The variants of these kernels, for an element type: each has as many turns as `turns` says, and
/// each kernel has a turn before any has a second one.
fn variants(kind: Kind, t: ElementType) -> Vec<(&'static Kernel, u8)> {
    let of_kernel = |kernel: &'static Kernel| {
        let flags = 0..1 << kernel.flag_names().len();
        // A kernel with one text for all types may be used for some types only.
        let of_use = t.is_float() || kernel.name() != "unpool_claim";
        let own = flags.filter(|&f| has_variant(kernel, t, f) && of_use).map(|f| (kernel, f));
        let own: Vec<_> = own.collect();
        own.repeat(turns(kernel)).into_iter().enumerate()
    };
    let mut variants: Vec<_> = own_kernels(kind).flat_map(of_kernel).collect();
    variants.sort_by_key(|&(nth, _)| nth);
    variants.into_iter().map(|(_, variant)| variant).collect()
}

/// How many turns the variants of a kernel have.
fn turns(kernel: &Kernel) -> usize {
    match kernel.name() {
        // Each variant has branches for rows and pieces that are not full.
        "reduce_columns" => 3,
        "reduce_column_tiles" => 2,
        // From data and from saved indices, with one launch and with several.
        "gradient_scatter" => 3,
        // The same, and for each number of axes; these have more variants.
        "pool_gradient" | "pool_tile_gradient" => 2,
        "pool_gradient_rows" => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cases::Case;

    /// A run that ends early has launched positions and gradients too.
    #[test]
    fn the_first_cases_launch_every_kernel() {
        let limits = Limits::from_wgpu(&wgmax::wgpu::Limits::default());
        for seed in 1..=3 {
            let mut missing: Vec<&str> = kernels().into_iter().map(Kernel::name).collect();
            for index in 0..300 {
                let case = Case::nth(seed, index).unwrap();
                let plan = case.plan_within(&limits, &Tuning::hardware()).unwrap().0;
                missing.retain(|&name| !plan.shaders().any(|shader| shader.kernel.name() == name));
            }
            assert!(missing.is_empty(), "seed {seed}: {missing:?}");
        }
    }

    /// 2000 cases of any seed launch each variant of each kernel, for each element type that it has.
    /// Variants of segments and of poolings take one case each, most others two.
    #[test]
    fn cases_meet_their_aims() {
        for seed in [1, 77] {
            let (mut met, mut missed) = (BTreeMap::new(), Vec::new());
            for index in 0..2000 {
                let (kind, t) = Case::kind(index);
                for (kernel, flags) in variants(kind, t) {
                    met.entry((kernel.name(), flags, t)).or_insert(0);
                }
                let Some(aim) = Aim::nth(kind, t, index / 39) else { continue };
                let case = Case::nth(seed, index).unwrap();
                let operator = case.resolved().unwrap().0;
                match aim.is_met(&operator, &case.descs(), &case.overrides) {
                    true => *met.entry((aim.kernel(), aim.flags, t)).or_default() += 1,
                    false => missed.push(index),
                }
            }
            assert!(missed.is_empty(), "seed {seed}: {missed:?}");
            met.retain(|(kernel, ..), count| {
                let one = ["segment", "scatter", "pool", "unpool"];
                let one = one.iter().any(|start| kernel.starts_with(start));
                *count < if one { 1 } else { 2 }
            });
            assert!(met.is_empty(), "seed {seed}: {met:#?}");
        }
    }
}
