//! A plan holds for its inputs' types and shapes, and for the limits of a device.

use crate::common::program::program;
use crate::common::{
    Random, both_tunings, describe, gpu, ids_tensor, limited, rounds, seed, tensor,
};
use wgmax::operator::{EmptySet, Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::plan::{Limits, Plan};
use wgmax::{
    BufferRange, Device, DeviceTensor, ElementType, Error, Extremum, Nan, Run, Tensor, TensorDesc,
    Tuning, View, compare, wgpu,
};
use wgmax_verify::Case;

/// Operators of every kind, with inputs.
fn operators() -> Vec<(Operator, Vec<Tensor>)> {
    let random = &mut Random(17);
    let mut make = |shape: &[usize]| tensor(ElementType::F32, shape, 1, random);
    let ids = ids_tensor(ElementType::I32, &(0..30).map(|row| row / 4).collect::<Vec<_>>());
    let offsets = ids_tensor(ElementType::I32, &[0, 3, 9, 9, 30]);
    let indices = Indices::default();
    vec![
        (ReduceMax::new().axes([1]).into(), vec![make(&[40, 70])]),
        (ReduceMax::new().axes([0]).into(), vec![make(&[70, 40])]),
        (MaxPool::new([3, 3]).into(), vec![make(&[1, 2, 12, 10])]),
        (MaxPool::new([3, 3]).indices(indices).into(), vec![make(&[1, 2, 12, 10])]),
        (MaxPool::new([31, 1]).strides([2, 1]).into(), vec![make(&[1, 1, 80, 4])]),
        (SegmentMax::sorted().num_segments(9).into(), vec![make(&[30, 4]), ids.clone()]),
        (
            SegmentMax::sorted().num_segments(9).indices(ElementType::I64).status(true).into(),
            vec![make(&[30, 3]), ids.clone()],
        ),
        (SegmentMax::unsorted().num_segments(9).into(), vec![make(&[30]), ids]),
        (SegmentMax::offsets().into(), vec![make(&[30, 2]), offsets]),
    ]
}

fn upload(device: &Device, tensors: &[Tensor]) -> Vec<DeviceTensor> {
    tensors.iter().map(|tensor| device.upload(tensor).unwrap()).collect()
}

fn descs(tensors: &[Tensor]) -> Vec<&TensorDesc> {
    tensors.iter().map(Tensor::desc).collect()
}

/// A tensor of zeros.
fn zeros(t: ElementType, shape: &[usize]) -> Tensor {
    let desc = TensorDesc::new(t, shape).unwrap();
    Tensor::from_bytes(t, shape, &vec![0; desc.byte_len()]).unwrap()
}

/// Tensors that resemble `like`: of another type of the same size, of another shape of the same
/// length, smaller and larger ones.
fn others(like: &TensorDesc) -> Vec<Tensor> {
    let shape = like.shape();
    let t = match like.element_type() {
        ElementType::F32 => ElementType::U32,
        _ => ElementType::F32,
    };
    let with_first = |first: usize| [&[first], &shape[1..]].concat();
    vec![
        zeros(t, shape),
        zeros(like.element_type(), &[shape, &[1]].concat()),
        zeros(like.element_type(), &[1, like.len()]),
        zeros(ElementType::U16, &[shape, &[2]].concat()),
        zeros(like.element_type(), &with_first(shape[0] - 1)),
        zeros(like.element_type(), &with_first(shape[0] + 1)),
        zeros(like.element_type(), &with_first(0)),
        zeros(like.element_type(), &[]),
    ]
}

/// All ways to run a plan return an error.
#[track_caller]
fn refused(device: &Device, plan: &Plan, inputs: &[&DeviceTensor], is: fn(&Error) -> bool) {
    let traced = device.execute_traced(plan, inputs, |_, _| panic!("a launch ran"));
    let errors = [
        device.execute(plan, inputs).unwrap_err(),
        pollster::block_on(device.execute_async(plan, inputs)).unwrap_err(),
        traced.unwrap_err(),
    ];
    for error in errors {
        assert!(is(&error), "{error} on {}", device.info());
    }
}

#[test]
fn a_plan_takes_only_inputs_like_those_it_was_made_for() {
    for device in gpu().into_iter().chain([Device::cpu()]) {
        for (operator, inputs) in operators() {
            let plan = device.plan(&operator, descs(&inputs)).unwrap();
            assert_eq!(plan.inputs().iter().collect::<Vec<_>>(), descs(&inputs));
            let there = upload(&device, &inputs);
            let there: Vec<&DeviceTensor> = there.iter().collect();
            device.execute(&plan, &there).unwrap();

            let wrong_count = |error: &Error| matches!(error, Error::InputCount { .. });
            refused(&device, &plan, &there[1..], wrong_count);
            refused(&device, &plan, &[&there[..], &there[..1]].concat(), wrong_count);
            for at in 0..inputs.len() {
                for other in others(inputs[at].desc()) {
                    let other = device.upload(&other).unwrap();
                    let mut given = there.clone();
                    given[at] = &other;
                    let wrong = |error: &Error| matches!(error, Error::WrongInput { .. });
                    refused(&device, &plan, &given, wrong);
                }
            }
        }
    }
}

#[test]
fn the_error_of_a_wrong_input_says_which_and_what() {
    let device = Device::cpu();
    let (operator, inputs) = operators().swap_remove(5);
    let plan = device.plan(&operator, descs(&inputs)).unwrap();
    let data = device.upload(&inputs[0]).unwrap();
    let ids = device.upload(&zeros(ElementType::I64, &[15])).unwrap();
    let error = device.execute(&plan, [&data, &ids]).unwrap_err();
    assert_eq!(error.to_string(), "input 1 of the plan is i32[30]; given: i64[15]");
}

/// Chains plan for the tensors that they get. Recordings get buffers, of which they know only the
/// length.
#[test]
fn chains_and_recordings_refuse_what_they_can_tell() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    for (operator, inputs) in operators() {
        let there = upload(&device, &inputs);
        let there: Vec<&DeviceTensor> = there.iter().collect();
        let mut chain = device.chain();
        let more = [&there[..], &there[..1]].concat();
        for given in [&there[1..], &more] {
            assert!(matches!(chain.run(&operator, given), Err(Error::InputCount { .. })));
        }

        let prepared = device.prepare(&operator, descs(&inputs)).unwrap();
        assert_eq!(prepared.inputs().iter().collect::<Vec<_>>(), descs(&inputs));
        let from: Vec<_> = inputs.iter().map(|input| program.upload(input, 0)).collect();
        let to: Vec<_> =
            prepared.outputs().iter().map(|d| program.result(d.byte_len() as u64 + 4)).collect();
        let short = program.upload(&zeros(ElementType::F32, &[4]), 0);
        let to: Vec<BufferRange<'_>> = to.iter().map(BufferRange::from).collect();
        let all: Vec<BufferRange<'_>> = from.iter().map(BufferRange::from).collect();
        let mut encoder = program.encoder();
        let mut record = |from: &[BufferRange<'_>]| {
            prepared.record(&mut encoder).inputs(from).outputs(&to).finish()
        };
        assert!(matches!(record(&all[1..]), Err(Error::InputCount { .. })));
        let more = [&all[..], &all[..1]].concat();
        assert!(matches!(record(&more), Err(Error::InputCount { .. })));
        for at in 0..all.len() {
            let mut given = all.clone();
            given[at] = (&short).into();
            assert!(matches!(record(&given), Err(Error::BufferTooSmall { .. })));
        }
        record(&all).unwrap();
    }
}

/// SegmentMax with every option, of every type.
fn segments() -> Vec<(Operator, Vec<Tensor>)> {
    let random = &mut Random(23);
    let mut cases: Vec<(Operator, Vec<Tensor>)> = Vec::new();
    let rows = 70;
    let ascending: Vec<i64> = (0..rows).map(|row| row / 9 + row / 40).collect();
    let mixed: Vec<i64> = (0..rows).map(|row| row * 7 % 12 - 1).collect();
    let offsets = [0, 0, 9, 9, 41, 66];
    for t in ElementType::ALL {
        for (form, ids) in [
            (SegmentMax::sorted().num_segments(12), &ascending[..]),
            (SegmentMax::unsorted().num_segments(12), &mixed),
            (SegmentMax::offsets(), &offsets),
        ] {
            for indices in [None, Some(ElementType::I32), Some(ElementType::I64)] {
                for status in [false, true] {
                    let number = cases.len();
                    let operator = (form.clone().indices(indices.map(Indices::new)).status(status))
                        .nan([Nan::Propagate, Nan::Ignore][number / 2 % 2])
                        .extremum([Extremum::Maximum, Extremum::Minimum][number / 4 % 2])
                        .empty_segment(
                            [EmptySet::Zero, EmptySet::Finite, EmptySet::Identity][number % 5 % 3],
                        );
                    let id_type = [ElementType::I32, ElementType::I64][number / 3 % 2];
                    let inner = [1, 3, 16][number % 7 % 3];
                    let data = tensor(t, &[rows as usize, inner], number % 3, random);
                    cases.push((operator.into(), vec![data, ids_tensor(id_type, ids)]));
                }
            }
        }
    }
    cases
}

/// Asserts that a device's own plan binds at most four storage buffers a launch, and gives the results
/// of the CPU's plan.
fn agrees_with_four(device: &Device, operator: &Operator, inputs: &[&Tensor], what: &str) {
    let what = format!("{what} on {}", describe(device));
    let limits = &device.info().limits;
    assert_eq!(limits.max_storage_buffers, 4);
    // Results of wrong ids are unspecified.
    let Ok(operator) = operator.checked(inputs) else { return };
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    let plan = device.plan(&operator, &descs).unwrap_or_else(|error| panic!("{what}: {error}"));
    plan.check(limits).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
    let there: Vec<_> = inputs.iter().map(|input| device.upload(input).unwrap()).collect();
    let found = device.execute(&plan, there.iter().collect::<Vec<_>>());
    let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected = operator.run(&Device::cpu(), inputs).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        let report = compare(&found.download().unwrap(), expected).unwrap();
        assert!(report.is_equal(), "{what}: {report}");
    }
}

/// Bindings are padded to 16 bytes. A limit on them that is no multiple of 16 is not exceeded by that.
#[test]
fn a_padded_binding_is_within_an_odd_limit() {
    let Some(program) =
        program(|limits| wgpu::Limits { max_storage_buffer_binding_size: (1 << 16) - 4, ..limits })
    else {
        return;
    };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let rows = tensor(ElementType::F32, &[4, 4096], 2, &mut Random(3));
    let view = View::from(rows.desc()).slice(1, 0..4095).unwrap().step_by(0, 3).unwrap();
    let operator = Operator::from(ReduceMax::new().axes([1]));
    let copy = wgmax::TensorView::new(&rows, &view).unwrap().to_tensor().unwrap();
    let expected = operator.run(&Device::cpu(), [&copy]).unwrap();
    for device in both_tunings(&device) {
        let input = device.upload(&rows).unwrap().with_view(&view).unwrap();
        let found = device.run(&operator, [&input]).unwrap()[0].download().unwrap();
        assert_eq!(found.bytes(), expected[0].bytes());
    }
}

/// Every operator with every option, on a device with the limits of the smallest implementations.
#[test]
fn four_storage_buffers_are_enough_on_a_device() {
    let Some(program) = program(|_| wgpu::Limits::downlevel_defaults()) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let seed = seed();
    for device in both_tunings(&device) {
        for (i, (operator, inputs)) in segments().into_iter().enumerate() {
            let inputs: Vec<&Tensor> = inputs.iter().collect();
            agrees_with_four(&device, &operator, &inputs, &format!("{i}: {operator:?}"));
        }
        for index in 0..rounds(117) {
            let case = Case::nth(seed, index).unwrap();
            let what = format!("WGMAX_SEED={seed}, case {index}: {case}");
            agrees_with_four(&device, &case.operator, &case.inputs(), &what);
        }
    }
}

/// The same for many more plans, which the CPU runs and compares with its own.
#[test]
fn four_storage_buffers_are_enough_within_other_limits() {
    let (seed, cpu) = (seed(), Device::cpu());
    let mut planned = 0;
    for index in 0..780 {
        let case = Case::nth(seed, index).unwrap();
        let inputs = case.inputs();
        // Results of wrong ids are unspecified.
        let Ok(operator) = case.operator.checked(&inputs) else { continue };
        let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
        let there: Vec<_> = inputs.iter().map(|input| cpu.upload(input).unwrap()).collect();
        let expected = operator.run(&cpu, &inputs).unwrap();
        for own in [Tuning::hardware(), Tuning::software(), Tuning::cpu(2)] {
            let what = format!("WGMAX_SEED={seed}, case {index}: {case}, {}", own.name());
            let own_limits = limited(Limits::cpu(), |limits| limits.max_storage_buffers = 4);
            let limits = case.overrides.limits(&own_limits);
            let plan = match operator.plan(&descs, &limits, &case.overrides.tuning(&own)) {
                // The case lowers other limits, too.
                Err(Error::OverLimit { limit, needed, allowed, .. })
                    if !limit.contains("storage_buffers_per") =>
                {
                    assert!(needed > allowed, "{what}: {needed} are not more than {allowed}");
                    continue;
                }
                plan => plan.unwrap_or_else(|error| panic!("{what}: {error}")),
            };
            planned += 1;
            plan.check(&limits).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
            if plan.launches().len() > 200 {
                continue;
            }
            let found = cpu.execute(&plan, there.iter().collect::<Vec<_>>()).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                let report = compare(&found.download().unwrap(), expected).unwrap();
                assert!(report.is_equal(), "{what}: {report}");
            }
        }
    }
    assert!(planned > 1500, "{planned}");
}

/// Every limit is set to 0 and to 1: planning returns an error that names the limit, or a correct
/// plan within it.
#[test]
fn no_limit_is_too_small_for_an_error() {
    type Set = fn(&mut Limits, u32);
    let fields: [(&str, Set); 7] = [
        ("workgroup_size", |limits, n| limits.workgroup_size = n),
        ("workgroups_per_dimension", |limits, n| limits.max_workgroups_per_dimension = n),
        ("binding_size", |limits, n| limits.max_binding_size = n.into()),
        ("buffer_size", |limits, n| limits.max_buffer_size = n.into()),
        ("alignment", |limits, n| limits.alignment = n.into()),
        ("storage_buffers", |limits, n| limits.max_storage_buffers = n),
        ("iterations", |limits, n| limits.max_iterations = n),
    ];
    let cpu = Device::cpu();
    let own = limited(Limits::cpu(), |limits| limits.max_iterations = 32_768);
    let mut cases: Vec<(String, Limits, Option<&str>)> = Vec::new();
    for (name, set) in fields {
        for value in [0, 1] {
            let mut limits = own.clone();
            set(&mut limits, value);
            // A plan creates no buffer, and one workgroup may be enough.
            let may_do = name == "buffer_size" || (name, value) == ("workgroups_per_dimension", 1);
            cases.push((format!("{name} {value}"), limits, (!may_do).then_some(name)));
        }
    }
    for workgroup_size in [4, 7, 24] {
        let limits = limited(own.clone(), |limits| limits.workgroup_size = workgroup_size);
        cases.push((format!("workgroups of {workgroup_size}"), limits, Some("workgroup_size")));
    }
    for alignment in [24, 1 << 31, u64::MAX - 15, u64::MAX] {
        let limits = limited(own.clone(), |limits| limits.alignment = alignment);
        cases.push((format!("alignment {alignment}"), limits, Some("alignment")));
    }
    let far = limited(own.clone(), |limits| limits.alignment = 1 << 30);
    cases.push(("a far alignment".to_string(), far, None));
    cases.push(("own limits".to_string(), own, None));
    for (operator, inputs) in operators() {
        let there = upload(&cpu, &inputs);
        let expected = operator.run(&cpu, inputs.iter().collect::<Vec<_>>()).unwrap();
        for tuning in [Tuning::hardware(), Tuning::software(), Tuning::cpu(2)] {
            for parallelism in [0, 1, 4096] {
                for taps in [0, 1, 8] {
                    let tuning =
                        tuning.clone().with_target_parallelism(parallelism).with_max_taps(taps);
                    for (name, limits, refuses) in &cases {
                        let what = format!("{operator:?}, {name}, {parallelism}, {taps}");
                        let plan = match operator.plan(descs(&inputs), limits, &tuning) {
                            Ok(plan) => plan,
                            Err(Error::OverLimit { needed, allowed, .. }) if needed <= allowed => {
                                panic!("{what}: {needed} are not more than {allowed}")
                            }
                            Err(Error::OverLimit { limit, .. } | Error::BadLimit { limit, .. }) => {
                                let named = refuses.is_none_or(|name| limit.contains(name));
                                assert!(named && name != "own limits", "{what}: {limit}");
                                continue;
                            }
                            Err(Error::NoComputeShaders) => {
                                assert_eq!(*refuses, Some("workgroup_size"), "{what}");
                                continue;
                            }
                            Err(other) => panic!("{what}: {other}"),
                        };
                        assert!(refuses.is_none(), "{what}: it was planned");
                        plan.check(limits).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
                        let found = cpu.execute(&plan, there.iter().collect::<Vec<_>>()).unwrap();
                        for (found, expected) in found.iter().zip(&expected) {
                            let found = found.download().unwrap();
                            assert!(compare(&found, expected).unwrap().is_equal(), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// Kernels subtract the start of a window from the end of the axis. No plan has a window that begins too far
/// before the end; a run computes the tensor in pieces instead.
#[test]
fn windows_that_begin_2_31_places_before_the_end_are_right() {
    let values: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let data = Tensor::from_slice([1, 1, 1000], &values).unwrap();
    let pool = MaxPool::new([1 << 20]).dilations([1 << 10]).strides([(1 << 30) + 1999]);
    let largest = (1 << 31) - 1000;
    // Only the last tap of the second window is an element.
    for (pad, last) in [(largest, 952.0), (largest + 1, 951.0), ((1 << 31) - 1, 977.0)] {
        let pool = pool.clone().pads([pad], [2000]);
        let plan = pool.plan(data.desc(), &Limits::cpu(), &Tuning::hardware());
        assert_eq!(plan.is_ok(), pad == largest, "{pad}");
        for device in gpu().into_iter().chain([Device::cpu()]) {
            let found = pool.run(&device, &data).unwrap();
            assert_eq!(found[0].as_slice::<f32>().unwrap(), [f32::NEG_INFINITY, last], "{pad}");
        }
    }
}

/// The error gives the bytes that a window needs and those of a binding.
#[test]
fn a_window_larger_than_a_binding_is_told_in_bytes() {
    let input = TensorDesc::new(ElementType::F32, [1, 1, 64, 5000]).unwrap();
    let limits = limited(Limits::cpu(), |limits| limits.max_binding_size = 4096);
    let error = MaxPool::new([3, 2]).plan(&input, &limits, &Tuning::hardware()).unwrap_err();
    let Error::OverLimit { needed, allowed: 4096, .. } = error else { panic!("{error}") };
    // Three lines, and the padding of an alignment.
    assert_eq!(needed, 3 * 5000 * 4 + 16);
}

/// A device without compute shaders, and devices with fewer than four storage buffers.
#[test]
fn a_device_without_storage_buffers_is_refused_by_the_limit() {
    let webgl = Limits::from_wgpu(&wgpu::Limits::downlevel_webgl2_defaults());
    let few = |max_storage_buffers| {
        let limits = wgpu::Limits::downlevel_defaults();
        limited(Limits::from_wgpu(&limits), |limits| {
            limits.max_storage_buffers = max_storage_buffers
        })
    };
    for (operator, inputs) in operators() {
        let plan = |limits: &Limits| operator.plan(descs(&inputs), limits, &Tuning::hardware());
        assert!(matches!(plan(&webgl), Err(Error::NoComputeShaders)));
        for allowed in 0..4 {
            match plan(&few(allowed)) {
                Ok(plan) => plan.check(&few(allowed)).unwrap(),
                Err(Error::OverLimit { limit, needed, allowed: given, .. }) => {
                    assert_eq!(limit, "max_storage_buffers_per_shader_stage");
                    assert!(given == u64::from(allowed) && given < needed && needed <= 4);
                }
                Err(other) => panic!("{operator:?}: {other}"),
            }
        }
        plan(&few(4)).unwrap();
    }
}

/// Fill, chunks, and the carry list: if carry lists are short, any number of rows takes three
/// launches.
#[test]
fn ascending_segments_take_three_launches() {
    let limits = limited(Limits::from_wgpu(&wgpu::Limits::default()), |limits| {
        limits.max_binding_size = 1 << 31;
        limits.max_buffer_size = 1 << 31;
    });
    let op: Operator = SegmentMax::sorted().num_segments(1000).into();
    for (rows, inner) in
        [(1 << 20, 1), (64 << 20, 1), (10_000_000, 3), (1 << 20, 64), (100_000, 512)]
    {
        for id in [ElementType::I32, ElementType::I64] {
            let data = TensorDesc::new(ElementType::F32, [rows, inner]).unwrap();
            let ids = TensorDesc::new(id, [rows]).unwrap();
            let plan = op.plan([&data, &ids], &limits, &Tuning::hardware()).unwrap();
            assert_eq!(plan.launches().len(), 3, "{rows} rows of {inner}");
        }
    }
}
