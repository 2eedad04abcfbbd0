//! One device in many threads.

mod common;

use common::program::program;
use common::{Random, tensor};
use wgmax::operator::{MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::{Device, DeviceTensor, ElementType, Prepared, Tensor};

/// What may be held by many threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<Prepared>();
    shared::<DeviceTensor>();
};

/// An operator for each thread and round, of few kinds, so that threads ask for the same pipelines
/// at once.
fn case(random: &mut Random) -> (Operator, Vec<Tensor>) {
    let element_type = random.pick(&[ElementType::F32, ElementType::U8, ElementType::I64]);
    let n = 1 + random.below(300) as usize;
    let mut make = |shape: &[usize]| tensor(element_type, shape, 1, random);
    match n % 3 {
        0 => (ReduceMax::new().axes([1]).into(), vec![make(&[n, 77])]),
        1 => (MaxPool::new([3, 5]).strides([2, 1]).into(), vec![make(&[1, 2, n + 2, 41])]),
        _ => {
            let ids: Vec<i32> = (0..n as i32).map(|row| row / 7).collect();
            let ids = Tensor::from_slice([n], &ids).unwrap();
            (SegmentMax::sorted().num_segments(50).into(), vec![make(&[n, 9]), ids])
        }
    }
}

/// Each thread runs operators on tensors of its own, and records others into encoders of its own.
#[test]
fn many_threads_use_one_device() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    let seed = common::seed();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (device, program) = (&device, &program);
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_add(thread));
                for _ in 0..12 {
                    let (operator, inputs) = case(&mut random);
                    let inputs: Vec<_> = inputs.iter().collect();
                    let expected = operator.run(&Device::cpu(), &inputs).unwrap();
                    let found = operator.run(device, &inputs).unwrap();
                    assert!(found[0].bytes() == expected[0].bytes(), "{operator:?} run");

                    let descs: Vec<_> = inputs.iter().map(|t| t.desc()).collect();
                    let prepared = device.prepare(&operator, &descs).unwrap();
                    let from: Vec<_> = inputs.iter().map(|t| program.upload(t, 0)).collect();
                    let size = expected[0].bytes().len();
                    let to = program.result(size.next_multiple_of(4) as u64);
                    let mut encoder = program.encoder();
                    let from: Vec<_> = from.iter().collect();
                    prepared.record(&mut encoder, &from, &[&to]).unwrap();
                    program.queue.submit([encoder.finish()]);
                    assert!(
                        program.read(&to, 0, size) == expected[0].bytes(),
                        "{operator:?} recorded"
                    );
                }
            });
        }
    });
}

/// One prepared operator, whose scratch all recordings share, recorded by many threads at once.
#[test]
fn many_threads_record_one_operator() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    // A reduction that is split, and so has scratch.
    let operator: Operator = ReduceMax::new().axes([0, 1]).into();
    let desc = tensor(ElementType::F16, &[700, 333], 2, &mut Random(1)).desc().clone();
    let prepared = device.prepare(&operator, &[&desc]).unwrap();
    let seed = common::seed();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (prepared, program, operator) = (&prepared, &program, &operator);
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_add(thread));
                let input = tensor(ElementType::F16, &[700, 333], 2, &mut random);
                let expected = operator.run(&Device::cpu(), &[&input]).unwrap();
                let (from, to) = (program.upload(&input, 0), program.result(4));
                for _ in 0..12 {
                    let mut encoder = program.encoder();
                    prepared.record(&mut encoder, &[&from], &[&to]).unwrap();
                    program.queue.submit([encoder.finish()]);
                    assert!(program.read(&to, 0, 2) == expected[0].bytes());
                }
            });
        }
    });
}
