//! The files of outputs are checked before anything is computed.

use std::fs;
use std::path::Path;

use wgmax::Tensor;
use wgmax::io::npy;

#[cfg(target_os = "linux")]
use super::command;
use super::{folder, refused, stderr, succeeds, wgmax};

const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/cases/onnx_node/onnx-1.23.2/test_maxpool_with_argmax_2d_precomputed_pads/model.onnx"
);

/// A folder with `x.npy`, f32[2, 3], `ids.npy`, `p.npy`, f32[1, 1, 4], and `model.onnx`.
fn inputs() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let (folder, at) = folder();
    wgmax::io::write(&at("ids.npy"), &Tensor::from_slice([2], &[0i64, 1]).unwrap()).unwrap();
    let p = Tensor::from_slice([1, 1, 4], &[1f32, 4.0, 2.0, 3.0]).unwrap();
    wgmax::io::write(&at("p.npy"), &p).unwrap();
    fs::copy(MODEL, at("model.onnx")).unwrap();
    (folder, at)
}

/// Without `--force` no output replaces an input, by any name of its file.
#[test]
fn inputs_stay() {
    let (_folder, at) = inputs();
    let (x, p, ids, model) = (at("x.npy"), at("p.npy"), at("ids.npy"), at("model.onnx"));
    let (y, other) = (at("y.npy"), at("./x.npy"));
    fs::create_dir(at("cases")).unwrap();
    fs::write(at("cases/case.json"), "{}").unwrap();
    let case = at("cases/case.json");
    let data = at("cases/a.npy");
    fs::copy(&x, &data).unwrap();
    let files = [&x, &p, &ids, &model, &case, &data].map(|path| (path, fs::read(path).unwrap()));
    let pool = ["max-pool", &p, "--kernel", "2"];
    let input = format!("x={}", at("i.npy"));
    let y_in = format!("y={}", at("i.npy"));
    wgmax::io::write(&at("i.npy"), &Tensor::from_slice([1, 1, 5, 5], &[1f32; 25]).unwrap())
        .unwrap();
    for (option, arguments) in [
        ("--output", &["reduce-max", &x, "-o", &x][..]),
        ("--output", &["reduce-max", &x, "-o", &other]),
        ("--output", &[&pool[..], &["-o", &p]].concat()),
        ("--indices", &[&pool[..], &["-o", &y, "--indices", &p]].concat()),
        ("--output", &["segment-max", &x, &ids, "-o", &ids]),
        ("--indices", &["segment-max", &x, &ids, "--indices", &x]),
        ("--heatmap", &["compare", &at("a.png"), &at("a.png"), "--heatmap", &at("a.png")]),
        ("--json", &["onnx", &model, "--json", &model]),
        ("--output y=", &["onnx", &model, "--input", &input, "--output", &y_in]),
        ("--json", &["check", &at("cases"), "--json", &case]),
        ("--json", &["check", &at("cases"), "--json", &data]),
        ("--json", &["verify", "--replay", &case, "--json", &case]),
        ("--html", &["verify", "--replay", &case, "--html", &case]),
    ] {
        if option == "--heatmap" {
            image::DynamicImage::new_rgb8(4, 4).save(at("a.png")).unwrap();
        }
        refused(arguments, "it would replace a file that is read");
        refused(arguments, option);
    }
    assert!(files.iter().all(|(path, before)| fs::read(path).unwrap() == *before));
    assert!(!Path::new(&y).exists());

    let forced = ["reduce-max", &x, "--axes", "0", "--nan", "ignore", "--device", "cpu", "--force"];
    succeeds(&[&forced[..], &["-o", &x]].concat());
    assert_eq!(wgmax::io::read(&x).unwrap().to_vec::<f32>().unwrap(), [1.5, 5.0, 3.0]);
}

/// Paths are bytes: one that is no text is that of a file, too.
#[cfg(target_os = "linux")]
#[test]
fn inputs_with_odd_paths_stay() {
    use std::os::unix::ffi::OsStrExt;

    let (folder, at) = inputs();
    let odd = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
    let model = odd(b"m\xff.onnx");
    fs::copy(MODEL, &model).unwrap();
    let replay = odd(b"r\xff.json");
    fs::write(&replay, "{}").unwrap();
    let before = [&model, &replay].map(|path| fs::read(path).unwrap());
    for (arguments, path) in [(&["onnx"][..], &model), (&["verify", "--replay"], &replay)] {
        let output = command(arguments).arg(path).arg("--json").arg(path).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains("it would replace a file that is read"), "{output:?}");
    }
    assert_eq!([&model, &replay].map(|path| fs::read(path).unwrap()), before);
    // Two files whose names look alike.
    let [a, b] = [odd(b"a\xff.json"), odd(b"a\xfe.html")];
    let run = ["verify", "--device", "cpu", "--cases", "1", "-q"];
    let output = command(&run).arg("--json").arg(&a).arg("--html").arg(&b).output().unwrap();
    assert!(output.status.success() && a.exists() && b.exists(), "{output:?}");
    assert!(at("x.npy").ends_with("x.npy"));
}

/// An array is added beside the one that is read, and does not replace it.
#[test]
fn arrays_of_the_archive_that_is_read_stay() {
    let (_folder, at) = inputs();
    let x = wgmax::io::read(&at("x.npy")).unwrap();
    for archive in ["a.npz", "a.safetensors"] {
        let (one, two) = (at(&format!("{archive}:one")), at(&format!("{archive}:two")));
        wgmax::io::write(&one, &x).unwrap();
        let run = ["reduce-max", &one, "--axes", "1", "--device", "cpu", "-o"];
        succeeds(&[&run[..], &[&two]].concat());
        for to in [&one, &at(archive)] {
            refused(&[&run[..], &[to]].concat(), "--force replaces it\n");
        }
        assert_eq!(wgmax::io::read(&one).unwrap().shape(), [2, 3]);
        succeeds(&[&run[..], &[&one, "--force"]].concat());
        assert_eq!(wgmax::io::read(&one).unwrap().shape(), [2]);
    }
}

/// The error names the options. Nothing is computed, and standard input is not read.
#[test]
fn two_outputs_in_one_place_are_refused() {
    let (_folder, at) = inputs();
    let (p, x, model) = (at("p.npy"), at("x.npy"), at("model.onnx"));
    let both = |arguments: &[&str], a: &str, b: &str| {
        refused(arguments, &format!("{a} and {b}: both go to standard output"));
    };
    both(
        &["max-pool", "-", "--kernel", "2", "-o", "-", "--indices", "-"],
        "--output -",
        "--indices -",
    );
    both(&["segment-max", &x, "-", "-o", "pb:-", "--indices=-"], "--output pb:-", "--indices -");
    both(&["onnx", &model, "--json", "-", "--output", "y=-"], "--json -", "--output y=-");
    both(&["onnx", &model, "--output=y=-", "--output=z=npy:-"], "--output y=-", "--output z=npy:-");
    both(&["verify", "--json", "-", "--html", "-"], "--html -", "--json -");
    both(&["bench", "--plot", "-", "--json", "-"], "--json -", "--plot -");
    let y = at("y.npy");
    let one = |arguments: &[&str]| refused(arguments, "cannot be one file");
    one(&["max-pool", &p, "--kernel", "2", "-o", &y, "--indices", &at("./y.npy")]);
    one(&["verify", "--json", &y, "--html", &y]);
    let svg = at("y.svg");
    one(&["bench", "--plot", &svg, "--json", &svg]);
    assert!(!Path::new(&y).exists());
    let twice = "- and -: both are standard input";
    refused(&["segment-max", "-", "-"], twice);
    refused(&["compare", "-", "-"], twice);
    refused(&["compare", "segment-max", "-", "-"], twice);
}

/// Maxima that have no file are printed, unless the indices go to standard output.
#[test]
fn indices_alone_may_go_to_standard_output() {
    let (_folder, at) = inputs();
    let tensor = |arguments: &[&str]| {
        let output = wgmax(&[arguments, &["--device", "cpu", "--indices", "-"]].concat());
        assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
        npy::parse("stdout", std::sync::Arc::new(output.stdout)).unwrap().to_vec::<i64>().unwrap()
    };
    assert_eq!(tensor(&["max-pool", &at("p.npy"), "--kernel", "2"]), [1, 1, 3]);
    let segments = ["segment-max", &at("x.npy"), &at("ids.npy"), "--nan", "ignore"];
    assert_eq!(tensor(&segments), [0, 0, 0, 1, 1, 1]);
}

/// With a report on standard output, all else is on standard error.
#[test]
fn reports_have_standard_output_alone() {
    for (arguments, text) in [
        (
            &["verify", "--device", "cpu", "--seed", "1", "--cases", "2"][..],
            "all equal, bit for bit",
        ),
        (&["bench", "--device", "cpu", "--filter", "R00", "--runs", "1"], "R00"),
    ] {
        let output = wgmax(&[arguments, &["--json", "-"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
        assert!(stderr(&output).contains(text), "{output:?}");
    }
    assert!(!Path::new("-").exists());
}

/// An output that cannot be written is refused before the input, which does not exist, is read.
#[test]
fn places_are_checked_first() {
    let (_folder, at) = inputs();
    let (none, model) = (at("none.npy"), at("model.onnx"));
    fs::create_dir(at("folder.npy")).unwrap();
    fs::create_dir(at("folder.png")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let y_of = |name: &str| format!("y={}", at(name));
    for (folder, arguments) in [
        ("missing", &["reduce-max", &none, "-o", &at("missing/y.npy")][..]),
        ("folder.npy", &["reduce-max", &none, "-o", &at("folder.npy")]),
        ("y.txt", &["reduce-max", &none, "-o", &at("y.txt")]),
        ("missing", &["max-pool", &none, "--kernel", "2", "--indices", &at("missing/i.npz:i")]),
        ("folder.png", &["max-pool", &none, "--kernel", "2", "-o", &at("folder.png")]),
        ("missing", &["segment-max", &none, &none, "-o", &at("missing/y.pb")]),
        ("missing", &["compare", &none, &none, "--heatmap", &at("missing/d.png")]),
        ("folder.npy", &["onnx", &none, "--output", &y_of("folder.npy")]),
        ("folder", &["onnx", &model, "--json", &at("folder")]),
        ("folder", &["check", &at("folder"), "--json", &at("folder")]),
        ("folder", &["verify", "--html", &at("folder")]),
        ("folder", &["bench", "--plot", &at("folder")]),
    ] {
        let output = wgmax(arguments);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(folder) && !error.contains("none.npy"), "{arguments:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    // An archive of several arrays, which would be lost.
    let x = wgmax::io::read(&at("x.npy")).unwrap();
    for name in ["a.npz:a", "a.npz:b"] {
        wgmax::io::write(&at(name), &x).unwrap();
    }
    refused(&["reduce-max", &none, "-o", &at("a.npz")], "holds 2 members, which would be lost");
    // A file that may not be written; the superuser may write it, too, so it is refused by its mode.
    fs::write(at("old.npy"), "old").unwrap();
    let mut mode = fs::metadata(at("old.npy")).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(at("old.npy"), mode).unwrap();
    refused(&["reduce-max", &none, "-o", &at("old.npy")], "old.npy: ");
    assert_eq!(fs::read(at("old.npy")).unwrap(), b"old");
}
