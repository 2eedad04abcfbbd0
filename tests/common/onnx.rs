//! Encodes Protobuf messages, and the parts of ONNX models. The command's tests share it.

#![allow(dead_code)]

use wgmax::Result;
use wgmax::io::onnx::{TestModel, parse_test_model};

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field that is a number.
pub fn int(field: u64, value: i64) -> Vec<u8> {
    [varint(field << 3), varint(value as u64)].concat()
}

/// A field that is bytes, a text, a message, or packed numbers.
pub fn len(field: u64, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A field of packed numbers.
pub fn packed(field: u64, values: &[i64]) -> Vec<u8> {
    len(field, values.iter().flat_map(|&v| varint(v as u64)).collect::<Vec<_>>())
}

/// The same numbers, each with its own key.
pub fn unpacked(field: u64, values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|&v| int(field, v)).collect()
}

/// A tensor's dims and data_type, followed by `rest`, which holds its elements.
pub fn tensor(dims: &[i64], data_type: i64, rest: &[Vec<u8>]) -> Vec<u8> {
    [unpacked(1, dims), int(2, data_type), rest.concat()].concat()
}

/// A node of two inputs and one output, in parts that tests replace.
#[derive(Clone)]
pub struct Model {
    pub nodes: Vec<Vec<u8>>,
    pub graph: Vec<Vec<u8>>,
    pub opsets: Vec<Vec<u8>>,
}

pub fn node(op: &str, inputs: &[&str], outputs: &[&str], rest: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|n| len(1, n)).collect();
    let outputs: Vec<u8> = outputs.iter().flat_map(|n| len(2, n)).collect();
    [inputs, outputs, len(4, op), rest.concat()].concat()
}

pub fn value(field: u64, name: &str) -> Vec<u8> {
    // It has a type, but no shape.
    len(field, [len(1, name), len(2, len(1, int(1, 1)))].concat())
}

/// A value of a type and shape; a dimension is a number, a name or nothing.
pub fn shaped(field: u64, name: &str, element_type: i64, dims: &[&str]) -> Vec<u8> {
    let dim = |text: &&str| match text.parse() {
        Ok(number) => len(1, int(1, number)),
        Err(_) if text.is_empty() => len(1, ""),
        Err(_) => len(1, len(2, text)),
    };
    let shape: Vec<u8> = dims.iter().flat_map(dim).collect();
    let tensor = [int(1, element_type), len(2, shape)].concat();
    len(field, [len(1, name), len(2, len(1, tensor))].concat())
}

/// An attribute of a node, a list of integers.
pub fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    len(5, [len(1, name), unpacked(8, values), int(20, 7)].concat())
}

/// An attribute of a node, a graph of these parts.
pub fn subgraph(name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    len(5, [len(1, name), len(6, parts.concat()), int(20, 5)].concat())
}

/// A tensor whose elements are in another file.
pub fn external(dims: &[i64], data_type: i64, entries: &[(&str, &str)]) -> Vec<u8> {
    let entries: Vec<u8> =
        entries.iter().flat_map(|(k, v)| len(13, [len(1, k), len(2, v)].concat())).collect();
    [tensor(dims, data_type, &[entries]), int(14, 1)].concat()
}

pub fn opset(domain: &str, version: i64) -> Vec<u8> {
    [len(1, domain), int(2, version)].concat()
}

impl Model {
    pub fn new() -> Self {
        let keepdims = len(5, [len(1, "keepdims"), int(3, 0), int(20, 2)].concat());
        Self {
            nodes: vec![node("ReduceMax", &["x", "a"], &["y"], &[keepdims])],
            graph: vec![len(2, "g"), value(11, "x"), value(11, "a"), value(12, "y")],
            opsets: vec![opset("", 18)],
        }
    }

    pub fn of(op: &str, attributes: &[Vec<u8>]) -> Self {
        let attributes: Vec<Vec<u8>> = attributes.iter().map(|a| len(5, a)).collect();
        Self { nodes: vec![node(op, &["x", "a"], &["y"], &attributes)], ..Self::new() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let nodes: Vec<u8> = self.nodes.iter().flat_map(|n| len(1, n)).collect();
        let opsets: Vec<u8> = self.opsets.iter().flat_map(|o| len(8, o)).collect();
        [int(1, 8), len(2, "me"), len(7, [nodes, self.graph.concat()].concat()), opsets].concat()
    }

    pub fn parse(&self) -> Result<TestModel> {
        parse_test_model("m.onnx", &self.bytes())
    }
}
