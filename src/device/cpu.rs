//! The CPU as a device.

use std::sync::Arc;

use super::{Backend, Device, DeviceBackend, DeviceInfo, DeviceKind};
use crate::base::threads;
use crate::plan::Limits;

impl Device {
    /// The CPU, with all cores.
    ///
    /// The device keeps scratch and dropped results for later runs, because new memory costs as much
    /// time as the work on it: up to 64 MiB, or as much as one of the last 256 runs needed. They are
    /// freed with the last clone of the device.
    pub fn cpu() -> Self {
        let threads = threads::count();
        let info = DeviceInfo {
            name: format!("CPU, {threads} thread{}", if threads == 1 { "" } else { "s" }),
            backend: DeviceBackend::Cpu,
            driver: String::new(),
            kind: DeviceKind::Host,
            limits: Limits::cpu(),
        };
        Self {
            tuning: Arc::new(info.tuning()),
            info: Arc::new(info),
            backend: Backend::Cpu(Arc::default()),
        }
    }
}
