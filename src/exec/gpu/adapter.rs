//! Finding adapters and opening devices.

use std::path::Path;
use std::sync::Arc;

#[cfg(all(target_family = "wasm", feature = "webgpu"))]
use super::browser;
use super::{DeviceInfo, Gpu, set_loss_callback};
use crate::base::error::{Error, Result};

/// What is requested of an adapter.
#[derive(Clone, Copy, Default)]
pub(crate) struct Request<'a> {
    /// The directory of the pipeline cache.
    pub cache: Option<&'a Path>,
    /// Optional features. Those that the adapter has are requested.
    pub features: wgpu::Features,
    /// Which adapter is the best.
    pub power: wgpu::PowerPreference,
}

/// An adapter and its description.
pub(crate) struct Found {
    pub adapter: wgpu::Adapter,
    pub info: DeviceInfo,
}

/// A wgpu instance, configured by wgpu's environment variables such as `WGPU_BACKEND`.
fn instance() -> Option<wgpu::Instance> {
    // Without a backend, wgpu panics instead of finding nothing.
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return None;
    }
    #[cfg(all(target_family = "wasm", feature = "webgpu"))]
    if !browser::has_navigator() {
        return None;
    }
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    Some(wgpu::Instance::new(descriptor))
}

/// The available adapters.
async fn enumerate(instance: &wgpu::Instance, power: wgpu::PowerPreference) -> Vec<wgpu::Adapter> {
    // A browser has one for each preference, and no list of them.
    if cfg!(target_family = "wasm") {
        let options = wgpu::RequestAdapterOptions { power_preference: power, ..Default::default() };
        return instance.request_adapter(&options).await.into_iter().collect();
    }
    instance.enumerate_adapters(wgpu::Backends::all()).await
}

/// All adapters that can run the kernels, best first.
async fn find_all(power: wgpu::PowerPreference) -> Vec<Found> {
    let Some(instance) = instance() else { return Vec::new() };
    let mut adapters = enumerate(&instance, power).await;
    adapters.retain(|adapter| {
        let compute = wgpu::DownlevelFlags::COMPUTE_SHADERS;
        adapter.get_downlevel_capabilities().flags.contains(compute)
            && adapter.limits().max_storage_buffers_per_shader_stage >= 2
    });
    // The sort is stable: within a kind, the drivers' order remains.
    let low_power = power == wgpu::PowerPreference::LowPower;
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => u8::from(low_power),
        wgpu::DeviceType::IntegratedGpu => u8::from(!low_power),
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    let mut found = Vec::new();
    for adapter in adapters {
        let info = info(&adapter);
        #[cfg(all(target_family = "wasm", feature = "webgpu"))]
        let info = info.named(browser::adapter_name(power).await);
        found.push(Found { adapter, info });
    }
    found
}

fn info(adapter: &wgpu::Adapter) -> DeviceInfo {
    DeviceInfo::new(&adapter.get_info(), &adapter.limits())
}

/// All adapters, best first, without opening any.
pub(crate) async fn adapters() -> Vec<DeviceInfo> {
    find_all(Default::default()).await.into_iter().map(|found| found.info).collect()
}

/// Opens every adapter.
pub(crate) async fn open_all() -> Vec<Result<Gpu>> {
    let mut opened = Vec::new();
    for found in find_all(Default::default()).await {
        opened.push(request(&found.adapter, Request::default()).await);
    }
    opened
}

/// Opens the adapter that [`find`] finds.
pub(crate) async fn open(name: &str, wanted: Request<'_>) -> Result<Gpu> {
    request(&find(name, wanted.power).await?, wanted).await
}

/// Finds an adapter: the best one for `gpu`, the best one that no driver emulates for `hardware`,
/// otherwise by index, or the first whose description contains `name`. Case makes no difference.
pub(crate) async fn find(name: &str, power: wgpu::PowerPreference) -> Result<wgpu::Adapter> {
    let mut adapters = find_all(power).await;
    let lower = name.trim().to_lowercase();
    let index = match (&*lower, lower.parse::<usize>()) {
        // Every description contains the empty string.
        ("", _) => None,
        // Software adapters come last.
        ("gpu", _) => Some(0),
        ("hardware", _) => adapters.iter().position(|found| found.info.is_hardware()),
        (_, Ok(index)) => Some(index),
        _ => {
            adapters.iter().position(|found| found.info.to_string().to_lowercase().contains(&lower))
        }
    };
    match index.filter(|&index| index < adapters.len()) {
        Some(index) => Ok(adapters.swap_remove(index).adapter),
        None => Err(Error::NoAdapter {
            wanted: match &*lower {
                "" => "has a blank name".into(),
                "gpu" => "is available".into(),
                "hardware" => "is hardware".into(),
                _ => format!("matches {name:?}"),
            },
            found: found(&adapters, !matches!(&*lower, "gpu" | "hardware")),
        }),
    }
}

/// The possible names: the index, backend and name of each adapter, and the CPU.
fn found(adapters: &[Found], cpu: bool) -> String {
    let mut found: Vec<String> = (adapters.iter().enumerate())
        .map(|(index, Found { info, .. })| format!("{index} {} {}", info.backend, info.name))
        .collect();
    found.extend((cpu && cfg!(feature = "cpu")).then(|| "cpu".to_string()));
    match found.is_empty() {
        true => "none".to_string(),
        false => found.join("; "),
    }
}

/// Opens a device with the adapter's own limits. It requests the wanted features that the adapter
/// has, and the pipeline cache if there is a directory for it.
pub(crate) async fn request(adapter: &wgpu::Adapter, wanted: Request<'_>) -> Result<Gpu> {
    let cache = wanted.cache.map_or(wgpu::Features::empty(), |_| wgpu::Features::PIPELINE_CACHE);
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("wgmax"),
        required_limits: adapter.limits(),
        required_features: adapter.features() & (wanted.features | cache),
        ..Default::default()
    };
    let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| {
        Error::AdapterRefused { adapter: info(adapter).name, reason: error.to_string() }
    })?;
    device.on_uncaptured_error(Arc::new(|error: wgpu::Error| {
        tracing::error!("uncaptured GPU error: {error}");
    }));
    let gpu = Gpu::from_wgpu(&device, &queue, wanted.cache);
    set_loss_callback(&device, &gpu.lost);
    // A device has the limits that were requested. Its adapter has more information about itself.
    let info = DeviceInfo { name: gpu.info.name.clone(), ..info(adapter) };
    Ok(Gpu { info, ..gpu })
}
