//! `wgmax verify`.

use std::fs;

use serde_json::Value;

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
    let object: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&object["good"], &object["cases"]), (&true.into(), &78.into()));
    let device = &object["devices"][0];
    assert_eq!(device["cells"].as_array().unwrap().len(), 39);
    let fill = device["kernels"].as_array().unwrap().iter().find(|k| k["kernel"] == "fill");
    assert!(fill.unwrap()["cases"]["f32"].as_u64().unwrap() > 0, "{device}");
}

#[test]
fn cases_can_be_selected() {
    let shown = succeeds(&["verify", "--device", "cpu", "--seed", "7", "--case", "40"]);
    assert!(shown.contains("1 case of seed 7 in"), "{shown}");
    assert!(shown.starts_with("Case 40: M") && shown.contains("Pool of f32["), "{shown}");
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
    let object: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
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

/// A tuning is used for all cases, and is a part of the command line.
#[test]
fn a_tuning_is_used_for_all_cases() {
    for tuning in ["hardware", "software", "cpu"] {
        let arguments = ["verify", "--device", "cpu", "--seed", "7", "--tuning", tuning];
        let shown = succeeds(&[&arguments[..], &["--cases", "78"]].concat());
        assert!(
            shown.contains(&format!("against the oracle, with the tuning {tuning}:")),
            "{shown}"
        );
        assert!(shown.contains("all equal, bit for bit."), "{shown}");
        let shown = succeeds(&[&arguments[..], &["--case", "40"]].concat());
        assert!(shown.contains(&format!("tuning {tuning}")), "{shown}");
    }
}

#[test]
fn every_adapter_agrees_with_the_cpu() {
    if adapter::gpu().is_some() {
        for more in [&["--cases", "39"][..], &["--device", "gpu", "--case", "5"]] {
            let shown = succeeds(&[&["verify", "--seed", "11"], more].concat());
            // The line may be broken anywhere.
            let words: Vec<&str> = shown.split_whitespace().collect();
            assert!(words.join(" ").contains(", against the CPU:"), "{shown}");
        }
    }
}

/// The report says that there is no adapter only if none was found.
#[test]
fn the_cpu_alone_is_not_a_lack_of_adapters() {
    let shown = succeeds(&["verify", "--device", "cpu", "--cases", "1"]);
    assert_eq!(
        shown.contains("No GPU adapter was found"),
        wgmax::adapters().unwrap().is_empty(),
        "{shown}"
    );
}

#[test]
fn a_report_can_be_replayed() {
    let (_folder, at) = folder();
    let json = at("report.json");
    let arguments = ["verify", "--device", "cpu", "--seed", "9", "--op", "reduce-max,max-pool"];
    succeeds(&[&arguments[..], &["--type", "f16,i64", "--cases", "30", "--json", &json]].concat());
    let shown = succeeds(&["verify", "--replay", &json]);
    assert!(shown.contains("30 cases of seed 9 in"), "{shown}");
    assert!(shown.contains("All results are as in ") && !shown.contains("Other than"), "{shown}");

    let text = fs::read_to_string(&json).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    report["version"] = "0.0.1".into();
    report["devices"][0]["cells"][0]["mismatches"] = 1.into();
    fs::write(&json, report.to_string()).unwrap();
    let output = wgmax(&["verify", "--replay", &json]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = stdout(&output);
    assert!(shown.contains("version: \"0.0.1\", now \"0.1.0\""), "{shown}");
    assert!(shown.contains("NOT AS IN") && shown.contains("the cells of CPU"), "{shown}");

    fs::write(&json, "{\"a\": 1}").unwrap();
    let lacks = "not a JSON report of wgmax verify: it has no \"cases\"\n";
    refused(&["verify", "--replay", &json], lacks);
    let piped = super::streams::fed(&["verify", "--replay", "-"], text.as_bytes());
    assert!(stdout(&piped).contains("All results are as in standard input."), "{piped:?}");
    for wrong in ["{}", "[1]", "{\"seed\": 1, \"cases\": -1}", "not JSON"] {
        fs::write(&json, wrong).unwrap();
        refused(&["verify", "--replay", &json], "report.json");
    }
    // A field with invalid content is an error; it does not count as absent.
    for (field, value) in [
        ("case", "-1"),
        ("case", "\"4\""),
        ("cycle", "1.5"),
        ("cycle", "0"),
        ("cases", "0"),
        ("seed", "null"),
        ("device", "3"),
        ("devices", "[]"),
        ("devices", "[1]"),
        ("tuning", "\"soft\""),
        ("operators", "[\"ReduceSum\"]"),
        ("types", "\"f32\""),
        ("cut_off", "1"),
    ] {
        let mut wrong: Value = serde_json::from_str(&text).unwrap();
        wrong[field] = serde_json::from_str(value).unwrap();
        fs::write(&json, wrong.to_string()).unwrap();
        let reason = "report.json: not a JSON report of wgmax verify: ";
        refused(&["verify", "--replay", &json], &format!("{reason}\"{field}\" is {value}"));
    }
    let mut cut: Value = serde_json::from_str(&text).unwrap();
    cut["cut_off"] = true.into();
    fs::write(&json, cut.to_string()).unwrap();
    refused(&["verify", "--replay", &json], "report.json: it was cut off");
    refused(&["verify", "--replay", &at("nothing")], "nothing");
    refused(&["verify", "--replay", &json, "--seed", "1"], "--seed");
}

/// What was done before a signal is reported and written.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_sweep_with_a_report() {
    use std::process::{Command, Stdio};
    let (folder, at) = folder();
    let arguments = ["verify", "--device", "cpu", "--seconds", "1000", "--json", &at("r.json")];
    let mut verify = super::signals::default_signals(env!("CARGO_BIN_EXE_wgmax"));
    verify.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = verify.spawn().unwrap();
    // Its temporary file is there when it begins.
    while fs::read_dir(folder.path()).unwrap().count() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(stdout(&output).contains("Cut off by a signal. "), "{output:?}");
    let report: Value = serde_json::from_str(&fs::read_to_string(at("r.json")).unwrap()).unwrap();
    assert_eq!(report["cut_off"], true);
}
