//! MaxPool by sliding windows, on tensors that are large enough.

use super::{compare_launches, plan_within};
use crate::common::{Random, gpu, limited, rounds, seed, tensor};
use wgmax::operator::{Indices, Layout, MaxPool, Operator};
use wgmax::{ElementType, Nan, Tuning};

/// A pool of some 10,000 to 100,000 elements, with small strides, whose windows all have elements.
fn pool(t: ElementType, random: &mut Random) -> (Vec<usize>, MaxPool) {
    let below = |random: &mut Random, n: usize| random.below(n as u64) as usize;
    let rank = 1 + below(random, 3);
    let nxc = random.below(2) == 0;
    // Lines of whole blocks, or of whole words.
    let unit = (random.pick(&[16, 4]) / t.size()).max(1);
    let mut left = 10_000 + below(random, 90_000);
    let mut sizes = Vec::new();
    for _ in 1..rank {
        sizes.push(3 + below(random, 30));
        left /= sizes[sizes.len() - 1];
    }
    let last = unit * (1 + below(random, left.min(2_000) / unit + 1));
    let (channels, last) = if nxc { (last, 3 + below(random, 40)) } else { (1, last) };
    sizes.push(last);
    let batch = (left / last / channels).max(1);
    let mut shape = vec![batch, channels];
    shape.splice(if nxc { 1..1 } else { 2..2 }, sizes.iter().copied());
    let long = random.once_in(2);
    let mut each = |f: &mut dyn FnMut(&mut Random, usize) -> usize| -> Vec<usize> {
        (0..rank).map(|i| f(random, i)).collect()
    };
    let kernel = each(&mut |r, i| {
        1 + r.below(if long && i + 1 == rank { 40 } else { 4 }).min(sizes[i] as u64 - 1) as usize
    });
    let dilations = each(&mut |r, i| {
        let max = (sizes[i] - 1) / (kernel[i] - 1).max(1);
        1 + r.below(3.min(max.max(1) as u64)) as usize
    });
    let strides = each(&mut |r, _| 1 + r.below(4) as usize);
    let reach = |i: usize| (kernel[i] - 1) * dilations[i];
    let begin = each(&mut |r, i| r.below(reach(i) as u64 + 1) as usize);
    let end = each(&mut |r, i| r.below(reach(i) as u64 + 1) as usize);
    let layout = if nxc { Layout::Nxc } else { Layout::Ncx };
    let op = MaxPool::new(kernel)
        .strides(strides)
        .dilations(dilations)
        .pads(begin, end)
        .layout(layout)
        .nan(random.pick(&[Nan::Propagate, Nan::Ignore]));
    (shape, op)
}

#[test]
fn sliding_windows_agree_with_their_cpu_kernels() {
    let Some(device) = gpu() else { return };
    // Few invocations fill this device, so each slides along several lines.
    let hardware = device.with_tuning(Tuning::hardware().with_target_parallelism(64));
    let software = device.with_tuning(Tuning::software());
    let seed = seed();
    let mut random = Random(seed);
    let own = device.info().limits.clone();
    let rounds = rounds(40);
    let mut sliding = [0; 2];
    for round in 0..rounds {
        // Windows slide for positions if elements have one word and one launch with few reads is
        // enough.
        let device = random.pick(&[&hardware, &software]);
        let word = random.pick(&[ElementType::F32, ElementType::I32, ElementType::U32]);
        let t = if random.once_in(2) { word } else { random.pick(&ElementType::ALL) };
        let (shape, op) = pool(t, &mut random);
        let input = tensor(t, &shape, random.below(2) as usize, &mut random);
        let index = random.pick(&[ElementType::I32, ElementType::I64]);
        let indices = Indices::new(index);
        let part = random.pick(&[u64::MAX, input.bytes().len() as u64 / 3]);
        let max_binding_size = own.max_binding_size.min(part.max(4096) / 4 * 4);
        let limits = limited(own.clone(), |limits| limits.max_binding_size = max_binding_size);
        for (i, indices) in [None, Some(indices)].into_iter().enumerate() {
            let op = Operator::from(op.clone().indices(indices));
            let what = format!("WGMAX_SEED={seed}, round {round}: {t}{shape:?}, {op:?}");
            let Ok(plan) = plan_within(device, &op, &[&input], &limits) else { continue };
            let slides = plan.shaders().any(|shader| {
                shader.kernel.name() == "pool_sliding_window" && shader.is("indices") == (i == 1)
            });
            sliding[i] += u64::from(slides);
            compare_launches(device, &op, &[&input], &plan, &what);
        }
    }
    assert!(sliding[0] > rounds / 2 && sliding[1] > 0, "{sliding:?} of {rounds}");
}
