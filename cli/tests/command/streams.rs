//! Standard input and output.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use wgmax::Tensor;
use wgmax::io::npy;
use wgmax::io::onnx::{encode_tensor, parse_tensor};

use super::{command, folder, refused, stderr, stdout, wgmax};

/// Runs a command with these bytes on standard input.
pub fn fed(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn matrix() -> Tensor {
    Tensor::from_slice([2, 3], &[1.5f32, -2.0, 3.0, 4.0, 5.0, -6.0]).unwrap()
}

#[test]
fn tensors_come_from_standard_input() {
    let (_folder, at) = folder();
    wgmax::io::write(&at("p.npy"), &matrix()).unwrap();
    let npy = fs::read(at("p.npy")).unwrap();
    let pb = encode_tensor(&matrix()).unwrap();
    for (spec, bytes) in [("-", &npy), ("-", &pb), ("npy:-", &npy), ("pb:-", &pb)] {
        let output = fed(&["reduce-max", spec, "--axes", "1", "--device", "cpu"], bytes);
        assert_eq!(output.status.code(), Some(0), "{spec}: {output:?}");
        assert_eq!(stdout(&output), "f32[2]\n  3.0 5.0\n", "{spec}");
    }
    for (spec, bytes) in [("-", &npy[..20]), ("-", b""), ("pb:-", &npy), ("npy:-", &pb)] {
        let output = fed(&["reduce-max", spec, "--device", "cpu"], bytes);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{spec}");
        assert!(
            error.starts_with("wgmax: standard input: ") && error.lines().count() == 1,
            "{error}"
        );
    }
    refused(&["reduce-max", "npz:-", "--device", "cpu"], "npz:-");
}

/// A folder that is missing is named.
#[test]
fn a_missing_folder_is_named() {
    let (_folder, at) = folder();
    let (file, folder) = (at("no/such/y.npy"), at("no/such"));
    let reason = format!("wgmax: {file}: there is no folder {folder}\n");
    refused(&["reduce-max", &at("x.npy"), "-o", &file], &reason);
    let reason = format!("wgmax: {folder}/r.json: there is no folder {folder}\n");
    refused(&["verify", "--json", &at("no/such/r.json")], &reason);
}

/// `--quiet` leaves out remarks, but neither results nor errors.
#[test]
fn quiet_commands_print_results_and_errors() {
    let (_folder, at) = folder();
    wgmax::io::write(&at("none.npy"), &Tensor::from_slice::<f32>([0], &[]).unwrap()).unwrap();
    let arguments = ["reduce-max", &at("none.npy"), "--device", "cpu"];
    let loud = wgmax(&arguments);
    assert!(stderr(&loud).contains("is empty"), "{loud:?}");
    for quiet in [&["--quiet"][..], &["-q"]] {
        for arguments in [[quiet, &arguments[..]].concat(), [&arguments[..], quiet].concat()] {
            let output = wgmax(&arguments);
            assert_eq!(stdout(&output), stdout(&loud));
            assert!(output.stderr.is_empty(), "{output:?}");
        }
    }
    let verify = ["verify", "-q", "--device", "cpu", "--cases", "1", "--json", "-"];
    let output = wgmax(&verify);
    assert!(output.stderr.is_empty() && stdout(&output).starts_with('{'), "{output:?}");
    refused(&["reduce-max", &at("no.npy"), "-q"], "no.npy");
}

#[test]
fn results_go_to_standard_output_alone() {
    let (_folder, at) = folder();
    wgmax::io::write(&at("p.npy"), &matrix()).unwrap();
    let run = |out: &str| {
        let output =
            wgmax(&["reduce-max", &at("p.npy"), "--axes", "0", "--device", "cpu", "-o", out]);
        assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
        output.stdout
    };
    for spec in ["-", "npy:-"] {
        let tensor = npy::parse("stdout", std::sync::Arc::new(run(spec))).unwrap();
        assert_eq!(tensor.to_vec::<f32>().unwrap(), [4.0, 5.0, 3.0]);
    }
    let tensor = parse_tensor("stdout", &run("pb:-")).unwrap();
    assert_eq!(tensor.to_vec::<f32>().unwrap(), [4.0, 5.0, 3.0]);

    // One result on standard output and another in a file. Two results there are refused.
    let p = at("q.npy");
    wgmax::io::write(&p, &matrix().reshape([1, 2, 3]).unwrap()).unwrap();
    let fixed = ["max-pool", &p, "--kernel", "3", "--device", "cpu", "--indices"];
    let indices = at("where.npy");
    let output = wgmax(&[&fixed[..], &[&indices, "-o", "-"]].concat());
    let maxima = npy::parse("stdout", std::sync::Arc::new(output.stdout)).unwrap();
    assert_eq!(maxima.to_vec::<f32>().unwrap(), [3.0, 5.0]);
    assert_eq!(wgmax::io::read(&indices).unwrap().to_vec::<i64>().unwrap(), [2, 4]);
    refused(&[&fixed[..], &["-", "-o", "-"]].concat(), "both go to standard output");
}

#[test]
fn commands_can_be_piped() {
    let (_folder, at) = folder();
    wgmax::io::write(&at("p.npy"), &matrix()).unwrap();
    let first = ["reduce-max", &at("p.npy"), "--axes", "0", "--device", "cpu", "-o", "-"];
    let second = ["reduce-max", "-", "--device", "cpu"];
    let output = fed(&second, &wgmax(&first).stdout);
    assert_eq!(stdout(&output), "f32[]\n  5.0\n");
}

/// A closed pipe is no error for tensors either.
#[test]
fn a_tensor_to_a_closed_pipe_is_no_error() {
    let (_folder, at) = folder();
    let large = Tensor::from_slice([1 << 18], &vec![1f32; 1 << 18]).unwrap();
    wgmax::io::write(&at("large.npy"), &large).unwrap();
    let mut child =
        command(&["reduce-max", &at("large.npy"), "--axes", "", "--device", "cpu", "-o", "-"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
}

/// With `--json -`, standard output has only the JSON.
#[test]
fn reports_go_to_standard_output_alone() {
    let (folder, at) = folder();
    let case = folder.path().join("cases/good");
    super::check::write_case(&case, 3.0, "ok", 0);
    let output = wgmax(&["check", &at("cases"), "--device", "cpu", "--json", "-"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["status"], "fail");
    let rest = stderr(&output);
    assert!(rest.contains("0 passed, 1 failed"), "{rest}");
}
