//! ReduceMax, MaxPool and SegmentMax as WGSL compute shaders through wgpu, with
//! CPU twins that agree bit for bit.

#![deny(missing_docs)]

mod compare;
mod cpu;
mod device;
pub mod dialect;
mod error;
mod gpu;
#[cfg(feature = "io")]
pub mod io;
pub mod kernel;
pub mod operator;
pub mod plan;
mod tensor;

pub use compare::{Comparison, Mismatch, compare, compare_values};
pub use device::{Device, DeviceInfo, DeviceTensor, adapters};
pub use error::{Error, Result};
pub use tensor::key::Nan;
pub use tensor::{Element, ElementType, Tensor, TensorDesc};
pub use wgpu;
