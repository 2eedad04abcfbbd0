//! Tensors on a device.

use js_sys::{Promise, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::{DeviceTensor, TensorDesc, View};

use crate::error::{Result, js};
use crate::host::{numbers, sizes};

/// A tensor on a device, or a view of one.
#[wasm_bindgen]
pub struct Tensor {
    pub(crate) inner: DeviceTensor,
}

impl From<DeviceTensor> for Tensor {
    fn from(inner: DeviceTensor) -> Self {
        Self { inner }
    }
}

#[wasm_bindgen]
impl Tensor {
    /// The element type's name.
    #[wasm_bindgen(getter, js_name = type)]
    pub fn element_type(&self) -> String {
        self.inner.desc().element_type().name().to_string()
    }

    /// The shape.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Vec<u32> {
        numbers(self.inner.desc().shape())
    }

    /// The offset of the first element in the memory, in elements.
    #[wasm_bindgen(getter)]
    pub fn offset(&self) -> usize {
        self.inner.view().offset()
    }

    /// The distance from one element of each axis to the next, in elements.
    #[wasm_bindgen(getter)]
    pub fn pitches(&self) -> Vec<i32> {
        self.inner.view().pitches().into_iter().map(|pitch| pitch as i32).collect()
    }

    /// The `GPUBuffer` that holds the elements; `undefined` on the CPU.
    #[wasm_bindgen(getter)]
    pub fn buffer(&self) -> JsValue {
        let buffer = self.inner.buffer().and_then(|buffer| buffer.as_webgpu());
        buffer.map_or(JsValue::UNDEFINED, |buffer| AsRef::<JsValue>::as_ref(buffer).clone())
    }

    /// Frees the memory now, also that of the tensors that share it, and not when JavaScript gets
    /// to it.
    pub fn destroy(&self) {
        if let Some(buffer) = self.inner.buffer() {
            buffer.destroy();
        }
    }

    /// A promise of the elements' bytes, one after the other.
    pub fn bytes(&self) -> Promise {
        let tensor = self.inner.clone();
        future_to_promise(async move {
            let found = tensor.download_async().await.map_err(js)?;
            Ok(Uint8Array::from(found.bytes()).into())
        })
    }

    /// A view of the memory: elements of the same type that lie at `offset` by `pitches`.
    pub fn view(&self, shape: Vec<u32>, offset: usize, pitches: Vec<i32>) -> Result<Tensor> {
        self.viewed(|view| {
            let desc = TensorDesc::new(view.desc().element_type(), sizes(&shape))?;
            let pitches: Vec<isize> = pitches.iter().map(|&pitch| pitch as isize).collect();
            View::new(desc, offset, pitches)
        })
    }

    /// The same elements in another shape, if they lie one after the other.
    pub fn reshape(&self, shape: Vec<u32>) -> Result<Tensor> {
        self.viewed(|view| {
            let desc = TensorDesc::new(view.desc().element_type(), sizes(&shape))?;
            if !view.is_contiguous() || desc.len() != view.desc().len() {
                return Err(wgmax::Error::BadView {
                    shape: desc.shape().to_vec(),
                    offset: view.offset(),
                    pitches: view.pitches(),
                    reason: "only as many elements, one after the other, take another shape",
                });
            }
            Ok(View::from(&desc))
        })
    }

    /// A part of an axis: from `start` up to, but not including, `end`.
    pub fn slice(&self, axis: usize, start: usize, end: usize) -> Result<Tensor> {
        self.viewed(|view| view.slice(axis, start..end))
    }

    /// Every `step`-th element of an axis; from the last one on if it is negative.
    #[wasm_bindgen(js_name = stepBy)]
    pub fn step_by(&self, axis: usize, step: i32) -> Result<Tensor> {
        self.viewed(|view| view.step_by(axis, step as isize))
    }

    /// The axes in another order.
    pub fn permute(&self, axes: Vec<u32>) -> Result<Tensor> {
        self.viewed(|view| view.permute(&sizes(&axes)))
    }

    /// An axis of size 1, repeated.
    pub fn broadcast(&self, axis: usize, size: usize) -> Result<Tensor> {
        self.viewed(|view| view.broadcast(axis, size))
    }

    fn viewed(&self, view: impl FnOnce(&View) -> wgmax::Result<View>) -> Result<Tensor> {
        let made = view(self.inner.view()).and_then(|view| self.inner.with_view(view));
        made.map(Self::from).map_err(js)
    }
}
