//! Errors of wrong invocations name the wrong argument and what would be right.

use std::fs;

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
        "--max-binding 3: a binding of two blocks of 16 bytes needs 288\n",
    );
    with(&["--max-iterations", "3"], "--max-iterations 3: it must be 4 or more\n");
    with(&["--storage-buffers", "1"], "--storage-buffers 1: a kernel needs 2\n");
    // Positions of gradients are no attribute: a wider type would change nothing.
    let plane = ["max-pool", "1,1,100000,100000", "--kernel", "3,3"];
    explain(
        &[&plane[..], &["--backward"]].concat(),
        "the gradient of a plane needs 10000000000; the limit (positions of 32 bits) is 2147483647\n",
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
    let piece = |size: &str, reason: &str| {
        let answer = format!("invalid value '{size}' for '--max-piece <SIZE>': {reason}");
        answers(&at, &["reduce-max", &x, "--max-piece", size], &answer);
    };
    piece("0", "give 1 byte or more; try");
    piece("0GiB", "give 1 byte or more; try");
    piece("99999999999GiB", "the maximum is 18446744073709551615 bytes; try");
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
    for (minimum, maximum) in
        [("reduce-min", "reduce-max"), ("min-pool", "max-pool"), ("segment-min", "segment-max")]
    {
        let reason = format!("the cases of {maximum} are of maxima and of minima; try");
        let answer = format!("invalid value '{minimum}' for '--op <OPERATOR>': {reason}");
        answers(&at, &["verify", "--op", minimum], &answer);
    }
    answers(&at, &["verify", "--op", "max-pol"], "invalid value 'max-pol' for '--op <OPERATOR>'");
    refused(&["verify", "--op", "max-pol"], "'max-pool'");
    assert!(!succeeds(&["verify", "--help"]).contains("min-pool"));
}

/// Libraries below print nothing beside a list of devices.
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
