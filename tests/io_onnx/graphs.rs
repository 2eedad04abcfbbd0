//! `ModelProto`: models of any number of nodes, with subgraphs and functions.

use std::sync::Arc;

use wgmax::io::onnx::{self, Dim};
use wgmax::{ElementType, Result};

use super::{assert_bad, flipped};
use crate::common::onnx::{Model, int, ints, len, node, opset, shaped, subgraph, tensor, value};

fn parse(bytes: &[u8]) -> Result<onnx::Model> {
    onnx::parse_model("m.onnx", Arc::new(bytes.to_vec()))
}

/// A pooling, the branches of an `If` with a reduction each, and a call of a
/// function that is defined with the model.
fn everything() -> Vec<u8> {
    let kernel = ints("kernel_shape", &[2, 2]);
    let branch = |axis| {
        let reduce = node("ReduceMax", &["p"], &["b"], &[ints("axes", &[axis])]);
        [len(1, reduce), value(12, "b")]
    };
    let (one, two) = (subgraph("then_branch", &branch(1)), subgraph("else_branch", &branch(2)));
    let axes = [len(1, "value"), len(5, tensor(&[1], 7, &[len(9, [3, 0, 0, 0, 0, 0, 0, 0])]))];
    let axes = len(5, [axes.concat(), int(20, 4)].concat());
    let model = Model {
        nodes: vec![
            [node("MaxPool", &["x"], &["p", "where"], &[kernel]), len(3, "first")].concat(),
            node("If", &["c"], &["z"], &[one, two]),
            node("Constant", &[], &["axes"], &[axes]),
            node("Both", &["z"], &["y"], &[len(7, "mine")]),
        ],
        graph: vec![
            len(2, "g"),
            shaped(11, "x", 1, &["batch", "3", "", "?", "-1"]),
            shaped(11, "c", 9, &[]),
            value(12, "y"),
            shaped(13, "p", 1, &["batch", "3", "7"]),
            len(13, len(1, "untold")),
            len(5, [len(8, "w"), tensor(&[2], 2, &[len(9, [1, 2])])].concat()),
        ],
        opsets: vec![opset("", 13), opset("mine", 1)],
    };
    let inner = node("GlobalMaxPool", &["u"], &["v"], &[]);
    let function = [
        len(1, "Both"),
        len(4, "u"),
        len(5, "v"),
        len(7, inner),
        len(9, opset("", 22)),
        len(10, "mine"),
    ];
    [model.bytes(), len(25, function.concat())].concat()
}

#[test]
fn a_model_is_read_in_full() {
    let model = parse(&everything()).unwrap();
    assert_eq!((model.name.as_str(), model.opset), ("m.onnx", Some(13)));
    let graph = &model.graph;
    let operators: Vec<&str> = graph.nodes.iter().map(|n| n.operator.as_str()).collect();
    assert_eq!(operators, ["MaxPool", "If", "Constant", "Both"]);
    assert_eq!((graph.nodes[0].name.as_str(), graph.nodes[1].name.as_str()), ("first", ""));
    assert_eq!(graph.nodes[0].outputs, ["p", "where"]);
    assert_eq!(graph.nodes[0].node(13).unwrap().outputs, 2);
    assert_eq!(graph.nodes[3].domain, "mine");

    let subgraphs: Vec<(&str, &str)> = (graph.nodes[1].subgraphs.iter())
        .map(|(name, graph)| (name.as_str(), graph.nodes[0].operator.as_str()))
        .collect();
    assert_eq!(subgraphs, [("then_branch", "ReduceMax"), ("else_branch", "ReduceMax")]);
    assert_eq!(model.functions.len(), 1);
    let function = &model.functions[0];
    assert_eq!((function.domain.as_str(), function.name.as_str()), ("mine", "Both"));
    assert_eq!((function.opset, function.nodes[0].operator.as_str()), (Some(22), "GlobalMaxPool"));

    let constant = graph.nodes[2].constant().unwrap().unwrap();
    assert_eq!(constant.to_vec::<i64>().unwrap(), [3]);
    assert!(graph.nodes[0].constant().unwrap().is_none());
    assert_eq!(graph.initializers["w"].read().unwrap().bytes(), [1, 2]);
}

/// Paddle's exporter writes negative numbers and `?` for unknown dimensions.
#[test]
fn dimensions_are_numbers_names_or_unknown() {
    let graph = parse(&everything()).unwrap().graph;
    assert_eq!(graph.inputs[0].element_type, Some(ElementType::F32));
    let named = Dim::Named("batch".to_string());
    let unknown = || Dim::Unknown;
    let expected = vec![named, Dim::Known(3), unknown(), unknown(), unknown()];
    assert_eq!(graph.inputs[0].shape.as_ref(), Some(&expected));
    assert_eq!(graph.inputs[1].shape, Some(vec![]));
    assert_eq!((graph.outputs[0].name.as_str(), &graph.outputs[0].shape), ("y", &None));
    assert_eq!(graph.values.len(), 2);
    assert_eq!((graph.values[1].element_type, &graph.values[1].shape), (None, &None));
}

#[test]
fn constants_have_several_forms() {
    let form = |field: Vec<u8>, name: &str, kind: i64| {
        let attribute = len(5, [len(1, name), field, int(20, kind)].concat());
        let mut model = Model::new();
        model.nodes.insert(0, node("Constant", &[], &["a"], &[attribute]));
        model.graph = vec![value(11, "x"), value(12, "y")];
        parse(&model.bytes()).unwrap().graph.nodes[0].constant()
    };
    let integer = form(int(3, -4), "value_int", 2).unwrap().unwrap();
    assert_eq!((integer.shape(), integer.to_vec::<i64>().unwrap()), (&[][..], vec![-4]));
    let integers = form([int(8, 1), int(8, -2)].concat(), "value_ints", 7).unwrap().unwrap();
    assert_eq!(integers.to_vec::<i64>().unwrap(), [1, -2]);
    let float = form([&[0x15][..], &1.5f32.to_le_bytes()].concat(), "value_float", 1);
    assert_eq!(float.unwrap().unwrap().to_vec::<f32>().unwrap(), [1.5]);
    let floats = form(len(7, 2.5f32.to_le_bytes()), "value_floats", 6).unwrap().unwrap();
    assert_eq!((floats.shape(), floats.to_vec::<f32>().unwrap()), (&[1][..], vec![2.5]));
    assert!(form(len(4, "text"), "value_string", 3).unwrap().is_none());
    assert_bad(form(len(5, [0xff]), "value", 4), "constant \"a\"", "");
}

#[test]
fn values_have_one_maker_and_are_made_before_they_are_used() {
    let with = |nodes: Vec<Vec<u8>>| {
        let graph = vec![value(11, "x"), value(12, "y")];
        parse(&Model { nodes, graph, ..Model::new() }.bytes())
    };
    let chain = |from: &str, to: &str| node("Any", &[from], &[to], &[]);
    assert!(with(vec![chain("x", "m"), chain("m", "y")]).is_ok());
    let turned = with(vec![chain("m", "y"), chain("x", "m")]);
    assert_bad(turned, "m.onnx", "\"m\" is used before it is made");
    assert_bad(with(vec![chain("y", "y")]), "m.onnx", "\"y\" is used before it is made");
    assert_bad(
        with(vec![chain("x", "y"), chain("x", "y")]),
        "m.onnx",
        "two values are called \"y\"",
    );
    assert_bad(with(vec![chain("x", "x")]), "m.onnx", "two values are called \"x\"");
    // Empty names are not one value, and names of an outer graph are unknown here.
    let absent = |out: &str| node("Any", &["", "outer"], &["", out], &[]);
    assert!(with(vec![absent("m"), absent("y")]).is_ok());
}

/// Graphs in attributes of nodes of graphs.
fn nested(depth: usize) -> Vec<u8> {
    let mut graph = value(12, "y");
    for _ in 0..depth {
        let node = node("Loop", &[], &["y"], &[subgraph("body", &[graph])]);
        graph = len(1, node);
    }
    [len(7, graph), len(8, opset("", 13))].concat()
}

#[test]
fn nesting_has_an_end() {
    let mut graph = parse(&nested(20)).unwrap().graph;
    for _ in 0..20 {
        graph = graph.nodes.remove(0).subgraphs.remove(0).1;
    }
    assert!(graph.nodes.is_empty());
    for depth in [50, 500, 3000] {
        assert_bad(parse(&nested(depth)), "m.onnx", "recursion");
    }
}

#[test]
fn wrong_wire_types_and_absurd_lengths_are_refused() {
    for bytes in [
        int(7, 1),
        len(7, int(1, 1)),
        len(7, len(1, int(1, 1))),
        len(7, len(5, int(8, 1))),
        len(7, len(11, len(2, int(1, 1)))),
        vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        [len(7, ""), vec![0x42, 0x80, 0x80, 0x80, 0x80, 0x40]].concat(),
        vec![0x3b; 200],
        vec![0xff; 64],
    ] {
        assert_bad(parse(&bytes), "m.onnx", "");
    }
}

#[test]
fn a_cut_model_of_everything_is_refused_and_a_flipped_one_never_panics() {
    let whole = everything();
    parse(&whole).unwrap();
    // The function comes last, and the model is whole without it.
    let without = whole.windows(2).position(|w| w == [0xca, 0x01]).unwrap();
    for end in (0..whole.len()).filter(|&end| end != without) {
        let cut = parse(&whole[..end]);
        // Cut between two imports, a model is whole, too.
        if let Ok(model) = cut {
            assert_eq!((model.graph.nodes.len(), model.functions.len()), (4, 0), "{end}");
        }
    }
    flipped(&whole, |bytes| {
        let Ok(model) = parse(bytes) else { return };
        for node in &model.graph.nodes {
            drop((node.attributes(), node.constant()));
        }
        for constant in model.graph.initializers.values() {
            drop((constant.desc(), constant.read()));
        }
    });
}
