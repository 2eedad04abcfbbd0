//! Operators recorded into the encoder of another program, with its device and its buffers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::program::{Program, program};
use crate::common::{Random, both_tunings, describe, rounds, seed, tensor};
use wgmax::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::wgpu::{self, BufferUsages};
use wgmax::{BufferRange, Device, ElementType, Error, Run, Tensor, compare, texture_view};
use wgmax_verify::Case;

/// Operators of every kind, with inputs that end within a word and within a block.
fn cases(random: &mut Random) -> Vec<(Operator, Vec<Tensor>)> {
    let mut cases: Vec<(Operator, Vec<Tensor>)> = Vec::new();
    for t in [ElementType::U8, ElementType::F16, ElementType::F32, ElementType::F64] {
        let mut make = |shape: &[usize]| tensor(t, shape, 1, random);
        cases.push((ReduceMax::new().axes([1]).into(), vec![make(&[7, 333])]));
        cases.push((ReduceMax::new().axes([0]).into(), vec![make(&[333, 7])]));
        cases.push((ReduceMax::new().axes([0, 2]).into(), vec![make(&[5, 9, 1001])]));
        cases.push((MaxPool::new([3, 3]).strides([2, 2]).into(), vec![make(&[1, 3, 17, 19])]));
        cases.push((MaxPool::new([21, 1]).into(), vec![make(&[1, 1, 50, 16])]));
        let ids: Vec<i32> = (0..101).map(|row| row / 7).collect();
        let ids = Tensor::from_slice([101], &ids).unwrap();
        let segments = SegmentMax::sorted().num_segments(17);
        cases.push((segments.indices(ElementType::I32).into(), vec![make(&[101, 5]), ids]));
        let narrow: Vec<u8> = (0..101).map(|row| row / 9).collect();
        let narrow = Tensor::from_slice([101], &narrow).unwrap();
        let counted = SegmentMax::unsorted().num_segments(9).status(true);
        cases.push((counted.into(), vec![make(&[101, 3]), narrow]));
    }
    cases
}

/// Limits far below any device's.
fn small(limits: wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: 64 << 10,
        max_compute_invocations_per_workgroup: 64,
        max_compute_workgroup_size_x: 64,
        max_compute_workgroup_size_y: 64,
        max_compute_workgroup_size_z: 64,
        max_compute_workgroups_per_dimension: 256,
        min_storage_buffer_offset_alignment: 256,
        ..limits
    }
}

/// All operators in one encoder, each recorded at three offsets into buffers. Those of inputs end with the
/// tensor.
#[test]
fn recorded_operators_agree_with_the_cpu() {
    let Some(program) = program(small) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    assert_eq!(device.info().limits.max_binding_size, 64 << 10);
    both_tunings(&device).iter().for_each(|device| agrees_recorded(&program, device));
}

fn agrees_recorded(program: &Program, device: &Device) {
    let mut random = Random(31);
    let mut encoder = program.encoder();
    let mut waiting = Vec::new();
    for (operator, inputs) in cases(&mut random) {
        let descs: Vec<_> = inputs.iter().map(Tensor::desc).collect();
        let prepared = device.prepare(&operator, &descs).unwrap();
        for offset in [0, 256, 1024] {
            let buffers: Vec<_> = inputs.iter().map(|t| program.upload(t, offset)).collect();
            let results: Vec<_> = prepared
                .outputs()
                .iter()
                .map(|desc| program.result(offset + desc.padded_byte_len()))
                .collect();
            let range = |buffer| BufferRange { buffer, offset };
            let from: Vec<_> = buffers.iter().map(range).collect();
            let to: Vec<_> = results.iter().map(range).collect();
            prepared.record(&mut encoder).inputs(&from).outputs(&to).finish().unwrap();
            waiting.push((operator.clone(), inputs.clone(), results, offset));
        }
    }
    program.queue.submit([encoder.finish()]);
    for (operator, inputs, results, offset) in waiting {
        let inputs: Vec<_> = inputs.iter().collect();
        let expected = operator.run(&Device::cpu(), &inputs).unwrap();
        for (result, expected) in results.iter().zip(&expected) {
            let found = program.read(result, offset, expected.bytes().len());
            let (data, on) = (inputs[0].desc(), describe(device));
            assert!(found == expected.bytes(), "{operator:?} {data} at {offset} on {on}");
        }
    }
}

/// Random cases of every operator and type, on a device with the limits of [`small`].
#[test]
fn random_cases_agree_on_a_small_device() {
    let Some(program) = program(small) else { return };
    let devices = both_tunings(&Device::from_wgpu(&program.device, &program.queue).unwrap());
    let seed = seed();
    // Few rounds, too, have all operators and many types, which follow each other.
    for index in (0..rounds(78)).map(|round| round * 16) {
        let case = Case::nth(seed, index).unwrap();
        // The host refuses wrong ids before a device gets them.
        let Ok(expected) = case.operator.run(&Device::cpu(), case.inputs()) else {
            assert!(
                devices.iter().all(|on| case.operator.run(on, case.inputs()).is_err()),
                "{case}"
            );
            continue;
        };
        for device in &devices {
            let on = describe(device);
            let what = format!("WGMAX_SEED={seed}, case {index}: {case} on {on}");
            let found = match case.operator.run(device, case.inputs()) {
                // A gradient is not cut within the planes of a pooling.
                Err(Error::OverLimit { .. })
                    if matches!(case.operator, Operator::MaxPoolBackward(_)) =>
                {
                    continue;
                }
                found => found.unwrap_or_else(|error| panic!("{what}: {error}")),
            };
            for (found, expected) in found.iter().zip(&expected) {
                let report = compare(found, expected).unwrap();
                assert!(report.is_equal(), "{what}: {report}");
            }
        }
    }
}

/// The result of one recording is the input of the next, and recording with the same buffers again
/// creates no bind groups.
#[test]
fn recordings_chain_and_repeat() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    both_tunings(&device).iter().for_each(|device| chains_and_repeats(&program, device));
}

fn chains_and_repeats(program: &Program, device: &Device) {
    let input = tensor(ElementType::F32, &[4, 8, 33, 35], 2, &mut Random(5));
    let pool: Operator = MaxPool::new([3, 3]).strides([2, 2]).into();
    let reduce: Operator = ReduceMax::new().axes([2, 3]).into();
    let [pooled] = pool.run(&Device::cpu(), &input).unwrap().exactly().unwrap();
    let [expected] = reduce.run(&Device::cpu(), &pooled).unwrap().exactly().unwrap();
    let first = device.prepare(&pool, [input.desc()]).unwrap();
    let second = device.prepare(&reduce, [pooled.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let between = program.result(pooled.bytes().len() as u64);
    let result = program.result(expected.bytes().len() as u64);
    for _ in 0..3 {
        let mut encoder = program.encoder();
        first.record(&mut encoder).input(&source).output(&between).finish().unwrap();
        second.record(&mut encoder).input(&between).output(&result).finish().unwrap();
        program.queue.submit([encoder.finish()]);
        assert!(program.read(&result, 0, expected.bytes().len()) == expected.bytes());
    }
}

#[test]
fn buffers_that_cannot_be_are_refused_before_anything_is_recorded() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = tensor(ElementType::F32, &[64, 4], 2, &mut Random(5));
    let operator: Operator = ReduceMax::new().axes([1]).into();
    let prepared = device.prepare(&operator, [input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let result = program.result(256);
    let mut encoder = program.encoder();
    let mut record = |inputs: &[BufferRange<'_>], outputs: &[BufferRange<'_>]| {
        prepared.record(&mut encoder).inputs(inputs).outputs(outputs).finish().unwrap_err()
    };
    let (from, to) = (BufferRange::from(&source), BufferRange::from(&result));
    let at = |buffer, offset| BufferRange { buffer, offset };
    assert!(matches!(record(&[], &[to]), Error::InputCount { .. }));
    let error = record(&[from], &[]);
    assert!(matches!(error, Error::OutputBuffers { expected: 1, actual: 0, .. }));
    assert_eq!(error.to_string(), "wgmax ReduceMax has 1 result; buffers given: 0");
    let plain = program.buffer(1024, BufferUsages::COPY_DST);
    let error = record(&[from], &[(&plain).into()]);
    assert!(matches!(&error, Error::BufferUsage { tensor, .. } if tensor == "result 0"), "{error}");
    let error = record(&[at(&source, 8)], &[to]);
    assert!(matches!(error, Error::BufferAlignment { offset: 8, .. }), "{error}");
    assert!(error.to_string().starts_with("wgmax ReduceMax, input 0: "), "{error}");
    assert!(matches!(record(&[at(&source, 1 << 20)], &[to]), Error::BufferTooSmall { .. }));
    let error = record(&[at(&source, 256)], &[to]);
    assert!(matches!(&error, Error::BufferTooSmall { tensor, .. } if tensor == "input 0"));
    // A result that overlaps an input, wholly or in part.
    let both = program.result(4096);
    for offset in [0, 512] {
        let error = record(&[at(&both, 0)], &[at(&both, offset)]);
        assert!(matches!(error, Error::BufferOverlap { .. }), "{error}");
        let text = error.to_string();
        for part in ["result 0 at bytes", "input 0 at bytes 0..1024", "copy_buffer_to_buffer"] {
            assert!(text.contains(part), "{text}");
        }
    }
    drop(encoder);
    let cpu = Device::cpu().prepare(&operator, [input.desc()]);
    assert!(matches!(cpu, Err(Error::CannotRecord)));
}

/// A queue of another device is detected before it is used. Both devices have wgpu's own
/// handler of errors, which panics.
#[test]
fn a_queue_of_another_device_is_refused() {
    let Some(program) = program(|limits| limits) else { return };
    let other = program.another();
    let input = tensor(ElementType::F32, &[64, 4], 2, &mut Random(5));
    let rows: Operator = ReduceMax::new().axes([1]).into();
    let name = Device::from_wgpu(&program.device, &program.queue).unwrap().info().name.clone();
    let is_refused = || match Device::from_wgpu(&program.device, &other.queue) {
        Err(Error::WrongQueue { device }) => {
            assert!(device.contains(&name), "{device}");
            true
        }
        other => panic!("{other:?}"),
    };
    assert!((0..2).all(|_| is_refused()));
    // The device's own queue is always accepted, also while another thread polls.
    let expected = rows.run(&Device::cpu(), [&input]).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                program.device.poll(wgpu::PollType::Poll).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        });
        let all_refused = (0..50).all(|_| {
            let own = Device::from_wgpu(&program.device, &program.queue).unwrap();
            own.wait().is_ok() && is_refused()
        });
        done.store(true, Ordering::Relaxed);
        assert!(all_refused);
    });
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    assert!(rows.run(&device, [&input]).unwrap()[0].bytes() == expected[0].bytes());
}

/// Buffers and textures that are destroyed, or of another device: the encoder stays valid, and no
/// error reaches a handler of wgpu's, which would panic.
#[test]
fn resources_that_cannot_be_used_are_refused_before_anything_is_recorded() {
    let Some(program) = program(|limits| limits) else { return };
    let other = program.another();
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = tensor(ElementType::F32, &[64, 64], 2, &mut Random(5));
    let rows: Operator = ReduceMax::new().axes([1]).into();
    let expected = rows.run(&Device::cpu(), [&input]).unwrap();
    let prepared = device.prepare(&rows, [input.desc()]).unwrap();
    let upload = || [program.upload(&input, 0), program.result(256)];
    let [source, result] = upload();
    let mut encoder = program.encoder();
    {
        let mut record = |from: &wgpu::Buffer, to: &wgpu::Buffer| {
            prepared.record(&mut encoder).input(from).output(to).finish()
        };
        let foreign = [other.upload(&input, 0), other.result(256)];
        for (from, to, name) in
            [(&foreign[0], &result, "input 0"), (&source, &foreign[1], "result 0")]
        {
            match record(from, to) {
                Err(Error::BufferDevice { tensor, device, .. }) => {
                    assert!(tensor == name && device.contains("(device "), "{tensor}, {device}");
                }
                other => panic!("{other:?}"),
            }
        }
        // Buffers destroyed before they are first bound, and after.
        for bound in [false, true] {
            for (i, name) in ["input 0", "result 0"].into_iter().enumerate() {
                let buffers = upload();
                if bound {
                    let mut encoder = program.encoder();
                    prepared
                        .record(&mut encoder)
                        .input(&buffers[0])
                        .output(&buffers[1])
                        .finish()
                        .unwrap();
                }
                buffers[i].destroy();
                match record(&buffers[0], &buffers[1]) {
                    Err(Error::BufferDestroyed { tensor, .. }) => assert_eq!(tensor, name),
                    other => panic!("{other:?}"),
                }
            }
        }
        // A buffer that is mapped may be recorded, and unmapped before the submit.
        let mapped = program.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: input.bytes().len() as u64,
            usage: BufferUsages::STORAGE,
            mapped_at_creation: true,
        });
        let view = mapped.get_mapped_range_mut(..).unwrap();
        record(&mapped, &result).unwrap();
        drop(view);
        mapped.unmap();
        record(&source, &result).unwrap();
    }
    program.queue.submit([encoder.finish()]);
    assert!(program.read(&result, 0, 256) == expected[0].bytes());

    let texture = |program: &Program| {
        program.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 64, height: 64, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    };
    let own = texture(&program);
    let view = texture_view(own.format(), own.size()).unwrap();
    let copy =
        device.prepare_into(ReduceMax::new().axes([]), &view, std::slice::from_ref(&view)).unwrap();
    let mut encoder = program.encoder();
    let destroyed = texture(&program);
    copy.record(&mut encoder).input(&own).output(&destroyed).finish().unwrap();
    drop(std::mem::replace(&mut encoder, program.encoder()));
    destroyed.destroy();
    let foreign = texture(&other);
    for (refused, reason) in
        [(&destroyed, "the texture was destroyed"), (&foreign, "of another device")]
    {
        for (from, to, name) in [(refused, &own, "input 0"), (&own, refused, "result 0")] {
            let error = copy.record(&mut encoder).input(from).output(to).finish().unwrap_err();
            assert!(matches!(error, Error::BadTexture { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(reason) && !text.contains('\n'), "{text}");
        }
    }
    let into = texture(&program);
    copy.record(&mut encoder).input(&own).output(&into).finish().unwrap();
    program.queue.submit([encoder.finish()]);
    program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

/// Two wrappers of one device accept each other's tensors. For another device, the error names
/// both.
#[test]
fn tensors_are_of_a_device_and_say_of_which() {
    let Some(program) = program(|limits| limits) else { return };
    let other = program.another();
    let [first, second] =
        [0; 2].map(|_| Device::from_wgpu(&program.device, &program.queue).unwrap());
    let elsewhere = Device::from_wgpu(&other.device, &other.queue).unwrap();
    let input = tensor(ElementType::F32, &[64, 4], 2, &mut Random(5));
    let rows: Operator = ReduceMax::new().axes([1]).into();
    let there = first.upload(&input).unwrap();
    let found = second.run(&rows, [&there]).unwrap()[0].download().unwrap();
    assert!(found.bytes() == rows.run(&Device::cpu(), [&input]).unwrap()[0].bytes());
    match elsewhere.run(&rows, [&there]).unwrap_err() {
        Error::WrongDevice { expected, actual } => {
            assert!(format!("{elsewhere:?}").contains(&expected), "{expected}");
            assert!(format!("{first:?}").contains(&actual), "{actual}");
            assert_ne!(expected, actual);
        }
        error => panic!("{error}"),
    }
    // wgpu numbers the devices of each instance from 0.
    let instances = [0; 2].map(|_| self::program(|limits| limits).unwrap());
    let [mine, theirs] =
        instances.each_ref().map(|p| Device::from_wgpu(&p.device, &p.queue).unwrap());
    assert_eq!(instances[0].device, instances[1].device);
    let tensors = [&mine, &theirs].map(|device| device.upload(&input).unwrap());
    for (device, wrong) in [(&mine, &tensors[1]), (&theirs, &tensors[0])] {
        let error = device.run(&rows, [wrong]).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        let error = device.chain().run(&rows, [wrong]).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
    }
    // A lost device accepts its own tensors, and reports the loss.
    let again = Device::from_wgpu(&instances[1].device, &instances[1].queue).unwrap();
    instances[1].device.destroy();
    let error = again.run(&rows, [&tensors[1]]).unwrap_err();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    let error = mine.run(&rows, [&tensors[1]]).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
    // The program has destroyed the buffer of a tensor.
    there.buffer().unwrap().destroy();
    let destroyed = |error| assert!(matches!(error, Error::BufferDestroyed { .. }), "{error}");
    destroyed(first.run(&rows, [&there]).unwrap_err());
    destroyed(there.download().unwrap_err());
    destroyed(first.chain().run(&rows, [&there]).unwrap_err());
}

/// Buffers of results that are too small, and that overlap.
#[test]
fn errors_name_the_result() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = tensor(ElementType::U8, &[1, 1, 9], 2, &mut Random(5));
    let operator = MaxPool::new([2]).indices(Indices::default());
    let prepared = device.prepare(&operator, [input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let (small, large) = (program.result(4), program.result(256));
    let mut encoder = program.encoder();
    let mut record = |values, indices| {
        let (values, indices): (&wgpu::Buffer, &wgpu::Buffer) = (values, indices);
        let results = [values, indices];
        prepared
            .record(&mut encoder)
            .input(&source)
            .outputs(results)
            .finish()
            .unwrap_err()
            .to_string()
    };
    assert!(
        record(&small, &large).starts_with("wgmax MaxPool, result 0: the range ends at byte 8")
    );
    assert!(record(&large, &small).starts_with("wgmax MaxPool, result 1: the range ends"));
    let text = record(&large, &large);
    assert!(text.contains("result 1 at bytes 0..64 overlaps result 0 at bytes 0..8"), "{text}");
}

/// A caller can bind the buffer of a tensor in its own passes.
#[test]
fn tensors_give_their_buffers() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = tensor(ElementType::U16, &[5, 7], 2, &mut Random(6));
    let on_device = device.upload(&input).unwrap();
    let rows = device.run(ReduceMax::new().axes([1]).keep_dims(true), [&on_device]).unwrap();
    let all = device.prepare(ReduceMax::new().axes([0]), [rows[0].desc()]).unwrap();
    assert_eq!((all.outputs()[0].byte_len(), all.outputs()[0].padded_byte_len()), (2, 4));
    let result = program.result(all.outputs()[0].padded_byte_len());
    let mut encoder = program.encoder();
    let source = rows[0].buffer().unwrap();
    all.record(&mut encoder).input(source).output(&result).finish().unwrap();
    program.queue.submit([encoder.finish()]);
    let expected = ReduceMax::new().run(&Device::cpu(), &input).unwrap();
    assert_eq!(program.read(&result, 0, 2), expected[0].bytes());
    assert_eq!((source.size(), rows[0].desc().byte_len()), (16, 10), "whole blocks");
    assert!(Device::cpu().upload(&input).unwrap().buffer().is_none());
}

/// Inputs and results are ranges of one buffer. `prepare` alone creates pipelines: no frame waits
/// for a compiler.
#[test]
fn inputs_and_results_share_a_buffer() {
    let Some(program) = program(|limits| limits) else { return };
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let device = device.with_edited_shaders(move |_, text| {
        count.fetch_add(1, Ordering::Relaxed);
        text
    });
    for device in both_tunings(&device) {
        let before = made.load(Ordering::Relaxed);
        shares_a_buffer(&program, &device, &|| made.load(Ordering::Relaxed));
        assert!(made.load(Ordering::Relaxed) > before, "pipelines are counted");
    }
}

fn shares_a_buffer(program: &Program, device: &Device, pipelines: &dyn Fn() -> usize) {
    for (operator, inputs) in cases(&mut Random(41)) {
        let descs: Vec<_> = inputs.iter().map(Tensor::desc).collect();
        let prepared = device.prepare(&operator, &descs).unwrap();
        let all = program.buffer(
            1 << 20,
            BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        );
        let mut end = 0;
        let mut next = |bytes: usize| {
            let offset = end;
            end = (end + bytes as u64).next_multiple_of(device.info().limits.alignment);
            BufferRange { buffer: &all, offset }
        };
        let from: Vec<_> = inputs.iter().map(|t| next(t.bytes().len())).collect();
        let to: Vec<_> = prepared.outputs().iter().map(|desc| next(desc.byte_len())).collect();
        for (tensor, range) in inputs.iter().zip(&from) {
            let mut bytes = tensor.bytes().to_vec();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            program.queue.write_buffer(&all, range.offset, &bytes);
        }
        let mut encoder = program.encoder();
        let before = pipelines();
        prepared.record(&mut encoder).inputs(&from).outputs(&to).finish().unwrap();
        // The same again, with results in another buffer.
        let other = program.result(all.size());
        let elsewhere = |range: &BufferRange<'_>| BufferRange { buffer: &other, ..*range };
        let elsewhere: Vec<_> = to.iter().map(elsewhere).collect();
        prepared.record(&mut encoder).inputs(&from).outputs(&elsewhere).finish().unwrap();
        assert_eq!(pipelines(), before, "{operator:?}");
        program.queue.submit([encoder.finish()]);
        let expected = operator.run(&Device::cpu(), inputs.iter().collect::<Vec<_>>()).unwrap();
        for (range, expected) in to.iter().chain(&elsewhere).zip(expected.iter().cycle()) {
            let found = program.read(range.buffer, range.offset, expected.bytes().len());
            let (data, on) = (inputs[0].desc(), describe(device));
            assert!(found == expected.bytes(), "{operator:?} {data} on {on}");
        }
    }
}
