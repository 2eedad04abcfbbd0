//! Guides: how to use the command, how to put the operators into a program, why their results
//! are exact, how a kernel is added, and how all of it is tested. They hold no code.

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
