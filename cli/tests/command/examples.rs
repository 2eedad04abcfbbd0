//! Every example of a help text runs, by a shell, in a folder that has its files.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use wgmax::{Element, Tensor};

use super::help::COMMANDS;
use super::proto::{Model, ints, node, opset, shaped, value};
use super::{adapter, command, folder, stdout, succeeds};

/// The lines of a help text that call the command.
fn examples(arguments: &[&str]) -> Vec<String> {
    let mut help = command(&[arguments, &["--help"]].concat());
    let help = stdout(&help.env("COLUMNS", "1000").output().unwrap());
    let (_, end) = help.split_once("\nExample").unwrap_or_else(|| panic!("{arguments:?}: {help}"));
    let lines = end.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter(|line| line.starts_with("wgmax ")).map(str::to_string).collect()
}

fn write<T: Element>(path: &str, shape: &[usize], element: impl Fn(usize) -> T) {
    let elements: Vec<T> = (0..shape.iter().product()).map(element).collect();
    wgmax::io::write(path, &Tensor::from_slice(shape.to_vec(), &elements).unwrap()).unwrap();
}

/// Writes the files that the examples read.
fn write_files(at: &impl Fn(&str) -> String) {
    let floats = |name: &str, shape: &[usize]| write(&at(name), shape, |i| (i * 7 % 11) as f32);
    for name in ["x.npy", "x.npz:x", "depth.npy"] {
        floats(name, &[4, 2, 6, 7]);
    }
    for name in ["mine.npy", "theirs.npy", "a.npz:y", "b.safetensors:y", "logits.npy"] {
        floats(name, &[5, 4]);
    }
    for name in ["data.npy", "features.npy", "w.safetensors:weight"] {
        floats(name, &[4, 3]);
    }
    floats("chw.npy", &[3, 224, 5]);
    write(&at("ids.npy"), &[4], |i| (i / 2) as i32);
    write(&at("offsets.npy"), &[3], |i| 2 * i as i32);
    write(&at("places.npy"), &[4, 2, 6, 7], |i| (i % 2) as i32);
    floats("updates.npy", &[4, 2, 6, 7]);
    write(&at("vectors.npy"), &[3, 1], |i| i as i32 - 1);
    floats("parts.npy", &[3, 2, 6, 7]);
    // The content of a picture decides its format, not the name of its file.
    fs::write(at("photo.png"), [&b"P5\n16 12\n255\n"[..], &[7; 16 * 12]].concat()).unwrap();
    super::check::write_case(Path::new(&at("tests/cases/one")), 2.0, "ok", 0);
    succeeds(&["verify", "--device", "cpu", "--cases", "2", "--json", &at("report.json")]);

    let pool = |from, to| node("MaxPool", &[from], &[to], &[ints("kernel_shape", &[2, 2])]);
    let model = |nodes: &[Vec<u8>], graph: &[Vec<u8>]| {
        let (nodes, graph) = (nodes.to_vec(), graph.to_vec());
        Model { nodes, graph, opsets: vec![opset("", 15)] }.bytes()
    };
    let x = shaped(11, "x", 1, &["4", "2", "6", "7"]);
    fs::write(at("pool.onnx"), model(&[pool("x", "y")], &[x.clone(), value(12, "y")])).unwrap();
    let nodes = [
        pool("x", "y"),
        pool("tokens", "z"),
        node("Unknown", &["x"], &["relu_3"], &[]),
        pool("relu_3", "w"),
    ];
    let tokens = shaped(11, "tokens", 1, &["batch", "1", "length", "4"]);
    let outputs = ["y", "z", "w"].map(|name| value(12, name)).concat();
    fs::write(at("model.onnx"), model(&nodes, &[x, tokens, outputs])).unwrap();
}

/// The example with devices that this machine has, shortened if it would take long.
fn feasible(example: &str, adapters: usize) -> String {
    let mut text = example.to_string();
    if adapters == 0 {
        text = text.replace("--device gpu", "--device cpu").replace("cpu,gpu", "cpu,cpu");
    }
    if adapters < 2 {
        text = text.replace("--between 0,1", "--between cpu,cpu");
    }
    text = text.replace("--cases 20000", "--cases 3");
    // Memory grows until the cases come again, and a driver's grows with its pipelines.
    let few = "--device cpu --seed 1 --cases 200 --cycle 10";
    text = text.replace("--seconds 3600 --cycle 100", few);
    // Another test translates all shaders.
    text = text.replace("--all shaders --language spirv", "--all shaders");
    match text.split_whitespace().nth(1) {
        Some("bench") => text += " --runs 1",
        // Examples that limit their cases are not changed.
        Some("verify") if !["--case", "--seconds", "--replay"].iter().any(|o| text.contains(o)) => {
            text += " --cases 3";
        }
        _ => {}
    }
    match text.starts_with("wgmax bench") && !text.contains("--filter") {
        true => text + " --filter R00",
        false => text,
    }
}

#[test]
fn examples_run() {
    let (folder, at) = folder();
    write_files(&at);
    for path in [".local/share/bash-completion/completions", ".zfunc"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_wgmax")).parent().unwrap();
    let paths = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{paths}", program.display());
    let adapters = adapter::gpu().map_or(0, |_| wgmax::adapters().unwrap().len());
    let commands = COMMANDS.into_iter().chain([&["man"][..]]);
    let all: BTreeSet<String> = commands.flat_map(examples).collect();
    assert!(all.len() > 50, "{all:?}");
    let mut failed = Vec::new();
    for example in all {
        let shape: &[usize] = match example.split_whitespace().nth(1) {
            Some("reduce-max") => &[4, 2, 6],
            Some("max-pool") => &[4, 2, 4, 5],
            Some("adaptive-max-pool") => &[4, 2, 7, 7],
            Some("scatter-max") => &[4, 2, 6, 7],
            _ => &[2, 2, 6, 7],
        };
        write(&at("gradient_of_y.npy"), shape, |_| 1f32);
        let output = Command::new("sh")
            .args(["-c", &feasible(&example, adapters)])
            .current_dir(folder.path())
            .envs([("PATH", &*path), ("HOME", folder.path().to_str().unwrap())])
            .output()
            .unwrap();
        if !output.status.success() {
            failed.push(format!("{example}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
