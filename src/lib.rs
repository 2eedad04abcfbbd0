//! ReduceMax, MaxPool and SegmentMax, the same of minima, and their gradients, as WGSL compute
//! shaders through wgpu, and by the same kernels on the CPU, bit for bit the same.
//!
//! ```
//! use wgmax::operator::ReduceMax;
//! use wgmax::{Device, Tensor, compare};
//!
//! let input = Tensor::from_slice([2, 3], &[1.0f32, 5.0, 3.0, -1.0, f32::NEG_INFINITY, -0.0])?;
//! let operator = ReduceMax::new().axes([-1]);
//! let result = operator.run(&Device::auto()?, &input)?;
//! assert_eq!(result.as_slice::<f32>()?, [5.0, 0.0]);
//! assert!(compare(&result, &operator.run(&Device::cpu(), &input)?)?.is_equal());
//! # Ok::<(), wgmax::Error>(())
//! ```
//!
//! - [`Tensor`] is a tensor on the host, [`Device`] runs operators, [`DeviceTensor`] a
//!   tensor that stays there and can feed the next operator.
//! - [`operator`] has the operators, independent of a dialect; [`dialect`] has them as ONNX, oneDNN
//!   Graph and OpenVINO define them.
//! - [`compare()`] finds where two results differ, and [`Device::execute_traced`] the launch in
//!   which two devices differ.
//! - [`guide`] has guides: embedding, exactness, adding a kernel.
//!
//! No float is ever compared on a device: elements become integer keys that order as
//! they do, so the result does not depend on a driver's treatment of NaN,
//! subnormals or signed zeros, nor on any order of evaluation.

#![deny(missing_docs)]

mod base;
mod device;
pub mod dialect;
mod exec;
mod gradient;
pub mod guide;
#[doc(hidden)]
pub mod internals;
#[cfg(feature = "io")]
pub mod io;
pub mod operator;
pub mod plan;
mod pool;
mod reduce;
mod segment;
mod stream;
mod tensor;
mod tuning;
mod vector;
mod wgsl;

pub use base::error::{Error, ErrorKind, Result};
#[cfg(not(target_family = "wasm"))]
pub use device::adapters;
pub use device::{
    Chain, Device, DeviceInfo, DeviceKind, DeviceOptions, DeviceTensor, adapter, adapter_async,
    adapters_async,
};
pub use exec::gpu::{BufferRange, Operand, Prepared, TextureRange, texture_view};
pub use stream::{Progress, RunOptions};
pub use tensor::compare::{Comparison, Mismatch, compare, compare_values};
pub use tensor::key::{Extremum, Nan};
pub use tensor::{Element, ElementType, Tensor, TensorDesc, TensorView, View};
pub use tuning::Tuning;
pub use wgpu;

/// The README's code, which the doc tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
