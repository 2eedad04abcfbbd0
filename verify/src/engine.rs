//! The loop over the cases: one after the other, on every subject.

use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::thread::Scope;
use std::time::Instant;

use wgmax::plan::Plan;
use wgmax::{Device, DeviceBackend, Result};

use crate::Case;
use crate::judge::with_one_plan;
use crate::subject::Subject;
use crate::sweep::{Choice, Sweep};

/// The number of cases that are drawn ahead.
const MAX_AHEAD: usize = 4;

/// Runs cases on subjects. `step` is called often with the number of cases that are done and of those
/// that differ, and may end the run.
pub fn sweep(
    subjects: &[Subject],
    choice: Choice,
    mut step: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> Sweep {
    let start = Instant::now();
    let mut sweep = Sweep::new(choice.clone(), subjects.len());
    // GL has one context, which threads would wait for.
    let devices = subjects.iter().map(|subject| subject.device.clone());
    let devices: Vec<Device> = devices
        .filter(|device| !device.is_cpu() && device.info().backend != DeviceBackend::Gl)
        .collect();
    std::thread::scope(|scope| {
        for (index, fills) in ahead(scope, &choice, &devices) {
            let late = choice.time.is_some_and(|time| start.elapsed() >= time);
            if late || sweep.scores.iter().all(|score| score.given_up.is_some()) {
                break;
            }
            let (cases, mismatches) = (sweep.cases, sweep.mismatches());
            let mut goes_on = || step(cases, mismatches).is_continue();
            sweep.is_cut_off = !goes_on();
            if sweep.is_cut_off {
                break;
            }
            for (subject, score) in subjects.iter().zip(&mut sweep.scores) {
                match &fills {
                    _ if score.given_up.is_some() => {}
                    Ok(fills) => {
                        let outcome = score.outcome(subject, index, fills, &mut goes_on);
                        // The score has the errors.
                        let _ = score.record(index, pollster::block_on(outcome));
                    }
                    Err(error) => score.fail(index, error),
                }
            }
            sweep.cases += 1;
            sweep.memory.sample(start.elapsed());
        }
    });
    sweep.elapsed = start.elapsed();
    sweep
}

/// Cases with their fills, which another thread draws a few cases ahead. It also compiles their
/// pipelines on the devices, which takes more time than running them. It ends when nobody takes a
/// case.
fn ahead<'scope>(
    scope: &'scope Scope<'scope, '_>,
    choice: &'scope Choice,
    devices: &'scope [Device],
) -> impl Iterator<Item = (u64, Result<Vec<Case>>)> {
    let (sender, receiver) = sync_channel(MAX_AHEAD);
    scope.spawn(move || {
        for index in choice.indices() {
            let fills = choice.fills(index);
            for case in fills.iter().flat_map(|fills| with_one_plan(fills)).map(|fills| &fills[0]) {
                for device in devices {
                    // An error here occurs again when the case runs, and is reported then.
                    let plan = case.plan(device);
                    for shader in plan.iter().flat_map(Plan::shaders) {
                        let _ = device.compile(shader);
                    }
                }
            }
            if sender.send((index, fills)).is_err() {
                break;
            }
        }
    });
    receiver.into_iter()
}
