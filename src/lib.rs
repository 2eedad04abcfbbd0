//! ReduceMax, MaxPool, SegmentMax and ScatterMax, their minima and gradients, as WGSL compute shaders through
//! wgpu and by the same kernels on the CPU, with the same bits.
//!
//! ```
//! use wgmax::operator::ReduceMax;
//! use wgmax::{Device, Run, Tensor, compare};
//!
//! let input = Tensor::from_slice([2, 3], &[1.0f32, 5.0, 3.0, -1.0, f32::NEG_INFINITY, -0.0])?;
//! let operator = ReduceMax::new().axes([-1]);
//! let found = operator.run(&Device::auto()?, &input)?;
//! assert_eq!(found[0].as_slice::<f32>()?, [5.0, 0.0]);
//! assert!(compare(&found[0], &operator.run(&Device::cpu(), &input)?[0])?.is_equal());
//! # Ok::<(), wgmax::Error>(())
//! ```
//!
//! - A [`Tensor`] is on the host. A [`Device`] runs operators. A [`DeviceTensor`] stays on its
//!   device and can be the input of the next operator.
//! - [`operator`] has the dialect-independent operators; [`dialect`] has the operators as ONNX, oneDNN
//!   Graph, OpenVINO and WebNN define them.
//! - [`compare()`] finds where two results differ, and [`Device::execute_traced`] the launch in
//!   which two devices differ.
//! - [`guide`] has guides: embedding, exactness, adding a kernel.
//!
//! Devices compare no floats: elements become integer keys in the same order. So results do
//! not depend on how a driver treats NaN, subnormals or signed zeros, nor on the order of
//! evaluation.
//!
//! # Features
//!
//! | feature | by default | what it adds |
//! | --- | --- | --- |
//! | `cpu` | yes | [`Device::cpu`], and work on the host on all cores |
//! | `vulkan`, `metal`, `dx12`, `gles`, `webgpu` | yes | wgpu's backends; each is used if the system has it |
//! | `io` | | the module `io`: readers and writers of npy, npz, safetensors, ONNX and golden cases |
//! | `pipeline-cache` | | compiled pipelines in files: `DeviceOptions::pipeline_cache` |
//! | `ndarray` | | conversions from and to ndarray's arrays: `Tensor::from_ndarray` |
//! | `serde` | | `Serialize` and `Deserialize` for attributes, descriptions of devices and reports |
//!
//! `io` turns `pipeline-cache` on. Without `cpu` and without a backend no device opens, but plans can be made.
//!
//! With Cargo's own profile `release` the compiler vectorises all loops of the CPU. If your workspace sets
//! `lto = "off"`, some take four times as long; `codegen-units = 1` in `[profile.release.package.wgmax]` prevents this.

#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
pub use device::{
    Chain, Device, DeviceBackend, DeviceInfo, DeviceKind, DeviceOptions, DeviceTensor,
    PrepareChain, Probe, ProbeCheck, Slot, adapter, adapter_async, adapters, adapters_async,
};
pub use exec::gpu::{BufferRange, Operand, Prepared, Record, Scratch, TextureRange, texture_view};
pub use stream::{Input, Progress, Run, RunOptions};
pub use tensor::compare::{Comparison, Mismatch, compare, compare_values};
pub use tensor::key::{Extremum, Nan};
pub use tensor::{Element, ElementType, Inputs, Outputs, Tensor, TensorDesc, TensorView, View};
pub use tuning::Tuning;
pub use wgpu;

/// The README's code, which the doc tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
