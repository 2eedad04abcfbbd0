//! What the results of [`wgmax`] are tested against: the operators by their definitions, random
//! cases of them, and code that compares devices on these.
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
#[cfg(not(target_family = "wasm"))]
mod engine;
mod finding;
mod heat;
pub mod html;
pub mod json;
mod judge;
mod memory;
pub mod oracle;
mod pattern;
mod replay;
mod report;
mod score;
mod subject;
mod sweep;
#[cfg(test)]
mod tests;
pub mod text;

pub use cases::{
    Case, Kind, PlanOverrides, Random, Style, ids_tensor, shrink, shrink_async, tensor,
};
#[cfg(not(target_family = "wasm"))]
pub use engine::sweep;
pub use finding::{DifferingLaunch, Finding, Side};
pub use judge::{Difference, Verdict, judge};
pub use memory::{Growth, Memory};
pub use pattern::Pattern;
pub use replay::{Changes, Recorded};
pub use report::{NO_ADAPTER, Report, quoted};
pub use score::{Cell, Outcome, Score};
pub use subject::{Compute, Computed, Reference, Subject, Subjects};
pub use sweep::{CASES, Choice, Sweep};
