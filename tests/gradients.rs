//! The gradients of operators: shader, CPU kernel and oracle, with both tunings for GPUs.

use crate::common::limited;
use half::f16;
use wgmax::operator::{
    Indices, Layout, MaxPool, MaxPoolBackward, MaxUnpool, Numbering, Operator, Padding, ReduceMax,
    ReduceMaxBackward, Rounding, SegmentMax, SegmentMaxBackward,
};
use wgmax::plan::Limits;
use wgmax::{
    Device, Element, ElementType, Error, Extremum, Run, RunOptions, Tensor, TensorDesc, Tuning,
    compare,
};
use wgmax_verify::{Random, Style, oracle, tensor};

const FLOATS: [ElementType; 4] =
    [ElementType::F32, ElementType::F64, ElementType::F16, ElementType::Bf16];

/// The CPU, and the GPU with both tunings.
fn devices() -> Vec<Device> {
    let gpu = crate::common::gpu().into_iter().flat_map(|gpu| crate::common::both_tunings(&gpu));
    gpu.chain([Device::cpu()]).collect()
}

/// Compares the result with the oracle's, bit for bit, on all devices.
fn check(devices: &[Device], operator: &Operator, inputs: &[&Tensor]) {
    let expected = oracle::run(operator, inputs).unwrap();
    for device in devices {
        let found = operator.run(device, inputs).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            let comparison = compare(found, expected).unwrap();
            assert!(
                comparison.is_equal(),
                "{operator:?} on {}: {comparison}",
                crate::common::describe(device)
            );
        }
    }
}

/// Poolings whose windows overlap, do not overlap, or have gaps; with padding, and windows without elements.
fn pools() -> Vec<(MaxPool, Vec<usize>)> {
    vec![
        (MaxPool::new([2, 2]).strides([2, 2]), vec![2, 3, 6, 8]),
        (MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]), vec![2, 3, 13, 11]),
        (MaxPool::new([3, 3]).pads([1, 1], [1, 1]), vec![1, 2, 9, 21]),
        (MaxPool::new([5]).dilations([3]).pads([6], [9]), vec![3, 2, 17]),
        (MaxPool::new([3, 1, 2]).layout(Layout::Nxc), vec![2, 6, 5, 4, 3]),
        (MaxPool::new([2, 3]).strides([3, 1]).layout(Layout::Nxc), vec![2, 8, 9, 5]),
        // The windows in the middle span the only element without covering it.
        (MaxPool::new([2]).dilations([2]).pads([3], [3]), vec![1, 4, 1]),
        (MaxPool::new([2, 2]).dilations([2, 1]).pads([1, 1], [1, 1]), vec![2, 2, 1, 3]),
        (MaxPool::new([2]).strides([2]).dilations([2]).pads([1], [4]), vec![1, 4, 1]),
        (MaxPool::new([2]).dilations([3]).pads([1], [2]), vec![1, 4, 1]),
        (MaxPool::new([1, 4]).padding(Padding::SameLower), vec![2, 2, 3, 10]),
        (MaxPool::new([4, 1]).padding(Padding::SameUpper), vec![2, 2, 7, 5]),
        (MaxPool::new([31, 31]).pads([15, 15], [15, 15]), vec![1, 1, 20, 34]),
        (MaxPool::new([7, 7]), vec![3, 5, 7, 7]),
        (MaxPool::new([1, 1]), vec![3, 2, 4, 4]),
        (MaxPool::new([3, 3]), vec![0, 2, 4, 4]),
        // Adaptive windows: along some axes, along all, more than elements, and none.
        (MaxPool::adaptive([7, 4]), vec![2, 3, 31, 12]),
        (MaxPool::adaptive([4, 5, 2]).layout(Layout::Nxc), vec![2, 9, 3, 5, 3]),
        (MaxPool::adaptive([4, 7]), vec![1, 3, 2, 3]),
        (MaxPool::adaptive([9]), vec![2, 1, 3]),
        (MaxPool::adaptive([3, 0]), vec![1, 3, 2, 3]),
        (MaxPool::adaptive([3001]), vec![1, 1, 5003]),
        (MaxPool::adaptive([7, 301]), vec![3, 1, 302, 200]),
        (MaxPool::adaptive([30, 1, 7]).layout(Layout::Nxc), vec![1, 41, 20, 31, 5]),
        // One window, larger than the padded data.
        (MaxPool::new([3, 4]).strides([2, 3]).rounding(Rounding::CeilTorch), vec![2, 3, 2, 2]),
        (MaxPool::new([2, 9]).strides([1, 4]).rounding(Rounding::Ceil), vec![2, 3, 2, 6]),
    ]
}

/// Poolings of so many elements that tiles have borders along each axis, and threads share planes.
fn large_pools() -> Vec<(MaxPool, Vec<usize>)> {
    vec![
        (MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]), vec![1, 2, 100, 70]),
        (MaxPool::new([3, 3]).pads([1, 1], [1, 1]), vec![1, 1, 300, 302]),
        (MaxPool::new([2, 2]).strides([2, 2]), vec![50, 1, 40, 40]),
        (MaxPool::new([5, 5]).dilations([3, 2]).pads([6, 4], [6, 4]), vec![1, 2, 61, 44]),
        // Elements between windows, and before and after them.
        (MaxPool::new([2, 3]).strides([5, 7]).pads([1, 2], [0, 0]), vec![1, 1, 203, 160]),
        (MaxPool::new([1, 2]).strides([3, 3]), vec![3, 1, 70, 64]),
        (MaxPool::new([9]).strides([2]).pads([4], [4]), vec![2, 1, 9000]),
        (
            MaxPool::new([2, 3, 2]).strides([1, 2, 1]).pads([1, 0, 0], [0, 1, 1]),
            vec![1, 2, 12, 30, 40],
        ),
        (MaxPool::new([3, 2]).strides([2, 1]).layout(Layout::Nxc), vec![2, 40, 30, 6]),
        // Strides and dilations with common divisors, and without.
        (
            MaxPool::new([3, 4]).strides([4, 3]).dilations([6, 2]).pads([7, 3], [9, 4]),
            vec![1, 1, 90, 120],
        ),
        (
            MaxPool::new([5, 2]).strides([3, 6]).dilations([4, 9]).pads([14, 8], [3, 0]),
            vec![2, 1, 80, 66],
        ),
    ]
}

fn inputs(t: ElementType, pool: &MaxPool, shape: &[usize], seed: u64) -> [Tensor; 2] {
    let random = &mut Random(seed);
    let style = if seed.is_multiple_of(2) { Style::Ties } else { Style::Any };
    let data = tensor(t, shape, style, random).unwrap();
    let results = pool.infer(data.desc()).unwrap();
    let gradient = tensor(t, results[0].shape(), Style::Any, random).unwrap();
    [data, gradient]
}

#[test]
fn pools_pass_gradients_on() {
    let devices = devices();
    for t in FLOATS {
        for (seed, (pool, shape)) in pools().into_iter().enumerate() {
            let [data, gradient] = inputs(t, &pool, &shape, seed as u64);
            let operator = MaxPoolBackward::new(pool).into();
            check(&devices, &operator, &[&data, &gradient]);
        }
    }
}

/// One launch finds the maxima and adds the gradients, except on software adapters.
#[test]
fn tiles_of_gradients_have_borders() {
    let devices = devices();
    for t in FLOATS {
        for (seed, (pool, shape)) in large_pools().into_iter().enumerate() {
            for extremum in [Extremum::Maximum, Extremum::Minimum] {
                let pool = pool.clone().extremum(extremum);
                let [data, gradient] = inputs(t, &pool, &shape, seed as u64);
                let operator = Operator::from(MaxPoolBackward::new(pool));
                for tuning in [Tuning::hardware(), Tuning::cpu(2)] {
                    let limits = Limits::from_wgpu(&wgpu::Limits::default());
                    let descs = [data.desc(), gradient.desc()];
                    let plan = operator.plan(descs, &limits, &tuning).unwrap();
                    let kernels: Vec<_> =
                        plan.shaders().map(|shader| shader.kernel.name()).collect();
                    assert_eq!(kernels, ["pool_tile_gradient"], "{operator:?}");
                }
                check(&devices, &operator, &[&data, &gradient]);
            }
        }
    }
}

/// 2^24 pairs of numbers. The numbers of a pair are the gradients of two windows on one element:
/// shaders and the CPU add them as this processor does.
#[test]
fn sums_are_rounded_as_processors_round() {
    const PAIRS: usize = 1 << 20;
    let random = &mut Random(7);
    let devices: Vec<Device> = crate::common::gpu().into_iter().chain([Device::cpu()]).collect();
    for round in 0..16 {
        let mut draw = || {
            let bits = random.next();
            let (a, b) = (bits as u32, (bits >> 32) as u32);
            match bits >> 62 {
                0 => (a, b),
                // Exponents that are close, and numbers that cancel but for the last bits.
                1 => (a, a.wrapping_add(b >> 4) ^ b << 31),
                2 => (a, a.wrapping_add(b & 0x3ff) ^ 1 << 31),
                _ => {
                    let half = |bits: u32| f16::from_bits(bits as u16).to_f32().to_bits();
                    (half(a), half(a >> 16 ^ b))
                }
            }
        };
        let pairs: Vec<(u32, u32)> = (0..PAIRS).map(|_| draw()).collect();
        let single = |(a, b): (u32, u32)| [f32::from_bits(a), f32::from_bits(b)];
        let gradient: Vec<f32> = pairs.iter().copied().flat_map(single).collect();
        check_sums(&devices, &gradient, |a, b| {
            let sum: f32 = 0.0 + a + b;
            if sum.is_nan() { f32::NAN } else { sum }
        });
        if round == 0 {
            // Doubles with the same exponents and longer fractions.
            let double = |(a, b): (u32, u32)| {
                let wide = |bits: u32| {
                    let rest = u64::from(bits.wrapping_mul(0x9e37_79b9)) & 0x1fff_ffff;
                    let float = f64::from(f32::from_bits(bits));
                    if float.is_finite() { f64::from_bits(float.to_bits() | rest) } else { float }
                };
                [wide(a), wide(b)]
            };
            let gradient: Vec<f64> = pairs.iter().copied().flat_map(double).collect();
            check_sums(&devices, &gradient, |a, b| {
                let sum: f64 = 0.0 + a + b;
                if sum.is_nan() { f64::NAN } else { sum }
            });
        }
    }
}

/// Compares the sums of pairs of gradients on all devices with those of `add`.
fn check_sums<T: Element>(devices: &[Device], gradient: &[T], add: impl Fn(T, T) -> T) {
    let count = gradient.len() / 2;
    let indices = Indices::new(ElementType::I32).numbering(Numbering::FromAxis(2));
    // Two windows: one begins with the only element, the other ends with it.
    let pool = MaxPool::new([2]).pads([1], [1]).indices(indices);
    let operator = Operator::from(MaxPoolBackward::new(pool).from_indices([count, 1, 1]));
    let indices = Tensor::from_slice([count, 1, 2], &vec![0i32; 2 * count]).unwrap();
    let sums = gradient.chunks_exact(2).map(|pair| add(pair[0], pair[1]));
    let expected = Tensor::from_slice([count, 1, 1], &sums.collect::<Vec<T>>()).unwrap();
    let gradient = Tensor::from_slice([count, 1, 2], gradient).unwrap();
    for device in devices {
        let found = operator.run(device, [&indices, &gradient]).unwrap();
        let comparison = compare(&found[0], &expected).unwrap();
        assert!(
            comparison.is_equal(),
            "{} on {}: {comparison}",
            T::TYPE,
            crate::common::describe(device)
        );
    }
}

/// Saved indices of every kind give the same gradient.
#[test]
fn saved_indices_say_where_maxima_are() {
    let devices = devices();
    for (seed, (pool, shape)) in pools().into_iter().enumerate() {
        for element_type in [ElementType::I32, ElementType::I64] {
            for axis in [0, 1, -(shape.len() as i64)] {
                let indices = Indices::new(element_type).numbering(Numbering::FromAxis(axis));
                let pool = pool.clone().indices(indices);
                let [data, gradient] = inputs(ElementType::F16, &pool, &shape, seed as u64);
                let saved = &oracle::run(&(&pool).into(), &[&data]).unwrap()[1];
                let own = MaxPoolBackward::new(pool.clone()).into();
                let from = MaxPoolBackward::new(pool.clone()).from_indices(shape.clone()).into();
                let expected = oracle::run(&own, &[&data, &gradient]).unwrap();
                let found = oracle::run(&from, &[saved, &gradient]).unwrap();
                assert!(compare(&found[0], &expected[0]).unwrap().is_equal());
                check(&devices, &from, &[saved, &gradient]);
            }
        }
    }
}

/// Tensors that are larger than the pieces allowed are computed plane by plane.
#[test]
fn large_tensors_are_streamed() {
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
    for layout in [Layout::Ncx, Layout::Nxc] {
        let pool = pool.clone().layout(layout);
        let [data, gradient] = inputs(ElementType::F32, &pool, &[7, 9, 40, 30], 5);
        let indexed = pool.clone().indices(Indices::default());
        let saved = oracle::run(&(&indexed).into(), &[&data]).unwrap().remove(1);
        let own: Operator = MaxPoolBackward::new(pool).into();
        let from = MaxPoolBackward::new(indexed).from_indices(data.shape()).into();
        let expected = oracle::run(&own, &[&data, &gradient]).unwrap();
        if let Some(device) = crate::common::gpu() {
            for (operator, first) in [(&own, &data), (&from, &saved)] {
                let options = RunOptions::default().max_piece(40_000);
                let found = operator.run_with(&device, [first, &gradient], options).unwrap();
                assert!(compare(&found[0], &expected[0]).unwrap().is_equal());
            }
        }
    }
}

/// If an element is in too many windows, no plan is made: a driver would leave the loop early.
#[test]
fn loops_keep_to_the_limit() {
    let operator = MaxPoolBackward::new(MaxPool::new([5, 4]).pads([2, 0], [2, 0]));
    let desc = |shape: [usize; 4]| TensorDesc::new(ElementType::F16, shape).unwrap();
    let (data, gradient) = (desc([1, 1, 9, 9]), desc([1, 1, 9, 6]));
    for (max_iterations, fits) in [(89, false), (90, true)] {
        let own = Limits::from_wgpu(&wgmax::wgpu::Limits::default());
        let limits = limited(own, |limits| limits.max_iterations = max_iterations);
        let operator = Operator::from(&operator);
        match operator.plan([&data, &gradient], &limits, &Tuning::hardware()) {
            Ok(_) => assert!(fits),
            Err(Error::OverLimit { needed: 90, allowed: 89, .. }) => assert!(!fits),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Windows whose taps are far apart pass many elements without having them: these are not visited.
#[test]
fn dilated_windows_are_few() {
    let devices = devices();
    for (kernel, stride, dilation, size, pad) in [
        (2, 1, 1994, 4000, 0),
        (3, 2, 701, 3000, 700),
        // A third of the elements is in no window.
        (4, 6, 639, 5000, 1277),
        (2, 70_001, 65_537, 150_000, 0),
        (3, 65_537, 70_001, 150_000, 70_000),
    ] {
        let pool = MaxPool::new([kernel]).strides([stride]).dilations([dilation]);
        let pool = pool.pads([pad], [pad]).indices(Indices::default());
        for layout in [Layout::Ncx, Layout::Nxc] {
            let pool = pool.clone().layout(layout);
            let shape = if layout == Layout::Ncx { [1, 2, size] } else { [1, size, 2] };
            for t in [ElementType::F32, ElementType::F16] {
                let [data, gradient] = inputs(t, &pool, &shape, 2);
                let saved = oracle::run(&pool.clone().into(), &[&data]).unwrap().remove(1);
                let from = MaxPoolBackward::new(pool.clone()).from_indices(data.shape());
                let own = Limits::from_wgpu(&wgmax::wgpu::Limits::default());
                let limits = limited(own, |limits| limits.max_iterations = 100);
                let descs = [saved.desc(), gradient.desc()];
                from.plan(descs, &limits, &Tuning::hardware()).unwrap();
                check(&devices, &from.into(), &[&saved, &gradient]);
            }
        }
    }
}

#[test]
fn wrong_inputs_are_refused() {
    let desc = |t, shape: &[usize]| TensorDesc::new(t, shape).unwrap();
    let f32 = |shape: &[usize]| desc(ElementType::F32, shape);
    let pool = || MaxPool::new([2]);
    let own = MaxPoolBackward::new(pool());
    let data = f32(&[1, 1, 4]);
    assert!(own.infer([&data, &f32(&[1, 1, 3])]).is_ok());
    let integers = desc(ElementType::I32, &[1, 1, 4]);
    let error = own.infer([&integers, &f32(&[1, 1, 3])]).unwrap_err();
    assert!(matches!(error, Error::WrongElementType { what: "the data", .. }), "{error}");
    let refused = |first: &TensorDesc, second: &TensorDesc, op: &MaxPoolBackward| {
        op.infer([first, second]).unwrap_err()
    };
    let error = refused(&data, &f32(&[1, 1, 4]), &own);
    assert!(matches!(error, Error::WrongInput { position: 1, .. }), "{error}");
    let halves = desc(ElementType::F16, &[1, 1, 3]);
    assert!(matches!(refused(&data, &halves, &own), Error::WrongInput { position: 1, .. }));
    let integers = desc(ElementType::I32, &[1, 1, 4]);
    let error = refused(&integers, &desc(ElementType::I32, &[1, 1, 3]), &own);
    assert!(matches!(error, Error::WrongElementType { .. }), "{error}");
    let saved = MaxPoolBackward::new(pool()).from_indices([1, 1, 4]);
    let wide = desc(ElementType::I64, &[1, 1, 3]);
    assert!(saved.infer([&wide, &f32(&[1, 1, 3])]).is_ok());
    let narrow = desc(ElementType::I32, &[1, 1, 3]);
    let error = refused(&narrow, &f32(&[1, 1, 3]), &saved);
    assert!(matches!(error, Error::WrongInput { position: 0, .. }), "{error}");
    let within = Indices::default().numbering(Numbering::FromAxis(3));
    let pool = MaxPool::new([2, 2]).indices(within);
    let within = MaxPoolBackward::new(pool).from_indices([1, 1, 4, 4]);
    let error = refused(&desc(ElementType::I64, &[1, 1, 3, 3]), &f32(&[1, 1, 3, 3]), &within);
    assert!(matches!(error, Error::BadAttribute { attribute: "indices", .. }), "{error}");

    // Indices are i32 or i64, and i32 must be able to hold all positions.
    let reduce = |element_type, size: usize| {
        let positions = Indices::new(element_type).last(false);
        let reduce = ReduceMax::new().axes([1]).indices(positions);
        let backward = ReduceMaxBackward::new(reduce).from_indices([2, size]);
        backward.infer([&desc(element_type, &[2]), &f32(&[2])])
    };
    assert!(reduce(ElementType::I32, 3).is_ok() && reduce(ElementType::I64, 1 << 31).is_ok());
    for wrong in [ElementType::U8, ElementType::F32, ElementType::U32] {
        let error = reduce(wrong, 3).unwrap_err();
        assert!(matches!(error, Error::BadAttribute { attribute: "indices", .. }), "{error}");
    }
    let error = reduce(ElementType::I32, 1 << 31).unwrap_err();
    assert!(matches!(error, Error::IndexTooLarge { .. }), "{error}");
    let segments = |rows: usize, gradient: &[usize]| {
        let segment = SegmentMax::sorted().indices(ElementType::I32);
        let backward = SegmentMaxBackward::new(segment).from_indices([rows]);
        backward.infer([&desc(ElementType::I32, gradient), &f32(gradient)])
    };
    assert!(segments(7, &[3]).is_ok());
    let error = segments(1 << 31, &[3]).unwrap_err();
    assert!(matches!(error, Error::IndexTooLarge { .. }), "{error}");
    let error = segments(7, &[]).unwrap_err();
    assert!(matches!(error, Error::WrongInput { position: 1, .. }), "{error}");
    let backward = SegmentMaxBackward::new(SegmentMax::sorted());
    let error = backward.infer([&f32(&[3]), &desc(ElementType::I32, &[3]), &f32(&[])]).unwrap_err();
    assert!(matches!(error, Error::WrongInput { position: 2, .. }), "{error}");
}

/// Indices within a box without elements: no value is stored.
#[test]
fn nothing_is_stored_where_positions_count_nothing() {
    let values = Tensor::from_slice([2], &[1.0f32, 2.0]).unwrap();
    let indices = Tensor::from_slice([2], &[0i64, 1]).unwrap();
    let unpool = Operator::from(MaxUnpool::new([4]).indices_within([0]));
    for device in devices() {
        let plan = device.plan(unpool.clone(), [values.desc(), indices.desc()]).unwrap();
        let inputs = [device.upload(&values).unwrap(), device.upload(&indices).unwrap()];
        let found = device.execute(&plan, inputs.each_ref()).unwrap();
        let found = found[0].download().unwrap();
        assert_eq!(
            found.to_vec::<f32>().unwrap(),
            [0.0; 4],
            "{}",
            crate::common::describe(&device)
        );
    }
}
