//! Tables fit the columns of the terminal, or become lists.

use wgmax::Tensor;

use super::{command, folder, stderr, stdout};

const BORDERS: [char; 4] = ['┌', '│', '╞', '└'];

/// What a command prints in a number of columns. Tables and lists keep to it.
#[track_caller]
fn in_columns(arguments: &[&str], columns: usize) -> String {
    let output = command(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
    assert!(output.status.code() < Some(2), "{arguments:?}: {}", stderr(&output));
    let shown = stdout(&output);
    let of_list = |line: &str| line.starts_with("  ") && !line.starts_with("   ");
    for line in shown.lines().filter(|line| line.starts_with(BORDERS) || of_list(line)) {
        assert!(line.chars().count() <= columns, "{arguments:?} in {columns}:\n{shown}");
    }
    shown
}

fn has_table(shown: &str) -> bool {
    shown.lines().any(|line| line.starts_with(BORDERS))
}

const ONNX: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/cases/onnx_node/onnx-1.23.2/test_maxpool_with_argmax_2d_precomputed_pads/model.onnx"
);

#[test]
fn every_table_fits() {
    let (_folder, at) = folder();
    let (a, b) = (at("a.npy"), at("b.npy"));
    let write = |path: &str, element: f64| {
        let elements = [vec![0.0; 5_000], vec![element; 5_000]].concat();
        wgmax::io::write(path, &Tensor::from_slice([10, 10, 10, 10], &elements).unwrap()).unwrap();
    };
    write(&a, 0.0);
    write(&b, -1.234_567_890_123_456_7e-300);
    // Differences are printed as a table without borders, one with borders, and a list.
    let compare = ["compare", &a, &b];
    assert!(in_columns(&compare, 200).contains("\n  [5, 0, 0, 0]  0.0  -1.23"));
    assert!(has_table(&in_columns(&compare, 90)));
    assert!(!has_table(&in_columns(&compare, 80)));
    for arguments in [
        &["devices"][..],
        &["shader"],
        &["onnx", ONNX, "--device", "cpu"],
        &["bench", "--device", "cpu", "--filter", "R00", "--runs", "1"],
        &["verify", "--device", "cpu", "--cases", "3"],
        &["explain", "max-pool", "8,16,300,300", "--kernel", "31,31", "--indices"],
        &["explain", "segment-max", "100000x7", "--num-segments", "99", "--unsorted"],
        &["explain", "reduce-max", "3x1000000x5", "--axes", "1"],
    ] {
        assert!(has_table(&in_columns(arguments, 80)), "{arguments:?}");
        assert!(has_table(&in_columns(arguments, 200)), "{arguments:?}");
        // Lines of text are broken, too.
        let shown = in_columns(arguments, 60);
        let text = |line: &&str| !line.starts_with(BORDERS) && line.contains(' ');
        let mut lines = shown.lines().filter(text);
        assert!(lines.all(|line| line.chars().count() <= 80), "{arguments:?}: {shown}");
        assert!(!has_table(&in_columns(arguments, 28)), "{arguments:?}");
    }
}

/// A list has what the table has.
#[test]
fn a_list_has_all_cells() {
    let list = in_columns(&["onnx", ONNX, "--device", "cpu"], 40);
    // On the CPU alone there is nothing to compare with, and a node that is listed has no time.
    let listed = in_columns(&["onnx", ONNX, "--list"], 40);
    let listed = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(listed.contains("can run? yes") && !listed.contains("ms"), "{listed}");
    assert!(!list.contains("same as CPU?"), "{list}");
    for part in ["kernel_shape [5, 5]", "input f32[1, 1, 5, 5]", "CPU ms "] {
        let words = list.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(part), "{part}: {list}");
    }
    // Without a number of columns there are 80.
    let output = command(&["shader"]).env_remove("COLUMNS").output().unwrap();
    assert_eq!(stdout(&output), in_columns(&["shader"], 80));
}
