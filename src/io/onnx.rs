//! ONNX tensors (`TensorProto`) and models of one node (`ModelProto`).

mod model;
mod proto;
mod tensor;

pub use model::{TestModel, parse_model, read_model};
pub use tensor::{encode_tensor, parse_tensor, read_tensor};
