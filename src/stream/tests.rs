//! Streaming on a mock device that runs out of memory and computes on the CPU.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use super::drive::{Budget, Runner, drive};
use super::options::{Progress, Reporter};
use super::{Planning, Work, pool::Pool, reduce::Reduce, segment::Segment};
use crate::base::error::{Error, Result};
use crate::device::Device;
use crate::exec::cpu;
use crate::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use crate::plan::{Limits, Plan};
use crate::tensor::{ElementType, Tensor};
use crate::tuning::Tuning;

/// When the mock runs out of memory.
#[derive(Clone, Copy, PartialEq)]
enum Fails {
    /// When a piece starts, if the pieces in flight would take more bytes than this.
    Start(u64),
    /// When a piece of more bytes than this is downloaded.
    Finish(u64),
}

struct Mock {
    fails: Fails,
    used: Cell<u64>,
    refused: Cell<u32>,
    sizes: RefCell<Vec<u64>>,
}

impl Runner for Mock {
    type Pending = (u64, Vec<Tensor>);

    async fn start(&self, plan: &Plan, inputs: Vec<Cow<'_, [u8]>>) -> Result<Self::Pending> {
        let bytes = super::drive::plan_bytes(plan);
        if matches!(self.fails, Fails::Start(max) if self.used.get() + bytes > max) {
            return Err(self.refuse());
        }
        let tensor =
            |bytes: &Cow<'_, [u8]>| Tensor::from_bytes(ElementType::U8, [bytes.len()], bytes);
        let inputs: Vec<Tensor> = inputs.iter().map(tensor).collect::<Result<_>>()?;
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        self.used.set(self.used.get() + bytes);
        Ok((bytes, cpu::execute(plan, &inputs, &Default::default(), |_, _| ())?))
    }

    async fn finish(&self, (bytes, results): Self::Pending) -> Result<Vec<Tensor>> {
        self.used.set(self.used.get() - bytes);
        if matches!(self.fails, Fails::Finish(max) if bytes > max) {
            return Err(self.refuse());
        }
        self.sizes.borrow_mut().push(bytes);
        Ok(results)
    }
}

impl Mock {
    fn refuse(&self) -> Error {
        self.refused.set(self.refused.get() + 1);
        Error::OutOfMemory { device: "the mock".into(), what: "a piece".into() }
    }
}

fn run(work: impl Work, fails: Fails, reports: &mut Vec<Progress>) -> (Result<Vec<Tensor>>, Mock) {
    let mock =
        Mock { fails, used: Cell::new(0), refused: Cell::new(0), sizes: RefCell::new(Vec::new()) };
    let budget = Budget { piece: 1 << 20, buffer: u64::MAX };
    let mut note = |progress| reports.push(progress);
    let mut progress = Reporter::new(Some(Box::new(&mut note)), 1000);
    let (limits, tuning) = (Limits::cpu(), Tuning::cpu(1));
    let planning = Planning { limits: &limits, tuning: &tuning };
    let results = pollster::block_on(drive(work, &mock, planning, budget, &mut progress));
    (results, mock)
}

#[test]
fn pieces_shrink_where_memory_runs_out() {
    let bytes: Vec<u8> =
        (0..3 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let data = Tensor::from_bytes(ElementType::I8, [1, 3, 1024, 1024], &bytes).unwrap();
    let rows = data.reshape([3 << 10, 1024]).unwrap();
    let ids: Vec<i64> = (0..3 << 10).map(|row| row / 7).collect();
    let ids = Tensor::from_slice([3 << 10], &ids).unwrap();
    let reduce = ReduceMax::new().axes([1, 2]);
    let pool = MaxPool::new([5, 3]).strides([2, 2]).indices(Indices::default());
    let segment = SegmentMax::sorted().num_segments(439).indices(ElementType::I32);
    let whole =
        |operator: Operator, inputs: &[&Tensor]| operator.run(&Device::cpu(), inputs).unwrap();
    for fails in [Fails::Start(400_000), Fails::Finish(400_000)] {
        let mut reports = Vec::new();
        for (expected, (found, mock)) in [
            (
                whole(reduce.clone().into(), &[&data]),
                run(Reduce::new(&reduce, &data.clone().into()).unwrap(), fails, &mut reports),
            ),
            (
                whole(pool.clone().into(), &[&data]),
                run(Pool::new(&pool, &data.clone().into()).unwrap(), fails, &mut reports),
            ),
            (
                whole(segment.clone().into(), &[&rows, &ids]),
                run(
                    Segment::new(&segment, &rows.clone().into(), &ids).unwrap(),
                    fails,
                    &mut reports,
                ),
            ),
        ] {
            let found = found.unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.desc(), expected.desc());
                assert!(found.bytes() == expected.bytes());
            }
            assert!(mock.refused.get() > 0 && mock.sizes.borrow().len() > 8);
            assert!(mock.sizes.borrow().iter().all(|&size| size <= 400_000));
        }
        assert_eq!(reports.iter().filter(|p| p.done == 1000).count(), 3);
        assert_eq!(reports.iter().filter(|p| p.done == 0 && p.pieces == 0).count(), 3);
    }
}

#[test]
fn a_device_without_memory_is_an_error() {
    let data = Tensor::from_bytes(ElementType::U8, [1 << 22], &vec![0; 1 << 22]).unwrap();
    for fails in [Fails::Start(0), Fails::Finish(0)] {
        let operator = ReduceMax::new();
        let (found, mock) =
            run(Reduce::new(&operator, &data.clone().into()).unwrap(), fails, &mut Vec::new());
        assert!(matches!(found, Err(Error::OutOfMemory { .. })));
        assert!(mock.refused.get() < 20, "{}", mock.refused.get());
    }
}
