//! Does nothing: see Cargo.toml.

fn main() {}
