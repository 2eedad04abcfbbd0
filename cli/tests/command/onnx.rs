//! `wgmax onnx`.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;
use wgmax::Tensor;

use super::proto::{Model, external, int, ints, len, node, opset, shaped, subgraph, tensor, value};
use super::streams::fed;
use super::{adapter, command, folder, refused, stderr, stdout, succeeds, wgmax};

const F32: i64 = 1;

/// An int64 vector as a constant of a graph.
fn axes(name: &str, values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    len(5, [len(8, name), tensor(&[values.len() as i64], 7, &[len(9, bytes)])].concat())
}

fn model(opset_version: i64, nodes: &[Vec<u8>], graph: &[Vec<u8>]) -> Vec<u8> {
    let opsets = vec![opset("", opset_version)];
    Model { nodes: nodes.to_vec(), graph: graph.to_vec(), opsets }.bytes()
}

fn pool(from: &str, to: &[&str]) -> Vec<u8> {
    node("MaxPool", &[from], to, &[ints("kernel_shape", &[2, 2])])
}

/// A folder with `m.onnx`.
fn saved(bytes: &[u8]) -> (TempDir, impl Fn(&str) -> String + use<>) {
    let (folder, at) = folder();
    fs::write(at("m.onnx"), bytes).unwrap();
    (folder, at)
}

/// The report on a model, and the exit status.
fn report(arguments: &[&str]) -> (Value, Option<i32>) {
    let fixed = ["onnx", "--json", "-", "--runs", "1"];
    let output = wgmax(&[&fixed[..], arguments].concat());
    assert!(stderr(&output).is_empty(), "{output:?}");
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

/// x -> Relu -> r -> MaxPool -> p -> GlobalMaxPool -> y; a dimension of r has a name.
fn chain() -> Vec<u8> {
    let nodes = [
        node("Relu", &["x"], &["r"], &[]),
        pool("r", &["p"]),
        node("GlobalMaxPool", &["p"], &["y"], &[]),
    ];
    let graph = [
        shaped(11, "x", F32, &["batch", "3", "8", "8"]),
        value(12, "y"),
        shaped(13, "r", F32, &["batch", "3", "8", "8"]),
    ];
    model(15, &nodes, &graph)
}

#[test]
fn nodes_are_listed_and_run() {
    let (_folder, at) = saved(&chain());
    let m = at("m.onnx");
    let (found, status) = report(&[&m, "--dim", "batch=2", "--device", "cpu"]);
    assert_eq!(status, Some(0));
    assert_eq!((&found["opset"], &found["whole"]), (&15.into(), &false.into()));
    let nodes = found["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2);
    assert_eq!(nodes[0]["operator"], "MaxPool");
    assert_eq!(nodes[0]["attributes"]["kernel_shape"], serde_json::json!([2, 2]));
    assert_eq!(nodes[0]["input"]["shape"], serde_json::json!([2, 3, 8, 8]));
    assert_eq!(nodes[0]["results"][0]["shape"], serde_json::json!([2, 3, 7, 7]));
    assert_eq!(nodes[0]["input_from"], "random");
    // The second takes the result of the first.
    assert_eq!(nodes[1]["input"]["shape"], serde_json::json!([2, 3, 7, 7]));
    assert_eq!(nodes[1]["input_from"], "tensor");
    assert_eq!(nodes[1]["results"][0]["shape"], serde_json::json!([2, 3, 1, 1]));
    assert_eq!(
        (&nodes[0]["status"], &nodes[1]["status"]),
        (&"reference".into(), &"reference".into())
    );

    let shown = succeeds(&["onnx", &m, "--dim", "batch=2", "--device", "cpu"]);
    assert!(shown.contains("opset 15, 3 nodes; 1 GlobalMaxPool, 1 MaxPool"), "{shown}");
    assert!(shown.contains("kernel_shape [2, 2]") && shown.contains("f32[2, 3, 7, 7]"), "{shown}");
    let listed = succeeds(&["onnx", &m, "--dim", "batch=2", "--list"]);
    assert!(listed.contains("f32[2, 3, 1, 1]") && listed.contains("can run?"), "{listed}");
}

#[test]
fn a_gpu_is_compared_with_the_cpu() {
    if adapter::gpu().is_none() {
        return;
    }
    let (_folder, at) = saved(&chain());
    let (found, status) = report(&[&at("m.onnx"), "--dim", "batch=2", "--device", "gpu"]);
    assert_eq!(status, Some(0), "{found}");
    for node in found["nodes"].as_array().unwrap() {
        assert_eq!((&node["status"], &node["differing"]), (&"equal".into(), &0.into()));
        assert!(node["device_ms"].is_number() && node["cpu_ms"].is_number());
    }
    let shown = succeeds(&["onnx", &at("m.onnx"), "--dim", "batch=2", "--device", "gpu"]);
    assert!(
        shown.contains("compared with the CPU") && shown.matches(" yes ").count() == 2,
        "{shown}"
    );
}

/// Without the breaks of long lines.
fn in_one_line(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn unknown_values_are_asked_for() {
    let (_folder, at) = saved(&chain());
    let m = at("m.onnx");
    let run = |more: &[&str]| succeeds(&[&["onnx", &m, "--device", "cpu"], more].concat());
    let asks = |words: &str| {
        let output = wgmax(&["onnx", &m, "--device", "cpu"]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(3), String::new()));
        assert!(in_one_line(&stdout(&output)).contains(words), "{output:?}");
    };
    asks("give --dim batch=N");
    assert!(run(&["--shape", "r=5,3,8,9"]).contains("f32[5, 3, 7, 8]"));
    assert!(run(&["--shape", "r=f16:5,3,8,9"]).contains("f16[5, 3, 7, 8]"));
    refused(&["onnx", &m, "--dim", "bath=1"], "it names \"batch\"");
    refused(&["onnx", &m, "--dim", "batch=1", "--dim", "batch=2"], "1 in one place and 2");
    refused(&["onnx", &m, "--shape", "q=1"], "no such tensor");
    refused(&["onnx", &m, "--shape", "r=1,-1"], "not a number");
    refused(&["onnx", &m, "--input", &format!("q={}", at("x.npy"))], "no such tensor");
    refused(
        &["onnx", &m, "--input", &format!("r={}", at("x.npy"))],
        "f32[2, 3] where the model has f32[batch, 3, 8, 8]",
    );
    refused(&["onnx", &m, "--output", "p=p.npy"], "its node does not run");
    refused(&["onnx", &m, "--output", "r=r.npy"], "their outputs are \"p\", \"y\"");
    refused(&["onnx", &at("absent.onnx")], "absent.onnx");

    // A value without a shape, and one with dimensions that have no name.
    let unknown = model(13, &[pool("u", &["y"])], &[value(11, "u"), value(12, "y")]);
    fs::write(&m, unknown).unwrap();
    asks("does not declare the shape of \"u\"; give --shape u=N,..");
    let dims = shaped(11, "a b", F32, &["1", "3", "?", "-1"]);
    fs::write(&m, model(13, &[pool("a b", &["y"])], &[dims, value(12, "y")])).unwrap();
    asks("f32[1, 3, ?, ?] only; give --shape 'a b=1,3,N,N'");
}

/// Shapes flow through other nodes, from the dimensions that the inputs name. Missing dimensions are
/// requested once.
#[test]
fn shapes_follow_from_named_dimensions() {
    let stride = |from: &str, to: &str| {
        node(
            "AveragePool",
            &[from],
            &[to],
            &[ints("kernel_shape", &[1, 1]), ints("strides", &[2, 2])],
        )
    };
    let nodes = [
        stride("x", "half"),
        node("Relu", &["half"], &["r"], &[]),
        pool("r", &["p"]),
        pool("r", &["q"]),
        node("NonZero", &["x"], &["other"], &[]),
        node("GlobalMaxPool", &["other"], &["g"], &[]),
    ];
    let formula = "floor(height/2 - 1/2) + 1";
    let graph = [
        shaped(11, "x", F32, &["1", "3", "height", "2*width"]),
        shaped(11, "w", F32, &["width"]),
        value(12, "p"),
        value(12, "q"),
        value(12, "g"),
        shaped(13, "other", F32, &["1", "3", formula, "width - 1"]),
    ];
    let (_folder, at) = saved(&model(15, &nodes, &graph));
    let m = at("m.onnx");
    let wide = command(&["onnx", &m, "--list"]).env("COLUMNS", "400").output().unwrap();
    let shown = stdout(&wide);
    let asked: Vec<&str> = shown.lines().filter(|line| line.contains("--dim")).collect();
    assert_eq!(asked.len(), 2, "{shown}");
    assert!(asked[0].contains("MaxPool of \"p\", MaxPool of \"q\""), "{shown}");
    assert!(
        asked[0].contains("\"x\"") && asked[0].contains("give --dim height=N --dim width=N"),
        "{shown}"
    );

    let dims = ["--dim", "height=321", "--dim", "width=50", "--list"];
    let (found, _) = report(&[&[m.as_str()][..], &dims].concat());
    let shape = |at: usize| found["nodes"][at]["input"]["shape"].clone();
    assert_eq!(shape(0), serde_json::json!([1, 3, 161, 50]), "{found}");
    assert_eq!(shape(2), serde_json::json!([1, 3, 161, 49]), "{found}");

    let shown = stdout(&wgmax(&["onnx", &m, "--list", "--dim", "height=9", "--dim", "width=0"]));
    let wrong = "dimension \"width - 1\" is -1, with width = 0";
    let shown = in_one_line(&shown);
    assert!(shown.contains("GlobalMaxPool of \"g\"") && shown.contains(wrong), "{shown}");
    refused(&["onnx", &m, "--dim", "2*width=4"], "it names \"height\", \"width\"");
}

/// ReduceMax of opset 18 takes its axes from a constant of either kind, or from a file.
#[test]
fn axes_come_from_constants() {
    let graph = |more: &[Vec<u8>]| {
        [&[shaped(11, "x", F32, &["2", "3", "4"]), value(12, "y")], more].concat()
    };
    let reduce = node("ReduceMax", &["x", "a"], &["y"], &[]);
    let fixed = len(5, [len(1, "value_ints"), int(8, 0), int(8, -1), int(20, 7)].concat());
    let constant = node("Constant", &[], &["a"], &[fixed]);
    let shape = |bytes: &[u8], more: &[&str]| {
        let (_folder, at) = saved(bytes);
        wgmax::io::write(&at("a.npy"), &Tensor::from_slice([2], &[0i64, -1]).unwrap()).unwrap();
        let given = format!("a={}", at("a.npy"));
        let more: Vec<&str> = more.iter().map(|&m| if m == "GIVEN" { &given } else { m }).collect();
        let (found, _) = report(&[&[&at("m.onnx"), "--device", "cpu"], &more[..]].concat());
        found["nodes"][0].clone()
    };
    let initializer = model(18, std::slice::from_ref(&reduce), &graph(&[axes("a", &[0, -1])]));
    let nodes = model(18, &[constant, reduce.clone()], &graph(&[]));
    let input = model(18, &[reduce], &graph(&[shaped(11, "a", 7, &["n"])]));
    for (bytes, more) in [(&initializer, &[][..]), (&nodes, &[]), (&input, &["--input", "GIVEN"])] {
        let node = shape(bytes, more);
        assert_eq!(node["results"][0]["shape"], serde_json::json!([1, 3, 1]), "{node}");
        assert_eq!(node["attributes"]["axes"], serde_json::json!([0, -1]));
    }
    let blocked = shape(&input, &[]);
    assert_eq!(blocked["status"], "not run");
    assert!(blocked["reason"].as_str().unwrap().contains("--input a=FILE"), "{blocked}");
}

/// A model with fan-out, two outputs and constants: all nodes run, and every value can be written.
#[test]
fn a_model_of_implemented_nodes_runs_completely() {
    let kernel = ints("kernel_shape", &[2, 2]);
    let nodes = [
        node("MaxPool", &["x"], &["p", "where"], &[kernel]),
        node("GlobalMaxPool", &["p"], &["g"], &[]),
        node(
            "ReduceMax",
            &["p", "a"],
            &["m"],
            &[len(5, [len(1, "keepdims"), int(3, 0), int(20, 2)].concat())],
        ),
        node("ReduceMax", &["w"], &["largest"], &[]),
    ];
    let weights = [
        len(8, "w"),
        tensor(&[3], F32, &[len(4, [1f32, 7.0, 3.0].map(f32::to_le_bytes).concat())]),
    ];
    let graph = [
        shaped(11, "x", F32, &["1", "2", "3", "n"]),
        value(12, "g"),
        value(12, "m"),
        value(12, "where"),
        axes("a", &[1]),
        len(5, weights.concat()),
    ];
    let (_folder, at) = saved(&model(18, &nodes, &graph));
    let elements: Vec<f32> = (0..18).map(|i| ((i * 7) % 19) as f32).collect();
    wgmax::io::write(&at("in.npy"), &Tensor::from_slice([1, 2, 3, 3], &elements).unwrap()).unwrap();
    let files = ["x=in.npy", "p=p.npy", "where=where.pb", "g=g.npz:g", "m=m.npy", "largest=l.npy"]
        .map(|file| file.replacen('=', &format!("={}", at("")), 1));
    let mut arguments = vec!["onnx".to_string(), at("m.onnx"), "--input".into(), files[0].clone()];
    for file in &files[1..] {
        arguments.extend(["--output".to_string(), file.clone()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let shown = succeeds(&arguments);
    assert!(shown.contains("the whole model ran"), "{shown}");
    let floats = |name: &str| wgmax::io::read(&at(name)).unwrap().to_vec::<f32>().unwrap();
    // Rows of x: 0 7 14, 2 9 16, 4 11 18; 6 13 1, 8 15 3, 10 17 5.
    assert_eq!(floats("p.npy"), [9.0, 16.0, 11.0, 18.0, 15.0, 15.0, 17.0, 17.0]);
    assert_eq!(floats("g.npz:g"), [18.0, 17.0]);
    assert_eq!(floats("m.npy"), [15.0, 16.0, 17.0, 18.0]);
    assert_eq!(floats("l.npy"), [7.0]);
    let places = wgmax::io::read(&at("where.pb")).unwrap();
    assert_eq!(places.to_vec::<i64>().unwrap(), [4, 5, 7, 8, 13, 13, 16, 16]);

    // A tensor on standard output, and nothing else.
    let output =
        wgmax(&["onnx", &at("m.onnx"), "--input", &files[0], "--output", "g=-", "--device", "cpu"]);
    let found = wgmax::io::npy::parse("stdout", std::sync::Arc::new(output.stdout)).unwrap();
    assert_eq!(found.to_vec::<f32>().unwrap(), [18.0, 17.0]);
}

#[test]
fn subgraphs_and_functions_are_listed_but_not_run() {
    let branch = [len(1, pool("x", &["b"])), value(12, "b")];
    let inner = node("ReduceMax", &["u"], &["v"], &[]);
    let function = [
        len(1, "Top"),
        len(4, "u"),
        len(5, "v"),
        len(7, inner),
        len(9, opset("", 13)),
        len(10, "mine"),
    ];
    let nodes =
        [[node("If", &["c"], &["y"], &[subgraph("then_branch", &branch)]), len(3, "choice")]
            .concat()];
    let graph = [value(11, "c"), shaped(11, "x", F32, &["1", "1", "4", "4"]), value(12, "y")];
    let bytes = [model(16, &nodes, &graph), len(25, function.concat())].concat();
    let (_folder, at) = saved(&bytes);
    let (found, status) = report(&[&at("m.onnx"), "--device", "cpu"]);
    assert_eq!(status, Some(3));
    let nodes = found["nodes"].as_array().unwrap();
    assert_eq!(nodes[0]["place"], "then_branch of choice");
    assert_eq!((&nodes[1]["place"], &nodes[1]["opset"]), (&"function mine.Top".into(), &13.into()));
    assert!(nodes.iter().all(|node| node["status"] == "not run"), "{found}");
    let shown = succeeds(&["onnx", &at("m.onnx"), "--list"]);
    assert!(shown.contains("it is in then_branch of choice, which is not run"), "{shown}");
}

#[test]
fn nodes_that_are_not_valid_are_refused() {
    // An initializer whose size overflows.
    let huge = len(5, [len(8, "w"), tensor(&[1, 1, 1 << 40, 1 << 40], F32, &[])].concat());
    let graph = [shaped(11, "x", F32, &["1", "1", "4", "4"]), value(12, "y")];
    for (bytes, reason) in [
        (model(13, &[node("MaxPool", &["x"], &["y"], &[])], &graph), "kernel_shape"),
        (model(7, &[pool("x", &["y", "i"])], &graph), "1 output"),
        (model(13, &[node("ReduceMax", &["x"], &["y"], &[ints("axes", &[9])])], &graph), "axis 9"),
        (model(13, &[node("ReduceMax", &[""], &["y"], &[])], &graph), "takes 1 input; given: 0"),
        (
            model(
                13,
                &[pool("x", &["y"])],
                &[shaped(11, "x", 9, &["1", "1", "4", "4"]), value(12, "y")],
            ),
            "bool",
        ),
        (
            Model { nodes: vec![pool("x", &["y"])], graph: graph.to_vec(), opsets: vec![] }.bytes(),
            "no opset",
        ),
        (model(9999, &[pool("x", &["y"])], &graph), "opset 9999 is not known"),
        (model(9999, &[pool("x", &["y"])], &graph), "newest known opset is 28"),
        (model(13, &[pool("w", &["y"])], &[huge.clone(), value(12, "y")]), "initializer \"w\""),
        (model(13, &[pool("w", &["y"])], &[huge, value(12, "y")]), "too large to address"),
    ] {
        let (_folder, at) = saved(&bytes);
        let (found, status) = report(&[&at("m.onnx"), "--device", "cpu"]);
        assert_eq!((status, &found["nodes"][0]["status"]), (Some(1), &"refused".into()));
        assert!(found["nodes"][0]["reason"].as_str().unwrap().contains(reason), "{found}");
        let output = wgmax(&["onnx", &at("m.onnx"), "--device", "cpu", "--color", "always"]);
        assert!(stdout(&output).contains("\u{1b}[") && stdout(&output).contains("REFUSED"));
    }
}

/// A model whose declarations contradict its nodes gets a remark; one that needs more memory than
/// there is fails.
#[test]
fn wrong_declarations_are_harmless() {
    let graph =
        [shaped(11, "x", F32, &["1", "1", "4", "4"]), shaped(12, "y", F32, &["1", "1", "4", "4"])];
    let (_folder, at) = saved(&model(13, &[pool("x", &["y"])], &graph));
    let shown = succeeds(&["onnx", &at("m.onnx"), "--device", "cpu"]);
    assert!(
        shown.contains("\"y\" is f32[1, 1, 3, 3], but the model declares f32[1, 1, 4, 4]"),
        "{shown}"
    );

    for dims in [["1", "1", "1000000000", "1000000000"], ["1", "9999999999", "9999999999", "1"]] {
        let graph = [shaped(11, "x", F32, &dims), value(12, "y")];
        fs::write(at("m.onnx"), model(13, &[node("GlobalMaxPool", &["x"], &["y"], &[])], &graph))
            .unwrap();
        let output = wgmax(&["onnx", &at("m.onnx"), "--device", "cpu"]);
        assert!(stderr(&output).is_empty(), "{output:?}");
        let shown = stdout(&output);
        assert!(!shown.contains("whole model ran"), "{shown}");
        assert!(
            ["no memory", "too large", "limit"].iter().any(|why| shown.contains(why)),
            "{shown}"
        );
    }
    let graph = [shaped(11, "x", F32, &["1", "1", "1"]), value(12, "y")];
    let wide = [ints("kernel_shape", &[1]), ints("pads", &[1 << 40, 1 << 40])];
    fs::write(at("m.onnx"), model(13, &[node("MaxPool", &["x"], &["y"], &wide)], &graph)).unwrap();
    let output = wgmax(&["onnx", &at("m.onnx"), "--device", "cpu"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout(&output).contains("failed:"), "{output:?}");
}

#[test]
fn models_come_from_standard_input_and_constants_from_files() {
    let bytes = chain();
    let output = fed(&["onnx", "-", "--dim", "batch=1", "--device", "cpu"], &bytes);
    assert!(stdout(&output).starts_with("standard input: opset 15"), "{output:?}");
    for cut in [&bytes[..bytes.len() / 2], b"not a model"] {
        let output = fed(&["onnx", "-"], cut);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2));
        assert!(error.starts_with("wgmax: standard input: not a valid ONNX model"), "{error}");
    }

    let reduce = node("ReduceMax", &["x", "a"], &["y"], &[]);
    let place =
        |name: &str| [len(8, "a"), external(&[1], 7, &[("location", name), ("offset", "8")])];
    let with = |name: &str| {
        let graph =
            [shaped(11, "x", F32, &["2", "3"]), value(12, "y"), len(5, place(name).concat())];
        model(18, std::slice::from_ref(&reduce), &graph)
    };
    let (_folder, at) = saved(&with("axes.bin"));
    fs::write(at("axes.bin"), [7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    let (found, status) = report(&[&at("m.onnx"), "--device", "cpu"]);
    assert_eq!(status, Some(0), "{found}");
    assert_eq!(found["nodes"][0]["results"][0]["shape"], serde_json::json!([2, 1]));
    let arguments = ["onnx", &at("m.onnx"), "--device", "cpu", "--json", &at("axes.bin")];
    refused(&arguments, "it would replace a file that is read");
    // So are the elements of a node's constant.
    let entries = external(&[1], 7, &[("location", "axes.bin"), ("offset", "8")]);
    let value_of = len(5, [len(1, "value"), len(5, entries), int(20, 4)].concat());
    let nodes = [node("Constant", &[], &["a"], &[value_of]), reduce.clone()];
    let graph = [shaped(11, "x", F32, &["2", "3"]), value(12, "y")];
    fs::write(at("n.onnx"), model(18, &nodes, &graph)).unwrap();
    succeeds(&["onnx", &at("n.onnx"), "--device", "cpu"]);
    let arguments = ["onnx", &at("n.onnx"), "--device", "cpu", "--json", &at("axes.bin")];
    refused(&arguments, "it would replace a file that is read");
    fs::create_dir_all(at("c/case/test_data_set_0")).unwrap();
    fs::copy(at("n.onnx"), at("c/case/model.onnx")).unwrap();
    fs::copy(at("axes.bin"), at("c/case/axes.bin")).unwrap();
    let arguments = ["check", &at("c"), "--json", &at("c/case/axes.bin")];
    refused(&arguments, "it would replace a file that is read");
    // The shape of a constant is known.
    refused(&["onnx", &at("m.onnx"), "--shape", "a=2"], "the model has a constant i64[1] there");
    fs::write(at("axes.bin"), [0; 15]).unwrap();
    let (found, status) = report(&[&at("m.onnx"), "--device", "cpu"]);
    assert_eq!((status, &found["nodes"][0]["status"]), (Some(1), &"refused".into()));
    fs::write(at("m.onnx"), with("../axes.bin")).unwrap();
    let (found, _) = report(&[&at("m.onnx"), "--device", "cpu"]);
    assert!(found["nodes"][0]["reason"].as_str().unwrap().contains("not inside"), "{found}");
}

/// The exit status tells what ran.
#[test]
fn the_status_tells_whether_nodes_ran() {
    let known = shaped(11, "x", F32, &["1", "1", "4", "4"]);
    let graph = [known.clone(), value(11, "u"), value(12, "y"), value(12, "z")];
    let ready = pool("x", &["y"]);
    let blocked = pool("u", &["z"]);
    let relu = node("Relu", &["x"], &["y"], &[]);
    for (nodes, usual, strict, listed) in [
        (vec![ready.clone()], 0, 0, 0),
        (vec![ready.clone(), blocked.clone()], 0, 1, 1),
        (vec![blocked], 3, 1, 1),
        (vec![relu], 3, 3, 0),
        (vec![node("Relu", &["x"], &["r"], &[]), ready], 0, 0, 0),
        (vec![], 3, 3, 0),
    ] {
        let (_folder, at) = saved(&model(13, &nodes, &graph));
        let status =
            |more: &[&str]| report(&[&[&at("m.onnx"), "--device", "cpu"], more].concat()).1;
        assert_eq!(status(&[]), Some(usual), "{nodes:?}");
        assert_eq!(status(&["--strict"]), Some(strict), "{nodes:?}");
        assert_eq!(status(&["--list"]), Some(0), "{nodes:?}");
        assert_eq!(status(&["--list", "--strict"]), Some(listed), "{nodes:?}");
    }
}

/// An attribute of a node, an integer.
fn number(name: &str, value: i64) -> Vec<u8> {
    len(5, [len(1, name), int(3, value), int(20, 2)].concat())
}

/// A picture is refused before anything is computed or written.
#[test]
fn outputs_fit_their_files() {
    let graph = [shaped(11, "x", F32, &["1", "1", "4", "4"]), value(12, "y")];
    let (_folder, at) = saved(&model(18, &[pool("x", &["y"])], &graph));
    let run = ["onnx", &at("m.onnx"), "--device", "cpu"];
    let picture = format!("y={}", at("y.png"));
    let json = at("r.json");
    refused(&[&run[..], &["--output", &picture, "--json", &json]].concat(), "is no picture");
    assert!(!std::path::Path::new(&json).exists());
}

/// Shapes that follow from integers and bools are those of their types.
#[test]
fn small_integers_have_a_range() {
    let cast = |from: &str, to: &str, t: i64| node("Cast", &[from], &[to], &[number("to", t)]);
    for (first, through, expected) in [
        (2, vec![9], Some([1, 432])),
        (2, vec![7], Some([2, 216])),
        (258, vec![3], None),
        (127, vec![3], Some([127, 1])),
    ] {
        let mut nodes = Vec::new();
        let mut name = "k".to_string();
        for (at, t) in through.into_iter().chain([7]).enumerate() {
            let next = format!("k{at}");
            nodes.push(cast(&name, &next, t));
            name = next;
        }
        nodes.push(node("Concat", &[&name, "rest"], &["shape"], &[number("axis", 0)]));
        nodes.push(node("Reshape", &["x", "shape"], &["t"], &[]));
        nodes.push(node("ReduceMax", &["t"], &["y"], &[]));
        let size = if first == 127 { "127" } else { "432" };
        let graph = [
            shaped(11, "x", F32, &[size]),
            value(12, "y"),
            axes("k", &[first]),
            axes("rest", &[-1]),
        ];
        let (_folder, at) = saved(&model(18, &nodes, &graph));
        let (found, _) = report(&[&at("m.onnx"), "--device", "cpu"]);
        let nodes = found["nodes"].as_array().unwrap();
        let shape = &nodes.last().unwrap()["input"]["shape"];
        assert_eq!(*shape, serde_json::json!(expected), "{first}: {found}");
    }
}

/// MaxUnpool takes the indices of a MaxPool, or random ones, and a shape from the model.
#[test]
fn max_unpool_takes_two_tensors() {
    let unpool = |from: &[&str], to: &str| {
        let attributes = [ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])];
        node("MaxUnpool", from, &[to], &attributes)
    };
    let pooled = ints("strides", &[2, 2]);
    let nodes = [
        node("MaxPool", &["x"], &["p", "i"], &[ints("kernel_shape", &[2, 2]), pooled]),
        unpool(&["p", "i"], "y"),
        unpool(&["p", "j", "s"], "z"),
    ];
    let graph = [
        shaped(11, "x", F32, &["2", "3", "8", "6"]),
        shaped(11, "j", 7, &["2", "3", "4", "3"]),
        axes("s", &[2, 3, 9, 6]),
        value(12, "y"),
        value(12, "z"),
    ];
    let (_folder, at) = saved(&model(11, &nodes, &graph));
    let (m, x, y, j) = (at("m.onnx"), at("x.npy"), at("y.npy"), at("j.npy"));
    let ascending: Vec<f32> = (0..288).map(|i| i as f32 + 1.0).collect();
    wgmax::io::npy::write(&x, &Tensor::from_slice([2, 3, 8, 6], &ascending).unwrap()).unwrap();
    let (input, output) = (format!("x={x}"), format!("y={y}"));
    let (found, status) = report(&[&m, "--input", &input, "--output", &output]);
    assert_eq!(status, Some(0), "{found}");
    let nodes = found["nodes"].as_array().unwrap();
    assert_eq!(nodes.iter().filter(|node| node["operator"] == "MaxUnpool").count(), 2);
    assert_eq!(nodes[1]["input_from"], "tensor");
    // The values are those of the pooling, but the indices are in no file.
    assert_eq!(nodes[2]["input_from"], "random");
    assert_eq!(nodes[1]["results"][0]["shape"], serde_json::json!([2, 3, 8, 6]));
    assert_eq!(nodes[2]["results"][0]["shape"], serde_json::json!([2, 3, 9, 6]));
    assert_eq!(nodes[2]["attributes"]["output_shape"], serde_json::json!([2, 3, 9, 6]));
    // The numbers ascend, so the last element of each window is its maximum.
    let back = wgmax::io::npy::read(&y).unwrap();
    for (i, &element) in back.as_slice::<f32>().unwrap().iter().enumerate() {
        let (row, column) = (i / 6, i % 6);
        let kept = row % 2 == 1 && column % 2 == 1;
        assert_eq!(element, if kept { i as f32 + 1.0 } else { 0.0 }, "{i}");
    }
    // An index that is not that of an element.
    let mut indices = vec![0i64; 72];
    indices[5] = 288;
    wgmax::io::npy::write(&j, &Tensor::from_slice([2, 3, 4, 3], &indices).unwrap()).unwrap();
    let (found, status) = report(&[&m, "--input", &format!("j={j}")]);
    assert_eq!((status, &found["nodes"][2]["status"]), (Some(1), &"failed".into()), "{found}");
    let reason = found["nodes"][2]["reason"].as_str().unwrap();
    assert_eq!(reason, "index 288 at position 5 is out of range: there are 288 elements");
}

/// Scatters of maxima and minima run, also with random indices; others are not in the report.
#[test]
fn scatters_take_three_tensors() {
    let scatter = |op: &str, from: &[&str], to: &str, reduction: &str| {
        let attribute = [len(1, "reduction"), len(4, reduction), int(20, 3)];
        node(op, from, &[to], &[len(5, attribute.concat())])
    };
    let nodes = [
        scatter("ScatterElements", &["x", "i", "u"], "y", "max"),
        scatter("ScatterND", &["x", "j", "v"], "z", "min"),
        scatter("ScatterElements", &["x", "i", "u"], "w", "add"),
        node("ScatterND", &["x", "j", "v"], &["o"], &[]),
    ];
    let graph = [
        shaped(11, "x", F32, &["4", "3"]),
        shaped(11, "i", 6, &["2", "3"]),
        shaped(11, "u", F32, &["2", "3"]),
        shaped(11, "j", 7, &["5", "1"]),
        shaped(11, "v", F32, &["5", "3"]),
        value(12, "y"),
        value(12, "z"),
    ];
    let (_folder, at) = saved(&model(18, &nodes, &graph));
    let (m, y) = (at("m.onnx"), format!("y={}", at("y.npy")));
    let write = |name: &str, tensor: wgmax::Result<Tensor>| {
        let file = at(&format!("{name}.npy"));
        wgmax::io::write(&file, &tensor.unwrap()).unwrap();
        format!("{name}={file}")
    };
    let x = write("x", Tensor::from_slice([4, 3], &[0f32; 12]));
    let i = write("i", Tensor::from_slice([2, 3], &[0i32, -1, 0, 0, 1, 2]));
    let u = write("u", Tensor::from_slice([2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let inputs = ["--input", &x, "--input", &i, "--input", &u, "--output", &y];
    let (found, status) = report(&[&[&m[..], "--device", "cpu"], &inputs[..]].concat());
    assert_eq!((status, &found["whole"]), (Some(0), &false.into()), "{found}");
    let nodes = found["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2, "{found}");
    assert_eq!(nodes[0]["attributes"]["reduction"], "max");
    assert_eq!(
        (&nodes[0]["input_from"], &nodes[1]["input_from"]),
        (&"tensor".into(), &"random".into())
    );
    assert_eq!(nodes[1]["results"][0]["shape"], serde_json::json!([4, 3]));
    let y = wgmax::io::read(&at("y.npy")).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(y, [4.0, 0.0, 3.0, 0.0, 5.0, 0.0, 0.0, 0.0, 6.0, 0.0, 2.0, 0.0]);
    // All inputs are random.
    let (found, status) = report(&[&m]);
    assert_eq!(status, Some(0), "{found}");
    write("i", Tensor::from_slice([2, 3], &[0i32, 4, 0, 0, 1, 2]));
    let (found, status) = report(&[&m, "--input", &i]);
    assert_eq!((status, &found["nodes"][0]["status"]), (Some(1), &"failed".into()), "{found}");
    let reason = "index 4 at position 1 is out of range: there are 4 elements";
    assert_eq!(found["nodes"][0]["reason"], reason);
}

/// Inputs and outputs that MaxUnpool does not have.
#[test]
fn bad_max_unpools_are_refused() {
    let unpool = |from: &[&str], to: &[&str]| {
        node("MaxUnpool", from, to, &[ints("kernel_shape", &[2]), ints("strides", &[2])])
    };
    let graph = [
        shaped(11, "x", F32, &["1", "1", "3"]),
        shaped(11, "i", 7, &["1", "1", "3"]),
        axes("s", &[1, 1, 7]),
    ];
    let ready = || unpool(&["x", "i", "s"], &["y"]);
    for (bad, named) in [
        (unpool(&["x"], &["z"]), "2 or 3 inputs; given: 1"),
        (unpool(&["x", ""], &["z"]), "2 or 3 inputs; given: 1"),
        (unpool(&["x", "", "s"], &["z"]), "2 or 3 inputs; given: 2"),
        (unpool(&["x", "i", "s", "s"], &["z"]), "2 or 3 inputs; given: 4"),
        (unpool(&["x", "i"], &["z", "w"]), "1 output; requested: 2"),
    ] {
        let (_folder, at) = saved(&model(11, &[ready(), bad], &graph));
        let (found, status) = report(&[&at("m.onnx"), "--device", "cpu"]);
        assert_eq!(status, Some(1), "{found}");
        assert_eq!(found["nodes"][0]["status"], "reference", "{found}");
        assert_eq!(found["nodes"][1]["status"], "refused", "{found}");
        let reason = found["nodes"][1]["reason"].as_str().unwrap();
        assert!(reason.contains(named), "{reason}");
    }
}
