//! Guides: how to use the command, how to use the operators in a program, why their results are exact,
//! how to add a kernel, and how all of it is tested. These modules have no code.

#[doc = include_str!("guide/command.md")]
pub mod command {}

#[doc = include_str!("guide/embedding.md")]
pub mod embedding {}

#[doc = include_str!("guide/exactness.md")]
pub mod exactness {}

#[doc = include_str!("guide/adding_a_kernel.md")]
pub mod adding_a_kernel {}

#[doc = include_str!("guide/testing.md")]
pub mod testing {}
