//! Operators recorded into the encoder of another program, with its device and its buffers.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::program::{Program, program};
use common::{Random, describe, plans, seed, tensor};
use wgmax::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::sweep::Case;
use wgmax::wgpu::{self, BufferUsages};
use wgmax::{BufferRange, Device, ElementType, Error, Tensor, compare};

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

/// All operators in one encoder, each recorded three times: with buffers that begin at an offset
/// and end with the tensor.
#[test]
fn recorded_operators_agree_with_the_cpu() {
    let Some(program) = program(small) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    assert_eq!(device.info().limits.max_binding_size, 64 << 10);
    plans(&device).iter().for_each(|device| agrees_recorded(&program, device));
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
            prepared.record(&mut encoder, &from, &to).unwrap();
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

/// The random cases of every operator and type, on a device that refuses whatever is beyond such
/// limits.
#[test]
fn random_cases_agree_on_a_small_device() {
    let Some(program) = program(small) else { return };
    let plans = plans(&Device::from_wgpu(&program.device, &program.queue));
    let seed = seed();
    for index in 0..390 {
        let case = Case::nth(seed, index).unwrap();
        // Some ids are wrong, which the host finds before a device is asked.
        let Ok(expected) = case.operator.run(&Device::cpu(), &case.inputs()) else {
            assert!(
                plans.iter().all(|on| case.operator.run(on, &case.inputs()).is_err()),
                "{case}"
            );
            continue;
        };
        for device in &plans {
            let on = describe(device);
            let what = format!("WGMAX_SEED={seed}, case {index}: {case} on {on}");
            let found = case.operator.run(device, &case.inputs());
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            for (found, expected) in found.iter().zip(&expected) {
                let report = compare(found, expected).unwrap();
                assert!(report.is_equal(), "{what}: {report}");
            }
        }
    }
}

/// One recording feeds the next, and the same buffers again make no new bind groups.
#[test]
fn recordings_chain_and_repeat() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    plans(&device).iter().for_each(|device| chains_and_repeats(&program, device));
}

fn chains_and_repeats(program: &Program, device: &Device) {
    let input = tensor(ElementType::F32, &[4, 8, 33, 35], 2, &mut Random(5));
    let pool: Operator = MaxPool::new([3, 3]).strides([2, 2]).into();
    let reduce: Operator = ReduceMax::new().axes([2, 3]).into();
    let pooled = pool.run(&Device::cpu(), &[&input]).unwrap().swap_remove(0);
    let expected = reduce.run(&Device::cpu(), &[&pooled]).unwrap().swap_remove(0);
    let first = device.prepare(&pool, &[input.desc()]).unwrap();
    let second = device.prepare(&reduce, &[pooled.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let between = program.result(pooled.bytes().len() as u64);
    let result = program.result(expected.bytes().len() as u64);
    for _ in 0..3 {
        let mut encoder = program.encoder();
        first.record(&mut encoder, &[&source], &[&between]).unwrap();
        second.record(&mut encoder, &[&between], &[&result]).unwrap();
        program.queue.submit([encoder.finish()]);
        assert!(program.read(&result, 0, expected.bytes().len()) == expected.bytes());
    }
}

#[test]
fn buffers_that_cannot_be_are_refused_before_anything_is_recorded() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    let input = tensor(ElementType::F32, &[64, 4], 2, &mut Random(5));
    let operator: Operator = ReduceMax::new().axes([1]).into();
    let prepared = device.prepare(&operator, &[input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let result = program.result(256);
    let mut encoder = program.encoder();
    let mut record = |inputs: &[BufferRange<'_>], outputs: &[BufferRange<'_>]| {
        prepared.record(&mut encoder, inputs, outputs).unwrap_err()
    };
    let (from, to) = (BufferRange::from(&source), BufferRange::from(&result));
    let at = |buffer, offset| BufferRange { buffer, offset };
    assert!(matches!(record(&[], &[to]), Error::InputCount { .. }));
    assert!(matches!(record(&[from], &[]), Error::OutputBuffers { expected: 1, actual: 0, .. }));
    let plain = program.buffer(1024, BufferUsages::COPY_DST);
    let error = record(&[from], &[(&plain).into()]);
    assert!(matches!(&error, Error::BufferUsage { tensor, .. } if tensor == "result 0"), "{error}");
    let error = record(&[at(&source, 8)], &[to]);
    assert!(matches!(error, Error::BufferAlignment { offset: 8, .. }), "{error}");
    assert!(error.to_string().starts_with("wgmax ReduceMax, input 0: "), "{error}");
    assert!(matches!(record(&[at(&source, 1 << 20)], &[to]), Error::BufferTooSmall { .. }));
    let error = record(&[at(&source, 256)], &[to]);
    assert!(matches!(&error, Error::BufferTooSmall { tensor, .. } if tensor == "input 0"));
    // A result in the place of an input, or in a part of it.
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
    let cpu = Device::cpu().prepare(&operator, &[input.desc()]);
    assert!(matches!(cpu, Err(Error::CannotRecord)));
}

/// Two results in the same bytes, of which none can be copied back.
#[test]
fn errors_name_the_result() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    let input = tensor(ElementType::U8, &[1, 1, 9], 2, &mut Random(5));
    let operator = MaxPool::new([2]).indices(Indices::default());
    let prepared = device.prepare(&operator, &[input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let (small, large) = (program.result(4), program.result(256));
    let mut encoder = program.encoder();
    let mut record = |values, indices| {
        let (values, indices): (&wgpu::Buffer, &wgpu::Buffer) = (values, indices);
        let results = [values, indices];
        prepared.record(&mut encoder, &[&source], &results).unwrap_err().to_string()
    };
    assert!(
        record(&small, &large).starts_with("wgmax MaxPool, result 0: the range ends at byte 8")
    );
    assert!(record(&large, &small).starts_with("wgmax MaxPool, result 1: the range ends"));
    let text = record(&large, &large);
    assert!(text.contains("result 1 at bytes 0..64 overlaps result 0 at bytes 0..8"), "{text}");
}

/// The buffer of a tensor goes into recordings of the caller's own.
#[test]
fn tensors_give_their_buffers() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue);
    let input = tensor(ElementType::U16, &[5, 7], 2, &mut Random(6));
    let on_device = device.upload(&input).unwrap();
    let rows = device.run(ReduceMax::new().axes([1]).keep_dims(true), &[&on_device]).unwrap();
    let all = device.prepare(ReduceMax::new().axes([0]), &[rows[0].desc()]).unwrap();
    assert_eq!((all.outputs()[0].byte_len(), all.outputs()[0].padded_byte_len()), (2, 4));
    let result = program.result(all.outputs()[0].padded_byte_len());
    let mut encoder = program.encoder();
    let source = rows[0].buffer().unwrap();
    all.record(&mut encoder, &[source], &[&result]).unwrap();
    program.queue.submit([encoder.finish()]);
    let expected = ReduceMax::new().run(&Device::cpu(), &input).unwrap();
    assert_eq!(program.read(&result, 0, 2), expected.bytes());
    // Whole blocks, with zeros behind the elements.
    assert_eq!(program.read(source, 0, 16)[10..], [0; 6]);
    assert!(Device::cpu().upload(&input).unwrap().buffer().is_none());
}

/// Inputs and results as ranges of one buffer, which a program may have for everything. Pipelines
/// are made by `prepare` alone: no frame waits for a compiler.
#[test]
fn inputs_and_results_share_a_buffer() {
    let Some(program) = program(|limits| limits) else { return };
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let device = Device::from_wgpu(&program.device, &program.queue);
    let device = device.with_edited_shaders(move |_, text| {
        count.fetch_add(1, Ordering::Relaxed);
        text
    });
    for device in plans(&device) {
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
        prepared.record(&mut encoder, &from, &to).unwrap();
        // The same again, with results elsewhere.
        let other = program.result(all.size());
        let elsewhere = |range: &BufferRange<'_>| BufferRange { buffer: &other, ..*range };
        let elsewhere: Vec<_> = to.iter().map(elsewhere).collect();
        prepared.record(&mut encoder, &from, &elsewhere).unwrap();
        assert_eq!(pipelines(), before, "{operator:?}");
        program.queue.submit([encoder.finish()]);
        let expected = operator.run(&Device::cpu(), &inputs.iter().collect::<Vec<_>>()).unwrap();
        for (range, expected) in to.iter().chain(&elsewhere).zip(expected.iter().cycle()) {
            let found = program.read(range.buffer, range.offset, expected.bytes().len());
            let (data, on) = (inputs[0].desc(), describe(device));
            assert!(found == expected.bytes(), "{operator:?} {data} on {on}");
        }
    }
}
