//! ReduceMax, MaxPool and SegmentMax as WGSL compute shaders through wgpu, with
//! CPU twins that agree bit for bit.

#![deny(missing_docs)]

mod error;
pub mod dialect;
#[cfg(feature = "io")]
pub mod io;
pub mod tensor;

pub use error::{Error, Result};
pub use tensor::key::Nan;
pub use tensor::{Element, ElementType, Tensor, TensorDesc};
pub use wgpu;
