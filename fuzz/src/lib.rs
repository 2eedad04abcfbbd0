//! The work of each target. The tests run the same over `seeds`.

mod operators;
mod plan;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use wgmax::io::case::{self, Case};
use wgmax::io::{SharedBytes, npy as npy_file, npz as npz_file, onnx, safetensors as named_file};
use wgmax::{Device, Tensor};

pub use plan::plan;

static CPU: LazyLock<Device> = LazyLock::new(Device::cpu);

/// The function of a target.
pub type Target = fn(&[u8]);

/// All targets by name, which is the name of their folder of seeds.
pub const TARGETS: [(&str, Target); 7] = [
    ("npy", npy),
    ("npz", npz),
    ("safetensors", safetensors),
    ("tensor", tensor),
    ("model", model),
    ("case", case),
    ("plan", plan),
];

/// `.npy`.
pub fn npy(bytes: &[u8]) {
    looked_at(npy_file::parse("fuzz", shared(bytes)));
}

/// `.npz`: by name, and the only one.
pub fn npz(bytes: &[u8]) {
    looked_at(npz_file::parse("fuzz", None, shared(bytes)));
    looked_at(npz_file::parse("fuzz", Some("a"), shared(bytes)));
}

/// `.safetensors`: by name, and the only one.
pub fn safetensors(bytes: &[u8]) {
    looked_at(named_file::parse("fuzz", None, shared(bytes)));
    looked_at(named_file::parse("fuzz", Some("a"), shared(bytes)));
}

/// ONNX's `TensorProto`. A tensor that is read is written and read again.
pub fn tensor(bytes: &[u8]) {
    let read = onnx::parse_tensor("fuzz", bytes);
    if let Ok(tensor) = &read {
        let again = onnx::parse_tensor("fuzz", &onnx::encode_tensor(tensor).unwrap()).unwrap();
        assert_eq!((again.desc(), again.bytes()), (tensor.desc(), tensor.bytes()));
    }
    looked_at(read);
}

/// ONNX's `ModelProto`, its nodes on its own constants.
pub fn model(bytes: &[u8]) {
    let Ok(model) = onnx::parse_model("fuzz", shared(bytes)) else { return };
    let nodes = model.graph.nodes.iter().chain(model.functions.iter().flat_map(|f| &f.nodes));
    for node in nodes.take(16) {
        if let Ok(Some(tensor)) = node.constant() {
            looked_at(Ok(tensor));
        }
        let Ok(as_node) = node.node(model.opset.unwrap_or(1)) else { continue };
        let constant = |name: &String| model.graph.initializers.get(name)?.read().ok();
        let inputs: Vec<Option<Tensor>> = node.inputs.iter().take(4).map(constant).collect();
        let inputs: Vec<Option<&Tensor>> = inputs.iter().map(Option::as_ref).collect();
        if let Ok(operator) = as_node.operator(&inputs, None) {
            let inputs: Vec<&Tensor> =
                inputs.into_iter().flatten().take(operator.input_count()).collect();
            plan::run(&operator, &inputs, &CPU.info().limits, CPU.tuning());
        }
    }
}

/// `case.json` up to the first 0; the bytes after it are the content of every file that it names.
pub fn case(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let file = bytes.get(end + 1..).unwrap_or_default();
    let read = |name: &str| npy_file::parse(name, shared(file));
    let Ok(Case { node, inputs, .. }) = case::parse(Path::new("fuzz"), &bytes[..end], read) else {
        return;
    };
    let inputs: Vec<Option<&Tensor>> = inputs.iter().map(Option::as_ref).collect();
    if let Ok(operator) = node.operator(&inputs, None) {
        let inputs: Vec<&Tensor> =
            inputs.into_iter().flatten().take(operator.input_count()).collect();
        plan::run(&operator, &inputs, &CPU.info().limits, CPU.tuning());
    }
}

fn shared(bytes: &[u8]) -> SharedBytes {
    Arc::new(bytes.to_vec())
}

/// Errors can be printed, and a tensor has as many bytes as its description says.
fn looked_at(read: wgmax::Result<Tensor>) {
    match read {
        Ok(tensor) => assert_eq!(tensor.bytes().len(), tensor.desc().byte_len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
