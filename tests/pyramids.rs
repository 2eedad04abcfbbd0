//! Poolings of poolings, of which a chain computes several levels a launch. Shader and CPU kernel are compared
//! after every launch, and the results with those of single poolings on the CPU.

use crate::common::{Random, both_tunings, describe, gpu, rounds, seed, tensor};
use crate::prepare;
use wgmax::operator::{Layout, MaxPool, ReduceMax, Rounding};
use wgmax::plan::{Limits, Plan};
use wgmax::{
    Device, DeviceTensor, ElementType, Error, Extremum, Nan, PrepareChain, Run, Tensor, TensorDesc,
    View, compare,
};
use wgmax_verify::Style;

/// A chain of levels, with its expected results.
struct Pyramid {
    chain: PrepareChain,
    /// The memory of the input.
    input: Tensor,
    view: View,
    expected: Vec<Tensor>,
}

/// The windows of the next level: of 2 places, of 2 or 3 so that none is left out, or any short ones.
fn windows(random: &mut Random, style: u64, sizes: &[usize]) -> MaxPool {
    let taps = |size: usize, random: &mut Random| match style {
        0 => 2.min(size),
        1 => (2 + size % 2).min(size),
        _ => (1 + random.below(3) as usize).min(size),
    };
    let kernel: Vec<usize> = sizes.iter().map(|&size| taps(size, random)).collect();
    let stride = |random: &mut Random| match style {
        2 => 1 + random.below(3) as usize,
        _ => 2,
    };
    let strides: Vec<usize> = sizes.iter().map(|_| stride(random)).collect();
    let pool = MaxPool::new(kernel).strides(strides);
    let rounding = [Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch];
    match style {
        2 => pool.rounding(rounding[random.below(3) as usize]),
        _ => pool,
    }
}

/// A random shape: wide ones have lines of whole words on several levels.
fn shape(random: &mut Random, t: ElementType, layout: Layout) -> Vec<usize> {
    let spatial = if random.below(4) == 0 { 1 } else { 2 };
    let mut below = |n: usize| random.below(n as u64) as usize;
    let words = (4 / t.size()).max(1);
    let wide = (words << below(7)) * (1 + below(4)) + below(2) * below(7);
    let width = if below(4) == 0 { 1 + below(150) } else { wide };
    let batch = if below(16) == 0 { 0 } else { 1 + below(3) };
    let sizes = if spatial == 1 { vec![width] } else { vec![1 + below(140), width] };
    match layout {
        Layout::Ncx => [&[batch, 1 + below(3)], &sizes[..]].concat(),
        Layout::Nxc => [&[batch], &sizes[..], &[1]].concat(),
    }
}

/// The layout of a tensor: contiguous, with rows as in textures, or with rows that begin within
/// words.
fn place(random: &mut Random, desc: &TensorDesc) -> View {
    let size = desc.element_type().size();
    match random.below(6) {
        0 | 1 => rows(desc, 256),
        2 => rows(desc, 3 * size),
        _ => desc.into(),
    }
}

/// Rows that begin at multiples of `bytes` bytes. An axis of one channel is not an axis of rows.
fn rows(desc: &TensorDesc, bytes: usize) -> View {
    match desc.shape() {
        [outer @ .., 1] => {
            let texels = TensorDesc::new(desc.element_type(), outer).unwrap();
            let rows = View::with_aligned_rows(texels, bytes).unwrap();
            rows.broadcast(outer.len(), 1).unwrap()
        }
        _ => View::with_aligned_rows(desc.clone(), bytes).unwrap(),
    }
}

fn draw(random: &mut Random, t: ElementType) -> Pyramid {
    let layout = if random.below(3) == 0 { Layout::Nxc } else { Layout::Ncx };
    let first = if layout == Layout::Ncx { 2 } else { 1 };
    let (data, style) = (shape(random, t, layout), random.below(3));
    let nan = [Nan::Propagate, Nan::Ignore][random.below(2) as usize];
    let extremum = [Extremum::Maximum, Extremum::Minimum][random.below(2) as usize];
    let style_of = random.below(Style::ALL.len() as u64) as usize;
    let data = tensor(t, &data, style_of, random);
    let view = place(random, data.desc());
    let mut memory = tensor(t, &[view.byte_len() / t.size()], 0, random).bytes().to_vec();
    let (shape, pitches) = (data.shape().to_vec(), view.pitches());
    for (i, element) in data.bytes().chunks(t.size()).enumerate() {
        let (mut rest, mut at) = (i, view.offset());
        for (&size, &pitch) in shape.iter().zip(&pitches).rev() {
            at += rest % size * pitch as usize;
            rest /= size;
        }
        memory[at * t.size()..][..t.size()].copy_from_slice(element);
    }
    let input = Tensor::from_bytes(t, [memory.len() / t.size()], &memory).unwrap();
    let cpu = Device::cpu();
    let mut chain = cpu.prepare_chain();
    let mut slot = chain.input(view.clone());
    let (mut above, mut expected) = (data, Vec::new());
    for level in 0..1 + random.below(8) {
        let sizes = &above.shape()[first..][..above.shape().len() - 2];
        if level > 0 && sizes.iter().all(|&size| size == 1) {
            break;
        }
        let pool = windows(random, style, sizes).layout(layout).nan(nan).extremum(extremum);
        slot = chain.add(&pool, slot).unwrap()[0];
        [above] = pool.run(&cpu, &above).unwrap().exactly().unwrap();
        if random.below(3) > 0 {
            chain.output_as(slot, place(random, above.desc())).unwrap();
            expected.push(above.clone());
        }
        // Another operator may read the level, too.
        if random.below(6) == 0 {
            let all = ReduceMax::new();
            let largest = chain.add(&all, slot).unwrap()[0];
            chain.output(largest).unwrap();
            expected.extend(all.run(&cpu, &above).unwrap());
        }
    }
    Pyramid { chain, input, view, expected }
}

/// The limits, at random as low as those of small devices.
fn narrow(random: &mut Random, own: &Limits) -> Limits {
    let mut limits = own.clone();
    if random.below(3) == 0 {
        limits.max_storage_buffers = [2, 3, 4][random.below(3) as usize];
    }
    if random.below(6) == 0 {
        limits.max_binding_size = [1024, 4096, 16384][random.below(3) as usize];
    }
    if random.below(4) == 0 {
        limits.workgroup_size = [8, 32, 64][random.below(3) as usize];
    }
    if random.below(6) == 0 {
        limits.max_iterations = [40, 400][random.below(2) as usize];
    }
    if random.below(6) == 0 {
        limits.max_workgroups_per_dimension = 3;
    }
    limits
}

/// Runs a plan. Returns the results, and what each launch of several levels wrote.
fn execute(device: &Device, plan: &Plan, pyramid: &Pyramid) -> (Vec<Tensor>, Vec<Vec<u8>>) {
    let is_pyramid = |launch: usize| plan.launches()[launch].label().contains("pool_pyramid");
    let input = device.upload(&pyramid.input).unwrap().with_view(&pyramid.view).unwrap();
    let results = device.execute(plan, &input).unwrap();
    let results = results.iter().map(|result: &DeviceTensor| result.download().unwrap()).collect();
    let (mut written, mut before) = (Vec::new(), usize::MAX);
    let mut bindings = Vec::new();
    let after = |launch: usize, bytes: &[u8]| {
        if launch != before {
            before = launch;
            bindings = plan.launches()[launch].bindings().filter(|(i, ..)| i % 2 == 0).collect();
        }
        let (_, _, offset, size) = bindings.remove(0);
        // After the bytes of this launch, scratch has bytes of earlier ones.
        if is_pyramid(launch) {
            let end = bytes.len().min((offset + size) as usize);
            written.push(bytes[offset as usize..end].to_vec());
        }
    };
    device.execute_traced(plan, &[&input], after).unwrap();
    (results, written)
}

#[test]
fn pyramids_give_what_their_levels_give_one_by_one() {
    let Some(gpu) = gpu() else { return };
    let mut random = Random(seed());
    let (mut stored, mut placed, mut read, mut refused) = ([0; 8], 0, 0, 0);
    for round in 0..rounds(26) {
        let t = ElementType::ALL[round as usize % ElementType::ALL.len()];
        let pyramid = draw(&mut random, t);
        for device in both_tunings(&gpu) {
            let limits = narrow(&mut random, &device.info().limits);
            let what = format!(
                "round {round}, {:?} of {}, {limits:?}, {}",
                pyramid.chain,
                pyramid.view,
                describe(&device)
            );
            let plan = match pyramid.chain.plan(&limits, device.tuning()) {
                // Single levels may not fit either.
                Err(Error::OverLimit { .. }) if limits != device.info().limits => {
                    refused += 1;
                    continue;
                }
                plan => plan.unwrap_or_else(|error| panic!("{what}: {error}")),
            };
            plan.check(&limits).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            let fused = plan.launches().iter().filter(|l| l.label().contains("pool_pyramid"));
            for launch in fused {
                stored[launch.bindings().count() - 1] += 1;
                placed += usize::from(launch.bindings().any(|(_, buffer, ..)| {
                    buffer > 0 && buffer <= plan.outputs().len() && !plan_is_plain(&plan, buffer)
                }));
                read += usize::from(launch.label().contains("pitched"));
            }
            let (on_cpu, expected) = execute(&Device::cpu(), &plan, &pyramid);
            let (found, written) = execute(&device, &plan, &pyramid);
            for (i, right) in pyramid.expected.iter().enumerate() {
                for (found, on) in [(&on_cpu[i], "the CPU"), (&found[i], "the GPU")] {
                    let report = compare(found, right).unwrap();
                    assert!(report.is_equal(), "{what}, result {i}, {on}: {report}\n{plan:#?}");
                }
            }
            assert_eq!(written.len(), expected.len(), "{what}");
            for (i, (found, expected)) in written.iter().zip(&expected).enumerate() {
                assert!(found == expected, "{what}, write {i}\n{plan:#?}");
            }
        }
    }
    println!("levels stored {stored:?}, placed {placed}, of views {read}, refused {refused}");
    if rounds(26) >= 26 {
        assert!(stored[1..=4].iter().all(|&count| count > 1), "{stored:?}");
        assert!(placed > 2 && read > 2, "{placed} {read}");
    }
}

/// Whether a result is contiguous.
fn plan_is_plain(plan: &Plan, buffer: usize) -> bool {
    wgmax::internals::views(plan).nth(buffer).unwrap().is_contiguous()
}

/// Eight levels of a picture take two launches and no scratch.
#[test]
fn a_depth_pyramid_is_two_launches() {
    let Some(gpu) = gpu() else { return };
    let device = gpu.with_tuning(wgmax::Tuning::hardware());
    let mut random = Random(4);
    for (shape, bytes) in [([270, 480], 4), ([256, 512], 256)] {
        let picture = tensor(ElementType::F32, &[1, shape[0], shape[1], 1], 0, &mut random);
        let mut chain = device.prepare_chain();
        let mut slot = chain.input(picture.desc());
        let mut expected = vec![picture.clone()];
        let mut views = Vec::new();
        for _ in 0..8 {
            let above = expected.last().unwrap();
            let sizes = [above.shape()[1], above.shape()[2]];
            let kernel = sizes.map(|size| if size == 1 { 1 } else { 2 + size % 2 });
            let pool = MaxPool::new(kernel).strides([2, 2]).layout(Layout::Nxc);
            slot = chain.add(&pool, slot).unwrap()[0];
            let [level] = pool.run(&Device::cpu(), above).unwrap().exactly().unwrap();
            let view = rows(level.desc(), bytes);
            chain.output_as(slot, view.clone()).unwrap();
            expected.push(level);
            views.push(view);
        }
        let plan = chain.plan(&device.info().limits, device.tuning()).unwrap();
        let launches: Vec<String> = plan.launches().iter().map(|l| l.label()).collect();
        assert_eq!(launches.len(), 2, "{launches:?}");
        let prepared = chain.prepare().unwrap();
        assert_eq!(prepared.scratch_bytes(), 0);
        if bytes == 4 {
            for together in [false, true, false] {
                let found = prepare::run(&device, &prepared, &[&picture], together);
                prepare::assert_equal(&found, &expected[1..], "recorded");
            }
        } else {
            let input = device.upload(&picture).unwrap();
            let found = device.execute(&plan, &input).unwrap();
            for ((found, view), expected) in found.iter().zip(&views).zip(&expected[1..]) {
                assert_eq!(found.view(), view);
                assert!(found.download().unwrap() == *expected);
            }
        }
        // The test detects faults: a lost tap, a tile in the place of another, a level computed
        // from the wrong one.
        for (from, to) in [
            ("j1 < level.taps1", "j1 < 1u"),
            ("tile.y * level.own_rows + row;", "row;"),
            ("Above(above.first, above.by_columns.x)", "Above(0u, above.by_columns.x)"),
        ] {
            let faulty = gpu.with_edited_shaders(move |_, text| text.replace(from, to));
            let found = faulty.execute(&plan, &faulty.upload(&picture).unwrap()).unwrap();
            let mut levels = found.iter().zip(&expected[1..]);
            assert!(levels.any(|(found, right)| found.download().unwrap() != *right), "{from}");
        }
    }
}
