//! The command: what it prints and writes, and its exit status.

#[path = "../../../tests/common/adapter.rs"]
mod adapter;
mod backward;
mod bench;
mod check;
mod compare;
mod examples;
mod explain;
mod files;
mod help;
mod max_pool;
#[cfg(target_os = "linux")]
mod memory;
mod messages;
mod onnx;
mod pictures;
#[path = "../../../tests/common/onnx.rs"]
mod proto;
mod reduce_max;
mod segment_max;
mod shader;
#[cfg(target_os = "linux")]
mod signals;
mod streams;
mod tables;
mod targets;
mod verify;

use std::process::{Command, Output};

use tempfile::TempDir;
use wgmax::Tensor;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgmax"));
    // Without this variable drivers print an error on stderr, unless the command prevents it.
    command.args(arguments).env_remove("XDG_RUNTIME_DIR");
    command
}

fn wgmax(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a command prints on stderr, without progress, which depends on time and caches, and without the
/// reason why `auto` is the CPU, which depends on the machine.
fn stderr(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let depends = |line: &&str| line.starts_with("progress: ") || line.starts_with(ON_THE_CPU);
    text.split_inclusive('\n').filter(|line| !depends(line)).collect()
}

const ON_THE_CPU: &str = "wgmax: runs on the CPU";

/// The CPU, and the best adapter where there is one.
fn devices() -> Vec<&'static str> {
    let gpu = adapter::gpu().map(|_| "gpu");
    gpu.into_iter().chain(["cpu"]).collect()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = wgmax(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    assert!(stderr(&output).is_empty(), "{arguments:?}: {output:?}");
    stdout(&output)
}

/// Runs a command that must be refused: status 2, one line on stderr, nothing on stdout.
#[track_caller]
fn refused(arguments: &[&str], word: &str) {
    let output = wgmax(arguments);
    let line = stderr(&output);
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

#[test]
fn alone_it_suggests_the_demo() {
    assert!(succeeds(&[]).contains("wgmax demo"));
    assert!(succeeds(&["--help"]).contains("reduce-max"));
    assert!(succeeds(&["reduce-max", "--help"]).contains("--keep-dims"));
    assert!(succeeds(&["segment-max", "--help"]).contains("--num-segments"));
}

#[test]
fn the_demo_finds_nothing_wrong() {
    let shown = succeeds(&["demo"]);
    assert!(!shown.contains("NO:") && shown.contains("(reference)"), "{shown}");
    assert!(shown.contains("7.9  4.4  6.9  2.5"), "{shown}");
    // The longest petal of each species.
    assert!(shown.contains("1.9  5.1  6.9"), "{shown}");
    // A row of each picture that is drawn, and of its maxima.
    let row = "  │  ░░██▒▒  ██░░  │ │  ████░░│  │  ░░██          │ │░░██▓▓  │  \
               │          ██▓▓  │ │  ▒▒██▓▓│\n";
    assert!(shown.contains(row), "{shown}");
    assert!(shown.contains("f32[30, 1, 4, 4], and i64 indices"), "{shown}");
    // Tables fit 80 columns. Pictures may be wider.
    let mut lines = shown.lines().filter(|line| line.starts_with(['┌', '│', '╞', '└']));
    assert!(lines.all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn devices_are_listed() {
    // Without an adapter, there is a message on stderr.
    assert!(stdout(&wgmax(&["devices"])).contains("cpu"));
    let list: Vec<serde_json::Value> =
        serde_json::from_str(&succeeds(&["devices", "--json"])).unwrap();
    let cpu = list.last().unwrap();
    assert_eq!((&cpu["device"], &cpu["tuning"]), (&"cpu".into(), &"cpu".into()));
    for device in &list {
        assert!(device["target_parallelism"].as_u64().unwrap() > 0, "{device}");
        assert!(device["limits"]["max_storage_buffers"].as_u64().unwrap() > 0, "{device}");
    }
}

/// The error of an unknown device lists the devices, as `--device` takes them.
#[test]
fn a_missing_device_is_answered_with_the_others() {
    let (_folder, at) = folder();
    let devices = succeeds(&["devices", "--json"]);
    let devices: Vec<serde_json::Value> = serde_json::from_str(&devices).unwrap();
    let mut names: Vec<String> = (devices.iter())
        .map(|d| ["device", "backend", "name"].map(|key| d[key].as_str().unwrap()).join(" "))
        .collect();
    *names.last_mut().unwrap() = "cpu".to_string();
    let found = format!("matches \"nvidya\"; found: {}\n", names.join("; "));
    refused(&["reduce-max", &at("x.npy"), "--device", "nvidya"], &found);
    refused(&["bench", "--device", "nvidya"], &found);
}

/// Upper and lower case make no difference to the names of devices.
#[test]
fn names_of_devices_have_no_case() {
    let (_folder, at) = folder();
    let shown = succeeds(&["reduce-max", &at("x.npy"), "--device", "cpu"]);
    for name in ["CPU", "Cpu", " cpu "] {
        assert_eq!(succeeds(&["reduce-max", &at("x.npy"), "--device", name]), shown);
    }
    let compared = ["compare", "reduce-max", &at("x.npy"), "--between", "CPU,cpu"];
    assert!(succeeds(&compared).contains("all equal"));
    let bench = wgmax(&["bench", "--filter", "R00", "--runs", "1", "--device", "CPU"]);
    assert!(stdout(&bench).starts_with("CPU, "), "{bench:?}");
    if let Some(gpu) = adapter::gpu() {
        for name in ["GPU".to_string(), gpu.info().name.to_uppercase()] {
            assert_eq!(succeeds(&["reduce-max", &at("x.npy"), "--device", &name]), shown);
        }
    }
}

/// A reader that closes its pipe early, as `head` does, is no error.
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::Stdio;
    let mut child = command(&["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
}
