//! SegmentMax.

use super::common::{Random, check_oracle, gpu, ids_tensor, seed, tensor};
use super::{check_random, compare_all_launches, rounds};
use wgmax::kernel::Kernel;
use wgmax::operator::{EmptySegment, Operator, SegmentMax};
use wgmax::plan::Limits;
use wgmax::sweep::{self, Narrow};
use wgmax::{Device, ElementType, Nan, Tensor};

#[test]
fn random_segments_agree_three_ways() {
    let Some(device) = gpu() else { return };
    check_random(Some(&device), rounds(400), |random, t| sweep::segment_max(random, t, 8000));
}

/// The same, on the CPU alone: what runs where no GPU is wanted.
#[test]
fn the_cpu_agrees_with_the_oracle_on_segments() {
    check_random(None, 400, |random, t| sweep::segment_max(random, t, 8000));
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
                    let op = if unsorted { SegmentMax::unsorted() } else { SegmentMax::sorted() };
                    let op: Operator = op
                        .num_segments(segments as i64)
                        .nan(Nan::Ignore)
                        .empty_segment(EmptySegment::NegativeInfinity)
                        .indices((kind == 3).then_some(ElementType::I64))
                        .into();
                    let second = ids_tensor(ElementType::I64, &ids);
                    let what = format!("{t}[{rows}, {inner}], {kind}, {op:?}");
                    check_oracle(&[&Device::cpu(), &device], &op, &[&data, &second], &what);
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
        let limits = Narrow::random(&mut random).within(&cpu.info().limits);
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
            let data = tensor(t, &[rows, inner], random.below(2) as usize, &mut random);
            let mut id = 0;
            let mut next = || {
                id += random.pick(&[0, 0, 0, 1, 2]);
                id
            };
            let ids: Vec<i64> = (0..rows).map(|_| next()).collect();
            let segments = ids[rows - 1] + 3;
            let index = random.pick(&[ElementType::I32, ElementType::I64]);
            let op = SegmentMax::sorted().num_segments(segments).indices(index).into();
            let ids = ids_tensor(ElementType::I32, &ids);
            let what = format!("WGMAX_SEED={seed}: {t}[{rows}, {inner}] in {segments} segments");
            check_oracle(&[&Device::cpu()], &op, &[&data, &ids], &what);
            let max_binding_size = (data.bytes().len() as u64 / 3).next_multiple_of(4).max(2048);
            let limits = Limits { max_binding_size, ..device.info().limits.clone() };
            compare_all_launches(&device, &op, &[&data, &ids], &limits, &what);
        }
    }
}

/// What is done where invocations share no fetches, on any device: rows of one element by eights, wide rows by strips.
#[test]
fn eights_and_strips_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    let (mut eights, mut strips) = (0, 0);
    for t in ElementType::ALL {
        let strip = 64 / t.size();
        for (rows, inner) in [(72, 1), (1003, 1), (5000, 1), (700, strip), (150, 3 * strip)] {
            for most in [0, 1, 3, 200] {
                // Segments of one row, of a few, of many, and one of all rows.
                let mut id = 0;
                let mut next = || {
                    id += if random.below(most + 1) == 0 { random.pick(&[1, 1, 2]) } else { 0 };
                    if most == 200 { 0 } else { id }
                };
                let ids: Vec<i64> = (0..rows).map(|_| next()).collect();
                let count = ids[rows - 1] + 1;
                // Some of the last rows may have no place.
                let segments = random.pick(&[count, count + 5, (count * 9 / 10).max(1)]);
                let op: Operator = SegmentMax::sorted()
                    .num_segments(segments)
                    .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
                    .into();
                let data = tensor(t, &[rows, inner], random.below(2) as usize, &mut random);
                let ids = ids_tensor(random.pick(&[ElementType::I32, ElementType::I64]), &ids);
                let own = device.info().limits.clone();
                let limits = Limits {
                    coalesces: false,
                    lanes: random.pick(&[1, 16, 4096]),
                    // Small ones ask for pieces of the segments.
                    max_binding_size: random.pick(&[own.max_binding_size, 8192]),
                    ..own
                };
                let what = format!(
                    "WGMAX_SEED={seed}: {t}[{rows}, {inner}] in {segments} of {count} segments, {limits:?}"
                );
                check_oracle(&[&Device::cpu()], &op, &[&data, &ids], &what);
                compare_all_launches(&device, &op, &[&data, &ids], &limits, &what);
                let plan = op.plan(&[data.desc(), ids.desc()], &limits).unwrap();
                eights += plan.shaders().filter(|s| s.kernel == Kernel::SegmentEights).count();
                strips += plan.shaders().filter(|s| s.kernel == Kernel::SegmentStrips).count();
            }
        }
    }
    assert!(eights > 50 && strips > 50, "{eights} {strips}");
}
