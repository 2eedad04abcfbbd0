//! Numbers, sizes and elements in words.
use std::fmt::Display;

use wgmax::Tensor;
/// The first elements, as many as are asked for.
pub use wgmax::internals::element_texts as values;

/// A number of things, by the noun of one.
pub fn counted(number: impl TryInto<u64> + Display + Copy, noun: &str) -> String {
    let s = if number.try_into().is_ok_and(|number| number == 1) { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// A limit, or "any" if there is none.
pub fn count(limit: u32) -> String {
    match limit {
        u32::MAX => "any".to_string(),
        limit => limit.to_string(),
    }
}

/// Bytes in the largest unit of which there is at least one.
pub fn size(bytes: u64) -> String {
    if bytes == u64::MAX {
        return "any".to_string();
    }
    const UNITS: [&str; 6] = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"];
    for (power, unit) in (1..=6).rev().zip(UNITS) {
        let whole = 1u64 << (10 * power);
        if bytes >= whole && bytes.is_multiple_of(whole) {
            return format!("{} {unit}", bytes / whole);
        }
        if bytes >= whole {
            return format!("{:.1} {unit}", bytes as f64 / whole as f64);
        }
    }
    format!("{bytes} B")
}

/// The type and shape of a tensor, and its first elements.
pub fn list(tensor: &Tensor) -> String {
    let values = values(tensor, 64);
    let more = match tensor.len() - values.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} [{}]{more}", tensor.desc(), values.join(", "))
}
