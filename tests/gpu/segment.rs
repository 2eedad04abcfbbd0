//! SegmentMax.

use super::common::segment::{ids_tensor, members_by_id, segment_oracle};
use super::common::{Random, bits_at, gpu, maximum_of_nothing, seed, tensor};
use super::{compare_all_launches, limits, rounds};
use wgmax::operator::{EmptySegment, SegmentMax, Segments};
use wgmax::plan::Limits;
use wgmax::{Device, ElementType, Error, Nan, Tensor};

/// Ascending ids of so many rows, of one of several kinds of segment sizes.
fn sorted_ids(random: &mut Random, rows: usize) -> Vec<i64> {
    let kind = random.below(7);
    let run = random.pick(&[15u64, 16, 17, 31, 32, 33, 64]);
    let mut id = if random.below(3) == 0 { random.below(5) as i64 } else { 0 };
    (0..rows)
        .map(|row| {
            id += match kind {
                // One giant; one each; about four; a few empty ones between.
                0 => 0,
                1 => i64::from(row > 0),
                2 => i64::from(random.below(4) == 0),
                3 => random.below(4) as i64,
                // Boundaries on and around those of runs.
                4 => i64::from((row as u64).is_multiple_of(run) && row > 0),
                // Power law: mostly one, some long.
                5 => i64::from(random.below(1 + (id as u64 % 7) * (id as u64 % 11)) == 0),
                _ => i64::from(random.below(50) == 0) * (1 + random.below(30) as i64),
            };
            id
        })
        .collect()
}

fn round(random: &mut Random, device: Option<&Device>, seed: u64, round: u64) {
    let t = random.pick(&ElementType::ALL);
    let inner = random.pick(&[1usize, 1, 1, 2, 3, 4, 5, 8, 16, 64, 100, 1000, 0]);
    let most = (8000 / inner.max(1)).max(40) as u64;
    let rows = if random.below(20) == 0 { 0 } else { random.below(most) as usize + 1 };
    let shape = match inner {
        1 if random.below(2) == 0 => vec![rows],
        64 => vec![rows, 4, 16],
        _ => vec![rows, inner],
    };
    let style = random.below(5);
    let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
    let id_type = random.pick(&[ElementType::I32, ElementType::I64]);
    let (fill, empty) = random
        .pick(&[(EmptySegment::Zero, 0), (EmptySegment::NegativeInfinity, maximum_of_nothing(t))]);
    let indices = random.pick(&[None, None, Some(ElementType::I32), Some(ElementType::I64)]);
    let form =
        random.pick(&[Segments::Sorted, Segments::Sorted, Segments::Unsorted, Segments::Offsets]);
    let mut ids = sorted_ids(random, rows);
    let count = ids.last().map_or(0, |&id| id as usize + 1);
    let mut segments = match random.below(4) {
        0 => random.below(count as u64 + 1) as usize,
        1 => count + random.below(40) as usize,
        _ => count,
    };
    let status = random.below(3) == 0;
    let mut op = match form {
        Segments::Sorted => SegmentMax::sorted().num_segments(segments as i64),
        Segments::Unsorted => {
            for i in (1..rows).rev() {
                ids.swap(i, random.below(i as u64 + 1) as usize);
            }
            for id in &mut ids {
                if random.below(30) == 0 {
                    *id = random.pick(match id_type {
                        ElementType::I32 => &[-1, -7, i32::MIN as i64, i32::MAX as i64][..],
                        // Ids that would be some others in 32 bits.
                        _ => &[-1, 1 << 32, (1 << 32) + 1, -(1 << 32), i64::MIN, i64::MAX],
                    });
                }
            }
            SegmentMax::unsorted().num_segments(segments as i64)
        }
        Segments::Offsets => {
            // As the ids say, after and before some rows that belong to nothing.
            segments = count;
            let skip = random.below(rows as u64 / 4 + 1) as usize;
            let end = rows - random.below((rows - skip) as u64 / 2 + 1) as usize;
            let offset = |s: i64| ids.partition_point(|&id| id < s).clamp(skip, end) as i64;
            let offsets: Vec<i64> = (0..=count as i64).map(offset).collect();
            ids = offsets;
            SegmentMax::offsets()
        }
    };
    op = op.nan(nan).empty_segment(fill).indices(indices).status(status);
    let what = format!(
        "WGMAX_SEED={seed}, round {round}: {t}{shape:?}, {id_type} ids, {op:?}, style {style}"
    );
    let data = tensor(t, &shape, style, random);
    let second = ids_tensor(id_type, &ids);
    let members = match form {
        Segments::Offsets => {
            ids.windows(2).map(|w| (w[0] as usize..w[1] as usize).collect()).collect()
        }
        _ => members_by_id(&ids, segments),
    };
    let expected = segment_oracle(&data, &members, nan, empty);
    for device in [Some(&Device::cpu()), device].into_iter().flatten() {
        let found = op.run(device, &data, &second).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(found[0].shape()[0], segments, "{what}");
        let values = if indices.is_some() { &expected.first_values } else { &expected.values };
        assert_eq!(found[0].len(), values.len(), "{what}");
        for (i, &bits) in values.iter().enumerate() {
            let at = bits_at(&found[0], i);
            assert_eq!(at, bits, "{what} on {}: element {i}: {at:x} for {bits:x}", device.info());
        }
        if let Some(index_type) = indices {
            for (i, &row) in expected.rows.iter().enumerate() {
                let at = bits_at(&found[1], i);
                let at =
                    if index_type == ElementType::I32 { i64::from(at as i32) } else { at as i64 };
                assert_eq!(at, row, "{what} on {}: index {i}", device.info());
            }
        }
        if status {
            assert_eq!(found.last().unwrap().as_slice::<u32>().unwrap(), [0], "{what}");
        }
    }
    let Some(device) = device else { return };
    let limits = limits(device, random);
    match op.plan(data.desc(), second.desc(), &limits) {
        Ok(_) => {
            let what = format!("{what}, {limits:?}");
            compare_all_launches(device, &op.into(), &[&data, &second], &limits, &what);
        }
        Err(error) => assert!(matches!(error, Error::OverLimit { .. }), "{what}: {error}"),
    }
}

#[test]
fn random_segments_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    for i in 0..rounds(400) {
        round(&mut random, Some(&device), seed, i);
    }
}

/// The same, on the CPU alone: what runs where no GPU is wanted.
#[test]
fn the_cpu_agrees_with_the_oracle_on_segments() {
    let seed = seed();
    let mut random = Random(seed);
    for i in 0..400 {
        round(&mut random, None, seed, i);
    }
}

/// What the CPU shares among its threads, against the oracle and the GPU.
#[test]
fn large_segments_agree_three_ways() {
    let Some(device) = gpu() else { return };
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
                // Some of the first and of the last are left out.
                let segments = ids[rows - 1] as usize * 9 / 10 + 1;
                for unsorted in [false, true] {
                    if unsorted {
                        for i in (1..rows).rev() {
                            ids.swap(i, random.below(i as u64 + 1) as usize);
                        }
                    }
                    let expected = segment_oracle(
                        &data,
                        &members_by_id(&ids, segments),
                        Nan::Ignore,
                        maximum_of_nothing(t),
                    );
                    let op = if unsorted { SegmentMax::unsorted() } else { SegmentMax::sorted() };
                    let op = op
                        .num_segments(segments as i64)
                        .nan(Nan::Ignore)
                        .empty_segment(EmptySegment::NegativeInfinity)
                        .indices((kind == 3).then_some(ElementType::I64));
                    let second = ids_tensor(ElementType::I64, &ids);
                    for device in [&Device::cpu(), &device] {
                        let what =
                            format!("{t}[{rows}, {inner}], {kind}, {op:?}, {}", device.info());
                        let found = op.run(device, &data, &second).unwrap();
                        let values =
                            if kind == 3 { &expected.first_values } else { &expected.values };
                        for (i, &bits) in values.iter().enumerate() {
                            assert_eq!(bits_at(&found[0], i), bits, "{what}: element {i}");
                        }
                        for (i, &row) in expected.rows.iter().enumerate().filter(|_| kind == 3) {
                            assert_eq!(bits_at(&found[1], i) as i64, row, "{what}: index {i}");
                        }
                    }
                }
            }
        }
    }
}

/// Whatever ids and offsets hold on a device, and whatever the limits: nothing breaks.
#[test]
fn hostile_ids_break_nothing() {
    let mut random = Random(23);
    let cpu = Device::cpu();
    let hostile = [i64::MIN, -1, 0, 1, 7, 1 << 31, 1 << 32, (1 << 32) + 3, i64::MAX];
    for _ in 0..600 {
        let t = random.pick(&[ElementType::U8, ElementType::F32, ElementType::I64]);
        let (rows, inner) = (1 + random.below(400) as usize, 1 + random.below(9) as usize);
        let data = tensor(t, &[rows, inner], 0, &mut random);
        let ids: Vec<i64> =
            (0..rows)
                .map(|_| {
                    if random.below(4) == 0 {
                        random.pick(&hostile)
                    } else {
                        random.below(50) as i64
                    }
                })
                .collect();
        let ids = ids_tensor(random.pick(&[ElementType::I32, ElementType::I64]), &ids);
        let op = match random.below(3) {
            0 => SegmentMax::sorted().num_segments(40),
            1 => SegmentMax::unsorted().num_segments(40),
            _ => SegmentMax::offsets(),
        };
        let op = op.status(true).indices((random.below(2) == 0).then_some(ElementType::I32));
        let limits = limits(&cpu, &mut random);
        if let Ok(plan) = op.plan(data.desc(), ids.desc(), &limits) {
            let inputs = [cpu.upload(&data).unwrap(), cpu.upload(&ids).unwrap()];
            cpu.execute(&plan, &[&inputs[0], &inputs[1]]).unwrap();
        }
    }
}

/// Ids on the device are not looked at: what they hold may make the result
/// anything, but nothing breaks, and the status tells.
#[test]
fn bad_ids_on_a_device_are_reported() {
    let data = Tensor::from_slice([6, 2], &[1i32; 12]).unwrap();
    let cases: [(&[i64], u32); 6] = [
        (&[0, 0, 1, 1, 2, 2], 0),
        (&[0, 0, 2, 1, 2, 2], SegmentMax::UNSORTED),
        (&[-1, 0, 0, 1, 1, 1], SegmentMax::NEGATIVE),
        (&[5, 4, 3, 2, 1, -1], SegmentMax::UNSORTED | SegmentMax::NEGATIVE),
        (&[i64::MIN, -1, 0, 1 << 32, i64::MAX, i64::MAX], SegmentMax::NEGATIVE),
        (&[0, 0, 0, 1 << 31, 1 << 33, 1 << 32], SegmentMax::UNSORTED),
    ];
    for device in [Some(Device::cpu()), gpu()].into_iter().flatten() {
        for (ids, expected) in cases {
            let ids = ids_tensor(ElementType::I64, ids);
            let beyond = ids.to_vec::<i64>().unwrap().iter().any(|&id| id > 6);
            for (op, expected) in [
                (SegmentMax::sorted().num_segments(3), expected),
                (SegmentMax::offsets(), expected | (u32::from(beyond) * SegmentMax::TOO_LARGE)),
            ] {
                let inputs = [device.upload(&data).unwrap(), device.upload(&ids).unwrap()];
                let op = op.status(true).indices(ElementType::I64).into();
                let found = device.run(&op, &[&inputs[0], &inputs[1]]).unwrap();
                let status = found[2].download().unwrap();
                assert_eq!(status.as_slice::<u32>().unwrap(), [expected], "{ids:?} {op:?}");
                found[0].download().unwrap();
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
            let data = tensor(t, &[rows, inner], random.below(2), &mut random);
            let ids = sorted_ids(&mut random, rows);
            let segments = ids[rows - 1] as usize + 3;
            let second = ids_tensor(ElementType::I32, &ids);
            let index = random.pick(&[ElementType::I32, ElementType::I64]);
            let op = SegmentMax::sorted().num_segments(segments as i64).indices(index);
            let what = format!("WGMAX_SEED={seed}: {t}[{rows}, {inner}] in {segments} segments");
            let empty = 0;
            let expected =
                segment_oracle(&data, &members_by_id(&ids, segments), Nan::Propagate, empty);
            let found = op.run(&Device::cpu(), &data, &second).unwrap();
            for (i, &row) in expected.rows.iter().enumerate() {
                let at = bits_at(&found[1], i);
                let at = if index == ElementType::I32 { i64::from(at as i32) } else { at as i64 };
                assert_eq!(at, row, "{what}: index {i}");
            }
            let max_binding_size = (data.bytes().len() as u64 / 3).next_multiple_of(4).max(2048);
            let limits = Limits { max_binding_size, ..device.info().limits.clone() };
            compare_all_launches(&device, &op.into(), &[&data, &second], &limits, &what);
        }
    }
}
