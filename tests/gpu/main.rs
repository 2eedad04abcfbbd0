//! Shader = twin after every launch, twin = oracle, over random shapes, types, attributes and limits.

#[path = "../common/mod.rs"]
mod common;
mod pool;
mod reduce;
mod segment;
mod walk;

use common::{Random, check_oracle, gpu, rounds, seed, tensor};
use wgmax::operator::{Operator, ReduceMax};
use wgmax::plan::Limits;
use wgmax::sweep::Case;
use wgmax::{Device, DeviceTensor, ElementType, Error, Tensor};

/// Runs one plan on both devices and compares all bytes that each launch wrote.
fn compare_launches(
    device: &Device,
    operator: &Operator,
    input: &Tensor,
    limits: &Limits,
    what: &str,
) {
    compare_all_launches(device, operator, &[input], limits, what);
}

/// The same for an operator of several inputs.
fn compare_all_launches(
    device: &Device,
    operator: &Operator,
    inputs: &[&Tensor],
    limits: &Limits,
    what: &str,
) {
    let cpu = Device::cpu();
    let plan = operator.plan(&inputs.iter().map(|t| t.desc()).collect::<Vec<_>>(), limits).unwrap();
    let on = |device: &Device| -> Vec<DeviceTensor> {
        inputs.iter().map(|input| device.upload(input).unwrap()).collect()
    };
    let mut twins: Vec<Vec<u8>> = Vec::new();
    cpu.execute_traced(&plan, &on(&cpu).iter().collect::<Vec<_>>(), |_, bytes| {
        twins.push(bytes.to_vec())
    })
    .unwrap();
    // What the oracle has seen under the device's own limits must come out under these.
    let expected = operator.run(&cpu, inputs).unwrap();
    let found = cpu.execute(&plan, &on(&cpu).iter().collect::<Vec<_>>()).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        let report = wgmax::compare(&found.download().unwrap(), expected).unwrap();
        assert!(report.is_equal(), "{what}: under these limits {report}\n{plan:#?}");
    }
    let mut launches = 0;
    device
        .execute_traced(&plan, &on(device).iter().collect::<Vec<_>>(), |i, bytes| {
            let twin = &twins[launches];
            launches += 1;
            let common = twin.len().min(bytes.len());
            let shader = plan.shaders().nth(i).unwrap();
            if let Some(at) = (0..common).find(|&at| twin[at] != bytes[at]) {
                panic!(
                    "{what}: launch {i} of {} ({}) differs at byte {at}: twin {:02x?}, shader {:02x?}\n{plan:#?}",
                    twins.len(),
                    shader.label(),
                    &twin[at..(at + 8).min(common)],
                    &bytes[at..(at + 8).min(common)],
                );
            }
            // Padding is zero on both sides.
            assert!(bytes[common..].iter().chain(&twin[common..]).all(|&b| b == 0), "{what}: padding");
        })
        .unwrap();
    assert_eq!(launches, twins.len(), "{what}: as many launches as twins");
}

/// One random case: oracle, CPU and, if there is one, a GPU; and each launch of a plan within limits
/// that reach every branch of the planner on small tensors.
fn check_case(device: Option<&Device>, case: &Case, what: &str) {
    let what = format!("{what}: {case}");
    let cpu = Device::cpu();
    let inputs = case.inputs();
    let devices: Vec<&Device> = [Some(&cpu), device].into_iter().flatten().collect();
    check_oracle(&devices, &case.operator, &inputs, &what);
    let Some(device) = device else { return };
    let operator = case.operator.checked(&inputs).unwrap();
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    let limits = case.narrow.within(&device.info().limits);
    match operator.plan(&descs, &limits) {
        Ok(_) => compare_all_launches(device, &operator, &inputs, &limits, &what),
        Err(error) => assert!(matches!(error, Error::OverLimit { .. }), "{what}: {error}"),
    }
}

/// So many random cases of a kind, of any type.
fn check_random(
    device: Option<&Device>,
    rounds: u64,
    case: impl Fn(&mut Random, ElementType) -> wgmax::Result<Case>,
) {
    let seed = seed();
    let mut random = Random(seed);
    for round in 0..rounds {
        let t = random.pick(&ElementType::ALL);
        let case = case(&mut random, t).unwrap();
        check_case(device, &case, &format!("WGMAX_SEED={seed}, round {round}"));
    }
}

/// Tensors of another device are refused, not misread.
#[test]
fn a_tensor_of_another_device_is_refused() {
    let Some(device) = gpu() else { return };
    let input = tensor(ElementType::U8, &[4], 0, &mut Random(3));
    let elsewhere = Device::cpu().upload(&input).unwrap();
    let error = device.run(&ReduceMax::new().into(), &[&elsewhere]).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}
