//! The command, as a user sees it: what it prints, what it writes, how it ends.

#![cfg(feature = "cli")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use wgmax::Tensor;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgmax"));
    // Where this is not set, libwayland, which a GL driver asks, says so on stderr.
    command.args(arguments).env("XDG_RUNTIME_DIR", std::env::temp_dir());
    command
}

fn wgmax(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = wgmax(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    stdout(&output)
}

/// Runs what must be refused: status 2, one line on stderr, nothing on stdout.
#[track_caller]
fn refused(arguments: &[&str], word: &str) {
    let output = wgmax(arguments);
    let line = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    assert!(line.starts_with("wgmax: ") && line.contains(word), "{arguments:?}: {line}");
    assert!(!line.contains("panicked"), "{arguments:?}: {line}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
}

/// A folder with `x.npy`, f32[2, 3].
fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    let at = move |name: &str| path.join(name).to_str().unwrap().to_string();
    let x = Tensor::from_slice([2, 3], &[1.5f32, -2.0, 3.0, f32::NAN, 5.0, -6.0]).unwrap();
    wgmax::io::write(&at("x.npy"), &x).unwrap();
    (folder, at)
}

/// A golden case of the largest element of `[1, 2]`, along axis `axis`.
fn write_case(folder: &Path, expected: f32, expect: &str, axis: i64) {
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
fn alone_it_suggests_the_demo() {
    assert!(succeeds(&[]).contains("wgmax demo"));
    assert!(succeeds(&["--help"]).contains("reduce-max"));
    assert!(succeeds(&["reduce-max", "--help"]).contains("--keep-dims"));
}

#[test]
fn reduces_to_a_file() {
    let (_folder, at) = folder();
    let (x, y) = (at("x.npy"), at("y.npy"));
    succeeds(&["reduce-max", &x, "--axes", "-1", "--nan", "ignore", "--device", "cpu", "-o", &y]);
    let result = wgmax::io::read(&y).unwrap();
    assert_eq!(result.shape(), [2]);
    assert_eq!(result.to_vec::<f32>().unwrap(), [3.0, 5.0]);

    let y = at("y.safetensors:largest");
    succeeds(&["reduce-max", &x, "--axes=0,-1", "--keep-dims", "--device", "cpu", "-o", &y]);
    let result = wgmax::io::read(&y).unwrap();
    assert_eq!(result.shape(), [1, 1]);
    assert!(result.to_vec::<f32>().unwrap()[0].is_nan());
}

#[test]
fn prints_a_result() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    let run = |more: &[&str]| succeeds(&[&["reduce-max", &x, "--device", "cpu"], more].concat());
    assert_eq!(run(&[]), "f32[]\n  NaN\n");
    assert_eq!(run(&["--axes", "0"]), "f32[3]\n  NaN 5.0 3.0\n");
    let identity = "f32[2, 3]\n   1.5 -2.0  3.0\n   NaN  5.0 -6.0\n";
    assert_eq!(run(&["--axes", ""]), identity);
    assert_eq!(run(&["--axes", "", "--keep-dims"]), identity);
}

#[test]
fn the_maximum_of_nothing_is_a_choice() {
    let (_folder, at) = folder();
    let x = at("nothing.npy");
    wgmax::io::write(&x, &Tensor::from_slice([0, 1], &[0f32; 0]).unwrap()).unwrap();
    let run =
        |empty| succeeds(&["reduce-max", &x, "--axes", "0", "--empty", empty, "--device", "cpu"]);
    assert_eq!(run("neg-inf"), "f32[1]\n  -inf\n");
    assert_eq!(run("lowest"), "f32[1]\n  -3.4028235e38\n");
}

#[test]
fn bits_of_a_type_that_the_format_lacks() {
    let (_folder, at) = folder();
    let x = at("bits.npy");
    wgmax::io::write(&x, &Tensor::from_slice([2], &[0x3f80u16, 0xc000]).unwrap()).unwrap();
    let shown = succeeds(&["reduce-max", &x, "--type", "bf16", "--device", "cpu"]);
    assert_eq!(shown, "bf16[]\n  1.0\n");
    refused(&["reduce-max", &x, "--type", "f32", "--device", "cpu"], "not f32");
    refused(&["reduce-max", &x, "--type", "f99", "--device", "cpu"], "f99");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    let whole = fs::read(&x).unwrap();
    fs::write(at("short.npy"), &whole[..whole.len() - 1]).unwrap();
    fs::write(at("stub.npy"), &whole[..9]).unwrap();
    fs::write(at("empty.npy"), "").unwrap();
    let run = |input: &str, more: &[&str], word: &str| {
        refused(&[&["reduce-max", input, "--device", "cpu"], more].concat(), word);
    };
    run(&at("missing.npy"), &[], "missing.npy");
    run(&at("short.npy"), &[], "short.npy");
    run(&at("stub.npy"), &[], "stub.npy");
    run(&at("empty.npy"), &[], "empty.npy");
    run(&at("x.txt"), &[], "FILE.npy");
    run(&x, &["--axes", "2"], "axis 2 is out of range");
    run(&x, &["--axes", "-3"], "axis -3 is out of range");
    run(&x, &["--axes", "1,-1"], "twice");
    for axes in ["a", "0,", "0;1", "1.0", "99999999999999999999"] {
        run(&x, &["--axes", axes], "--axes");
    }
    run(&x, &["--nan", "maybe"], "maybe");
    run(&x, &["--wrong"], "--wrong");
    refused(&["reduce-max"], "INPUT");
    refused(&["reduce-min"], "reduce-min");
    refused(&["reduce-max", &x, "--device", "no such device"], "no such device");
    refused(&["compare", "reduce-max", &x, "--between", "cpu"], "--between");
    refused(&["check", &at("nowhere")], "nowhere");
    refused(&["check", "--device", "no such device", &at("")], "no golden case");
}

#[test]
fn a_failure_leaves_the_output_alone() {
    let (_folder, at) = folder();
    let (x, y) = (at("x.npy"), at("y.npy"));
    fs::write(&y, "precious").unwrap();
    refused(&["reduce-max", &x, "--axes", "7", "--device", "cpu", "-o", &y], "axis 7");
    refused(&["reduce-max", &at("no.npy"), "--device", "cpu", "-o", &y], "no.npy");
    assert_eq!(fs::read(&y).unwrap(), b"precious");
    let missing = at("no such folder/y.npy");
    refused(&["reduce-max", &x, "--device", "cpu", "-o", &missing], "no such folder");
    refused(&["reduce-max", &x, "--device", "cpu", "-o", &at("y.txt")], "y.txt");
    assert!(!Path::new(&at("y.txt")).exists());
    let folder = at("folder.npy");
    fs::create_dir(&folder).unwrap();
    refused(&["reduce-max", &x, "--device", "cpu", "-o", &folder], "folder.npy");
}

#[test]
fn compares_two_devices() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    let shown = succeeds(&["compare", "reduce-max", &x, "--axes", "0", "--between", "cpu,cpu"]);
    assert!(shown.ends_with("values: f32[2, 3] -> f32[3]: 3 elements, all equal\n"), "{shown}");
}

/// `p.npy`: f32[1, 1, 5, 5] of 1 to 25, as in the examples of ONNX's MaxPool.
fn write_picture(path: &str) {
    let elements: Vec<f32> = (1..=25).map(|i| i as f32).collect();
    wgmax::io::write(path, &Tensor::from_slice([1, 1, 5, 5], &elements).unwrap()).unwrap();
}

#[test]
fn pools_and_prints() {
    let (_folder, at) = folder();
    let p = at("p.npy");
    write_picture(&p);
    let run = |more: &[&str]| succeeds(&[&["max-pool", &p, "--device", "cpu"], more].concat());
    let strided = "f32[1, 1, 2, 2]\n   7.0  9.0\n  17.0 19.0\n";
    assert_eq!(run(&["--kernel", "2,2", "--strides", "2,2"]), strided);
    assert_eq!(run(&["--kernel", "2, 2", "--strides=2,2", "--auto-pad", "valid"]), strided);
    assert_eq!(
        run(&["--kernel", "2,2", "--strides", "2,2", "--dilations", "2,2"]),
        "f32[1, 1, 2, 2]\n  13.0 15.0\n  23.0 25.0\n"
    );
    for rounding in ["ceil", "ceil-torch"] {
        assert_eq!(
            run(&["--kernel", "2,2", "--strides", "2,2", "--rounding", rounding]),
            "f32[1, 1, 3, 3]\n   7.0  9.0 10.0\n  17.0 19.0 20.0\n  22.0 24.0 25.0\n"
        );
    }
    // The odd position of padding lies behind the last element, or before the first.
    let same = |how| run(&["--kernel", "2,5", "--strides", "1,5", "--auto-pad", how]);
    let column = |rows: &str| format!("f32[1, 1, 5, 1]\n{rows}");
    assert_eq!(same("same-upper"), column("  10.0\n  15.0\n  20.0\n  25.0\n  25.0\n"));
    assert_eq!(same("same-lower"), column("   5.0\n  10.0\n  15.0\n  20.0\n  25.0\n"));
    // Rows before, columns behind: b1,b2,e1,e2.
    assert_eq!(
        run(&["--kernel", "2,1", "--strides", "4,4", "--pads", "1,0,0,4"]),
        "f32[1, 1, 2, 3]\n   1.0  5.0 -inf\n  21.0 25.0 -inf\n"
    );
    // Five channels of one spatial axis.
    let q = at("q.npy");
    let rows = wgmax::io::read(&p).unwrap().reshape([1, 5, 5]).unwrap();
    wgmax::io::write(&q, &rows).unwrap();
    let run = |layout| {
        succeeds(&["max-pool", &q, "--kernel", "5", "--layout", layout, "--device", "cpu"])
    };
    assert_eq!(run("ncx"), "f32[1, 5, 1]\n   5.0\n  10.0\n  15.0\n  20.0\n  25.0\n");
    assert_eq!(run("nxc"), "f32[1, 1, 5]\n  21.0 22.0 23.0 24.0 25.0\n");
}

#[test]
fn nan_and_empty_windows_are_choices_of_pooling() {
    let (_folder, at) = folder();
    let x = at("line.npy");
    let line = Tensor::from_slice([1, 1, 3], &[1f32, f32::NAN, -2.0]).unwrap();
    wgmax::io::write(&x, &line).unwrap();
    let run = |flag: &str, value: &str| {
        let fixed = ["max-pool", &x, "--kernel", "2", "--pads", "2,0", "--device", "cpu"];
        succeeds(&[&fixed[..], &[flag, value]].concat())
    };
    assert_eq!(run("--nan", "propagate"), "f32[1, 1, 4]\n  -inf  1.0  NaN  NaN\n");
    assert_eq!(run("--nan", "ignore"), "f32[1, 1, 4]\n  -inf  1.0  1.0 -2.0\n");
    assert!(run("--empty", "lowest").contains("\n  -3.4028235e38 "));
}

/// The examples that ONNX's specification of MaxPool publishes.
#[test]
fn indices_are_those_of_the_specification() {
    let (_folder, at) = folder();
    let (p, y, z) = (at("p.npy"), at("y.npy"), at("z.npz:z"));
    write_picture(&p);
    let run = |more: &[&str]| {
        let fixed = ["max-pool", &p, "--device", "cpu", "-o", &y, "--indices", &z];
        assert_eq!(succeeds(&[&fixed[..], more].concat()), "");
        let values = wgmax::io::read(&y).unwrap();
        (values.to_vec::<f32>().unwrap(), wgmax::io::read(&z).unwrap())
    };
    // maxpool_with_argmax_2d_precomputed_pads
    let (values, indices) = run(&["--kernel", "5,5", "--pads", "2,2,2,2"]);
    let first = [
        [12, 13, 14, 14, 14],
        [17, 18, 19, 19, 19],
        [22, 23, 24, 24, 24],
        [22, 23, 24, 24, 24],
        [22, 23, 24, 24, 24i64],
    ];
    assert_eq!(indices.shape(), [1, 1, 5, 5]);
    assert_eq!(indices.to_vec::<i64>().unwrap(), first.concat());
    let from_one = |index: &i64| (index + 1) as f32;
    assert_eq!(values, first.concat().iter().map(from_one).collect::<Vec<f32>>());

    // maxpool_with_argmax_2d_precomputed_strides
    let strided = ["--kernel", "2,2", "--strides", "2,2"];
    let with = |more: &[&str]| run(&[&strided[..], more].concat()).1;
    let indices = with(&["--index-order", "column-major"]);
    assert_eq!(indices.to_vec::<i64>().unwrap(), [6, 16, 8, 18]);
    let indices = with(&["--index-type", "i32", "--index-order", "row-major"]);
    assert_eq!(indices.to_vec::<i32>().unwrap(), [6, 8, 16, 18]);
    // Within each row.
    let indices = with(&["--index-axis", "-1"]);
    assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 3, 1, 3]);

    // Without -o the values are printed all the same.
    let shown = succeeds(&["max-pool", &p, "--kernel", "5,5", "--device", "cpu", "--indices", &z]);
    assert_eq!(shown, "f32[1, 1, 1, 1]\n  25.0\n");
    assert_eq!(wgmax::io::read(&z).unwrap().to_vec::<i64>().unwrap(), [24]);
}

#[test]
fn bad_pooling_is_refused_in_one_line() {
    let (_folder, at) = folder();
    let (x, p, i) = (at("x.npy"), at("p.npy"), at("i.npy"));
    write_picture(&p);
    let run = |more: &[&str], word: &str| {
        refused(&[&["max-pool", &p, "--device", "cpu"], more].concat(), word);
    };
    run(&[], "--kernel");
    run(&["--kernel", "3"], "--kernel 3: attribute kernel needs 2 numbers");
    run(&["--kernel", "3,3,3"], "needs 2 numbers");
    run(&["--kernel", ""], "needs 2 numbers");
    run(&["--kernel", "0,3"], "--kernel 0,3");
    run(&["--kernel", "6,1"], "--kernel 6,1: the window covers 6");
    let most = "9223372036854775807,1";
    run(&["--kernel", most, "--dilations", most], "the window covers");
    for kernel in ["a", "3,", "3;3", "3x3", "3.0,3", "99999999999999999999,1"] {
        run(&["--kernel", kernel], "--kernel");
    }
    let run = |more: &[&str], word: &str| run(&[&["--kernel", "3,3"], more].concat(), word);
    run(&["--strides", "2"], "--strides 2: attribute strides needs 2 numbers");
    run(&["--strides", "2,0"], "--strides 2,0");
    run(&["--dilations", "-1,1"], "--dilations -1,1");
    run(&["--pads", "1,1"], "--pads 1,1: f32[1, 1, 5, 5] needs 4 numbers");
    run(&["--pads", "1,1,1"], "needs 4 numbers");
    run(&["--pads", "0,0,0,-1"], "--pads 0,0,0,-1");
    run(&["--pads", "1,1,1,1", "--auto-pad", "same-upper"], "--auto-pad same-upper");
    run(&["--auto-pad", "same"], "same");
    run(&["--rounding", "up"], "up");
    run(&["--layout", "nchw"], "nchw");
    run(&["--indices", &i, "--index-type", "u8"], "u8");
    run(&["--indices", &i, "--index-axis", "4"], "--index-axis 4: axis 4 is out of range");
    run(&["--indices", &i, "--index-axis", "a"], "--index-axis");
    let both = ["--index-axis", "1", "--index-order", "column-major"];
    run(&[&["--indices", &i], &both[..]].concat(), "--index-axis 1");
    for (flag, value) in
        [("--index-type", "i32"), ("--index-order", "row-major"), ("--index-axis", "0")]
    {
        run(&[flag, value], "--indices");
    }
    refused(&["max-pool", &x, "--kernel", "3"], "x.npy: pooling needs batch, channels");
    refused(&["max-pool", &at("no.npy"), "--kernel", "3"], "no.npy");
    refused(&["compare", "max-pool", &p, "--kernel", "3"], "--kernel 3");
    refused(&["compare", "max-pool", &p, "--kernel", "3,3", "--between", "cpu"], "--between");
    assert!(!Path::new(&i).exists());
}

#[test]
fn a_failure_leaves_both_outputs_of_pooling_alone() {
    let (_folder, at) = folder();
    let (p, y, z) = (at("p.npy"), at("y.npy"), at("z.npy"));
    write_picture(&p);
    fs::write(&y, "precious").unwrap();
    fs::write(&z, "precious, too").unwrap();
    let run = |output: &str, indices: &str, word: &str| {
        let fixed = ["max-pool", &p, "--kernel", "2,2", "--device", "cpu"];
        refused(&[&fixed[..], &["-o", output, "--indices", indices]].concat(), word);
        assert_eq!(fs::read(&y).unwrap(), b"precious");
        assert_eq!(fs::read(&z).unwrap(), b"precious, too");
    };
    run(&y, &at("none/z.npy"), "none");
    run(&at("none/y.npy"), &z, "none");
    run(&y, &at("z.txt"), "z.txt");
    run(&at("y.txt"), &z, "y.txt");
    run(&y, &y, "one file");
    run(&y, &at("./y.npy"), "one file");
    run(&at("both.npz:y"), &at("both.npz:z"), "one file");
    assert!(!Path::new(&at("both.npz")).exists());
}

#[test]
fn compares_both_results_of_pooling() {
    let (_folder, at) = folder();
    let p = at("p.npy");
    write_picture(&p);
    let run = |between: &str, more: &[&str]| {
        let fixed = ["compare", "max-pool", &p, "--kernel", "2,2", "--between", between];
        succeeds(&[&fixed[..], more].concat())
    };
    let values = "values: f32[1, 1, 5, 5] -> f32[1, 1, 4, 4]: 16 elements, all equal\n";
    let indices = "indices: f32[1, 1, 5, 5] -> i64[1, 1, 4, 4]: 16 elements, all equal\n";
    let shown = run("cpu,cpu", &[]);
    assert!(shown.ends_with(values) && shown.lines().count() == 3, "{shown}");
    let shown = run("cpu,cpu", &["--indices"]);
    assert!(shown.ends_with(&format!("{values}{indices}")), "{shown}");
    let indices = indices.replace("i64", "i32");
    if common::gpu().is_some() {
        let shown = run("cpu,gpu", &["--indices", "--index-type", "i32"]);
        assert!(shown.ends_with(&format!("{values}{indices}")), "{shown}");
    }
}

#[test]
fn the_demo_finds_nothing_wrong() {
    let shown = succeeds(&["demo"]);
    assert!(!shown.contains("NO:") && shown.contains("(reference)"), "{shown}");
    assert!(shown.contains("7.9  4.4  6.9  2.5"), "{shown}");
    // A row of each picture that is drawn, and the middle of it pooled.
    let row = "  │  ░░██▒▒  ██░░  │ │  ████░░│  │  ░░██          │ │░░██▓▓  │  \
               │          ██▓▓  │ │  ▒▒██▓▓│\n";
    assert!(shown.contains(row), "{shown}");
    assert!(shown.contains("f32[30, 1, 4, 4], and i64 indices"), "{shown}");
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

    write_case(&cases.join("wrong"), 3.0, "ok", 0);
    write_case(&cases.join("accepted"), 2.0, "error", 0);
    write_case(&cases.join("lying"), 2.0, "ok", 0);
    fs::write(cases.join("lying/in.npy"), "not an array").unwrap();
    let output = check(&report);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
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

#[test]
fn devices_are_listed() {
    assert!(succeeds(&["devices"]).contains("cpu"));
    let list: Vec<serde_json::Value> =
        serde_json::from_str(&succeeds(&["devices", "--json"])).unwrap();
    assert_eq!(list.last().unwrap()["device"], "cpu");
}

/// A reader who leaves early, as `head` does, is no reason to panic.
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::Stdio;
    let mut child =
        command(&["devices"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
