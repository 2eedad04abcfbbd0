//! Simpler elements: zeros, or ones if zeros do not fail.

use wgmax::ElementType;
use wgmax::internals::filled;

use super::Case;
use crate::cases::gradient;

/// The maximum number of ranges, or of single elements, that are tried one by one.
const MAX_RANGES: usize = 64;

/// The case with a range of its first tensor's elements set to 0, larger ranges first, and then
/// with single elements set to 1.
pub(super) fn simpler(case: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    // At other positions some gradients are unspecified.
    if gradient::has_positions(&case.operator) {
        return cases;
    }
    let data = &case.tensors[0];
    let size = data.element_type().size();
    let mut len = data.len();
    while len > 0 && data.len().div_ceil(len) <= MAX_RANGES {
        for begin in (0..data.len()).step_by(len) {
            let range = begin * size..(begin + len).min(data.len()) * size;
            if data.bytes()[range.clone()].iter().any(|&byte| byte != 0) {
                cases.extend(with_bytes(case, |bytes| bytes[range].fill(0)));
            }
        }
        len = if len == 1 { 0 } else { len.div_ceil(2) };
    }
    let one = &one(data.element_type()).to_le_bytes()[..size];
    let simple = |bytes: &[u8]| bytes == one || bytes.iter().all(|&byte| byte == 0);
    let others = data.bytes().chunks_exact(size).enumerate().filter(|(_, bytes)| !simple(bytes));
    cases.extend(others.take(MAX_RANGES).filter_map(|(i, _)| {
        with_bytes(case, |bytes| bytes[i * size..][..size].copy_from_slice(one))
    }));
    cases
}

/// The case with other elements in its first tensor, unless memory runs out.
fn with_bytes(case: &Case, change: impl FnOnce(&mut [u8])) -> Option<Case> {
    let data = &case.tensors[0];
    let changed = filled(data.desc().clone(), |bytes| {
        bytes.copy_from_slice(data.bytes());
        change(bytes);
    });
    let mut case = case.clone();
    case.tensors[0] = changed.ok()?;
    Some(case)
}

/// The bits of 1.
fn one(t: ElementType) -> u64 {
    match t {
        ElementType::F32 => 1f32.to_bits().into(),
        ElementType::F64 => 1f64.to_bits(),
        ElementType::F16 => half::f16::ONE.to_bits().into(),
        ElementType::Bf16 => half::bf16::ONE.to_bits().into(),
        _ => 1,
    }
}
