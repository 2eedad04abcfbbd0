//! Errors as JavaScript has them.

use js_sys::Reflect;
use wasm_bindgen::JsValue;

/// The result of what JavaScript calls.
pub type Result<T> = std::result::Result<T, JsValue>;

/// An `Error` whose `code` is the name of the variant, and whose `name` is `WgmaxError`.
pub fn js(error: wgmax::Error) -> JsValue {
    let debug = format!("{error:?}");
    let code = debug.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let object = js_sys::Error::new(&error.to_string());
    object.set_name("WgmaxError");
    // It cannot fail on an object that was just made.
    let _ = Reflect::set(&object, &"code".into(), &code.into());
    object.into()
}
