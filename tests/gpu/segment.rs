//! SegmentMax.

use super::{check_random, check_within, plan_within, rounds, variant};
use crate::common::{
    Random, both_tunings, check_oracle, describe, gpu, ids_tensor, limited, one_if_short, seed,
    tensor,
};
use wgmax::operator::{EmptySet, Indices, Operator, ScatterMax, SegmentMax};
use wgmax::{Device, DeviceTensor, ElementType, Nan, Tensor, Tuning, compare};
use wgmax_verify::{Kind, PlanOverrides, oracle};

#[test]
fn random_segments_agree_three_ways() {
    let Some(device) = gpu() else { return };
    check_random(Some(&device), rounds(100), Kind::SegmentMax, 8000);
}

/// The same on the CPU alone, for runs without a GPU.
#[test]
fn the_cpu_agrees_with_the_oracle_on_segments() {
    check_random(None, 400, Kind::SegmentMax, 8000);
}

/// Work that the CPU divides among its threads, against the oracle and the GPU.
#[test]
fn large_segments_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let [hardware, software] = both_tunings(&device);
    let mut random = Random(17);
    for (rows, inner) in [(300_001, 1), (100_003, 3), (9_001, 64)] {
        for t in [ElementType::U8, ElementType::F32, ElementType::F64] {
            let data = tensor(t, &[rows, inner], 1, &mut random);
            for kind in 0..4 {
                let mut ids: Vec<i64> = (0..rows as i64)
                    .map(|row| match kind {
                        0 => row / 1000,
                        1 => 5,
                        2 => row,
                        _ => (row * row / 100_000).min(40_000),
                    })
                    .collect();
                // The rows of the last segments are out of range.
                let segments = ids[rows - 1] as usize * 9 / 10 + 1;
                for unsorted in [false, true] {
                    if unsorted {
                        for i in (1..rows).rev() {
                            ids.swap(i, random.below(i as u64 + 1) as usize);
                        }
                    }
                    let op = if unsorted { SegmentMax::unsorted() } else { SegmentMax::sorted() };
                    let op: Operator = op
                        .num_segments(segments)
                        .nan(Nan::Ignore)
                        .empty_segment(EmptySet::Identity)
                        .indices((kind == 3).then(|| Indices::new(ElementType::I64)))
                        .into();
                    let second = ids_tensor(ElementType::I64, &ids);
                    let what = format!("{t}[{rows}, {inner}], {kind}, {op:?}");
                    let devices = [&Device::cpu(), &hardware, &software];
                    check_oracle(&devices, &op, &[&data, &second], &what);
                }
            }
        }
    }
}

/// The types that ids may have.
const ID_TYPES: [ElementType; 8] = [
    ElementType::I8,
    ElementType::U8,
    ElementType::I16,
    ElementType::U16,
    ElementType::I32,
    ElementType::U32,
    ElementType::I64,
    ElementType::U64,
];

/// Ids and offsets of each integer type, in whole words and not, within bindings and beyond.
#[test]
fn ids_have_any_integer_type() {
    let gpu = gpu().map(|device| both_tunings(&device));
    let devices: Vec<Device> = gpu.into_iter().flatten().chain([Device::cpu()]).collect();
    let mut random = Random(47);
    for t in ID_TYPES {
        for rows in [1i64, 117, 120] {
            let ascending: Vec<i64> = (0..rows).map(|row| row / 3 + row / 50).collect();
            // Negative ids of a type without a sign are its largest ones.
            let any: Vec<i64> = (0..rows).map(|row| row * 37 % 61 - 2).collect();
            let offsets = [0, rows / 3, rows / 3, rows / 2, rows - 1];
            for (op, ids) in [
                (SegmentMax::sorted().num_segments(30), &ascending[..]),
                (SegmentMax::sorted(), &ascending),
                (SegmentMax::unsorted().num_segments(50), &any),
                (SegmentMax::offsets(), &offsets),
            ] {
                let data = tensor(ElementType::F16, &[rows as usize, 3], 2, &mut random);
                let ids = ids_tensor(t, ids);
                let op = op
                    .status(true)
                    .indices(random.once_in(2).then(|| Indices::new(ElementType::I32)));
                let what = format!("{op:?} of {data:?} by {ids:?}");
                let inputs = [&data, &ids];
                let op = op.checked(data.desc(), &ids).unwrap().into();
                check_oracle(&devices.iter().collect::<Vec<_>>(), &op, &inputs, &what);
                for device in &devices {
                    let own = &device.info().limits;
                    let limits = limited(own.clone(), |limits| {
                        limits.max_binding_size = 300 + own.alignment
                    });
                    let plan = check_within(device, &op, &inputs, &limits, &what);
                    let small = plan.shaders().any(|s| variant(s).ends_with("small_ids"));
                    assert_eq!(small, t.size() < 4, "{what}");
                }
            }
        }
    }
}

/// Random data, and ids that no host has checked.
fn hostile(random: &mut Random) -> (SegmentMax, Tensor, Tensor) {
    let t = random.pick(&[ElementType::U8, ElementType::F32, ElementType::I64]);
    let (rows, inner) = (1 + random.below(400) as usize, 1 + random.below(9) as usize);
    let data = tensor(t, &[rows, inner], 0, random);
    let far = [i64::MIN, -1, 0, 1, 7, 1 << 31, 1 << 32, (1 << 32) + 3, i64::MAX];
    let often = random.pick(&[4, 1000]);
    let mut id = || if random.once_in(often) { random.pick(&far) } else { random.below(50) as i64 };
    let mut ids: Vec<i64> = (0..rows).map(|_| id()).collect();
    if random.once_in(2) {
        ids.sort_unstable();
    }
    let ids = ids_tensor(random.pick(&ID_TYPES), &ids);
    let op = match random.below(3) {
        0 => SegmentMax::sorted().num_segments(40),
        1 => SegmentMax::unsorted().num_segments(40),
        _ => SegmentMax::offsets(),
    };
    (op.status(true).indices(random.once_in(2).then(|| Indices::new(ElementType::I32))), data, ids)
}

/// For any ids and offsets on a device, and any limits: nothing breaks and the status is right;
/// if it is 0, the other results are right too.
#[test]
fn hostile_ids_break_nothing() {
    let mut random = Random(23);
    let gpu = gpu().map(|device| both_tunings(&device));
    let devices: Vec<Device> = gpu.into_iter().flatten().chain([Device::cpu()]).collect();
    let rounds = rounds(75);
    let (mut planned, mut right) = (vec![0; devices.len()], 0);
    for round in 0..rounds {
        let (op, data, ids) = hostile(&mut random);
        let expected_status = oracle::status(&op, data.shape()[0], &ids).unwrap();
        let expected_status = expected_status.as_slice::<u32>().unwrap();
        let status = expected_status[0];
        let op = Operator::from(op);
        let inputs = [&data, &ids];
        let expected = (status == 0).then(|| oracle::run(&op, &inputs).unwrap());
        right += u64::from(status == 0);
        let overrides = PlanOverrides::random(Some(random.pick(&[8, 16, 32, 64])), &mut random);
        for (device, planned) in devices.iter().zip(&mut planned) {
            let tuning =
                PlanOverrides { tuning: None, ..overrides.clone() }.tuning(device.tuning());
            let device = device.with_tuning(tuning);
            let limits = overrides.limits(&device.info().limits);
            let on = describe(&device);
            let what = format!("round {round}: {op:?} of {data:?} and {ids:?} on {on}");
            let Ok(plan) = plan_within(&device, &op, &inputs, &limits) else { continue };
            *planned += 1;
            let there = inputs.map(|input| device.upload(input).unwrap());
            let found = device.execute(&plan, [&there[0], &there[1]]).unwrap();
            let found: Vec<Tensor> =
                found.iter().map(|result: &DeviceTensor| result.download().unwrap()).collect();
            let last = found.last().unwrap();
            assert_eq!(last.as_slice::<u32>().unwrap(), expected_status, "{what}");
            for (found, expected) in found.iter().zip(expected.iter().flatten()) {
                let report = compare(found, expected).unwrap();
                assert!(report.is_equal(), "{what}: {report}");
            }
        }
    }
    println!("{planned:?} of {rounds} were planned, {right} had nothing wrong");
    assert!(planned.iter().all(|&planned| planned > rounds * 9 / 10), "{planned:?} of {rounds}");
    assert!(right > rounds / 4 && right < rounds * 3 / 4, "{right} of {rounds}");
}

/// Ids on the device are not checked: wrong ones make the result unspecified, but nothing
/// breaks, and the status reports them.
#[test]
fn bad_ids_on_a_device_are_reported() {
    let data = Tensor::from_slice([6, 2], &[1i32; 12]).unwrap();
    // Ids, their errors, and the counts of rows that belong to no segment: by ids, and by offsets.
    let cases: [(&[i64], u32, u32, u32); 6] = [
        (&[0, 0, 1, 1, 2, 2], 0, 0, 4),
        (&[0, 0, 2, 1, 2, 2], SegmentMax::UNSORTED, 0, 4),
        (&[-1, 0, 0, 1, 1, 1], SegmentMax::NEGATIVE, 1, 5),
        (&[5, 4, 3, 2, 1, -1], SegmentMax::UNSORTED | SegmentMax::NEGATIVE, 4, 11),
        (&[i64::MIN, -1, 0, 1 << 32, i64::MAX, i64::MAX], SegmentMax::NEGATIVE, 5, 0),
        (&[0, 0, 0, 1 << 31, 1 << 33, 1 << 32], SegmentMax::UNSORTED, 3, 0),
    ];
    let gpu = gpu().map(|device| both_tunings(&device));
    for device in gpu.into_iter().flatten().chain([Device::cpu()]) {
        for (ids, expected, dropped, by_offsets) in cases {
            let ids = ids_tensor(ElementType::I64, ids);
            let beyond = ids.to_vec::<i64>().unwrap().iter().any(|&id| id > 6);
            let too_large = u32::from(beyond) * SegmentMax::TOO_LARGE;
            for (op, expected) in [
                (SegmentMax::sorted().num_segments(3), [expected, dropped]),
                (SegmentMax::unsorted().num_segments(3), [0, dropped]),
                (SegmentMax::offsets(), [expected | too_large, by_offsets]),
            ] {
                let inputs = [device.upload(&data).unwrap(), device.upload(&ids).unwrap()];
                let op = op.status(true).indices(ElementType::I64);
                let found = device.run(&op, [&inputs[0], &inputs[1]]).unwrap();
                let status = found[2].download().unwrap();
                assert_eq!(
                    status.as_slice::<u32>().unwrap(),
                    expected,
                    "{ids:?} {op:?} on {device:?}"
                );
                found[0].download().unwrap();
            }
        }
    }
}

/// Indices on a device are not checked. Updates whose index names no element are dropped, both with a status,
/// where a launch first finds the part of each row, and without, where indices are ids.
#[test]
fn unchecked_indices_are_dropped() {
    let gpu = gpu().map(|device| both_tunings(&device));
    let devices: Vec<Device> = gpu.into_iter().flatten().chain([Device::cpu()]).collect();
    let mut random = Random(71);
    let far = [i64::MIN, 1 << 31, (1 << 32) - 1, 1 << 32, -(1 << 32), 3 - (1 << 32), i64::MAX];
    for t in ID_TYPES {
        for (places, inner) in one_if_short(&[(1i64, 1), (29, 1), (29, 5)], t as usize) {
            let rows = 1 + random.below(300) as usize;
            let near: Vec<i64> = (-places - 2..places + 2).collect();
            let id = |_| if random.once_in(9) { random.pick(&far) } else { random.pick(&near) };
            let ids: Vec<i64> = (0..rows).map(id).collect();
            let mut shape = vec![places as usize, inner];
            shape.truncate(if inner == 1 { 1 } else { 2 });
            let data = tensor(ElementType::F32, &shape, 0, &mut random);
            shape[0] = rows;
            let updates = tensor(ElementType::F32, &shape, 0, &mut random);
            let ids = ids_tensor(t, &ids);
            let (op, ids) = match inner {
                1 => (ScatterMax::along(0), ids),
                _ => (ScatterMax::by_vectors(), ids.reshape([rows, 1]).unwrap()),
            };
            let op = op.indices(random.once_in(2).then(|| Indices::new(ElementType::I32)));
            let inputs = [&data, &ids, &updates];
            let counted = Operator::from(op.clone().status(true));
            let expected = oracle::run(&counted, &inputs).unwrap();
            let dropped = Operator::from(op);
            for (device, op) in devices.iter().flat_map(|d| [(d, &counted), (d, &dropped)]) {
                // In one piece and in several.
                for max_binding in [u64::MAX, 64] {
                    let limits = limited(device.info().limits.clone(), |limits| {
                        let own = limits.max_binding_size;
                        limits.max_binding_size =
                            own.min(max_binding.saturating_add(limits.alignment));
                    });
                    let on = describe(device);
                    let what =
                        format!("{op:?} of {data:?} by {ids:?}, {max_binding} bytes on {on}");
                    let plan = plan_within(device, op, &inputs, &limits).expect(&what);
                    let there = inputs.map(|input| device.upload(input).unwrap());
                    let found = device.execute(&plan, there.each_ref()).unwrap();
                    for (found, expected) in found.iter().zip(&expected) {
                        let report = compare(&found.download().unwrap(), expected).unwrap();
                        assert!(report.is_equal(), "{what}: {report}");
                    }
                }
            }
        }
    }
}

/// Winning rows among more rows than a binding holds: each launch looks up those that it has.
#[test]
fn winning_rows_are_found_among_more_than_a_binding() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    for t in ElementType::ALL {
        for inner in [1usize, 3, 16, 50] {
            let rows = 6000 / inner;
            let data = tensor(t, &[rows, inner], random.below(2) as usize, &mut random);
            let mut id = 0;
            let mut next = || {
                id += random.pick(&[0, 0, 0, 1, 2]);
                id
            };
            let ids: Vec<i64> = (0..rows).map(|_| next()).collect();
            let segments = ids[rows - 1] as usize + 3;
            let index = random.pick(&[ElementType::I32, ElementType::I64]);
            let op = SegmentMax::sorted().num_segments(segments).indices(index).into();
            let ids = ids_tensor(ElementType::I32, &ids);
            let what = format!("WGMAX_SEED={seed}: {t}[{rows}, {inner}] in {segments} segments");
            check_oracle(&[&Device::cpu()], &op, &[&data, &ids], &what);
            let max_binding_size = (data.bytes().len() as u64 / 3).next_multiple_of(4).max(2048);
            let limits = limited(device.info().limits.clone(), |limits| {
                limits.max_binding_size = max_binding_size
            });
            for device in both_tunings(&device) {
                check_within(&device, &op, &[&data, &ids], &limits, &what);
            }
        }
    }
}

/// Rows of one element, unrolled, and wide rows by column tiles, as on software adapters.
#[test]
fn unrolled_rows_and_column_tiles_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    let (mut unrolled, mut tiles) = (0, 0);
    for t in ElementType::ALL {
        let tile = 64 / t.size();
        for (rows, inner) in [(72, 1), (1003, 1), (5000, 1), (700, tile), (150, 3 * tile)] {
            for max_rows in [0, 1, 3, 200] {
                // Segments of one row, of a few, of many, and one of all rows.
                let mut id = 0;
                let mut next = || {
                    let ends = random.below(max_rows + 1) == 0;
                    id += if ends { random.pick(&[1, 1, 2]) } else { 0 };
                    if max_rows == 200 { 0 } else { id }
                };
                let ids: Vec<i64> = (0..rows).map(|_| next()).collect();
                let count = ids[rows - 1] as usize + 1;
                // Some of the last ids may be out of range.
                let segments = random.pick(&[count, count + 5, (count * 9 / 10).max(1)]);
                let op: Operator = SegmentMax::sorted()
                    .num_segments(segments)
                    .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
                    .into();
                let data = tensor(t, &[rows, inner], random.below(2) as usize, &mut random);
                let ids = ids_tensor(random.pick(&[ElementType::I32, ElementType::I64]), &ids);
                let parallelism = random.pick(&[1, 16, 4096]);
                let tuning = Tuning::software().with_target_parallelism(parallelism);
                let device = device.with_tuning(tuning);
                let own = device.info().limits.clone();
                // Small bindings hold some of the segments at a time.
                let max_binding_size = random.pick(&[own.max_binding_size, 8192]);
                let limits = limited(own, |limits| limits.max_binding_size = max_binding_size);
                let what = format!(
                    "WGMAX_SEED={seed}: {t}[{rows}, {inner}] in {segments} of {count} segments, \
                     bindings of {max_binding_size}, parallelism {parallelism}"
                );
                check_oracle(&[&Device::cpu()], &op, &[&data, &ids], &what);
                let plan = check_within(&device, &op, &[&data, &ids], &limits, &what);
                let count =
                    |name: &str| plan.shaders().filter(|s| super::variant(s) == name).count();
                unrolled += count("segment_unrolled");
                tiles += count("segment_column_tiles");
            }
        }
    }
    assert!(unrolled > 50 && tiles > 50, "{unrolled} {tiles}");
}
