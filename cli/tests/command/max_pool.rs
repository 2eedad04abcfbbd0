//! `wgmax max-pool`.

use std::fs;
use std::path::Path;

use wgmax::Tensor;

use super::{adapter, devices, folder, refused, succeeds, wgmax};

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
    // The odd position of padding is after the last element, or before the first.
    let same = |how| run(&["--kernel", "2,5", "--strides", "1,5", "--auto-pad", how]);
    let column = |rows: &str| format!("f32[1, 1, 5, 1]\n{rows}");
    assert_eq!(same("same-upper"), column("  10.0\n  15.0\n  20.0\n  25.0\n  25.0\n"));
    assert_eq!(same("same-lower"), column("   5.0\n  10.0\n  15.0\n  20.0\n  25.0\n"));
    // Rows before, columns after: b1,b2,e1,e2.
    assert_eq!(
        run(&["--kernel", "2,1", "--strides", "4,4", "--pads", "1,0,0,4"]),
        "f32[1, 1, 2, 3]\n   1.0  5.0 -inf\n  21.0 25.0 -inf\n"
    );
    // Five channels with one spatial axis.
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

/// The examples of ONNX's specification of MaxPool.
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

    // Without -o the values are printed.
    let shown = succeeds(&["max-pool", &p, "--kernel", "5,5", "--device", "cpu", "--indices", &z]);
    assert_eq!(shown, "f32[1, 1, 1, 1]\n  25.0\n");
    assert_eq!(wgmax::io::read(&z).unwrap().to_vec::<i64>().unwrap(), [24]);
}

/// One number stands for all axes, in each list.
#[test]
fn one_number_is_for_all_axes() {
    let (_folder, at) = folder();
    let p = at("p.npy");
    write_picture(&p);
    for (one, each) in [
        (&["--kernel=3"][..], &["--kernel=3,3"][..]),
        (&["--kernel=2", "--strides=2"], &["--kernel=2,2", "--strides=2,2"]),
        (
            &["--kernel=2,3", "--strides=2", "--pads=1"],
            &["--kernel=2,3", "--strides=2,2", "--pads=1,1,1,1"],
        ),
        (&["--kernel=2", "--dilations=3"], &["--kernel=2,2", "--dilations=3,3"]),
    ] {
        let run = |more: &[&str]| succeeds(&[&["max-pool", &p, "--device", "cpu"], more].concat());
        assert_eq!(run(one), run(each), "{one:?}");
    }
    let explain = |kernel| succeeds(&["explain", "max-pool", "1x2x9x8x7", "--kernel", kernel]);
    assert_eq!(explain("3"), explain("3,3,3"));
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
    run(&["--kernel", "3,3,3"], "needs 2 numbers");
    run(&["--kernel", ""], "needs 2 numbers");
    run(&["--kernel", "0,3"], "--kernel 0,3");
    run(&["--kernel", "6,1"], "--kernel 6,1: the window covers 6");
    let max = "9223372036854775807,1";
    run(&["--kernel", max, "--dilations", max], "the window covers");
    for kernel in ["a", "3,", "3;3", "3x3", "3.0,3", "99999999999999999999,1"] {
        run(&["--kernel", kernel], "--kernel");
    }
    let run = |more: &[&str], word: &str| run(&[&["--kernel", "3,3"], more].concat(), word);
    run(&["--strides", "2,2,2"], "--strides 2,2,2: attribute strides needs 2 numbers");
    run(&["--strides", "2,0"], "--strides 2,0");
    run(&["--dilations", "-1,1"], "--dilations -1,1");
    run(&["--pads", "1,1"], "--pads 1,1: f32[1, 1, 5, 5] needs 4 numbers");
    run(&["--pads", "1,1,1"], "needs 4 numbers");
    run(&["--pads", "0,0,0,-1"], "--pads 0,0,0,-1");
    run(&["--pads", "1,1,1,1", "--auto-pad", "same-upper"], "--auto-pad same-upper");
    run(&["--auto-pad", "same"], "same");
    run(&["--rounding", "up"], "up");
    run(&["--layout", "cxn"], "cxn");
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
    run(&["--reshape", "1,5,5", "--layout", "ncx"], "needs 1 number for");
    run(&["--pads=-1"], "--pads -1");
    refused(&["max-pool", &p, "--kernel", "6"], "--kernel 6: the window covers 6");
    refused(&["max-pool", &x, "--kernel", "3"], "x.npy: pooling needs batch, channels");
    refused(&["max-pool", &at("no.npy"), "--kernel", "3"], "no.npy");
    refused(&["compare", "max-pool", &p, "--kernel", "3,3,3"], "--kernel 3,3,3");
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
    run(&at("both.npz:y"), &at("both.npz:y.npy"), "one file");
    assert!(!Path::new(&at("both.npz")).exists());
}

/// Every plan has the same results, indices included.
#[test]
fn plans_of_pooling_make_no_difference() {
    let (_folder, at) = folder();
    let (p, y, z) = (at("large.npy"), at("y.npy"), at("z.npy"));
    let numbers: Vec<f32> = (0..40_000).map(|i| (i * 7919 % 40_009) as f32).collect();
    wgmax::io::write(&p, &Tensor::from_slice([2, 5, 40, 100], &numbers).unwrap()).unwrap();
    let run = |device: &str, more: &[&str]| {
        let fixed = ["max-pool", &p, "--kernel", "3,3", "--strides", "2,2", "--device", device];
        let files = ["-o", &y, "--indices", &z];
        assert!(wgmax(&[&fixed[..], &files, more].concat()).status.success(), "{more:?}");
        [&y, &z].map(|file| wgmax::io::read(file).unwrap().bytes().to_vec())
    };
    let expected = run("cpu", &[]);
    for plan in ["hardware", "software", "cpu"] {
        for device in devices() {
            assert!(run(device, &["--tuning", plan]) == expected, "{plan} on {device}");
        }
    }
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
    if adapter::gpu().is_some() {
        let shown = run("cpu,gpu", &["--indices", "--index-type", "i32"]);
        assert!(shown.ends_with(&format!("{values}{indices}")), "{shown}");
    }
}
