//! What the results of [`wgmax`] are tested against: the operators from their definitions, and random
//! cases of them.
//!
//! ```
//! use wgmax::{Device, compare};
//! use wgmax_verify::Case;
//!
//! let device = Device::auto()?;
//! for index in 0..50 {
//!     let case = Case::nth(7, index)?;
//!     let found = case.run(&device)?;
//!     for (found, expected) in found.iter().zip(&case.expected()?) {
//!         assert!(compare(found, expected)?.is_equal(), "case {index} of seed 7: {case}");
//!     }
//! }
//! # Ok::<(), wgmax::Error>(())
//! ```

#![deny(missing_docs)]

mod cases;
pub mod oracle;

pub use cases::{Case, Kind, Narrow, Random, Style, ids_tensor, shrink, shrink_async, tensor};
