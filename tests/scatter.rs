//! Gradients that store values at positions, and MaxUnpool: shader, CPU kernel and oracle, with
//! both tunings for GPUs.

use std::sync::atomic::Ordering::Relaxed;

use wgmax::operator::{
    Indices, MaxPool, MaxUnpool, Operator, ReduceMax, ReduceMaxBackward, ScatterBy, ScatterMax,
    ScatterMaxBackward, SegmentMax, SegmentMaxBackward,
};
use wgmax::plan::Limits;
use wgmax::{
    Device, ElementType, Error, Extremum, Nan, Run, RunOptions, Tensor, TensorDesc, Tuning,
};
use wgmax_verify::{Random, Style, oracle, tensor};

const FLOATS: [ElementType; 4] =
    [ElementType::F32, ElementType::F64, ElementType::F16, ElementType::Bf16];

/// The CPU, and the GPU with both tunings.
fn devices() -> Vec<Device> {
    let gpu = crate::common::gpu().into_iter().flat_map(|gpu| crate::common::both_tunings(&gpu));
    gpu.chain([Device::cpu()]).collect()
}

/// Compares the first result with the oracle's, bit for bit, on all devices.
fn check(devices: &[Device], operator: &Operator, inputs: &[&Tensor]) -> Tensor {
    check_all(devices, operator, inputs).remove(0)
}

/// Compares all results with the oracle's, bit for bit, on all devices.
fn check_all(devices: &[Device], operator: &Operator, inputs: &[&Tensor]) -> Vec<Tensor> {
    let expected = oracle::run(operator, inputs).unwrap();
    for device in devices {
        let found = operator.run(device, inputs).unwrap();
        let on = crate::common::describe(device);
        assert_eq!(found.len(), expected.len(), "{operator:?} on {on}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.desc(), expected.desc(), "{operator:?} on {on}");
            // Values keep their bits, NaN too.
            assert!(found.bytes() == expected.bytes(), "{operator:?} on {on}");
        }
    }
    expected
}

/// Reductions of one, several and no axes, which alternate with kept axes; some have no elements.
fn reductions() -> Vec<(ReduceMax, Vec<usize>)> {
    let axes = |axes: &[i64]| ReduceMax::new().axes(axes.iter().copied());
    vec![
        (ReduceMax::new(), vec![]),
        (ReduceMax::new(), vec![2, 3, 5]),
        (axes(&[1]), vec![7, 33]),
        (axes(&[0]).keep_dims(true), vec![19, 6]),
        (axes(&[1]), vec![3, 9, 14]),
        (axes(&[0, 2]), vec![4, 5, 6]),
        (axes(&[0, -2, -4]), vec![3, 2, 4, 3, 2, 5, 1]),
        (axes(&[1, 3, 5, 7]), vec![2, 3, 2, 2, 1, 3, 2, 2, 3]),
        (axes(&[]), vec![4, 3]),
        (axes(&[1]), vec![2, 0, 3]),
        (axes(&[1]), vec![0, 3]),
    ]
}

#[test]
fn reductions_pass_gradients_on() {
    let devices = devices();
    for t in FLOATS {
        for (seed, (reduce, shape)) in reductions().into_iter().enumerate() {
            let random = &mut Random(seed as u64);
            for (nan, extremum, last) in [
                (Nan::Propagate, Extremum::Maximum, false),
                (Nan::Propagate, Extremum::Maximum, true),
                (Nan::Ignore, Extremum::Minimum, true),
            ] {
                let style = if seed.is_multiple_of(2) { Style::Ties } else { Style::Any };
                let data = tensor(t, &shape, style, random).unwrap();
                let reduce = reduce.clone().nan(nan).extremum(extremum);
                let [maxima] = reduce.infer(data.desc()).unwrap().exactly().unwrap();
                let gradient = tensor(t, maxima.shape(), Style::Hard, random).unwrap();
                for element_type in [ElementType::I32, ElementType::I64] {
                    let indexed = reduce.clone().indices(Indices::new(element_type).last(last));
                    let own = ReduceMaxBackward::new(indexed.clone());
                    let from = own.clone().from_indices(shape.clone());
                    let expected = check(&devices, &own.into(), &[&data, &gradient]);
                    let saved = match oracle::run(&indexed.clone().into(), &[&data]) {
                        Ok(mut results) => results.remove(1),
                        // Empty sets have no positions, and their indices are not used.
                        Err(Error::EmptySet { .. }) => {
                            let desc = TensorDesc::new(element_type, maxima.shape()).unwrap();
                            let zeros = vec![0; desc.byte_len()];
                            Tensor::from_bytes(element_type, desc.shape(), &zeros).unwrap()
                        }
                        Err(error) => panic!("{error}"),
                    };
                    let found = check(&devices, &from.into(), &[&saved, &gradient]);
                    assert_eq!(found.bytes(), expected.bytes());
                }
            }
        }
    }
}

/// The gradient of each maximum is stored once, bit for bit, and all other elements are +0.
#[test]
fn gradients_keep_their_bits() {
    let data = Tensor::from_slice([2, 3], &[1.0f32, 5.0, 5.0, -0.0, 0.0, f32::NAN]).unwrap();
    let signalling = f32::from_bits(0xff80_0001);
    let gradient = Tensor::from_slice([2], &[signalling, -0.0]).unwrap();
    let backward = |last| {
        let positions = Indices::default().last(last);
        ReduceMaxBackward::new(ReduceMax::new().axes([1]).indices(positions)).into()
    };
    let bits = |last: bool| -> Vec<u32> {
        let found = check(&devices(), &backward(last), &[&data, &gradient]);
        found.as_slice::<f32>().unwrap().iter().map(|element| element.to_bits()).collect()
    };
    assert_eq!(bits(false), [0, 0xff80_0001, 0, 0, 0, 0x8000_0000]);
    assert_eq!(bits(true), [0, 0, 0xff80_0001, 0, 0, 0x8000_0000]);
}

#[test]
fn segments_pass_gradients_on() {
    let devices = devices();
    let ids: Vec<i32> = (0..70).map(|row| row / 7 + row / 20).collect();
    let any: Vec<i32> = (0..70).map(|row| (row * 37) % 15 - 1).collect();
    let offsets = [3i32, 3, 10, 11, 40, 40, 66];
    let cases = [
        (SegmentMax::sorted(), &ids[..], 13),
        (SegmentMax::sorted(), &ids[..], 20),
        (SegmentMax::sorted(), &ids[..], 5),
        (SegmentMax::sorted().num_segments(13), &ids[..], 13),
        (SegmentMax::unsorted(), &any[..], 14),
        (SegmentMax::offsets(), &offsets[..], 6),
        (SegmentMax::sorted(), &[][..], 3),
        (SegmentMax::sorted(), &ids[..], 0),
    ];
    for (seed, (segment, ids, segments)) in cases.into_iter().enumerate() {
        let random = &mut Random(seed as u64);
        let rows = if ids.is_empty() { 0 } else { 70 };
        for inner in [&[][..], &[1], &[3], &[2, 4], &[0]] {
            for t in FLOATS {
                let shape = |first: usize| [&[first], inner].concat();
                let data = tensor(t, &shape(rows), Style::Ties, random).unwrap();
                let gradient = tensor(t, &shape(segments), Style::Hard, random).unwrap();
                let ids = Tensor::from_slice([ids.len()], ids).unwrap();
                let own = SegmentMaxBackward::new(segment.clone());
                let expected = check(&devices, &own.into(), &[&data, &ids, &gradient]);
                let mut indexed = segment.clone().indices(ElementType::I64);
                if segment != SegmentMax::offsets() {
                    indexed = indexed.num_segments(segments);
                }
                let saved = oracle::run(&(&indexed).into(), &[&data, &ids]).unwrap().remove(1);
                let from = SegmentMaxBackward::new(indexed).from_indices(data.shape());
                let found = check(&devices, &from.into(), &[&saved, &gradient]);
                assert_eq!(found.bytes(), expected.bytes());
            }
        }
    }
}

/// The shapes of data and of indices, and the operator.
fn scatters() -> Vec<(Vec<usize>, Vec<usize>, ScatterMax)> {
    let (along, vectors) = (ScatterMax::along, ScatterMax::by_vectors());
    let shapes =
        |data: &[usize], indices: &[usize], op: ScatterMax| (data.to_vec(), indices.to_vec(), op);
    vec![
        shapes(&[9], &[40], along(0)),
        shapes(&[4, 5, 6], &[4, 11, 6], along(1)),
        // Updates that are smaller than the data along outer axes, inner axes, and both.
        shapes(&[4, 5, 6], &[3, 7, 6], along(1)),
        shapes(&[4, 5, 6], &[4, 7, 5], along(-2)),
        shapes(&[3, 4, 2, 5], &[2, 3, 2, 9], along(3)),
        shapes(&[3, 4, 2, 5], &[8, 2, 1, 4], along(0)),
        shapes(&[3, 1, 2], &[3, 4, 1], along(1)),
        shapes(&[7, 3], &[19, 1], vectors.clone()),
        shapes(&[5, 4, 3], &[4, 5, 2], vectors.clone()),
        shapes(&[5, 4], &[0, 2], vectors.clone()),
        shapes(&[2, 3], &[4, 0], vectors.clone()),
        shapes(&[], &[3, 0], vectors.clone()),
        shapes(&[0, 3], &[0, 1], vectors),
        shapes(&[4, 3], &[0, 3], along(0)),
    ]
}

#[test]
fn scatters_pass_gradients_on() {
    let devices = devices();
    for (seed, (shape, of, scatter)) in scatters().into_iter().enumerate() {
        let random = &mut Random(seed as u64);
        for (number, t) in FLOATS.into_iter().enumerate() {
            let data = tensor(t, &shape, Style::Ties, random).unwrap();
            let updates = match scatter.by {
                ScatterBy::Axis(_) => of.clone(),
                ScatterBy::Vectors => [&of[..of.len() - 1], &shape[of[of.len() - 1]..]].concat(),
            };
            let updates = tensor(t, &updates, Style::Ties, random).unwrap();
            let size = |i: usize| match scatter.by {
                ScatterBy::Axis(axis) => shape[axis.rem_euclid(shape.len() as i64) as usize],
                ScatterBy::Vectors => shape[i % of[of.len() - 1].max(1)],
            };
            let count: usize = of.iter().product();
            let indices: Vec<i64> = (0..count)
                .map(|i| random.below(2 * size(i) as u64) as i64 - size(i) as i64)
                .collect();
            let indices = Tensor::from_slice(&of[..], &indices).unwrap();
            let gradient = tensor(t, &shape, Style::Hard, random).unwrap();
            let scatter = scatter
                .clone()
                .include_data(number % 2 == 0)
                .extremum([Extremum::Maximum, Extremum::Minimum][number / 2])
                .nan([Nan::Propagate, Nan::Ignore][(seed + number) % 2]);
            let own = ScatterMaxBackward::new(scatter.clone());
            let expected =
                check_all(&devices, &own.into(), &[&data, &indices, &updates, &gradient]);
            let indexed = scatter.indices(ElementType::I32);
            let saved =
                oracle::run(&(&indexed).into(), &[&data, &indices, &updates]).unwrap().remove(1);
            let from = ScatterMaxBackward::new(indexed).from_indices(&of[..]);
            let found = check_all(&devices, &(&from).into(), &[&saved, &gradient]);
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.bytes(), expected.bytes(), "{from:?}");
            }
            // Given winners: several elements name one update, and some name none.
            let few = |_| random.below(4) as i32 - 2;
            let given: Vec<i32> = (0..data.len()).map(few).collect();
            let given = Tensor::from_slice(&shape[..], &given).unwrap();
            check_all(&devices, &from.into(), &[&given, &gradient]);
        }
    }
}

/// Gradients in pieces, and with bindings that hold few elements.
#[test]
fn gradients_of_scatters_are_cut() {
    let random = &mut Random(8);
    for (shape, of, scatter) in [
        (vec![40, 60], vec![30, 70], ScatterMax::along(1)),
        (vec![40, 60], vec![90, 60], ScatterMax::along(0)),
        (vec![60, 40], vec![50, 1], ScatterMax::by_vectors()),
        // Each row of the data has its own updates; then updates of which this only seems true.
        (vec![40, 60], vec![40, 70], ScatterMax::along(1)),
        (vec![1, 400], vec![2, 200], ScatterMax::along(0)),
    ] {
        for t in [ElementType::F32, ElementType::F16] {
            let rows =
                if scatter.by == ScatterBy::Vectors { vec![of[0], shape[1]] } else { of.clone() };
            let data = tensor(t, &shape, Style::Hard, random).unwrap();
            let updates = tensor(t, &rows, Style::Hard, random).unwrap();
            let gradient = tensor(t, &shape, Style::Hard, random).unwrap();
            let size = if shape[0] == 1 { 1 } else { 40 };
            let places = (0..of.iter().product()).map(|_: usize| random.below(size) as i64);
            let places = Tensor::from_slice(&of[..], &places.collect::<Vec<_>>()).unwrap();
            let operator = Operator::from(ScatterMaxBackward::new(scatter.clone()));
            let inputs = [&data, &places, &updates, &gradient];
            let expected = check_all(&[Device::cpu()], &operator, &inputs);
            let saved = oracle::run(
                &scatter.clone().indices(ElementType::I64).into(),
                &[&data, &places, &updates],
            );
            let saved = saved.unwrap().remove(1);
            let from = ScatterMaxBackward::new(scatter.clone()).from_indices(&of[..]).into();
            // Given winners: several elements have the same one.
            let given: Vec<i64> = (0..data.len()).map(|_| random.below(4) as i64 - 1).collect();
            let given = Tensor::from_slice(&shape[..], &given).unwrap();
            let of_given = check_all(&[Device::cpu()], &from, &[&given, &gradient]);
            for device in devices() {
                let options = RunOptions::new().max_piece(3000);
                let found = operator.run_with(&device, inputs, options).unwrap();
                assert!(found.iter().zip(&expected).all(|(f, e)| f.bytes() == e.bytes()));
                for (operator, inputs, expected) in [
                    (&operator, &inputs[..], &expected),
                    (&from, &[&saved, &gradient][..], &expected),
                    (&from, &[&given, &gradient][..], &of_given),
                ] {
                    let mut limits = device.info().limits.clone();
                    limits.max_binding_size = 1024;
                    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
                    let plan = operator.plan(&descs, &limits, device.tuning()).unwrap();
                    plan.check(&limits).unwrap();
                    let there: Vec<_> =
                        inputs.iter().map(|input| device.upload(input).unwrap()).collect();
                    let found = device.execute(&plan, there.iter().collect::<Vec<_>>()).unwrap();
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            found.download().unwrap().bytes() == expected.bytes(),
                            "{operator:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Gradients without data or without updates, in pieces too.
#[test]
fn gradients_without_elements_are_streamed() {
    for (data, indices, shape) in [
        (vec![1000], vec![0], None),
        (vec![1, 4], vec![0, 2], Some(vec![0, 2])),
        (vec![0, 3], vec![0, 3], None),
        (vec![3, 0], vec![5, 0], Some(vec![5, 0])),
    ] {
        let axis = i64::from(data[0] == 1);
        let filled = |t, shape: &[usize]| {
            Tensor::from_bytes(
                t,
                shape,
                &vec![0; shape.iter().product::<usize>() * ElementType::size(t)],
            )
            .unwrap()
        };
        let (x, at) = (filled(ElementType::F32, &data), filled(ElementType::I64, &indices));
        let (updates, winners) =
            (filled(ElementType::F32, &indices), filled(ElementType::I64, &data));
        let operator = ScatterMaxBackward::new(ScatterMax::along(axis));
        let (operator, inputs) = match shape {
            Some(shape) => (operator.from_indices(shape), vec![&winners, &x]),
            None => (operator, vec![&x, &at, &updates, &x]),
        };
        let operator = Operator::from(operator);
        let expected = check_all(&devices(), &operator, &inputs);
        for device in devices() {
            let found =
                operator.run_with(&device, &inputs[..], RunOptions::new().max_piece(100)).unwrap();
            assert!(
                found
                    .iter()
                    .zip(&expected)
                    .all(|(f, e)| f.desc() == e.desc() && f.bytes() == e.bytes())
            );
        }
    }
    let [data, ids, gradient] = [&[0, 4][..], &[0], &[2, 4]]
        .map(|shape| Tensor::from_slice(shape, &vec![0f32; shape.iter().product()]).unwrap());
    let ids = Tensor::from_slice(ids.shape(), &[0i32; 0]).unwrap();
    let backward = SegmentMaxBackward::new(SegmentMax::sorted());
    let column = Tensor::from_slice([4], &[0f32; 4]).unwrap();
    for device in devices() {
        let options = || RunOptions::new().max_piece(1);
        let found = backward.run_with(&device, [&data, &ids, &gradient], options()).unwrap();
        assert_eq!(found[0].shape(), [0, 4]);
        let backward = ReduceMaxBackward::new(ReduceMax::new().axes([0]));
        let found = backward.run_with(&device, [&data, &column], options()).unwrap();
        assert_eq!((found[0].element_type(), found[0].shape()), (ElementType::F32, &[0, 4][..]));
    }
}

/// For any sizes, planning a scatter or its gradient gives an error or a plan within all limits.
#[test]
fn hostile_scatters_are_errors_or_plans() {
    let sizes = [0, 1, 2, 3, 7, 300, 70_001, 1 << 20, 1 << 31, (1 << 31) + 1, 1 << 40, usize::MAX];
    let random = &mut Random(17);
    let mut plans = [0; 3];
    for _ in 0..2000 {
        let count = if random.once_in(3) { sizes.len() } else { 6 } as u64;
        let mut shape = |rank: u64| -> Vec<usize> {
            (0..rank).map(|_| sizes[random.below(count) as usize]).collect()
        };
        let (data, mut of) = (shape(3), shape(3));
        let random = &mut *random;
        let rank = random.below(4) as usize;
        let (data, vectors) = (&data[..rank], random.once_in(2));
        // Most shapes fit the data.
        if !vectors && !random.once_in(4) {
            of = data.to_vec();
            of.iter_mut().for_each(|size| *size -= random.below(*size as u64 / 2 + 1) as usize);
        } else if !random.once_in(4) {
            of[2] = random.below(rank as u64 + 1) as usize;
        }
        let scatter = match vectors {
            true => ScatterMax::by_vectors(),
            false => ScatterMax::along(random.below(6) as i64 - 3),
        };
        let index = *[ElementType::I32, ElementType::I64].get(random.below(2) as usize).unwrap();
        let scatter = scatter
            .include_data(random.once_in(2))
            .indices(random.once_in(2).then(|| Indices::new(index)))
            .status(random.once_in(3));
        let t = FLOATS[random.below(4) as usize];
        let part = of.last().and_then(|&length| data.get(length..)).unwrap_or_default();
        let updates = match vectors {
            true => [&of[..of.len().saturating_sub(1)], part].concat(),
            false => of.clone(),
        };
        let descs = [(t, data), (index, &of[..]), (t, &updates[..]), (t, data), (index, data)];
        let descs: Option<Vec<_>> =
            descs.into_iter().map(|(t, shape)| TensorDesc::new(t, shape).ok()).collect();
        let Some(descs) = descs else { continue };
        let backward = ScatterMaxBackward::new(scatter.clone());
        let cases: [(Operator, Vec<&TensorDesc>); 3] = [
            (scatter.into(), descs[..3].iter().collect()),
            (backward.clone().into(), descs[..4].iter().collect()),
            (backward.from_indices(&of[..]).into(), vec![&descs[4], &descs[3]]),
        ];
        for ((operator, inputs), count) in cases.iter().zip(&mut plans) {
            for mut limits in [Limits::cpu(), Limits::from_wgpu(&wgpu::Limits::default())] {
                // Small bindings of much data make millions of launches.
                let elements = inputs.iter().map(|input| input.len()).max().unwrap_or(0);
                if elements < 1 << 16 && random.once_in(2) {
                    limits.max_binding_size = limits.max_binding_size.min(4096);
                }
                let tuning = [Tuning::hardware, Tuning::software][random.below(2) as usize]();
                let Ok(plan) = operator.plan(inputs, &limits, &tuning) else { continue };
                *count += 1;
                plan.check(&limits)
                    .unwrap_or_else(|wrong| panic!("{wrong}: {operator:?} of {inputs:?}"));
            }
        }
    }
    assert!(plans.iter().all(|&count| count > 100), "{plans:?}");
}

/// Shapes of indices that do not belong to the data: along an axis, and of vectors.
#[test]
fn wrong_indices_of_scatters_are_errors() {
    let desc = |t, shape: &[usize]| TensorDesc::new(t, shape).unwrap();
    let refused = |scatter: ScatterMax, shape: &[usize]| {
        let (data, updates) = (desc(ElementType::F32, &[4, 5]), desc(ElementType::F32, shape));
        let error = scatter.infer([&data, &desc(ElementType::I64, shape), &updates]).unwrap_err();
        assert!(matches!(error, Error::ScatterIndicesShape { .. }), "{error}");
        error.to_string()
    };
    let of = "indices of the shape [4] do not fit data of the shape [4, 5]: ";
    let rank = refused(ScatterMax::along(0), &[4]);
    assert_eq!(rank, format!("{of}they need its rank, unless they are vectors"));
    let large = refused(ScatterMax::along(0), &[9, 6]);
    assert!(large.ends_with("they may be larger only along the indexed axis"), "{large}");
    let long = refused(ScatterMax::by_vectors(), &[4]);
    assert_eq!(long, format!("{of}a vector has at most one number for each axis"));
    let none = refused(ScatterMax::by_vectors(), &[]);
    assert!(none.ends_with("their last axis has the vectors"), "{none}");
}

#[test]
fn wrong_gradients_of_scatters_are_errors() {
    let desc = |t, shape: &[usize]| TensorDesc::new(t, shape).unwrap();
    let (f32, i64) = (ElementType::F32, ElementType::I64);
    let (x, at, g) = (desc(f32, &[4, 3]), desc(i64, &[2, 3]), desc(f32, &[4, 3]));
    let own = ScatterMaxBackward::new(ScatterMax::along(0));
    let updates = desc(f32, &[2, 3]);
    let found = own.infer([&x, &at, &updates, &g]).unwrap();
    assert_eq!((found[0].shape(), found[1].shape()), (&[4, 3][..], &[2, 3][..]));
    let wrong = |inputs: &[&TensorDesc]| own.infer(inputs).unwrap_err();
    assert!(matches!(wrong(&[&x, &at, &updates]), Error::InputCount { .. }));
    assert!(matches!(wrong(&[&x, &at, &updates, &updates]), Error::WrongInput { position: 3, .. }));
    assert!(matches!(wrong(&[&x, &at, &x, &g]), Error::WrongInput { position: 2, .. }));
    let integers = desc(ElementType::I32, &[4, 3]);
    let inputs = [&integers, &at, &desc(ElementType::I32, &[2, 3]), &integers];
    assert!(matches!(wrong(&inputs), Error::WrongElementType { .. }));
    let from = |shape: &[usize]| own.clone().from_indices(shape);
    let winners = desc(i64, &[4, 3]);
    assert_eq!(from(&[9, 2]).infer([&winners, &g]).unwrap()[1].shape(), [9, 2]);
    for shape in [&[9, 4][..], &[9], &[9, 3, 1]] {
        let error = from(shape).infer([&winners, &g]).unwrap_err();
        assert!(matches!(error, Error::BadAttribute { attribute: "shape", .. }), "{error}");
    }
    let vectors = ScatterMaxBackward::new(ScatterMax::by_vectors());
    for (shape, of_updates) in [(&[5, 1][..], &[5, 3][..]), (&[5, 2], &[5]), (&[5, 0], &[5, 4, 3])]
    {
        let from = vectors.clone().from_indices(shape);
        assert_eq!(from.infer([&winners, &g]).unwrap()[1].shape(), of_updates);
    }
    for shape in [&[5, 3][..], &[]] {
        let error = vectors.clone().from_indices(shape).infer([&winners, &g]).unwrap_err();
        assert!(matches!(error, Error::BadAttribute { attribute: "shape", .. }), "{error}");
    }
    assert!(matches!(from(&[9, 2]).infer([&at, &g]), Err(Error::WrongInput { .. })));
    // Indices on the host are checked.
    let data = Tensor::from_slice([2], &[1.0f32, 2.0]).unwrap();
    let far = Tensor::from_slice([2], &[0i64, 2]).unwrap();
    let error = own.run(&Device::cpu(), [&data, &far, &data, &data]).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfRange { position: 1, value: 2, .. }), "{error}");
    let far = Tensor::from_slice([2], &[0, u64::MAX]).unwrap();
    let error = ScatterMax::along(0).run(&Device::cpu(), [&data, &far, &data]).unwrap_err();
    assert!(error.to_string().contains("index 18446744073709551615 at position 1"), "{error}");
}

/// If several given rows name one element, the gradient of the last segment counts. Numbers that name no row
/// are dropped.
#[test]
fn the_last_of_several_segments_counts() {
    let devices = devices();
    let random = &mut Random(8);
    for (rows, inner, segments) in [
        (3, 5, 40),
        (1, 7, 9),
        (70, 1, 3000),
        (2, 3, 1),
        (9, 130, 50),
        (0, 2, 3),
        (3, 0, 2),
        (3, 2, 0),
    ] {
        for t in FLOATS {
            let gradient = tensor(t, &[segments, inner], Style::Hard, random).unwrap();
            let rows_of: Vec<i64> = (0..segments * inner)
                .map(|_| match random.below(6) {
                    0 => random.pick(&[-1, rows, i32::MIN.into()]),
                    _ => random.below(rows.max(1) as u64) as i64,
                })
                .collect();
            for index_type in [ElementType::I32, ElementType::I64] {
                let given = crate::common::ids_tensor(index_type, &rows_of);
                let shape = gradient.shape().to_vec();
                let given = Tensor::from_bytes(index_type, shape, given.bytes()).unwrap();
                let segment = SegmentMax::sorted().indices(index_type);
                let backward = SegmentMaxBackward::new(segment);
                let backward = backward.from_indices([rows as usize, inner]).into();
                check(&devices, &backward, &[&given, &gradient]);
            }
        }
    }
    // Bits of two gradients are not mixed.
    let gradient = [1.0f32, 2.0, 4.0, 8.0].map(half::f16::from_f32);
    let gradient = Tensor::from_slice([4], &gradient).unwrap();
    let given = Tensor::from_slice([4], &[1i64, 0, 1, 3]).unwrap();
    let backward = SegmentMaxBackward::new(SegmentMax::sorted()).from_indices([2]).into();
    let found = check(&devices, &backward, &[&given, &gradient]);
    assert_eq!(found.as_slice::<half::f16>().unwrap(), [2.0, 4.0].map(half::f16::from_f32));
}

/// Random indices: some elements have several values, and the last one counts.
#[test]
fn values_are_unpooled() {
    let devices = devices();
    let shapes: [(&[usize], &[usize], &[usize]); 6] = [
        (&[1, 1, 2, 2], &[1, 1, 4, 4], &[1, 1, 4, 4]),
        (&[300], &[100], &[100]),
        (&[2, 3, 4], &[3, 5, 7, 2], &[2, 5, 6, 2]),
        (&[50, 3], &[4, 4, 4], &[4, 4, 1]),
        (&[0, 3], &[4, 5], &[4, 5]),
        (&[], &[], &[]),
    ];
    for (seed, (values, shape, within)) in shapes.into_iter().enumerate() {
        let random = &mut Random(seed as u64);
        let elements: usize = within.iter().product();
        for t in FLOATS {
            let values = tensor(t, values, Style::Hard, random).unwrap();
            let mut index = || random.below(elements as u64);
            let wide: Vec<i64> = (0..values.len()).map(|_| index() as i64).collect();
            let narrow: Vec<i32> = wide.iter().map(|&index| index as i32).collect();
            let wide = Tensor::from_slice(values.shape(), &wide).unwrap();
            let narrow = Tensor::from_slice(values.shape(), &narrow).unwrap();
            let op: Operator = MaxUnpool::new(shape).indices_within(within).into();
            let expected = check(&devices, &op, &[&values, &wide]);
            let found = check(&devices, &op, &[&values, &narrow]);
            assert_eq!(found.bytes(), expected.bytes());
        }
    }
}

/// MaxPool and then MaxUnpool leave the maxima where they were.
#[test]
fn unpooling_puts_maxima_back() {
    let pool = MaxPool::new([2, 3]).strides([2, 3]).indices(wgmax::operator::Indices::default());
    let data: Vec<f32> = (0..2 * 3 * 4 * 6).map(|i| ((i * 37) % 144) as f32 + 1.0).collect();
    let data = Tensor::from_slice([2, 3, 4, 6], &data).unwrap();
    for device in devices() {
        let pooled = pool.run(&device, &data).unwrap();
        let unpool = Operator::from(MaxUnpool::new(data.shape()));
        let back = unpool.run(&device, [&pooled[0], &pooled[1]]).unwrap();
        let (back, data) = (back[0].as_slice::<f32>().unwrap(), data.as_slice::<f32>().unwrap());
        assert!(back.iter().zip(data).all(|(&back, &was)| back == was || back == 0.0));
        assert_eq!(back.iter().filter(|&&back| back != 0.0).count(), pooled[0].len());
    }
}

/// Tensors larger than a piece: positions are found in pieces, and the host stores the values.
#[test]
fn large_tensors_are_streamed() {
    let random = &mut Random(3);
    let mut tensor = |shape: &[usize]| tensor(ElementType::F16, shape, Style::Any, random).unwrap();
    let (data, gradient) = (tensor(&[30, 40, 50]), tensor(&[30, 50]));
    let reduce = ReduceMax::new().axes([1]).indices(Indices::default());
    let ids: Vec<i32> = (0..30).map(|row| row / 4).collect();
    let ids = Tensor::from_slice([30], &ids).unwrap();
    let rows = tensor(&[8, 40, 50]);
    let segment = SegmentMax::sorted().num_segments(8).indices(ElementType::I64);
    let values = tensor(&[30, 40, 50]);
    let indices: Vec<i64> = (0..60_000).map(|i| (i * 7919) % 50_000).collect();
    let indices = Tensor::from_slice(values.shape(), &indices).unwrap();
    let saved = |forward: Operator, inputs: &[&Tensor]| {
        oracle::run(&forward, inputs).unwrap().swap_remove(1)
    };
    let of_sets = saved((&reduce).into(), &[&data]);
    let of_segments = saved((&segment).into(), &[&data, &ids]);
    let (reduce, segment) = (ReduceMaxBackward::new(reduce), SegmentMaxBackward::new(segment));
    let reduce_saved = reduce.clone().from_indices(data.shape());
    let segment_saved = segment.clone().from_indices(data.shape());
    let few: Vec<i64> = (0..16_000).map(|i| (i * 7919) % 4 - 1).collect();
    let few = Tensor::from_slice(rows.shape(), &few).unwrap();
    // The last value: whether the run finds positions.
    let cases: [(Operator, Vec<&Tensor>, bool); 6] = [
        (reduce.into(), vec![&data, &gradient], true),
        (reduce_saved.into(), vec![&of_sets, &gradient], false),
        (segment.into(), vec![&data, &ids, &rows], true),
        (segment_saved.clone().into(), vec![&of_segments, &rows], false),
        (segment_saved.into(), vec![&few, &rows], false),
        (MaxUnpool::new([50, 1000]).into(), vec![&values, &indices], false),
    ];
    let gpus: Vec<Device> =
        crate::common::gpu().iter().flat_map(crate::common::both_tunings).collect();
    for (operator, inputs, finds) in cases {
        check(&[Device::cpu()], &operator, &inputs);
        let expected = oracle::run(&operator, &inputs).unwrap().remove(0);
        for device in &gpus {
            let (options, pieces) = crate::common::counted(10_000);
            let found = operator.run_with(device, &inputs, options).unwrap();
            let pieces = pieces.load(Relaxed);
            let on = crate::common::describe(device);
            assert!(found[0].bytes() == expected.bytes(), "{operator:?} on {on}");
            assert_eq!(pieces > 5, finds, "{operator:?} on {on}: {pieces} pieces");
        }
    }
}

/// An index that names no element is an error that gives its position.
#[test]
fn foreign_indices_are_refused() {
    let values = Tensor::from_slice([2], &[1.0f32, 2.0]).unwrap();
    for device in devices() {
        for wrong in [-1i64, 4, i64::MIN, 1 << 32] {
            let indices = Tensor::from_slice([2], &[0i64, wrong]).unwrap();
            let unpool = Operator::from(MaxUnpool::new([4]));
            let error = unpool.run(&device, [&values, &indices]).unwrap_err();
            let right = matches!(error,
                Error::IndexOutOfRange { position: 1, value, elements: 4 } if value == i128::from(wrong));
            assert!(right, "{error}");
            // On a device the index is not checked, and the value is left out.
            let uploaded = [&values, &indices].map(|tensor| device.upload(tensor).unwrap());
            let plan = device.plan(&unpool, [values.desc(), indices.desc()]).unwrap();
            let found = device.execute(&plan, [&uploaded[0], &uploaded[1]]).unwrap();
            let found = found[0].download().unwrap();
            assert_eq!(found.as_slice::<f32>().unwrap(), [1.0, 0.0, 0.0, 0.0]);
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let desc = |t, shape: &[usize]| TensorDesc::new(t, shape).unwrap();
    let (f32, f16, i32) = (ElementType::F32, ElementType::F16, ElementType::I32);
    let data = desc(f32, &[2, 3]);
    let reduce = Operator::from(ReduceMaxBackward::new(ReduceMax::new().axes([1])));
    assert_eq!(reduce.infer([&data, &desc(f32, &[2])]).unwrap()[0], data);
    for wrong in [desc(f32, &[3]), desc(f16, &[2])] {
        let error = reduce.infer([&data, &wrong]).unwrap_err();
        assert!(matches!(error, Error::WrongInput { position: 1, .. }), "{error}");
    }
    let joined = ReduceMaxBackward::new(ReduceMax::new().axes([1]).initial(0));
    let error = joined.infer([&data, &desc(f32, &[2])]).unwrap_err();
    assert!(matches!(error, Error::BadAttribute { attribute: "initial", .. }), "{error}");
    let integers = desc(i32, &[2, 3]);
    let error = reduce.infer([&integers, &desc(i32, &[2])]).unwrap_err();
    assert!(matches!(error, Error::WrongElementType { .. }), "{error}");
    let error = reduce.infer([&data]).unwrap_err();
    assert!(matches!(error, Error::InputCount { actual: 1, .. }), "{error}");
    let segment = SegmentMax::sorted().extremum(Extremum::Minimum);
    let segment = Operator::from(SegmentMaxBackward::new(segment));
    let ids = desc(i32, &[2]);
    assert!(segment.infer([&data, &ids, &desc(f32, &[9, 3])]).is_ok());
    let error = segment.infer([&data, &ids, &desc(f32, &[9, 2])]).unwrap_err();
    assert!(matches!(error, Error::WrongInput { position: 2, .. }), "{error}");
    assert!(error.to_string().contains("SegmentMinBackward"), "{error}");
    let error = segment.infer([&data, &ids]).unwrap_err();
    assert!(matches!(error, Error::InputCount { actual: 2, .. }), "{error}");
    let unpool = Operator::from(MaxUnpool::new([4, 4]));
    assert!(unpool.infer([&data, &desc(i32, &[2, 3])]).is_ok());
    let error = unpool.infer([&data, &desc(i32, &[3, 2])]).unwrap_err();
    assert!(matches!(error, Error::WrongInput { position: 1, .. }), "{error}");
    let error = unpool.infer([&data, &desc(f32, &[2, 3])]).unwrap_err();
    assert!(matches!(error, Error::WrongElementType { .. }), "{error}");
    let outside = Operator::from(MaxUnpool::new([4, 4]).indices_within([5, 1]));
    let error = outside.infer([&data, &desc(i32, &[2, 3])]).unwrap_err();
    assert!(matches!(error, Error::BadAttribute { attribute: "indices_within", .. }), "{error}");
}

/// A pooling with pads, and its values back at their places, as ONNX has both.
#[test]
fn a_pooling_with_pads_is_undone() {
    let data: Vec<f32> = (0..64u8).map(|i| f32::from((i * 37) % 64)).collect();
    let data = Tensor::from_slice([1, 1, 8, 8], &data).unwrap();
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
    let mut unpool = wgmax::dialect::onnx::MaxUnpool::new(22, [3, 3]);
    (unpool.strides, unpool.pads) = (vec![2, 2], vec![1; 4]);
    for device in devices() {
        let pooled = pool.clone().indices(Indices::default()).run(&device, [&data]).unwrap();
        let (x, i) = (pooled[0].desc(), pooled[1].desc());
        let unpool = unpool.operator(x, i, Some(&[1, 1, 8, 8])).unwrap();
        let found = unpool.run(&device, [&pooled[0], &pooled[1]]).unwrap();
        let [found, data, maxima] =
            [&found[0], &data, &pooled[0]].map(|tensor| tensor.as_slice::<f32>().unwrap());
        for (found, own) in found.iter().zip(data) {
            assert_eq!(*found, if maxima.contains(own) { *own } else { 0.0 });
        }
    }
}
