//! Windows that split an axis evenly: they are not a stride apart, and not all of one size.

/// How windows drift from their strides. If `windows` split an axis evenly, the distance between
/// two of them may be a fraction: window i begins at i strides plus i times `rest / windows`, rounded
/// down, and ends where the next one would begin, rounded up. So some windows have one element more
/// than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drift {
    /// Less than `windows`; 0 if windows are a stride apart.
    pub rest: u64,
    /// Windows of the whole axis.
    pub windows: u64,
    /// The number of the first window, if these are a part of the windows.
    pub first: u64,
}

impl Drift {
    pub(crate) const NONE: Self = Self { rest: 0, windows: 1, first: 0 };

    pub(crate) fn is_none(&self) -> bool {
        self.rest == 0
    }

    /// How far after `window` strides a window begins.
    pub(crate) fn shift(&self, window: u64) -> u64 {
        self.product(window) as u64
    }

    /// How far windows that are `windows` apart may drift from each other at most.
    pub(super) fn max_shift(&self, windows: u64) -> u64 {
        (u128::from(windows) * u128::from(self.rest)).div_ceil(self.windows.into()) as u64
    }

    /// 1 if a window has one element more than the shortest windows, else 0.
    pub(crate) fn extra(&self, window: u64) -> u64 {
        match self.rest {
            0 => 0,
            rest => (self.remainder(window) + u128::from(rest) > self.windows.into()).into(),
        }
    }

    /// The maximum of [`extra`](Self::extra) over all windows of the axis.
    pub(crate) fn max_extra(&self) -> u64 {
        // Remainders are multiples of gcd(rest, windows). If that is `rest`, all are at most
        // `windows - rest`.
        (self.rest > 0 && !self.windows.is_multiple_of(self.rest)).into()
    }

    /// These windows from a later one on.
    pub(crate) fn after(&self, windows: u64) -> Self {
        if self.is_none() { Self::NONE } else { Self { first: self.first + windows, ..*self } }
    }

    /// `rest / windows` of 2^64, rounded up; [`scaled`] multiplies by it.
    pub(super) fn ratio(&self) -> u64 {
        (u128::from(self.rest) << 64).div_ceil(self.windows.into()) as u64
    }

    /// The drift with a ratio.
    pub(super) fn of_ratio(ratio: u64, windows: u64, first: u64) -> Self {
        match ratio {
            0 => Self::NONE,
            _ => Self { rest: scaled(windows, ratio), windows, first },
        }
    }

    fn product(&self, window: u64) -> u128 {
        u128::from(self.first + window) * u128::from(self.rest) / u128::from(self.windows)
    }

    fn remainder(&self, window: u64) -> u128 {
        u128::from(self.first + window) * u128::from(self.rest) % u128::from(self.windows)
    }
}

/// The quotient of `n * ratio` and 2^64: exact for a [`Drift::ratio`] if `n * windows` is less than
/// 2^64. With `ratio - 1` instead, it is `n * rest / windows` rounded up, less 1.
pub(super) fn scaled(n: u64, ratio: u64) -> u64 {
    ((u128::from(n) * u128::from(ratio)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition, in exact integers; and as kernels compute it.
    #[test]
    fn windows_begin_and_end_by_definition() {
        let pairs = [(31, 7), (4101, 4095), (4097, 4098), (65537, 65536), (3, 65537), (6, 4)];
        let large = [(1 << 31, 0x7fff_ffff), (0x7fff_ffff, 0x7fff_fffe), (0x7fff_ffff, 3)];
        for (size, windows) in pairs.into_iter().chain(large) {
            let drift = Drift { rest: size % windows, windows, first: 0 };
            let (stride, ratio) = (size / windows, drift.ratio());
            let few = windows.min(70_000);
            let mut extra = 0;
            for i in (0..few).chain(windows - few..windows) {
                let at = |i: u64| u128::from(i) * u128::from(size);
                let begin = (at(i) / u128::from(windows)) as u64;
                let end = at(i + 1).div_ceil(windows.into()) as u64;
                assert_eq!(i * stride + drift.shift(i), begin, "{size} {windows} {i}");
                let reach = stride + drift.extra(i);
                assert_eq!(begin + reach + 1, end, "{size} {windows} {i}");
                assert_eq!(scaled(i, ratio), drift.shift(i), "{size} {windows} {i}");
                let last = scaled(i + 1, ratio.wrapping_sub(1));
                assert_eq!(last - scaled(i, ratio), drift.extra(i), "{size} {windows} {i}");
                extra = extra.max(drift.extra(i));
            }
            assert_eq!(drift.max_extra(), extra, "{size} {windows}");
            assert_eq!(Drift::of_ratio(ratio, windows, 0), drift);
        }
    }
}
