//! Tensors on a device.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::{DeviceTensor, Error, TensorDesc, View, wgpu};

use crate::error::{Result, js};
use crate::host::{numbers, sizes};
use crate::object::{INTEGER, LIST, SIZE, bad, integers, number};

#[wasm_bindgen]
extern "C" {
    /// A function that gets the bytes of some memory, and the offset of the first element in it.
    pub type Reader;
    #[wasm_bindgen(method, catch, js_name = call)]
    fn read(this: &Reader, receiver: &JsValue, memory: &[u8], offset: f64) -> Result<()>;
    #[wasm_bindgen(method, catch, js_name = call)]
    fn read_array(this: &Reader, receiver: &JsValue, memory: &JsValue, offset: f64) -> Result<()>;
}

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

    /// The distance from one element to the next along each axis, in elements.
    #[wasm_bindgen(getter)]
    pub fn pitches(&self) -> Vec<i32> {
        self.inner.view().pitches().into_iter().map(|pitch| pitch as i32).collect()
    }

    /// The `GPUBuffer` that holds the elements; `undefined` on the CPU.
    #[wasm_bindgen(getter)]
    pub fn buffer(&self) -> JsValue {
        self.inner.buffer().map_or(JsValue::UNDEFINED, gpu_buffer)
    }

    /// Frees the memory now, instead of when JavaScript collects garbage; also that of tensors that
    /// share it.
    pub fn destroy(&self) {
        if let Some(buffer) = self.inner.buffer() {
            buffer.destroy();
        }
    }

    /// A promise that `reader` was called with the bytes of the memory, without a copy, and with the
    /// offset of the first element in it.
    pub fn read(&self, reader: Reader) -> Promise {
        let tensor = self.inner.clone();
        future_to_promise(async move {
            let (mut read, none) = (Ok(()), JsValue::NULL);
            match tensor.host_memory() {
                Some(memory) => read = reader.read(&none, memory, tensor.view().offset() as f64),
                // Without the GPU all tensors are in host memory.
                #[cfg(not(feature = "gpu"))]
                None => {}
                #[cfg(feature = "gpu")]
                None => {
                    let mapped = |memory: &wgpu::BufferView, view: &View| {
                        let memory = memory.as_uint8array();
                        read = reader.read_array(&none, memory, view.offset() as f64);
                    };
                    tensor.mapped_async(mapped).await.map_err(js)?;
                }
            }
            read.map(|()| JsValue::UNDEFINED)
        })
    }

    /// A view of the memory: elements of the same type at `offset` and by `pitches`.
    pub fn view(&self, shape: &JsValue, offset: &JsValue, pitches: &JsValue) -> Result<Tensor> {
        let shape = sizes(shape)?;
        let made = || {
            let desc = TensorDesc::new(self.inner.desc().element_type(), shape)?;
            let list = integers(pitches)
                .and_then(|list| list.into_iter().map(|pitch| pitch.try_into().ok()).collect());
            let list: Vec<isize> = list.ok_or_else(|| bad("pitches", PITCHES, pitches))?;
            View::new(desc, number("offset", SIZE, offset)?, list)
        };
        self.viewed(made())
    }

    /// The same elements in another shape, if they are contiguous.
    pub fn reshape(&self, shape: &JsValue) -> Result<Tensor> {
        let (shape, view) = (sizes(shape)?, self.inner.view());
        let made = || {
            let desc = TensorDesc::new(view.desc().element_type(), shape)?;
            if !view.is_contiguous() || desc.len() != view.desc().len() {
                return Err(Error::BadView {
                    shape: desc.shape().to_vec(),
                    offset: view.offset(),
                    pitches: view.pitches(),
                    reason: "a tensor takes another shape of as many elements, if it is contiguous",
                });
            }
            Ok(View::from(&desc))
        };
        self.viewed(made())
    }

    /// A part of an axis: from `start` up to, but not including, `end`, or the end of the axis.
    pub fn slice(&self, axis: &JsValue, start: &JsValue, end: &JsValue) -> Result<Tensor> {
        let made = || {
            let axis = self.axis(axis, 0)?;
            let end = match end.is_undefined() {
                true => self.inner.desc().shape()[axis],
                false => number("end", SIZE, end)?,
            };
            self.inner.view().slice(axis, number("start", SIZE, start)?..end)
        };
        self.viewed(made())
    }

    /// Every `step`-th element of an axis; from the last one on if it is negative.
    #[wasm_bindgen(js_name = stepBy)]
    pub fn step_by(&self, axis: &JsValue, step: &JsValue) -> Result<Tensor> {
        let made = || self.inner.view().step_by(self.axis(axis, 0)?, number("step", PITCH, step)?);
        self.viewed(made())
    }

    /// The axes in another order.
    pub fn permute(&self, axes: &JsValue) -> Result<Tensor> {
        let made = || {
            let list = integers(axes).ok_or_else(|| bad("axes", LIST, axes))?;
            let rank = self.inner.desc().rank();
            let list: Result<Vec<usize>, Error> =
                list.into_iter().map(|axis| in_range(axis, rank)).collect();
            self.inner.view().permute(&list?)
        };
        self.viewed(made())
    }

    /// A new axis before `axis`, along which the elements are repeated.
    pub fn broadcast(&self, axis: &JsValue, size: &JsValue) -> Result<Tensor> {
        let made = || self.inner.view().broadcast(self.axis(axis, 1)?, number("size", SIZE, size)?);
        self.viewed(made())
    }

    fn viewed(&self, view: wgmax::Result<View>) -> Result<Tensor> {
        let made = view.and_then(|view| self.inner.with_view(view));
        made.map(Self::from).map_err(js)
    }

    /// The axis of an argument, among the tensor's axes and `more` further ones.
    fn axis(&self, axis: &JsValue, more: usize) -> Result<usize, Error> {
        in_range(number("axis", INTEGER, axis)?, self.inner.desc().rank() + more)
    }
}

const PITCH: &str = "an integer of 32 bits";
const PITCHES: &str = "a list of integers of 32 bits";

/// An axis; a negative one counts from the back.
fn in_range(axis: i64, rank: usize) -> Result<usize, Error> {
    let from_front = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    let found = usize::try_from(from_front).ok().filter(|&found| found < rank);
    found.ok_or(Error::AxisOutOfRange { axis, rank })
}

/// The `GPUBuffer` of a buffer.
#[cfg_attr(not(feature = "gpu"), expect(unused_variables, reason = "there is none"))]
pub fn gpu_buffer(buffer: &wgpu::Buffer) -> JsValue {
    #[cfg(feature = "gpu")]
    if let Some(buffer) = buffer.as_webgpu() {
        return AsRef::<JsValue>::as_ref(buffer).clone();
    }
    JsValue::UNDEFINED
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
    pub(crate) fn buffers(&self) -> Result<Vec<&wgpu::Buffer>> {
        let buffers = self.0.iter().map(DeviceTensor::buffer);
        buffers.collect::<Option<_>>().ok_or_else(|| js(Error::CannotRecord))
    }

    pub(crate) fn views(&self) -> Vec<View> {
        self.0.iter().map(|tensor| tensor.view().clone()).collect()
    }
}
