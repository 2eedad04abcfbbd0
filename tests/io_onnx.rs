//! ONNX tensors and models from byte literals, and golden cases from folders:
//! what is right is read, what is wrong is refused, and nothing panics.
#![cfg(feature = "io")]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wgmax::dialect::{Attribute, Dialect};
use wgmax::io::case::{Case, CaseFolder, CaseKind, Expect, find};
use wgmax::io::onnx::{TestModel, encode_tensor, parse_model, parse_tensor, read_tensor};
use wgmax::{ElementType, Error, Result, Tensor};

// ---- protobuf by hand ------------------------------------------------------

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field that is a number.
fn int(field: u64, value: i64) -> Vec<u8> {
    [varint(field << 3), varint(value as u64)].concat()
}

/// A field that is bytes, a text, a message, or packed numbers.
fn len(field: u64, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A field of packed numbers.
fn packed(field: u64, values: &[i64]) -> Vec<u8> {
    len(field, values.iter().flat_map(|&v| varint(v as u64)).collect::<Vec<_>>())
}

/// The same numbers, each with its own key.
fn unpacked(field: u64, values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|&v| int(field, v)).collect()
}

/// A tensor's dims and data_type, before whatever holds its elements.
fn tensor(dims: &[i64], data_type: i64, rest: &[Vec<u8>]) -> Vec<u8> {
    [unpacked(1, dims), int(2, data_type), rest.concat()].concat()
}

fn parse(bytes: &[u8]) -> Result<Tensor> {
    parse_tensor("t.pb", bytes)
}

#[track_caller]
fn assert_bad(result: Result<impl std::fmt::Debug>, path: &str, reason: &str) {
    match result {
        Err(Error::BadFile { path: p, reason: r, .. }) => {
            assert!(p.contains(path) && r.contains(reason), "{p:?}: {r:?}");
        }
        other => panic!("{other:?}, where BadFile with {reason:?} was expected"),
    }
}

#[track_caller]
fn assert_unsupported(result: Result<impl std::fmt::Debug>, reason: &str) {
    match result {
        Err(Error::Unsupported { reason: r, .. }) => assert!(r.contains(reason), "{r:?}"),
        other => panic!("{other:?}, where Unsupported with {reason:?} was expected"),
    }
}

// ---- tensors ---------------------------------------------------------------

/// Each type's number in the format, a field that can hold it, and elements as
/// that field has them, with the bytes that they stand for.
type Numbers = (ElementType, i64, u64, [i64; 2], &'static [u8]);
const INTEGERS: [Numbers; 11] = [
    (ElementType::U8, 2, 5, [0, 255], &[0, 255]),
    (ElementType::I8, 3, 5, [-128, 127], &[128, 127]),
    (ElementType::U16, 4, 5, [1, 65535], &[1, 0, 255, 255]),
    (ElementType::I16, 5, 5, [-32768, 258], &[0, 128, 2, 1]),
    (ElementType::I32, 6, 5, [-2, 0x0102_0304], &[254, 255, 255, 255, 4, 3, 2, 1]),
    (
        ElementType::I64,
        7,
        7,
        [i64::MIN, 0x0102_0304_0506_0708],
        &[0, 0, 0, 0, 0, 0, 0, 128, 8, 7, 6, 5, 4, 3, 2, 1],
    ),
    (ElementType::Bool, 9, 5, [1, 0], &[1, 0]),
    (ElementType::F16, 10, 5, [0x3c00, 0xfc01], &[0, 0x3c, 1, 0xfc]),
    (ElementType::U32, 12, 11, [7, 0xffff_fffe], &[7, 0, 0, 0, 254, 255, 255, 255]),
    (
        ElementType::U64,
        13,
        11,
        [-1, 1],
        &[255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0],
    ),
    (ElementType::Bf16, 16, 5, [0x3f80, 0xffc0], &[0x80, 0x3f, 0xc0, 0xff]),
];

#[test]
fn integers_and_halves_come_from_their_field_or_from_raw_data() {
    for (element_type, code, field, values, bytes) in INTEGERS {
        for data in [packed(field, &values), unpacked(field, &values), len(9, bytes)] {
            let read = parse(&tensor(&[2], code, &[data])).unwrap();
            assert_eq!((read.element_type(), read.shape()), (element_type, &[2][..]));
            assert_eq!(read.bytes(), bytes, "{element_type}");
        }
    }
}

#[test]
fn floats_come_from_their_field_or_from_raw_data() {
    // A NaN with a payload and a negative zero must come through as they are.
    let singles = [0x7fa0_0001u32, 0x8000_0000].map(u32::to_le_bytes).concat();
    let doubles = [0xfff0_0000_0000_0001u64, 1 << 63].map(u64::to_le_bytes).concat();
    for (element_type, code, field, wire, bytes) in
        [(ElementType::F32, 1, 4, 5, &singles), (ElementType::F64, 11, 10, 1, &doubles)]
    {
        let key = varint(field << 3 | wire);
        let each = bytes.chunks(bytes.len() / 2).flat_map(|c| [&key, c].concat()).collect();
        for data in [len(field, bytes), each, len(9, bytes)] {
            let read = parse(&tensor(&[1, 2], code, &[data])).unwrap();
            assert_eq!((read.element_type(), read.shape()), (element_type, &[1, 2][..]));
            assert_eq!(read.bytes(), *bytes, "{element_type}");
        }
    }
}

#[test]
fn shapes_are_scalars_and_empty_ones_too() {
    let scalar = parse(&tensor(&[], 7, &[packed(7, &[-5])])).unwrap();
    assert_eq!((scalar.shape(), scalar.to_vec::<i64>().unwrap()), (&[][..], vec![-5]));
    for data in [vec![], len(9, [])] {
        let empty = parse(&tensor(&[2, 0, 4], 1, &[data])).unwrap();
        assert_eq!((empty.shape(), empty.len()), (&[2, 0, 4][..], 0));
    }
    // Packed dims are as good as unpacked ones.
    let bytes = [packed(1, &[1, 2]), int(2, 2), len(9, [3, 4])].concat();
    assert_eq!(parse(&bytes).unwrap().shape(), [1, 2]);
}

#[test]
fn fields_of_no_interest_are_skipped() {
    let extra = [len(8, "name"), len(12, "doc"), len(13, ""), int(14, 0), len(999, "later")];
    let bytes = [extra.concat(), tensor(&[2], 2, &[len(9, [1, 2])])].concat();
    assert_eq!(parse(&bytes).unwrap().bytes(), [1, 2]);
}

#[test]
fn tensors_are_refused_for_what_is_wrong_with_them() {
    let two = || len(9, [1, 2]);
    let cases = [
        (tensor(&[2], 0, &[two()]), "data_type 0"),
        (tensor(&[2], 99, &[two()]), "data_type 99"),
        (tensor(&[2], -1, &[two()]), "data_type -1"),
        (unpacked(1, &[2]), "data_type 0"),
        (tensor(&[-2], 2, &[two()]), "dimension -2"),
        (tensor(&[i64::MAX, 3], 2, &[two()]), "too large"),
        (tensor(&[1 << 31, 1 << 31, 4], 2, &[]), "too large"),
        (tensor(&[i64::MAX, 3, 0], 2, &[]), "too large"),
        (tensor(&[1 << 40], 11, &[]), "double_data holds 0"),
        (tensor(&[1 << 40], 11, &[two()]), "2 were given"),
        (tensor(&[3], 2, &[two()]), "needs 3 bytes"),
        (tensor(&[1], 2, &[two()]), "needs 1 bytes"),
        (tensor(&[2], 2, &[]), "int32_data holds 0"),
        (tensor(&[3], 2, &[packed(5, &[1, 2])]), "int32_data holds 2"),
        (tensor(&[1], 2, &[packed(5, &[1, 2])]), "int32_data holds 2"),
        (tensor(&[2], 2, &[two(), packed(5, &[1, 2])]), "both raw_data and int32_data"),
        (tensor(&[2], 2, &[two(), packed(7, &[1, 2])]), "int64_data holds elements"),
        (tensor(&[2], 7, &[packed(5, &[1, 2])]), "int32_data holds elements"),
        (tensor(&[2], 2, &[two(), len(6, "text")]), "string_data holds elements"),
        (tensor(&[2], 9, &[len(9, [1, 2])]), "byte 2"),
        (tensor(&[2], 9, &[packed(5, &[1, 2])]), "byte 2"),
        (tensor(&[2], 2, &[two(), int(14, 2)]), "data_location 2"),
        (tensor(&[2], 2, &[vec![0x4a, 0xff, 0xff, 0xff, 0xff, 0x0f]]), ""),
    ];
    for (bytes, reason) in cases {
        assert_bad(parse(&bytes), "t.pb", reason);
    }
    for (bytes, reason) in [
        (tensor(&[2], 8, &[len(6, "a"), len(6, "b")]), "STRING"),
        (tensor(&[2], 17, &[two()]), "FLOAT8E4M3FN"),
        (tensor(&[2], 2, &[int(14, 1)]), "another file"),
        (tensor(&[2], 2, &[two(), len(3, int(1, 0))]), "segments"),
    ] {
        assert_unsupported(parse(&bytes), reason);
    }
}

#[test]
fn numbers_outside_their_type_are_refused() {
    for (code, field, value) in [
        (2, 5, -1),
        (2, 5, 256),
        (3, 5, -129),
        (3, 5, 128),
        (4, 5, -1),
        (4, 5, 65536),
        (5, 5, -32769),
        (5, 5, 32768),
        (9, 5, -1),
        (9, 5, 256),
        (10, 5, -1),
        (10, 5, 65536),
        (12, 11, 1 << 32),
        (16, 5, -1),
        (16, 5, 65536),
    ] {
        let bytes = tensor(&[2], code, &[packed(field, &[0, value])]);
        assert_bad(parse(&bytes), "t.pb", &format!("element 1 is {value}"));
    }
}

#[test]
fn what_is_encoded_is_read_back() {
    for element_type in ElementType::ALL {
        for shape in [vec![], vec![3, 2], vec![0, 5], vec![200]] {
            let count = shape.iter().product::<usize>() * element_type.size();
            let bool_or_byte = if element_type == ElementType::Bool { 2 } else { 256 };
            let bytes: Vec<u8> = (0..count).map(|i| (i * 37 % bool_or_byte) as u8).collect();
            let tensor = Tensor::from_bytes(element_type, shape, &bytes).unwrap();
            let read = parse(&encode_tensor(&tensor)).unwrap();
            assert_eq!(read.desc(), tensor.desc());
            assert_eq!(read.bytes(), tensor.bytes());
        }
    }
    let tensor = Tensor::from_slice([1, 2], &[1u16, 0x0203]).unwrap();
    let literal = [0x08, 1, 0x08, 2, 0x10, 4, 0x4a, 4, 1, 0, 3, 2];
    assert_eq!(encode_tensor(&tensor), literal);
}

#[test]
fn a_file_is_read_and_named_in_errors() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.pb");
    fs::write(&path, tensor(&[2], 2, &[len(9, [1, 2])])).unwrap();
    assert_eq!(read_tensor(&path).unwrap().bytes(), [1, 2]);
    fs::write(&path, [0xff]).unwrap();
    assert_bad(read_tensor(&path), path.to_str().unwrap(), "");
    let absent = read_tensor(&dir.path().join("b.pb"));
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("b.pb")));
}

#[test]
fn a_cut_tensor_is_refused_and_a_flipped_one_never_panics() {
    let raw = tensor(&[2, 3], 4, &[len(9, [1; 12])]);
    let typed = tensor(&[2, 3], 3, &[packed(5, &[0, 1, -2, 127, 4, 5])]);
    let doubles = tensor(&[2], 11, &[len(10, [0x40; 16])]);
    for whole in [raw, typed, doubles] {
        parse(&whole).unwrap();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end} of {} bytes", whole.len());
        }
        flipped(&whole, |bytes| {
            if let Ok(tensor) = parse(bytes) {
                assert_eq!(tensor.bytes().len(), tensor.desc().byte_len());
            }
        });
    }
}

/// Every way to change one byte.
fn flipped(whole: &[u8], mut check: impl FnMut(&[u8])) {
    let mut bytes = whole.to_vec();
    for at in 0..whole.len() {
        for flip in 1..=255 {
            bytes[at] = whole[at] ^ flip;
            check(&bytes);
        }
        bytes[at] = whole[at];
    }
}

// ---- models ----------------------------------------------------------------

/// A node of two inputs and one output, in parts that tests replace.
#[derive(Clone)]
struct Model {
    nodes: Vec<Vec<u8>>,
    graph: Vec<Vec<u8>>,
    opsets: Vec<Vec<u8>>,
}

fn node(op: &str, inputs: &[&str], outputs: &[&str], rest: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|n| len(1, n)).collect();
    let outputs: Vec<u8> = outputs.iter().flat_map(|n| len(2, n)).collect();
    [inputs, outputs, len(4, op), rest.concat()].concat()
}

fn value(field: u64, name: &str) -> Vec<u8> {
    // With a type, which is skipped.
    len(field, [len(1, name), len(2, len(1, int(1, 1)))].concat())
}

fn opset(domain: &str, version: i64) -> Vec<u8> {
    [len(1, domain), int(2, version)].concat()
}

impl Model {
    fn new() -> Self {
        let keepdims = len(5, [len(1, "keepdims"), int(3, 0), int(20, 2)].concat());
        Self {
            nodes: vec![node("ReduceMax", &["x", "a"], &["y"], &[keepdims])],
            graph: vec![len(2, "g"), value(11, "x"), value(11, "a"), value(12, "y")],
            opsets: vec![opset("", 18)],
        }
    }

    fn of(op: &str, attributes: &[Vec<u8>]) -> Self {
        let attributes: Vec<Vec<u8>> = attributes.iter().map(|a| len(5, a)).collect();
        Self { nodes: vec![node(op, &["x", "a"], &["y"], &attributes)], ..Self::new() }
    }

    fn bytes(&self) -> Vec<u8> {
        let nodes: Vec<u8> = self.nodes.iter().flat_map(|n| len(1, n)).collect();
        let opsets: Vec<u8> = self.opsets.iter().flat_map(|o| len(8, o)).collect();
        [int(1, 8), len(2, "me"), len(7, [nodes, self.graph.concat()].concat()), opsets].concat()
    }

    fn parse(&self) -> Result<TestModel> {
        parse_model("m.onnx", &self.bytes())
    }
}

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
    // The one that feeds nothing would not be readable.
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
    assert_unsupported(Model { nodes: vec![one(), one()], ..new() }.parse(), "2 nodes");
    let foreign = node("ReduceMax", &["x"], &["y"], &[len(7, "com.microsoft")]);
    assert_unsupported(with_node(foreign).parse(), "com.microsoft");
    assert_bad(parse_model("m.onnx", &len(8, opset("", 13))), "m.onnx", "no graph");
    assert_bad(parse_model("m.onnx", &[]), "m.onnx", "no graph");
}

#[test]
fn a_cut_model_is_refused_and_a_flipped_one_never_panics() {
    let axes = [len(8, "a"), tensor(&[1], 7, &[packed(7, &[-1])])].concat();
    let mut model = Model::new();
    model.graph.push(len(5, axes));
    let whole = model.bytes();
    parse_model("m.onnx", &whole).unwrap();
    for end in 0..whole.len() {
        assert!(parse_model("m.onnx", &whole[..end]).is_err(), "{end} of {} bytes", whole.len());
    }
    flipped(&whole, |bytes| drop(parse_model("m.onnx", bytes)));
}

// ---- cases in case.json ----------------------------------------------------

/// A `.npy` file of version 1.0.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data]
        .concat()
}

const JSON: &str = r#"{
    "id": "the id", "op": "ReduceMax", "dialect": "openvino", "version": 1,
    "attrs": {"keep_dims": true, "n": 3, "list": [1, -2], "none": [], "text": "NXC",
        "real": 1.5, "mixed": [1, "a"], "null": null, "large": 18446744073709551615},
    "inputs": [{"name": "data", "file": "in0.npy", "dtype": "f32", "shape": [2]},
        {"name": "axes", "file": "in1.npy", "dtype": "i64", "shape": []}],
    "outputs": [{"file": "out0.npy", "dtype": "bf16", "shape": [1]}],
    "expect": "ok", "contested": false, "oracle": "openvino", "tags": ["what", 1]
}"#;

/// A folder with `case.json` and the files that [`JSON`] names.
fn json_case(json: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("case.json", json.as_bytes());
    write("in0.npy", &npy("<f4", "2,", &[0, 0, 128, 63, 0, 0, 0, 64]));
    write("in1.npy", &npy("<i8", "", &[0; 8]));
    write("out0.npy", &npy("<u2", "1,", &[0x00, 0x40]));
    write("rec0.npy", &npy("<u2", "1,", &[0xc0, 0x7f]));
    write("u8.npy", &npy("|u1", "2,", &[1, 2]));
    dir
}

fn load_in(dir: &Path) -> Result<Case> {
    let folder = CaseFolder { path: dir.to_path_buf(), kind: CaseKind::Json };
    let mut cases = folder.load()?;
    assert_eq!(cases.len(), 1);
    Ok(cases.remove(0))
}

fn load(json: &str) -> Result<Case> {
    load_in(json_case(json).path())
}

/// [`JSON`] with one text replaced, which must be in it.
#[track_caller]
fn edited(from: &str, to: &str) -> String {
    assert!(JSON.contains(from), "{from}");
    JSON.replacen(from, to, 1)
}

fn outputs(case: &Case) -> &[Tensor] {
    match &case.expect {
        Expect::Outputs(outputs) => outputs,
        Expect::Error => panic!("{} expects an error", case.id),
    }
}

#[test]
fn a_case_json_is_read_in_full() {
    let case = load(JSON).unwrap();
    assert_eq!(case.id, "the id");
    assert_eq!(case.node.dialect, Dialect::OpenVino);
    assert_eq!((case.node.operator.as_str(), case.node.version), ("ReduceMax", Some(1)));
    let other = |text: &str| Attribute::Other(text.to_string());
    for (name, value) in [
        ("keep_dims", Attribute::Bool(true)),
        ("n", Attribute::Int(3)),
        ("list", Attribute::Ints(vec![1, -2])),
        ("none", Attribute::Ints(vec![])),
        ("text", Attribute::Text("NXC".to_string())),
        ("real", other("1.5")),
        ("mixed", other("[1,\"a\"]")),
        ("null", other("null")),
        ("large", other("18446744073709551615")),
    ] {
        assert_eq!(case.node.attributes[name], value, "{name}");
    }
    let [Some(data), Some(axes)] = &case.inputs[..] else { panic!("{:?}", case.inputs) };
    assert_eq!(data.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!((axes.shape(), axes.to_vec::<i64>().unwrap()), (&[][..], vec![0]));
    let [output] = outputs(&case) else { panic!("{:?}", case.expect) };
    assert_eq!((output.element_type(), output.bytes()), (ElementType::Bf16, &[0x00, 0x40][..]));
}

#[test]
fn versions_belong_to_dialects() {
    let from = "\"openvino\", \"version\": 1";
    let read = |to: &str| load(&edited(from, to));
    let onednn = read("\"onednn\", \"version\": \"graph\"").unwrap().node;
    assert_eq!((onednn.dialect, onednn.version), (Dialect::OneDnn, None));
    let onnx = read("\"onnx\", \"version\": 18").unwrap().node;
    assert_eq!((onnx.dialect, onnx.version), (Dialect::Onnx, Some(18)));
    for to in [
        "\"onnx\", \"version\": \"graph\"",
        "\"onednn\", \"version\": 1",
        "\"onnx\", \"version\": -1",
        "\"onnx\", \"version\": 4294967296",
        "\"onnx\", \"version\": null",
    ] {
        assert_bad(read(to), "case.json", "`version` is");
    }
    assert_bad(read("\"caffe\", \"version\": 1"), "case.json", "caffe");
}

#[test]
fn inputs_go_where_their_names_say() {
    let swapped = edited("\"data\"", "\"AXES\"").replace("\"axes\"", "\"data\"");
    let swapped = swapped.replace("AXES", "axes");
    let case = load(&swapped).unwrap();
    assert_eq!(case.inputs[0].as_ref().unwrap().element_type(), ElementType::I64);
    assert_eq!(case.inputs[1].as_ref().unwrap().element_type(), ElementType::F32);

    // segment_ids is left out: its slot stays empty.
    let gap = edited("ReduceMax", "SegmentMax").replace("\"axes\"", "\"num_segments\"");
    let case = load(&gap).unwrap();
    let there: Vec<bool> = case.inputs.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, false, true]);

    // A name that the operator does not have, or none: in the order of the list.
    for (from, to) in [("\"name\": \"axes\",", ""), ("\"axes\"", "\"reduction_axes\"")] {
        let case = load(&edited(from, to)).unwrap();
        assert_eq!(case.inputs[1].as_ref().unwrap().element_type(), ElementType::I64);
    }
    assert_bad(load(&edited("\"axes\"", "\"data\"")), "case.json", "input 0 of ReduceMax");
}

#[test]
fn a_contested_answer_gives_way_to_the_recommended_one() {
    let rec = r#""recommended": [{"file": "rec0.npy", "dtype": "bf16", "shape": [1]}], "expect""#;
    let with_rec = edited("\"expect\"", rec);
    let bits = |json: &str| outputs(&load(json).unwrap())[0].bytes().to_vec();
    let contested = |json: &str| json.replace("\"contested\": false", "\"contested\": true");
    assert_eq!(bits(&with_rec), [0x00, 0x40]);
    assert_eq!(bits(&contested(&with_rec)), [0xc0, 0x7f]);
    assert_eq!(bits(&contested(JSON)), [0x00, 0x40]);
}

#[test]
fn an_error_case_has_no_outputs() {
    for outputs in ["[]", "null"] {
        let at = JSON.find("\"outputs\"").unwrap();
        let end = JSON.find("\"expect\"").unwrap();
        let json = format!("{}\"outputs\": {outputs}, {}", &JSON[..at], &JSON[end..]);
        let error = load(&json.replace("\"ok\"", "\"error\"")).unwrap();
        assert!(matches!(error.expect, Expect::Error));
        assert_bad(load(&json), "case.json", "outputs");
    }
}

#[test]
fn a_case_json_without_a_required_field_is_refused_by_its_name() {
    for field in [
        "op", "dialect", "version", "attrs", "inputs", "outputs", "expect", "file", "dtype",
        "shape",
    ] {
        let without = edited(&format!("\"{field}\":"), "\"other\":");
        assert_bad(load(&without), "case.json", &format!("missing field `{field}`"));
    }
    let dir = json_case(&edited("\"id\":", "\"other\":"));
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(load_in(dir.path()).unwrap().id, name);
}

#[test]
fn a_case_json_that_lies_is_refused() {
    for (from, to, reason) in [
        ("\"shape\": [2]", "\"shape\": [1, 2]", "said to be f32[1, 2], but is f32[2]"),
        ("\"shape\": [2]", "\"shape\": [-2]", "-2"),
        ("\"f32\"", "\"i32\"", "said to be i32[2], but is f32[2]"),
        ("\"f32\"", "\"float\"", "float"),
        ("\"bf16\"", "\"f16\"", "said to be f16[1], but is u16[1]"),
        // Raw bits stand for bf16 and for nothing else.
        ("\"in0.npy\", \"dtype\": \"f32\"", "\"u8.npy\", \"dtype\": \"i8\"", "but is u8[2]"),
        ("\"expect\": \"ok\"", "\"expect\": \"fine\"", "fine"),
    ] {
        assert_bad(load(&edited(from, to)), "case.json", reason);
    }
}

#[test]
fn files_outside_the_folder_are_refused() {
    let dir = json_case(JSON);
    let inner = dir.path().join("inner");
    fs::create_dir(&inner).unwrap();
    for name in ["out0.npy", "in1.npy"] {
        fs::copy(dir.path().join(name), inner.join(name)).unwrap();
    }
    let absolute = dir.path().join("in0.npy");
    let absolute = absolute.to_str().unwrap();
    for file in ["../in0.npy", "../inner/in1.npy", absolute, "", ".", "/", "x/../in0.npy"] {
        let file = quoted(file);
        fs::write(inner.join("case.json"), edited("\"in0.npy\"", &file)).unwrap();
        assert_bad(load_in(&inner), "case.json", "not inside the folder");
    }
    fs::write(inner.join("case.json"), edited("in0.npy", "absent.npy")).unwrap();
    let absent = load_in(&inner);
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("absent.npy")));
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\"))
}

#[test]
fn a_cut_case_json_is_refused_and_a_flipped_one_never_panics() {
    let dir = json_case(JSON);
    let path = dir.path().join("case.json");
    let whole = JSON.as_bytes();
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert_bad(load_in(dir.path()), "case.json", "");
    }
    let mut bytes = whole.to_vec();
    for at in 0..whole.len() {
        for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            bytes[at] = whole[at] ^ flip;
            fs::write(&path, &bytes).unwrap();
            drop(load_in(dir.path()));
        }
        bytes[at] = whole[at];
    }
}

// ---- cases in ONNX folders -------------------------------------------------

fn bytes_tensor(values: &[u8]) -> Vec<u8> {
    tensor(&[values.len() as i64], 2, &[len(9, values)])
}

/// The name of a data set's folder, and its files with their elements.
type DataSet<'a> = (&'a str, &'a [(&'a str, &'a [u8])]);

/// A folder of a model and data sets.
fn onnx_case(model: &Model, sets: &[DataSet]) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("model.onnx"), model.bytes()).unwrap();
    for (set, files) in sets {
        let set = dir.path().join(set);
        fs::create_dir(&set).unwrap();
        for (name, values) in *files {
            fs::write(set.join(name), bytes_tensor(values)).unwrap();
        }
    }
    dir
}

fn load_onnx(dir: &TempDir) -> Result<Vec<Case>> {
    CaseFolder { path: dir.path().to_path_buf(), kind: CaseKind::Onnx }.load()
}

const PLAIN: &[(&str, &[u8])] =
    &[("input_0.pb", &[1]), ("input_1.pb", &[2]), ("output_0.pb", &[3])];

fn bytes_of(case: &Case) -> (Vec<Option<&[u8]>>, Vec<&[u8]>) {
    let inputs = case.inputs.iter().map(|i| i.as_ref().map(Tensor::bytes)).collect();
    (inputs, outputs(case).iter().map(Tensor::bytes).collect())
}

#[test]
fn an_onnx_folder_gives_a_case_a_data_set() {
    let dir = onnx_case(&Model::new(), &[("test_data_set_0", PLAIN)]);
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    let cases = load_onnx(&dir).unwrap();
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].id, name);
    assert_eq!(cases[0].node, Model::new().parse().unwrap().node);
    assert_eq!(bytes_of(&cases[0]), (vec![Some(&[1][..]), Some(&[2])], vec![&[3][..]]));

    let sets =
        [("test_data_set_10", PLAIN), ("test_data_set_9", PLAIN), ("test_data_set_x", PLAIN)];
    let dir = onnx_case(&Model::new(), &sets);
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    let ids: Vec<String> = load_onnx(&dir).unwrap().into_iter().map(|c| c.id).collect();
    let expected = ["9", "10", "x"].map(|n| format!("{name}/test_data_set_{n}"));
    assert_eq!(ids, expected);
}

#[test]
fn files_follow_the_graph_and_slots_follow_the_node() {
    // The graph lists its values the other way round, and the node skips a slot.
    let mut model = Model::new();
    model.nodes = vec![node("Any", &["x", "", "a"], &["y", "z"], &[])];
    model.graph = vec![value(11, "a"), value(11, "x"), value(12, "z"), value(12, "y")];
    let files: &[(&str, &[u8])] =
        &[("input_0.pb", &[1]), ("input_1.pb", &[2]), ("output_0.pb", &[3]), ("output_1.pb", &[4])];
    let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", files)])).unwrap();
    let expected = (vec![Some(&[2][..]), None, Some(&[1])], vec![&[4][..], &[3]]);
    assert_eq!(bytes_of(&cases[0]), expected);

    // The first output alone is asked for; then the second alone, which a case cannot say.
    model.graph = vec![value(11, "a"), value(11, "x"), value(12, "y")];
    let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", PLAIN)])).unwrap();
    assert_eq!(bytes_of(&cases[0]).1, [&[3]]);
    model.graph[2] = value(12, "z");
    assert_unsupported(load_onnx(&onnx_case(&model, &[("test_data_set_0", PLAIN)])), "leaves out");
}

#[test]
fn constants_fill_what_the_files_do_not() {
    let constant = len(5, [len(8, "a"), bytes_tensor(&[9])].concat());
    let one: &[(&str, &[u8])] = &[("input_0.pb", &[1]), ("output_0.pb", &[3])];
    for graph in [
        vec![value(11, "x"), value(12, "y"), constant.clone()],
        vec![value(11, "a"), value(11, "x"), value(12, "y"), constant.clone()],
    ] {
        let model = Model { graph, ..Model::new() };
        let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", one)])).unwrap();
        assert_eq!(bytes_of(&cases[0]).0, [Some(&[1][..]), Some(&[9])]);
    }
    // A constant that is a graph input too is only its default.
    let graph = vec![value(11, "x"), value(11, "a"), value(12, "y"), constant];
    let model = Model { graph, ..Model::new() };
    let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", PLAIN)])).unwrap();
    assert_eq!(bytes_of(&cases[0]).0, [Some(&[1][..]), Some(&[2])]);
}

#[test]
fn data_sets_that_do_not_fit_the_model_are_refused() {
    let with = |files: &[(&str, &[u8])]| {
        load_onnx(&onnx_case(&Model::new(), &[("test_data_set_0", files)]))
    };
    let set = "test_data_set_0";
    assert_bad(with(&PLAIN[..1]), set, "1 input files for a graph of 2 inputs");
    assert_bad(with(&PLAIN[..2]), set, "0 output files for a graph of 1 outputs");
    assert_bad(with(&[PLAIN, &[("input_2.pb", &[0])]].concat()), set, "3 input files");
    assert_bad(with(&[PLAIN, &[("output_1.pb", &[0])]].concat()), set, "2 output files");
    assert_bad(with(&[PLAIN[0], PLAIN[2], ("input_2.pb", &[0])]), set, "input_1.pb is missing");
    assert_bad(with(&[PLAIN, &[("input_01.pb", &[0])]].concat()), set, "input_01.pb");
    assert_bad(load_onnx(&onnx_case(&Model::new(), &[])), "model.onnx", "test_data_set_0");

    let dir = onnx_case(&Model::new(), &[(set, PLAIN)]);
    fs::write(dir.path().join(set).join("output_0.pb"), [1]).unwrap();
    assert_bad(load_onnx(&dir), "output_0.pb", "");
}

// ---- finding cases ---------------------------------------------------------

/// `b/case`, `a/model` (ONNX), and things that are no case, under one root.
fn forest() -> TempDir {
    let root = TempDir::new().unwrap();
    let file = |path: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    };
    file("b/case/case.json");
    file("b/case/z.npy");
    file("b/case/deeper/case.json");
    file("a/model/model.onnx");
    file("a/model/test_data_set_0/input_0.pb");
    file("a/bare/model.onnx");
    file("a/data/test_data_set_0/input_0.pb");
    file("c/note.txt");
    fs::create_dir_all(root.path().join("d/case.json")).unwrap();
    root
}

fn found(root: &Path, paths: &[&str]) -> Result<Vec<(String, CaseKind)>> {
    let paths: Vec<PathBuf> = paths.iter().map(|p| root.join(p)).collect();
    let relative = |folder: CaseFolder| {
        let path = folder.path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        (path, folder.kind)
    };
    Ok(find(&paths)?.into_iter().map(relative).collect())
}

#[test]
fn cases_are_found_in_order_and_once() {
    use CaseKind::{Json, Onnx};
    let root = forest();
    let found = |paths: &[&str]| found(root.path(), paths).unwrap();
    let pairs = |list: &[(&str, CaseKind)]| -> Vec<(String, CaseKind)> {
        list.iter().map(|(path, kind)| (path.to_string(), *kind)).collect()
    };
    let all = pairs(&[("a/model", Onnx), ("b/case", Json), ("b/case/deeper", Json)]);
    assert_eq!(found(&[""]), all);
    assert_eq!(found(&["", "b", "a/model/model.onnx"]), all);
    let turned = pairs(&[("b/case", Json), ("b/case/deeper", Json), ("a/model", Onnx)]);
    assert_eq!(found(&["b", "a"]), turned);
    assert_eq!(found(&["b/case/case.json"]), pairs(&[("b/case", Json)]));
    assert_eq!(found(&["a/bare/model.onnx"]), pairs(&[("a/bare", Onnx)]));
    assert_eq!(found(&["c", "a/bare", "a/data", "d"]), []);
    assert_eq!(found(&[]), []);
}

#[test]
fn paths_that_lead_to_no_case_are_refused() {
    let root = forest();
    let absent = found(root.path(), &["b", "absent"]);
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("absent")));
    assert_unsupported(found(root.path(), &["c/note.txt"]), "case.json");
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_followed_only_where_they_are_named() {
    use std::os::unix::fs::symlink;
    let root = forest();
    symlink(root.path(), root.path().join("b/loop")).unwrap();
    symlink(root.path().join("a"), root.path().join("b/link")).unwrap();
    symlink("nowhere", root.path().join("b/broken")).unwrap();
    let paths = |list: &[&str]| -> Vec<String> {
        found(root.path(), list).unwrap().into_iter().map(|(path, _)| path).collect()
    };
    assert_eq!(paths(&["b"]), ["b/case", "b/case/deeper"]);
    assert_eq!(paths(&["b/link"]), ["b/link/model"]);
    assert_eq!(paths(&["b/link", "a"]), ["b/link/model"]);
    // A file may be a link.
    fs::create_dir(root.path().join("e")).unwrap();
    symlink(root.path().join("b/case/case.json"), root.path().join("e/case.json")).unwrap();
    assert_eq!(paths(&["e"]), ["e"]);
}

/// The cases that come with the sources, where they are there.
#[test]
fn every_case_of_the_sources_loads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    if !root.exists() {
        return;
    }
    let folders = find(&[root]).unwrap();
    assert!(!folders.is_empty());
    for folder in folders {
        let cases = folder.load().unwrap_or_else(|e| panic!("{e}"));
        assert!(!cases.is_empty());
        for case in cases {
            assert!(case.inputs.first().is_some_and(Option::is_some), "{}", case.id);
        }
    }
}
