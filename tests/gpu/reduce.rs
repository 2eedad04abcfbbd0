//! ReduceMax.

use super::common::{Random, check_oracle, gpu, seed, tensor};
use super::{check_random, compare_launches, rounds};
use wgmax::kernel::Kernel;
use wgmax::operator::ReduceMax;
use wgmax::plan::Limits;
use wgmax::{Device, ElementType, Nan, Tensor, sweep};

#[test]
fn random_reductions_agree_three_ways() {
    let Some(device) = gpu() else { return };
    check_random(Some(&device), rounds(400), |random, t| sweep::reduce_max(random, t, 60_000));
}

/// The same, on the CPU alone: what runs where no GPU is wanted.
#[test]
fn the_cpu_agrees_with_the_oracle() {
    check_random(None, 400, |random, t| sweep::reduce_max(random, t, 40_000));
}

/// The shapes that planners and drivers get wrong, each for every type.
#[test]
fn known_traps_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let mut random = Random(7);
    let shapes: &[(&[usize], &[usize])] = &[
        (&[3], &[]),
        (&[3, 5], &[1]),
        (&[5, 3], &[0]),
        (&[1000, 3], &[0]),
        (&[7, 1000, 3], &[1]),
        (&[3, 65, 2], &[1]),
        (&[2, 3, 4, 5, 6], &[0, 2, 4]),
        (&[1, 1, 1], &[1]),
        (&[4097, 1], &[0]),
        (&[2, 4099], &[1]),
        (&[64, 1027], &[0]),
        (&[20_011, 2], &[0]),
        // Widened to rows whose last one overlaps, read as the fourth of four, before another matrix.
        (&[3, 47, 4], &[1]),
        (&[3, 47, 16], &[1]),
        (&[300_007], &[0]),
        (&[2, 0, 3], &[1]),
        (&[2, 0, 3], &[0]),
        (&[], &[]),
    ];
    for t in ElementType::ALL {
        for (shape, axes) in shapes {
            for nan in [Nan::Propagate, Nan::Ignore] {
                let what = format!("{t}{shape:?} over {axes:?}, {nan:?}");
                let input = tensor(t, shape, 1, &mut random);
                let op = ReduceMax::new().axes(axes.iter().map(|&a| a as i64)).nan(nan);
                let op = op.into();
                check_oracle(&[&Device::cpu(), &device], &op, &[&input], &what);
                let limits = device.info().limits.clone();
                compare_launches(&device, &op, &input, &limits, &what);
            }
        }
    }
}

/// More than 65,535 iterations in one invocation, were they not bounded; the answer sits at the very end.
#[test]
fn a_long_reduction_reaches_its_end() {
    let Some(device) = gpu() else { return };
    let n = 24 << 20;
    let mut bytes = vec![1u8; n];
    bytes[n - 1] = 200;
    for shape in [vec![n], vec![n / 2, 2], vec![8, n / 8], vec![n / 3, 3]] {
        let input =
            Tensor::from_bytes(ElementType::U8, shape.clone(), &bytes[..shape.iter().product()])
                .unwrap();
        let axis = i64::from(shape[0] == 8);
        let op = ReduceMax::new().axes([axis]);
        let found = op.run(&device, &input).unwrap();
        assert_eq!(found.bytes().last(), Some(&200), "{shape:?}");
        assert_eq!(found.bytes(), op.run(&Device::cpu(), &input).unwrap().bytes());
    }
}

/// A grid of more than 65,535 workgroups.
#[test]
fn a_large_grid_covers_every_row() {
    let Some(device) = gpu() else { return };
    // 17 million rows of two: 66,407 workgroups of one lane a row.
    let rows = 17_000_003;
    let bytes: Vec<u8> = (0..rows * 2).map(|i| ((i * 2_654_435_761usize) >> 13) as u8).collect();
    let input = Tensor::from_bytes(ElementType::U8, [rows, 2], &bytes).unwrap();
    let found = ReduceMax::new().axes([1]).run(&device, &input).unwrap();
    for (row, (found, pair)) in found.bytes().iter().zip(bytes.chunks(2)).enumerate() {
        assert_eq!(*found, pair[0].max(pair[1]), "row {row}");
    }
}

/// A result feeds the next operator without coming back.
#[test]
fn results_feed_the_next_operator() {
    let Some(device) = gpu() else { return };
    let input = tensor(ElementType::F16, &[5, 7, 9], 0, &mut Random(3));
    let first = device.upload(&input).unwrap();
    let second = device.run(&ReduceMax::new().axes([2]).into(), &[&first]).unwrap();
    let third = device.run(&ReduceMax::new().axes([0]).into(), &[&second[0]]).unwrap();
    let both = ReduceMax::new().axes([0, 2]).run(&Device::cpu(), &input).unwrap();
    assert_eq!(third[0].download().unwrap().bytes(), both.bytes());
}

/// No binding holds two rows, or the keys of one: columns are reduced part by part.
#[test]
fn rows_wider_than_a_binding_are_cut() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    let shapes: &[(&[usize], i64)] = &[
        (&[2, 5000], 0),
        (&[5, 3001], 0),
        (&[3, 4, 1999], 1),
        (&[2, 3, 16_001], 1),
        (&[40, 1024], 0),
        (&[2, 2, 7, 600], 1),
    ];
    for t in ElementType::ALL {
        for (shape, axis) in shapes {
            for max_binding_size in [1024, 4096] {
                let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
                let what = format!(
                    "WGMAX_SEED={seed}: {t}{shape:?} over {axis}, {nan:?}, bindings of {max_binding_size}"
                );
                let input = tensor(t, shape, random.below(2) as usize, &mut random);
                let op = ReduceMax::new().axes([*axis]).nan(nan).into();
                check_oracle(&[&Device::cpu()], &op, &[&input], &what);
                let limits = Limits { max_binding_size, ..device.info().limits.clone() };
                compare_launches(&device, &op, &input, &limits, &what);
            }
        }
    }
}

/// What is done where invocations share no fetches, on any device: many short rows of whole blocks.
#[test]
fn short_rows_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    for t in ElementType::ALL {
        for (rows, bytes) in [(1, 64), (3, 16), (257, 48), (1030, 80), (1003, 272), (66, 2048)] {
            for lanes in [1, 16, 4096] {
                let shape = [rows, bytes / t.size()];
                let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
                let what = format!("WGMAX_SEED={seed}: {t}{shape:?}, {nan:?}, {lanes} lanes");
                let input = tensor(t, &shape, random.below(2) as usize, &mut random);
                let op = ReduceMax::new().axes([1]).nan(nan).into();
                check_oracle(&[&Device::cpu()], &op, &[&input], &what);
                let limits = Limits { coalesces: false, lanes, ..device.info().limits.clone() };
                compare_launches(&device, &op, &input, &limits, &what);
                let plan = op.plan(&[input.desc()], &limits).unwrap();
                assert!(plan.shaders().all(|s| s.kernel == Kernel::ReduceShort), "{what}");
            }
        }
    }
}
