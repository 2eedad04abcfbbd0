//! Files of reports. The library writes them, as it writes tensors.

pub use wgmax::io::WholeFile;
