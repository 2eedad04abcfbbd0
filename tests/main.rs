//! The library's integration tests, in one binary: it links once. A test's name begins with its file:
//! `cargo test --release --test all gpu::` runs those of one file.

mod chain;
mod common;
mod devices;
mod documents;
mod embed;
mod extensions;
mod golden;
mod gpu;
mod gradients;
mod io_files;
mod io_onnx;
mod large;
mod layers;
mod limits;
mod lost;
mod pipeline_cache;
mod prepare;
mod pyramids;
mod reuse;
mod scatter;
mod seeds;
mod shaders;
mod steady;
mod stream;
mod threads;
mod views;
