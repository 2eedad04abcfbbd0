//! Compares shaders with CPU kernels after every launch, and the CPU with the oracle: for random shapes, types,
//! attributes, limits and tunings, and for fixed traps with both tunings for GPUs.

mod pool;
mod reduce;
mod segment;
mod sliding_window;

use crate::common::{Random, check_oracle, describe, gpu, rounds, seed, tensor};
use wgmax::operator::{Operator, ReduceMax};
use wgmax::plan::{Limits, Plan, Shader};
use wgmax::{Device, DeviceTensor, ElementType, Error, Run, Tensor, Tuning, compare};
use wgmax_verify::{Case, Kind};

/// The device's plan within other limits than its own.
fn plan_within(
    device: &Device,
    operator: &Operator,
    inputs: &[&Tensor],
    limits: &Limits,
) -> wgmax::Result<Plan> {
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    operator.plan(&descs, limits, device.tuning())
}

/// Plans within limits, compares the launches, and returns the plan.
#[track_caller]
fn check_within(
    device: &Device,
    operator: &Operator,
    inputs: &[&Tensor],
    limits: &Limits,
    what: &str,
) -> Plan {
    let plan = plan_within(device, operator, inputs, limits)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    compare_launches(device, operator, inputs, &plan, what);
    plan
}

/// Runs one plan on the device and on the CPU and compares all bytes that each launch wrote; and
/// the results with those of the CPU's own plan, which were compared with the oracle's.
#[track_caller]
fn compare_launches(
    device: &Device,
    operator: &Operator,
    inputs: &[&Tensor],
    plan: &Plan,
    what: &str,
) {
    let (cpu, what) = (Device::cpu(), format!("{what} on {}", describe(device)));
    let upload = |device: &Device| -> Vec<DeviceTensor> {
        inputs.iter().map(|input| device.upload(input).unwrap()).collect()
    };
    let (on_cpu, on_device) = (upload(&cpu), upload(device));
    let on_cpu: Vec<&DeviceTensor> = on_cpu.iter().collect();
    let on_device: Vec<&DeviceTensor> = on_device.iter().collect();
    let mut written: Vec<Vec<u8>> = Vec::new();
    cpu.execute_traced(plan, &on_cpu, |_, bytes| written.push(bytes.to_vec())).unwrap();
    let expected = match operator.checked(inputs) {
        Ok(_) => operator.run(&cpu, inputs).unwrap().into_vec(),
        // A run refuses indices that name no element, and a plan does not.
        Err(_) => {
            let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
            let own = cpu.plan(operator, &descs).unwrap();
            let results = cpu.execute(&own, &on_cpu).unwrap();
            results.iter().map(|result| result.download().unwrap()).collect()
        }
    };
    let found = cpu.execute(plan, &on_cpu).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        let report = compare(&found.download().unwrap(), expected).unwrap();
        assert!(report.is_equal(), "{what}: by this plan on the CPU {report}\n{plan:#?}");
    }
    let mut count = 0;
    device
        .execute_traced(plan, &on_device, |launch, bytes| {
            let cpu = &written[count];
            count += 1;
            assert_eq!(bytes.len(), cpu.len(), "{what}: launch {launch}");
            if let Some(at) = (0..cpu.len()).find(|&at| cpu[at] != bytes[at]) {
                let end = (at + 8).min(cpu.len());
                let label = plan.launches()[launch].shader().label();
                let (shader, cpu) = (&bytes[at..end], &cpu[at..end]);
                panic!(
                    "{what}: launch {launch} ({label}) differs at byte {at}: \
                     CPU kernel {cpu:02x?}, shader {shader:02x?}\n{plan:#?}"
                );
            }
        })
        .unwrap();
    assert_eq!(count, written.len(), "{what}: both write as often");
}

/// The name of a shader in the tables of traps: its kernel, and the flags that are set.
fn variant(shader: &Shader) -> String {
    let label = shader.label();
    let words = label.split(' ').skip(1);
    words.filter(|&word| word != shader.element.to_string()).collect::<Vec<_>>().join(" ")
}

/// The shaders of a plan, each once, as tables of traps call them.
fn variants(plan: &Plan) -> Vec<String> {
    let mut all: Vec<String> = plan.shaders().map(variant).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// One random case: oracle, CPU and, if there is one, a GPU; and each launch of a plan within
/// limits that reach every branch of the planner on small tensors.
fn check_case(device: Option<&Device>, case: &Case, what: &str) {
    let what = format!("{what}: {case}");
    let cpu = Device::cpu();
    let inputs = case.inputs();
    let Some(device) = device else {
        return check_oracle(&[&cpu], &case.operator, &inputs, &what);
    };
    // With the tuning's own numbers, and with the case's overrides.
    let named = case.overrides.tuning.and_then(Tuning::named);
    let own = device.with_tuning(named.unwrap_or_else(|| device.tuning().clone()));
    check_oracle(&[&cpu, &own], &case.operator, &inputs, &what);
    let narrowed = device.with_tuning(case.overrides.tuning(device.tuning()));
    let limits = case.overrides.limits(&device.info().limits);
    let operator = match &case.operator {
        // A plan drops updates whose indices name no element.
        scatter @ (Operator::ScatterMax(_) | Operator::ScatterMaxBackward(_)) => scatter.clone(),
        other => other.checked(&inputs).unwrap(),
    };
    match plan_within(&narrowed, &operator, &inputs, &limits) {
        Ok(plan) => compare_launches(&narrowed, &operator, &inputs, &plan, &what),
        Err(error) => assert!(matches!(error, Error::OverLimit { .. }), "{what}: {error}"),
    }
}

/// Checks random cases of a kind, of any type.
fn check_random(device: Option<&Device>, rounds: u64, kind: Kind, budget: u64) {
    let seed = seed();
    let mut random = Random(seed);
    for round in 0..rounds {
        let t = random.pick(&ElementType::ALL);
        let case = Case::random(kind, t, budget, &mut random).unwrap();
        check_case(device, &case, &format!("WGMAX_SEED={seed}, round {round}"));
    }
}

/// Tensors of another device are refused, not misread.
#[test]
fn a_tensor_of_another_device_is_refused() {
    let Some(device) = gpu() else { return };
    let input = tensor(ElementType::U8, &[4], 0, &mut Random(3));
    let elsewhere = Device::cpu().upload(&input).unwrap();
    let error = device.run(ReduceMax::new(), [&elsewhere]).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}
