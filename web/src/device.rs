//! Devices.

use js_sys::{Function, Promise, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::wgpu;
use wgmax::{DeviceOptions, Error};

use crate::attributes::Operator;
use crate::error::js;
use crate::host::{HostTensor, desc};
use crate::object::{array, begun, object};
use crate::tensor::{Tensor, Tensors, gpu_buffer};

/// A GPU, or the CPU.
#[wasm_bindgen]
pub struct Device {
    pub(crate) inner: wgmax::Device,
}

#[wasm_bindgen]
impl Device {
    /// The CPU.
    #[cfg(feature = "cpu")]
    pub fn cpu() -> Device {
        Self { inner: wgmax::Device::cpu() }
    }

    /// A promise of the browser's GPU. `power` is a `GPUPowerPreference` or empty.
    ///
    /// `navigator.gpu` is read before this returns. With `own` the adapter's device is the page's
    /// own, and keeps its limits.
    pub fn open(power: &str, timestamps: bool, own: bool) -> Promise {
        let power = match power {
            "low-power" => wgpu::PowerPreference::LowPower,
            "high-performance" => wgpu::PowerPreference::HighPerformance,
            _ => wgpu::PowerPreference::None,
        };
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        let instance = wgpu::Instance::new(descriptor);
        future_to_promise(async move {
            let opened = open(&instance, power, timestamps, own).await;
            opened.map(|inner| Device { inner }.into()).map_err(js)
        })
    }

    /// The description of the device: `name`, `backend`, `kind`, and its `limits`.
    #[wasm_bindgen(getter)]
    pub fn info(&self) -> JsValue {
        let info = self.inner.info();
        let limits = &info.limits;
        let wide = |limit: u64| JsValue::from(limit as f64);
        object([
            ("name", info.name.as_str().into()),
            ("backend", info.backend.name().into()),
            ("kind", info.kind.name().into()),
            ("tuning", self.inner.tuning().name().into()),
            (
                "limits",
                object([
                    ("workgroupSize", limits.workgroup_size.into()),
                    ("maxWorkgroupsPerDimension", limits.max_workgroups_per_dimension.into()),
                    ("maxBindingSize", wide(limits.max_binding_size)),
                    ("maxBufferSize", wide(limits.max_buffer_size)),
                    ("alignment", wide(limits.alignment)),
                    ("maxStorageBuffers", limits.max_storage_buffers.into()),
                ]),
            ),
        ])
    }

    /// The `GPUDevice`; `undefined` for the CPU.
    #[wasm_bindgen(getter)]
    pub fn gpu(&self) -> JsValue {
        #[cfg(feature = "gpu")]
        if let Some(device) = self.inner.wgpu().and_then(|(device, _)| device.as_webgpu()) {
            return AsRef::<JsValue>::as_ref(device).clone();
        }
        JsValue::UNDEFINED
    }

    /// The same device, which is freed independently.
    pub fn share(&self) -> Device {
        Self { inner: self.inner.clone() }
    }

    /// A promise of a tensor with these bytes, or with zeros. On a GPU `write` gets the `GPUBuffer`
    /// before this returns, and copies the bytes itself: they take no memory of the WebAssembly,
    /// which never shrinks.
    pub fn tensor(
        &self,
        element_type: &str,
        shape: &JsValue,
        bytes: Option<Uint8Array>,
        write: Function,
    ) -> Promise {
        let device = self.inner.clone();
        let host = bytes.clone().filter(|_| device.is_cpu());
        let host = host.map(|bytes| HostTensor::new(element_type, shape, &bytes)).transpose();
        let desc = desc(element_type, shape, bytes.as_ref());
        begun(async move {
            let mut thrown = None;
            let write = |buffer: &wgpu::Buffer| {
                thrown = write.call1(&JsValue::UNDEFINED, &gpu_buffer(buffer)).err();
            };
            let filled = device.filled_async(&desc?, host?.map(|host| host.0), write).await;
            let inner = filled.map_err(js)?;
            thrown.map_or_else(|| Ok(Tensor::from(inner).into()), Err)
        })
    }

    /// A promise of an operator's results. They stay on the device.
    pub fn run(&self, operator: &Operator, inputs: &Tensors) -> Promise {
        let (device, operator, inputs) = (self.inner.clone(), operator.0.clone(), inputs.0.clone());
        future_to_promise(async move {
            let inputs: Vec<_> = inputs.iter().collect();
            let results = device.run_async(operator, inputs).await.map_err(js)?;
            Ok(array(results.into_iter().map(Tensor::from)))
        })
    }

    /// A promise that all submitted work is done.
    pub fn wait(&self) -> Promise {
        let device = self.inner.clone();
        future_to_promise(async move {
            device.wait_async().await.map_err(js)?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// The codes of the errors that blocking functions return on this device; empty if there is none.
    #[cfg(feature = "cpu")]
    pub fn blocking(&self, data: &Tensor) -> JsValue {
        fn code<T>(result: wgmax::Result<T>) -> JsValue {
            match result {
                Ok(_) => JsValue::from(""),
                Err(error) => js_sys::Reflect::get(&js(error), &"code".into()).unwrap_or_default(),
            }
        }
        let op: wgmax::operator::Operator = wgmax::operator::ReduceMax::new().into();
        let host = wgmax::Tensor::from_slice([2], &[1u8, 2]);
        let device = &self.inner;
        array([
            code(wgmax::Device::gpu()),
            code(wgmax::Device::named("gpu")),
            code(data.inner.download()),
            code(device.run(op, [&data.inner])),
            code(device.wait()),
            code(host.and_then(|host| device.upload(&host))),
        ])
    }
}

async fn open(
    instance: &wgpu::Instance,
    power: wgpu::PowerPreference,
    timestamps: bool,
    own: bool,
) -> wgmax::Result<wgmax::Device> {
    let options = wgpu::RequestAdapterOptions { power_preference: power, ..Default::default() };
    let adapter = instance.request_adapter(&options).await.map_err(|_| Error::NoAdapter {
        wanted: "is available".to_string(),
        found: "none".to_string(),
    })?;
    let features = match timestamps {
        true => wgpu::Features::TIMESTAMP_QUERY,
        false => wgpu::Features::empty(),
    };
    if !own {
        return DeviceOptions::new().features(features).open_adapter_async(&adapter).await;
    }
    let (device, queue) =
        adapter.request_device(&wgpu::DeviceDescriptor::default()).await.map_err(|error| {
            Error::AdapterRefused { adapter: "of the page".to_string(), reason: error.to_string() }
        })?;
    wgmax::Device::from_wgpu(&device, &queue)
}
