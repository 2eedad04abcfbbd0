//! Information about a browser's adapters that wgpu does not pass on.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Whether this is a window or a dedicated worker. Elsewhere wgpu panics.
pub(super) fn has_navigator() -> bool {
    let global = js_sys::global();
    ["Window", "WorkerGlobalScope"].into_iter().any(|class| property(&global, class).is_some())
}

/// The name of the adapter that the browser returns for a power preference, if any.
pub(super) async fn adapter_name(power: wgpu::PowerPreference) -> Option<String> {
    let gpu = property(&property(&js_sys::global(), "navigator")?, "gpu")?;
    let options = Object::new();
    let power = match power {
        wgpu::PowerPreference::None => None,
        wgpu::PowerPreference::LowPower => Some("low-power"),
        wgpu::PowerPreference::HighPerformance => Some("high-performance"),
    };
    if let Some(power) = power {
        Reflect::set(&options, &"powerPreference".into(), &power.into()).ok()?;
    }
    let request: Function = property(&gpu, "requestAdapter")?.unchecked_into();
    let promise: Promise = request.call1(&gpu, &options).ok()?.unchecked_into();
    let adapter = JsFuture::from(promise).await.ok()?;
    Some(name(&property(&adapter, "info")?))
}

/// The name of the adapter of a device.
pub(super) fn device_name(device: &wgpu::Device) -> Option<String> {
    Some(name(&property(device.as_webgpu()?, "adapterInfo")?))
}

/// A name from a `GPUAdapterInfo`: vendor, architecture and description, as far as they are known.
/// Browsers omit what would identify users.
fn name(info: &JsValue) -> String {
    let parts = ["vendor", "architecture", "description"].map(|key| property(info, key));
    let known: Vec<String> =
        parts.into_iter().flatten().filter_map(|part| part.as_string()).collect();
    let known: Vec<&str> =
        known.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    match known.is_empty() {
        true => "WebGPU".to_string(),
        false => known.join(" "),
    }
}

/// A property of an object, unless it is undefined or null.
fn property(object: &JsValue, key: &str) -> Option<JsValue> {
    let value = Reflect::get(object, &key.into()).ok()?;
    (!value.is_undefined() && !value.is_null()).then_some(value)
}
