//! Description of a device.

use std::fmt;

use crate::base::threads;
use crate::plan::Limits;
use crate::tuning::Tuning;

/// The name, backend, driver, kind and limits of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The adapter's name. In a browser: its vendor, architecture and description, as far as known, or
    /// `WebGPU`.
    pub name: String,
    /// The API that is used, or the CPU.
    pub backend: DeviceBackend,
    /// The driver and its version, as far as known; empty for the CPU.
    pub driver: String,
    /// The kind of device.
    pub kind: DeviceKind,
    /// The limits that planning respects.
    pub limits: Limits,
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares memory with the CPU.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// A GPU that a driver emulates on the CPU.
    Software,
    /// Not known.
    Other,
    /// The CPU.
    Host,
}

impl DeviceKind {
    /// The name: `discrete`, `integrated`, `virtual`, `software`, `other` or `host`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
            Self::Other => "other",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The API through which a device is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum DeviceBackend {
    /// Vulkan.
    Vulkan,
    /// Metal.
    Metal,
    /// Direct3D 12.
    Dx12,
    /// OpenGL, OpenGL ES or WebGL.
    Gl,
    /// WebGPU, in a browser.
    WebGpu,
    /// The CPU's own kernels.
    Cpu,
    /// wgpu's no-op backend, which computes nothing.
    Noop,
}

impl DeviceBackend {
    /// The name: `vulkan`, `metal`, `dx12`, `gl`, `webgpu`, `cpu` or `noop`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Dx12 => "dx12",
            Self::Gl => "gl",
            Self::WebGpu => "webgpu",
            Self::Cpu => "cpu",
            Self::Noop => "noop",
        }
    }
}

impl From<wgpu::Backend> for DeviceBackend {
    fn from(backend: wgpu::Backend) -> Self {
        match backend {
            wgpu::Backend::Vulkan => Self::Vulkan,
            wgpu::Backend::Metal => Self::Metal,
            wgpu::Backend::Dx12 => Self::Dx12,
            wgpu::Backend::Gl => Self::Gl,
            wgpu::Backend::BrowserWebGpu => Self::WebGpu,
            wgpu::Backend::Noop => Self::Noop,
        }
    }
}

impl fmt::Display for DeviceBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl DeviceInfo {
    /// From wgpu's description of an adapter, and the limits of the adapter or of a device.
    pub(super) fn new(info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> Self {
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
            wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
            wgpu::DeviceType::Cpu => DeviceKind::Software,
            wgpu::DeviceType::Other => DeviceKind::Other,
        };
        Self {
            name: info.name.clone(),
            backend: info.backend.into(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
            kind,
            limits: Limits::from_wgpu(limits),
        }
    }

    /// The same with another name, if one is known.
    #[cfg(all(target_family = "wasm", feature = "webgpu"))]
    pub(super) fn named(self, name: Option<String>) -> Self {
        Self { name: name.unwrap_or_else(|| "WebGPU".to_string()), ..self }
    }

    /// Whether this is a GPU that no driver emulates on the CPU, as far as is known.
    pub(super) fn is_hardware(&self) -> bool {
        !matches!(self.kind, DeviceKind::Software | DeviceKind::Host)
    }

    /// The tuning that a [`Device`](crate::Device) of this description has by default.
    pub fn tuning(&self) -> Tuning {
        match self.kind {
            DeviceKind::Host => Tuning::cpu(threads::count()),
            DeviceKind::Software => Tuning::software(),
            _ => Tuning::hardware(),
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
