//! MaxPool.

use super::common::{Random, check_oracle, describe, gpu, plans, seed, tensor};
use super::{check_random, check_within, compare_launches, plan_within, rounds, variants};
use wgmax::operator::{Indices, Layout, MaxPool, Operator, Order, Rounding};
use wgmax::plan::Limits;
use wgmax::{Device, ElementType, Nan, Tuning, sweep};

#[test]
fn random_pools_agree_three_ways() {
    let Some(device) = gpu() else { return };
    check_random(Some(&device), rounds(400), |random, t| sweep::max_pool(random, t, 12_000));
}

/// The same, on the CPU alone: what runs where no GPU is wanted.
#[test]
fn the_cpu_agrees_with_the_oracle_on_pools() {
    check_random(None, 600, |random, t| sweep::max_pool(random, t, 12_000));
}

/// Kernels and flags, as [`variants`] writes them. Every type must reach one of a list, and some
/// type each of it; nothing is asked of an empty list.
type Reached = &'static [&'static str];

const ANY: Reached = &[];
const BLOCKS: Reached = &["pool_blocks"];
const TILE: Reached = &["pool_register_tile"];
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
const INDEX: Reached = &["pool_index"];
/// Positions by two launches, and by more.
const TWO: Reached = &["pool_index to_positions", "pool_index from_positions"];
const MORE: Reached = &["pool_index from_positions to_positions"];
/// Windows slide for positions where elements have a word.
const SLIDING_INDEX: Reached = &["pool_index", "pool_sliding_window_index wide"];

/// What planners and drivers get wrong, and what random pools seldom are.
struct Trap {
    /// What the plan for hardware must reach, and the one for software adapters.
    hardware: Reached,
    software: Reached,
    /// The same for positions: the software adapters' kernels are not asked of hardware.
    index: Reached,
    shape: &'static [usize],
    pool: MaxPool,
}

fn traps() -> Vec<Trap> {
    type Pads = (&'static [i64], &'static [i64]);
    let nxc = |kernel: &[i64], strides: &[i64], dilations: &[i64], pads: Pads| {
        MaxPool::new(kernel.to_vec())
            .strides(strides.to_vec())
            .dilations(dilations.to_vec())
            .pads(pads.0.to_vec(), pads.1.to_vec())
            .layout(Layout::Nxc)
    };
    let ncx = |op: MaxPool| op.layout(Layout::Ncx);
    let mut traps = Vec::new();
    let mut add = |hardware, software, index, shape, pool| {
        traps.push(Trap { hardware, software, index, shape, pool });
    };
    // Tiles of eight windows: whole and partly filled, several apart, in the padding of another
    // axis.
    add(TILE, ANY, SLIDING_INDEX, &[1, 40, 16], nxc(&[9], &[1], &[1], (&[4], &[4])));
    add(TILE, TILE, TWO, &[2, 41, 32], nxc(&[31], &[1], &[1], (&[40], &[33])));
    add(TILE, ANY, SLIDING_INDEX, &[1, 90, 16], nxc(&[17], &[2], &[1], (&[8], &[9])));
    add(TILE, ANY, SLIDING_INDEX, &[1, 120, 16], nxc(&[22], &[3], &[1], (&[0], &[0])));
    add(TILE, ANY, SLIDING_INDEX, &[1, 90, 16], nxc(&[9], &[1], &[2], (&[8], &[8])));
    add(TILE, TILE, INDEX, &[1, 99, 16], nxc(&[12], &[1], &[3], (&[20], &[5])));
    add(TILE, TILE, INDEX, &[1, 150, 16], nxc(&[25], &[3], &[2], (&[3], &[4])));
    let (kernel, pads): (&[i64], Pads) = (&[1, 9], (&[3, 4], &[2, 4]));
    add(TILE, BLOCKS, INDEX, &[2, 3, 40, 16], nxc(kernel, &[2, 1], &[1, 1], pads));
    let (kernel, pads): (&[i64], Pads) = (&[13, 1], (&[6, 0], &[6, 0]));
    add(TILE, ANY, SLIDING_INDEX, &[1, 1, 33, 64], ncx(nxc(kernel, &[1, 1], &[1, 1], pads)));
    // Sliding windows over whole blocks, one and two beside one another.
    add(BLOCKS, SLIDING, SLIDING_INDEX, &[2, 9, 48], nxc(&[3], &[2], &[1], (&[1], &[1])));
    let pads: Pads = (&[2, 1], &[0, 2]);
    let pool = nxc(&[3, 2], &[2, 1], &[1, 2], pads);
    add(BLOCKS, SLIDING, SLIDING_INDEX, &[2, 9, 7, 16], pool);
    let pads: Pads = (&[2, 3], &[2, 3]);
    let pool = nxc(&[2, 3], &[1, 1], &[3, 2], pads);
    add(BLOCKS, SLIDING, SLIDING_INDEX, &[1, 5, 5, 32], pool);
    let pads: Pads = (&[4, 0], &[3, 0]);
    let pool = ncx(nxc(&[9, 1], &[1, 1], &[1, 1], pads));
    add(TILE, SLIDING, SLIDING_INDEX, &[3, 2, 31, 48], pool);
    // Over elements, of lines that are whole blocks and that are not; of one row and several; the
    // last tap nearer than the others; parts of a line.
    let pool = || ncx(nxc(&[5], &[1], &[1], (&[2], &[2])));
    add(CONTIGUOUS, SLIDING, SLIDING_INDEX, &[2, 3, 48], pool());
    add(CONTIGUOUS, WORDS, SLIDING_INDEX, &[2, 3, 52], pool());
    add(GATHER, WORDS, SLIDING_INDEX, &[1, 2, 44], ncx(nxc(&[3], &[4], &[8], (&[15], &[5]))));
    add(CONTIGUOUS, LAST_WORDS, MORE, &[1, 1, 200], ncx(nxc(&[101], &[1], &[1], (&[100], &[7]))));
    add(GATHER, WORDS_TO, SLIDING_INDEX, &[1, 1, 70_000], ncx(nxc(&[4], &[2], &[1], (&[0], &[2]))));
    let pads: Pads = (&[1, 1], &[1, 1]);
    let pool = ncx(nxc(&[3, 3], &[2, 2], &[1, 1], pads));
    add(GATHER, WORDS_TO, SLIDING_INDEX, &[2, 3, 9, 48], pool);
    let pads: Pads = (&[2, 12], &[2, 12]);
    let pool = ncx(nxc(&[2, 13], &[3, 1], &[2, 1], pads));
    add(GATHER, WORDS_FROM, MORE, &[1, 1, 7, 20], pool);
    let pads: Pads = (&[0, 1, 1], &[0, 2, 0]);
    let pool = ncx(nxc(&[2, 3, 2], &[2, 2, 2], &[1, 2, 1], pads));
    add(GATHER, WORDS_ALL, INDEX, &[2, 1, 6, 5, 40], pool);
    // Windows that lie in the padding for the most part, and of more taps than an invocation may
    // look at.
    let pads: Pads = (&[499_995], &[5]);
    add(GATHER, GATHER, INDEX, &[1, 1, 4], ncx(nxc(&[100_000], &[1], &[5], pads)));
    let pads: Pads = (&[69_990], &[60]);
    add(GATHER, GATHER, MORE, &[1, 3, 9], ncx(nxc(&[70_000], &[7], &[1], pads)));
    add(GATHER, GATHER, INDEX, &[2, 7, 5], nxc(&[200], &[3], &[9], (&[1700], &[150])));
    // Results of a piece that do not begin with the first channel.
    add(GATHER, GATHER, INDEX, &[1, 600, 7], nxc(&[2], &[1], &[1], (&[0], &[8])));
    add(CONTIGUOUS, CONTIGUOUS, INDEX, &[2, 69, 9], nxc(&[1], &[1], &[1], (&[0], &[3])));
    // Large windows that lie apart, and one window over all.
    add(GATHER, GATHER, INDEX, &[1, 2, 4000], ncx(nxc(&[400], &[400], &[1], (&[0], &[0]))));
    let pads: Pads = (&[0, 0], &[0, 0]);
    add(ROWS, ROWS, TWO, &[3, 5, 7, 7], ncx(nxc(&[7, 7], &[1, 1], &[1, 1], pads)));
    // Nothing but copies.
    add(BLOCKS, SLIDING, SLIDING_INDEX, &[1, 1, 4096], ncx(nxc(&[1], &[1], &[1], (&[0], &[0]))));
    traps
}

/// Each trap by both plans, of which each must reach the kernels that it is a trap for.
#[test]
fn known_traps_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let [hardware, software] = plans(&device);
    let mut random = Random(11);
    for Trap { hardware: by_hardware, software: by_software, index, shape, pool } in traps() {
        for indices in [None, Some(Indices::default())] {
            let op = Operator::from(pool.clone().indices(indices));
            let general: Vec<&str> =
                index.iter().copied().filter(|name| name.starts_with("pool_index")).collect();
            let expected = match indices {
                None => [(&hardware, by_hardware), (&software, by_software)],
                Some(_) => [(&hardware, &general[..]), (&software, index)],
            };
            let mut missing: Vec<&str> =
                expected.iter().flat_map(|(_, all)| *all).copied().collect();
            for t in [ElementType::F32, ElementType::U8, ElementType::F16, ElementType::I64] {
                let input = tensor(t, shape, 1, &mut random);
                let what = format!("{t}{shape:?}, {op:?}");
                for (device, expected) in expected {
                    let found = variants(&device.plan(&op, &[input.desc()]).unwrap());
                    let reached = |name: &&str| found.iter().any(|found| found == name);
                    let one = expected.is_empty() || expected.iter().any(reached);
                    assert!(one, "{what} on {}: {found:?}, none of {expected:?}", describe(device));
                    missing.retain(|name| !reached(name));
                }
                check_oracle(&[&Device::cpu(), &hardware, &software], &op, &[&input], &what);
                for (device, binding) in
                    expected.iter().flat_map(|e| [u64::MAX, 4096, 2048, 512].map(|b| (e.0, b)))
                {
                    let own = device.info().limits.clone();
                    let limits =
                        Limits { max_binding_size: own.max_binding_size.min(binding), ..own };
                    if let Ok(plan) = plan_within(device, &op, &[&input], &limits) {
                        let what = format!("{what}, bindings of {binding}");
                        compare_launches(device, &op, &[&input], &plan, &what);
                    }
                }
            }
            assert!(missing.is_empty(), "{op:?} of {shape:?}: no type reaches {missing:?}");
        }
    }
}

/// No launch may run longer than its limit, whatever the attributes; and what
/// cannot be done is an error.
#[test]
fn hostile_attributes_are_errors_or_plans() {
    let numbers = [1, 2, 3, 7, 1 << 16, 1 << 26, (1 << 31) - 1, 1 << 31, 1 << 40, i64::MAX];
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
            .pads([number() - 1], [number() - 1]);
        let op = match random.below(4) {
            0 => op.indices(Indices::default()),
            1 => op.layout(Layout::Nxc),
            _ => op,
        };
        let input = wgmax::TensorDesc::new(t, shape).unwrap();
        for limits in [Limits::cpu(), Limits { max_iterations: 100, ..Limits::cpu() }] {
            let tuning = random.pick(&[Tuning::hardware, Tuning::software, || Tuning::cpu(2)])();
            let Ok(plan) = op.plan(&input, &limits, &tuning) else { continue };
            plans += 1;
            plan.check(&limits).unwrap_or_else(|wrong| panic!("{wrong}: {op:?} of {input:?}"));
        }
    }
    assert!(plans > 500, "{plans}");
}

/// Planes that no binding holds, of windows that several launches look for: they are cut.
#[test]
fn planes_wider_than_a_binding_are_cut() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    // Shape, kernel, strides, dilations, padding, each of two axes but for the shape.
    type Cut = ([usize; 4], [i64; 2], [i64; 2], [i64; 2], [i64; 2]);
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
                let (shape, order) = match layout {
                    Layout::Ncx => (*shape, random.pick(&[Order::RowMajor, Order::ColumnMajor])),
                    Layout::Nxc => ([batch, height, width, channels], Order::RowMajor),
                };
                let axis = if order == Order::RowMajor { random.below(4) as i64 } else { 0 };
                let element_type = random.pick(&[ElementType::I32, ElementType::I64]);
                let op = MaxPool::new(*kernel)
                    .strides(*strides)
                    .dilations(*dilations)
                    .pads(*pads, *pads)
                    .rounding(random.pick(&[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch]))
                    .layout(layout)
                    .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
                    .indices(Indices { element_type, order, axis })
                    .into();
                let input = tensor(t, &shape, random.below(2) as usize, &mut random);
                let what = format!("WGMAX_SEED={seed}: {t}{shape:?}, {op:?}");
                check_oracle(&[&Device::cpu()], &op, &[&input], &what);
                let max_binding_size = 512 + (input.bytes().len() as u64 / batch as u64 / 2);
                let max_binding_size = max_binding_size / 4 * 4;
                let limits = Limits { max_binding_size, ..device.info().limits.clone() };
                for device in plans(&device) {
                    let plan = check_within(&device, &op, &[&input], &limits, &what);
                    let between = plan.shaders().any(|shader| shader.is("to_positions"));
                    assert!(between, "{what}: several launches");
                }
            }
        }
    }
}
