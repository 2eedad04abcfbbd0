//! Reads and creates plain JavaScript objects.

use std::fmt::Debug;
use std::future::Future;
use std::task::{Context, Poll, Waker};

use js_sys::{Array, BigInt, Object, Promise, Reflect};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::future_to_promise;
use wgmax::Error;
use wgmax::operator::Scalar;

/// An object with these properties.
pub fn object<const N: usize>(properties: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (key, value) in properties {
        // It cannot fail on a new object.
        let _ = Reflect::set(&object, &key.into(), &value);
    }
    object.into()
}

/// An array of these values.
pub fn array(values: impl IntoIterator<Item = impl Into<JsValue>>) -> JsValue {
    values.into_iter().map(Into::into).collect::<Array>().into()
}

/// A promise of a future's value. The future is first polled now, before the page can change its
/// inputs.
pub fn begun(future: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    let mut future = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(value)) => Promise::resolve(&value),
        Poll::Ready(Err(error)) => Promise::reject(&error),
        Poll::Pending => future_to_promise(future),
    }
}

/// The attributes of an operator. Each is read once, and those that are not read are unknown.
pub struct Fields {
    object: JsValue,
    operator: &'static str,
    unread: Vec<String>,
}

impl Fields {
    /// The attributes of an object; none for `undefined` and `null`.
    pub fn new(object: JsValue, operator: &'static str) -> Self {
        let keys = object.dyn_ref::<Object>().map(Object::keys).unwrap_or_default();
        let unread = keys.iter().filter_map(|key| key.as_string()).collect();
        Self { object, operator, unread }
    }

    /// An attribute; `None` if it is absent, `undefined` or `null`.
    pub fn take(&mut self, key: &str) -> Option<JsValue> {
        let at = self.unread.iter().position(|unread| unread == key)?;
        self.unread.swap_remove(at);
        let value = Reflect::get(&self.object, &key.into()).ok()?;
        (!value.is_undefined() && !value.is_null()).then_some(value)
    }

    /// A boolean attribute.
    pub fn boolean(&mut self, key: &'static str, default: bool) -> Result<bool, Error> {
        let wrong = |v: &JsValue| bad(key, "true or false", v);
        self.take(key).map_or(Ok(default), |v| v.as_bool().ok_or_else(|| wrong(&v)))
    }

    /// An integer attribute.
    pub fn integer(&mut self, key: &'static str) -> Result<Option<i64>, Error> {
        self.take(key).map(|v| integer(&v).ok_or_else(|| bad(key, INTEGER, &v))).transpose()
    }

    /// A list of integers.
    pub fn integers(&mut self, key: &'static str) -> Result<Option<Vec<i64>>, Error> {
        self.take(key).map(|v| integers(&v).ok_or_else(|| bad(key, LIST, &v))).transpose()
    }

    /// A list of numbers from 1 on.
    pub fn numbers(&mut self, key: &'static str) -> Result<Option<Vec<usize>>, Error> {
        self.integers(key)?.map(|list| unsigned_list(key, "1 or more", &list)).transpose()
    }

    /// A shape.
    pub fn shape(&mut self, key: &'static str) -> Result<Option<Vec<usize>>, Error> {
        self.integers(key)?.map(|list| unsigned_list(key, "0 or more", &list)).transpose()
    }

    /// A number or truth value.
    pub fn scalar(&mut self, key: &'static str) -> Result<Option<Scalar>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let big =
            || value.clone().dyn_into::<BigInt>().ok().and_then(|_| text(&value).parse().ok());
        let found = value.as_f64().map(Scalar::from).or_else(|| value.as_bool().map(Scalar::from));
        let found = found.or_else(big).ok_or_else(|| bad(key, "a number", &value))?;
        Ok(Some(found))
    }

    /// One of some names.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &Choices<T>,
        default: T,
    ) -> Result<T, Error> {
        self.take(key).map_or(Ok(default), |value| choices.named(key, &value))
    }

    /// An error if an attribute was not read.
    pub fn end(self) -> Result<(), Error> {
        match self.unread.into_iter().next() {
            None => Ok(()),
            Some(attribute) => Err(Error::UnknownAttribute {
                dialect: "wgmax",
                operator: self.operator,
                version: String::new(),
                attribute,
            }),
        }
    }
}

/// Names with their values, and the list of names for errors.
pub struct Choices<T: 'static> {
    pub all: &'static [(&'static str, T)],
    pub expected: &'static str,
}

impl<T: Copy> Choices<T> {
    /// The value that an attribute names.
    pub fn named(&self, key: &'static str, value: &JsValue) -> Result<T, Error> {
        let name = value.as_string();
        let found = self.all.iter().find(|(choice, _)| Some(*choice) == name.as_deref());
        found.map(|(_, choice)| *choice).ok_or_else(|| bad(key, self.expected, value))
    }
}

/// The [`Choices`] of an enum, the last one after a semicolon.
macro_rules! choices {
    ($of:ident: $first:literal = $one:ident $(, $name:literal = $value:ident)*; $last:literal = $end:ident) => {
        $crate::object::Choices {
            all: &[($first, $of::$one) $(, ($name, $of::$value))*, ($last, $of::$end)],
            expected: concat!("\"", $first, "\"" $(, ", \"", $name, "\"")*, " or \"", $last, "\""),
        }
    };
}
pub(crate) use choices;

/// What an integer must be.
pub const INTEGER: &str = "an integer";
/// What a size or a number of times must be.
pub const SIZE: &str = "an integer from 0 on, below 2^32";
/// What a list of integers must be.
pub const LIST: &str = "a list of integers";

/// The error of an attribute with a wrong value.
pub fn bad(attribute: &'static str, expected: &'static str, value: &JsValue) -> Error {
    Error::BadAttribute { attribute, expected, value: text(value) }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = String)]
    fn string(value: &JsValue) -> Result<String, JsValue>;
}

/// A value as text, for errors.
pub fn text(value: &JsValue) -> String {
    // JSON has no NaN and no `BigInt`.
    let has_json = value.is_object() || value.is_string();
    let json = has_json.then(|| js_sys::JSON::stringify(value).ok()?.as_string()).flatten();
    json.or_else(|| string(value).ok()).unwrap_or_default()
}

/// The largest integer up to which a number represents every integer exactly.
pub const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// An integer of a number or a `BigInt`.
pub fn integer(value: &JsValue) -> Option<i64> {
    if let Some(number) = value.as_f64() {
        let whole = number.trunc() == number && number.abs() <= MAX_SAFE_INTEGER;
        return whole.then_some(number as i64);
    }
    value.clone().dyn_into::<BigInt>().ok().and_then(|big| i64::try_from(big).ok())
}

/// The integers of an array, or of a typed array.
pub fn integers(value: &JsValue) -> Option<Vec<i64>> {
    if value.is_string() || !value.is_object() {
        return None;
    }
    let iterator = js_sys::try_iter(value).ok()??;
    iterator.map(|item| integer(&item.ok()?)).collect()
}

/// A number of an operator's attribute, which is `given` as this value. If it is too small, this
/// refuses negative values, and the operator refuses 0 in the same words.
pub fn unsigned(
    attribute: &'static str,
    range: &'static str,
    number: i64,
    given: &dyn Debug,
) -> Result<usize, Error> {
    usize::try_from(number).map_err(|_| {
        let expected = if number < 0 { range } else { "below 2^32" };
        Error::BadAttribute { attribute, expected, value: format!("{given:?}") }
    })
}

/// The numbers of an operator's attribute.
pub fn unsigned_list(
    attribute: &'static str,
    range: &'static str,
    given: &[i64],
) -> Result<Vec<usize>, Error> {
    given.iter().map(|&each| unsigned(attribute, range, each, &given)).collect()
}

/// An argument that is an integer.
pub fn number<T: TryFrom<i64>>(
    name: &'static str,
    expected: &'static str,
    value: &JsValue,
) -> Result<T, Error> {
    let number = integer(value).and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| bad(name, expected, value))
}
