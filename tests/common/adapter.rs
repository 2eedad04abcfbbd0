//! The adapter to test on.

use wgmax::Device;

/// The GPU to test on. Without one the test fails, unless `WGMAX_NO_GPU=1` is set.
pub fn gpu() -> Option<Device> {
    match Device::gpu() {
        Ok(device) => {
            println!("on {}", device.info());
            Some(device)
        }
        Err(error) if std::env::var("WGMAX_NO_GPU").is_ok_and(|v| v == "1") => {
            println!("no GPU, as WGMAX_NO_GPU asks: {error}");
            None
        }
        Err(error) => panic!("{error} (set WGMAX_NO_GPU=1 to test without one)"),
    }
}
