//! Prepared operators: compiled once, and run any number of times on existing tensors.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::{Error, wgpu};

use crate::attributes::Operator;
use crate::device::Device;
use crate::error::{Result, js};
use crate::object::{SIZE, number};
use crate::tensor::Tensors;

/// An operator that is planned and compiled for tensors with certain layouts.
#[wasm_bindgen]
pub struct Prepared {
    inner: wgmax::Prepared,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

#[wasm_bindgen]
impl Prepared {
    /// A promise of an operator that is prepared for inputs and results with the layouts of these.
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
            let inner = device.prepare_into_async(operator, inputs, &results).await.map_err(js)?;
            Ok(Prepared { inner, device: own, queue }.into())
        })
    }

    /// Submits so many runs, one after the other, and waits for none.
    pub fn submit(&self, inputs: &Tensors, results: &Tensors, times: &JsValue) -> Result<()> {
        let times: u32 = number("times", SIZE, times).map_err(js)?;
        let (inputs, results) = (inputs.buffers()?, results.buffers()?);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for _ in 0..times {
            let record = self.inner.record(&mut encoder);
            let record = record.inputs(inputs.iter().copied()).outputs(results.iter().copied());
            record.finish().map_err(js)?;
        }
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}
