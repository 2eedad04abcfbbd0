//! Shapes of single nodes and of small graphs.

use std::sync::Arc;

use wgmax::io::onnx::parse_model;

use super::super::entry::State;
use super::super::proto::{Model, int, ints, len, node, opset, shaped, tensor, value};
use super::super::values::Values;
use super::infer;

const F32: i64 = 1;

/// An attribute that is an integer or a text.
fn one(name: &str, value: i64) -> Vec<u8> {
    len(5, [len(1, name), int(3, value), int(20, 2)].concat())
}

fn text(name: &str, value: &str) -> Vec<u8> {
    len(5, [len(1, name), len(4, value), int(20, 3)].concat())
}

/// A constant of the graph.
fn numbers(name: &str, values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    len(5, [len(8, name), tensor(&[values.len() as i64], 7, &[len(9, bytes)])].concat())
}

fn floats(name: &str, values: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    len(5, [len(8, name), tensor(&[values.len() as i64], 1, &[len(9, bytes)])].concat())
}

fn input(name: &str, dims: &[i64]) -> Vec<u8> {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    shaped(11, name, F32, &dims.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The type and shape of `name`, or why it is not known.
fn found(version: i64, nodes: &[Vec<u8>], graph: &[Vec<u8>], name: &str) -> String {
    let model =
        Model { nodes: nodes.to_vec(), graph: graph.to_vec(), opsets: vec![opset("", version)] };
    let model = parse_model("m.onnx", Arc::new(model.bytes())).unwrap();
    let mut values = Values::new(&model, &[], &[]).unwrap();
    model.graph.nodes.iter().for_each(|node| infer(node, model.opset, &mut values));
    match values.desc(name) {
        Ok(desc) => desc.to_string(),
        Err(State::Blocked(reason)) => reason,
        Err(_) => panic!("{name}"),
    }
}

/// The outputs of one node for `x`, and for further values of the graph.
fn made(
    version: i64,
    op: &str,
    x: &[i64],
    attributes: &[Vec<u8>],
    more: &[(&str, Vec<u8>)],
) -> String {
    let names: Vec<&str> = ["x"].into_iter().chain(more.iter().map(|(name, _)| *name)).collect();
    let graph: Vec<Vec<u8>> = [input("x", x), value(12, "y")]
        .into_iter()
        .chain(more.iter().filter(|(name, _)| !name.is_empty()).map(|(_, value)| value.clone()))
        .collect();
    found(version, &[node(op, &names, &["y"], attributes)], &graph, "y")
}

#[test]
fn windows_are_counted() {
    let weights = |dims: &[i64]| vec![("w", input("w", dims))];
    let x = [2, 3, 224, 225];
    let at = |op, attributes: &[Vec<u8>], more: &[_]| made(17, op, &x, attributes, more);
    let stem = [ints("strides", &[2, 2]), ints("pads", &[3, 3, 3, 3])];
    assert_eq!(at("Conv", &stem, &weights(&[64, 3, 7, 7])), "f32[2, 64, 112, 113]");
    let same = [text("auto_pad", "SAME_UPPER"), ints("strides", &[2, 2])];
    assert_eq!(at("Conv", &same, &weights(&[8, 3, 3, 3])), "f32[2, 8, 112, 113]");
    let dilated = [ints("dilations", &[2, 3]), ints("kernel_shape", &[3, 3])];
    assert_eq!(at("Conv", &dilated, &weights(&[8, 3, 3, 3])), "f32[2, 8, 220, 219]");
    let pool = [ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2])];
    assert_eq!(at("AveragePool", &pool, &[]), "f32[2, 3, 111, 112]");
    let ceil = [&pool[..], &[one("ceil_mode", 1)]].concat();
    assert_eq!(at("AveragePool", &ceil, &[]), "f32[2, 3, 112, 112]");
    // A window that would begin in the padding at the end is none.
    let padded = [ints("kernel_shape", &[2]), ints("strides", &[2]), ints("pads", &[1, 1])];
    let padded = [&padded[..], &[one("ceil_mode", 1)]].concat();
    for op in ["AveragePool", "LpPool"] {
        assert_eq!(made(22, op, &[1, 1, 5], &padded, &[]), "f32[1, 1, 3]");
        assert_eq!(made(22, op, &[1, 1, 6], &padded, &[]), "f32[1, 1, 4]");
    }
    let twice = [ints("strides", &[2, 2]), ints("output_padding", &[1, 0]), one("group", 3)];
    assert_eq!(at("ConvTranspose", &twice, &weights(&[3, 4, 2, 2])), "f32[2, 12, 449, 450]");
    assert_eq!(at("GlobalAveragePool", &[], &[]), "f32[2, 3, 1, 1]");
    let wrong = at("Conv", &[ints("kernel_shape", &[7])], &weights(&[8, 3, 7]));
    assert!(wrong.contains("Conv of \"y\"") && wrong.contains("2 spatial axes"), "{wrong}");
    assert_eq!(made(17, "AveragePool", &[1, 1, 2, 2], &pool, &[]), "f32[1, 1, 0, 0]");
    let none = made(17, "AveragePool", &[1, 1, 1, 1], &[ints("kernel_shape", &[4, 4])], &[]);
    assert!(none.contains("dimension 2 would be -2"), "{none}");
}

#[test]
fn elements_are_resized() {
    let x = [1, 8, 10, 11];
    let scales = ("s", floats("s", &[1.0, 1.0, 2.0, 1.5]));
    assert_eq!(made(9, "Upsample", &x, &[], std::slice::from_ref(&scales)), "f32[1, 8, 20, 16]");
    assert_eq!(made(10, "Resize", &x, &[], std::slice::from_ref(&scales)), "f32[1, 8, 20, 16]");
    let roi = ("", Vec::new());
    assert_eq!(made(13, "Resize", &x, &[], &[roi.clone(), scales]), "f32[1, 8, 20, 16]");
    // In f32 the product is 7; in f64 it would be below.
    let rounded = ("s", floats("s", &[1.0, 1.0, 0.7, 1.3]));
    let found = made(13, "Resize", &[1, 8, 10, 10], &[], &[roi.clone(), rounded]);
    assert_eq!(found, "f32[1, 8, 7, 13]");
    let sizes = ("z", numbers("z", &[5, 7]));
    let axes = [ints("axes", &[2, -1])];
    assert_eq!(made(18, "Resize", &x, &axes, &[roi.clone(), roi, sizes]), "f32[1, 8, 5, 7]");
}

#[test]
fn elementwise_operators_keep_or_broadcast_shapes() {
    let b = |dims: &[i64]| vec![("b", input("b", dims))];
    assert_eq!(made(17, "Relu", &[2, 3], &[], &[]), "f32[2, 3]");
    assert_eq!(made(17, "Cast", &[2, 3], &[one("to", 10)], &[]), "f16[2, 3]");
    assert_eq!(made(17, "Add", &[4, 1, 3], &[], &b(&[5, 1])), "f32[4, 5, 3]");
    assert_eq!(made(17, "Greater", &[3], &[], &b(&[2, 3])), "bool[2, 3]");
    assert_eq!(made(6, "Add", &[2, 3, 4], &[one("broadcast", 1)], &b(&[3])), "f32[2, 3, 4]");
    let wrong = made(17, "Add", &[4, 2], &[], &b(&[3]));
    assert!(wrong.contains("dimensions 2 and 3 do not broadcast"), "{wrong}");
    assert_eq!(made(17, "MatMul", &[7, 1, 2, 3], &[], &b(&[5, 3, 4])), "f32[7, 5, 2, 4]");
    assert_eq!(made(17, "MatMul", &[3], &[], &b(&[3, 4])), "f32[4]");
    assert_eq!(made(17, "Gemm", &[2, 3], &[one("transB", 1)], &b(&[4, 3])), "f32[2, 4]");
    assert_eq!(made(17, "ReduceMean", &[2, 3, 4], &[ints("axes", &[-1])], &[]), "f32[2, 3, 1]");
    let axes = [("a", numbers("a", &[0, 2]))];
    assert_eq!(made(18, "ReduceSum", &[2, 3, 4], &[one("keepdims", 0)], &axes), "f32[3]");
    assert_eq!(made(17, "ArgMax", &[2, 3, 4], &[one("axis", 1)], &[]), "i64[2, 1, 4]");
}

#[test]
fn structure_is_followed() {
    let c = |values: &[i64]| vec![("c", numbers("c", values))];
    let x = [2, 3, 4];
    assert_eq!(
        made(17, "Concat", &x, &[one("axis", -2)], &[("b", input("b", &[2, 5, 4]))]),
        "f32[2, 8, 4]"
    );
    assert_eq!(made(17, "Reshape", &x, &[], &c(&[0, -1])), "f32[2, 12]");
    let wrong = made(17, "Reshape", &x, &[], &c(&[5, -1]));
    assert!(wrong.contains("f32[2, 3, 4] does not become the shape [5, -1]"), "{wrong}");
    assert_eq!(made(17, "Transpose", &x, &[ints("perm", &[2, 0, 1])], &[]), "f32[4, 2, 3]");
    assert_eq!(made(17, "Transpose", &x, &[], &[]), "f32[4, 3, 2]");
    assert_eq!(made(17, "Flatten", &x, &[one("axis", 2)], &[]), "f32[6, 4]");
    assert_eq!(made(17, "Flatten", &x, &[one("axis", 3)], &[]), "f32[24, 1]");
    assert_eq!(made(13, "Unsqueeze", &x, &[], &c(&[0, -1])), "f32[1, 2, 3, 4, 1]");
    assert_eq!(made(11, "Unsqueeze", &x, &[ints("axes", &[1])], &[]), "f32[2, 1, 3, 4]");
    assert_eq!(made(11, "Squeeze", &[1, 3, 1], &[], &[]), "f32[3]");
    assert_eq!(made(13, "Squeeze", &[1, 3, 1], &[], &c(&[-1])), "f32[1, 3]");
    let pads = [0, 0, 1, 0, 2, 3];
    assert_eq!(made(13, "Pad", &x, &[], &c(&pads)), "f32[2, 5, 8]");
    assert_eq!(made(2, "Pad", &x, &[ints("pads", &pads)], &[]), "f32[2, 5, 8]");
    assert_eq!(made(17, "Expand", &[3, 1], &[], &c(&[2, 1, 6])), "f32[2, 3, 6]");
    assert_eq!(made(17, "Tile", &[3, 1], &[], &c(&[2, 5])), "f32[6, 5]");
    assert_eq!(made(17, "Gather", &x, &[one("axis", 1)], &c(&[0, 0])), "f32[2, 2, 4]");
    assert_eq!(
        made(17, "GatherElements", &x, &[], &[("b", input("b", &[1, 3, 4]))]),
        "f32[1, 3, 4]"
    );
    let scattered = [("i", input("i", &[1, 3, 1])), ("u", input("u", &[1, 3, 1]))];
    assert_eq!(made(17, "ScatterElements", &x, &[], &scattered), "f32[2, 3, 4]");
    let lstm = [node("LSTM", &["x", "w", "w"], &["all", "last", "cell"], &[one("hidden_size", 9)])];
    let graph = [input("x", &[5, 7, 3]), input("w", &[2, 36, 3])];
    assert_eq!(found(17, &lstm, &graph, "all"), "f32[5, 2, 7, 9]");
    assert_eq!(found(17, &lstm, &graph, "cell"), "f32[2, 7, 9]");
    let blocks = [one("blocksize", 2)];
    assert_eq!(made(17, "DepthToSpace", &[1, 8, 3, 5], &blocks, &[]), "f32[1, 2, 6, 10]");
    assert_eq!(made(17, "SpaceToDepth", &[1, 2, 6, 10], &blocks, &[]), "f32[1, 8, 3, 5]");
    let slice = [ints("starts", &[1, -3]), ints("ends", &[9, -1]), ints("axes", &[1, 2])];
    assert_eq!(made(9, "Slice", &x, &slice, &[]), "f32[2, 2, 2]");
    let list = |name, value| (name, numbers(name, &[value]));
    let back = [list("s", -1), list("e", i64::MIN), list("a", 1), list("t", -2)];
    assert_eq!(made(13, "Slice", &x, &[], &back), "f32[2, 2, 4]");
    let graph = [input("x", &[7, 2]), numbers("c", &[3, 4])];
    let split = |inputs: &[&str]| [node("Split", inputs, &["p", "q"], &[])];
    assert_eq!(found(13, &split(&["x", "c"]), &graph, "q"), "f32[4, 2]");
    assert_eq!(found(18, &split(&["x"]), &graph, "q"), "f32[3, 2]");
}

/// Exporters flatten all axes but the first by Shape, Gather, Unsqueeze, Concat, Reshape.
#[test]
fn computed_shapes_are_followed() {
    let nodes = [
        node("Shape", &["x"], &["s"], &[]),
        node("Gather", &["s", "zero"], &["g"], &[]),
        node("Mul", &["g", "two"], &["m"], &[]),
        node("Concat", &["m", "rest"], &["c"], &[one("axis", 0)]),
        node("Reshape", &["x", "c"], &["y"], &[]),
    ];
    let graph = [
        input("x", &[6, 4, 5]),
        numbers("zero", &[0]),
        numbers("two", &[2]),
        numbers("rest", &[-1]),
        value(12, "y"),
    ];
    assert_eq!(found(17, &nodes, &graph, "y"), "f32[12, 10]");
}

/// Floats between one shape and the next, as in Resize of older exporters.
#[test]
fn computed_sizes_may_be_floats() {
    let nodes = [
        node("Shape", &["x"], &["s"], &[]),
        node("Slice", &["s", "two", "four"], &["hw"], &[]),
        node("Cast", &["hw"], &["f"], &[one("to", 1)]),
        node("Mul", &["f", "half"], &["m"], &[]),
        node("Floor", &["m"], &["fl"], &[]),
        node("Cast", &["fl"], &["i"], &[one("to", 7)]),
        node("Concat", &["first", "i"], &["z"], &[one("axis", 0)]),
        node("Resize", &["x", "", "", "z"], &["y"], &[]),
    ];
    let graph = [
        input("x", &[1, 3, 9, 11]),
        numbers("two", &[2]),
        numbers("four", &[4]),
        floats("half", &[0.5]),
        numbers("first", &[1, 3]),
        value(12, "y"),
    ];
    assert_eq!(found(11, &nodes, &graph, "y"), "f32[1, 3, 4, 5]");
}

/// Each step is in the type of its result.
#[test]
fn computed_sizes_are_rounded_as_the_model_rounds() {
    let nodes = [
        node("Shape", &["x"], &["s"], &[]),
        node("Cast", &["s"], &["f"], &[one("to", 1)]),
        node("Mul", &["f", "scale"], &["m"], &[]),
        node("Floor", &["m"], &["fl"], &[]),
        node("Cast", &["fl"], &["i"], &[one("to", 7)]),
        node("Expand", &["one", "i"], &["y"], &[]),
    ];
    let graph =
        [input("x", &[10, 20]), input("one", &[1]), floats("scale", &[0.7]), value(12, "y")];
    assert_eq!(found(11, &nodes, &graph, "y"), "f32[7, 14]");
}

/// Elements of matrices have no order that a vector's rules give.
#[test]
fn matrices_are_not_joined_as_vectors() {
    let nodes = [
        node("Unsqueeze", &["a", "one"], &["columns"], &[]),
        node("Unsqueeze", &["b", "one"], &["others"], &[]),
        node("Concat", &["columns", "others"], &["c"], &[one("axis", 1)]),
        node("Reshape", &["c", "flat"], &["z"], &[]),
        node("Reshape", &["x", "z"], &["y"], &[]),
    ];
    let graph = [
        input("x", &[120]),
        numbers("a", &[2, 3]),
        numbers("b", &[4, 5]),
        numbers("one", &[1]),
        numbers("flat", &[-1]),
        value(12, "y"),
    ];
    let asked = found(13, &nodes, &graph, "y");
    assert!(asked.contains("give --shape y=N,.."), "{asked}");
    let nodes = [
        node("Unsqueeze", &["a", "one"], &["columns"], &[]),
        node("Unsqueeze", &["b", "zero"], &["row"], &[]),
        node("Mul", &["columns", "row"], &["m"], &[]),
        node("Reshape", &["m", "flat"], &["z"], &[]),
        node("Reshape", &["x", "z"], &["y"], &[]),
    ];
    let graph = [&graph[..], &[numbers("zero", &[0])]].concat();
    let asked = found(13, &nodes, &graph, "y");
    assert!(asked.contains("give --shape y=N,.."), "{asked}");
}

#[test]
fn quantized_types_are_those_that_are_given() {
    let scale = ("s", floats("s", &[0.5]));
    let of = |version, op, attributes: &[Vec<u8>]| {
        made(version, op, &[2, 3], attributes, std::slice::from_ref(&scale))
    };
    assert_eq!(of(13, "QuantizeLinear", &[]), "u8[2, 3]");
    assert_eq!(of(21, "QuantizeLinear", &[one("output_dtype", 0)]), "u8[2, 3]");
    assert_eq!(of(21, "QuantizeLinear", &[one("output_dtype", 3)]), "i8[2, 3]");
    assert_eq!(of(13, "DequantizeLinear", &[]), "f32[2, 3]");
    assert_eq!(of(23, "DequantizeLinear", &[one("output_dtype", 10)]), "f16[2, 3]");
}

#[test]
fn what_is_unknown_says_what_to_give() {
    let nodes = [
        node("Relu", &["x"], &["r"], &[]),
        node("NonZero", &["r"], &["n"], &[]),
        node("Relu", &["n"], &["y"], &[]),
    ];
    let graph = [shaped(11, "x", F32, &["batch", "3"]), value(12, "y")];
    let asked = |name| found(17, &nodes, &graph, name);
    assert!(asked("r").contains("give --dim batch=N"), "{}", asked("r"));
    assert!(asked("y").contains("\"n\", which NonZero makes"), "{}", asked("y"));
    assert!(asked("y").contains("give --shape n=N,.."), "{}", asked("y"));
    let reshape = [node("Reshape", &["x", "s"], &["y"], &[])];
    let graph = [input("x", &[2, 3]), shaped(11, "s", 7, &["2"]), value(12, "y")];
    let asked = found(17, &reshape, &graph, "y");
    assert!(asked.contains("elements of \"s\"; give --shape y=N,.."), "{asked}");
}
