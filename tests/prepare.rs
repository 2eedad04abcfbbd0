//! Prepared operators: chains of them, other shapes, shared scratch, and the probe.

use wgmax::operator::{ArgMax, Layout, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::wgpu::{self, BufferUsages};
use wgmax::{
    BufferRange, Device, ElementType, Error, Outputs, Prepared, Scratch, Slot, Tensor, TensorDesc,
    View, compare,
};

use crate::common::program::program;
use crate::common::{Random, both_tunings, describe, gpu, rounds, seed, tensor};

const USAGE: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

/// Runs a prepared operator on tensors, which share one buffer if `together`. The bytes around
/// tensors, and results before the run, are not zero.
pub fn run(
    device: &Device,
    prepared: &Prepared,
    inputs: &[&Tensor],
    together: bool,
) -> Vec<Tensor> {
    let (raw, queue) = device.wgpu().unwrap();
    let descs: Vec<&TensorDesc> =
        inputs.iter().map(|input| input.desc()).chain(prepared.outputs()).collect();
    let place = |end: &mut u64, desc: &&TensorDesc| {
        let offset = *end;
        *end = (offset + desc.padded_byte_len()).next_multiple_of(256);
        Some(offset)
    };
    let offsets: Vec<u64> = descs.iter().scan(0, place).collect();
    let buffer = |size: u64| {
        let label = Some("a caller's");
        let size = size.max(4).next_multiple_of(4);
        let descriptor =
            wgpu::BufferDescriptor { label, size, usage: USAGE, mapped_at_creation: false };
        let buffer = raw.create_buffer(&descriptor);
        queue.write_buffer(&buffer, 0, &vec![0xa5; size as usize]);
        buffer
    };
    let buffers: Vec<wgpu::Buffer> = match together {
        true => vec![buffer(offsets.last().unwrap() + descs.last().unwrap().padded_byte_len())],
        false => descs.iter().map(|desc| buffer(desc.padded_byte_len())).collect(),
    };
    let range = |i: usize| match together {
        true => BufferRange::new(&buffers[0], offsets[i]),
        false => BufferRange::new(&buffers[i], 0),
    };
    for (i, input) in inputs.iter().enumerate() {
        let mut bytes = input.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0xa5);
        queue.write_buffer(range(i).buffer, range(i).offset, &bytes);
    }
    let mut encoder = raw.create_command_encoder(&Default::default());
    let count = inputs.len();
    let record = prepared.record(&mut encoder);
    record.inputs((0..count).map(range)).outputs((count..descs.len()).map(range)).finish().unwrap();
    queue.submit([encoder.finish()]);
    (count..descs.len()).map(|i| read(device, range(i), descs[i])).collect()
}

/// The tensor in a part of a caller's buffer.
fn read(device: &Device, from: BufferRange<'_>, desc: &TensorDesc) -> Tensor {
    let (raw, queue) = device.wgpu().unwrap();
    let size = desc.padded_byte_len().max(4);
    let staging = raw.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = raw.create_command_encoder(&Default::default());
    if desc.byte_len() > 0 {
        encoder.copy_buffer_to_buffer(
            from.buffer,
            from.offset,
            &staging,
            0,
            desc.padded_byte_len(),
        );
    }
    queue.submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    raw.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = staging.get_mapped_range(..).unwrap();
    Tensor::from_bytes(desc.element_type(), desc.shape(), &bytes[..desc.byte_len()]).unwrap()
}

#[track_caller]
pub fn assert_equal(found: &[Tensor], expected: &[Tensor], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let report = compare(found, expected).unwrap();
        assert!(report.is_equal(), "{what}, result {i}: {report}");
    }
}

/// An operator on a tensor of rank 4 whose first result has rank 4, too.
fn draw(random: &mut Random, shape: &[usize]) -> Operator {
    let mut below = |n: usize| random.below(n as u64) as usize;
    match below(3) {
        0 => {
            let axis = below(4) as i64;
            let op = ReduceMax::new().axes([axis]).keep_dims(true);
            if shape[axis as usize] > 0 && below(3) == 0 {
                op.indices(ElementType::I32).into()
            } else {
                op.into()
            }
        }
        1 => MaxPool::new([1 + below(3), 1 + below(3)])
            .pads([0, 0], [2, 2])
            .strides([1, 1 + below(2)])
            .into(),
        _ => {
            let pool = MaxPool::new([1 + below(2), 1]).pads([0, 0], [1, 0]).layout(Layout::Nxc);
            pool.indices(ElementType::I64).into()
        }
    }
}

#[test]
fn chains_give_what_their_operators_give_one_by_one() {
    let Some(gpu) = gpu() else { return };
    let mut random = Random(seed());
    for round in 0..rounds(30) {
        let t = ElementType::ALL[random.below(ElementType::ALL.len() as u64) as usize];
        let mut below = |n: usize| random.below(n as u64) as usize;
        let shapes: Vec<Vec<usize>> = (0..1 + below(2))
            .map(|_| vec![1 + below(3), 1 + below(3), 1 + below(9), 1 + below(70)])
            .collect();
        let inputs: Vec<Tensor> =
            shapes.iter().map(|shape| tensor(t, shape, 0, &mut random)).collect();
        for device in both_tunings(&gpu) {
            let what = format!("round {round}, {t}, on {}", describe(&device));
            let mut random = Random(seed() ^ (round << 32));
            let mut chain = device.prepare_chain();
            // The operators of the chain, and the same operators run one by one.
            let mut slots: Vec<Slot> =
                inputs.iter().map(|input| chain.input(input.desc())).collect();
            let uploaded = inputs.iter().map(|input| device.upload(input).unwrap());
            let mut tensors: Vec<_> = uploaded.collect();
            let (mut results, mut expected) = (Vec::new(), Vec::new());
            for step in 0..1 + random.below(6) {
                let from = random.below(slots.len() as u64) as usize;
                let operator = draw(&mut random, tensors[from].desc().shape());
                let made = chain.add(&operator, slots[from]).unwrap();
                let found = device.run(&operator, &tensors[from]).unwrap();
                for (i, (slot, tensor)) in made.iter().zip(&found).enumerate() {
                    if random.below(3) == 0 || (step == 0 && i == 0) {
                        results.push(*slot);
                        expected.push(tensor.download().unwrap());
                    }
                }
                slots.push(made[0]);
                tensors.push(found[0].clone());
            }
            results.iter().for_each(|&slot| chain.output(slot).unwrap());
            let prepared = chain.prepare().unwrap_or_else(|error| panic!("{what}: {error}"));
            let inputs: Vec<&Tensor> = inputs.iter().collect();
            // After the first run, scratch has its old content.
            for together in [false, true, false] {
                let found = run(&device, &prepared, &inputs, together);
                assert_equal(&found, &expected, &format!("{what}, {together}"));
            }
        }
    }
}

/// A pyramid: each level is a result with the row pitch of a texture.
#[test]
fn levels_of_a_chain_are_stored_once() {
    let Some(device) = gpu() else { return };
    let (t, mut shape) = (ElementType::F32, [1, 1, 64, 100]);
    let mut chain = device.prepare_chain();
    let desc = |shape: [usize; 4]| TensorDesc::new(t, shape).unwrap();
    let picture = tensor(t, &shape, 0, &mut Random(3));
    let mut slot = chain.input(desc(shape));
    let mut views = Vec::new();
    let mut expected = vec![picture.clone()];
    for _ in 0..4 {
        let pool = MaxPool::new([2, 2]).strides([2, 2]);
        slot = chain.add(&pool, slot).unwrap()[0];
        shape = [1, 1, shape[2] / 2, shape[3] / 2];
        let view = View::with_aligned_rows(desc(shape), 256).unwrap();
        chain.output_as(slot, view.clone()).unwrap();
        views.push(view);
        let above = device.upload(expected.last().unwrap()).unwrap();
        expected.push(device.run(&pool, &above).unwrap()[0].download().unwrap());
    }
    let prepared = chain.prepare().unwrap();
    let (raw, queue) = device.wgpu().unwrap();
    let buffers: Vec<wgpu::Buffer> = (views.iter().map(View::byte_len))
        .map(|size| {
            let size = (size as u64).next_multiple_of(4);
            raw.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: USAGE,
                mapped_at_creation: false,
            })
        })
        .collect();
    let input = device.upload(&picture).unwrap();
    let mut encoder = raw.create_command_encoder(&Default::default());
    let record = prepared.record(&mut encoder).input(input.buffer().unwrap());
    record.outputs(&buffers).finish().unwrap();
    queue.submit([encoder.finish()]);
    for ((buffer, view), expected) in buffers.iter().zip(&views).zip(&expected[1..]) {
        let memory = TensorDesc::new(t, [view.byte_len() / 4]).unwrap();
        let memory = read(&device, buffer.into(), &memory);
        let found = wgmax::TensorView::new(&memory, view.clone()).unwrap().to_tensor().unwrap();
        assert!(found == *expected, "{view}");
    }
    // Only the level between two launches needs scratch.
    let level = 4 * 32 * 50;
    assert!(prepared.scratch_bytes() <= level + 16, "{}", prepared.scratch_bytes());
}

#[test]
fn chains_refuse_what_they_do_not_have() {
    let Some(device) = gpu() else { return };
    let desc = TensorDesc::new(ElementType::F32, [4, 4]).unwrap();
    let (mut chain, mut other) = (device.prepare_chain(), device.prepare_chain());
    let (slot, foreign) = (chain.input(&desc), other.input(&desc));
    let refused = |result: wgmax::Result<()>, expected: &str| match result.unwrap_err() {
        Error::WrongSlot { reason } => assert!(reason.contains(expected), "{reason}"),
        error => panic!("{error}"),
    };
    refused(chain.add(ReduceMax::new(), foreign).map(drop), "another chain");
    refused(chain.output(foreign), "another chain");
    refused(chain.output(slot), "an input");
    let made = chain.add(ReduceMax::new(), slot).unwrap();
    let narrow = TensorDesc::new(ElementType::F32, [2]).unwrap();
    let error = chain.output_as(made[0], View::from(narrow)).unwrap_err();
    assert!(matches!(error, Error::WrongResult { position: 0, .. }), "{error}");
    chain.output(made[0]).unwrap();
    refused(chain.output(made[0]), "already");
    let error = chain.add(SegmentMax::sorted(), slot).unwrap_err();
    assert!(matches!(error, Error::InputCount { actual: 1, .. }), "{error}");
    let mut prepared = chain.prepare().unwrap();
    let error = prepared.resize([&desc, &desc]).unwrap_err();
    assert!(matches!(error, Error::InputCount { actual: 2, .. }), "{error}");
    let cpu = Device::cpu().prepare_chain();
    assert!(matches!(cpu.prepare().unwrap_err(), Error::CannotRecord));
    // An empty chain is valid.
    let none = device.prepare_chain().prepare().unwrap();
    run_nothing(&device, &none);
}

fn run_nothing(device: &Device, none: &Prepared) {
    let (raw, queue) = device.wgpu().unwrap();
    let mut encoder = raw.create_command_encoder(&Default::default());
    none.record(&mut encoder).finish().unwrap();
    queue.submit([encoder.finish()]);
    none.warm_up().unwrap();
}

#[test]
fn sizes_change_between_recordings() {
    let Some(gpu) = gpu() else { return };
    let mut random = Random(seed());
    for device in both_tunings(&gpu) {
        let data = |rows: usize, random: &mut Random| {
            let data = tensor(ElementType::F16, &[rows, 33], 0, random);
            let ids: Vec<i32> = (0..rows as i32).map(|row| row / 5).collect();
            (data, Tensor::from_slice([rows], &ids).unwrap())
        };
        let segment = SegmentMax::sorted().num_segments(400).indices(ElementType::I32);
        let first = data(100, &mut random);
        let mut prepared = device.prepare(&segment, [first.0.desc(), first.1.desc()]).unwrap();
        let expected = |(data, ids): &(Tensor, Tensor)| -> Vec<Tensor> {
            let found =
                device.run(&segment, [&device.upload(data).unwrap(), &device.upload(ids).unwrap()]);
            found.unwrap().iter().map(|result| result.download().unwrap()).collect()
        };
        for rows in [100, 1, 2_000, 0, 77] {
            let inputs = data(rows, &mut random);
            prepared.resize([inputs.0.desc(), inputs.1.desc()]).unwrap();
            assert_eq!(prepared.inputs()[0].shape(), [rows, 33]);
            let found = run(&device, &prepared, &[&inputs.0, &inputs.1], rows % 2 == 0);
            assert_equal(
                &found,
                &expected(&inputs),
                &format!("{rows} rows, {}", describe(&device)),
            );
        }
        // A refused resize changes nothing.
        let scalar = TensorDesc::new(ElementType::F16, []).unwrap();
        prepared.resize([&scalar, &scalar]).unwrap_err();
        let inputs = data(77, &mut random);
        let found = run(&device, &prepared, &[&inputs.0, &inputs.1], true);
        assert_equal(&found, &expected(&inputs), "after an error");
    }
}

/// A recording that was not submitted yet keeps its sizes.
#[test]
fn what_was_recorded_before_stays() {
    let Some(device) = gpu() else { return };
    let (raw, queue) = device.wgpu().unwrap();
    let matrix = |rows: usize| TensorDesc::new(ElementType::U32, [rows, 1000]).unwrap();
    let numbers: Vec<u32> = (0..40_000).collect();
    let input = device.upload(&Tensor::from_slice([40, 1000], &numbers).unwrap()).unwrap();
    let zeros =
        |n: usize| device.upload(&Tensor::from_slice([n], &vec![0u32; n]).unwrap()).unwrap();
    let (few, many) = (zeros(3), zeros(40));
    let mut prepared = device.prepare(ReduceMax::new().axes([1]), &matrix(3)).unwrap();
    let mut encoder = raw.create_command_encoder(&Default::default());
    let buffer = input.buffer().unwrap();
    prepared.record(&mut encoder).input(buffer).output(few.buffer().unwrap()).finish().unwrap();
    prepared.resize(&matrix(40)).unwrap();
    prepared.record(&mut encoder).input(buffer).output(many.buffer().unwrap()).finish().unwrap();
    drop(prepared);
    queue.submit([encoder.finish()]);
    let expected: Vec<u32> = (1..=40).map(|row| row * 1000 - 1).collect();
    assert_eq!(few.download().unwrap().as_slice::<u32>().unwrap(), &expected[..3]);
    assert_eq!(many.download().unwrap().as_slice::<u32>().unwrap(), expected);
}

#[test]
fn prepared_operators_share_scratch() {
    let Some(device) = gpu() else { return };
    let (scratch, mut random) = (Scratch::new(), Random(5));
    let input = tensor(ElementType::F32, &[3, 200_000], 0, &mut random);
    let mut prepared: Vec<Prepared> = [ReduceMax::new(), ReduceMax::new().axes([1])]
        .map(|operator| device.prepare(operator, input.desc()).unwrap())
        .into_iter()
        .collect();
    let own: u64 = prepared.iter().map(Prepared::scratch_bytes).sum();
    assert!(own > 0);
    for prepared in &mut prepared {
        prepared.warm_up().unwrap();
        prepared.share_scratch(&scratch).unwrap();
    }
    assert!(scratch.bytes() < own, "{} of {own}", scratch.bytes());
    for (prepared, operator) in prepared.iter().zip([ReduceMax::new(), ReduceMax::new().axes([1])])
    {
        let expected = device.run(operator, &device.upload(&input).unwrap()).unwrap();
        let expected: Vec<Tensor> = expected.iter().map(|r| r.download().unwrap()).collect();
        assert_equal(&run(&device, prepared, &[&input], false), &expected, "with shared scratch");
        prepared.clear_bindings();
        assert_equal(&run(&device, prepared, &[&input], true), &expected, "and new bindings");
    }
}

#[test]
fn a_probe_is_right_and_finds_faults() {
    let Some(gpu) = gpu() else { return };
    for device in [gpu.clone(), Device::cpu()] {
        for device in both_tunings(&device) {
            let probe = device.probe().unwrap();
            assert!(probe.is_right(), "{}: {probe}", describe(&device));
            assert!(probe.checks.len() > 9);
        }
    }
    // Drivers with wrong maxima, and one that ends at a barrier.
    for (from, to) in
        [("max(", "min("), ("atomicMax(", "atomicMin("), ("workgroupBarrier();", "return;")]
    {
        let faulty = gpu.with_edited_shaders(move |_, text| text.replace(from, to));
        let probe = faulty.probe().unwrap();
        assert!(!probe.is_right(), "{from} as {to}");
        println!("{from} as {to}: {probe}");
    }
}

#[test]
fn results_have_names() {
    let input = Tensor::from_slice([2, 2], &[1.0f32, 2.0, 4.0, 3.0]).unwrap();
    let device = Device::cpu();
    let run = |operator: Operator| -> Outputs<Tensor> {
        wgmax::Run::run(&operator, &device, &input).unwrap()
    };
    let both = run(ReduceMax::new().axes([1]).indices(ElementType::I32).into());
    assert_eq!(both.values().unwrap().as_slice::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!(both.indices().unwrap().as_slice::<i32>().unwrap(), [1, 0]);
    assert!(matches!(both.status(), Err(Error::NoSuchResult { name: "status", results: 2 })));
    let places = run(ArgMax::new(1).into());
    assert_eq!(places.indices().unwrap().as_slice::<i64>().unwrap(), [1, 0]);
    assert!(matches!(places.values(), Err(Error::NoSuchResult { name: "values", results: 1 })));
    assert!(matches!(
        places.clone().exactly::<2>(),
        Err(Error::ResultCount { expected: 2, actual: 1 })
    ));
    assert_eq!(places.into_vec().len(), 1);
    let ids = Tensor::from_slice([2], &[0u8, 0]).unwrap();
    let segment = SegmentMax::sorted().status(true);
    let found = wgmax::Run::run(&segment, &device, [&input, &ids]).unwrap();
    assert_eq!(found.status().unwrap().as_slice::<u32>().unwrap(), [0, 0]);
    assert!(found.indices().is_err());
}

/// The GPU reads the number of rows, and runs the plan of the smallest size that holds them.
#[test]
fn the_gpu_chooses_among_sizes() {
    // A device with small workgroups, too.
    let Some(program) = program(|limits| wgpu::Limits {
        max_compute_invocations_per_workgroup: 32,
        max_compute_workgroup_size_x: 32,
        max_compute_workgroup_size_y: 32,
        max_compute_workgroup_size_z: 32,
        ..limits
    }) else {
        return;
    };
    let small = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let gpu = gpu().unwrap();
    let mut random = Random(seed());
    let rows = 200;
    for device in both_tunings(&gpu).into_iter().chain([small]) {
        let (raw, queue) = device.wgpu().unwrap();
        for round in 0..rounds(24) {
            let t = ElementType::ALL[round as usize % ElementType::ALL.len()];
            let inner = 1 + random.below(90) as usize;
            let ids = |count: usize, segments: usize, random: &mut Random, sorted: bool| {
                let mut ids: Vec<i32> =
                    (0..count).map(|_| random.below(segments as u64) as i32).collect();
                if sorted {
                    ids.sort_unstable();
                }
                ids.resize(rows, i32::MAX);
                Tensor::from_slice([rows], &ids).unwrap()
            };
            let (operator, shape): (Operator, Vec<usize>) = match round % 4 {
                0 => {
                    (ReduceMax::new().axes([1]).keep_dims(round % 8 > 3).into(), vec![rows, inner])
                }
                1 => {
                    let pool = MaxPool::new([2]).pads([1], [0]).indices(ElementType::I32);
                    (pool.into(), vec![rows, 2, inner])
                }
                2 => (SegmentMax::sorted().num_segments(7).into(), vec![rows, inner]),
                _ => {
                    let segments = SegmentMax::unsorted().num_segments(9).indices(ElementType::I32);
                    (segments.into(), vec![rows, inner])
                }
            };
            let data = tensor(t, &shape, 0, &mut random);
            let is_segment = round % 4 > 1;
            let descs = match is_segment {
                true => {
                    vec![data.desc().clone(), TensorDesc::new(ElementType::I32, [rows]).unwrap()]
                }
                false => vec![data.desc().clone()],
            };
            let sizes = [50, 7, 0, 50, 500];
            let mut prepared = device.prepare_sizes(&operator, &descs, &sizes).unwrap();
            if round % 3 == 0 {
                prepared.share_scratch(&Scratch::new()).unwrap();
                prepared.warm_up().unwrap();
            }
            for count in [0, 1, 7, 8, 50, 51, rows, rows + 1] {
                let there = count.min(rows);
                let chosen = [7, 50, rows].into_iter().find(|&size| size >= there).unwrap();
                let ids = ids(there, 7 + 2 * (round % 4 % 3) as usize, &mut random, round % 4 == 2);
                let inputs: Vec<&Tensor> = [&data, &ids].into_iter().take(descs.len()).collect();
                let number = Tensor::from_slice([1], &[count as u32]).unwrap();
                let uploaded: Vec<_> =
                    inputs.iter().map(|input| device.upload(input).unwrap()).collect();
                let number = device.upload(&number).unwrap();
                let results: Vec<_> = prepared
                    .outputs()
                    .iter()
                    .map(|desc| {
                        let ones = vec![1u8; desc.byte_len()];
                        let ones = Tensor::from_bytes(desc.element_type(), desc.shape(), &ones);
                        device.upload(&ones.unwrap()).unwrap()
                    })
                    .collect();
                let mut encoder = raw.create_command_encoder(&Default::default());
                let record = prepared.record(&mut encoder).size(number.buffer().unwrap());
                let record = record.inputs(uploaded.iter().map(|input| input.buffer().unwrap()));
                let record = record.outputs(results.iter().map(|result| result.buffer().unwrap()));
                record.finish().unwrap();
                queue.submit([encoder.finish()]);
                let sliced = |input: &Tensor| {
                    let view = wgmax::TensorView::from(input).slice(0, 0..there).unwrap();
                    device.upload(&view.to_tensor().unwrap()).unwrap()
                };
                let parts: Vec<_> = inputs.iter().map(|input| sliced(input)).collect();
                let expected = device.run(&operator, parts.iter().collect::<Vec<_>>()).unwrap();
                for (found, expected) in results.iter().zip(&expected) {
                    let (found, expected) =
                        (found.download().unwrap(), expected.download().unwrap());
                    let what = format!("round {round}, {t}, {count} rows, {}", describe(&device));
                    let end = expected.bytes().len();
                    assert_eq!(found.bytes()[..end], *expected.bytes(), "{what}");
                    if !is_segment {
                        // Bytes that only the plan of a larger size writes are unchanged.
                        let untouched = (found.bytes().len() / rows * chosen).next_multiple_of(4);
                        let rest = found.bytes().get(untouched..).unwrap_or_default();
                        assert!(rest.iter().all(|&byte| byte == 1), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn sizes_are_for_operators_with_rows() {
    let Some(device) = gpu() else { return };
    let desc = TensorDesc::new(ElementType::F32, [8, 4]).unwrap();
    let ids = TensorDesc::new(ElementType::I32, [3]).unwrap();
    let offsets = SegmentMax::offsets();
    for (operator, inputs) in [
        (Operator::from(ReduceMax::new()), vec![&desc]),
        (offsets.into(), vec![&desc, &ids]),
        (
            wgmax::operator::ReduceMaxBackward::new(ReduceMax::new().axes([1])).into(),
            vec![&desc, &TensorDesc::new(ElementType::F32, [8]).unwrap()],
        ),
    ] {
        let views: Vec<View> = inputs.into_iter().map(View::from).collect();
        let error = device.prepare_sizes(&operator, views, &[4]).unwrap_err();
        assert!(matches!(error, Error::NoSizes { .. }), "{error}");
        assert!(error.to_string().contains("use `Device::prepare`"), "{error}");
    }
    let rows = ReduceMax::new().axes([1]);
    let (raw, buffer) = (device.wgpu().unwrap().0, device.upload(&zeros(64)).unwrap());
    let buffer = buffer.buffer().unwrap();
    let mut encoder = raw.create_command_encoder(&Default::default());
    let plain = device.prepare(&rows, &desc).unwrap();
    let record = plain.record(&mut encoder).input(buffer).output(buffer).size(buffer);
    assert!(matches!(record.finish().unwrap_err(), Error::InputCount { .. }));
    let sized = device.prepare_sizes(&rows, &desc, &[4]).unwrap();
    let (input, output) = (device.upload(&zeros(32)).unwrap(), device.upload(&zeros(8)).unwrap());
    let (input, output) = (input.buffer().unwrap(), output.buffer().unwrap());
    let error = sized.record(&mut encoder).input(input).output(output).size(output).finish();
    assert!(matches!(error.unwrap_err(), Error::BufferOverlap { .. }));
    // Without a size, all rows are computed.
    sized.record(&mut encoder).input(input).output(output).finish().unwrap();
    // Results without elements need no launches, whatever the size.
    let empty = TensorDesc::new(ElementType::F32, [8, 5, 0]).unwrap();
    let none = device.prepare_sizes(&rows, &empty, &[4]).unwrap();
    none.record(&mut encoder).input(input).output(output).size(input).finish().unwrap();
}

fn zeros(count: usize) -> Tensor {
    Tensor::from_slice([count], &vec![0f32; count]).unwrap()
}
