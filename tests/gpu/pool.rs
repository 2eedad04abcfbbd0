//! MaxPool.

use std::collections::BTreeSet;

use super::{check_random, check_within, compare_launches, plan_within, rounds, variants};
use crate::common::{
    Random, both_tunings, check_oracle, describe, gpu, limited, one_if_short, seed, some, tensor,
};
use wgmax::operator::{Indices, Layout, MaxPool, Numbering, Operator, Rounding};
use wgmax::plan::Limits;
use wgmax::{
    Device, ElementType, Error, Extremum, Nan, Run, RunOptions, Tensor, TensorDesc, Tuning,
};
use wgmax_verify::Kind;

#[test]
fn random_pools_agree_three_ways() {
    let Some(device) = gpu() else { return };
    check_random(Some(&device), rounds(100), Kind::MaxPool, 12_000);
}

/// The same on the CPU alone, for runs without a GPU.
#[test]
fn the_cpu_agrees_with_the_oracle_on_pools() {
    check_random(None, 600, Kind::MaxPool, 12_000);
}

/// Kernels and flags, as [`variants`] writes them. Every type must reach one of the list, and
/// each of the list must be reached by some type. An empty list requires nothing.
type Reached = &'static [&'static str];

const ANY: Reached = &[];
const BLOCKS: Reached = &["pool_blocks"];
const GATHER: Reached = &["pool_gather"];
const CONTIGUOUS: Reached = &["pool_gather contiguous"];
const ROWS: Reached = &["reduce_rows"];
const SLIDING: Reached = &["pool_sliding_window"];
/// Lines of whole blocks, and of whole words.
const WORDS: Reached =
    &["pool_sliding_window", "pool_sliding_window unaligned_source unaligned_result"];
const WORDS_FROM: Reached = &["pool_sliding_window", "pool_sliding_window unaligned_source"];
const WORDS_TO: Reached = &["pool_sliding_window", "pool_sliding_window unaligned_result"];
const WORDS_ALL: Reached = &[
    "pool_sliding_window",
    "pool_sliding_window unaligned_result",
    "pool_sliding_window unaligned_source unaligned_result",
];
const LAST_WORDS: Reached = &[
    "pool_sliding_window unaligned_result",
    "pool_sliding_window unaligned_source unaligned_result",
];
const INDEX: Reached = &["pool_gather indices"];
/// Positions by two launches, and by more.
const TWO: Reached = &["pool_gather indices to_positions", "pool_gather indices from_positions"];
const MORE: Reached = &["pool_gather indices from_positions to_positions"];
/// Adaptive windows.
const SHARED: Reached = &["pool_gather shared_out"];
const SHARED_BLOCKS: Reached = &["pool_blocks shared_out"];
const SHARED_INDEX: Reached = &["pool_gather indices shared_out"];
const SHARED_TWO: Reached = &[
    "pool_gather indices to_positions shared_out",
    "pool_gather indices from_positions shared_out",
];
/// Windows slide for positions if elements have one word.
const SLIDING_INDEX: Reached = &["pool_gather indices", "pool_sliding_window indices wide"];

/// A pooling that planners or drivers get wrong, and that random cases seldom draw.
struct Trap {
    /// What plans must reach with the tuning for hardware, without tiles and sliding windows, and with the one
    /// for software adapters.
    hardware: Reached,
    software: Reached,
    /// The same for positions. With the first tuning, plans must reach only those of `pool_gather`.
    index: Reached,
    shape: &'static [usize],
    pool: MaxPool,
}

/// Along each spatial axis: taps, strides, dilations, pads before and after.
type Windows = [&'static [usize]; 5];

/// A trap that must reach these; its pooling is set later.
fn reach(hardware: Reached, software: Reached, index: Reached) -> Trap {
    Trap { hardware, software, index, shape: &[], pool: MaxPool::new([]) }
}

impl Trap {
    fn ncx(self, shape: &'static [usize], windows: Windows) -> Self {
        let [kernel, strides, dilations, begin, end] = windows.map(<[usize]>::to_vec);
        let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(begin, end);
        Self { shape, pool, ..self }
    }

    fn adaptive(self, shape: &'static [usize], outputs: &[usize]) -> Self {
        Self { shape, pool: MaxPool::adaptive(outputs.iter().copied()), ..self }
    }

    fn adaptive_nxc(self, shape: &'static [usize], outputs: &[usize]) -> Self {
        let trap = self.adaptive(shape, outputs);
        Self { pool: trap.pool.layout(Layout::Nxc), ..trap }
    }

    fn nxc(self, shape: &'static [usize], windows: Windows) -> Self {
        let trap = self.ncx(shape, windows);
        Self { pool: trap.pool.layout(Layout::Nxc), ..trap }
    }
}

fn traps() -> Vec<Trap> {
    vec![
        // Windows over whole blocks: long, with strides and dilations, in the padding of another axis.
        reach(BLOCKS, ANY, SLIDING_INDEX).nxc(&[1, 40, 16], [&[9], &[1], &[1], &[4], &[4]]),
        reach(BLOCKS, BLOCKS, TWO).nxc(&[2, 41, 32], [&[31], &[1], &[1], &[40], &[33]]),
        reach(BLOCKS, ANY, SLIDING_INDEX).nxc(&[1, 90, 16], [&[17], &[2], &[1], &[8], &[9]]),
        reach(BLOCKS, ANY, SLIDING_INDEX).nxc(&[1, 120, 16], [&[22], &[3], &[1], &[0], &[0]]),
        reach(BLOCKS, ANY, SLIDING_INDEX).nxc(&[1, 90, 16], [&[9], &[1], &[2], &[8], &[8]]),
        reach(BLOCKS, SLIDING, INDEX).nxc(&[1, 99, 16], [&[12], &[1], &[3], &[20], &[5]]),
        reach(BLOCKS, BLOCKS, INDEX).nxc(&[1, 150, 16], [&[25], &[3], &[2], &[3], &[4]]),
        reach(BLOCKS, BLOCKS, INDEX)
            .nxc(&[2, 3, 40, 16], [&[1, 9], &[2, 1], &[1, 1], &[3, 4], &[2, 4]]),
        reach(BLOCKS, ANY, SLIDING_INDEX)
            .ncx(&[1, 1, 33, 64], [&[13, 1], &[1, 1], &[1, 1], &[6, 0], &[6, 0]]),
        // Sliding windows over whole blocks, along one axis and two.
        reach(BLOCKS, SLIDING, SLIDING_INDEX).nxc(&[2, 9, 48], [&[3], &[2], &[1], &[1], &[1]]),
        reach(BLOCKS, SLIDING, SLIDING_INDEX)
            .nxc(&[2, 9, 7, 16], [&[3, 2], &[2, 1], &[1, 2], &[2, 1], &[0, 2]]),
        reach(BLOCKS, SLIDING, SLIDING_INDEX)
            .nxc(&[1, 5, 5, 32], [&[2, 3], &[1, 1], &[3, 2], &[2, 3], &[2, 3]]),
        reach(BLOCKS, SLIDING, SLIDING_INDEX)
            .ncx(&[3, 2, 31, 48], [&[9, 1], &[1, 1], &[1, 1], &[4, 0], &[3, 0]]),
        // Over elements: lines of whole blocks and others, windows of one row and several, the last tap nearer
        // than the others, parts of a line.
        reach(CONTIGUOUS, SLIDING, SLIDING_INDEX).ncx(&[2, 3, 48], [&[5], &[1], &[1], &[2], &[2]]),
        reach(CONTIGUOUS, WORDS, SLIDING_INDEX).ncx(&[2, 3, 52], [&[5], &[1], &[1], &[2], &[2]]),
        reach(GATHER, WORDS, SLIDING_INDEX).ncx(&[1, 2, 44], [&[3], &[4], &[8], &[15], &[5]]),
        reach(CONTIGUOUS, LAST_WORDS, MORE).ncx(&[1, 1, 200], [&[101], &[1], &[1], &[100], &[7]]),
        reach(GATHER, WORDS_TO, SLIDING_INDEX).ncx(&[1, 1, 70_000], [&[4], &[2], &[1], &[0], &[2]]),
        reach(GATHER, WORDS_TO, SLIDING_INDEX)
            .ncx(&[2, 3, 9, 48], [&[3, 3], &[2, 2], &[1, 1], &[1, 1], &[1, 1]]),
        reach(GATHER, WORDS_FROM, MORE)
            .ncx(&[1, 1, 7, 20], [&[2, 13], &[3, 1], &[2, 1], &[2, 12], &[2, 12]]),
        reach(GATHER, WORDS_ALL, INDEX)
            .ncx(&[2, 1, 6, 5, 40], [&[2, 3, 2], &[2, 2, 2], &[1, 2, 1], &[0, 1, 1], &[0, 2, 0]]),
        // Lines of results that are not whole words: parts of a plane, whole planes, planes of planes,
        // and lines longer than a tile.
        reach(GATHER, ANY, ANY).ncx(&[2, 3, 71, 71], [&[3, 3], &[2, 2], &[1, 1], &[0, 0], &[0, 0]]),
        reach(GATHER, ANY, ANY).ncx(&[3, 2, 9, 13], [&[3, 3], &[1, 1], &[1, 1], &[1, 1], &[1, 1]]),
        reach(GATHER, ANY, ANY)
            .ncx(&[2, 2, 5, 6, 7], [&[2, 3, 2], &[1, 1, 2], &[1; 3], &[1, 1, 0], &[0, 1, 1]]),
        reach(GATHER, ANY, ANY).ncx(&[1, 2, 5001], [&[3], &[1], &[1], &[1], &[1]]),
        // Windows mostly in the padding, some with more taps than an invocation may visit.
        reach(GATHER, GATHER, INDEX).ncx(&[1, 1, 4], [&[100_000], &[1], &[5], &[499_995], &[5]]),
        reach(GATHER, GATHER, MORE).ncx(&[1, 3, 9], [&[70_000], &[7], &[1], &[69_990], &[60]]),
        reach(GATHER, GATHER, INDEX).nxc(&[2, 7, 5], [&[200], &[3], &[9], &[1700], &[150]]),
        // Results of a piece that do not begin with the first channel.
        reach(GATHER, GATHER, INDEX).nxc(&[1, 600, 7], [&[2], &[1], &[1], &[0], &[8]]),
        reach(CONTIGUOUS, CONTIGUOUS, INDEX).nxc(&[2, 69, 9], [&[1], &[1], &[1], &[0], &[3]]),
        // Large windows side by side, and one window over all elements.
        reach(GATHER, GATHER, INDEX).ncx(&[1, 2, 4000], [&[400], &[400], &[1], &[0], &[0]]),
        reach(ROWS, ROWS, TWO).ncx(&[3, 5, 7, 7], [&[7, 7], &[1, 1], &[1, 1], &[0, 0], &[0, 0]]),
        // Adaptive windows: single elements and blocks of several axes, long windows made of shorter ones,
        // more windows than elements, and more windows than 16 bits count.
        reach(SHARED, SHARED, SHARED_TWO).adaptive(&[2, 3, 31, 31], &[7, 7]),
        reach(SHARED, SHARED, ANY).adaptive(&[1, 2, 5, 9, 4], &[3, 4, 3]),
        reach(SHARED, SHARED, SHARED_INDEX).adaptive(&[1, 3, 6, 5], &[4, 7]),
        reach(SHARED, SHARED, SHARED_INDEX).adaptive(&[1, 1, 4101], &[4095]),
        reach(SHARED, SHARED, SHARED_INDEX).adaptive(&[1, 1, 4097], &[4098]),
        reach(SHARED, SHARED, SHARED_INDEX).adaptive(&[1, 1, 65_537], &[65_536]),
        reach(SHARED, SHARED, SHARED_INDEX).adaptive(&[1, 1, 3], &[70_001]),
        reach(SHARED, SHARED, ANY).adaptive(&[1, 1, 70_001], &[7]),
        reach(SHARED_BLOCKS, SHARED_BLOCKS, SHARED_INDEX).adaptive_nxc(&[2, 9, 11, 16], &[4, 5]),
        reach(SHARED, SHARED, SHARED_INDEX).adaptive_nxc(&[2, 9, 11, 3], &[4, 13]),
        // Along some axes only.
        reach(SHARED, SHARED, SHARED_INDEX).adaptive(&[2, 3, 8, 31], &[4, 7]),
        reach(ANY, ANY, ANY).adaptive(&[2, 3, 31, 8], &[7, 8]),
        reach(ANY, ANY, ANY).adaptive(&[2, 3, 8, 12], &[2, 1]),
        // Tall windows of every other place, in strips whose last one lacks one result of whole vectors.
        reach(ANY, ANY, ANY)
            .ncx(&[1, 1, 13, 16_510], [&[5, 2], &[1, 2], &[1, 1], &[0, 0], &[0, 0]]),
        reach(ANY, ANY, ANY)
            .ncx(&[1, 1, 13, 16_510], [&[5, 1], &[1, 2], &[1, 1], &[0, 0], &[0, 0]]),
        reach(ANY, ANY, ANY).ncx(&[2, 3, 300], [&[2], &[2], &[2], &[1], &[1]]),
        // Windows of one element: a copy.
        reach(BLOCKS, SLIDING, SLIDING_INDEX).ncx(&[1, 1, 4096], [&[1], &[1], &[1], &[0], &[0]]),
    ]
}

/// Plans each trap for each type. The plans must reach the trap's kernels, and those of some types run.
#[test]
fn known_traps_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let [hardware, software] = both_tunings(&device);
    let untiled = device.with_tuning(Tuning::hardware().without_tiles());
    let mut random = Random(11);
    let mut tiled = BTreeSet::new();
    let types = [ElementType::F32, ElementType::U8, ElementType::F16, ElementType::I64];
    for (number, trap) in traps().into_iter().enumerate() {
        let Trap { hardware: by_hardware, software: by_software, index, shape, pool } = trap;
        for indices in [None, Some(Indices::default())] {
            let run = some(&types, number + usize::from(indices.is_some()));
            let op = Operator::from(pool.clone().indices(indices));
            let general: Vec<&str> = index
                .iter()
                .copied()
                .filter(|name| name.starts_with("pool_gather indices"))
                .collect();
            let expected = match indices {
                None => [(&untiled, by_hardware), (&software, by_software), (&hardware, ANY)],
                Some(_) => [(&untiled, &general[..]), (&software, index), (&hardware, ANY)],
            };
            let mut missing = expected.map(|(_, all)| all.to_vec());
            for t in types {
                let input = tensor(t, shape, 1, &mut random);
                let what = format!("{t}{shape:?}, {op:?}");
                for ((device, expected), missing) in expected.into_iter().zip(&mut missing) {
                    let found = variants(&device.plan(&op, [input.desc()]).unwrap());
                    let tiles = found.iter().filter(|name| name.starts_with("pool_tile"));
                    tiled.extend(tiles.cloned());
                    let reached = |name: &&str| found.iter().any(|found| found == name);
                    let one = expected.is_empty() || expected.iter().any(reached);
                    assert!(one, "{what} on {}: {found:?}, none of {expected:?}", describe(device));
                    missing.retain(|name| !reached(name));
                }
                if !run.contains(&t) {
                    continue;
                }
                check_oracle(
                    &[&Device::cpu(), &untiled, &software, &hardware],
                    &op,
                    &[&input],
                    &what,
                );
                let bindings = one_if_short(&[u64::MAX, 4096, 2048, 512], number / 8);
                for (device, binding) in
                    bindings.into_iter().flat_map(|b| expected.map(|e| (e.0, b)))
                {
                    let own = device.info().limits.clone();
                    let limits =
                        limited(own, |l| l.max_binding_size = l.max_binding_size.min(binding));
                    if let Ok(plan) = plan_within(device, &op, &[&input], &limits) {
                        let what = format!("{what}, bindings of {binding}");
                        compare_launches(device, &op, &[&input], &plan, &what);
                    }
                }
            }
            let none = missing.iter().all(Vec::is_empty);
            assert!(none, "{op:?} of {shape:?}: no type reaches {missing:?}");
        }
    }
    for indices in ["", " indices"] {
        for flags in ["", " one_by_one", " one_by_one shared_out"] {
            let name = format!("pool_tile{indices}{flags}");
            assert!(tiled.contains(&name), "{name}: none of {tiled:?}");
        }
    }
}

/// If windows are rounded up, a window larger than the padded data by less than a stride is the
/// only one.
#[test]
fn the_only_window_may_be_partial() {
    let mut devices = vec![Device::cpu()];
    devices.extend(gpu().iter().flat_map(both_tunings));
    let all: Vec<&Device> = devices.iter().collect();
    let mut random = Random(3);
    // Shape, kernel, strides, dilations, padding before and after: each of two axes.
    let pools = [
        ([2, 2], [3, 3], [2, 2], [1, 1], [0, 0], [0, 0]),
        ([2, 7], [4, 3], [3, 2], [1, 1], [0, 1], [0, 1]),
        // Taps around all elements of an axis, and a window with its last elements alone.
        ([3, 3], [2, 2], [6, 5], [6, 3], [1, 0], [0, 0]),
        ([5, 40], [3, 50], [1, 20], [1, 1], [1, 3], [0, 2]),
        ([1, 1], [100, 9], [70, 9], [1, 1], [20, 0], [10, 0]),
    ];
    let indices = Indices::default();
    for rounding in [Rounding::Ceil, Rounding::CeilTorch] {
        for (size, kernel, strides, dilations, begin, end) in pools {
            let op = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(begin, end);
            let op = op.rounding(rounding);
            for t in [ElementType::F32, ElementType::U8, ElementType::F16, ElementType::I64] {
                let (layout, shape) = match random.pick(&[Layout::Ncx, Layout::Nxc]) {
                    Layout::Ncx => (Layout::Ncx, [2, 16, size[0], size[1]]),
                    Layout::Nxc => (Layout::Nxc, [2, size[0], size[1], 16]),
                };
                let input = tensor(t, &shape, 1, &mut random);
                for indices in [None, Some(indices)] {
                    let op = Operator::from(op.clone().layout(layout).indices(indices));
                    let what = format!("{t}{shape:?}, {op:?}");
                    check_oracle(&all, &op, &[&input], &what);
                    for device in &all {
                        let whole = op.run(device, [&input]).unwrap();
                        let pieces = RunOptions::new().max_piece(input.bytes().len() as u64 / 3);
                        let found = op.run_with(device, [&input], pieces).unwrap();
                        for (found, whole) in found.iter().zip(&whole) {
                            assert!(found.bytes() == whole.bytes(), "{what}, in pieces");
                        }
                    }
                }
            }
            let floor = op.rounding(Rounding::Floor);
            let data = TensorDesc::new(ElementType::F32, [1, 1, size[0], size[1]]).unwrap();
            assert!(matches!(floor.infer(&data), Err(Error::WindowTooLarge { .. })));
        }
    }
    // What ONNX Runtime gives.
    let data = Tensor::from_slice([1, 1, 2, 2], &[-4.0f32, -2.0, -3.0, -2.0]).unwrap();
    let op = MaxPool::new([3, 3]).strides([2, 2]).rounding(Rounding::CeilTorch).indices(indices);
    for device in &devices {
        let found = op.run(device, &data).unwrap();
        assert_eq!(found[0].shape(), [1, 1, 1, 1]);
        assert_eq!(found[0].as_slice::<f32>().unwrap(), [-2.0]);
        assert_eq!(found[1].as_slice::<i64>().unwrap(), [1]);
    }
}

/// For any attributes, planning gives an error or a plan within its limits.
#[test]
fn hostile_attributes_are_errors_or_plans() {
    let numbers = [1, 2, 3, 7, 1 << 16, 1 << 26, (1 << 31) - 1, 1 << 31, 1 << 40, usize::MAX];
    let sizes = [0usize, 1, 2, 9, 1 << 20];
    let mut random = Random(5);
    let mut plans = 0;
    for _ in 0..20_000 {
        let t = random.pick(&[ElementType::U8, ElementType::F32, ElementType::F64]);
        let shape = [1, random.pick(&[1usize, 3]), random.pick(&sizes)];
        let mut number = || random.pick(&numbers);
        let op = MaxPool::new([number()])
            .strides([number()])
            .dilations([number()])
            .pads([number() - 1], [number() - 1])
            .rounding(random.pick(&[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch]));
        let op = match random.below(4) {
            0 => op.indices(Indices::default()),
            1 => op.layout(Layout::Nxc),
            _ => op,
        };
        let input = TensorDesc::new(t, shape).unwrap();
        for limits in [Limits::cpu(), limited(Limits::cpu(), |limits| limits.max_iterations = 100)]
        {
            let tuning = random.pick(&[Tuning::hardware, Tuning::software, || Tuning::cpu(2)])();
            let Ok(plan) = op.plan(&input, &limits, &tuning) else { continue };
            plans += 1;
            plan.check(&limits).unwrap_or_else(|wrong| panic!("{wrong}: {op:?} of {input:?}"));
        }
    }
    assert!(plans > 500, "{plans}");
    for outputs in [[1, 1, 1], [1 << 20, 1 << 21, 1 << 21], [1 << 31, 1, 1 << 30], [7, 1 << 40, 1]]
    {
        for shape in [[1, 1, 3, 3, 3], [1, 1, 1 << 20, 2, 9]] {
            let op = MaxPool::adaptive(outputs);
            let input = TensorDesc::new(ElementType::U8, shape).unwrap();
            let (limits, tuning) = (Limits::cpu(), Tuning::hardware());
            let Ok(plan) = op.plan(&input, &limits, &tuning) else { continue };
            plan.check(&limits).unwrap_or_else(|wrong| panic!("{wrong}: {op:?} of {input:?}"));
        }
    }
}

/// Channels last, as in pictures: if the lines of all channels are whole words, the last axis and the channels
/// become one axis.
#[test]
fn windows_of_pictures_have_whole_lines() {
    let all =
        [(ElementType::U8, 3), (ElementType::F16, 3), (ElementType::F32, 3), (ElementType::U8, 30)];
    for (t, channels) in all {
        let input = TensorDesc::new(t, [2, 56, 224, channels]).unwrap();
        let op = MaxPool::new([3, 3]).pads([1, 1], [1, 1]).layout(Layout::Nxc);
        let plan = op.plan(&input, &Limits::cpu(), &Tuning::hardware()).unwrap();
        assert_eq!(variants(&plan), ["pool_sliding_window"], "{t} {channels}");
    }
}

/// Windows along one to three axes that tiles compute from shorter ones: with dilations, strides and padding,
/// with lengths that are powers of two and others, and with tiles at the ends of planes.
#[test]
fn long_windows_double() {
    let Some(device) = gpu() else { return };
    let [device, _] = both_tunings(&device);
    let mut random = Random(5);
    // Shape, kernel, strides, dilations, padding.
    type Long =
        (&'static [usize], &'static [usize], &'static [usize], &'static [usize], &'static [usize]);
    let windows: &[Long] = &[
        (&[2, 3, 20, 20], &[5, 5], &[1, 1], &[1, 1], &[2, 2]),
        (&[1, 2, 60, 64], &[5, 5], &[1, 1], &[2, 2], &[4, 4]),
        (&[1, 2, 140, 119], &[9, 8], &[1, 1], &[1, 1], &[0, 2]),
        (&[1, 1, 9, 12, 75], &[2, 2, 16], &[1, 1, 1], &[1, 1, 1], &[0, 0, 0]),
        (&[3, 1, 6000], &[37], &[1], &[3], &[36]),
        (&[2, 1, 3056], &[50], &[2], &[1], &[0]),
        (&[1, 1, 400, 24], &[60, 1], &[1, 1], &[1, 1], &[7, 0]),
    ];
    for &(shape, kernel, strides, dilations, pads) in windows {
        for (nan, extremum) in
            [(Nan::Propagate, Extremum::Maximum), (Nan::Ignore, Extremum::Minimum)]
        {
            let pads = || pads.iter().copied();
            let op = MaxPool::new(kernel.to_vec()).strides(strides.to_vec()).pads(pads(), pads());
            let op = op.dilations(dilations.to_vec()).nan(nan).extremum(extremum).into();
            for t in [ElementType::F32, ElementType::U8, ElementType::F16, ElementType::I64] {
                let input = tensor(t, shape, 1, &mut random);
                let (plan, what) =
                    (device.plan(&op, [input.desc()]).unwrap(), format!("{t}{shape:?}, {op:?}"));
                assert_eq!(variants(&plan), ["pool_tile doubled"], "{what}");
                check_oracle(&[&Device::cpu(), &device], &op, &[&input], &what);
            }
        }
    }
}

/// Planes that no binding holds are cut, also if several launches find the positions.
#[test]
fn planes_wider_than_a_binding_are_cut() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    // Shape; kernel, strides, dilations and padding of two axes.
    type Cut = ([usize; 4], [usize; 2], [usize; 2], [usize; 2], [usize; 2]);
    let cuts: &[Cut] = &[
        ([2, 2, 60, 40], [5, 5], [1, 1], [1, 1], [2, 2]),
        ([1, 2, 61, 23], [9, 11], [2, 3], [1, 1], [8, 10]),
        ([1, 1, 90, 17], [7, 3], [3, 1], [2, 4], [12, 8]),
        ([1, 3, 40, 30], [20, 2], [1, 1], [1, 1], [30, 1]),
        ([1, 1, 1, 2000], [1, 30], [1, 1], [1, 3], [0, 40]),
    ];
    for t in [ElementType::F32, ElementType::U8, ElementType::F16, ElementType::I64] {
        for (shape, kernel, strides, dilations, pads) in cuts {
            for layout in [Layout::Ncx, Layout::Nxc] {
                let [batch, channels, height, width] = *shape;
                let from_axis = Numbering::FromAxis(random.below(4) as i64);
                let (shape, numbering) = match layout {
                    Layout::Ncx => (*shape, random.pick(&[from_axis, Numbering::ColumnMajor])),
                    Layout::Nxc => ([batch, height, width, channels], from_axis),
                };
                let element_type = random.pick(&[ElementType::I32, ElementType::I64]);
                let op = MaxPool::new(*kernel)
                    .strides(*strides)
                    .dilations(*dilations)
                    .pads(*pads, *pads)
                    .rounding(random.pick(&[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch]))
                    .layout(layout)
                    .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
                    .indices(Indices::new(element_type).numbering(numbering))
                    .into();
                let input = tensor(t, &shape, random.below(2) as usize, &mut random);
                let what = format!("WGMAX_SEED={seed}: {t}{shape:?}, {op:?}");
                check_oracle(&[&Device::cpu()], &op, &[&input], &what);
                let max_binding_size = 512 + (input.bytes().len() as u64 / batch as u64 / 2);
                let max_binding_size = max_binding_size / 4 * 4;
                let limits = limited(device.info().limits.clone(), |limits| {
                    limits.max_binding_size = max_binding_size
                });
                let [_, software] = both_tunings(&device);
                let untiled = device.with_tuning(Tuning::hardware().without_tiles());
                for device in [untiled, software] {
                    let plan = check_within(&device, &op, &[&input], &limits, &what);
                    let between = plan.shaders().any(|shader| shader.is("to_positions"));
                    assert!(between, "{what}: several launches");
                }
            }
        }
    }
}
