//! A device that runs out of memory, played by the CPU.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use super::drive::{Budget, Runner, drive};
use super::options::{Progress, Told};
use super::{Work, pool::Pool, reduce::Reduce, segment::Segment};
use crate::cpu;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use crate::plan::{Limits, Plan};
use crate::tensor::{ElementType, Tensor};

/// When memory runs out.
#[derive(Clone, Copy, PartialEq)]
enum Fails {
    /// As soon as pieces on the device take more than so many bytes.
    Start(u64),
    /// At the download of a piece that takes more.
    Land(u64),
}

struct Mock {
    fails: Fails,
    used: Cell<u64>,
    refused: Cell<u32>,
    sizes: RefCell<Vec<u64>>,
}

impl Runner for Mock {
    type Flight = (u64, Vec<Tensor>);

    async fn start(&self, plan: &Plan, inputs: Vec<Cow<'_, [u8]>>) -> Result<Self::Flight> {
        let bytes = super::drive::bytes(plan);
        if matches!(self.fails, Fails::Start(most) if self.used.get() + bytes > most) {
            return Err(self.refuse());
        }
        let tensor =
            |bytes: &Cow<'_, [u8]>| Tensor::from_bytes(ElementType::U8, [bytes.len()], bytes);
        let inputs: Vec<Tensor> = inputs.iter().map(tensor).collect::<Result<_>>()?;
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        self.used.set(self.used.get() + bytes);
        Ok((bytes, cpu::execute(plan, &inputs, &Default::default(), |_, _| ())?))
    }

    async fn land(&self, (bytes, results): Self::Flight) -> Result<Vec<Tensor>> {
        self.used.set(self.used.get() - bytes);
        if matches!(self.fails, Fails::Land(most) if bytes > most) {
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

fn run(work: impl Work, fails: Fails, told: &mut Vec<Progress>) -> (Result<Vec<Tensor>>, Mock) {
    let mock =
        Mock { fails, used: Cell::new(0), refused: Cell::new(0), sizes: RefCell::new(Vec::new()) };
    let budget = Budget { piece: 1 << 20, buffer: u64::MAX };
    let mut note = |progress| told.push(progress);
    let mut progress = Told::new(Some(Box::new(&mut note)), 1000);
    let limits = Limits::cpu(1);
    let results = pollster::block_on(drive(work, &mock, &limits, budget, &mut progress));
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
    for fails in [Fails::Start(400_000), Fails::Land(400_000)] {
        let mut told = Vec::new();
        for (expected, (found, mock)) in [
            (
                whole(reduce.clone().into(), &[&data]),
                run(Reduce::new(&reduce, &data).unwrap(), fails, &mut told),
            ),
            (
                whole(pool.clone().into(), &[&data]),
                run(Pool::new(&pool, &data).unwrap(), fails, &mut told),
            ),
            (
                whole(segment.clone().into(), &[&rows, &ids]),
                run(Segment::new(&segment, &rows, &ids).unwrap(), fails, &mut told),
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
        assert_eq!(told.iter().filter(|p| p.done == 1000).count(), 3);
        assert_eq!(told.iter().filter(|p| p.done == 0 && p.pieces == 0).count(), 3);
    }
}

#[test]
fn a_device_without_memory_is_given_up() {
    let data = Tensor::from_bytes(ElementType::U8, [1 << 22], &vec![0; 1 << 22]).unwrap();
    for fails in [Fails::Start(0), Fails::Land(0)] {
        let operator = ReduceMax::new();
        let (found, mock) = run(Reduce::new(&operator, &data).unwrap(), fails, &mut Vec::new());
        assert!(matches!(found, Err(Error::OutOfMemory { .. })));
        assert!(mock.refused.get() < 20, "{}", mock.refused.get());
    }
}
