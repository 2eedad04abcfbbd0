//! A mismatch, examined.
use std::cell::{Cell, RefCell};

use wgmax::plan::Shader;
use wgmax::{Device, Result};

use crate::judge::{Difference, Verdict, are_equal, judge};
use crate::pattern::Pattern;
use crate::subject::Subject;
use crate::{Case, shrink_async};

/// The maximum number of runs to shrink a case. In a browser the user waits for them.
const MAX_TRIES: usize = if cfg!(target_family = "wasm") { 500 } else { 2000 };

/// A case that differs, and the smallest similar one.
pub struct Finding {
    /// The number of the case.
    pub index: u64,
    /// As it was found.
    pub found: Difference,
    /// The smallest case that differs.
    pub small: Difference,
    /// Whether the case differed when it was run again.
    pub again: bool,
    /// Which side the oracle agrees with on the smallest case.
    pub oracle: Option<Side>,
    /// The first launch whose bytes differ.
    pub launch: Option<DifferingLaunch>,
    /// The known fault of drivers that this resembles.
    pub pattern: Option<&'static Pattern>,
}

/// Which results are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The reference's.
    Expected,
    /// The subject's.
    Actual,
    /// None.
    Neither,
}

/// A launch of a plan.
pub struct DifferingLaunch {
    /// The launch's label.
    pub shader: Shader,
    /// Its number in the plan, from 1.
    pub number: usize,
    /// The launches of the plan.
    pub count: usize,
}

impl Finding {
    /// Examines a difference. The search for a smaller case ends when `goes_on` returns false.
    pub async fn new(
        subject: &Subject,
        index: u64,
        found: Difference,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Self {
        let small = RefCell::new(found.clone());
        let goes_on = RefCell::new(goes_on);
        let stopped = Cell::new(false);
        let differs = async |case: &Case| {
            stopped.set(stopped.get() || !goes_on.borrow_mut()());
            if stopped.get() {
                return false;
            }
            let Verdict::Differs(difference) = judge(subject, case).await else { return false };
            *small.borrow_mut() = *difference;
            true
        };
        let again = differs(&found.case).await;
        if again {
            // It returns the last case for which `differs` was true, which is `small`.
            shrink_async(&found.case, MAX_TRIES, differs).await;
        }
        let small = small.into_inner();
        let oracle = small.case.expected().ok().map(|oracle| match () {
            () if are_equal(&oracle, &small.expected) => Side::Expected,
            () if are_equal(&oracle, &small.actual) => Side::Actual,
            () => Side::Neither,
        });
        let launch = match again && !subject.device.is_cpu() {
            true => differing_launch(&subject.device, &small.case).await.unwrap_or_default(),
            false => None,
        };
        let kernel = launch.as_ref().map(|launch| launch.shader.kernel.name());
        let pattern = Pattern::of(&small, again, kernel == Some("segment_scatter"));
        Self { index, found, small, again, oracle, launch, pattern }
    }
}

/// The first launch after which a device's buffers differ from the CPU's.
async fn differing_launch(device: &Device, case: &Case) -> Result<Option<DifferingLaunch>> {
    let plan = case.plan(device)?;
    // A launch that writes several buffers occurs several times.
    let (mut expected, mut actual) = (Vec::new(), Vec::new());
    for (device, written) in [(&Device::cpu(), &mut expected), (device, &mut actual)] {
        let inputs = case.upload_async(device, &plan).await?;
        let after = |launch: usize, bytes: &[u8]| written.push((launch, bytes.to_vec()));
        device.execute_traced_async(&plan, &inputs.iter().collect::<Vec<_>>(), after).await?;
    }
    let differs = expected.iter().zip(&actual).find(|(a, b)| a != b);
    let (launches, number) = (plan.launches(), differs.map(|((number, _), _)| *number));
    Ok(number.and_then(|number| {
        let shader = *launches.get(number)?.shader();
        Some(DifferingLaunch { shader, number: number + 1, count: launches.len() })
    }))
}
