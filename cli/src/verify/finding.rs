//! A mismatch, looked at closely.

use wgmax::sweep::{Case, Kind, shrink};
use wgmax::{Device, DeviceTensor, ElementType, Tensor, oracle};

use super::judge::{Difference, Verdict, judge};
use super::subject::Subject;

/// How often a case is run at most to make it smaller.
const TRIES: usize = 2000;

/// A case that differs, and the smallest one like it.
pub struct Finding {
    pub index: u64,
    pub kind: Kind,
    pub element_type: ElementType,
    /// As it was found.
    pub found: Difference,
    /// As small as it could be made.
    pub small: Difference,
    /// Whether the case differed when it was run again.
    pub again: bool,
    /// Whom the oracle agrees with on the small case.
    pub oracle: Option<Side>,
    /// The first launch whose bytes differ: its shader, its number, and of how many.
    pub launch: Option<(String, usize, usize)>,
}

/// Who is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    Expected,
    Actual,
    Neither,
}

impl Finding {
    pub fn new(subject: &Subject, index: u64, found: Difference) -> Self {
        let (kind, element_type) = Case::kind(index);
        let mut small = found.clone();
        let mut differs = |case: &Case| match judge(subject, case) {
            Verdict::Differs(difference) => {
                small = difference;
                true
            }
            _ => false,
        };
        let again = differs(&found.case);
        if again {
            // The last one that differs is the one that is returned.
            shrink(&found.case, TRIES, differs);
        }
        let oracle =
            oracle::run(&small.case.operator, &small.case.inputs()).ok().map(|oracle| match () {
                () if same(&oracle, &small.expected) => Side::Expected,
                () if same(&oracle, &small.actual) => Side::Actual,
                () => Side::Neither,
            });
        let device = subject.device.as_ref().filter(|_| again);
        let launch = device.and_then(|device| differing(device, &small.case));
        Self { index, kind, element_type, found, small, again, oracle, launch }
    }
}

fn same(a: &[Tensor], b: &[Tensor]) -> bool {
    let equal = |(a, b): (&Tensor, &Tensor)| a.desc() == b.desc() && a.bytes() == b.bytes();
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

/// The first launch after which a device holds other bytes than the CPU does.
fn differing(device: &Device, case: &Case) -> Option<(String, usize, usize)> {
    let plan = case.plan(&device.info().limits).ok()?;
    // A launch that writes into several buffers has its number several times.
    let trace = |device: &Device| -> wgmax::Result<Vec<(usize, Vec<u8>)>> {
        let inputs = case.tensors.iter().map(|input| device.upload(input));
        let inputs: Vec<DeviceTensor> = inputs.collect::<wgmax::Result<_>>()?;
        let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
        let mut written = Vec::new();
        device.execute_traced(&plan, &inputs, |i, bytes| written.push((i, bytes.to_vec())))?;
        Ok(written)
    };
    let (twins, shaders) = (trace(&Device::cpu()).ok()?, trace(device).ok()?);
    // What one has more than the other is padding.
    let mut pairs = twins.iter().zip(&shaders);
    let (launch, _) = pairs.find(|(a, b)| a.1.iter().zip(&b.1).any(|(a, b)| a != b))?.0;
    Some((plan.shaders().nth(*launch)?.label(), launch + 1, plan.shaders().count()))
}
