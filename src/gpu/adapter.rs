//! Finding adapters and opening devices.

use std::path::Path;
use std::sync::Arc;

use super::{DeviceInfo, Gpu, set_loss_callback};
use crate::error::{Error, Result};

/// A wgpu instance, configured by wgpu's environment variables such as `WGPU_BACKEND`.
fn instance() -> Option<wgpu::Instance> {
    // Without a backend, wgpu panics instead of finding nothing.
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return None;
    }
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    Some(wgpu::Instance::new(descriptor))
}

/// All adapters that can run the kernels, best first.
async fn find_all() -> Vec<wgpu::Adapter> {
    let Some(instance) = instance() else { return Vec::new() };
    let mut adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    adapters.retain(|adapter| {
        let compute = wgpu::DownlevelFlags::COMPUTE_SHADERS;
        adapter.get_downlevel_capabilities().flags.contains(compute)
            && adapter.limits().max_storage_buffers_per_shader_stage >= 2
    });
    // The sort is stable: within a kind, the drivers' order stays.
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

/// All adapters, best first, without opening any.
pub(crate) async fn adapters() -> Vec<DeviceInfo> {
    find_all().await.iter().map(info).collect()
}

/// Opens every adapter.
pub(crate) async fn open_all() -> Vec<Result<Gpu>> {
    let mut opened = Vec::new();
    for adapter in find_all().await {
        opened.push(request(&adapter, None).await);
    }
    opened
}

/// Opens the adapter that [`find`] finds.
pub(crate) async fn open(name: &str, cache: Option<&Path>) -> Result<Gpu> {
    request(&find(name).await?, cache).await
}

/// Finds an adapter: the best one for `gpu`, the best one that no driver emulates for `hardware`,
/// otherwise by index, or the first whose description contains `name`. Case makes no difference.
pub(crate) async fn find(name: &str) -> Result<wgpu::Adapter> {
    let mut adapters = find_all().await;
    let lower = name.trim().to_lowercase();
    let index = match (&*lower, lower.parse::<usize>()) {
        // Every description contains it.
        ("", _) => None,
        // Software adapters come last.
        ("gpu", _) => Some(0),
        ("hardware", _) => adapters.iter().position(|adapter| info(adapter).is_hardware()),
        (_, Ok(index)) => Some(index),
        _ => adapters
            .iter()
            .position(|adapter| info(adapter).to_string().to_lowercase().contains(&lower)),
    };
    match index.filter(|&index| index < adapters.len()) {
        Some(index) => Ok(adapters.swap_remove(index)),
        None => Err(Error::NoAdapter {
            wanted: match &*lower {
                "gpu" => "is available".into(),
                "hardware" => "is hardware".into(),
                _ => format!("matches {name:?}"),
            },
            found: found(&adapters, !matches!(&*lower, "gpu" | "hardware")),
        }),
    }
}

/// What could be named: the index, backend and name of each adapter, and the CPU.
fn found(adapters: &[wgpu::Adapter], cpu: bool) -> String {
    let mut found: Vec<String> = (adapters.iter().map(info).enumerate())
        .map(|(index, info)| format!("{index} {} {}", info.backend, info.name))
        .collect();
    found.extend((cpu && cfg!(feature = "cpu")).then(|| "cpu".to_string()));
    match found.is_empty() {
        true => "none".to_string(),
        false => found.join("; "),
    }
}

/// Opens a device with the adapter's own limits. The only optional feature it requests is the
/// pipeline cache, if `cache` names a directory for it.
pub(crate) async fn request(adapter: &wgpu::Adapter, cache: Option<&Path>) -> Result<Gpu> {
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("wgmax"),
        required_limits: adapter.limits(),
        required_features: match cache {
            Some(_) => adapter.features() & wgpu::Features::PIPELINE_CACHE,
            None => wgpu::Features::empty(),
        },
        ..Default::default()
    };
    let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| {
        Error::AdapterRefused { adapter: info(adapter).name, reason: error.to_string() }
    })?;
    let lost = Arc::default();
    set_loss_callback(&device, &lost);
    device.on_uncaptured_error(Arc::new(|error: wgpu::Error| {
        tracing::error!("uncaptured GPU error: {error}");
    }));
    let gpu = Gpu {
        lost,
        has_loss_callback: true,
        info: info(adapter),
        ..Gpu::from_wgpu(&device, &queue, cache)
    };
    Ok(gpu)
}
