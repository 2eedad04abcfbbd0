//! Tensors that are not contiguous: by shader, CPU kernel and oracle; in a program's own
//! buffers and textures; and in pieces.

use std::collections::HashSet;

use crate::common::program::{Program, program};
use crate::common::{Random, both_tunings, describe, gpu, rounds, seed, some, tensor};
use wgmax::operator::{Indices, Layout, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::wgpu::{self, BufferUsages, TextureFormat, TextureUsages};
use wgmax::{
    BufferRange, Device, DeviceBackend, DeviceTensor, ElementType, Error, Input, Run, RunOptions,
    Tensor, TensorDesc, TensorView, TextureRange, View, compare, texture_view,
};
use wgmax_verify::{Case, oracle};

/// Random cases of every operator and type, whose inputs and results are random views. Each launch
/// writes the same bytes on the GPU and on the CPU.
#[test]
fn views_give_what_copies_give() {
    let Some(device) = gpu() else { return };
    let (seed, cpu) = (seed(), Device::cpu());
    let mut met = HashSet::new();
    let rounds = rounds(78);
    // Few rounds, too, have all operators and many types, which follow each other.
    for index in (0..rounds).map(|round| round * 16) {
        let mut case = Case::nth(seed, index).unwrap();
        case.overrides.views = Some(index);
        let expected = case.expected();
        let expected =
            expected.unwrap_or_else(|e| panic!("WGMAX_SEED={seed}, case {index}: {case}: {e}"));
        for device in [&cpu].into_iter().chain(&both_tunings(&device)) {
            let what = format!("WGMAX_SEED={seed}, case {index}: {case} on {}", describe(device));
            let plan = case.plan(device).unwrap();
            let found = case.execute(device, &plan).unwrap_or_else(|e| panic!("{what}: {e}"));
            for (found, expected) in found.iter().zip(&expected) {
                let report = compare(found, expected).unwrap();
                assert!(report.is_equal(), "{what}: {report}\n{plan:#?}");
            }
            let launches = plan.launches().iter().map(|launch| launch.shader());
            met.extend(launches.map(|shader| match shader.pitched {
                true => format!("{} of a view", shader.kernel.name()),
                false => shader.kernel.name().to_string(),
            }));
            // Results of wrong ids are unspecified.
            if !device.is_cpu() && case.operator.checked(&case.inputs()).is_ok() {
                same_launches(device, &case, &what);
            }
        }
    }
    if rounds >= 25 {
        assert!(met.contains("pack of a view") && met.contains("unpack"), "{met:?}");
        assert!(met.iter().filter(|kernel| kernel.ends_with("of a view")).count() > 4, "{met:?}");
    }
}

/// Each launch of a case's plan writes the same bytes on the device and on the CPU.
fn same_launches(device: &Device, case: &Case, what: &str) {
    let (cpu, plan) = (Device::cpu(), case.plan(device).unwrap());
    let mut written: Vec<Vec<u8>> = Vec::new();
    let inputs = case.upload(&cpu, &plan).unwrap();
    let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
    cpu.execute_traced(&plan, &inputs, |_, bytes| written.push(bytes.to_vec())).unwrap();
    let mut written = written.into_iter();
    let inputs = case.upload(device, &plan).unwrap();
    let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
    let same = |launch: usize, bytes: &[u8]| {
        let cpu = written.next().unwrap();
        let label = plan.launches()[launch].label();
        assert!(bytes[..cpu.len()] == cpu, "{what}: launch {launch} ({label}) differs\n{plan:#?}");
    };
    device.execute_traced(&plan, &inputs, same).unwrap();
    assert_eq!(written.count(), 0, "{what}");
}

/// Rows padded to 256 bytes are read where they are, by as many launches as rows without gaps.
#[test]
fn rows_with_gaps_are_not_copied() {
    let limits = wgmax::plan::Limits::from_wgpu(&wgpu::Limits::default());
    let tuning = wgmax::Tuning::hardware();
    let desc = |t, shape: &[usize]| TensorDesc::new(t, shape).unwrap();
    for t in [ElementType::U8, ElementType::F16, ElementType::F32, ElementType::I64] {
        let input = desc(t, &[4, 50, 75, 3]);
        let ids = desc(ElementType::I32, &[4]);
        for (operator, more) in [
            (Operator::from(ReduceMax::new().axes([1, 2])), None),
            (ReduceMax::new().axes([3]).into(), None),
            (MaxPool::new([3, 3]).strides([2, 2]).layout(Layout::Nxc).into(), None),
            (MaxPool::new([2, 3]).into(), None),
            (MaxPool::adaptive([7, 11]).into(), None),
            (SegmentMax::sorted().num_segments(2).into(), Some(&ids)),
        ] {
            let view = View::with_aligned_rows(input.clone(), 256).unwrap();
            let more: Vec<View> = more.into_iter().map(View::from).collect();
            let views: Vec<&View> = [&view].into_iter().chain(&more).collect();
            let descs: Vec<&TensorDesc> = views.iter().map(|view| view.desc()).collect();
            let plain = operator.plan(&descs, &limits, &tuning).unwrap();
            let plan = operator.plan_views(&views, &[], &limits, &tuning).unwrap();
            assert_eq!(plan.launches().len(), plain.launches().len(), "{operator:?} of {t}");
            assert_eq!(plan.scratch_bytes(), plain.scratch_bytes(), "{operator:?} of {t}");
            assert!(plan.launches().iter().any(|launch| launch.shader().pitched));
        }
    }
}

/// The input is a crop of a picture, the result every second element of a buffer; the elements
/// between do not change.
#[test]
fn a_program_records_views() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let devices = both_tunings(&device);
    for (i, t) in ElementType::ALL.into_iter().filter(|&t| t != ElementType::Bool).enumerate() {
        records_views(&program, &devices[i % 2], t);
    }
}

fn records_views(program: &Program, device: &Device, t: ElementType) {
    let whole = tensor(t, &[3, 20, 31], 2, &mut Random(9));
    let crop = View::from(whole.desc()).slice(1, 3..17).unwrap().slice(2, 5..30).unwrap();
    let operator: Operator = ReduceMax::new().axes([1]).keep_dims(false).into();
    let input = TensorView::new(&whole, &crop).unwrap().to_tensor().unwrap();
    let expected = oracle::run(&operator, &[&input]).unwrap().swap_remove(0);
    let result = View::new(expected.desc().clone(), 3, [60, 2]).unwrap();
    let prepared = device.prepare_into(&operator, &crop, std::slice::from_ref(&result)).unwrap();
    let from = program.upload(&whole, 0);
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let bytes = result.byte_len().next_multiple_of(8);
    let to = program.buffer(256 + bytes as u64, usage);
    program.queue.write_buffer(&to, 256, &vec![0x55; bytes]);
    let mut encoder = program.encoder();
    let range = BufferRange { buffer: &to, offset: 256 };
    prepared.record(&mut encoder).input(&from).output(range).finish().unwrap();
    program.queue.submit([encoder.finish()]);

    let mut memory = vec![0x55; bytes];
    for (i, element) in expected.bytes().chunks(t.size()).enumerate() {
        let place = 3 + 60 * (i / 25) + 2 * (i % 25);
        memory[place * t.size()..][..t.size()].copy_from_slice(element);
    }
    assert!(program.read(&to, 256, bytes) == memory, "{t} on {}", describe(device));
}

/// Textures of every format that has whole elements: a part of a mip level in, and out.
#[test]
fn a_program_records_textures() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let devices = both_tunings(&device);
    // Every fourth one has another size and other channels.
    let formats = [
        TextureFormat::R8Unorm,
        TextureFormat::R8Sint,
        TextureFormat::Rg8Uint,
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::Rgba16Float,
        TextureFormat::R16Uint,
        TextureFormat::Rgba16Sint,
        TextureFormat::R16Float,
        TextureFormat::Rg32Sint,
        TextureFormat::Rgba32Float,
        TextureFormat::R32Float,
        TextureFormat::R32Uint,
    ];
    for (i, format) in some(&formats, 0).into_iter().enumerate() {
        records_textures(&program, &devices[i % 2], format);
    }
}

/// A result in a part of a texture changes nothing else: neither other channels nor neighbouring
/// texels.
#[test]
fn a_result_leaves_the_rest_of_a_texture() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    for (format, channel, texels) in [
        (TextureFormat::Rgba16Float, 2..3, 0..40),
        (TextureFormat::R16Float, 0..1, 0..1),
        (TextureFormat::R8Uint, 0..1, 0..39),
        (TextureFormat::Rg32Sint, 1..2, 3..20),
    ] {
        let to = texture(&program, format, [40, 1, 1], 1);
        let whole = texture_view(format, to.size()).unwrap();
        let before = tensor(whole.desc().element_type(), whole.desc().shape(), 2, &mut Random(6));
        write(&program, TextureRange::from(&to), &before);
        let part = whole.slice(2, texels.clone()).unwrap().slice(3, channel.clone()).unwrap();
        let (t, shape) = (part.desc().element_type(), part.desc().shape());
        let rows = tensor(t, &[&[5], shape].concat(), 2, &mut Random(7));
        let reduce: Operator = ReduceMax::new().axes([0]).keep_dims(false).into();
        let largest = oracle::run(&reduce, &[&rows]).unwrap().swap_remove(0);
        let from = program.upload(&rows, 0);
        let prepared =
            device.prepare_into(&reduce, rows.desc(), std::slice::from_ref(&part)).unwrap();
        let buffer = program.buffer(1024, BufferUsages::COPY_DST | BufferUsages::COPY_SRC);
        let mut encoder = program.encoder();
        prepared.record(&mut encoder).input(&from).output(&to).finish().unwrap();
        encoder.copy_texture_to_buffer(
            to.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    bytes_per_row: Some(1024),
                    ..Default::default()
                },
            },
            to.size(),
        );
        program.queue.submit([encoder.finish()]);
        let mut expected = before.bytes().to_vec();
        let channels = before.shape()[3];
        for (i, texel) in texels.enumerate() {
            let place = (texel * channels + channel.start) * t.size();
            let element = &largest.bytes()[i * t.size()..][..t.size()];
            expected[place..][..t.size()].copy_from_slice(element);
        }
        assert!(program.read(&buffer, 0, expected.len()) == expected, "{format:?}");
    }
}

fn texture(
    program: &Program,
    format: TextureFormat,
    size: [u32; 3],
    mip_level_count: u32,
) -> wgpu::Texture {
    let [width, height, depth_or_array_layers] = size;
    program.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers },
        mip_level_count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// Fills a part of a texture.
fn write(program: &Program, range: TextureRange<'_>, texels: &Tensor) {
    let info = wgpu::TexelCopyTextureInfo {
        mip_level: range.mip_level,
        origin: range.origin,
        ..range.texture.as_image_copy()
    };
    let row: usize = texels.shape()[2..].iter().product::<usize>() * texels.element_type().size();
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(row as u32),
        rows_per_image: Some(range.size.height),
    };
    program.queue.write_texture(info, texels.bytes(), layout, range.size);
}

fn records_textures(program: &Program, device: &Device, format: TextureFormat) {
    // A part of the second level of three layers.
    let from = texture(program, format, [82, 60, 3], 2);
    let part = TextureRange {
        origin: wgpu::Origin3d { x: 3, y: 5, z: 1 },
        size: wgpu::Extent3d { width: 37, height: 21, depth_or_array_layers: 2 },
        ..TextureRange::mip_level(&from, 1)
    };
    let view = texture_view(format, part.size).unwrap();
    let texels = tensor(view.desc().element_type(), view.desc().shape(), 2, &mut Random(4));
    write(program, part, &texels);
    let pool: Operator = MaxPool::new([3, 3]).strides([2, 2]).layout(Layout::Nxc).into();
    let expected = oracle::run(&pool, &[&texels]).unwrap().swap_remove(0);
    let [_, height, width, _] = *expected.shape() else { panic!("{expected:?}") };
    let to = texture(program, format, [width as u32 + 4, height as u32, 2], 1);
    let there = TextureRange {
        origin: wgpu::Origin3d { x: 4, y: 0, z: 0 },
        size: wgpu::Extent3d {
            width: width as u32,
            height: height as u32,
            depth_or_array_layers: 2,
        },
        ..TextureRange::from(&to)
    };
    let result = texture_view(format, there.size).unwrap();
    let pool = device.prepare_into(pool, &view, std::slice::from_ref(&result)).unwrap();
    // Copies the result to contiguous memory.
    let copy = ReduceMax::new().axes([]);
    let copy = device.prepare(copy, &result).unwrap();
    let read = program.result(expected.desc().padded_byte_len());
    let mut encoder = program.encoder();
    pool.record(&mut encoder).input(part).output(there).finish().unwrap();
    copy.record(&mut encoder).input(there).output(&read).finish().unwrap();
    program.queue.submit([encoder.finish()]);
    let found = program.read(&read, 0, expected.bytes().len());
    assert!(found == expected.bytes(), "{format:?} on {}", describe(device));
}

/// A texture that cannot hold the tensor is refused before anything is recorded.
#[test]
fn textures_that_do_not_fit_are_refused() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let format = TextureFormat::R32Float;
    let from = texture(&program, format, [70, 20, 1], 1);
    let view = texture_view(format, from.size()).unwrap();
    let reduce = ReduceMax::new().axes([1]).keep_dims(false);
    let prepared = device.prepare(reduce.clone(), &view).unwrap();
    let result = program.result(1024);
    let mut encoder = program.encoder();
    let mut record = |texture: &wgpu::Texture| {
        let recorded = prepared.record(&mut encoder).input(texture).output(&result).finish();
        recorded.map_err(|error| error.to_string())
    };
    record(&from).unwrap();
    let refused = |result: Result<(), String>, reason: &str| {
        let error = result.unwrap_err();
        assert!(error.contains("input 0") && error.contains(reason), "{error}");
    };
    let narrow = texture(&program, format, [60, 20, 1], 1);
    refused(record(&narrow), "is not 20 rows of 60 elements, 64 apart");
    refused(record(&texture(&program, format, [70, 19, 1], 1)), "19 rows");
    refused(record(&texture(&program, TextureFormat::R32Uint, [70, 20, 1], 1)), "u32, not f32");
    let odd = TextureFormat::Rgb9e5Ufloat;
    assert!(matches!(texture_view(odd, from.size()), Err(Error::TextureFormat { .. })));
    let depth = program.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: from.size(),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TextureFormat::Depth32Float,
        usage: TextureUsages::COPY_SRC | TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    match record(&depth) {
        // GL cannot copy depth to a buffer.
        Err(error) if device.info().backend == DeviceBackend::Gl => {
            assert!(error.contains("at a texture"), "{error}")
        }
        recorded => recorded.unwrap(),
    }
    let part = TextureRange {
        size: wgpu::Extent3d { width: 69, ..from.size() },
        ..TextureRange::from(&depth)
    };
    let error = prepared.record(&mut encoder).input(part).output(&result).finish();
    assert!(error.unwrap_err().to_string().contains("whole layers"));
    // A result that ends within a word would change the elements after it.
    let bytes = TensorDesc::new(ElementType::U8, [1, 5]).unwrap();
    let copy = device.prepare(ReduceMax::new().axes([0]).keep_dims(false), &bytes).unwrap();
    let source = program.upload(&Tensor::from_slice([1, 5], &[1u8, 2, 3, 4, 5]).unwrap(), 0);
    for (texels, rows, is_kept) in [(5, 1, true), (5, 2, true), (8, 1, false), (256, 2, false)] {
        let row = texture(&program, TextureFormat::R8Uint, [texels, rows, 1], 1);
        let recorded = copy.record(&mut encoder).input(&source).output(&row).finish();
        match is_kept {
            true => recorded.unwrap(),
            false => {
                let error = recorded.unwrap_err().to_string();
                assert!(error.contains("result 0") && error.contains("last word"), "{error}");
            }
        }
    }
    // The end of the part is beyond 32 bits.
    let part = TextureRange {
        origin: wgpu::Origin3d { x: u32::MAX, ..wgpu::Origin3d::ZERO },
        ..TextureRange::from(&from)
    };
    let error = prepared.record(&mut encoder).input(part).output(&result).finish();
    assert!(matches!(error, Err(Error::BadTexture { .. })), "{error:?}");

    // Whole texels are copied back, so two results may not share them.
    let both = texture(&program, TextureFormat::Rg32Sint, [8, 8, 1], 1);
    let view = texture_view(TextureFormat::Rg32Sint, both.size()).unwrap();
    let [values, indices] = [0..1, 1..2].map(|channel| view.slice(3, channel).unwrap());
    let input = TensorDesc::new(ElementType::I32, [1, 8, 8, 1]).unwrap();
    let found = Indices::new(ElementType::I32);
    let pool = MaxPool::new([1, 1]).layout(Layout::Nxc).indices(found);
    let pool = device.prepare_into(pool, &input, &[values, indices]).unwrap();
    let source = program.result(256);
    let error = pool.record(&mut encoder).input(&source).outputs([&both; 2]).finish();
    assert!(error.unwrap_err().to_string().contains("it shares texels with result 0"));

    // Textures are copied with padded rows, not contiguous ones.
    let plain = device.prepare(reduce, [view.desc()]).unwrap();
    let error = plain.record(&mut encoder).input(&from).output(&result).finish();
    assert!(matches!(error, Err(Error::BadTexture { .. })), "{error:?}");
}

/// Views of host tensors, as a whole and in pieces.
#[test]
fn host_views_run_anywhere() {
    let Some(gpu) = gpu() else { return };
    let memory = tensor(ElementType::F32, &[60, 14, 33], 2, &mut Random(8));
    let whole = View::from(memory.desc());
    let ids = Tensor::from_slice([14], &std::array::from_fn::<i64, 14, _>(|i| i as i64 / 4));
    let ids = ids.unwrap();
    for view in [
        whole.permute(&[1, 2, 0]).unwrap(),
        whole.permute(&[1, 0, 2]).unwrap().step_by(1, -2).unwrap(),
        whole.permute(&[1, 0, 2]).unwrap().slice(2, 3..30).unwrap(),
    ] {
        let input = TensorView::new(&memory, view).unwrap();
        let dense = input.to_tensor().unwrap();
        for (operator, more) in [
            (Operator::from(ReduceMax::new().axes([0, 2])), None),
            (MaxPool::new([3]).strides([2]).into(), None),
            (SegmentMax::sorted().into(), Some(&ids)),
        ] {
            let tensors: Vec<&Tensor> = [&dense].into_iter().chain(more).collect();
            let expected = oracle::run(&operator, &tensors).unwrap();
            let inputs: Vec<Input> =
                [Input::from(&input)].into_iter().chain(more.map(Input::from)).collect();
            for (device, piece) in [(&Device::cpu(), None), (&gpu, None), (&gpu, Some(9000))] {
                let options = RunOptions::new().max_piece(piece);
                let found = operator.run_with(device, &inputs, options).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    let report = compare(found, expected).unwrap();
                    let what = format!("{operator:?} of {input:?} on {}", describe(device));
                    assert!(report.is_equal(), "{what}: {report}");
                }
            }
        }
    }
}

#[test]
fn views_unlike_the_plans_are_refused() {
    let device = Device::cpu();
    let matrix = tensor(ElementType::F32, &[6, 8], 2, &mut Random(8));
    let matrix = device.upload(&matrix).unwrap();
    let rows = matrix.with_view(matrix.view().slice(0, 1..4).unwrap()).unwrap();
    let others = matrix.with_view(matrix.view().slice(0, 2..5).unwrap()).unwrap();
    let operator: Operator = ReduceMax::new().into();
    let plan = device.plan_views(&operator, &[rows.view()], &[]).unwrap();
    assert!(device.execute(&plan, [&rows]).is_ok());
    let error = device.execute(&plan, [&others]).unwrap_err();
    assert!(matches!(error, Error::WrongView { position: 0, .. }), "{error}");
    assert!(matrix.with_view(View::new(rows.desc().clone(), 30, [8, 1]).unwrap()).is_err());
    let other_type = TensorDesc::new(ElementType::I32, [2]).unwrap();
    assert!(matches!(matrix.with_view(other_type), Err(Error::WrongElementType { .. })));
    let scalar = View::from(TensorDesc::new(ElementType::F32, [2, 1]).unwrap());
    let error = device.plan_views(&operator, &[rows.view()], &[&scalar]).unwrap_err();
    assert!(matches!(error, Error::WrongResult { position: 0, .. }), "{error}");
    let rows = ReduceMax::new().axes([1]).keep_dims(false);
    let broadcast = View::new(TensorDesc::new(ElementType::F32, [6]).unwrap(), 0, [0]).unwrap();
    let error = device.plan_views(&rows, &[matrix.view()], &[&broadcast]).unwrap_err();
    assert!(matches!(error, Error::BadView { .. }), "{error}");
}
