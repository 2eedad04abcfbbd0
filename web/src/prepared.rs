//! Prepared operators: planned and compiled once, and run any number of times on existing tensors.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::plan::Plan;
use wgmax::{DeviceTensor, Error, wgpu};

use crate::attributes::Operator;
use crate::device::Device;
use crate::error::{Result, js};
use crate::object::{SIZE, number};
use crate::tensor::Tensors;

/// An operator that is planned and compiled for tensors with certain layouts.
#[wasm_bindgen]
pub struct Prepared(On);

enum On {
    #[cfg(feature = "cpu")]
    Cpu(cpu::Prepared),
    Gpu {
        inner: Box<wgmax::Prepared>,
        device: wgpu::Device,
        queue: wgpu::Queue,
    },
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
        let (inputs, results) = (inputs.views(), Tensors(results.0.clone()));
        future_to_promise(async move {
            #[cfg(feature = "cpu")]
            if device.is_cpu() {
                let prepared = cpu::Prepared::new(device, operator, &inputs, &results.0);
                return Ok(Prepared(On::Cpu(prepared.map_err(js)?)).into());
            }
            let (own, queue) = device.wgpu().ok_or_else(|| js(Error::CannotRecord))?;
            let (own, queue, results) = (own.clone(), queue.clone(), results.views());
            let inner = device.prepare_into_async(operator, inputs, &results).await.map_err(js)?;
            Ok(Prepared(On::Gpu { inner: Box::new(inner), device: own, queue }).into())
        })
    }

    /// Submits so many runs, one after the other, and waits for none. On the CPU it returns the tensors
    /// that take the place of `results`.
    pub fn submit(&self, inputs: &Tensors, results: &Tensors, times: &JsValue) -> Result<JsValue> {
        let times: u32 = number("times", SIZE, times).map_err(js)?;
        match &self.0 {
            #[cfg(feature = "cpu")]
            On::Cpu(prepared) => prepared.run(inputs, results, times).map_err(js),
            On::Gpu { inner, device, queue } => {
                check(inner.plan(), inputs, results).map_err(js)?;
                let (inputs, results) = (inputs.buffers()?, results.buffers()?);
                let mut encoder = device.create_command_encoder(&Default::default());
                for _ in 0..times {
                    let record = inner.record(&mut encoder).inputs(inputs.iter().copied());
                    record.outputs(results.iter().copied()).finish().map_err(js)?;
                }
                queue.submit([encoder.finish()]);
                Ok(JsValue::UNDEFINED)
            }
        }
    }
}

/// Refuses tensors with other layouts than those that the operator was prepared for.
fn check(plan: &Plan, inputs: &Tensors, results: &Tensors) -> Result<(), Error> {
    let [inputs, results] = [inputs, results].map(|all| all.0.iter().map(DeviceTensor::view));
    plan.check_views(inputs, results)
}

/// On the CPU memory of results cannot be written from outside: a run gives new tensors.
#[cfg(feature = "cpu")]
mod cpu {
    use std::ops::Range;

    use wasm_bindgen::JsValue;
    use wgmax::operator::Operator;
    use wgmax::plan::Plan;
    use wgmax::{Device, DeviceTensor, Error, Result, View};

    use crate::object::array;
    use crate::tensor::{Tensor, Tensors};

    pub struct Prepared {
        operator: &'static str,
        device: Device,
        plan: Plan,
    }

    impl Prepared {
        pub fn new(
            device: Device,
            operator: Operator,
            inputs: &[View],
            results: &[DeviceTensor],
        ) -> Result<Self> {
            results.iter().try_for_each(whole)?;
            let inputs: Vec<&View> = inputs.iter().collect();
            let results: Vec<&View> = results.iter().map(DeviceTensor::view).collect();
            let name = operator.name();
            let plan = device.plan_views(operator, &inputs, &results)?;
            Ok(Self { operator: name, device, plan })
        }

        /// The results of the last run.
        pub fn run(&self, inputs: &Tensors, results: &Tensors, times: u32) -> Result<JsValue> {
            super::check(&self.plan, inputs, results)?;
            results.0.iter().try_for_each(whole)?;
            self.check_overlap(&inputs.0, &results.0)?;
            let mut made = Vec::new();
            for _ in 0..times {
                let inputs: Vec<_> = inputs.0.iter().collect();
                made = self.device.execute(&self.plan, inputs)?.into_vec();
            }
            Ok(array(made.into_iter().map(Tensor::from)))
        }

        /// Refuses a result in the memory of an input or of another result, as a GPU does.
        fn check_overlap(&self, inputs: &[DeviceTensor], results: &[DeviceTensor]) -> Result<()> {
            let count = inputs.len();
            let name = |i: usize| match i.checked_sub(count) {
                Some(result) => format!("result {result}"),
                None => format!("input {i}"),
            };
            let memory =
                |tensor: &DeviceTensor| tensor.host_memory().unwrap_or_default().as_ptr_range();
            let all: Vec<Range<*const u8>> = inputs.iter().chain(results).map(memory).collect();
            for (i, own) in all.iter().enumerate().skip(count) {
                let length = |memory: &Range<*const u8>| memory.end as u64 - memory.start as u64;
                let shares =
                    |other: &Range<*const u8>| own.start.max(other.start) < own.end.min(other.end);
                if let Some(other) = all[..i].iter().position(shares) {
                    return Err(Error::BufferOverlap {
                        operator: self.operator.to_string(),
                        result: name(i),
                        bytes: 0..length(own),
                        other: name(other),
                        other_bytes: 0..length(&all[other]),
                    });
                }
            }
            Ok(())
        }
    }

    /// Refuses a view of a part of some memory: the rest of the memory would not see the result.
    fn whole(result: &DeviceTensor) -> Result<()> {
        let (view, desc) = (result.view(), result.desc());
        let is_all = result.host_memory().is_none_or(|memory| memory.len() == desc.byte_len());
        if view.is_contiguous() && is_all {
            return Ok(());
        }
        Err(Error::BadView {
            shape: desc.shape().to_vec(),
            offset: view.offset(),
            pitches: view.pitches(),
            reason: "on the CPU a prepared result is a whole tensor",
        })
    }
}
