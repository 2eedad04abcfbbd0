//! The messages of [`onnx.proto`](https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), with the
//! fields that are read here and their numbers there. The decoder skips all other fields.
//!
//! Enumerations are integers, so that unknown values can be reported.

use prost::Message;
use prost::bytes::Bytes;

/// Structures for messages: the type of each field, and how it is encoded.
macro_rules! messages {
    ($($(#[$about:meta])* $name:ident {
        $($(#[$note:meta])* $field:ident: $type:ty = $encoding:tt,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, PartialEq, Message)]
        pub(super) struct $name {
            $($(#[$note])* #[prost $encoding] pub $field: $type,)*
        }
    )*};
}

messages! {
    StringStringEntryProto {
        key: Option<String> = (string, optional, tag = "1"),
        value: Option<String> = (string, optional, tag = "2"),
    }

    /// A message whose content does not matter, only its presence.
    Present {}

    /// A tensor without the fields of numbers, which `numbers.rs` decodes. The decoder shares the bytes of
    /// `raw_data`, so that a model with large constants is opened without reading them.
    TensorProto {
        dims: Vec<i64> = (int64, repeated, packed = "false", tag = "1"),
        data_type: Option<i32> = (int32, optional, tag = "2"),
        segment: Option<Present> = (message, optional, tag = "3"),
        name: Option<String> = (string, optional, tag = "8"),
        raw_data: Option<Bytes> = (bytes = "bytes", optional, tag = "9"),
        external_data: Vec<StringStringEntryProto> = (message, repeated, tag = "13"),
        data_location: Option<i32> = (int32, optional, tag = "14"),
    }

    AttributeProto {
        name: Option<String> = (string, optional, tag = "1"),
        f: Option<f32> = (float, optional, tag = "2"),
        i: Option<i64> = (int64, optional, tag = "3"),
        s: Option<Bytes> = (bytes = "bytes", optional, tag = "4"),
        /// A [`TensorProto`], decoded on demand.
        t: Option<Bytes> = (bytes = "bytes", optional, tag = "5"),
        g: Option<Box<GraphProto>> = (message, optional, boxed, tag = "6"),
        floats: Vec<f32> = (float, repeated, tag = "7"),
        ints: Vec<i64> = (int64, repeated, tag = "8"),
        strings: Vec<Bytes> = (bytes = "bytes", repeated, tag = "9"),
        graphs: Vec<GraphProto> = (message, repeated, tag = "11"),
        r#type: Option<i32> = (int32, optional, tag = "20"),
        ref_attr_name: Option<String> = (string, optional, tag = "21"),
    }

    NodeProto {
        input: Vec<String> = (string, repeated, tag = "1"),
        output: Vec<String> = (string, repeated, tag = "2"),
        name: Option<String> = (string, optional, tag = "3"),
        op_type: Option<String> = (string, optional, tag = "4"),
        attribute: Vec<AttributeProto> = (message, repeated, tag = "5"),
        domain: Option<String> = (string, optional, tag = "7"),
    }

    DimensionProto {
        dim_value: Option<i64> = (int64, optional, tag = "1"),
        dim_param: Option<String> = (string, optional, tag = "2"),
    }

    TensorShapeProto {
        dim: Vec<DimensionProto> = (message, repeated, tag = "1"),
    }

    TensorTypeProto {
        elem_type: Option<i32> = (int32, optional, tag = "1"),
        shape: Option<TensorShapeProto> = (message, optional, tag = "2"),
    }

    /// A type. Only tensor types are decoded.
    TypeProto {
        tensor_type: Option<TensorTypeProto> = (message, optional, tag = "1"),
    }

    ValueInfoProto {
        name: Option<String> = (string, optional, tag = "1"),
        r#type: Option<TypeProto> = (message, optional, tag = "2"),
    }

    GraphProto {
        node: Vec<NodeProto> = (message, repeated, tag = "1"),
        /// [`TensorProto`]s, decoded on demand.
        initializer: Vec<Bytes> = (bytes = "bytes", repeated, tag = "5"),
        input: Vec<ValueInfoProto> = (message, repeated, tag = "11"),
        output: Vec<ValueInfoProto> = (message, repeated, tag = "12"),
        value_info: Vec<ValueInfoProto> = (message, repeated, tag = "13"),
        sparse_initializer: Vec<Present> = (message, repeated, tag = "15"),
    }

    OperatorSetIdProto {
        domain: Option<String> = (string, optional, tag = "1"),
        version: Option<i64> = (int64, optional, tag = "2"),
    }

    FunctionProto {
        name: Option<String> = (string, optional, tag = "1"),
        node: Vec<NodeProto> = (message, repeated, tag = "7"),
        opset_import: Vec<OperatorSetIdProto> = (message, repeated, tag = "9"),
        domain: Option<String> = (string, optional, tag = "10"),
    }

    ModelProto {
        graph: Option<GraphProto> = (message, optional, tag = "7"),
        opset_import: Vec<OperatorSetIdProto> = (message, repeated, tag = "8"),
        functions: Vec<FunctionProto> = (message, repeated, tag = "25"),
    }
}

/// The field number of [`TensorProto::raw_data`].
pub(super) const RAW_DATA: u32 = 9;
