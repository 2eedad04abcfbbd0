//! ReduceMax.

use super::{check_random, check_within, compare_launches, rounds, variants};
use crate::common::{Random, both_tunings, check_oracle, gpu, limited, seed, some, tensor};
use wgmax::operator::{Indices, Operator, ReduceMax};
use wgmax::plan::Limits;
use wgmax::{Device, ElementType, Extremum, Nan, Run, Tensor, Tuning};
use wgmax_verify::Kind;

#[test]
fn random_reductions_agree_three_ways() {
    let Some(device) = gpu() else { return };
    check_random(Some(&device), rounds(100), Kind::ReduceMax, 60_000);
}

/// The same on the CPU alone, for runs without a GPU.
#[test]
fn the_cpu_agrees_with_the_oracle() {
    check_random(None, 400, Kind::ReduceMax, 40_000);
}

/// The shapes that planners and drivers get wrong, each for every type and with both tunings.
#[test]
fn known_traps_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let [hardware, software] = both_tunings(&device);
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
        // Widened to whole blocks, and shared by a workgroup.
        (&[20_480, 3], &[0]),
        (&[2, 35, 128], &[1]),
        // Widened to rows, the last of which overlaps and is the fourth of four that are read
        // together; another matrix follows.
        (&[3, 47, 4], &[1]),
        (&[3, 47, 16], &[1]),
        (&[300_007], &[0]),
        (&[2, 0, 3], &[1]),
        (&[2, 0, 3], &[0]),
        (&[], &[]),
    ];
    for t in ElementType::ALL {
        for (number, (shape, axes)) in shapes.iter().enumerate() {
            for nan in some(&[Nan::Propagate, Nan::Ignore], number + t as usize) {
                let input = tensor(t, shape, 1, &mut random);
                let op = ReduceMax::new().axes(axes.iter().map(|&a| a as i64)).nan(nan);
                let minimum = op.clone().extremum(Extremum::Minimum);
                let positions = |last| Indices::default().last(last);
                let found = [
                    op.clone().indices(positions(false)),
                    minimum.clone().indices(positions(true)),
                ];
                let found = found.into_iter().filter(|op| op.infer(input.desc()).is_ok());
                for op in [op, minimum].into_iter().chain(found) {
                    let (op, what): (Operator, _) =
                        (op.clone().into(), format!("{t}{shape:?}, {op:?}"));
                    check_oracle(&[&Device::cpu(), &hardware, &software], &op, &[&input], &what);
                    for device in [&hardware, &software] {
                        let plan = device.plan(&op, [input.desc()]).unwrap();
                        compare_launches(device, &op, &[&input], &plan, &what);
                    }
                }
            }
        }
    }
}

/// Without a bound an invocation would make more than 65,535 iterations. The maximum is the
/// last element.
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
        let expected = op.run(&Device::cpu(), &input).unwrap();
        for device in both_tunings(&device) {
            let found = op.run(&device, &input).unwrap();
            assert_eq!(found[0].bytes().last(), Some(&200), "{shape:?}");
            assert_eq!(found[0].bytes(), expected[0].bytes(), "{shape:?}");
        }
        // Its position, and the last position of the minimum.
        let places = op.clone().indices(Indices::default()).values(false);
        let lowest = Indices::new(ElementType::I32).last(true);
        let last = op.extremum(Extremum::Minimum).indices(lowest).values(false);
        let [places, last] = [places, last].map(|op| (op.run(&Device::cpu(), &input).unwrap(), op));
        let (len, results) = (shape[axis as usize], places.0[0].len());
        assert_eq!(
            places.0[0].as_slice::<i64>().unwrap()[results - 1],
            len as i64 - 1,
            "{shape:?}"
        );
        assert_eq!(last.0[0].as_slice::<i32>().unwrap()[results - 1], len as i32 - 2, "{shape:?}");
        for device in both_tunings(&device) {
            for (expected, op) in [&places, &last] {
                let found = op.run(&device, &input).unwrap();
                assert_eq!(found[0].bytes(), expected[0].bytes(), "{shape:?}");
            }
        }
    }
}

/// A grid of more than 65,535 workgroups.
#[test]
fn a_large_grid_covers_every_row() {
    let Some(device) = gpu() else { return };
    // 17 million rows of two: 66,407 workgroups of one invocation a row.
    let rows = 17_000_003;
    let bytes: Vec<u8> = (0..rows * 2).map(|i| ((i * 2_654_435_761usize) >> 13) as u8).collect();
    let input = Tensor::from_bytes(ElementType::U8, [rows, 2], &bytes).unwrap();
    let op = Operator::from(ReduceMax::new().axes([1]));
    let device = device.with_tuning(Tuning::hardware());
    let plan = device.plan(&op, [input.desc()]).unwrap();
    let groups: u32 = plan.launches()[0].grid().iter().product();
    assert!(groups > 65_535, "{groups} workgroups");
    let found = op.run(&device, [&input]).unwrap();
    for (row, (found, pair)) in found[0].bytes().iter().zip(bytes.chunks(2)).enumerate() {
        assert_eq!(*found, pair[0].max(pair[1]), "row {row}");
    }
}

/// A result is the input of the next operator without a download.
#[test]
fn results_feed_the_next_operator() {
    let Some(device) = gpu() else { return };
    let input = tensor(ElementType::F16, &[5, 7, 9], 0, &mut Random(3));
    let both = ReduceMax::new().axes([0, 2]).run(&Device::cpu(), &input).unwrap();
    for device in both_tunings(&device) {
        let first = device.upload(&input).unwrap();
        let second = device.run(ReduceMax::new().axes([2]), [&first]).unwrap();
        let third = device.run(ReduceMax::new().axes([0]), [&second[0]]).unwrap();
        assert_eq!(third[0].download().unwrap().bytes(), both[0].bytes());
    }
}

/// The operator, at random as a minimum and with positions.
fn with_positions(op: ReduceMax, random: &mut Random) -> ReduceMax {
    let op = match random.below(3) {
        0 => op.extremum(Extremum::Minimum),
        _ => op,
    };
    match random.below(2) {
        0 => op,
        _ => op.indices(
            Indices::new(random.pick(&[ElementType::I32, ElementType::I64]))
                .last(random.below(3) == 0),
        ),
    }
}

/// No binding holds two rows: columns are reduced part by part.
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
            for max_binding_size in some(&[1024, 4096], random.below(8) as usize) {
                let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
                let what = format!(
                    "WGMAX_SEED={seed}: {t}{shape:?} over {axis}, {nan:?}, bindings of \
                     {max_binding_size}"
                );
                let input = tensor(t, shape, random.below(2) as usize, &mut random);
                let op =
                    with_positions(ReduceMax::new().axes([*axis]).nan(nan), &mut random).into();
                check_oracle(&[&Device::cpu()], &op, &[&input], &what);
                let limits = limited(device.info().limits.clone(), |limits| {
                    limits.max_binding_size = max_binding_size
                });
                for device in both_tunings(&device) {
                    check_within(&device, &op, &[&input], &limits, &what);
                }
            }
        }
    }
}

/// The types whose elements share a word.
fn packed_types() -> impl Iterator<Item = ElementType> {
    ElementType::ALL.into_iter().filter(|t| t.size() < 4)
}

/// Launches of a plan whose results begin within a word, after those of other launches: rows and
/// columns, of which bindings hold one matrix, a few, or a part of one.
#[test]
fn results_that_begin_within_a_word_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    let shapes: &[(&[usize], i64, u64)] = &[
        // Rows: one a launch, two or three a launch, and pieces of one.
        (&[9, 901], 1, 1024),
        (&[11, 401], 1, 1024),
        (&[7, 5, 133], 2, 1024),
        (&[5, 70_001], 1, 4096),
        (&[5, 700_001], 1, 1 << 16),
        // Columns: one matrix a launch, a few, pieces of their rows, and of their columns.
        (&[7, 3, 301], 1, 1024),
        (&[13, 29, 7], 1, 1024),
        (&[6, 211, 3], 1, 1024),
        (&[5, 2003, 1], 1, 1024),
        (&[3, 4, 1999], 1, 4096),
        (&[3, 40, 333], 1, 2048),
        (&[3, 5, 1023], 1, 2048),
        (&[70_001, 5], 0, 4096),
        // Both: the second reduction begins where the first left off.
        (&[3, 17, 5, 131], 1, 1024),
    ];
    for t in packed_types() {
        for (shape, axis, max_binding_size) in some(shapes, t as usize) {
            let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
            let input = tensor(t, shape, random.below(2) as usize, &mut random);
            let op = with_positions(ReduceMax::new().axes([axis]).nan(nan), &mut random).into();
            // Larger alignments leave more before the first element of a binding.
            let own = device.info().limits.clone();
            let alignment = random.pick(&[own.alignment, 256]).max(own.alignment);
            let limits = limited(own, |limits| {
                limits.max_binding_size = max_binding_size;
                limits.alignment = alignment;
            });
            let what = format!(
                "WGMAX_SEED={seed}: {t}{shape:?} over {axis}, {nan:?}, bindings of \
                 {max_binding_size}, alignment {alignment}"
            );
            check_oracle(&[&Device::cpu()], &op, &[&input], &what);
            for device in both_tunings(&device) {
                let plan = check_within(&device, &op, &[&input], &limits, &what);
                assert!(plan.launches().len() > 1, "{what}: one launch");
            }
        }
    }
}

/// Checks the test above: in nine launches of one row each, the i-th result begins i bytes into
/// its binding.
#[test]
fn results_do_begin_within_a_word() {
    let limits = limited(Limits::cpu(), |limits| limits.max_binding_size = 1024);
    let input = wgmax::TensorDesc::new(ElementType::U8, [9, 901]).unwrap();
    for tuning in [Tuning::hardware(), Tuning::software()] {
        let plan = ReduceMax::new().axes([1]).plan(&input, &limits, &tuning).unwrap();
        let last = plan.launches().iter().filter(|launch| launch.purpose() == "maxima of rows");
        let written: Vec<u64> = last.map(|launch| launch.bytes_written()).collect();
        assert_eq!(written, [1, 2, 3, 4, 5, 6, 7, 8, 9], "{plan:#?}");
    }
}

/// The same with random shapes, bindings and parallelism.
#[test]
fn random_results_that_begin_within_a_word_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    let types: Vec<ElementType> = packed_types().collect();
    for round in 0..rounds(60) {
        let t = random.pick(&types);
        let inner = random.pick(&[1, 1, 2, 3, 5, 7, 13, 101, 555]);
        let outer = 1 + random.below(if inner > 99 { 6 } else { 40 }) as usize;
        let n = 1 + random.below(12_000 / (outer * inner).min(12_000) as u64 + 3) as usize;
        let shape = [outer, n, inner];
        let own = device.info().limits.clone();
        let limits = limited(own, |limits| {
            limits.max_binding_size = random.pick(&[512, 1024, 1500, 2048, 4096]);
            limits.alignment = random.pick(&[limits.alignment, 256]).max(limits.alignment);
        });
        let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
        let op = with_positions(ReduceMax::new().axes([1]).nan(nan), &mut random).into();
        let input = tensor(t, &shape, random.below(3) as usize, &mut random);
        let parallelism = random.pick(&[1, 64, 1024, 65_536]);
        let what = format!(
            "WGMAX_SEED={seed}, round {round}: {t}{shape:?}, {nan:?}, bindings of {}, alignment \
             {}, parallelism {parallelism}",
            limits.max_binding_size, limits.alignment
        );
        check_oracle(&[&Device::cpu()], &op, &[&input], &what);
        for device in both_tunings(&device) {
            let tuning = device.tuning().clone().with_target_parallelism(parallelism);
            let device = device.with_tuning(tuning);
            check_within(&device, &op, &[&input], &limits, &what);
        }
    }
}

/// Short rows of whole blocks: up to four blocks on hardware, more on software adapters.
#[test]
fn short_rows_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    for t in ElementType::ALL {
        for (rows, bytes) in [(1, 64), (3, 16), (257, 48), (1030, 80), (1003, 272), (66, 2048)] {
            for parallelism in [1, 16, 4096] {
                let shape = [rows, bytes / t.size()];
                let nan = random.pick(&[Nan::Propagate, Nan::Ignore]);
                let what =
                    format!("WGMAX_SEED={seed}: {t}{shape:?}, {nan:?}, parallelism {parallelism}");
                let input = tensor(t, &shape, random.below(2) as usize, &mut random);
                let extremum = random.pick(&[Extremum::Maximum, Extremum::Minimum]);
                let op = ReduceMax::new().axes([1]).nan(nan).extremum(extremum).into();
                check_oracle(&[&Device::cpu()], &op, &[&input], &what);
                for tuning in [Tuning::software(), Tuning::hardware()] {
                    let device =
                        device.with_tuning(tuning.clone().with_target_parallelism(parallelism));
                    let plan = device.plan(&op, [input.desc()]).unwrap();
                    let is_short = tuning.name() == "software" || bytes <= 64;
                    let kernel = if is_short { "reduce_short_rows" } else { "reduce_rows" };
                    assert_eq!(variants(&plan), [kernel], "{what}");
                    compare_launches(&device, &op, &[&input], &plan, &what);
                }
            }
        }
    }
}
