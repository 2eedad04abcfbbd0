//! `wgmax reduce-max`, and what all operators share.

use std::fs;
use std::path::Path;

use wgmax::operator::ReduceMax;
use wgmax::{Device, Run, Tensor};

use super::{ON_THE_CPU, command, devices, folder, refused, stderr, stdout, succeeds, wgmax};

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

/// The minimum, and positions, of the same elements: 1.5 -2 3 and NaN 5 -6.
#[test]
fn minima_and_positions() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    let run = |more: &[&str]| succeeds(&[more, &[&x, "--device", "cpu"]].concat());
    assert_eq!(run(&["reduce-min", "--axes", "1"]), "f32[2]\n  -2.0  NaN\n");
    let ignoring = ["reduce-min", "--axes", "0", "--nan", "ignore"];
    assert_eq!(run(&ignoring), "f32[3]\n   1.5 -2.0 -6.0\n");
    assert_eq!(run(&["arg-max", "--axes", "1"]), "i64[2]\n  2 0\n");
    assert_eq!(run(&["arg-min"]), "i64[]\n  3\n");
    let narrow = ["arg-min", "--axes=-1", "--nan", "ignore", "--keep-dims", "--index-type", "i32"];
    assert_eq!(run(&narrow), "i32[2, 1]\n  1\n  2\n");

    let ties = at("ties.npy");
    wgmax::io::write(&ties, &Tensor::from_slice([4], &[2u8, 7, 7, 2]).unwrap()).unwrap();
    let run = |more: &[&str]| succeeds(&[more, &[&ties, "--device", "cpu"]].concat());
    assert_eq!(run(&["arg-max"]), "i64[]\n  1\n");
    assert_eq!(run(&["arg-max", "--last"]), "i64[]\n  2\n");
    assert_eq!(run(&["arg-min", "--last"]), "i64[]\n  3\n");
    let where_ = at("where.npy");
    let with = ["reduce-max", "--indices", &where_, "--last-index", "--index-type", "i32"];
    assert_eq!(run(&with), "u8[]\n  7\n");
    assert_eq!(wgmax::io::read(&where_).unwrap().as_slice::<i32>().unwrap(), [2]);

    let nothing = at("nothing.npy");
    wgmax::io::write(&nothing, &Tensor::from_slice([0, 1], &[0f32; 0]).unwrap()).unwrap();
    refused(&["arg-max", &nothing, "--axes", "0"], "an empty set has no position");
    let without = "wgmax: an empty set has no position";
    refused(&["reduce-max", &nothing, "--axes", "0", "--indices", &at("i.npy")], without);
    refused(&["arg-max", &nothing, "--axes", "7"], "wgmax: --axes 7: axis 7 is out of range");
    let highest = ["reduce-min", &nothing, "--axes", "0", "--device", "cpu", "--empty", "highest"];
    assert!(stdout(&wgmax(&highest)).contains("3.4028235e38"));
}

#[test]
fn the_maximum_of_nothing_is_a_choice() {
    let (_folder, at) = folder();
    let x = at("nothing.npy");
    wgmax::io::write(&x, &Tensor::from_slice([0, 1], &[0f32; 0]).unwrap()).unwrap();
    let run = |empty| {
        let fixed = ["reduce-max", &x, "--axes", "0", "--device", "cpu", "--empty", empty];
        let output = wgmax(&fixed);
        assert!(output.status.success(), "{output:?}");
        // A remark beside the result says that the set was empty.
        assert!(
            stderr(&output)
                .ends_with("nothing.npy: f32[0, 1] is empty: the result is the --empty value\n")
        );
        stdout(&output)
    };
    assert_eq!(run("neg-inf"), "f32[1]\n  -inf\n");
    assert_eq!(run("lowest"), "f32[1]\n  -3.4028235e38\n");
    // Without a result there is no remark.
    assert_eq!(succeeds(&["reduce-max", &x, "--axes", "1", "--device", "cpu"]), "f32[0]\n");
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

/// Pieces of any size have the results of the CPU.
#[test]
fn pieces_make_no_difference() {
    let (_folder, at) = folder();
    let numbers: Vec<i16> =
        (0..30_000).map(|i: i32| (i.wrapping_mul(40_503) >> 3) as i16).collect();
    let x = Tensor::from_slice([30, 1000], &numbers).unwrap();
    wgmax::io::write(&at("large.npy"), &x).unwrap();
    let input = at("large.npy");
    for (size, out) in [("4096", "a.npy"), ("8KiB", "b.npy"), ("1 g", "c.npy")] {
        let out = at(out);
        let size = format!("--max-piece={size}");
        for device in devices() {
            let arguments = ["reduce-max", &size, "--axes", "0", "-o", &out, &input];
            succeeds(&[&arguments[..], &["--device", device]].concat());
            let found = wgmax::io::read(&out).unwrap();
            let expected =
                ReduceMax::new().axes([0]).run(&Device::cpu(), &x).unwrap().into_vec().remove(0);
            assert_eq!(found.bytes(), expected.bytes(), "{size} on {device}");
        }
    }
    for size in ["", "0", "MiB", "4TiB", "-1", "99999999999GiB"] {
        refused(&["reduce-max", &format!("--max-piece={size}"), &at("large.npy")], "--max-piece");
    }
}

/// Every plan has the same results, on every device.
#[test]
fn plans_make_no_difference() {
    let (_folder, at) = folder();
    let numbers: Vec<u8> =
        (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let x = Tensor::from_slice([200, 1000], &numbers).unwrap();
    let (input, output) = (at("large.npy"), at("y.npy"));
    wgmax::io::write(&input, &x).unwrap();
    for axes in [0, 1] {
        let expected =
            ReduceMax::new().axes([axes]).run(&Device::cpu(), &x).unwrap().into_vec().remove(0);
        for device in devices() {
            for plan in ["hardware", "software", "cpu"] {
                let axes = axes.to_string();
                let arguments = ["reduce-max", &input, "--axes", &axes, "--tuning", plan];
                let output_of = ["--device", device, "-o", &output];
                assert!(wgmax(&[&arguments[..], &output_of].concat()).status.success(), "{plan}");
                let found = wgmax::io::read(&output).unwrap();
                assert_eq!(found.bytes(), expected.bytes(), "axis {axes}, {plan} on {device}");
            }
        }
    }
    refused(&["reduce-max", &input, "--tuning", "gpu"], "hardware");
    let compared =
        ["compare", "reduce-max", &input, "--between", "cpu,cpu", "--tuning", "software"];
    assert!(succeeds(&compared).contains("all equal"));
}

/// An error names the option or the file that it is about.
#[test]
fn errors_name_what_they_are_about() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    refused(&["reduce-max", &x, "--axes", "7"], "wgmax: --axes 7: axis 7 is out of range");
    refused(
        &["reduce-max", &x, "--type", "f64"],
        "x.npy: --type f64: the array in the file is f32",
    );
    wgmax::io::write(&at("i.npy"), &Tensor::from_slice([2], &[0i64, 1]).unwrap()).unwrap();
    refused(&["compare", &x, &at("i.npy")], "i.npy: cannot compare f32[2, 3] with i64[2]");
}

/// One size of `--reshape` may be left open.
#[test]
fn one_size_is_what_is_left() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    let fixed = ["reduce-max", &x, "--axes", "", "--device", "cpu", "--reshape"];
    for (shape, shown) in [("-1", "f32[6]"), ("3,-1", "f32[3, 2]"), ("-1x1x2", "f32[3, 1, 2]")] {
        assert!(succeeds(&[&fixed[..], &[shape]].concat()).starts_with(shown), "{shape}");
    }
    for (shape, word) in [
        ("4,-1", "--reshape 4,-1: 6 elements are no multiple of the other sizes, 4"),
        ("-1,-1", "only one size can be -1"),
        ("-2", "\"-2\" is not a size"),
    ] {
        refused(&[&fixed[..], &[shape]].concat(), word);
    }
}

/// If `auto` leaves out a software adapter, a short remark says how to choose it. Without an adapter there
/// is no remark.
#[test]
fn auto_tells_of_an_adapter_that_it_leaves_out() {
    let (_folder, at) = folder();
    let run = |device: &str, backend: Option<&str>| {
        let arguments = ["reduce-max", &at("x.npy"), "--axes", "0", "--device", device];
        let mut command = command(&arguments);
        backend.map(|backend| command.env("WGPU_BACKEND", backend));
        let output = command.output().unwrap();
        assert!(!output.status.success() || stdout(&output) == "f32[3]\n  NaN 5.0 3.0\n");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let none = if cfg!(windows) { "metal" } else { "dx12" };
    assert_eq!(run("auto", Some(none)), (Some(0), String::new()));
    assert_eq!(run("gpu", Some(none)).0, Some(2));
    match &wgmax::adapters().unwrap()[..] {
        [] => {}
        [first, ..] if first.kind == wgmax::DeviceKind::Software => {
            let (code, text) = run("AUTO", None);
            assert_eq!((code, text.lines().count()), (Some(0), 1), "{text}");
            assert!(text.starts_with(ON_THE_CPU) && text.contains("--device gpu"), "{text}");
            assert!(text.len() <= 80, "{text}");
            // Reports have the device in their text.
            let output = command(&["bench", "--filter", "R00", "--runs", "1"]).output().unwrap();
            assert!(stdout(&output).contains("CPU"), "{output:?}");
            assert!(!String::from_utf8(output.stderr).unwrap().contains(ON_THE_CPU));
            assert_eq!(run("gpu", None), (Some(0), String::new()));
        }
        _ => assert_eq!(run("auto", None), (Some(0), String::new())),
    }
}
