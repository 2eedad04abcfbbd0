//! Every golden case in `tests/cases`, on the CPU, and on the GPU with both tunings.

use std::path::Path;

use wgmax::io::case::{self, Expect};
use wgmax::{Device, Run, Tensor, compare_values};

fn run_all(device: &Device) {
    let on = crate::common::describe(device);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut computed, mut refused) = (0, 0);
    for folder in case::find(&[root]).unwrap() {
        for case in folder.load().unwrap() {
            let inputs: Vec<Option<&Tensor>> = case.inputs.iter().map(Option::as_ref).collect();
            let found = case.node.operator(&inputs, None).and_then(|operator| {
                let data = inputs[..operator.input_count()].iter().map(|input| input.unwrap());
                operator.run(device, data.collect::<Vec<&Tensor>>())
            });
            match (&case.expect, found) {
                (Expect::Error, Err(_)) => refused += 1,
                (Expect::Error, Ok(found)) => panic!("{} on {on}: gave {found:?}", case.id),
                (Expect::Outputs(expected), found) => {
                    let found = found.unwrap_or_else(|e| panic!("{} on {on}: {e}", case.id));
                    assert!(found.len() >= expected.len(), "{} on {on}: outputs", case.id);
                    for (found, expected) in found.iter().zip(expected) {
                        let comparison = compare_values(found, expected)
                            .unwrap_or_else(|e| panic!("{} on {on}: {e}", case.id));
                        assert!(comparison.is_equal(), "{} on {on}: {comparison}", case.id);
                    }
                    computed += 1;
                }
            }
        }
    }
    // Cases that are not found would pass unnoticed.
    assert_eq!((computed, refused), (1091, 156));
}

#[test]
fn golden_cases_pass_on_the_cpu() {
    run_all(&Device::cpu());
}

#[test]
fn golden_cases_pass_on_the_gpu() {
    if let Some(device) = crate::common::gpu() {
        crate::common::both_tunings(&device).iter().for_each(run_all);
    }
}
