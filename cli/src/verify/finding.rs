//! A mismatch, examined.

use wgmax::{Device, DeviceTensor, ElementType};
use wgmax_verify::{Case, Kind, shrink};

use super::judge::{Difference, Verdict, are_equal, judge};
use super::pattern::Pattern;
use super::subject::Subject;
use crate::interrupt;

/// The maximum number of runs to make a case smaller.
const MAX_TRIES: usize = 2000;

/// A case that differs, and the smallest one like it.
pub struct Finding {
    pub index: u64,
    pub kind: Kind,
    pub element_type: ElementType,
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
    /// The mistake of drivers that this looks like.
    pub pattern: Option<&'static Pattern>,
}

/// Which results are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    Expected,
    Actual,
    Neither,
}

/// A launch of a plan.
pub struct DifferingLaunch {
    /// The name of its kernel.
    pub kernel: &'static str,
    /// The label of its shader.
    pub shader: String,
    /// Its number in the plan, from 1.
    pub number: usize,
    /// The launches of the plan.
    pub count: usize,
}

impl Finding {
    pub fn new(subject: &Subject, index: u64, found: Difference) -> Self {
        let (kind, element_type) = Case::kind(index);
        let mut small = found.clone();
        // A signal ends the search for a smaller one.
        let mut differs = |case: &Case| {
            !interrupt::requested()
                && match judge(subject, case) {
                    Verdict::Differs(difference) => {
                        small = *difference;
                        true
                    }
                    _ => false,
                }
        };
        let again = differs(&found.case);
        if again {
            // `shrink` returns the last case for which `differs` was true, which is `small`.
            shrink(&found.case, MAX_TRIES, differs);
        }
        let oracle = small.case.expected().ok().map(|oracle| match () {
            () if are_equal(&oracle, &small.expected) => Side::Expected,
            () if are_equal(&oracle, &small.actual) => Side::Actual,
            () => Side::Neither,
        });
        let device = Some(&subject.device).filter(|device| again && !device.is_cpu());
        let launch = device.and_then(|device| differing_launch(device, &small.case));
        let scatters = launch.as_ref().is_some_and(|launch| launch.kernel == "segment_scatter");
        let pattern = Pattern::of(&small, again, scatters);
        Self { index, kind, element_type, found, small, again, oracle, launch, pattern }
    }
}

/// The first launch after which a device's buffers differ from the CPU's.
fn differing_launch(device: &Device, case: &Case) -> Option<DifferingLaunch> {
    let plan = case.plan(device).ok()?;
    // A launch that writes several buffers is there several times.
    let trace = |device: &Device| -> wgmax::Result<Vec<(usize, Vec<u8>)>> {
        let inputs = case.tensors.iter().map(|input| device.upload(input));
        let inputs: Vec<DeviceTensor> = inputs.collect::<wgmax::Result<_>>()?;
        let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
        let mut written = Vec::new();
        device.execute_traced(&plan, &inputs, |i, bytes| written.push((i, bytes.to_vec())))?;
        Ok(written)
    };
    let (expected, actual) = (trace(&Device::cpu()).ok()?, trace(device).ok()?);
    // `zip` leaves out the padding that only one side has.
    let mut pairs = expected.iter().zip(&actual);
    let (launch, _) = pairs.find(|(a, b)| a.1.iter().zip(&b.1).any(|(a, b)| a != b))?.0;
    let shader = plan.launches().get(*launch)?.shader();
    Some(DifferingLaunch {
        kernel: shader.kernel.name(),
        shader: shader.label(),
        number: launch + 1,
        count: plan.launches().len(),
    })
}
