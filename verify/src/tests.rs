//! Injected faults are found, shrunk and reported.
use std::cell::Cell;
use std::future::ready;
use std::ops::ControlFlow;

use wgmax::operator::Operator;
use wgmax::plan::{Limits, Shader};
use wgmax::{Device, Error, Result, Tensor};

use crate::{Case, Choice, Compute, Kind, Report, Side, Subject, html, json, sweep};

fn report(subjects: Vec<Subject>, choice: Choice) -> Report {
    let sweep = sweep(&subjects, choice, |_, _| ControlFlow::Continue(()));
    let (command, system) = ("wgmax verify <&>".to_string(), "here".to_string());
    let refused = Vec::new();
    Report { subjects, refused, sweep, device: None, command, system, max_growth: None }
}

/// The CPU in place of an adapter, with changed results.
fn faulty(fault: impl Fn(&Case, Vec<Tensor>) -> Result<Vec<Tensor>> + 'static) -> Subject {
    let cpu = Device::cpu();
    let on = cpu.clone();
    let actual: Compute = Box::new(move |case, plan| {
        let results = case.execute(&on, plan).and_then(|results| fault(case, results));
        Box::pin(ready(results))
    });
    Subject {
        name: "a <faulty> one".into(),
        argument: Some("a <faulty> one".into()),
        against: "the CPU",
        actual,
        expected: Box::new(move |case| case.execute(&cpu, &case.own_plan(&cpu)?)),
        ..Subject::new(Device::cpu(), &Device::cpu())
    }
}

/// The tensor with its last element's bits flipped.
fn broken(tensor: &Tensor) -> Tensor {
    let mut bytes = tensor.bytes().to_vec();
    let at = bytes.len() - tensor.element_type().size();
    bytes[at] ^= 1;
    Tensor::from_bytes(tensor.element_type(), tensor.shape(), &bytes).unwrap()
}

/// Changes the last element if windows of 3 or more have strides.
fn strided_windows_are_wrong(case: &Case, mut results: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let Operator::MaxPool(op) = &case.operator else { return Ok(results) };
    let wide = op.kernel.iter().any(|&k| k > 2);
    let strided = op.strides.as_deref().is_some_and(|strides| strides.iter().any(|&s| s > 1));
    if wide && strided && !results[0].is_empty() {
        results[0] = broken(&results[0]);
    }
    Ok(results)
}

#[test]
fn a_fault_is_found_shrunk_and_shown() {
    let choice = || Choice { seed: 1, cases: Some(300), ..Choice::default() };
    let report = report(vec![faulty(strided_windows_are_wrong)], choice());
    assert!(!report.is_good());
    let score = &report.sweep.scores[0];
    assert!(score.mismatches() > 5 && score.failed() == 0, "{}", score.line());
    assert!(score.findings.len() > 2 && score.findings.len() <= 12);
    for finding in &score.findings {
        assert_eq!(Case::kind(finding.index).0, Kind::MaxPool);
        assert!(finding.again);
        assert_eq!(finding.oracle, Some(Side::Expected));
        let case = &finding.small.case;
        let Operator::MaxPool(op) = &case.operator else { panic!("{case}") };
        assert!(case.tensors[0].len() <= 3, "{case}");
        let product = |list: &[usize]| list.iter().product::<usize>();
        assert_eq!(product(&op.kernel), 3, "{case}");
        // A window of 3 over one element needs a stride of at least 3, even rounded up; over no element,
        // one of 4.
        let max_stride = [4, 3, 2][case.tensors[0].len().min(2)];
        assert!(
            matches!(op.strides.as_deref().map(product), Some(n) if (2..=max_stride).contains(&n)),
            "{case}"
        );
        assert!(op.indices.is_none() && case.overrides.is_none(), "{case}");
        assert!(case.tensors[0].bytes().iter().all(|&byte| byte == 0), "{case}");
    }
    // The page has all of them, and escapes their names.
    let page = html::page(&report);
    for finding in &score.findings {
        assert!(page.contains(&format!("--case {}", finding.index)), "{page}");
    }
    assert!(page.contains("a &lt;faulty&gt; one") && !page.contains("<faulty>"));
    assert!(page.contains("wgmax verify &lt;&amp;&gt;"));
    assert!(page.contains("class=\"wrong\"") && !page.contains("<script"));
    assert!(!page.contains("href") && !page.contains("src="), "it loads nothing");
    let object = json::object(&report);
    assert_eq!(object["good"], false);
    assert_eq!(object["devices"][0]["findings"].as_array().unwrap().len(), score.findings.len());

    // The command line of a finding reproduces it, and shrinks it to the same case.
    let first = &score.findings[0];
    let alone = Choice { seed: 1, case: Some(first.index), ..Choice::default() };
    let again = self::report(vec![faulty(strided_windows_are_wrong)], alone);
    assert_eq!(again.sweep.cases, 1);
    let found = &again.sweep.scores[0].findings[0];
    assert_eq!(found.small.case.to_string(), first.small.case.to_string());
    let command = report.again(&report.subjects[0], first);
    let expected =
        format!("wgmax verify --seed 1 --case {} --device \"a <faulty> one\"", first.index);
    assert_eq!(command, expected);
}

/// A chosen tuning replaces the tunings of cases, but not their other limits, and is reported.
#[test]
fn a_plan_is_used_and_reported() {
    let tuning = Some("software");
    let choice = Choice { seed: 1, cases: Some(150), tuning, ..Choice::default() };
    for index in 0..20 {
        let (own, chosen) = (Case::nth(1, index).unwrap(), choice.nth(index).unwrap());
        assert_eq!(chosen.overrides.tuning, Some("software"));
        assert_eq!(chosen.overrides.limits(&Limits::cpu()), own.overrides.limits(&Limits::cpu()));
        assert_eq!(chosen.overrides.target_parallelism, own.overrides.target_parallelism);
        assert_eq!(chosen.operator, own.operator);
    }
    let report = report(vec![faulty(strided_windows_are_wrong)], choice);
    let finding = &report.sweep.scores[0].findings[0];
    assert!(finding.found.case.to_string().contains("tuning software"), "{}", finding.found.case);
    let command = report.again(&report.subjects[0], finding);
    assert!(command.ends_with(" --tuning software"), "{command}");
    assert!(html::page(&report).contains(" --tuning software</pre>"));
    assert_eq!(json::object(&report)["tuning"], "software");
}

/// A case that only one side computes is a finding, which is shrunk and shown.
#[test]
fn a_case_that_one_side_refuses_is_a_finding() {
    let cpu = Device::cpu();
    let expected = move |case: &Case| match &case.operator {
        Operator::MaxPool(op) if op.kernel.iter().any(|&k| k > 2) => Err(Error::InputCount {
            operator: "MaxPool".into(),
            expected: "7 inputs".into(),
            actual: 1,
        }),
        _ => case.execute(&cpu, &case.own_plan(&cpu)?),
    };
    let subject =
        Subject { expected: Box::new(expected), ..faulty(|_: &Case, results| Ok(results)) };
    let choice = Choice { seed: 1, cases: Some(100), ..Choice::default() };
    let report = report(vec![subject], choice);
    let score = &report.sweep.scores[0];
    assert!(score.mismatches() > 5 && score.failed() == 0, "{}", score.line());
    let page = html::page(&report);
    let mut printed = Vec::new();
    for finding in &score.findings {
        let Operator::MaxPool(op) = &finding.small.case.operator else { panic!() };
        assert_eq!(op.kernel.iter().product::<usize>(), 3, "{}", finding.small.case);
        assert!(finding.pattern.is_none() && finding.again);
        printed.extend(finding.sentences(&report.subjects[0]));
    }
    let reason = "Only a <faulty> one has results. The CPU refuses the case: ";
    assert!(printed.iter().any(|line| line.starts_with(reason)), "{printed:?}");
    assert!(page.contains("The CPU refuses the case: "), "{page}");
    let object = json::object(&report);
    let refused = &object["devices"][0]["findings"][0]["smallest"]["refused"];
    assert!(refused.as_str().unwrap().contains('7'), "{refused}");
}

/// The pipelines that a default run makes on a device that keeps 384: by far the most of its time.
#[test]
fn cases_share_pipelines() {
    let device = Device::cpu().with_tuning(wgmax::Tuning::software());
    let choice = Choice { seed: 1, cases: Some(2000), ..Choice::default() };
    let indices: Vec<u64> = choice.indices().collect();
    assert!((0..300).all(|index| indices[index as usize] == index));
    let (mut kept, mut made) = (Vec::<Shader>::new(), 0);
    for index in &indices {
        for case in choice.fills(*index).unwrap().chunk_by(|a, b| a.overrides == b.overrides) {
            for shader in case[0].plan(&device).unwrap().shaders() {
                match kept.iter().position(|other| *other == *shader) {
                    Some(at) => drop(kept.remove(at)),
                    None => made += 1,
                }
                kept.push(*shader);
                kept.drain(..kept.len().saturating_sub(384));
            }
        }
    }
    let all: std::collections::BTreeSet<u64> = indices.into_iter().collect();
    assert!(all.into_iter().eq(0..2000));
    println!("{made} pipelines");
    assert!(made < 1475, "{made}");
}

/// A short run names the kernels that it did not reach, whatever operators its cases have.
#[test]
fn a_short_run_names_what_it_has_not_reached() {
    let short = |kinds: &[Kind], case| {
        let choice =
            Choice { seed: 1, cases: Some(1), case, kinds: kinds.into(), ..Choice::default() };
        report(vec![Subject::new(Device::cpu(), &Device::cpu())], choice).sweep.scores[0]
            .unreached()
    };
    let all = short(&[], None).unwrap();
    for kernel in ["reduce_columns_index", "pool_tile_gradient", "segment_scatter", "unpack"] {
        assert!(all.contains(kernel), "{all}");
    }
    let some = short(&[Kind::MaxPool], None).unwrap();
    assert!(some.contains("pool_tile_gradient") && some.contains("unpack"), "{some}");
    assert!(!some.contains("segment") && !some.contains("reduce"), "{some}");
    // A single case need not launch certain kernels.
    assert_eq!(short(&[], Some(0)), None);
}

/// Cases do not depend on which others are run.
#[test]
fn filters_leave_cases_as_they_are() {
    let types = vec![wgmax::ElementType::F16, wgmax::ElementType::U8];
    let choice = Choice {
        seed: 1,
        cases: Some(30),
        kinds: vec![Kind::MaxPool],
        types: types.clone(),
        ..Choice::default()
    };
    let some = report(vec![faulty(strided_windows_are_wrong)], choice);
    assert_eq!(some.sweep.cases, 30);
    assert!(
        some.sweep.scores[0]
            .cells
            .keys()
            .all(|(k, t)| { *k == Kind::MaxPool && types.contains(t) })
    );
    let all = Choice { seed: 1, cases: Some(39 * 15), ..Choice::default() };
    let all = report(vec![faulty(strided_windows_are_wrong)], all);
    for (key, cell) in &some.sweep.scores[0].cells {
        assert_eq!(all.sweep.scores[0].cells[key].first, cell.first, "{key:?}");
    }
}

/// In a cycle the same cases come again.
#[test]
fn a_cycle_repeats_cases() {
    let run = |cases, cycle| {
        let choice = Choice { seed: 1, cases: Some(cases), cycle, ..Choice::default() };
        report(vec![faulty(strided_windows_are_wrong)], choice)
    };
    let (once, thrice) = (run(120, None), run(360, Some(120)));
    assert_eq!(thrice.sweep.cases, 360);
    let cells = |report: &Report| report.sweep.scores[0].cells.clone();
    assert!(once.sweep.scores[0].mismatches() > 0);
    for (key, cell) in cells(&once) {
        let again = &cells(&thrice)[&key];
        assert_eq!((again.cases, again.mismatches), (3 * cell.cases, 3 * cell.mismatches));
        assert_eq!(again.first, cell.first);
    }
    assert_eq!(cells(&once).len(), cells(&thrice).len());
}

/// A mismatch that does not occur again is reported as such.
#[test]
fn a_mismatch_that_does_not_reproduce_is_reported_as_such() {
    let left = Cell::new(1);
    let once = faulty(move |_, mut results| {
        if !results[0].is_empty() && left.get() > 0 {
            left.set(0);
            results[0] = broken(&results[0]);
        }
        Ok(results)
    });
    let choice = Choice { seed: 3, cases: Some(50), ..Choice::default() };
    let report = report(vec![once], choice);
    assert_eq!(report.sweep.scores[0].mismatches(), 1);
    let finding = &report.sweep.scores[0].findings[0];
    assert!(!finding.again && !finding.small.results().is_empty());
    assert!(html::page(&report).contains("seen once"));
}

/// Errors count as failures, and a lost device gets no further cases.
#[test]
fn errors_count_and_a_lost_device_gets_no_more_cases() {
    let lost = |case: &Case, results| match case.operator {
        Operator::SegmentMax(_) => {
            Err(Error::DeviceLost { device: "it".into(), reason: "gone".into() })
        }
        _ => Ok(results),
    };
    let choice = Choice { seed: 3, cases: Some(50), ..Choice::default() };
    let report = report(vec![faulty(lost), Subject::new(Device::cpu(), &Device::cpu())], choice);
    assert!(!report.is_good());
    let score = &report.sweep.scores[0];
    assert_eq!((score.failed(), score.cases()), (1, 3));
    assert_eq!(score.given_up.as_ref().unwrap().0, 2);
    assert!(report.sweep.scores[1].is_good() && report.sweep.scores[1].cases() > 10);
    assert!(report.summary().contains("1 in error"), "{}", report.summary());
    assert!(html::page(&report).contains("it was lost: gone"));
}

/// Omits the last element of rows that end within a block.
fn rows_lose_their_last(shader: &Shader, text: String) -> String {
    match shader.label().contains("reduce_rows") {
        true => text.replace("min(BLOCK, end - first)", "min(BLOCK, end - first) - 1u"),
        false => text,
    }
}

/// A fault in the text of a shader, on a real adapter.
#[test]
fn a_fault_in_a_shader_is_found_and_the_shader_named() {
    let device = match Device::gpu() {
        Ok(device) => device,
        Err(error) if std::env::var("WGMAX_NO_GPU").is_ok_and(|v| v == "1") => {
            println!("no GPU, as WGMAX_NO_GPU asks: {error}");
            return;
        }
        Err(error) => panic!("{error} (set WGMAX_NO_GPU=1 to test without one)"),
    };
    let choice = || Choice { seed: 5, cases: Some(120), ..Choice::default() };
    let good = report(vec![Subject::new(device.clone(), &Device::cpu())], choice());
    assert!(good.is_good(), "{}", good.summary());

    let faulty = device.with_edited_shaders(rows_lose_their_last);
    let report = report(vec![Subject::new(faulty, &Device::cpu())], choice());
    let findings = &report.sweep.scores[0].findings;
    // Some plans have such rows only if bindings cut many elements.
    assert!(findings.iter().any(|finding| finding.small.case.tensors[0].len() <= 16));
    let page = html::page(&report);
    for finding in findings {
        let case = &finding.small.case;
        assert!(finding.again && finding.oracle == Some(Side::Expected), "{case}");
        assert!(case.tensors[0].len() <= 300, "{case}");
        let shader = finding.launch.as_ref().unwrap().shader.label();
        assert!(shader.contains("reduce_rows"), "{shader}: {case}");
        assert!(page.contains(shader.as_str()));
    }
    // Keeps the page for inspection.
    if let Ok(path) = std::env::var("WGMAX_KEEP_REPORT") {
        std::fs::write(path, page).unwrap();
    }
}

/// The CPU's results with the bits of f32 changed.
fn with_f32(change: fn(&Case, u32) -> u32) -> Subject {
    faulty(move |case, mut results| {
        if let Ok(values) = results[0].as_slice::<f32>() {
            let values: Vec<f32> =
                values.iter().map(|v| f32::from_bits(change(case, v.to_bits()))).collect();
            results[0] = Tensor::from_slice(results[0].shape(), &values)?;
        }
        Ok(results)
    })
}

/// Known faults of drivers are distinguished by their effect on results.
#[test]
fn known_faults_are_named() {
    let name = |change| {
        let types = vec![wgmax::ElementType::F32];
        let choice = Choice { seed: 2, cases: Some(200), types, ..Choice::default() };
        let report = report(vec![with_f32(change)], choice);
        let findings = &report.sweep.scores[0].findings;
        assert!(!findings.is_empty(), "{}", report.summary());
        let page = html::page(&report);
        let names: Vec<_> =
            findings.iter().map(|finding| finding.pattern.map(|p| p.name)).collect();
        for pattern in findings.iter().filter_map(|finding| finding.pattern) {
            assert!(page.contains(pattern.report), "{}", pattern.name);
        }
        for finding in findings {
            let case = &finding.small.case;
            let results = finding.small.results();
            assert_eq!(finding.pattern.map(|p| p.name), names[0], "{case}: {results:?}");
        }
        names[0]
    };
    assert_eq!(name(|_, bits| if bits == 0x7fc0_0000 { 1 } else { bits }), Some("NaN folded"));
    let flushed = |_: &Case, bits: u32| match bits & 0x7f80_0000 {
        0 => bits & 0x8000_0000,
        _ => bits,
    };
    assert_eq!(name(flushed), Some("subnormals flushed"));
    let long = |case: &Case, bits: u32| match case.tensors[0].len() {
        1500.. if bits >> 31 == 0 && bits > 9 => bits - 9,
        _ => bits,
    };
    assert_eq!(name(long), Some("loop left early"));
    // Not a known fault.
    let one_off = |_: &Case, bits: u32| match bits & 0x7f80_0000 {
        0 | 0x7f80_0000 => bits,
        _ => bits ^ 1,
    };
    assert_eq!(name(one_off), None);
}
