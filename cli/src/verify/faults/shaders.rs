//! Faults in the texts of shaders: mistakes that drivers, compilers and authors have made.
//!
//! Each is one small edit of a kernel's whole text. A driver that makes the mistake computes what
//! the edited text says; so cases that find the edit find such a driver.

mod common;
mod gradient;
mod pool;
mod reduce;
mod segment;

use super::{Mistake, ShaderFault};

/// Where Mesa's llvmpipe leaves a loop silently.
const LLVMPIPE_LOOPS: Option<&str> = Some(
    "https://github.com/bminor/mesa-mesa/blob/02903e150ef94f2042a423184a3362142c321165/src/gallium/\
     auxiliary/gallivm/lp_bld_limits.h",
);

/// All faults.
pub fn all() -> impl Iterator<Item = &'static ShaderFault> {
    [common::FAULTS, reduce::FAULTS, pool::FAULTS, segment::FAULTS, gradient::FAULTS]
        .into_iter()
        .flatten()
}
