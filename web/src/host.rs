//! Tensors in memory.

use std::sync::Arc;

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wgmax::{ElementType, Error, TensorDesc};

use crate::error::{Result, coded, js};
use crate::object::{MAX_SAFE_INTEGER, array, integers, object, text};

/// A tensor in the memory of the WebAssembly.
#[wasm_bindgen]
pub struct HostTensor(pub(crate) wgmax::Tensor);

#[wasm_bindgen]
impl HostTensor {
    /// A tensor of an element type, such as `"f32"`, with these bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(element_type: &str, shape: &JsValue, bytes: &Uint8Array) -> Result<HostTensor> {
        let desc = desc(element_type, shape, Some(bytes))?;
        let (length, mut memory) = (desc.byte_len(), Vec::new());
        memory.try_reserve_exact(length).map_err(|_| js(out_of_memory(length as f64)))?;
        memory.resize(length, 0);
        bytes.copy_to(&mut memory);
        // They are copied again only if their address is not a multiple of an element's size.
        let made = wgmax::Tensor::from_shared(desc.element_type(), desc.shape(), Arc::new(memory));
        made.map(Self).map_err(js)
    }

    /// The element type's name.
    #[wasm_bindgen(getter, js_name = type)]
    pub fn element_type(&self) -> String {
        self.0.element_type().name().to_string()
    }

    /// The shape.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Vec<u32> {
        numbers(self.0.shape())
    }

    /// A copy of the elements' bytes.
    pub fn bytes(&self) -> Uint8Array {
        Uint8Array::from(self.0.bytes())
    }

    /// The comparison of two tensors: `total`, `differing`, the `first` elements that differ, and all
    /// of it as `text`. With `values` all NaNs are equal, and both zeros; otherwise bits are compared.
    pub fn compare(&self, other: &HostTensor, values: bool) -> Result<JsValue> {
        let compare = if values { wgmax::compare_values } else { wgmax::compare };
        let found = compare(&self.0, &other.0).map_err(js)?;
        Ok(comparison(&found))
    }
}

impl HostTensor {
    /// The tensor of a JavaScript object; `None` for `undefined`.
    pub fn of(value: &JsValue) -> Result<Option<wgmax::Tensor>> {
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        // Exported structs cannot be borrowed from a list, so its parts are read.
        let get = |key: &str| Reflect::get(value, &key.into());
        let bytes: Uint8Array = get("bytes")?.unchecked_into();
        let element_type = get("type")?.as_string().unwrap_or_default();
        HostTensor::new(&element_type, &get("shape")?, &bytes).map(|host| Some(host.0))
    }
}

/// A comparison as a JavaScript object.
pub fn comparison(found: &wgmax::Comparison) -> JsValue {
    let first = found.first.iter().map(|m| {
        object([
            ("coordinates", array(m.coordinates.iter().map(|&c| c as f64))),
            ("a", m.a.as_str().into()),
            ("b", m.b.as_str().into()),
            ("aBits", format!("0x{:x}", m.a_bits).into()),
            ("bBits", format!("0x{:x}", m.b_bits).into()),
            ("ulp", m.ulp.map_or(JsValue::NULL, |ulp| (ulp as f64).into())),
        ])
    });
    object([
        ("equal", found.is_equal().into()),
        ("total", (found.total as f64).into()),
        ("differing", (found.differing as f64).into()),
        ("first", array(first)),
        ("text", found.to_string().into()),
    ])
}

/// The type and shape of a tensor, checked against the number of its bytes, if given.
pub fn desc(element_type: &str, shape: &JsValue, bytes: Option<&Uint8Array>) -> Result<TensorDesc> {
    let element_type: ElementType = element_type.parse().map_err(js)?;
    let shape = sizes(shape)?;
    let desc = TensorDesc::new(element_type, shape.clone()).map_err(|error| {
        let bytes = shape.iter().fold(element_type.size() as f64, |bytes, &n| bytes * n as f64);
        // With 64-bit addresses such a size would be addressable: so the error is exhausted memory.
        let is_memory = matches!(error, Error::ShapeOverflow { .. }) && bytes < MAX_SAFE_INTEGER;
        js(if is_memory { out_of_memory(bytes) } else { error })
    })?;
    // Lengths in js-sys have 32 bits.
    let actual = bytes.map(|bytes| Reflect::get(bytes, &"length".into())).transpose()?;
    match actual.and_then(|actual| actual.as_f64()) {
        Some(actual) if actual != desc.byte_len() as f64 => Err(js(Error::WrongByteLength {
            element_type,
            shape,
            expected: desc.byte_len(),
            actual: actual as usize,
        })),
        _ => Ok(desc),
    }
}

fn out_of_memory(bytes: f64) -> Error {
    Error::OutOfMemory { device: "the CPU".into(), what: format!("a tensor of {bytes} bytes") }
}

/// Sizes from JavaScript.
pub fn sizes(shape: &JsValue) -> Result<Vec<usize>> {
    let sizes = integers(shape)
        .and_then(|sizes| sizes.into_iter().map(|size| size.try_into().ok()).collect());
    sizes.ok_or_else(|| {
        let message = format!("a shape is a list of sizes below 2^32, not {}", text(shape));
        coded("BadShape", &message)
    })
}

/// Sizes for JavaScript. A tensor in a 32-bit memory has no larger ones.
pub fn numbers(shape: &[usize]) -> Vec<u32> {
    shape.iter().map(|&size| size as u32).collect()
}

/// The names of the element types, and the bytes of an element of each.
#[wasm_bindgen(js_name = elementTypes)]
pub fn element_types() -> JsValue {
    array(
        ElementType::ALL
            .iter()
            .map(|t| array([JsValue::from(t.name()), JsValue::from(t.size() as u32)])),
    )
}
