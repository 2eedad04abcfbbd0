//! Errors of wrong invocations name the wrong argument and what would be right.

use std::fs;
use std::path::Path;

use wgmax::Tensor;

use super::{command, folder, refused, stderr, succeeds, wgmax};

/// Runs a command that must be refused. Its error begins with `answer`, which names files without
/// the folder.
#[track_caller]
fn answers(at: &impl Fn(&str) -> String, arguments: &[&str], answer: &str) {
    refused(arguments, "");
    let line = stderr(&wgmax(arguments)).replace(&at(""), "");
    assert!(line.starts_with(&format!("wgmax: {answer}")), "{arguments:?}: {line}");
}

#[test]
fn outputs_and_inputs_that_are_no_files() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    for name in ["no/y.npy", "no/y.npz:y", "no/y.safetensors:y", "no/y.pb", "no/y.png"] {
        let path = name.split(':').next().unwrap();
        let arguments = ["reduce-max", &x, "--device", "cpu", "-o", &at(name)];
        answers(&at, &arguments, &format!("{path}: there is no folder no\n"));
    }
    let not_valid = "j.npy: not a valid npy file: ";
    for (content, reason) in [
        (&b""[..], "it is empty"),
        (b"hi", "it does not start with \\x93NUMPY"),
        (b"hello, this is junk", "it does not start with \\x93NUMPY"),
        (b"\x93NUM", "it ends inside the header"),
        (b"\x93NUMPY\x01", "it ends inside the header"),
        (b"\x93NUMPY\x01\x00\x76\x00{'descr'", "it ends inside the header"),
    ] {
        fs::write(at("j.npy"), content).unwrap();
        answers(&at, &["reduce-max", &at("j.npy")], &format!("{not_valid}{reason}\n"));
    }
    let no_report = "x.npy: not a JSON report of wgmax verify: ";
    answers(&at, &["verify", "--replay", &x], no_report);
}

/// The option that sets a limit is named, not the device's limit.
#[test]
fn limits() {
    let (_folder, at) = folder();
    let explain = |arguments: &[&str], answer: &str| {
        answers(&at, &[&["explain"], arguments].concat(), answer);
    };
    let rows = &["reduce-max", "1000x1000"];
    let with = |more: &[&str], answer: &str| explain(&[&rows[..], more].concat(), answer);
    with(
        &["--max-binding", "3"],
        "--max-binding 3: give 288 or more, for a binding of two blocks of 16 bytes\n",
    );
    with(&["--max-iterations", "3"], "--max-iterations 3: it must be 4 or more\n");
    with(&["--storage-buffers", "1"], "--storage-buffers 1: give 2 or more, for a kernel\n");
    // No option sets the type of a gradient's positions, so the error advises no wider type.
    let plane = ["max-pool", "1,1,100000,100000", "--kernel", "3,3"];
    explain(
        &[&plane[..], &["--backward"]].concat(),
        "the gradient of a plane needs 10000000000; the limit (elements of a plane) is 2147483647\n",
    );
    explain(
        &[&plane[..], &["--indices", "--index-type", "i32"]].concat(),
        "--index-type i32: i32 indices cannot number 10000000000 elements; use i64\n",
    );
    explain(
        &["segment-max", "1000x64", "--num-segments", "100000000000"],
        "--num-segments 100000000000: a plan has 2147483647 segments at most\n",
    );
    let ids = at("ids.npy");
    wgmax::io::write(&ids, &Tensor::from_slice([2], &[0i32, 1]).unwrap()).unwrap();
    answers(
        &at,
        &[
            "segment-max",
            &at("x.npy"),
            &ids,
            "--device",
            "cpu",
            "--num-segments",
            "100000000000000",
        ],
        "--num-segments 100000000000000: the results have 1.1 PiB: the CPU ran out of memory at ",
    );
}

#[test]
fn numbers() {
    let (_folder, at) = folder();
    let (x, p) = (at("x.npy"), at("p.npy"));
    wgmax::io::write(&p, &Tensor::from_slice([1, 1, 3, 3], &[0f32; 9]).unwrap()).unwrap();
    let invalid = |arguments: &[&str], value: &str, option: &str, reason: &str| {
        let answer = format!("invalid value '{value}' for '{option}': {reason}; try");
        answers(&at, arguments, &answer);
    };
    let (u16s, u32s) = ("from 1 to 65535", "from 1 to 4294967295");
    let (u64s, seeds) = ("from 1 to 18446744073709551615", "from 0 to 18446744073709551615");
    for (command, option, name, range, values) in [
        ("verify", "--cases", "--cases <CASES>", u64s, ["0", "-1", "abc"]),
        ("verify", "--seconds", "--seconds <S>", u64s, ["0", "-1", "1e300"]),
        ("verify", "--seed", "--seed <SEED>", seeds, ["1e3", "-1", "99999999999999999999"]),
        ("verify", "--max-growth", "--max-growth <MIB>", seeds, ["abc", "-1", ""]),
        ("bench", "--runs", "--runs <RUNS>", u32s, ["0", "-1", "4294967296"]),
        ("onnx", "--runs", "--runs <N>", u16s, ["0", "-1", "65536"]),
    ] {
        for value in values {
            let reason = format!("give a whole number {range}");
            invalid(&[command, option, value], value, name, &reason);
        }
    }
    let segments = "--num-segments <N>";
    let ids = ["segment-max", &x, &x, "--num-segments", "1e3"];
    invalid(&ids, "1e3", segments, "\"1e3\" is not a whole number");
    let huge = "99999999999999999999";
    let axes = ["reduce-max", &x, "--axes", huge];
    invalid(&axes, huge, "--axes <AXES>", &format!("\"{huge}\" is too large"));
    invalid(&["explain", "reduce-max", huge], huge, "<SHAPE>", &format!("\"{huge}\" is too large"));
    answers(&at, &["reduce-max", &x, "--device", "-1"], "no GPU adapter matches \"-1\"; found: ");
    let piece = |size: &str, reason: &str| {
        let answer = format!("invalid value '{size}' for '--max-piece <SIZE>': {reason}");
        answers(&at, &["reduce-max", &x, "--max-piece", size], &answer);
    };
    piece("0", "give 1 byte or more; try");
    piece("0GiB", "give 1 byte or more; try");
    piece("99999999999GiB", "the maximum is 18446744073709551615 bytes; try");
    piece("99999999999999999999", "the maximum is 18446744073709551615 bytes; try");
    piece("-1", "\"-1\" is not a size; give bytes, or KiB, MiB or GiB as in 256MiB; try");
    piece(
        "2 apples",
        "\"2 apples\" is not a size; give bytes, or KiB, MiB or GiB as in 256MiB; try",
    );
    let pool = |arguments: &[&str], answer: &str| {
        answers(&at, &[&["max-pool", &p], arguments].concat(), answer);
    };
    pool(&["--kernel", "0,2"], "--kernel 0,2: each number must be 1 or more\n");
    pool(&["--kernel", "0"], "--kernel 0: each number must be 1 or more\n");
    pool(&["--kernel=2,2", "--strides=0"], "--strides 0: each number must be 1 or more\n");
    pool(
        &["--kernel=2,2", "--dilations=1,-1"],
        "--dilations 1,-1: each number must be 1 or more\n",
    );
    pool(&["--kernel=2,2", "--pads=-1"], "--pads -1: each number must be 0 or more\n");
    let pads = ["--kernel=2", "--pads=99999999999"];
    pool(&pads, "--pads 99999999999: shape [1, 1, 200000000000, 200000000000] of f32 is too large");
    let reshaped = |shape: &str, reason: &str| {
        let answer = format!("--reshape {shape}: {reason} (x.npy: f32[2, 3])\n");
        answers(&at, &["reduce-max", &x, "--reshape", shape.trim_matches('"')], &answer);
    };
    reshaped("3,7", "it has 21 elements, not 6");
    reshaped("4,-1", "6 elements are no multiple of the other sizes, 4");
    reshaped("\"\"", "it has 1 element, not 6");
}

/// Options that need or exclude others, and words that another command has.
#[test]
fn options_beside_others() {
    let (_folder, at) = folder();
    let (x, i, ids) = (at("x.npy"), at("i.npy"), at("ids.npy"));
    wgmax::io::write(&ids, &Tensor::from_slice([2], &[0i32, 1]).unwrap()).unwrap();
    let reduce = |more: &[&str], answer: &str| {
        answers(&at, &[&["reduce-max", &x], more].concat(), answer);
    };
    let both = "; try wgmax reduce-max --help\n";
    reduce(&["--last-index"], &format!("--last-index needs --backward or --indices{both}"));
    reduce(&["--index-type", "i32"], &format!("--index-type needs --indices{both}"));
    reduce(&["--index-type=i32"], &format!("--index-type needs --indices{both}"));
    reduce(&["--plan", "hardware"], &format!("unexpected '--plan': it is now --tuning{both}"));
    let beside = "the argument '--initial <NUMBER>' cannot be used with '--indices <IDX_FILE>'";
    reduce(&["--initial", "0", "--indices", &i], beside);
    let missing = "the following required arguments were not provided: <INPUT>";
    answers(&at, &["reduce-max", "--last-index"], "the following required arguments");
    answers(&at, &["reduce-max", "--keep-dims"], missing);
    let segment = |more: &[&str], answer: &str| {
        answers(&at, &[&["segment-max", &x, &ids], more].concat(), answer);
    };
    segment(&["--drop"], "--drop needs --num-segments; try wgmax segment-max --help\n");
    let offsets = "--num-segments 5: leave it out; --offsets imply the number\n";
    segment(&["--offsets", "--num-segments", "5"], offsets);
    let scatter = ["scatter-max", &x, &x, &x, "--of-updates", &i];
    answers(&at, &scatter, "--of-updates needs --backward; try wgmax scatter-max --help\n");
    answers(
        &at,
        &["shader", "--language", "hlsl"],
        "--language needs NAME or --all; try wgmax shader --help\n",
    );
    answers(
        &at,
        &["arg-max", &x, "--indices", &i],
        "unexpected '--indices': the result is the positions; write them with -o; try",
    );
    let positions = "give reduce-max with --indices; try";
    answers(&at, &["explain", "arg-max", "3x4"], &format!("unexpected 'arg-max': {positions}"));
    let compare = ["compare", "arg-max", &x];
    answers(&at, &compare, &format!("invalid value 'arg-max' for '<A>': {positions}"));
    let values = ["compare", "reduce-max", &x, "--values"];
    answers(&at, &values, "unexpected '--values': it is for two files; try");
    let before = "invalid value 'reduce-max' for '<A>': options of an operator follow it; --values";
    answers(&at, &["compare", "--values", "reduce-max", &x], before);
    let between = ["compare", "reduce-max", &x, "--between", "cpu,cpu,cpu"];
    let two = "invalid value 'cpu,cpu,cpu' for '--between <A,B>': give two devices, A,B; try";
    answers(&at, &between, two);
    let list = ["bench", "--list", "--json", &at("r.json")];
    answers(&at, &list, "the argument '--list' cannot be used with '--json <FILE>'; try");
    let help = succeeds(&["reduce-max", "--help"]);
    assert_eq!(succeeds(&["reduce-max", "help", "--help"]), help);
    assert_eq!(succeeds(&["help", "--help"]), succeeds(&["--help"]));
    assert_eq!(succeeds(&["compare", "help", "-h"]), succeeds(&["compare", "-h"]));
}

#[test]
fn files_of_another_kind() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    let reduce = |file: &str, answer: &str| {
        answers(&at, &["reduce-max", file, "--device", "cpu"], answer);
    };
    let output = |file: &str, answer: &str| {
        answers(&at, &["reduce-max", &x, "--device", "cpu", "-o", file], answer);
    };
    fs::create_dir(at("dir")).unwrap();
    reduce(&at("dir"), "dir: it is a folder\n");
    output(&at("dir"), "dir: it is a folder\n");
    reduce("", "\"\": unknown kind of tensor file; use FILE.npy");
    output("", "\"\": unknown kind of tensor file; use FILE.npy");
    reduce(&at("m.onnx"), "m.onnx: a model; run its nodes with: wgmax onnx m.onnx\n");
    let name = "the name of the array is missing after the colon\n";
    output(&at("y.safetensors:"), &format!("y.safetensors: {name}"));
    #[cfg(target_os = "linux")]
    output("/proc/y.npy", "/proc/y.npy: no file can be created in /proc\n");
    for (file, content, reason) in [
        ("a.npz", "junk", "npz file: it is not a zip archive ("),
        ("a.npz", "", "npz file: it is empty\n"),
        ("a.safetensors", "ju", "safetensors file: it does not begin with the length of a header"),
        ("a.safetensors", "", "safetensors file: it is empty\n"),
    ] {
        fs::write(at(file), content).unwrap();
        reduce(&format!("{}:x", at(file)), &format!("{file}: not a valid {reason}"));
    }
    fs::write(at("e.onnx"), "").unwrap();
    answers(&at, &["onnx", &at("e.onnx")], "e.onnx: not a valid ONNX model file: it is empty\n");
    let mut complex = fs::read(&x).unwrap();
    let dtype = complex.windows(3).position(|part| part == b"<f4").unwrap();
    complex[dtype + 1] = b'c';
    fs::write(at("c.npy"), complex).unwrap();
    reduce(&at("c.npy"), "c.npy: arrays of dtype \"<c4\" are not supported; there are f4, f8, ");
    let folder = at("dir");
    answers(&at, &["shader", "--all", &x], "--all x.npy: it is not a folder\n");
    let deep = at("no/deep");
    answers(&at, &["shader", "--all", &deep], "--all no/deep: the folder cannot be created: ");
    assert!(!Path::new(&at("no")).exists());
    let plot = ["bench", "--plot", &at("p.png")];
    answers(&at, &plot, "--plot p.png: the plot is a FILE.svg\n");
    answers(
        &at,
        &["explain", "reduce-max", "x.npy"],
        "invalid value 'x.npy' for '<SHAPE>': give a shape such as 64x224x224, not a file; try",
    );
    answers(&at, &["explain", "segment-max", "", "--num-segments", "3"], "\"\": the data needs");
    let report = at("no/r.json");
    answers(&at, &["check", &folder, "--json", &report], "no/r.json: there is no folder no\n");
    // A picture is refused before it is computed.
    let pool = ["max-pool", &x, "--kernel", "2,2", "--device", "no such device"];
    let picture = "y.png: f32[1, 2] is no picture: samples are u8 or u16\n";
    answers(&at, &[&pool[..], &["-o", &at("y.png")]].concat(), picture);
}

/// Inputs that do not belong together, and initial values of another type.
#[test]
fn inputs_that_do_not_fit() {
    let (_folder, at) = folder();
    let (x, ids) = (at("x.npy"), at("ids.npy"));
    let scatter = |more: &[&str], answer: &str| {
        answers(&at, &[&["scatter-max", &x, &ids, &x], more].concat(), answer);
    };
    let write = |tensor: wgmax::Result<Tensor>| wgmax::io::write(&ids, &tensor.unwrap()).unwrap();
    write(Tensor::from_slice([4], &[0i64; 4]));
    let fit = "ids.npy: indices of the shape [4] do not fit data of the shape [2, 3]: ";
    scatter(&[], &format!("{fit}they need its rank, unless they are vectors\n"));
    scatter(&["--vectors"], &format!("{fit}a vector has at most one number for each axis\n"));
    write(Tensor::from_slice([2, 3], &[0f32; 6]));
    scatter(&[], "ids.npy: the type of the indices is f32, not an integer type\n");
    write(Tensor::from_slice([2], &[0i64; 2]));
    for (file, command, initial, of) in [
        (&ids, &["reduce-max"][..], "1.5", "i64"),
        (&x, &["reduce-max"], "1e99", "f32"),
        (&x, &["max-pool", "--kernel=2,2"], "1e99", "f32"),
        (&x, &["adaptive-max-pool", "--output-sizes=2,2"], "-1e99", "f32"),
    ] {
        let reason =
            format!("the initial value {initial} is not a value of {of}, the input's type\n");
        let arguments = [command, &[file, "--initial", initial]].concat();
        answers(&at, &arguments, &format!("--initial {initial}: {reason}"));
    }
    answers(
        &at,
        &["adaptive-max-pool", &x, "--output-sizes", "2"],
        "x.npy: pooling needs batch, channels and at least one spatial axis, but the input has rank 2; \
         if the batch axis is missing: wgmax adaptive-max-pool ",
    );
    let hwc = ["max-pool", &x, "--kernel", "2,2", "--layout", "NHWC", "--device", "cpu"];
    answers(&at, &hwc, "x.npy: pooling needs batch");
}

#[test]
fn gradients_of_another_shape_or_type() {
    let (_folder, at) = folder();
    let (x, i) = (at("x.npy"), at("i.npy"));
    wgmax::io::write(&i, &Tensor::from_slice([2], &[0f64; 2]).unwrap()).unwrap();
    let reduce = ["reduce-max", &x, "--axes", "1", "--backward"];
    let shape = "--backward x.npy: its shape is [2, 3], but that of the result is ";
    answers(&at, &[&reduce[..], &[&x]].concat(), &format!("{shape}[2]\n"));
    let of_type = "--backward i.npy: its type is f64, not f32\n";
    answers(&at, &[&reduce[..], &[&i]].concat(), of_type);
    // A picture is pooled with a batch and a channel axis, which its file does not have.
    let pool = ["max-pool", &x, "--kernel", "2,2", "--backward", &x];
    answers(&at, &pool, &format!("{shape}[1, 2]\n"));
}

#[test]
fn names() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    for blank in ["", " "] {
        let lists = "the name is blank; `wgmax devices` lists the devices; try";
        let device = format!("invalid value '{blank}' for '--device <DEVICE>': {lists}");
        answers(&at, &["reduce-max", &x, "--device", blank], &device);
        let pair = format!("cpu,{blank}");
        let between = format!("invalid value '{pair}' for '--between <A,B>': {lists}");
        answers(&at, &["compare", "reduce-max", &x, "--between", &pair], &between);
    }
    let lists = "auto may be the CPU; `wgmax devices` lists the devices; try";
    let between = format!("invalid value 'cpu,auto' for '--between <A,B>': {lists}");
    answers(&at, &["compare", "reduce-max", &x, "--between", "cpu,auto"], &between);
    let device = format!("invalid value 'Auto' for '--device <DEVICE>': {lists}");
    answers(&at, &["verify", "--device", "Auto", "--cases", "1"], &device);
    answers(
        &at,
        &["shader", "reduce_rows", "f32", "--flag", "unaligned"],
        "--flag unaligned: not a flag of reduce_rows; its flags are positions, from_positions; \
         kernels that have it: reduce_columns\n",
    );
    answers(
        &at,
        &["shader", "unpack", "f32", "--flag", "fast"],
        "--flag fast: not a flag of unpack; it has none\n",
    );
    for (other, operator) in [
        ("reduce-min", "reduce-max"),
        ("arg-max", "reduce-max"),
        ("min-pool", "max-pool"),
        ("adaptive-max-pool", "max-pool"),
        ("segment-min", "segment-max"),
        ("scatter-max", "segment-max"),
    ] {
        let reason = format!("give {operator}; its cases include {other}; try");
        let answer = format!("invalid value '{other}' for '--op <OPERATOR>': {reason}");
        answers(&at, &["verify", "--op", other], &answer);
    }
    answers(&at, &["verify", "--op", "max-pol"], "invalid value 'max-pol' for '--op <OPERATOR>'");
    refused(&["verify", "--op", "max-pol"], "'max-pool'");
    assert!(!succeeds(&["verify", "--help"]).contains("min-pool"));
}

/// Libraries print nothing when devices are listed.
#[cfg(target_os = "linux")]
#[test]
fn drivers_are_silent() {
    for path in [None, Some(""), Some("relative")] {
        let mut devices = command(&["devices"]);
        path.map(|path| devices.env("XDG_RUNTIME_DIR", path));
        let output = devices.output().unwrap();
        let printed = stderr(&output);
        assert!(output.status.success(), "{path:?}: {printed}");
        assert!(!printed.contains("XDG_RUNTIME_DIR"), "{path:?}: {printed}");
    }
}
