//! `--backward`: gradients, wherever a command takes an operator.

use wgmax::{Element, Tensor};

use super::{adapter, devices, folder, refused, stderr, stdout, succeeds, wgmax};

fn write<T: Element>(path: &str, shape: &[usize], elements: &[T]) {
    wgmax::io::write(path, &Tensor::from_slice(shape, elements).unwrap()).unwrap();
}

/// The gradient goes to the first maximum of each window, and sums where windows have one maximum.
#[test]
fn of_pools() {
    let (_folder, at) = folder();
    let (x, g, y) = (at("x.npy"), at("g.npy"), at("y.npy"));
    write(&x, &[1, 1, 5], &[1.0f32, 3.0, 3.0, 0.0, 2.0]);
    write(&g, &[1, 1, 4], &[0.5f32, 0.25, 4.0, 8.0]);
    for device in devices() {
        let run = |command: &str| {
            let fixed = [command, &x, "--kernel", "2", "--backward", &g, "--device", device];
            succeeds(&fixed)
        };
        assert_eq!(run("max-pool"), "f32[1, 1, 5]\n   0.0 0.75  4.0  0.0  8.0\n");
        assert_eq!(run("min-pool"), "f32[1, 1, 5]\n   0.5 0.25  0.0 12.0  0.0\n");
    }
    // Windows that split an axis evenly: of 1, 3, 3 and of 3, 0, 2.
    write(&g, &[1, 1, 2], &[0.5f32, 4.0]);
    for device in devices() {
        let run = |command: &str, more: &[&str]| {
            let fixed = [command, &x, "--output-sizes", "2", "--device", device];
            succeeds(&[&fixed[..], more].concat())
        };
        let found = run("adaptive-max-pool", &["--indices", &y, "--index-type", "i32"]);
        assert_eq!(found, "f32[1, 1, 2]\n  3.0 3.0\n");
        let at = wgmax::io::read(&y).unwrap();
        assert_eq!(at.to_vec::<i32>().unwrap(), [1, 2]);
        let found = run("adaptive-max-pool", &["--backward", &g]);
        assert_eq!(found, "f32[1, 1, 5]\n  0.0 0.5 4.0 0.0 0.0\n");
        let found = run("adaptive-min-pool", &["--backward", &g]);
        assert_eq!(found, "f32[1, 1, 5]\n  0.5 0.0 0.0 4.0 0.0\n");
    }
    // To a file, and with all attributes: of a picture [H, W], with strides and padding.
    write(&x, &[2, 3], &[1.0f32, 2.0, 3.0, 6.0, 5.0, 4.0]);
    write(&g, &[2, 2], &[1.0f32, 2.0, 4.0, 8.0]);
    let fixed = ["max-pool", &x, "--device", "cpu", "--backward", &g, "-o", &y];
    let attributes = ["--kernel", "2,2", "--strides", "2,2", "--pads", "1,1,1,1"];
    assert_eq!(succeeds(&[&fixed[..], &attributes].concat()), "");
    let found = wgmax::io::read(&y).unwrap();
    assert_eq!(found.shape(), [2, 3]);
    assert_eq!(found.to_vec::<f32>().unwrap(), [1.0, 0.0, 2.0, 4.0, 8.0, 0.0]);

    let refuse = |more: &[&str], word: &str| {
        refused(&[&["max-pool", &x, "--device", "cpu", "--kernel", "2,2"], more].concat(), word);
    };
    refuse(&["--backward", &g], "g.npy");
    refuse(&["--backward", &g], "that of the result is [1, 2]");
    refuse(&["--backward", &at("no.npy")], "no.npy");
    refuse(&["--backward", &g, "--indices", &y], "--indices");
    refuse(&["--backward", &g, "-o", &g], "g.npy");
    refuse(&["--backward", &g, "--index-order", "row-major"], "--index-order");
    write(&x, &[2, 3], &[1u16, 2, 3, 4, 5, 6]);
    refuse(&["--backward", &g, "--type", "bf16"], "g.npy: --type bf16");
}

/// The gradient goes to the first of equal elements, or to the last. -0 and 0 are equal.
#[test]
fn of_reductions() {
    let (_folder, at) = folder();
    let (x, g, y) = (at("x.npy"), at("g.npy"), at("y.npy"));
    write(&x, &[2, 3], &[1.0f32, 3.0, 3.0, -0.0, 0.0, -5.0]);
    write(&g, &[2], &[0.5f32, 0.25]);
    for device in devices() {
        let run = |command: &str, more: &[&str]| {
            let fixed = [command, &x, "--axes", "1", "--backward", &g, "--device", device];
            succeeds(&[&fixed[..], more].concat())
        };
        let shown = |rows: &str| format!("f32[2, 3]\n{rows}\n");
        assert_eq!(run("reduce-max", &[]), shown("   0.0  0.5  0.0\n  0.25  0.0  0.0"));
        let last = run("reduce-max", &["--last-index"]);
        assert_eq!(last, shown("   0.0  0.0  0.5\n   0.0 0.25  0.0"));
        assert_eq!(run("reduce-min", &[]), shown("   0.5  0.0  0.0\n   0.0  0.0 0.25"));
    }
    write(&g, &[1, 1], &[7.0f32]);
    let fixed = ["reduce-max", &x, "--device", "cpu", "--backward", &g];
    succeeds(&[&fixed[..], &["--keep-dims", "-o", &y]].concat());
    let found = wgmax::io::read(&y).unwrap();
    assert_eq!(found.to_vec::<f32>().unwrap(), [0.0, 7.0, 0.0, 0.0, 0.0, 0.0]);

    let refuse = |more: &[&str], word: &str| refused(&[&fixed[..], more].concat(), word);
    refuse(&["--axes", "1"], "g.npy");
    refuse(&["--axes", "1"], "its shape is [1, 1], but that of the result is [2]");
    refuse(&["--keep-dims", "--indices", &y], "--indices");
    refuse(&["--keep-dims", "-o", &g], "g.npy");
    refused(&["reduce-min", &x, "--device", "cpu", "--backward", &g], "shape is [1, 1]");
    refused(&["reduce-max", &x, "--last-index"], "--backward");
    refused(&["reduce-max", "-", "--backward", "-"], "standard input");
    write(&x, &[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    refuse(&["--keep-dims"], "x.npy: the data");
    refuse(&["--keep-dims", "--index-type", "i32"], "--index-type");
    // Sets without elements have maxima, and so gradients, but no positions.
    write::<f32>(&x, &[2, 0], &[]);
    write(&g, &[2], &[0.5f32, 0.25]);
    succeeds(&[&fixed[..], &["--axes", "1", "-o", &y]].concat());
    assert_eq!(wgmax::io::read(&y).unwrap().shape(), [2, 0]);
    let shown = succeeds(&["explain", "reduce-max", "2x0", "--axes", "1", "--backward"]);
    assert!(shown.starts_with("ReduceMaxBackward: f32[2, 0], f32[2] -> f32[2, 0]"), "{shown}");
}

/// Rows that belong to no segment have no gradient.
#[test]
fn of_segments() {
    let (_folder, at) = folder();
    let (x, ids, g) = (at("x.npy"), at("ids.npy"), at("g.npy"));
    write(&x, &[4], &[1.0f32, 2.0, 4.0, 3.0]);
    write(&ids, &[4], &[0i64, 0, 2, 9]);
    write(&g, &[3], &[0.5f32, 8.0, 0.25]);
    for device in devices() {
        let run = |command: &str, more: &[&str]| {
            let fixed = [command, &x, &ids, "--backward", &g, "--device", device];
            succeeds(&[&fixed[..], more].concat())
        };
        for (command, gradient) in
            [("segment-max", "0.0  0.5 0.25"), ("segment-min", "0.5  0.0 0.25")]
        {
            let fixed = [command, &x, &ids, "--backward", &g, "--device", device];
            let output = wgmax(&[&fixed[..], &["--num-segments", "3", "--drop"]].concat());
            assert_eq!(stdout(&output), format!("f32[4]\n   {gradient}  0.0\n"));
            let text = "wgmax: 1 of 4 rows belong to no segment: their ids are out of range\n";
            assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), text));
        }
        write(&ids, &[4], &[2i64, 0, 2, 0]);
        assert_eq!(run("segment-max", &["--unsorted"]), "f32[4]\n   0.0  0.0 0.25  0.5\n");
        let offsets = at("offsets.npy");
        write(&offsets, &[4], &[0i64, 1, 1, 4]);
        let fixed = ["segment-max", &x, &offsets, "--offsets", "--backward", &g];
        let shown = succeeds(&[&fixed[..], &["--device", device]].concat());
        assert_eq!(shown, "f32[4]\n   0.5  0.0 0.25  0.0\n");
        write(&ids, &[4], &[0i64, 0, 2, 9]);
    }
    let fixed = ["segment-max", &x, &ids, "--device", "cpu", "--backward", &g];
    let refuse = |more: &[&str], word: &str| refused(&[&fixed[..], more].concat(), word);
    // Ids up to 9 give 10 segments.
    refuse(&[], "that of the result is [10]");
    refuse(&["--num-segments", "4", "--drop"], "g.npy");
    refuse(&["--num-segments", "4", "--drop"], "that of the result is [4]");
    refuse(&["--num-segments", "3"], "is 9, but there are 3 segments");
    refuse(&["--num-segments", "3", "--indices", &ids], "--indices");
}

/// Gradients are compared between devices like other results, and their plans are explained.
#[test]
fn are_compared_and_explained() {
    let (_folder, at) = folder();
    let (x, ids, g) = (at("x.npy"), at("ids.npy"), at("g.npy"));
    let elements: Vec<f32> = (0..60).map(|i| ((i * 37) % 20) as f32).collect();
    write(&x, &[3, 4, 5], &elements);
    write(&g, &[3, 5], &elements[..15]);
    write(&ids, &[3], &[0i64, 1, 1]);
    let between = if adapter::gpu().is_some() { "cpu,gpu" } else { "cpu,cpu" };
    let run = |arguments: &[&str]| {
        let fixed = ["--backward", &g, "--between", between];
        succeeds(&[&["compare"], arguments, &fixed].concat())
    };
    let shown = run(&["reduce-max", &x, "--axes", "1", "--last-index"]);
    let equal = "-> f32[3, 4, 5]: 60 elements, all equal\n";
    assert!(shown.ends_with(&format!("gradient: f32[3, 4, 5], f32[3, 5] {equal}")), "{shown}");
    write(&g, &[2, 4, 5], &elements[..40]);
    let shown = run(&["segment-min", &x, &ids]).replace("all\nequal", "all equal");
    assert!(shown.ends_with(equal), "{shown}");
    // As a picture [H, W, C], whose gradient is one, too.
    write(&g, &[2, 3, 5], &elements[..30]);
    let shown = run(&["max-pool", &x, "--kernel", "2,2"]);
    assert!(shown.ends_with(equal), "{shown}");
    refused(&["compare", "reduce-max", "-", "--backward", "-"], "standard input");

    let explain = |arguments: &[&str]| succeeds(&[&["explain"], arguments].concat());
    let shown = explain(&["max-pool", "1,2,8,8", "--kernel", "2,2", "--backward"]);
    let first = "MaxPoolBackward: f32[1, 2, 8, 8], f32[1, 2, 7, 7] -> f32[1, 2, 8, 8]\n";
    assert!(shown.starts_with(first) && shown.contains("pool_tile_gradient"), "{shown}");
    let shown = explain(&["reduce-min", "9x9", "--axes", "0", "--backward", "--last-index"]);
    assert!(shown.starts_with("ReduceMinBackward: f32[9, 9], f32[9] ->"), "{shown}");
    assert!(shown.contains("gradient_scatter"), "{shown}");
    let shown = explain(&["segment-max", "9x2", "--num-segments", "4", "--backward"]);
    assert!(shown.starts_with("SegmentMaxBackward: f32[9, 2], i32[9], f32[4, 2] ->"), "{shown}");
    let shown = explain(&["scatter-max", "9x2", "--places", "4x2", "--backward"]);
    let first =
        "ScatterMaxBackward: f32[9, 2], i64[4, 2], f32[4, 2], f32[9, 2] -> f32[9, 2], f32[4, 2]";
    assert!(shown.starts_with(first), "{shown}");
    refused(&["explain", "reduce-max", "9x9", "--backward", "--indices"], "--indices");
    refused(&["explain", "reduce-max", "9x9", "--type", "i8", "--backward"], "f32, f64");
}

/// A scatter has a second gradient, in a file of its own.
#[test]
fn scatters_have_two_gradients() {
    let (_folder, path) = folder();
    let [x, at, updates, g] = ["x.npy", "at.npy", "updates.npy", "g.npy"].map(&path);
    write(&x, &[4], &[1.0f32, 2.0, 3.0, 4.0]);
    write(&at, &[3], &[0i64, -1, 0]);
    write(&updates, &[3], &[5.0f32, 1.0, 7.0]);
    write(&g, &[4], &[0.5f32, 8.0, 0.25, 2.0]);
    let (of_x, of_updates) = (path("of_x.npy"), path("of_updates.npy"));
    let inputs = ["scatter-max", &x, &at, &updates];
    let run = |command: &str, more: &[&str]| {
        let start = if command.is_empty() { vec![] } else { vec![command] };
        succeeds(&[&start[..], &inputs, more].concat())
    };
    run("", &["--backward", &g, "-o", &of_x, "--of-updates", &of_updates, "--device", "cpu"]);
    let read = |path: &str| wgmax::io::read(path).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(read(&of_x), [0.0, 8.0, 0.25, 2.0]);
    assert_eq!(read(&of_updates), [0.0, 0.0, 0.5]);
    let shown = run("compare", &["--backward", &g, "--between", "cpu,cpu"]);
    assert!(shown.contains("gradient of the updates: "), "{shown}");
    let wrong = |command: &str, more: &[&str], word: &str| {
        let start = if command.is_empty() { vec![] } else { vec![command] };
        refused(&[&start[..], &inputs, more].concat(), word);
    };
    wrong("", &["--of-updates", &of_updates], "--backward");
    wrong("", &["--backward", &at], "the gradient is i64");
    wrong("", &["--backward", &updates], "its shape is [3], but that of the result is [4]");
    let compared = ["--backward", &g, "--of-updates", &of_updates, "--between", "cpu,cpu"];
    wrong("compare", &compared, "--of-updates");
}
