//! What a device allows.

/// What a device allows. A plan never exceeds it; what is *fast* there is said by a
/// [`Tuning`](crate::Tuning). Any plan can be made anywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Invocations of a workgroup: a power of two, at least 8.
    pub workgroup_size: u32,
    /// Workgroups of a dispatch in each dimension.
    pub max_workgroups_per_dimension: u32,
    /// Bytes of one storage binding.
    pub max_binding_size: u64,
    /// Bytes of one buffer.
    pub max_buffer_size: u64,
    /// What offsets of bindings must be multiples of, in bytes.
    pub alignment: u64,
    /// Storage buffers of a shader; no kernel here has more than six.
    pub max_storage_buffers: u32,
    /// Loop iterations of one invocation. Mesa's llvmpipe silently leaves a loop after 65,535,
    /// and some systems end dispatches that run long.
    pub max_iterations: u32,
}

impl Limits {
    /// The limits of a wgpu device.
    pub fn from_wgpu(limits: &wgpu::Limits) -> Self {
        let workgroup = limits
            .max_compute_invocations_per_workgroup
            .min(limits.max_compute_workgroup_size_x)
            .clamp(8, 256);
        Self {
            workgroup_size: 1 << workgroup.ilog2(),
            max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_binding_size: limits.max_storage_buffer_binding_size,
            max_buffer_size: limits.max_buffer_size,
            alignment: u64::from(limits.min_storage_buffer_offset_alignment).max(16),
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            max_iterations: 32_768,
        }
    }

    /// The limits of the CPU backend: memory alone.
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
