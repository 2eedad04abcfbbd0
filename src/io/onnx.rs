//! ONNX tensors (`TensorProto`) and models (`ModelProto`).
//!
//! A model is mapped, and its tensors are read one by one when they are asked for,
//! from the model itself or from the files beside it that it names.

mod external;
mod graph;
mod model;
mod node;
mod proto;
mod tensor;
mod test_model;

pub use graph::{Dim, Graph, ValueInfo};
pub use model::{Function, Model, parse_model, read_model};
pub use node::GraphNode;
pub use tensor::{Constant, encode_tensor, parse_tensor, read_tensor};
pub use test_model::{TestModel, parse_test_model, read_test_model};
