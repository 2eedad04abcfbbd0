//! The CPU reuses the memory of earlier results: no old bytes may remain.

use wgmax::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::{Device, ElementType, Run, Tensor};

/// A device that has kept memory of all sizes used here, with every bit set.
fn used() -> Device {
    let device = Device::cpu();
    let copies = MaxPool::new([1]);
    let results: Vec<Tensor> = (0..4)
        .flat_map(|_| (15..22).map(|log| 1usize << log))
        .map(|size| {
            let input = Tensor::from_slice([1, 1, size], &vec![u8::MAX; size]).unwrap();
            copies.run(&device, &input).unwrap()[0].clone()
        })
        .collect();
    assert!(results.iter().all(|result| result.bytes().iter().all(|&byte| byte == u8::MAX)));
    device
}

fn check(operator: impl Into<Operator>, inputs: &[&Tensor]) {
    let operator = operator.into();
    let expected = operator.run(&Device::cpu(), inputs).unwrap();
    let found = operator.run(&used(), inputs).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        assert!(found.bytes() == expected.bytes(), "{operator:?}");
    }
}

#[test]
fn nothing_is_left_of_earlier_results() {
    let numbers = |count: usize| -> Vec<i32> {
        (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as i32 - (1 << 23)).collect()
    };
    let plane = Tensor::from_slice([2, 3, 120, 130], &numbers(2 * 3 * 120 * 130)).unwrap();
    let bytes: Vec<u8> = numbers(93_600).into_iter().map(|x| x as u8).collect();
    let packed = Tensor::from_slice([2, 3, 120, 130], &bytes).unwrap();
    for input in [&plane, &packed] {
        check(ReduceMax::new().axes([1]), &[input]);
        // Some windows have no elements.
        let pool = MaxPool::new([2, 3]).pads([3, 0], [3, 4]);
        check(pool.clone(), &[input]);
        check(pool.clone().strides([2, 2]), &[input]);
        check(MaxPool::new([21, 19]).pads([9, 9], [9, 9]), &[input]);
        check(pool.indices(Indices::default()), &[input]);
    }
    // Segments without rows, before, between and after the others.
    let rows = 60_000;
    let data = Tensor::from_slice([rows], &numbers(rows)).unwrap();
    let ids: Vec<i32> = (0..rows as i32).map(|i| 3 + i / 7 * 2).collect();
    let ids = Tensor::from_slice([rows], &ids).unwrap();
    for segments in [SegmentMax::sorted(), SegmentMax::unsorted()] {
        let segments = segments.num_segments(30_000);
        check(segments.clone(), &[&data, &ids]);
        check(segments.clone().indices(ElementType::I64), &[&data, &ids]);
    }
}
