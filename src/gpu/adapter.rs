//! Finding adapters and opening devices.

use std::sync::Arc;

use super::{Gpu, tell_loss};
use crate::device::{DeviceInfo, DeviceOptions};
use crate::error::{Error, Result};

/// Honours wgpu's environment variables, `WGPU_BACKEND` among them.
fn instance() -> Option<wgpu::Instance> {
    // Without a backend, wgpu panics instead of finding nothing.
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return None;
    }
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    Some(wgpu::Instance::new(descriptor))
}

async fn found() -> Vec<wgpu::Adapter> {
    let Some(instance) = instance() else { return Vec::new() };
    let mut adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    adapters.retain(|adapter| {
        let compute = wgpu::DownlevelFlags::COMPUTE_SHADERS;
        adapter.get_downlevel_capabilities().flags.contains(compute)
            && adapter.limits().max_storage_buffers_per_shader_stage >= 2
    });
    // Real devices before software ones; the order of the drivers otherwise.
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

fn info(adapter: &wgpu::Adapter) -> DeviceInfo {
    DeviceInfo::new(&adapter.get_info(), &adapter.limits())
}

/// What there is, best first, without opening any.
pub(crate) async fn adapters() -> Vec<DeviceInfo> {
    found().await.iter().map(info).collect()
}

/// Opens every adapter.
pub(crate) async fn open_all() -> Vec<Result<Gpu>> {
    let mut opened = Vec::new();
    for adapter in found().await {
        opened.push(request(&adapter, &DeviceOptions::new()).await);
    }
    opened
}

/// Opens the adapter that [`find`] finds.
pub(crate) async fn open(wanted: Option<&str>, options: &DeviceOptions) -> Result<Gpu> {
    request(&find(wanted).await?, options).await
}

/// The best adapter, that of an index, or the first whose name has `wanted` in it.
pub(crate) async fn find(wanted: Option<&str>) -> Result<wgpu::Adapter> {
    let mut adapters = found().await;
    let index = match wanted {
        None => (!adapters.is_empty()).then_some(0),
        Some(wanted) => match wanted.parse::<usize>() {
            Ok(index) => (index < adapters.len()).then_some(index),
            Err(_) => adapters.iter().position(|adapter| {
                info(adapter).to_string().to_lowercase().contains(&wanted.to_lowercase())
            }),
        },
    };
    match index {
        Some(index) => Ok(adapters.swap_remove(index)),
        None => Err(Error::NoAdapter {
            wanted: wanted.map_or("is there".into(), |wanted| format!("answers to {wanted:?}")),
            found: match adapters.is_empty() {
                true => "none".into(),
                false => adapters.iter().map(|a| info(a).name).collect::<Vec<_>>().join(", "),
            },
        }),
    }
}

/// Opens a device with the adapter's own limits, and no optional feature that the options do not need.
pub(crate) async fn request(adapter: &wgpu::Adapter, options: &DeviceOptions) -> Result<Gpu> {
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("wgmax"),
        required_limits: adapter.limits(),
        required_features: wanted_features(adapter, options),
        ..Default::default()
    };
    let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| {
        Error::AdapterRefused { adapter: info(adapter).name, reason: error.to_string() }
    })?;
    let lost = Arc::default();
    tell_loss(&device, &lost);
    device.on_uncaptured_error(Arc::new(|error: wgpu::Error| {
        tracing::error!("uncaptured GPU error: {error}");
    }));
    let gpu = Gpu { lost, told: true, info: info(adapter), ..Gpu::from_wgpu(&device, &queue) };
    #[cfg(feature = "io")]
    if let Some(directory) = &options.pipeline_cache {
        let file = super::cache::PipelineFile::open(&device, directory);
        return Ok(Gpu { pipelines: super::pipeline::Pipelines::with_file(file), ..gpu });
    }
    Ok(gpu)
}

#[cfg(feature = "io")]
fn wanted_features(adapter: &wgpu::Adapter, options: &DeviceOptions) -> wgpu::Features {
    match options.pipeline_cache {
        Some(_) => adapter.features() & wgpu::Features::PIPELINE_CACHE,
        None => wgpu::Features::empty(),
    }
}

#[cfg(not(feature = "io"))]
fn wanted_features(_: &wgpu::Adapter, _: &DeviceOptions) -> wgpu::Features {
    wgpu::Features::empty()
}
