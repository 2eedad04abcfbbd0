//! `ModelProto`: models of one node.

use wgmax::dialect::{Attribute, Dialect};
use wgmax::io::onnx::parse_test_model;

use super::{assert_bad, assert_unsupported, flipped};
use crate::common::onnx::{Model, int, len, node, opset, packed, tensor, unpacked, value};

#[test]
fn a_model_gives_its_node_and_its_wiring() {
    let model = Model::new().parse().unwrap();
    assert_eq!(model.node.dialect, Dialect::Onnx);
    assert_eq!((model.node.operator.as_str(), model.node.version), ("ReduceMax", Some(18)));
    assert_eq!(model.node.attributes.len(), 1);
    assert_eq!(model.node.attributes["keepdims"], Attribute::Int(0));
    assert_eq!(model.input_names, ["x", "a"]);
    assert_eq!(model.output_names, ["y"]);
    assert_eq!(model.graph_inputs, ["x", "a"]);
    assert_eq!(model.graph_outputs, ["y"]);
    assert!(model.initializers.is_empty());
}

#[test]
fn absent_inputs_and_outputs_have_empty_names() {
    let mut model = Model::new();
    model.nodes = vec![node("Any", &["", "x"], &["", "y"], &[len(7, "ai.onnx")])];
    let model = model.parse().unwrap();
    assert_eq!(model.node.operator, "Any");
    assert_eq!(model.input_names, ["", "x"]);
    assert_eq!(model.output_names, ["", "y"]);
}

#[test]
fn the_opset_is_that_of_onnx_itself() {
    let mut model = Model::new();
    model.opsets = vec![opset("ai.onnx.ml", 3), opset("ai.onnx", 13)];
    assert_eq!(model.parse().unwrap().node.version, Some(13));
    // The domain of a file may be absent instead of empty.
    model.opsets = vec![int(2, 11)];
    assert_eq!(model.parse().unwrap().node.version, Some(11));
    for (opsets, reason) in [
        (vec![], "no opset"),
        (vec![opset("ai.onnx.ml", 3)], "no opset"),
        (vec![opset("", 13), opset("ai.onnx", 14)], "both opset 13 and opset 14"),
        (vec![opset("", 0)], "opset 0"),
        (vec![opset("", -1)], "opset -1"),
        (vec![opset("", 1 << 32)], "opset 4294967296"),
    ] {
        assert_bad(Model { opsets, ..Model::new() }.parse(), "m.onnx", reason);
    }
}

#[test]
fn attributes_have_the_type_that_they_say() {
    let attribute =
        |name: &str, kind: i64, field: Vec<u8>| [len(1, name), field, int(20, kind)].concat();
    let model = Model::of(
        "MaxPool",
        &[
            attribute("int", 2, int(3, -7)),
            attribute("zero", 2, vec![]),
            attribute("ints", 7, unpacked(8, &[1, -2])),
            attribute("packed", 7, packed(8, &[3, 4])),
            attribute("none", 7, vec![]),
            attribute("text", 3, len(4, "SAME_UPPER")),
            attribute("float", 1, [&[0x15][..], &1.5f32.to_le_bytes()].concat()),
            attribute("floats", 6, len(7, 2.5f32.to_le_bytes())),
            attribute("texts", 8, len(9, "a")),
            attribute("tensor", 4, len(5, tensor(&[1], 2, &[]))),
        ],
    );
    let attributes = model.parse().unwrap().node.attributes;
    let other = |text: &str| Attribute::Other(text.to_string());
    for (name, value) in [
        ("int", Attribute::Int(-7)),
        ("zero", Attribute::Int(0)),
        ("ints", Attribute::Ints(vec![1, -2])),
        ("packed", Attribute::Ints(vec![3, 4])),
        ("none", Attribute::Ints(vec![])),
        ("text", Attribute::Text("SAME_UPPER".to_string())),
        ("float", other("1.5")),
        ("floats", other("[2.5]")),
        ("texts", other("[\"a\"]")),
        ("tensor", other("a tensor")),
    ] {
        assert_eq!(attributes[name], value, "{name}");
    }
    for (attributes, reason) in [
        (vec![attribute("a", 3, len(4, [0xff]))], "\"a\" is not UTF-8"),
        (vec![attribute("a", 0, int(3, 1))], "\"a\" has the type 0"),
        (vec![attribute("a", 2, vec![]), attribute("a", 2, vec![])], "two attributes"),
        (vec![attribute("", 2, vec![])], "no name"),
    ] {
        assert_bad(Model::of("ReduceMax", &attributes).parse(), "m.onnx", reason);
    }
    let reference = attribute("a", 2, len(21, "outer"));
    assert_unsupported(Model::of("ReduceMax", &[reference]).parse(), "refers to");
}

#[test]
fn constants_of_the_node_are_read_and_others_left_alone() {
    let axes = [len(8, "a"), tensor(&[1], 7, &[packed(7, &[-1])])].concat();
    // The constant that no node reads could not be read.
    let stranger = [len(8, "s"), tensor(&[1], 8, &[len(6, "text")])].concat();
    let mut model = Model::new();
    model.graph = vec![value(11, "x"), value(12, "y"), len(5, &stranger), len(5, &axes)];
    let read = model.parse().unwrap();
    assert_eq!(
        (read.input_names, read.graph_inputs),
        (vec!["x".into(), "a".into()], vec!["x".into()])
    );
    assert_eq!(read.initializers.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(read.initializers["a"].to_vec::<i64>().unwrap(), [-1]);

    model.graph.push(len(5, &axes));
    assert_bad(model.parse(), "m.onnx", "two initializers");
    model.graph.pop();
    model.graph[3] = len(5, [len(8, "a"), tensor(&[2], 7, &[packed(7, &[-1])])].concat());
    assert_bad(model.parse(), "initializer \"a\"", "int64_data holds 1");
    model.graph.push(len(15, ""));
    assert_unsupported(model.parse(), "sparse");
}

#[test]
fn models_that_do_not_fit_together_are_refused() {
    let new = Model::new;
    let one = || new().nodes[0].clone();
    let graph = |parts: &[Vec<u8>]| Model { graph: parts.to_vec(), ..new() };
    let with_node = |node: Vec<u8>| Model { nodes: vec![node], ..new() };
    for (model, reason) in [
        (Model { nodes: vec![], ..new() }, "no node"),
        (with_node([len(1, "x"), len(2, "y")].concat()), "no op_type"),
        (graph(&[value(11, "x"), value(12, "y")]), "feeds the node's input \"a\""),
        (graph(&[value(11, "x"), value(11, "a"), value(12, "z")]), "makes the graph output \"z\""),
        (graph(&[value(11, "x"), value(11, "x"), value(11, "a")]), "two graph inputs"),
        (graph(&[value(11, "x"), value(11, "a"), value(12, "")]), "a graph output has no name"),
    ] {
        assert_bad(model.parse(), "m.onnx", reason);
    }
    let second = node("Any", &["y"], &["z"], &[]);
    assert_unsupported(Model { nodes: vec![one(), second], ..new() }.parse(), "2 nodes");
    let foreign = node("ReduceMax", &["x"], &["y"], &[len(7, "com.microsoft")]);
    assert_unsupported(with_node(foreign).parse(), "com.microsoft");
    assert_bad(parse_test_model("m.onnx", &len(8, opset("", 13))), "m.onnx", "no graph");
    assert_bad(parse_test_model("m.onnx", &[]), "m.onnx", "it is empty");
}

#[test]
fn a_cut_model_is_refused_and_a_flipped_one_never_panics() {
    let axes = [len(8, "a"), tensor(&[1], 7, &[packed(7, &[-1])])].concat();
    let mut model = Model::new();
    model.graph.push(len(5, axes));
    let whole = model.bytes();
    parse_test_model("m.onnx", &whole).unwrap();
    for end in 0..whole.len() {
        assert!(
            parse_test_model("m.onnx", &whole[..end]).is_err(),
            "{end} of {} bytes",
            whole.len()
        );
    }
    flipped(&whole, |bytes| drop(parse_test_model("m.onnx", bytes)));
}
