//! ONNX tensors (`TensorProto`) and models (`ModelProto`).
//!
//! A model is memory-mapped. Its tensors are read on demand, from the model or from the external
//! files that it names.

mod context;
mod external;
mod graph;
mod model;
mod numbers;
mod proto;
mod tensor;
mod test_model;

pub use graph::{Dim, Graph, GraphNode, ValueInfo};
pub use model::{Function, Model, parse_model, read_model};
pub(crate) use tensor::supported_type;
pub use tensor::{Constant, encode_tensor, parse_tensor, read_tensor};
pub(super) use tensor::{encode, parse_shared};
pub use test_model::{TestModel, parse_test_model, read_test_model};
