//! `wgmax check`.

use std::fs;
use std::path::Path;

use wgmax::Tensor;

use super::{folder, refused, stderr, stdout, wgmax};

/// Writes a golden case: the maximum of `[1, 2]` along an axis.
pub fn write_case(folder: &Path, expected: f32, expect: &str, axis: i64) {
    fs::create_dir_all(folder).unwrap();
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    wgmax::io::write(&at("in.npy"), &Tensor::from_slice([2], &[1f32, 2.0]).unwrap()).unwrap();
    wgmax::io::write(&at("out.npy"), &Tensor::from_slice([1], &[expected]).unwrap()).unwrap();
    let json = format!(
        r#"{{"op": "ReduceMax", "dialect": "onnx", "version": 13, "attrs": {{"axes": [{axis}]}},
            "inputs": [{{"name": "data", "file": "in.npy", "dtype": "f32", "shape": [2]}}],
            "outputs": [{{"name": "reduced", "file": "out.npy", "dtype": "f32", "shape": [1]}}],
            "expect": "{expect}"}}"#
    );
    fs::write(folder.join("case.json"), json).unwrap();
}

#[test]
fn checks_cases_and_reports_each() {
    let (folder, at) = folder();
    let cases = folder.path().join("cases");
    write_case(&cases.join("good"), 2.0, "ok", 0);
    write_case(&cases.join("refused"), 2.0, "error", 5);
    let pool = cases.join("pool");
    write_case(&pool, 2.0, "ok", 0);
    let json = fs::read_to_string(pool.join("case.json")).unwrap();
    fs::write(pool.join("case.json"), json.replace("ReduceMax", "NoSuchPool")).unwrap();
    let (path, report) = (at("cases"), at("report.jsonl"));
    let check = |report: &str| wgmax(&["check", "--device", "cpu", "--json", report, &path]);

    let output = check(&report);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = stdout(&output);
    assert!(shown.contains("2 passed, 0 failed, 0 in error, 1 unsupported"), "{shown}");
    assert!(shown.contains("NoSuchPool"), "{shown}");
    // Without a case that passed, nothing was checked.
    let nothing = wgmax(&["check", "--device", "cpu", pool.to_str().unwrap()]);
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");

    write_case(&cases.join("wrong"), 3.0, "ok", 0);
    write_case(&cases.join("accepted"), 2.0, "error", 0);
    write_case(&cases.join("lying"), 2.0, "ok", 0);
    fs::write(cases.join("lying/in.npy"), "not an array").unwrap();
    let output = check(&report);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).is_empty(), "{output:?}");
    let shown = stdout(&output);
    assert!(shown.contains("2 passed, 2 failed, 1 in error, 1 unsupported"), "{shown}");

    let text = fs::read_to_string(&report).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let status = |name: &str| {
        let line = lines.iter().find(|line| line["id"].as_str().unwrap().ends_with(name)).unwrap();
        line["status"].as_str().unwrap().to_string()
    };
    assert_eq!(lines.len(), 6);
    assert_eq!((status("good"), status("refused")), ("pass".into(), "pass".into()));
    assert_eq!((status("wrong"), status("accepted")), ("fail".into(), "fail".into()));
    assert_eq!((status("lying"), status("pool")), ("error".into(), "unsupported".into()));
    let wrong = lines.iter().find(|line| line["id"] == "wrong").unwrap();
    assert_eq!(wrong["mismatch"]["actual"], "2.0");
    assert_eq!(wrong["mismatch"]["expected"], "3.0");
    assert_eq!(wrong["mismatch"]["coordinates"], serde_json::json!([0]));

    refused(&["check", "--device", "cpu", "--json", &at("no/r.jsonl"), &path], "no/r.jsonl");
    fs::write(&report, "precious").unwrap();
    refused(&["check", "--device", "nothing", "--json", &report, &path], "nothing");
    assert_eq!(fs::read(&report).unwrap(), b"precious");
}

/// Ids that do not ascend are refused, though their shape is right.
#[test]
fn ids_are_refused_for_their_values() {
    let (folder, at) = folder();
    let case = folder.path().join("case");
    fs::create_dir_all(&case).unwrap();
    let write = |ids: &[i32]| {
        let at = |name: &str| case.join(name).to_str().unwrap().to_string();
        let data = Tensor::from_slice([2], &[1f32, 2.0]).unwrap();
        wgmax::io::write(&at("in.npy"), &data).unwrap();
        wgmax::io::write(&at("ids.npy"), &Tensor::from_slice([2], ids).unwrap()).unwrap();
        let json = r#"{"op": "SegmentMax", "dialect": "openvino", "version": 16,
                "attrs": {"fill_mode": "ZERO"},
                "inputs": [{"name": "data", "file": "in.npy", "dtype": "f32", "shape": [2]},
                           {"name": "ids", "file": "ids.npy", "dtype": "i32", "shape": [2]}],
                "outputs": [], "expect": "error"}"#;
        fs::write(case.join("case.json"), json).unwrap();
    };
    let check = || wgmax(&["check", "--device", "cpu", &at("case")]);
    write(&[1, 0]);
    let output = check();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("1 passed, 0 failed"), "{output:?}");
    write(&[0, 1]);
    let output = check();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout(&output).contains("accepted, but an error is expected"), "{output:?}");
}
