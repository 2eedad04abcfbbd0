//! Narrowed limits: smaller than the device's own, and other tunings.

use wgmax::Tuning;
use wgmax::plan::Limits;

use super::Random;

/// Limits and tunings to plan with instead of the device's own. They make planners treat small
/// tensors as they treat large ones: with splits, pieces and several launches.
///
/// `None` keeps the device's own value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanOverrides {
    /// Invocations that fill the device.
    pub target_parallelism: Option<u32>,
    /// Elements of a window, along an axis, that an invocation reads one by one.
    pub max_taps: Option<u32>,
    /// Loop iterations of one invocation.
    pub max_iterations: Option<u32>,
    /// Workgroups of a dispatch in each dimension.
    pub max_workgroups_per_dimension: Option<u32>,
    /// Invocations of a workgroup.
    pub workgroup_size: Option<u32>,
    /// Bytes of one storage binding.
    pub max_binding_size: Option<u64>,
    /// The name of a tuning: `hardware`, `software` or `cpu`.
    pub tuning: Option<&'static str>,
    /// The seed of the views of inputs and results.
    pub views: Option<u64>,
}

impl PlanOverrides {
    /// Random limits, a few of them at a time or none, and a random tuning or none.
    /// `workgroup_size` is the size of small workgroups, if any.
    pub fn random(workgroup_size: Option<u32>, random: &mut Random) -> Self {
        let tuning = random.pick(&[None, Some("software"), Some("hardware")]);
        let mut overrides = Self { tuning, ..Self::default() };
        match random.below(7) {
            0 => {}
            1 => overrides.target_parallelism = Some(random.pick(&[1, 64, 512, 4096])),
            // Small workgroups split tensors that large ones do not.
            4 => overrides.workgroup_size = workgroup_size,
            2 => overrides.max_taps = Some(random.pick(&[2, 3, 5, 100])),
            3 => {
                overrides.target_parallelism = Some(random.pick(&[1, 256, 4096]));
                overrides.max_iterations = Some(random.pick(&[4, 16, 100]));
                overrides.max_taps = Some(random.pick(&[2, 3, 5, 100]));
                overrides.max_workgroups_per_dimension = Some(random.pick(&[3, 16, 256]));
                overrides.workgroup_size = workgroup_size;
            }
            _ => {
                // Parts begin at any element if a size is not a multiple of the alignment.
                let sizes = [516, 1000, 1024, 2044, 4096, 8192, 65536];
                overrides.max_binding_size = Some(random.pick(&sizes));
                overrides.target_parallelism = Some(random.pick(&[64, 1024]));
            }
        }
        overrides
    }

    /// Whether nothing is narrowed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The limits to plan with: for each, the smaller of the device's and this one. If bindings are
    /// narrowed, their offsets are multiples of at least 256 bytes.
    pub fn limits(&self, own: &Limits) -> Limits {
        fn min<T: Ord>(own: T, overrides: Option<T>) -> T {
            overrides.into_iter().fold(own, T::min)
        }
        let mut limits = own.clone();
        limits.max_iterations = min(own.max_iterations, self.max_iterations);
        limits.max_workgroups_per_dimension =
            min(own.max_workgroups_per_dimension, self.max_workgroups_per_dimension);
        limits.workgroup_size = min(own.workgroup_size, self.workgroup_size);
        limits.max_binding_size = min(own.max_binding_size, self.max_binding_size);
        // WebGPU's default, so that parts begin within bindings.
        limits.alignment = self.max_binding_size.map_or(own.alignment, |_| own.alignment.max(256));
        limits
    }

    /// The tuning to plan with.
    pub fn tuning(&self, own: &Tuning) -> Tuning {
        let tuning = self.tuning.and_then(Tuning::named).unwrap_or_else(|| own.clone());
        let tuning =
            self.target_parallelism.into_iter().fold(tuning, Tuning::with_target_parallelism);
        self.max_taps.into_iter().fold(tuning, Tuning::with_max_taps)
    }
}
