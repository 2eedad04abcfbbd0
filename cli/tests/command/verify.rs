//! `wgmax verify`.

use std::fs;

use super::{adapter, folder, refused, stdout, succeeds, wgmax};

#[test]
fn the_cpu_agrees_with_the_oracle() {
    let (_folder, at) = folder();
    let (html, json) = (at("report.html"), at("report.json"));
    let arguments = ["verify", "--device", "cpu", "--seed", "7", "--cases", "78"];
    let shown = succeeds(&[&arguments[..], &["--html", &html, "--json", &json]].concat());
    assert!(shown.contains("CPU, against the oracle:"), "{shown}");
    assert!(shown.contains("78 cases of seed 7 in"), "{shown}");
    assert!(shown.contains("all equal, bit for bit."), "{shown}");
    // Two cases of each operator and type.
    assert!(shown.contains("│ bf16 ┆ 2         ┆ 2       ┆ 2          │"), "{shown}");
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    assert!(page.contains("--seed 7 --cases 78"), "{page}");
    let object: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&object["good"], &object["cases"]), (&true.into(), &78.into()));
    assert_eq!(object["devices"][0]["cells"].as_array().unwrap().len(), 39);
}

#[test]
fn cases_can_be_selected() {
    let shown = succeeds(&["verify", "--device", "cpu", "--seed", "7", "--case", "40"]);
    assert!(shown.contains("1 case of seed 7 in"), "{shown}");
    assert!(shown.starts_with("Case 40: MaxPool of f32["), "{shown}");
    let shown = succeeds(&[
        "verify",
        "--device",
        "cpu",
        "--cases",
        "9",
        "--op",
        "max-pool,segment-max",
        "--type",
        "f16",
    ]);
    assert!(shown.contains("f16  ┆ -         ┆ "), "{shown}");
    assert!(!shown.contains("f32"), "{shown}");
    assert!(shown.contains("9 cases of seed "), "{shown}");
}

#[test]
fn bad_arguments_are_refused_before_anything_runs() {
    let (_folder, at) = folder();
    refused(&["verify", "--device", "no such adapter"], "no such adapter");
    refused(&["verify", "--type", "f12"], "f12");
    refused(&["verify", "--op", "min"], "min");
    refused(&["verify", "--cases", "0"], "0");
    refused(&["verify", "--case", "1", "--cases", "2"], "--cases");
    let old = at("old.html");
    fs::write(&old, "precious").unwrap();
    refused(&["verify", "--device", "nothing", "--html", &old], "nothing");
    assert_eq!(fs::read(&old).unwrap(), b"precious");
    refused(&["verify", "--html", &at("no/such.html")], "no/such.html");
}

/// Memory that grows by more than the maximum, or is unknown, counts as a difference.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_reported_and_bounded() {
    let (_folder, at) = folder();
    let json = at("report.json");
    let output = wgmax(&[
        "verify",
        "--device",
        "cpu",
        "--cases",
        "39",
        "--max-growth",
        "4000",
        "--json",
        &json,
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("Resident memory: "), "{output:?}");
    let object: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let resident = object["memory"]["resident"].as_array().unwrap();
    assert_eq!(resident.len(), 39, "{object}");
    assert!(resident.iter().all(|sample| sample["bytes"].as_u64().unwrap() > 1 << 20));
    // One case has too few samples.
    let output = wgmax(&["verify", "--device", "cpu", "--case", "0", "--max-growth", "4000"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

/// A sweep that is ended by time has at least one case.
#[test]
fn a_sweep_may_end_by_time() {
    let shown = succeeds(&["verify", "--device", "cpu", "--seconds", "1"]);
    assert!(shown.contains("all equal, bit for bit.") && !shown.contains("\n0 cases"), "{shown}");
}

/// A plan is used for all cases, and is a part of the command line.
#[test]
fn a_plan_is_used_for_all_cases() {
    for plan in ["hardware", "software", "cpu"] {
        let arguments = ["verify", "--device", "cpu", "--seed", "7", "--plan", plan];
        let shown = succeeds(&[&arguments[..], &["--cases", "78"]].concat());
        assert!(shown.contains(&format!("against the oracle, with {plan} plans:")), "{shown}");
        assert!(shown.contains("all equal, bit for bit."), "{shown}");
        let shown = succeeds(&[&arguments[..], &["--case", "40"]].concat());
        assert!(shown.contains(&format!("tuning {plan}")), "{shown}");
    }
}

#[test]
fn every_adapter_agrees_with_the_cpu() {
    if adapter::gpu().is_some() {
        let shown = succeeds(&["verify", "--seed", "11", "--cases", "200"]);
        assert!(shown.contains(", against the CPU:"), "{shown}");
        let shown = succeeds(&["verify", "--device", "gpu", "--seed", "11", "--case", "5"]);
        assert!(shown.contains(", against the CPU:"), "{shown}");
    }
}

/// That there is no adapter is said only where none was found.
#[test]
fn the_cpu_alone_is_not_a_lack_of_adapters() {
    let shown = succeeds(&["verify", "--device", "cpu", "--cases", "1"]);
    assert_eq!(shown.contains("No GPU adapter was found"), wgmax::adapters().is_empty(), "{shown}");
}
