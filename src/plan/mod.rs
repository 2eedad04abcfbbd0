//! Plans: launches of kernels over numbered buffers, within a device's limits.
//!
//! A plan is made by [`Operator::plan`](crate::operator::Operator::plan), which needs no device,
//! and run by [`Device::execute`](crate::Device::execute). Nothing here knows an operator.

mod builder;
mod check;
mod compose;
mod divide;
mod fill;
mod join;
mod kernel;
mod limits;
mod placement;
mod view;

pub(crate) use builder::{Builder, LaunchDesc, Region, Target, gcd};
pub(crate) use compose::{Feed, Step};
pub(crate) use divide::Axis;
#[doc(hidden)]
pub use divide::divisor;
pub(crate) use divide::{SMALL, small_divisor};
#[cfg(feature = "cpu")]
use kernel::Views;
pub(crate) use kernel::{Attributes, Call, Flags, Specialization, first_params};
/// For the command and the tests: what a launch runs, and its text.
#[doc(hidden)]
pub use kernel::{Kernel, Shader};
pub use limits::Limits;
pub(crate) use limits::MAX_ELEMENTS;
pub(crate) use placement::{Lines, Placement};
pub(crate) use view::{check_result, check_results};

use std::borrow::Cow;

use crate::base::error::{Error, Result};
use crate::tensor::{Outputs, TensorDesc, View};

/// The kernels of this module.
pub(crate) static KERNELS: [&Kernel; 4] = [&fill::FILL, &join::JOIN, &view::PACK, &view::UNPACK];

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

/// The binding of a view's layout in `shaders/common/view.wgsl`.
const VIEW_BINDING: u32 = 15;

/// A step of a plan, which wgpu dispatches. Source `i` is bound at `1 + 2 * i`, result `i` at `2 + 2 * i`.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) shader: Shader,
    /// The words of the uniform buffer, which is bound at 0.
    pub(crate) params: Vec<u32>,
    pub(crate) sources: Vec<Range>,
    pub(crate) results: Vec<Range>,
    pub(crate) grid: [u32; 3],
    /// The layout of the first source, or of the result, if it is a view.
    pub(crate) view: Option<Box<Placement>>,
    /// What the launch computes, as a part of a sentence.
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

    /// What the launch computes, such as "maxima of pieces of rows".
    pub fn purpose(&self) -> &'static str {
        self.purpose
    }

    /// Workgroups in each dimension.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Bytes of the bindings that the launch reads. Accesses by atomics are not counted.
    pub fn bytes_read(&self) -> u64 {
        let read = |ranges: &[Range]| ranges.iter().map(|range| range.size).sum::<u64>();
        read(&self.sources) + if self.shader.kernel.updates { self.bytes_written() } else { 0 }
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

    /// The view whose elements the CPU gathers before the kernel reads them.
    #[cfg(feature = "cpu")]
    pub(crate) fn gathered(&self) -> Option<&Placement> {
        let kernel = self.shader.kernel;
        let view = self.view.as_deref().filter(|_| kernel.views == Views::MayRead)?;
        (!(kernel.reads_in_place)(&self.shader, &self.params, view)).then_some(view)
    }

    /// The binding and the words of a second uniform buffer, the layout of a view.
    #[doc(hidden)]
    pub fn view_params(&self) -> Option<(u32, &[u32])> {
        let view = self.view.as_deref()?;
        Some((VIEW_BINDING, bytemuck::cast_slice(bytemuck::bytes_of(&view.words))))
    }

    /// The bindings except the uniform buffers: the number of the binding, the buffer of the plan,
    /// and the offset and length in bytes, without padding.
    #[doc(hidden)]
    pub fn bindings(&self) -> impl Iterator<Item = (u32, usize, u64, u64)> {
        self.ranges().map(|(binding, range)| (binding, range.buffer, range.offset, range.size))
    }

    /// The number of each binding, and its range.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u32, &Range)> {
        (1..).step_by(2).zip(&self.sources).chain((2..).step_by(2).zip(&self.results))
    }
}

/// The launches that compute an operator. Their buffers are its inputs, then its outputs, then
/// scratch.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) inputs: Vec<TensorDesc>,
    pub(crate) outputs: Outputs<TensorDesc>,
    /// The views of the inputs, then of the results. Empty if all are contiguous.
    pub(crate) views: Vec<View>,
}

impl Plan {
    /// The types and shapes of the inputs that the plan was made for.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.inputs
    }

    /// The types and shapes of the results.
    pub fn outputs(&self) -> &Outputs<TensorDesc> {
        &self.outputs
    }

    /// How many tensors the plan takes.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// The views of the inputs, then of the results.
    pub(crate) fn views(&self) -> impl Iterator<Item = Cow<'_, View>> + Clone {
        (0..self.inputs.len() + self.outputs.len()).map(|i| self.view(i))
    }

    /// The view of an input, or of a result; results are numbered after the inputs.
    pub(crate) fn view(&self, i: usize) -> Cow<'_, View> {
        match self.views.get(i) {
            Some(view) => Cow::Borrowed(view),
            None => {
                let result = i.checked_sub(self.inputs.len());
                Cow::Owned(result.map_or_else(|| &self.inputs[i], |i| &self.outputs[i]).into())
            }
        }
    }

    /// The bytes of an input's or a result's memory, from its first element to the end of its last
    /// one.
    pub(crate) fn bytes(&self, i: usize) -> std::ops::Range<usize> {
        match self.views.get(i) {
            Some(view) => view.bytes(),
            None => 0..self.buffers[i].size as usize,
        }
    }

    /// The views of the results.
    pub(crate) fn result_views(&self) -> impl Iterator<Item = Cow<'_, View>> {
        self.views().skip(self.inputs.len())
    }

    /// Refuses inputs that differ from those that the plan was made for.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::WrongInput`], [`Error::WrongView`].
    pub(crate) fn check_inputs<'a>(
        &self,
        given: impl ExactSizeIterator<Item = &'a View>,
    ) -> Result<()> {
        if given.len() != self.inputs.len() {
            return Err(Error::input_count("the plan", self.inputs.len(), given.len()));
        }
        for (position, (expected, actual)) in self.inputs.iter().zip(given).enumerate() {
            if expected != actual.desc() {
                return Err(Error::WrongInput {
                    of: "the plan",
                    position,
                    expected_type: expected.element_type(),
                    expected_shape: expected.shape().to_vec(),
                    actual_type: actual.desc().element_type(),
                    actual_shape: actual.desc().shape().to_vec(),
                });
            }
            let view = self.views.get(position);
            if view.map_or(!actual.is_contiguous(), |view| view != actual) {
                let expected = view.map_or_else(|| expected.into(), View::clone);
                return Err(Error::WrongView {
                    position,
                    expected_offset: expected.offset(),
                    expected_pitches: expected.pitches(),
                    actual_offset: actual.offset(),
                    actual_pitches: actual.pitches(),
                });
            }
        }
        Ok(())
    }

    /// Refuses inputs and results that differ from those that the plan was made for.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::WrongInput`], [`Error::WrongView`], [`Error::ResultCount`],
    /// [`Error::WrongResult`], [`Error::BadView`].
    #[doc(hidden)]
    pub fn check_views<'a>(
        &self,
        inputs: impl ExactSizeIterator<Item = &'a View>,
        results: impl ExactSizeIterator<Item = &'a View>,
    ) -> Result<()> {
        self.check_inputs(inputs)?;
        let (expected, actual) = (self.outputs.len(), results.len());
        if expected != actual {
            return Err(Error::ResultCount { expected, actual });
        }
        for (position, (expected, actual)) in self.result_views().zip(results).enumerate() {
            view::check_result(position, expected.desc(), actual)?;
            if *expected != *actual {
                return Err(actual.bad("the plan has another view"));
            }
        }
        Ok(())
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

    /// Bytes that the plan needs beside its inputs and outputs.
    pub fn scratch_bytes(&self) -> u64 {
        self.scratch().sum()
    }

    /// Bytes of each scratch buffer.
    pub(crate) fn scratch(&self) -> impl Iterator<Item = u64> {
        let scratch = self.buffers.iter().filter(|buffer| buffer.role == Role::Scratch);
        scratch.map(|buffer| buffer.size)
    }
}

/// A grid of at least `groups` workgroups. Kernels number them, and workgroups beyond `groups` do
/// nothing.
fn grid(groups: u64, limits: &Limits) -> Option<[u32; 3]> {
    let max = u64::from(limits.max_workgroups_per_dimension);
    let z = groups.div_ceil(max.saturating_mul(max)).max(1);
    let y = groups.div_ceil(z).div_ceil(max).max(1);
    let x = groups.div_ceil(z).div_ceil(y).max(1);
    // Workgroups are numbered in 32 bits.
    let fits = z <= max && x * y * z <= u64::from(u32::MAX);
    fits.then_some([x as u32, y as u32, z as u32])
}
