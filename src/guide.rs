//! Guides: how to put the operators into a program, why their results are exact, and
//! how a kernel is added. They hold no code.

#[doc = include_str!("guide/embedding.md")]
pub mod embedding {}

#[doc = include_str!("guide/exactness.md")]
pub mod exactness {}

#[doc = include_str!("guide/adding_a_kernel.md")]
pub mod adding_a_kernel {}
