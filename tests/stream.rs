//! Operators on host tensors in pieces, compared with the CPU bit for bit, with the tunings for hardware and
//! for software adapters.

use std::sync::atomic::Ordering::Relaxed;

use crate::common::{
    Random, both_tunings, counted, describe, gpu, ids_tensor, rounds, seed, some, tensor,
};
use wgmax::operator::{
    EmptySet, Indices, Layout, MaxPool, Numbering, Operator, Padding, ReduceMax, Rounding,
    ScatterMax, SegmentMax, Segments,
};
use wgmax::wgpu;
use wgmax::{
    Device, ElementType, Error, Extremum, Nan, Outputs, Run, RunOptions, Tensor, TensorView, View,
};

/// Runs an operator in pieces of `piece` bytes. Also returns their number, 0 if it ran as a whole.
fn in_pieces(
    device: &Device,
    operator: &Operator,
    inputs: &[&Tensor],
    piece: u64,
) -> wgmax::Result<(Outputs<Tensor>, u64)> {
    let (options, pieces) = counted(piece);
    Ok((operator.run_with(device, inputs, options)?, pieces.load(Relaxed)))
}

/// Compares a run in pieces with one on the CPU. Returns the number of pieces.
fn check(device: &Device, operator: &Operator, inputs: &[&Tensor], piece: u64, what: &str) -> u64 {
    let what = &format!("{what} on {}", describe(device));
    let expected = operator.run(&Device::cpu(), inputs).unwrap_or_else(|e| panic!("{what}: {e}"));
    let (found, pieces) =
        in_pieces(device, operator, inputs, piece).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found.desc(), expected.desc(), "{what}: result {i}");
        let report = wgmax::compare(found, expected).unwrap();
        assert!(report.is_equal(), "{what}: result {i}: {report}");
        assert!(found.bytes() == expected.bytes(), "{what}: result {i} has other bits");
    }
    pieces
}

/// A size of pieces that cuts `bytes` into a few pieces, or into many.
fn piece(random: &mut Random, bytes: usize) -> u64 {
    (bytes as u64 / random.pick(&[1, 2, 3, 5, 9, 30])).max(48)
}

fn sizes(random: &mut Random, rank: usize, max_elements: usize) -> Vec<usize> {
    let mut left = max_elements;
    let mut shape: Vec<usize> = (0..rank)
        .map(|_| {
            let size = match random.below(12) {
                0 if random.below(3) == 0 => 0,
                0..=2 => 1,
                3..=8 => 1 + random.below(9) as usize,
                _ => 1 + random.below(left.min(3000) as u64) as usize,
            };
            let size = size.min(left.max(1));
            left /= size.max(1);
            size
        })
        .collect();
    for i in (1..rank).rev() {
        shape.swap(i, random.below(i as u64 + 1) as usize);
    }
    shape
}

/// An operator, its inputs, and the number of bytes that are cut into pieces.
type Case = (Operator, Vec<Tensor>, usize);

/// Runs random cases in random pieces; at least `percent` of the cases must have more than one
/// piece.
fn in_random_pieces(default_rounds: u64, percent: u64, case: impl Fn(&mut Random) -> Option<Case>) {
    let Some(device) = gpu() else { return };
    let devices = both_tunings(&device);
    let seed = seed();
    let mut random = Random(seed);
    let (mut cut, rounds) = (0, rounds(default_rounds));
    for round in 0..rounds {
        let Some((operator, inputs, bytes)) = case(&mut random) else { continue };
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let piece = piece(&mut random, bytes);
        let what =
            format!("WGMAX_SEED={seed}, round {round}: {operator:?} of {inputs:?} in {piece}");
        cut += u64::from(check(&devices[round as usize % 2], &operator, &inputs, piece, &what) > 1);
    }
    assert!(cut > rounds * percent / 100, "only {cut} were cut");
}

#[test]
fn random_reductions_in_pieces() {
    in_random_pieces(150, 33, |random| {
        let t = random.pick(&ElementType::ALL);
        let rank = random.below(6) as usize;
        let shape = sizes(random, rank, 8000);
        let axes: Vec<i64> = (0..rank as i64).filter(|_| random.below(2) == 0).collect();
        let operator = ReduceMax::new()
            .axes(axes)
            .keep_dims(random.below(2) == 0)
            .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
            .empty_set(random.pick(&[EmptySet::Identity, EmptySet::Finite]))
            .extremum(random.pick(&[Extremum::Maximum, Extremum::Minimum]));
        let input = tensor(t, &shape, random.below(5) as usize, random);
        let bytes = input.bytes().len();
        let positions = Indices::new(random.pick(&[ElementType::I32, ElementType::I64]))
            .last(random.below(2) == 0);
        let found = operator.clone().indices(positions).values(random.below(3) > 0);
        let operator = match random.below(2) == 0 && found.infer(input.desc()).is_ok() {
            true => found,
            false => operator,
        };
        Some((operator.into(), vec![input], bytes))
    });
}

#[test]
fn random_poolings_in_pieces() {
    in_random_pieces(250, 25, |random| {
        let t = random.pick(&ElementType::ALL);
        let spatial = 1 + random.below(3) as usize;
        let shape = sizes(random, spatial + 2, 6000);
        let layout = random.pick(&[Layout::Ncx, Layout::Nxc]);
        let first = if layout == Layout::Ncx { 2 } else { 1 };
        let list = |random: &mut Random, f: &dyn Fn(&mut Random, u64) -> u64| -> Vec<usize> {
            (0..spatial).map(|i| f(random, shape[first + i] as u64) as usize).collect()
        };
        let kernel = list(random, &|random, size| match random.below(6) {
            0 => 1,
            1 => size.max(1),
            2 => 1 + random.below(size + 1),
            _ => 1 + random.below(5),
        });
        let pad = |random: &mut Random, _: u64| match random.below(3) {
            0 => 0,
            1 => random.below(4),
            _ => random.below(40),
        };
        let mut operator = MaxPool::new(kernel)
            .strides(list(random, &|random, _| 1 + random.below(4)))
            .dilations(list(random, &|random, _| 1 + random.below(8) / 5 * random.below(6)))
            .pads(list(random, &pad), list(random, &pad))
            .rounding(random.pick(&[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch]))
            .layout(layout)
            .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
            .empty_window(random.pick(&[EmptySet::Identity, EmptySet::Finite]))
            .extremum(random.pick(&[Extremum::Maximum, Extremum::Minimum]));
        let sharing = random.below(4) == 0;
        if sharing {
            let outputs = list(random, &|random, size| 1 + random.below(size + 3));
            operator = MaxPool::adaptive(outputs)
                .layout(layout)
                .nan(operator.nan)
                .extremum(operator.extremum);
        }
        if !sharing && random.below(4) == 0 {
            operator = operator.padding(match random.below(3) {
                0 => Padding::SameUpper,
                1 => Padding::SameLower,
                _ => Padding::Valid,
            });
        }
        if random.below(2) == 0 {
            let indices = Indices::new(random.pick(&[ElementType::I32, ElementType::I64]));
            operator = operator.indices(indices.numbering(match random.below(3) {
                0 if layout == Layout::Ncx => Numbering::ColumnMajor,
                _ => Numbering::FromAxis(random.below(spatial as u64 + 2) as i64),
            }));
        }
        let input = tensor(t, &shape, random.below(5) as usize, random);
        let results = match operator.infer(input.desc()) {
            Ok(results) => results[0].len(),
            Err(Error::WindowTooLarge { .. } | Error::NothingToShareOut { .. }) => return None,
            Err(error) => panic!("{operator:?} of {input:?}: {error}"),
        };
        let bytes = input.bytes().len() + results * t.size();
        (results <= 20_000).then(|| (operator.into(), vec![input], bytes))
    });
}

#[test]
fn random_segments_in_pieces() {
    in_random_pieces(150, 33, |random| {
        let t = random.pick(&ElementType::ALL);
        let inner = random.pick(&[1usize, 1, 2, 3, 4, 16, 100, 1000, 0]);
        let rows = random.below((6000 / inner.max(1)).max(40) as u64) as usize;
        // A few long segments, many short ones, or numbers far apart.
        let (often, step) = random.pick(&[(300, 1), (4, 1), (1, 1), (2, 5), (1, 3000)]);
        let mut id = 0i64;
        let mut ids: Vec<i64> = Vec::new();
        for _ in 0..rows {
            ids.push(id);
            id += i64::from(random.below(often) == 0) * (1 + random.below(step) as i64);
        }
        let max_segments = 2_000_000 / inner.max(1);
        let segments =
            (id + 1 - random.below(4) as i64 * id / 5).clamp(0, max_segments as i64) as usize;
        let mut operator = match random.below(3) {
            0 => SegmentMax::sorted().num_segments(segments),
            1 => {
                for i in (1..rows).rev() {
                    ids.swap(i, random.below(i as u64 + 1) as usize);
                    if random.below(20) == 0 {
                        ids[i] = random.pick(&[-1, i64::from(i32::MIN), i64::from(i32::MAX)]);
                    }
                }
                SegmentMax::unsorted().num_segments(segments)
            }
            _ => {
                let (from, to) = (rows as i64 / 10, rows as i64 - rows as i64 / 7);
                let mut at = from;
                ids.clear();
                while at < to && ids.len() < max_segments {
                    ids.push(at);
                    at += random.below(often.min(40) * 2) as i64;
                }
                ids.push(to.max(*ids.last().unwrap_or(&0)));
                SegmentMax::offsets()
            }
        };
        operator = operator
            .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
            .indices(
                random
                    .pick(&[None, Some(ElementType::I32), Some(ElementType::I64)])
                    .map(Indices::new),
            )
            .status(random.below(3) == 0)
            .empty_segment(random.pick(&[EmptySet::Zero, EmptySet::Finite, EmptySet::Identity]));
        let data = tensor(t, &[rows, inner], random.below(5) as usize, random);
        let wide = [ElementType::I32, ElementType::U32, ElementType::I64, ElementType::U64];
        let narrow = [ElementType::U8, ElementType::I8, ElementType::U16, ElementType::I16];
        // A narrow type wraps large ids to other ids, which is allowed only for ids in any order.
        let types = match operator.segments {
            Segments::Unsorted if random.once_in(2) => narrow,
            _ => wide,
        };
        let ids = ids_tensor(random.pick(&types), &ids);
        let bytes = data.bytes().len() + ids.bytes().len();
        Some((operator.into(), vec![data, ids], bytes))
    });
}

/// Each way to cut, with a shape that allows no other.
#[test]
fn each_cut_is_reached() {
    let Some(device) = gpu() else { return };
    let devices = both_tunings(&device);
    let mut random = Random(29);
    let reduce = |axes: &[i64]| Operator::from(ReduceMax::new().axes(axes.iter().copied()));
    let pool = |kernel: &[usize]| MaxPool::new(kernel.iter().copied()).nan(Nan::Ignore);
    let shared = |sizes: &[usize]| {
        let pool = MaxPool::adaptive(sizes.iter().copied());
        pool.nan(Nan::Ignore).indices(Indices::default())
    };
    let column = Indices::new(ElementType::I32).numbering(Numbering::ColumnMajor);
    let cuts: Vec<(&str, Operator, &[usize])> = vec![
        ("no axis", reduce(&[]), &[6000]),
        ("an axis that stays", reduce(&[1]), &[3000, 2]),
        ("a reduced axis", reduce(&[0]), &[6000]),
        ("a reduced axis of columns", reduce(&[0]), &[3000, 2]),
        ("columns of few rows", reduce(&[0]), &[2, 3000]),
        ("results of empty sets", reduce(&[0]), &[0, 6000]),
        ("batch", pool(&[1, 2]).into(), &[1000, 1, 1, 6]),
        ("channels", pool(&[1, 2]).into(), &[1, 1000, 1, 6]),
        ("channels last", pool(&[6]).layout(Layout::Nxc).into(), &[1, 6, 1000]),
        ("windows", pool(&[3]).pads([1], [1]).indices(Indices::default()).into(), &[1, 1, 6000]),
        ("the window", pool(&[6000]).into(), &[1, 1, 6000]),
        ("the window of a plane", pool(&[60, 100]).indices(column).into(), &[1, 1, 60, 100]),
        ("long windows", pool(&[4000]).indices(Indices::default()).into(), &[1, 1, 4100]),
        (
            "long windows in padding",
            pool(&[4000]).pads([2000], [2000]).indices(Indices::default()).into(),
            &[1, 1, 4100],
        ),
        ("windows that split an axis evenly", shared(&[1999]).into(), &[1, 1, 6000]),
        ("long windows that split an axis evenly", shared(&[2]).into(), &[1, 1, 6001]),
        ("long windows that split a plane evenly", shared(&[3, 2]).into(), &[1, 1, 61, 101]),
        ("more windows than elements", shared(&[5000]).into(), &[1, 1, 3001]),
        ("padding", pool(&[2]).dilations([5000]).pads([5000], [5000]).into(), &[1, 1, 3]),
    ];
    for (i, (cut, operator, shape)) in cuts.iter().enumerate() {
        let types = [ElementType::U8, ElementType::F32, ElementType::F16, ElementType::I64];
        for (number, t) in types.into_iter().enumerate() {
            // Numbers; hard bits, of which many are equal; nothing but NaN; nothing but the lowest.
            for style in some(&[2, 1, 4, 3], i + number / 2) {
                let input = tensor(t, shape, style, &mut random);
                let piece = 700 * t.size() as u64;
                let what = format!("{cut}, style {style}: {operator:?} of {input:?}");
                for device in &devices {
                    let pieces = check(device, operator, &[&input], piece, &what);
                    assert!(pieces > 5, "{what}: {pieces} pieces");
                }
            }
        }
    }
    let ids: Vec<i64> = (0..2000).map(|row| row / 30).collect();
    let far: Vec<i64> = (0..2000).map(|row| (row % 40) * 5000 - 5000).collect();
    let offsets: Vec<i64> = (0..70).map(|segment| 5 + segment * 28).collect();
    let cuts: Vec<(&str, SegmentMax, &[i64], [usize; 2])> = vec![
        ("rows", SegmentMax::sorted(), &ids, [2000, 2]),
        ("rows in any order", SegmentMax::unsorted().num_segments(70), &ids, [2000, 2]),
        ("ids far apart", SegmentMax::unsorted().num_segments(150_000), &far, [2000, 2]),
        ("offsets", SegmentMax::offsets(), &offsets, [2000, 2]),
        ("columns", SegmentMax::sorted().num_segments(2), &[0, 0, 0, 1], [4, 3000]),
        ("segments without rows", SegmentMax::offsets(), &[1, 1, 1, 4, 4], [4, 3000]),
    ];
    for (cut, operator, ids, shape) in &cuts {
        for t in [ElementType::U8, ElementType::F32, ElementType::F16, ElementType::I64] {
            for (style, indices) in [(1, None), (1, Some(ElementType::I64)), (4, None)] {
                for nan in [Nan::Ignore, Nan::Propagate] {
                    let data = tensor(t, shape, style, &mut random);
                    let ids = ids_tensor(ElementType::I64, ids);
                    let operator =
                        operator.clone().nan(nan).indices(indices.map(Indices::new)).into();
                    let piece = 900 * t.size() as u64;
                    let what = format!("{cut}, style {style}: {operator:?} of {data:?}");
                    for device in &devices {
                        let pieces = check(device, &operator, &[&data, &ids], piece, &what);
                        assert!(pieces > 5, "{what}: {pieces} pieces");
                    }
                }
            }
        }
    }
}

/// The updates of a scatter are cut as the rows of segments are.
#[test]
fn updates_are_cut_as_rows() {
    let Some(device) = gpu() else { return };
    let devices = both_tunings(&device);
    let mut random = Random(31);
    let ids = |count: usize, size: i64| -> Vec<i64> {
        (0..count as i64).map(|i| i * 7919 % (2 * size) - size).collect()
    };
    let along = ScatterMax::along;
    let by_vectors = ScatterMax::by_vectors;
    let cuts = [
        ("an axis", along(0), vec![500], vec![6000], vec![6000], 500),
        ("an inner axis", along(1), vec![40, 9, 5], vec![30, 50, 4], vec![30, 50, 4], 9),
        ("vectors of elements", by_vectors(), vec![7, 7], vec![3000, 2], vec![3000], 7),
        ("vectors of rows", by_vectors(), vec![70, 30], vec![200, 1], vec![200, 30], 70),
    ];
    for (cut, operator, data, places, updates, size) in &cuts {
        for t in [ElementType::U8, ElementType::F32, ElementType::Bf16, ElementType::I64] {
            for (style, indices) in
                [(1, None), (0, Some(ElementType::I64)), (1, Some(ElementType::I32))]
            {
                let include = random.once_in(2);
                let operator = operator
                    .clone()
                    .include_data(include)
                    .extremum(random.pick(&[Extremum::Maximum, Extremum::Minimum]))
                    .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
                    .indices(indices.map(Indices::new))
                    .status(true)
                    .into();
                let data = tensor(t, data, style, &mut random);
                let updates = tensor(t, updates, style, &mut random);
                let places = ids_tensor(ElementType::I64, &ids(places.iter().product(), *size))
                    .reshape(places.clone())
                    .unwrap();
                let what = format!("{cut}, style {style}: {operator:?}");
                for device in &devices {
                    let inputs = [&data, &places, &updates];
                    let pieces = check(device, &operator, &inputs, 900 * t.size() as u64, &what);
                    assert!(pieces > 1, "{what}: {pieces} pieces");
                }
            }
        }
    }
}

/// Indices on the host are checked before anything runs, by the bounds of their own axis.
#[test]
fn indices_that_name_no_element_are_refused() {
    let data = Tensor::from_slice([2, 3], &[0f32; 6]).unwrap();
    for device in [Some(Device::cpu()), gpu()].into_iter().flatten() {
        let refused = |operator: ScatterMax, places: &Tensor, updates: &[usize]| {
            let updates = tensor(ElementType::F32, updates, 1, &mut Random(1));
            match operator.run(&device, [&data, places, &updates]) {
                Err(Error::IndexOutOfRange { position, value, elements }) => {
                    Some((position, value, elements))
                }
                found => found.map(|_| None).unwrap(),
            }
        };
        let places = |shape: &[usize], ids: &[i64]| {
            ids_tensor(ElementType::I64, ids).reshape(shape).unwrap()
        };
        let by = ScatterMax::by_vectors;
        assert_eq!(refused(by(), &places(&[2, 2], &[1, -3, -2, 2]), &[2]), None);
        assert_eq!(refused(by(), &places(&[2, 2], &[1, 2, 2, 1]), &[2]), Some((2, 2, 2)));
        assert_eq!(refused(by(), &places(&[2, 2], &[1, 3, 2, 1]), &[2]), Some((1, 3, 3)));
        assert_eq!(refused(by(), &places(&[1, 1], &[-3]), &[1, 3]), Some((0, -3, 2)));
        let along = ScatterMax::along(-1);
        assert_eq!(refused(along.clone(), &places(&[1, 2], &[2, -3]), &[1, 2]), None);
        assert_eq!(refused(along, &places(&[1, 2], &[2, -4]), &[1, 2]), Some((1, -4, 3)));
    }
}

/// Arguments are checked as for a run without pieces.
#[test]
fn errors_come_before_pieces() {
    let Some(device) = gpu() else { return };
    let data = Tensor::from_slice([100, 2], &[1f32; 200]).unwrap();
    let mut ids = vec![3i64; 100];
    ids[70] = 2;
    let ids = ids_tensor(ElementType::I64, &ids);
    let run = |operator: Operator, inputs: &[&Tensor]| {
        in_pieces(&device, &operator, inputs, 64).unwrap_err()
    };
    let error = run(SegmentMax::sorted().into(), &[&data, &ids]);
    assert!(matches!(error, Error::UnsortedSegments { position: 70, .. }), "{error}");
    let error = run(ReduceMax::new().axes([2]).into(), &[&data]);
    assert!(matches!(error, Error::AxisOutOfRange { .. }), "{error}");
    let error = run(MaxPool::new([3]).into(), &[&data]);
    assert!(matches!(error, Error::PoolRank { .. }), "{error}");
    let error = run(ReduceMax::new().into(), &[&data, &data]);
    assert!(matches!(error, Error::InputCount { .. }), "{error}");
}

/// No blocking poll is needed, and the future may go to another thread.
#[test]
fn runs_without_blocking() {
    fn sendable<T: Send>(value: T) -> T {
        value
    }
    let Some(device) = gpu() else { return };
    let input = tensor(ElementType::F32, &[3000], 1, &mut Random(5));
    let operator = Operator::from(ReduceMax::new().axes([]));
    let (options, pieces) = counted(4096);
    let found = pollster::block_on(sendable(operator.run_with_async(&device, &input, options)));
    assert_eq!(
        found.unwrap()[0].bytes(),
        operator.run(&Device::cpu(), [&input]).unwrap()[0].bytes()
    );
    assert!(pieces.load(Relaxed) > 5);
}

/// If buffers are small, the device refuses large tensors, and those on the host are cut.
#[test]
fn a_small_device_takes_tensors_of_the_host_only() {
    let Some(_) = gpu() else { return };
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.first().expect("crate::common::gpu found one");
    let limits = wgpu::Limits {
        max_buffer_size: 1 << 16,
        max_storage_buffer_binding_size: 1 << 16,
        max_uniform_buffer_binding_size: 1 << 14,
        ..adapter.limits()
    };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_limits: limits,
            ..Default::default()
        }))
        .unwrap();
    let device = Device::from_wgpu(&device, &queue).unwrap();
    let input = tensor(ElementType::F32, &[1, 4, 100, 250], 1, &mut Random(5));
    let error = device.upload(&input).unwrap_err();
    let named = matches!(error, Error::OverLimit { limit: "max_buffer_size", allowed: 65536, .. });
    assert!(named, "{error}");
    let pool = MaxPool::new([3, 3]).indices(Indices::default());
    for operator in
        [Operator::from(ReduceMax::new()), ReduceMax::new().axes([1]).into(), pool.into()]
    {
        let expected = operator.run(&Device::cpu(), [&input]).unwrap();
        for device in &both_tunings(&device) {
            let found = operator.run(device, [&input]).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.bytes() == expected.bytes(), "{operator:?} on {}", describe(device));
            }
        }
    }
}

/// The CPU, too, computes in pieces what one plan cannot hold.
#[test]
fn the_cpu_takes_what_one_plan_does_not() {
    let (device, options) = (Device::cpu(), || RunOptions::new().max_piece(64 << 20));
    // One byte, repeated beyond what 31 bits count.
    let byte = Tensor::from_slice([1], &[7u8]).unwrap();
    let count = (1usize << 31) + 5;
    let many = View::from(byte.desc()).slice(0, 0..1).unwrap().broadcast(1, count).unwrap();
    let many = TensorView::new(&byte, many).unwrap();
    let last = Indices::new(ElementType::I64).last(true);
    let operator = Operator::from(ReduceMax::new().axes([1]).indices(last));
    let found = operator.run_with(&device, &many, options()).unwrap();
    assert_eq!(found[0].as_slice::<u8>().unwrap(), [7]);
    assert_eq!(found[1].as_slice::<i64>().unwrap(), [count as i64 - 1]);
    // Windows with taps at places beyond 31 bits.
    let input = Tensor::from_slice([1, 2, 4], &[1f32, 5., 3., 4., 8., 2., 7., 6.]).unwrap();
    let pool = MaxPool::new([2]).strides([65535]).dilations([1 << 30]).pads([0], [1 << 31]);
    let operator = Operator::from(pool);
    let outputs = operator.infer([input.desc()]).unwrap()[0].shape()[2];
    let found = operator.run_with(&device, [&input], options()).unwrap();
    let found = found[0].as_slice::<f32>().unwrap();
    assert_eq!(found.len(), 2 * outputs);
    for (row, first) in found.chunks(outputs).zip([1., 8.]) {
        assert_eq!(row[0], first);
        assert!(row[1..].iter().all(|&value| value == f32::NEG_INFINITY));
    }
}
