//! MaxPool.

use super::common::pool::{Count, Pooling, pool_oracle};
use super::common::{Random, bits_at, gpu, maximum_of_nothing, seed, tensor};
use super::{compare_launches, limits, rounds};
use wgmax::operator::{EmptySet, Indices, Layout, MaxPool, Order, Rounding};
use wgmax::plan::Limits;
use wgmax::{Device, ElementType, Error, Nan, Tensor};

/// The operator of a pooling, without indices.
fn operator(p: &Pooling, lowest: bool) -> MaxPool {
    MaxPool::new(p.kernel.clone())
        .strides(p.strides.clone())
        .dilations(p.dilations.clone())
        .pads(p.begin.clone(), p.end.clone())
        .rounding([Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch][p.rounding as usize])
        .layout(if p.channels_last { Layout::Nxc } else { Layout::Ncx })
        .nan(p.nan)
        .empty_window(if lowest { EmptySet::Lowest } else { EmptySet::NegativeInfinity })
}

/// The lowest finite element.
fn lowest(t: ElementType) -> u64 {
    match t {
        ElementType::F32 => 0xff7f_ffff,
        ElementType::F64 => 0xffef_ffff_ffff_ffff,
        ElementType::F16 => 0xfbff,
        ElementType::Bf16 => 0xff7f,
        _ => maximum_of_nothing(t),
    }
}

/// A random pooling and a shape that it fits, most of the time.
fn random_pooling(random: &mut Random, t: ElementType, budget: u64) -> (Pooling, Vec<usize>) {
    let spatial = random.pick(&[1, 1, 2, 2, 2, 2, 3, 3, 4, 5]) as usize;
    let long = random.below(4) == 0;
    let mut left = budget;
    let mut size = |random: &mut Random, most: u64| {
        let size = match random.below(20) {
            0 if most < 10 => 0,
            0..=2 => 1,
            // Whole blocks, which random sizes seldom are.
            3..=5 => 4 << random.below(4),
            _ => 1 + random.below(most),
        }
        .min(left.max(1));
        left /= size.max(1);
        size as usize
    };
    let sizes: Vec<usize> =
        (0..spatial).map(|_| size(random, if spatial < 3 { 70 } else { 12 })).collect();
    let (batch, channels) = (size(random, 3), size(random, 9));
    let channels_last = random.below(2) == 0;
    let shape = match channels_last {
        true => [&[batch], sizes.as_slice(), &[channels]].concat(),
        false => [&[batch, channels], sizes.as_slice()].concat(),
    };
    let mut p = Pooling {
        channels_last,
        kernel: Vec::new(),
        strides: Vec::new(),
        dilations: Vec::new(),
        begin: Vec::new(),
        end: Vec::new(),
        rounding: random.below(3),
        nan: random.pick(&[Nan::Propagate, Nan::Ignore]),
        empty: maximum_of_nothing(t),
    };
    let one_stride = random.below(3) == 0;
    for &size in &sizes {
        let kernel = match random.below(8) {
            0 => 1,
            1 if long => 1 + random.below(40),
            2 if long => size.max(1) as u64,
            _ => 1 + random.below(4),
        } as i64;
        let stride = match random.below(6) {
            _ if one_stride => 1,
            0 => kernel,
            1 => 1 + random.below(30) as i64,
            _ => 1 + random.below(3) as i64,
        };
        let dilation = match random.below(8) {
            0 => 2 + random.below(3) as i64,
            1 => 1 + random.below(size as u64 + 4) as i64,
            _ => 1,
        };
        let extent = (kernel - 1) * dilation + 1;
        let pad = |random: &mut Random| match random.below(6) {
            0 => random.below(2 * extent as u64 + 2) as i64,
            1 | 2 => 0,
            _ => random.below(extent as u64) as i64,
        };
        p.kernel.push(kernel);
        p.strides.push(stride);
        p.dilations.push(dilation);
        p.begin.push(pad(random));
        p.end.push(pad(random));
    }
    (p, shape)
}

/// The index type and counting of a round, or none.
fn random_indices(random: &mut Random, p: &Pooling, rank: usize) -> Option<(Indices, Count)> {
    if random.below(2) == 0 {
        return None;
    }
    let element_type = random.pick(&[ElementType::I32, ElementType::I64]);
    if !p.channels_last && random.below(3) == 0 {
        let indices = Indices { element_type, order: Order::ColumnMajor, axis: 0 };
        return Some((indices, Count::Columns));
    }
    let axis = random.below(rank as u64) as i64;
    let named = if random.below(2) == 0 { axis } else { axis - rank as i64 };
    let indices = Indices { element_type, order: Order::RowMajor, axis: named };
    Some((indices, Count::From(axis as usize)))
}

fn check_oracle(
    device: &Device,
    p: &Pooling,
    op: &MaxPool,
    indices: Option<(Indices, Count)>,
    input: &Tensor,
    what: &str,
) {
    let found = op.run(device, input).unwrap();
    let counting = indices.map_or(Count::From(0), |(_, counting)| counting);
    let expected = pool_oracle(input, p, counting);
    assert_eq!(found[0].shape(), expected.shape, "{what}");
    let values = if indices.is_some() { &expected.first_values } else { &expected.values };
    for (i, &bits) in values.iter().enumerate() {
        let at = bits_at(&found[0], i);
        assert_eq!(at, bits, "{what} on {}: element {i}: {at:x} for {bits:x}", device.info());
    }
    assert_eq!(found.len(), 1 + usize::from(indices.is_some()), "{what}");
    for (i, &index) in expected.indices.iter().enumerate().filter(|_| found.len() > 1) {
        let at = match found[1].element_type() {
            ElementType::I32 => i64::from(bits_at(&found[1], i) as i32),
            _ => bits_at(&found[1], i) as i64,
        };
        assert_eq!(at, index, "{what} on {}: index {i}", device.info());
    }
}

/// One random pooling on the CPU and, if there is one, a GPU. Whether it could be done at all.
fn round(random: &mut Random, device: Option<&Device>, seed: u64, round: u64) -> bool {
    let t = random.pick(&ElementType::ALL);
    let (mut p, shape) = random_pooling(random, t, 12_000);
    let finite = random.below(2) == 0;
    if finite {
        p.empty = lowest(t);
    }
    let indices = random_indices(random, &p, shape.len());
    let op = operator(&p, finite).indices(indices.map(|(indices, _)| indices));
    let style = random.below(5);
    let what = format!(
        "WGMAX_SEED={seed}, round {round}: {t}{shape:?}, {p:?}, {indices:?}, style {style}"
    );
    let input = tensor(t, &shape, style, random);
    match op.infer(input.desc()) {
        Err(Error::WindowTooLarge { .. }) => return false,
        Err(error) => panic!("{what}: {error}"),
        // The oracle looks at every tap.
        Ok(outputs) => {
            let taps = p.kernel.iter().product::<i64>() as usize;
            if outputs[0].len() * taps > 3_000_000 {
                return false;
            }
        }
    }
    check_oracle(&Device::cpu(), &p, &op, indices, &input, &what);
    let Some(device) = device else { return true };
    check_oracle(device, &p, &op, indices, &input, &what);
    let limits = limits(device, random);
    match op.plan(input.desc(), &limits) {
        Ok(_) => {
            let what = format!("{what}, {limits:?}");
            compare_launches(device, &op.into(), &input, &limits, &what);
        }
        Err(error) => assert!(matches!(error, Error::OverLimit { .. }), "{what}: {error}"),
    }
    true
}

#[test]
fn random_poolings_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let seed = seed();
    let mut random = Random(seed);
    let rounds = rounds(400);
    let done = (0..rounds).filter(|&i| round(&mut random, Some(&device), seed, i)).count() as u64;
    assert!(done * 2 > rounds, "only {done} of {rounds} rounds were poolings");
}

/// The same, on the CPU alone: what runs where no GPU is wanted.
#[test]
fn the_cpu_agrees_with_the_oracle_on_poolings() {
    let seed = seed();
    let mut random = Random(seed);
    for i in 0..600 {
        round(&mut random, None, seed, i);
    }
}

/// What planners and drivers get wrong, and what random poolings seldom are: each
/// with a kernel that it must reach, and limits that it needs for that.
#[test]
fn known_traps_agree_three_ways() {
    let Some(device) = gpu() else { return };
    let nxc =
        |kernel: &[i64], strides: &[i64], dilations: &[i64], pads: (&[i64], &[i64])| Pooling {
            channels_last: true,
            kernel: kernel.to_vec(),
            strides: strides.to_vec(),
            dilations: dilations.to_vec(),
            begin: pads.0.to_vec(),
            end: pads.1.to_vec(),
            rounding: 0,
            nan: Nan::Propagate,
            empty: 0,
        };
    let ncx = |p: Pooling| Pooling { channels_last: false, ..p };
    let traps: Vec<(&str, Vec<usize>, Pooling)> = vec![
        // Runs of eight windows: whole and partly filled, several apart, in the padding of another axis.
        ("pool_runs", vec![1, 40, 16], nxc(&[9], &[1], &[1], (&[4], &[4]))),
        ("pool_runs", vec![2, 41, 32], nxc(&[31], &[1], &[1], (&[40], &[33]))),
        ("pool_runs", vec![1, 90, 16], nxc(&[17], &[2], &[1], (&[8], &[9]))),
        ("pool_runs", vec![1, 120, 16], nxc(&[22], &[3], &[1], (&[0], &[0]))),
        ("pool_runs", vec![1, 90, 16], nxc(&[9], &[1], &[2], (&[8], &[8]))),
        ("pool_runs", vec![1, 99, 16], nxc(&[12], &[1], &[3], (&[20], &[5]))),
        ("pool_runs", vec![1, 150, 16], nxc(&[25], &[3], &[2], (&[3], &[4]))),
        ("pool_runs", vec![2, 3, 40, 16], nxc(&[1, 9], &[2, 1], &[1, 1], (&[3, 4], &[2, 4]))),
        ("pool_runs", vec![1, 1, 33, 64], ncx(nxc(&[13, 1], &[1, 1], &[1, 1], (&[6, 0], &[6, 0])))),
        // Windows that lie in the padding for the most part, and of more taps than an invocation may look at.
        ("pool_sparse", vec![1, 1, 4], ncx(nxc(&[100_000], &[1], &[5], (&[499_995], &[5])))),
        ("pool_sparse", vec![1, 3, 9], ncx(nxc(&[70_000], &[7], &[1], (&[69_990], &[60])))),
        ("pool_sparse", vec![2, 7, 5], nxc(&[200], &[3], &[9], (&[1700], &[150]))),
        // Results of a piece that do not begin with the first channel.
        ("pool", vec![1, 600, 7], nxc(&[2], &[1], &[1], (&[0], &[8]))),
        ("pool", vec![2, 69, 9], nxc(&[1], &[1], &[1], (&[0], &[3]))),
        // Large windows that lie apart, and one window over all.
        ("pool", vec![1, 2, 4000], ncx(nxc(&[400], &[400], &[1], (&[0], &[0])))),
        ("reduce", vec![3, 5, 7, 7], ncx(nxc(&[7, 7], &[1, 1], &[1, 1], (&[0, 0], &[0, 0])))),
        // Nothing but copies.
        ("pool", vec![1, 1, 4096], ncx(nxc(&[1], &[1], &[1], (&[0], &[0])))),
    ];
    let mut random = Random(11);
    for (kernel, shape, mut p) in traps {
        for t in [ElementType::F32, ElementType::U8, ElementType::F16, ElementType::I64] {
            p.empty = maximum_of_nothing(t);
            let input = tensor(t, &shape, 1, &mut random);
            let plain = operator(&p, false);
            let limits = device.info().limits.clone();
            let plan = plain.plan(input.desc(), &limits).unwrap();
            let labels: Vec<String> = plan.shaders().map(|shader| shader.label()).collect();
            let found = labels.iter().any(|label| label.contains(kernel));
            assert!(found, "{t}{shape:?} {p:?}: {labels:?} and no {kernel}");
            for indices in [None, Some((Indices::default(), Count::From(0)))] {
                let op = plain.clone().indices(indices.map(|(indices, _)| indices));
                let what = format!("{t}{shape:?}, {p:?}, {indices:?}");
                check_oracle(&Device::cpu(), &p, &op, indices, &input, &what);
                check_oracle(&device, &p, &op, indices, &input, &what);
                for binding in [limits.max_binding_size, 4096, 2048] {
                    let limits = Limits { max_binding_size: binding, ..limits.clone() };
                    if op.plan(input.desc(), &limits).is_ok() {
                        let what = format!("{what}, bindings of {binding}");
                        compare_launches(&device, &op.clone().into(), &input, &limits, &what);
                    }
                }
            }
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
        for limits in [Limits::cpu(2), Limits { max_iterations: 100, ..Limits::cpu(2) }] {
            plans += u64::from(op.plan(&input, &limits).is_ok());
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
            for channels_last in [false, true] {
                let [batch, channels, height, width] = *shape;
                let shape = match channels_last {
                    true => [batch, height, width, channels],
                    false => *shape,
                };
                let p = Pooling {
                    channels_last,
                    kernel: kernel.to_vec(),
                    strides: strides.to_vec(),
                    dilations: dilations.to_vec(),
                    begin: pads.to_vec(),
                    end: pads.to_vec(),
                    rounding: random.below(3),
                    nan: random.pick(&[Nan::Propagate, Nan::Ignore]),
                    empty: maximum_of_nothing(t),
                };
                let (indices, counting) = match random_indices(&mut random, &p, 4) {
                    Some(indices) => indices,
                    None => (Indices::default(), Count::From(0)),
                };
                let op = operator(&p, false).indices(indices);
                let input = tensor(t, &shape, random.below(2), &mut random);
                let what = format!("WGMAX_SEED={seed}: {t}{shape:?}, {p:?}, {indices:?}");
                check_oracle(&Device::cpu(), &p, &op, Some((indices, counting)), &input, &what);
                let max_binding_size = 512 + (input.bytes().len() as u64 / batch as u64 / 2);
                let max_binding_size = max_binding_size / 4 * 4;
                let limits = Limits { max_binding_size, ..device.info().limits.clone() };
                let plan = op.plan(input.desc(), &limits).unwrap();
                assert!(plan.shaders().any(|shader| shader.to_scratch), "{what}: several launches");
                compare_launches(&device, &op.into(), &input, &limits, &what);
            }
        }
    }
}
