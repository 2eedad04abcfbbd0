//! Prepared operators: compiled once, and run any number of times on tensors that are there.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::{BufferRange, DeviceTensor, Error, View, wgpu};

use crate::attributes::Operator;
use crate::device::Device;
use crate::error::{Result, js};
use crate::object::{SIZE, number};
use crate::tensor::Tensor;

/// An operator that is planned and compiled for tensors that lie as some do.
#[wasm_bindgen]
pub struct Prepared {
    inner: wgmax::Prepared,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// The tensors of a run, inputs or results.
#[wasm_bindgen]
#[derive(Default)]
pub struct Tensors(pub(crate) Vec<DeviceTensor>);

#[wasm_bindgen]
impl Tensors {
    /// None yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Tensors {
        Self::default()
    }

    /// Adds one.
    pub fn add(&mut self, tensor: &Tensor) {
        self.0.push(tensor.inner.clone());
    }
}

impl Tensors {
    fn ranges(&self) -> Result<Vec<BufferRange<'_>>> {
        let buffers = self.0.iter().map(|tensor| tensor.buffer().map(BufferRange::from));
        buffers.collect::<Option<_>>().ok_or_else(|| js(Error::CannotRecord))
    }

    fn views(&self) -> Vec<&View> {
        self.0.iter().map(DeviceTensor::view).collect()
    }
}

#[wasm_bindgen]
impl Prepared {
    /// A promise of an operator that is prepared for inputs and results that lie as these.
    pub fn prepare(
        device: &Device,
        operator: &Operator,
        inputs: &Tensors,
        results: &Tensors,
    ) -> Promise {
        let (device, operator) = (device.inner.clone(), operator.0.clone());
        let (inputs, results) = (Tensors(inputs.0.clone()), Tensors(results.0.clone()));
        future_to_promise(async move {
            let (own, queue) = device.wgpu().ok_or_else(|| js(Error::CannotRecord))?;
            let (own, queue) = (own.clone(), queue.clone());
            let (inputs, results) = (inputs.views(), results.views());
            let inner =
                device.prepare_views_async(operator, &inputs, &results).await.map_err(js)?;
            Ok(Prepared { inner, device: own, queue }.into())
        })
    }

    /// Submits so many runs, one after the other, and waits for none.
    pub fn submit(&self, inputs: &Tensors, results: &Tensors, times: &JsValue) -> Result<()> {
        let times: u32 = number("times", SIZE, times).map_err(js)?;
        let (inputs, results) = (inputs.ranges()?, results.ranges()?);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for _ in 0..times {
            self.inner.record(&mut encoder, &inputs, &results).map_err(js)?;
        }
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}
