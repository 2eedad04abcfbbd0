//! `shaders/gradient/span.wgsl`: the windows along an axis that have an element.

use crate::plan::{SMALL, divisor, small_divisor};
use crate::pool::Axis;
use crate::wgsl::params;

params! {
    /// How windows and their taps are spaced along an axis. A window has a tap at a distance from the
    /// first tap of the first window if stride * window + dilation * tap = distance. So the greatest
    /// common divisor of stride and dilation divides the distance, and with s and d for what it leaves
    /// of both, s * window = distance / divisor, modulo d.
    pub(crate) struct Spacing {
        /// Divisors: the stride, the greatest common divisor, and d, the distance from one such window
        /// to the next.
        pub by_stride: [u32; 4],
        pub by_common: [u32; 4],
        pub by_step: [u32; 4],
        /// The inverse of s modulo d, and its quotient with d in units of 2^-32.
        pub inverse: u32,
        pub ratio: u32,
        pub padding: [u32; 2],
    }
}

impl Spacing {
    /// `wide`: kernels divide numbers that may be [`SMALL`] or more.
    pub(super) fn new(axis: &Axis, wide: bool) -> Self {
        let within = |by| if wide { divisor(by) } else { small_divisor(by) };
        // Windows that split an axis evenly may be 0 and a fraction apart. They have no spacing.
        let stride = axis.stride.max(1);
        let (common, inverse) = inverse(stride, axis.dilation);
        let step = axis.dilation / common;
        // Kernels divide a distance plus a stride, and a window's number plus a step. A step is at most the reach
        // of a window: one tap has a dilation of 1.
        debug_assert!(wide || stride.max(axis.dilation) < SMALL, "{axis:?}");
        debug_assert!(axis.dilation == 1 || axis.dilation <= axis.reach, "{axis:?}");
        Self {
            by_stride: within(stride),
            by_common: within(common),
            by_step: within(step),
            inverse: inverse as u32,
            ratio: ((inverse << 32) / step) as u32,
            padding: [0; 2],
        }
    }
}

/// Maximum windows that have an element.
pub(super) fn max_windows(axis: &Axis) -> u64 {
    let step = axis.dilation / inverse(axis.stride, axis.dilation).0;
    (axis.reach / (axis.stride * step) + 1).min(axis.outputs.div_ceil(step))
}

/// The greatest common divisor of two numbers, and the inverse of `a / divisor` modulo `modulus /
/// divisor`, by Euclid's algorithm.
fn inverse(a: u64, modulus: u64) -> (u64, u64) {
    let (mut last, mut rest) = ((modulus as i64, 0), ((a % modulus) as i64, 1));
    while rest.0 != 0 {
        let times = last.0 / rest.0;
        (last, rest) = (rest, (last.0 - times * rest.0, last.1 - times * rest.1));
    }
    let (common, inverse) = last;
    (common as u64, inverse.rem_euclid(modulus as i64 / common) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in shaders/common/divide.wgsl.
    fn product_remainder(n: u32, factor: u32, ratio: u32, by: u32) -> u32 {
        let quotient = ((u64::from(n) * u64::from(ratio)) >> 32) as u32;
        let rest = n.wrapping_mul(factor).wrapping_sub(quotient.wrapping_mul(by));
        if rest >= by { rest - by } else { rest }
    }

    /// The residues of windows are exact, also for strides and dilations close to 2^31.
    #[test]
    fn windows_have_residues() {
        let large = [(1 << 31) - 1, (1 << 31) - 2, 1 << 30, 65_537, 65_536, 641, 6_700_417];
        let numbers = || (1..40).chain(large);
        for (stride, dilation) in numbers().flat_map(|a| numbers().map(move |b| (a, b))) {
            let axis = Axis { stride, dilation, reach: dilation, ..Axis::plain(1) };
            let Spacing { by_step: [step, ..], inverse, ratio, .. } = Spacing::new(&axis, true);
            let common = dilation / u64::from(step);
            assert!(stride.is_multiple_of(common) && dilation.is_multiple_of(common));
            for part in (0..50).chain([1 << 20, (1 << 31) - 2, (1 << 31) - 1]) {
                let window = product_remainder(part, inverse, ratio, step);
                let [window, step] = [window, step].map(u128::from);
                let product = window * u128::from(stride / common);
                assert!(window < step, "{stride} {dilation} {part}");
                assert_eq!(product % step, u128::from(part) % step, "{stride} {dilation} {part}");
            }
        }
    }
}
