//! `wgmax segment-max`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wgmax::Tensor;

use super::{adapter, refused, stderr, stdout, succeeds, wgmax};

/// A folder with `x.npy`, five rows of f32, and the `ids` and `offsets` of their segments, of which
/// one has no rows.
fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let (folder, at) = super::folder();
    let x = [1.0f32, 8.0, 2.0, 7.0, -3.0, f32::NAN, -4.0, -5.0, 6.0, f32::NEG_INFINITY];
    wgmax::io::write(&at("x.npy"), &Tensor::from_slice([5, 2], &x).unwrap()).unwrap();
    write_ids(&at("ids.npy"), &[0, 0, 1, 1, 3]);
    write_ids(&at("offsets.npy"), &[0, 2, 4, 4, 5]);
    (folder, at)
}

fn write_ids(spec: &str, ids: &[i64]) {
    wgmax::io::write(spec, &Tensor::from_slice([ids.len()], ids).unwrap()).unwrap();
}

#[test]
fn prints_the_maximum_of_each_segment() {
    let (_folder, at) = folder();
    let (x, ids, offsets) = (at("x.npy"), at("ids.npy"), at("offsets.npy"));
    let run = |second: &str, more: &[&str]| {
        succeeds(&[&["segment-max", &x, second, "--device", "cpu"], more].concat())
    };
    let all = "f32[4, 2]\n   2.0  8.0\n  -3.0  NaN\n   0.0  0.0\n   6.0 -inf\n";
    assert_eq!(run(&ids, &[]), all);
    assert_eq!(run(&ids, &["--unsorted", "--nan", "propagate", "--fill", "zero"]), all);
    assert_eq!(run(&offsets, &["--offsets"]), all);
    assert_eq!(run(&ids, &["--num-segments", "4"]), all);

    let joined = run(&ids, &["--initial", "-1.5"]);
    assert_eq!(joined, "f32[4, 2]\n   2.0  8.0\n  -1.5  NaN\n  -1.5 -1.5\n   6.0 -1.5\n");
    let ignoring = run(&ids, &["--nan", "ignore", "--fill", "neg-inf"]);
    assert_eq!(ignoring, "f32[4, 2]\n   2.0  8.0\n  -3.0 -5.0\n  -inf -inf\n   6.0 -inf\n");
    assert!(run(&offsets, &["--offsets", "--fill", "lowest"]).contains("\n  -3.4028235e38 "));
    // Rows that are dropped are counted.
    for (second, more, shown, dropped) in [
        (&ids, &["--num-segments=1", "--drop"][..], "f32[1, 2]\n  2.0 8.0\n", "3 of 5 rows"),
        (&ids, &["--num-segments=0", "--drop"], "f32[0, 2]\n", "5 of 5 rows"),
        (&at("inner.npy"), &["--offsets"], "f32[1, 2]\n  2.0 7.0\n", "3 of 5 rows"),
    ] {
        write_ids(&at("inner.npy"), &[1, 3]);
        let fixed = ["segment-max", &x, second, "--nan=ignore", "--device", "cpu"];
        let output = wgmax(&[&fixed[..], more].concat());
        assert_eq!(stdout(&output), shown, "{more:?}");
        let text = stderr(&output);
        assert!(text.starts_with(&format!("wgmax: {dropped} belong to no segment")), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let more = "f32[5, 2]\n   2.0  8.0\n  -3.0  NaN\n   0.0  0.0\n   6.0 -inf\n   0.0  0.0\n";
    assert_eq!(run(&ids, &["--num-segments", "5"]), more);
}

#[test]
fn unsorted_ids_may_be_out_of_range() {
    let (_folder, at) = folder();
    // i32 ids, in a file of several tensors.
    let ids = at("ids.npz:ids");
    let tensor = Tensor::from_slice([5], &[1i32, -1, 0, 1, i32::MAX]).unwrap();
    wgmax::io::write(&ids, &tensor).unwrap();
    let x = at("x.npy");
    let more = ["--unsorted", "--num-segments", "2", "--drop", "--device", "cpu"];
    let output = wgmax(&[&["segment-max", &x, &ids][..], &more].concat());
    assert_eq!(stdout(&output), "f32[2, 2]\n  -3.0  NaN\n   1.0  8.0\n");
    let text = "wgmax: 2 of 5 rows belong to no segment: their ids are out of range\n";
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), text));

    // Labels as numpy has them.
    let labels = at("labels.npy");
    let tensor = Tensor::from_slice([5], &[200u8, 1, 0, 1, 255]).unwrap();
    wgmax::io::write(&labels, &tensor).unwrap();
    let output = wgmax(&[&["segment-max", &x, &labels][..], &more].concat());
    assert_eq!(stdout(&output), "f32[2, 2]\n  -3.0  NaN\n   2.0  7.0\n");
    assert!(stderr(&output).starts_with("wgmax: 2 of 5 rows"), "{output:?}");

    // A row with a negative id belongs to no segment; an id that is too large is an error without --drop.
    write_ids(&labels, &[1, -1, 0, 1, -2]);
    let output = wgmax(&["segment-max", &x, &labels, "--unsorted", "--device", "cpu"]);
    assert!(stderr(&output).starts_with("wgmax: 2 of 5 rows"), "{output:?}");
    let too_large = |ids: &[i64], more: &[&str], word: &str| {
        write_ids(&labels, ids);
        let fixed = ["segment-max", &x, &labels, "--device", "cpu", "--num-segments", "2"];
        refused(&[&fixed[..], more].concat(), word);
        let fixed = ["compare", "segment-max", &x, &labels, "--num-segments", "2"];
        refused(&[&fixed[..], more].concat(), word);
    };
    let word = "is 3, but there are 2 segments; --drop leaves such rows out";
    too_large(&[0, 0, 1, 1, 3], &[], &format!("labels.npy: segment_ids at position 4 {word}"));
    let first = format!("labels.npy: segment_ids at position 0 {word}");
    too_large(&[3, 0, -1, 1, 0], &["--unsorted"], &first);
    too_large(&[0, 0, 0, 0, i64::MAX], &[], "is 9223372036854775807, but there are 2 segments");
    refused(&["segment-max", &x, &labels, "--drop"], "--num-segments");
}

#[test]
fn bits_of_a_type_that_the_format_lacks() {
    let (_folder, at) = folder();
    let (x, ids) = (at("bits.npy"), at("ids.npy"));
    wgmax::io::write(&x, &Tensor::from_slice([2], &[0x3f80u16, 0xc000]).unwrap()).unwrap();
    write_ids(&ids, &[0, 1]);
    let shown = succeeds(&["segment-max", &x, &ids, "--type", "bf16", "--device", "cpu"]);
    assert_eq!(shown, "bf16[2]\n   1.0 -2.0\n");
}

#[test]
fn indices_are_rows() {
    let (_folder, at) = folder();
    let (x, ids, y, z) = (at("x.npy"), at("ids.npy"), at("y.npy"), at("z.npz:z"));
    let run = |more: &[&str]| {
        let fixed = ["segment-max", &x, &ids, "--device", "cpu", "--indices", &z];
        let shown = succeeds(&[&fixed[..], more].concat());
        (shown, wgmax::io::read(&z).unwrap())
    };
    let (shown, indices) = run(&["-o", &y]);
    assert_eq!(shown, "");
    assert_eq!(indices.shape(), [4, 2]);
    assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 0, 2, 2, -1, -1, 4, 4]);
    let values = wgmax::io::read(&y).unwrap().to_vec::<f32>().unwrap();
    assert_eq!((values[0], values[1], values[6]), (2.0, 8.0, 6.0));
    // Without -o the values are printed.
    let (shown, indices) = run(&["--index-type", "i32", "--nan", "ignore"]);
    assert!(shown.starts_with("f32[4, 2]\n"), "{shown}");
    assert_eq!(indices.to_vec::<i32>().unwrap(), [1, 0, 2, 3, -1, -1, 4, 4]);
}

#[test]
fn bad_segments_are_refused_in_one_line() {
    let (_folder, at) = folder();
    let (x, ids, offsets, bad) = (at("x.npy"), at("ids.npy"), at("offsets.npy"), at("bad.npy"));
    let run = |second: &str, more: &[&str], word: &str| {
        refused(&[&["segment-max", &x, second, "--device", "cpu"], more].concat(), word);
    };
    for (values, more, word) in [
        (&[0, 1, 0, 1, 2][..], &[][..], "after 1; --unsorted takes ids in any order\n"),
        (&[-1, 0, 0, 1, 2], &[], "position 0 has -1; --unsorted leaves such rows out\n"),
        (&[0, 1, 2], &[], "but needs 5; if they are offsets: --offsets\n"),
        (
            &[0, 0, 0, 0, i64::MAX],
            &[],
            "too many segments; --num-segments with --drop leaves such rows out\n",
        ),
        (&[0, 3, 2, 5], &["--offsets"], "has 2 after 3; if they are ids: leave out --offsets\n"),
        (&[-2, 3], &["--offsets"], "bad.npy: offsets must not be negative"),
        (
            &[0, 6],
            &["--offsets"],
            "bad.npy: offset 6 at position 1 is larger than the number of rows, 5",
        ),
        (&[], &["--offsets"], "bad.npy: offsets has a length of 0"),
    ] {
        write_ids(&bad, values);
        run(&bad, more, word);
        run(&bad, more, "bad.npy: ");
    }
    run(&x, &[], "x.npy: segment_ids is f32, not an integer type");
    wgmax::io::write(&bad, &Tensor::from_slice([5, 1], &[0i32; 5]).unwrap()).unwrap();
    run(&bad, &[], "bad.npy: segment_ids must be 1-D, but has rank 2");
    run(&bad, &["--offsets"], "bad.npy: offsets must be 1-D, but has rank 2");
    run(&at("no.npy"), &[], "no.npy");
    run(&at("ids.txt"), &[], "FILE.npy");

    run(&ids, &["--initial", "x"], "'--initial <NUMBER>': attribute initial must be a number");
    let indices = ["--initial", "0", "--indices", &at("i.npy")];
    run(&ids, &indices, "cannot be used with");
    run(&ids, &["--num-segments", "-1"], "--num-segments -1");
    run(
        &ids,
        &["--num-segments", "9223372036854775807"],
        "--num-segments 9223372036854775807: shape",
    );
    run(&ids, &["--num-segments", "many"], "--num-segments");
    run(&ids, &["--fill", "nan"], "nan");
    run(&offsets, &["--offsets", "--num-segments", "4"], "--num-segments");
    run(&offsets, &["--offsets", "--unsorted"], "--unsorted");
    run(&ids, &["--index-type", "i32"], "--indices");
    let indices = at("i.npy");
    run(&ids, &["--indices", &indices, "--index-type", "u8"], "u8");
    assert!(!Path::new(&indices).exists());

    wgmax::io::write(&bad, &Tensor::from_slice([], &[1f32]).unwrap()).unwrap();
    refused(&["segment-max", &bad, &ids], "bad.npy: the data needs at least one axis");
    refused(&["segment-max", &at("no.npy"), &ids], "no.npy");
    refused(&["segment-max", &x], "IDS");
    refused(&["segment-max"], "INPUT");
    refused(&["segment-max", &x, &ids, "--device", "no such device"], "no such device");
    refused(&["compare", "segment-max", &x, &offsets, "--offsets", "--unsorted"], "--unsorted");
    refused(&["compare", "segment-max", &x, &ids, "--num-segments", "-1"], "--num-segments -1");
    refused(&["compare", "segment-max", &x, &ids, "--between", "cpu"], "--between");
}

#[test]
fn a_failure_leaves_both_outputs_alone() {
    let (_folder, at) = folder();
    let (x, ids, y, z) = (at("x.npy"), at("ids.npy"), at("y.npy"), at("z.npy"));
    fs::write(&y, "precious").unwrap();
    fs::write(&z, "precious, too").unwrap();
    let run = |output: &str, indices: &str, more: &[&str], word: &str| {
        let fixed = ["segment-max", &x, &ids, "--device", "cpu", "-o", output];
        refused(&[&fixed[..], &["--indices", indices], more].concat(), word);
        assert_eq!(fs::read(&y).unwrap(), b"precious");
        assert_eq!(fs::read(&z).unwrap(), b"precious, too");
    };
    run(&y, &at("none/z.npy"), &[], "none");
    run(&at("none/y.npy"), &z, &[], "none");
    run(&y, &y, &[], "one file");
    run(&y, &z, &["--num-segments", "-1"], "--num-segments -1");
}

#[test]
fn compares_both_results() {
    let (_folder, at) = folder();
    let (x, ids) = (at("x.npy"), at("ids.npy"));
    let run = |between: &str, more: &[&str]| {
        let fixed = ["compare", "segment-max", &x, &ids, "--between", between];
        succeeds(&[&fixed[..], more].concat())
    };
    let values = "values: f32[5, 2], i64[5] -> f32[4, 2]: 8 elements, all equal\n";
    let indices = "indices: f32[5, 2], i64[5] -> i64[4, 2]: 8 elements, all equal\n";
    let shown = run("cpu,cpu", &[]);
    assert!(shown.ends_with(values) && shown.lines().count() == 3, "{shown}");
    let shown = run("cpu,cpu", &["--indices"]);
    assert!(shown.ends_with(&format!("{values}{indices}")), "{shown}");
    let indices = indices.replace("-> i64", "-> i32");
    if adapter::gpu().is_some() {
        let shown = run("cpu,gpu", &["--indices", "--index-type", "i32"]);
        assert!(shown.ends_with(&format!("{values}{indices}")), "{shown}");
    }
}
