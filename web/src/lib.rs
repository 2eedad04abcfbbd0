//! The WebAssembly below the npm package `wgmax`. `js/wgmax.js` is what its users see.

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
