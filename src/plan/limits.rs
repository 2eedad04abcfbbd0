//! What a device allows.

use crate::base::error::{Error, Result};

/// Elements of a binding are numbered in 31 bits, so that sums of two such numbers have 32.
pub(crate) const MAX_ELEMENTS: u64 = 1 << 31;

/// What a device allows. A plan never exceeds its limits; a [`Tuning`](crate::Tuning) says what is
/// *fast*. A plan for any device can be made on any machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Limits {
    /// Invocations of a workgroup: a power of two, at least 8.
    pub workgroup_size: u32,
    /// Workgroups of a dispatch in each dimension, at least 1.
    pub max_workgroups_per_dimension: u32,
    /// Bytes of one storage binding.
    pub max_binding_size: u64,
    /// Bytes of one buffer.
    pub max_buffer_size: u64,
    /// Offsets of bindings must be multiples of this many bytes: a multiple of 16, at most 2^30.
    pub alignment: u64,
    /// Storage buffers of a shader. Four are enough for every operator. The fast kernels of
    /// SegmentMax for ascending ids need five, six with indices. With four, SegmentMax falls back
    /// to the unsorted kernels, which use atomics and two or three words of scratch for each
    /// result, and took 1.5 to 4 times as long on lavapipe.
    pub max_storage_buffers: u32,
    /// Loop iterations of one invocation, at least 4, without loops of a fixed length, which have at most 16.
    /// Mesa's llvmpipe silently leaves a loop after 65,535, and some systems end dispatches that run long.
    pub max_iterations: u32,
}

impl Limits {
    /// The limits of a wgpu device.
    pub fn from_wgpu(limits: &wgpu::Limits) -> Self {
        let workgroup = limits
            .max_compute_invocations_per_workgroup
            .min(limits.max_compute_workgroup_size_x)
            .min(256);
        Self {
            workgroup_size: workgroup.checked_ilog2().map_or(0, |log| 1 << log),
            max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            // Bindings are padded to whole blocks.
            max_binding_size: limits.max_storage_buffer_binding_size / 16 * 16,
            max_buffer_size: limits.max_buffer_size,
            alignment: u64::from(limits.min_storage_buffer_offset_alignment).max(16),
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            max_iterations: 32_768,
        }
    }

    /// Refuses limits within which no plan is possible.
    ///
    /// # Errors
    /// [`Error::NoComputeShaders`], [`Error::BadLimit`].
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |limit, expected, value| Err(Error::BadLimit { limit, expected, value });
        if self.workgroup_size == 0 {
            return Err(Error::NoComputeShaders);
        }
        if self.workgroup_size < 8 || !self.workgroup_size.is_power_of_two() {
            let expected = "a power of two, at least 8";
            return bad("workgroup_size", expected, self.workgroup_size.into());
        }
        if self.max_workgroups_per_dimension == 0 {
            return bad("max_workgroups_per_dimension", "1 or more", 0);
        }
        if !(16..=1 << 30).contains(&self.alignment) || !self.alignment.is_multiple_of(16) {
            return bad("alignment", "a multiple of 16, at most 2^30", self.alignment);
        }
        if self.max_iterations < 4 {
            return bad("max_iterations", "4 or more", self.max_iterations.into());
        }
        Ok(())
    }

    /// The limits of the CPU backend: those of memory only.
    pub fn cpu() -> Self {
        Self {
            workgroup_size: 256,
            max_workgroups_per_dimension: u32::MAX,
            max_binding_size: u64::MAX,
            max_buffer_size: u64::MAX,
            alignment: 16,
            max_storage_buffers: u32::MAX,
            max_iterations: u32::MAX,
        }
    }
}
