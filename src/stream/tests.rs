//! Streaming on a mock device that runs out of memory and computes on the CPU.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use super::drive::{Budget, Runner, drive};
use super::options::{Progress, Reporter};
use super::{Planning, Work, pool::Pool, reduce::Reduce, segment::Segment};
use crate::base::error::{Error, Result};
use crate::device::Device;
use crate::exec::cpu;
use crate::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use crate::plan::{Limits, Plan};
use crate::stream::Run;
use crate::tensor::{ElementType, Tensor, TensorView};
use crate::tuning::Tuning;

/// When the mock device runs out of memory.
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
        Ok((bytes, cpu::execute(plan, &inputs, &Default::default(), None, |_, _| ())?))
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

/// All that was reported.
type Reports = Arc<Mutex<Vec<Progress>>>;

fn run(work: impl Work, fails: Fails, reports: &Reports) -> (Result<Vec<Tensor>>, Mock) {
    let reports = reports.clone();
    drive_mock(work, fails, move |progress| {
        reports.lock().unwrap().push(progress);
        ControlFlow::Continue(())
    })
}

fn drive_mock(
    work: impl Work,
    fails: Fails,
    watcher: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static,
) -> (Result<Vec<Tensor>>, Mock) {
    let mock =
        Mock { fails, used: Cell::new(0), refused: Cell::new(0), sizes: RefCell::new(Vec::new()) };
    let budget = Budget { piece: 1 << 20, buffer: u64::MAX };
    let progress = Reporter::new(Some(Arc::new(Mutex::new(watcher))), 1000);
    let (limits, tuning) = (Limits::cpu(), Tuning::cpu(1));
    let planning = Planning { limits: &limits, tuning: &tuning };
    let results = pollster::block_on(drive(work, &mock, planning, budget, &progress));
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
        let reports = Reports::default();
        for (expected, (found, mock)) in [
            (
                whole(reduce.clone().into(), &[&data]),
                run(Reduce::new(&reduce, &data.clone().into()).unwrap(), fails, &reports),
            ),
            (
                whole(pool.clone().into(), &[&data]),
                run(Pool::new(&pool, &data.clone().into()).unwrap(), fails, &reports),
            ),
            (
                whole(segment.clone().into(), &[&rows, &ids]),
                run(Segment::new(&segment, &rows.clone().into(), &ids).unwrap(), fails, &reports),
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
        let reports = reports.lock().unwrap();
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
            run(Reduce::new(&operator, &data.clone().into()).unwrap(), fails, &Reports::default());
        assert!(matches!(found, Err(Error::OutOfMemory { .. })));
        assert!(mock.refused.get() < 20, "{}", mock.refused.get());
    }
}

/// A cancelled run ends with the piece that cancelled it, and reports its progress.
#[test]
fn a_cancelled_run_starts_no_more_pieces() {
    let data: TensorView =
        Tensor::from_bytes(ElementType::U8, [1 << 23], &vec![0; 1 << 23]).unwrap().into();
    let reduce = ReduceMax::new();
    let work = Reduce::new(&reduce, &data).unwrap();
    let (found, mock) =
        drive_mock(work, Fails::Start(u64::MAX), |progress| match progress.pieces {
            0 | 1 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
    let Err(Error::Cancelled { done, total: 1000 }) = found else { panic!("{found:?}") };
    assert!(0 < done && done < 1000, "{done}");
    assert_eq!(mock.sizes.borrow().len(), 2);
}
