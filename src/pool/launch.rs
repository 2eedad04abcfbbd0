//! What the launches of a pooling share, with positions and without.

use super::grouping::Grouping;
use super::groups::Group;
use super::params::{Gather, Params, Windows};
use super::tuning::{SpecialLaunch, Tuning};
use crate::error::Result;
use crate::plan::{Builder, New, Range, divisor};
use crate::reduce;

/// What all launches of a pooling share.
pub(super) struct Planner<'a> {
    /// The key of a window without elements.
    pub empty: [u32; 2],
    pub tuning: &'a Tuning,
    pub reduce: &'a reduce::Tuning,
    /// Whether positions are wanted.
    pub indices: bool,
}

impl Planner<'_> {
    pub(super) fn grouping<'g>(&'g self, builder: &'g Builder<'g>) -> Grouping<'g> {
        Grouping { builder, tuning: self.tuning, indices: self.indices }
    }

    /// What the parameters of all kernels begin with.
    pub(super) fn params(
        &self,
        builder: &Builder<'_>,
        group: &Group,
        results: u64,
        base: u32,
        result_base: u32,
    ) -> Result<Params> {
        let windows = Windows::new(group, results, base)?;
        let [empty_low, empty_high] = self.empty;
        let (ranking, padding) = (builder.ranking, [0; 3]);
        Ok(Params { ranking, empty_low, empty_high, result_base, padding, windows })
    }
}

/// The parameters of a gathering kernel.
pub(super) fn gather_params(group: &Group) -> Gather {
    Gather {
        sparse: group.is_sparse().into(),
        padding: [0; 3],
        by_inner: divisor(group.inner),
        by_dilation: group.axes.map(|axis| divisor(axis.dilation)),
    }
}

/// Results of an output vector.
fn vector(builder: &Builder<'_>) -> u64 {
    if builder.item() == 8 { 2 } else { 4 }
}

/// Whether the results of each output vector lie in one line, and so do their elements.
pub(super) fn is_contiguous(builder: &Builder<'_>, pool: &Params) -> bool {
    let axis = &pool.windows.axes[2];
    let whole = |number: u32| u64::from(number).is_multiple_of(vector(builder));
    let in_line = whole(axis.outputs * pool.windows.inner) && whole(pool.result_base);
    in_line && pool.windows.inner == 1 && axis.stride == 1
}

/// Invocations of a gathering kernel: each owns an output vector.
pub(super) fn output_vectors(builder: &Builder<'_>, pool: &Params) -> u64 {
    let vector = vector(builder);
    (u64::from(pool.result_base) % vector + u64::from(pool.windows.outputs)).div_ceil(vector)
}

/// Adds a launch that a special kernel has.
pub(crate) fn push_special(
    builder: &mut Builder<'_>,
    purpose: &'static str,
    special: SpecialLaunch,
    sources: Vec<Range>,
    results: Vec<Range>,
) -> Result<()> {
    let SpecialLaunch { shader, params, invocations } = special;
    let groups = invocations.div_ceil(builder.workgroup());
    builder.push_words(New { purpose, shader, params: &params[..], sources, results }, groups)
}
