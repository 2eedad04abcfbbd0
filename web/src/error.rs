//! Errors as JavaScript objects.

use js_sys::{Function, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The result of functions that JavaScript calls.
pub type Result<T, E = JsValue> = std::result::Result<T, E>;

/// An `Error` whose `code` is the name of the variant, and whose `name` is `WgmaxError`.
pub fn js(error: wgmax::Error) -> JsValue {
    let debug = format!("{error:?}");
    let code = debug.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    coded(code, &error.to_string())
}

/// An `Error` with a code.
pub fn coded(code: &str, message: &str) -> JsValue {
    let object = js_sys::Error::new(message);
    object.set_name("WgmaxError");
    // It cannot fail on a new object.
    let _ = Reflect::set(&object, &"code".into(), &code.into());
    object.into()
}

/// Calls a function with the message of a panic. After a panic, promises of this WebAssembly are
/// never settled, so the function must reject them.
#[wasm_bindgen(js_name = onPanic)]
pub fn on_panic(function: Function) {
    // A hook must be `Sync`; there is one thread.
    thread_local!(static FUNCTION: std::cell::OnceCell<Function> = const { std::cell::OnceCell::new() });
    let _ = FUNCTION.with(|cell| cell.set(function));
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        let _ = FUNCTION.with(|cell| cell.get().map(|f| f.call1(&JsValue::NULL, &message.into())));
    }));
}

/// A promise that ends with a panic, for tests.
#[cfg(feature = "verify")]
#[wasm_bindgen(js_name = panicLater)]
pub fn panic_later() -> js_sys::Promise {
    wasm_bindgen_futures::future_to_promise(async { panic!("a test asked for it") })
}
