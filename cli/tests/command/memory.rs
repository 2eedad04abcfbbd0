//! Exhausted memory is an error, not a signal.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Output, Stdio};

use wgmax::Tensor;

use super::{folder, stderr};

/// Bytes of the elements. The files have holes in place of zeros.
const BYTES: usize = 48 << 20;
const MIB: usize = 1 << 20;

/// Runs the command with an address space of some bytes.
fn limited(bytes: usize, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {}; exec \"$0\" \"$@\"", bytes / 1024)])
        .arg(env!("CARGO_BIN_EXE_wgmax"))
        .args(arguments)
        // Each thread and each of its heaps take address space.
        .envs([("RAYON_NUM_THREADS", "2"), ("MALLOC_ARENA_MAX", "1")])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap()
}

/// The address space that the command takes for a small tensor.
fn base(small: &str) -> usize {
    let runs = |mib: &usize| {
        let arguments = ["reduce-max", small, "--axes", "", "--device", "cpu", "-o", "-"];
        limited(mib * MIB, &arguments).status.success()
    };
    (1..64).map(|n| 16 * n).find(runs).unwrap() * MIB
}

/// Runs a command with more and more memory. Returns how often there was not enough.
#[track_caller]
fn refusals(base: usize, arguments: &[&str]) -> usize {
    let mut refusals = 0;
    // Halves of the elements' bytes, so that each copy of them fails once.
    for halves in (1..12).step_by(2) {
        let output = limited(base + halves * BYTES / 2, arguments);
        let error = stderr(&output);
        match output.status.code() {
            Some(0) => break,
            Some(2) => refusals += 1,
            _ => panic!("{arguments:?} with {halves} halves: {output:?}"),
        }
        assert_eq!(error.lines().count(), 1, "{arguments:?} with {halves} halves: {error}");
        assert!(error.contains("out of memory"), "{arguments:?} with {halves} halves: {error}");
    }
    refusals
}

/// A file that begins with some bytes; the rest is zeros.
fn sparse(path: &str, head: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(head).unwrap();
    file.set_len((head.len() + BYTES) as u64).unwrap();
}

fn npy(descr: &str, fortran: &str) -> Vec<u8> {
    let shape = format!("({}, 1024)", BYTES / 4096);
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat()
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The head of a `TensorProto` of f32, with its elements in a field.
fn pb(field: u8) -> Vec<u8> {
    let shape = [&[8][..], &varint(BYTES / 4096), &[8], &varint(1024), &[16, 1]].concat();
    [shape, vec![field << 3 | 2], varint(BYTES)].concat()
}

#[test]
fn memory_that_runs_out_is_an_error_on_each_way_in() {
    let (_folder, at) = folder();
    sparse(&at("little.npy"), &npy("<f4", "False"));
    sparse(&at("big.npy"), &npy(">f4", "False"));
    sparse(&at("fortran.npy"), &npy("<f4", "True"));
    sparse(&at("raw.pb"), &pb(9));
    sparse(&at("numbers.pb"), &pb(4));
    let header = format!(
        r#"{{"x":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{BYTES}]}}}}  "#,
        BYTES / 4
    );
    // Not aligned, so that the elements are copied.
    let header = &header[..header.trim_end().len() | 1];
    let head = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    sparse(&at("x.safetensors"), &head);
    for (name, method) in [
        ("stored.npz", zip::CompressionMethod::Stored),
        ("deflated.npz", zip::CompressionMethod::Deflated),
    ] {
        let mut archive = zip::ZipWriter::new(File::create(at(name)).unwrap());
        // Without alignment, so that the elements are copied.
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file("odd.npy", options).unwrap();
        archive.write_all(&npy("<f4", "False")).unwrap();
        let zeros = vec![0; MIB];
        (0..BYTES / MIB).for_each(|_| archive.write_all(&zeros).unwrap());
        archive.finish().unwrap();
    }
    let base = base(&at("x.npy"));
    // At least one refusal for each copy: of the file, and of what is made from it.
    for (file, min_refusals) in [
        ("little.npy", 1),
        ("big.npy", 2),
        ("fortran.npy", 2),
        ("raw.pb", 2),
        ("numbers.pb", 3),
        ("x.safetensors", 2),
        ("stored.npz", 2),
        ("deflated.npz", 1),
    ] {
        let refusals = refusals(base, &["reduce-max", &at(file), "--device", "cpu"]);
        assert!(refusals >= min_refusals, "{file}: {refusals} refusals");
    }
}

#[test]
fn memory_that_runs_out_is_an_error_on_each_way_out() {
    let (_folder, at) = folder();
    sparse(&at("little.npy"), &npy("<f4", "False"));
    let base = base(&at("x.npy"));
    let old = |name: &str| fs::write(at(name), "").unwrap();
    ["y.npy", "y.npz", "y.safetensors", "y.pb"].into_iter().for_each(old);
    // Files take no memory, so only the input and the result do; standard output takes a copy.
    for (spec, min_refusals) in [
        (at("y.npy"), 2),
        (at("y.npz"), 2),
        (at("y.safetensors"), 2),
        (at("y.pb"), 2),
        ("-".to_string(), 3),
        ("pb:-".to_string(), 3),
    ] {
        let fixed = ["reduce-max", &at("little.npy"), "--axes", "", "--device", "cpu", "-o"];
        let refusals = refusals(base, &[&fixed[..], &[&spec]].concat());
        assert!(refusals >= min_refusals, "{spec}: {refusals} refusals");
    }
    // The last run of each wrote the file.
    for name in ["y.npy", "y.npz", "y.safetensors", "y.pb"] {
        let shape = [BYTES / 4096, 1024];
        assert_eq!(wgmax::io::read(&at(name)).unwrap().shape(), shape, "{name}");
    }
}

/// Headers that a decoder would expand far beyond their size, in files with nothing else.
#[test]
fn heads_that_would_fill_the_memory_are_refused() {
    let (_folder, at) = folder();
    let base = base(&at("x.npy"));
    // Dimensions of 0, in one field.
    let dims = [&[10][..], &varint(BYTES)].concat();
    sparse(&at("dims.pb"), &dims);
    // Empty entries on external data, and elements in two fields in turn.
    fs::write(at("entries.pb"), [106, 0].repeat(BYTES / 2)).unwrap();
    let fields = [&[16, 1][..], &[32, 0, 40, 0].repeat(BYTES / 4)].concat();
    fs::write(at("fields.pb"), fields).unwrap();
    // The same dimensions of an initializer, in a graph, in a model.
    let initializer = [&[42][..], &varint(dims.len() + BYTES), &dims].concat();
    let graph = [&[58][..], &varint(initializer.len() + BYTES), &initializer].concat();
    sparse(&at("model.onnx"), &graph);
    for (bytes, name) in [(20 * MIB, "long.safetensors"), (40 * MIB, "longer.safetensors")] {
        let mut header = br#"{"x":{"dtype":"F32","shape":[1"#.to_vec();
        header.extend(b",1".repeat((bytes - header.len()) / 2));
        header.extend(br#"],"data_offsets":[0,4]}}"#);
        let file = [&(header.len() as u64).to_le_bytes()[..], &header, &[0; 4]].concat();
        fs::write(at(name), file).unwrap();
    }
    for (file, expected) in [
        ("dims.pb", "50331648 axes; at most 64"),
        ("entries.pb", "25165824 entries on external data"),
        ("fields.pb", "holds elements, but"),
        ("model.onnx", "50331648 axes; at most 64"),
        ("long.safetensors", "out of memory"),
        ("longer.safetensors", "at most 33554432 are read"),
    ] {
        let command = if file == "model.onnx" { "onnx" } else { "reduce-max" };
        let output = limited(base + 4 * BYTES, &[command, &at(file), "--device", "cpu"]);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{file}: {output:?}");
        assert!(error.contains(expected) && error.lines().count() == 1, "{file}: {error}");
    }
}

/// `--num-segments` asks for more segments than fit in memory.
#[test]
fn memory_that_no_machine_has_is_an_error() {
    let (_folder, at) = folder();
    wgmax::io::write(&at("ids.npy"), &Tensor::from_slice([2], &[0i32, 1]).unwrap()).unwrap();
    let fixed = ["segment-max", &at("x.npy"), &at("ids.npy"), "--device", "cpu"];
    let output = limited(4 << 30, &[&fixed[..], &["--num-segments", "2147483647"]].concat());
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(error.contains("out of memory") && error.lines().count() == 1, "{error}");
}
