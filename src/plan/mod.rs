//! Plans: launches of kernels over numbered buffers, within a device's limits.
//!
//! A plan is made by [`Operator::plan`](crate::operator::Operator::plan), which needs no device,
//! and run by [`Device::execute`](crate::Device::execute). Nothing here knows an operator.

mod builder;
mod check;
mod divide;
mod fill;
mod kernel;
mod limits;

pub(crate) use builder::{Builder, MAX_ELEMENTS, New, Region, Target, gcd};
pub(crate) use divide::divisor;
pub(crate) use fill::KERNELS;
pub(crate) use kernel::{Attributes, Call, Flags, Specialization};
/// For the command and the tests: what a launch runs, and its text.
#[doc(hidden)]
pub use kernel::{Kernel, Shader};
pub use limits::Limits;

use crate::error::{Error, Result};
use crate::tensor::TensorDesc;

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

/// One dispatch of a plan. Source `i` is bound at `1 + 2 * i`, result `i` at `2 + 2 * i`.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) shader: Shader,
    /// The words of the uniform buffer, which is bound at 0.
    pub(crate) params: Vec<u32>,
    pub(crate) sources: Vec<Range>,
    pub(crate) results: Vec<Range>,
    pub(crate) grid: [u32; 3],
    /// What the launch is for, as a part of a sentence.
    pub(crate) purpose: &'static str,
}

impl Launch {
    /// The kernel, the element type and the variant, as in the labels of compute passes.
    pub fn label(&self) -> String {
        self.shader.label()
    }

    /// The shader.
    #[doc(hidden)]
    pub fn shader(&self) -> &Shader {
        &self.shader
    }

    /// What the launch is for: "maxima of pieces of rows".
    pub fn purpose(&self) -> &'static str {
        self.purpose
    }

    /// Workgroups in each dimension.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Bytes of the bindings that the launch reads.
    pub fn bytes_read(&self) -> u64 {
        self.sources.iter().map(|range| range.size).sum()
    }

    /// Bytes of the bindings that the launch writes.
    pub fn bytes_written(&self) -> u64 {
        self.results.iter().map(|range| range.size).sum()
    }

    /// The words of the uniform buffer.
    #[doc(hidden)]
    pub fn params(&self) -> &[u32] {
        &self.params
    }

    /// What is bound beside the uniform buffer: the number of the binding, the buffer of the plan,
    /// and in bytes where it begins and how long it is, without padding.
    #[doc(hidden)]
    pub fn bindings(&self) -> impl Iterator<Item = (u32, usize, u64, u64)> {
        let sources = self.sources.iter().enumerate().map(|(i, range)| (1 + 2 * i, range));
        let results = self.results.iter().enumerate().map(|(i, range)| (2 + 2 * i, range));
        let all = sources.chain(results);
        all.map(|(binding, range)| (binding as u32, range.buffer, range.offset, range.size))
    }

    /// The bytes of the uniform buffer.
    pub(crate) fn param_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.params)
    }
}

/// The launches that compute an operator: over its inputs, then its outputs, then scratch.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) inputs: Vec<TensorDesc>,
    pub(crate) outputs: Vec<TensorDesc>,
}

impl Plan {
    /// The types and shapes of the inputs that the plan was made for.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.inputs
    }

    /// The types and shapes of the results.
    pub fn outputs(&self) -> &[TensorDesc] {
        &self.outputs
    }

    /// How many tensors the plan takes.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// Refuses inputs unlike those that the plan was made for.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::WrongInput`].
    pub(crate) fn check_inputs<'a>(
        &self,
        given: impl ExactSizeIterator<Item = &'a TensorDesc>,
    ) -> Result<()> {
        if given.len() != self.inputs.len() {
            return Err(Error::input_count("the plan", self.inputs.len(), given.len()));
        }
        let mut pairs = self.inputs.iter().zip(given).enumerate();
        match pairs.find(|(_, (expected, actual))| expected != actual) {
            None => Ok(()),
            Some((position, (expected, actual))) => Err(Error::WrongInput {
                position,
                expected_type: expected.element_type(),
                expected_shape: expected.shape().to_vec(),
                actual_type: actual.element_type(),
                actual_shape: actual.shape().to_vec(),
            }),
        }
    }

    /// The launches, in order.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// The shaders of the launches, in order.
    #[doc(hidden)]
    pub fn shaders(&self) -> impl Iterator<Item = &Shader> {
        self.launches.iter().map(|launch| &launch.shader)
    }

    /// Bytes of the buffers, without padding: the inputs, the outputs, and scratch.
    #[doc(hidden)]
    pub fn buffer_bytes(&self) -> impl Iterator<Item = u64> {
        self.buffers.iter().map(|buffer| buffer.size)
    }

    /// Bytes of the largest buffer, inputs and outputs included.
    pub fn max_buffer_bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.size).max().unwrap_or(0)
    }

    /// Bytes of the memory that the plan needs beside its inputs and outputs.
    pub fn scratch_bytes(&self) -> u64 {
        let scratch = self.buffers.iter().filter(|buffer| buffer.role == Role::Scratch);
        scratch.map(|buffer| buffer.size).sum()
    }
}

/// A grid of at least `groups` workgroups. Kernels number them and leave the surplus idle.
fn grid(groups: u64, limits: &Limits) -> Option<[u32; 3]> {
    let max = u64::from(limits.max_workgroups_per_dimension);
    let z = groups.div_ceil(max.saturating_mul(max)).max(1);
    let y = groups.div_ceil(z).div_ceil(max).max(1);
    let x = groups.div_ceil(z).div_ceil(y).max(1);
    // Workgroups are numbered in 32 bits.
    let fits = z <= max && x * y * z <= u64::from(u32::MAX);
    fits.then_some([x as u32, y as u32, z as u32])
}
