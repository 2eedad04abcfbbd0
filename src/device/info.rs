//! What a device is.

use std::fmt;

use crate::plan::Limits;

/// What a device is.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// The adapter's name.
    pub name: String,
    /// The backend: `vulkan`, `metal`, `dx12`, `gl`, `webgpu`, or `cpu`.
    pub backend: String,
    /// The driver and its version, as far as they are known.
    pub driver: String,
    /// `discrete`, `integrated`, `virtual`, `software`, `other` or `host`.
    pub kind: String,
    /// The limits that planning respects.
    pub limits: Limits,
}

impl DeviceInfo {
    pub(crate) fn new(info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> Self {
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "other",
        };
        Self {
            name: info.name.clone(),
            backend: info.backend.to_str().to_string(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
            kind: kind.to_string(),
            limits: match info.device_type {
                wgpu::DeviceType::Cpu => Limits::from_wgpu(limits).software(),
                _ => Limits::from_wgpu(limits),
            },
        }
    }

    pub(super) fn cpu() -> Self {
        let threads = rayon::current_num_threads();
        Self {
            name: format!("CPU, {threads} threads"),
            backend: "cpu".into(),
            driver: String::new(),
            kind: "host".into(),
            limits: Limits::cpu(threads),
        }
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {}", self.name, self.backend)?;
        if !self.driver.is_empty() {
            write!(f, " · {}", self.driver)?;
        }
        Ok(())
    }
}
