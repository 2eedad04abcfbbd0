//! The WebAssembly of the npm package `wgmax`. Its users see `js/wgmax.js`.

#![cfg(target_family = "wasm")]
#![deny(missing_docs)]

mod attributes;
mod device;
mod error;
mod host;
mod object;
mod prepared;
mod tensor;
#[cfg(feature = "verify")]
mod verify;
