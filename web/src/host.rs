//! Tensors in memory.

use std::sync::Arc;

use half::{bf16, f16};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wgmax::{ElementType, Error};

use crate::error::{Result, js};
use crate::object::{array, object};

/// A tensor in the memory of the WebAssembly.
#[wasm_bindgen]
pub struct HostTensor(pub(crate) wgmax::Tensor);

#[wasm_bindgen]
impl HostTensor {
    /// A tensor of an element type, such as `"f32"`, with these bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(element_type: &str, shape: Vec<u32>, bytes: Vec<u8>) -> Result<HostTensor> {
        let make = || {
            let element_type: ElementType = element_type.parse()?;
            // They are copied again only if their address is not a multiple of 8.
            wgmax::Tensor::from_shared(element_type, sizes(&shape), Arc::new(bytes))
        };
        make().map(Self).map_err(js)
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

    /// How two tensors differ: `total`, `differing`, the `first` elements that do, and all of it as
    /// `text`. By `values` two NaNs are equal, and the two zeros; otherwise bits count.
    pub fn compare(&self, other: &HostTensor, values: bool) -> Result<JsValue> {
        let compare = if values { wgmax::compare_values } else { wgmax::compare };
        let found = compare(&self.0, &other.0).map_err(js)?;
        Ok(comparison(&found))
    }
}

impl HostTensor {
    /// The tensor of a JavaScript object; `None` of `undefined`.
    pub fn of(value: &JsValue) -> Result<Option<wgmax::Tensor>> {
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        // Exported structs cannot be borrowed from a list, so its parts are read.
        let get = |key: &str| js_sys::Reflect::get(value, &key.into());
        let bytes: Uint8Array = get("bytes")?.unchecked_into();
        let shape: js_sys::Uint32Array = get("shape")?.unchecked_into();
        let element_type = get("type")?.as_string().unwrap_or_default();
        HostTensor::new(&element_type, shape.to_vec(), bytes.to_vec()).map(|host| Some(host.0))
    }
}

/// A comparison as JavaScript has it.
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

/// Sizes as Rust has them.
pub fn sizes(shape: &[u32]) -> Vec<usize> {
    shape.iter().map(|&size| size as usize).collect()
}

/// Sizes as JavaScript has them. No tensor in 32 bits of memory has larger ones.
pub fn numbers(shape: &[usize]) -> Vec<u32> {
    shape.iter().map(|&size| size as u32).collect()
}

/// The bits of numbers as elements of `f16` or `bf16`, rounded to the nearest.
#[wasm_bindgen(js_name = halfBits)]
pub fn half_bits(element_type: &str, numbers: &[f64]) -> Result<Vec<u16>> {
    let bits: fn(f64) -> u16 = match element_type {
        "f16" => |number| f16::from_f64(number).to_bits(),
        "bf16" => |number| bf16::from_f64(number).to_bits(),
        name => return Err(js(Error::UnknownElementType { name: name.to_string() })),
    };
    Ok(numbers.iter().map(|&number| bits(number)).collect())
}

/// The numbers that bits of `f16` or `bf16` stand for.
#[wasm_bindgen(js_name = halfNumbers)]
pub fn half_numbers(element_type: &str, bits: &[u16]) -> Result<Vec<f32>> {
    let number: fn(u16) -> f32 = match element_type {
        "f16" => |bits| f16::from_bits(bits).to_f32(),
        "bf16" => |bits| bf16::from_bits(bits).to_f32(),
        name => return Err(js(Error::UnknownElementType { name: name.to_string() })),
    };
    Ok(bits.iter().map(|&bits| number(bits)).collect())
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
