//! Limits below a device's own.

use super::Random;
use crate::plan::Limits;

/// Limits to plan with instead of the device's own, so that small tensors reach
/// what planners do with large ones: splits, pieces, several launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrow {
    /// Invocations that fill the device.
    pub lanes: Option<u32>,
    /// Elements of a window that an invocation looks at one by one.
    pub window_taps: Option<u32>,
    /// Loop iterations of one invocation.
    pub max_iterations: Option<u32>,
    /// Workgroups of a dispatch in each dimension.
    pub max_workgroups_per_dimension: Option<u32>,
    /// Invocations of a workgroup.
    pub workgroup_size: Option<u32>,
    /// Bytes of one storage binding.
    pub max_binding_size: Option<u64>,
    /// Whether invocations share fetches.
    pub coalesces: Option<bool>,
}

impl Narrow {
    /// Some limits, one time in fifteen none.
    pub fn random(random: &mut Random) -> Self {
        let coalesces = random.pick(&[None, Some(false), Some(true)]);
        let mut narrow = Self { coalesces, ..Self::default() };
        match random.below(5) {
            0 => {}
            1 => narrow.lanes = Some(random.pick(&[1, 64, 512, 4096])),
            2 => narrow.window_taps = Some(random.pick(&[2, 3, 5, 100])),
            3 => {
                narrow.lanes = Some(random.pick(&[1, 256, 4096]));
                narrow.max_iterations = Some(random.pick(&[4, 16, 100]));
                narrow.window_taps = Some(random.pick(&[2, 3, 5, 100]));
                narrow.max_workgroups_per_dimension = Some(random.pick(&[3, 16, 256]));
                narrow.workgroup_size = Some(64);
            }
            _ => {
                narrow.max_binding_size = Some(random.pick(&[4096, 8192, 65536]));
                narrow.lanes = Some(random.pick(&[64, 1024]));
            }
        }
        narrow
    }

    /// Whether the device's own limits stay.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// A device's limits, narrowed. What a device cannot exceed is never raised.
    pub fn within(&self, own: &Limits) -> Limits {
        fn least<T: Ord>(own: T, narrow: Option<T>) -> T {
            match narrow {
                Some(narrow) => own.min(narrow),
                None => own,
            }
        }
        Limits {
            lanes: self.lanes.unwrap_or(own.lanes),
            window_taps: self.window_taps.unwrap_or(own.window_taps),
            max_iterations: least(own.max_iterations, self.max_iterations),
            max_workgroups_per_dimension: least(
                own.max_workgroups_per_dimension,
                self.max_workgroups_per_dimension,
            ),
            workgroup_size: least(own.workgroup_size, self.workgroup_size),
            max_binding_size: least(own.max_binding_size, self.max_binding_size),
            coalesces: self.coalesces.unwrap_or(own.coalesces),
            ..own.clone()
        }
    }
}
