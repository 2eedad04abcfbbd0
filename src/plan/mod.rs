//! Plans: kernel launches over numbered buffers, cut to a device's limits.

mod builder;
mod check;
pub(crate) mod pool;
pub(crate) mod reduce;
pub(crate) mod segment;

use crate::kernel::{Params, Shader};
use crate::tensor::TensorDesc;

/// Invocations that fill a software adapter: more than a few dozen cores and vectors of them, and
/// few enough that each has long stretches of memory.
const SOFTWARE_LANES: u32 = 4096;

/// What planning must respect. Every field is an input, so any device can be planned for anywhere.
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
    /// Loop iterations of one invocation. Mesa's llvmpipe silently leaves a loop after 65,535.
    pub max_iterations: u32,
    /// Elements of a pooling window along an axis that an invocation looks at one
    /// by one. Longer windows are made of shorter ones.
    pub window_taps: u32,
    /// Invocations that fill the device; fewer outputs than that are split.
    pub lanes: u32,
    /// Whether invocations side by side share fetches of neighbouring addresses, as on a GPU. Those of
    /// software adapters run by turns, and are fast where each walks through memory of its own.
    pub coalesces: bool,
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
            window_taps: 8,
            lanes: 1 << 16,
            coalesces: true,
        }
    }

    /// The same limits as those of a software adapter, which runs shaders on the CPU.
    pub fn software(self) -> Self {
        Self { lanes: SOFTWARE_LANES, coalesces: false, ..self }
    }

    /// The limits of the CPU, for a number of threads.
    pub fn cpu(threads: usize) -> Self {
        Self {
            workgroup_size: 256,
            max_workgroups_per_dimension: u32::MAX,
            max_binding_size: u64::MAX,
            max_buffer_size: u64::MAX,
            alignment: 16,
            max_storage_buffers: u32::MAX,
            max_iterations: u32::MAX,
            // The twins make long windows in a few steps themselves.
            window_taps: u32::MAX,
            lanes: (threads * 4 * 256).min(1 << 20) as u32,
            coalesces: true,
        }
    }
}

/// What a buffer of a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
    Scratch,
}

/// A buffer of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub role: Role,
    /// Bytes, without padding.
    pub size: u64,
}

/// A part of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub buffer: usize,
    /// In bytes, a multiple of the device's alignment.
    pub offset: u64,
    /// In bytes, without padding.
    pub size: u64,
}

/// One dispatch. Source `i` is bound at `1 + 2 * i`, result `i` at `2 + 2 * i`.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub shader: Shader,
    pub params: Params,
    pub sources: Vec<Range>,
    pub results: Vec<Range>,
    pub grid: [u32; 3],
}

/// The launches that compute an operator: over its inputs, then its outputs, then scratch.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) outputs: Vec<TensorDesc>,
}

impl Plan {
    /// The types and shapes of the results.
    pub fn outputs(&self) -> &[TensorDesc] {
        &self.outputs
    }

    /// How many tensors the plan takes.
    pub fn input_count(&self) -> usize {
        self.buffers.iter().filter(|b| b.role == Role::Input).count()
    }

    /// The shaders of the launches, in order.
    pub fn shaders(&self) -> impl Iterator<Item = &Shader> {
        self.launches.iter().map(|launch| &launch.shader)
    }
}

/// A grid of at least `groups` workgroups. Kernels number them and leave the surplus idle.
pub(crate) fn grid(groups: u64, limits: &Limits) -> Option<[u32; 3]> {
    let max = u64::from(limits.max_workgroups_per_dimension);
    let z = groups.div_ceil(max.saturating_mul(max)).max(1);
    let y = groups.div_ceil(z).div_ceil(max).max(1);
    let x = groups.div_ceil(z).div_ceil(y).max(1);
    // Workgroups are numbered in 32 bits.
    let fits = z <= max && x * y * z <= u64::from(u32::MAX);
    fits.then_some([x as u32, y as u32, z as u32])
}
