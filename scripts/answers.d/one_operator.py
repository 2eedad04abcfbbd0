"""A LiteRT model of one operator, written with the schema that the package has, and its answer."""

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter, schema_py_generated as schema

TYPES = {"float32": "FLOAT32", "float64": "FLOAT64", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "bool": "BOOL"}


def tensor(name, kind, shape):
    made = schema.TensorT()
    made.name, made.shape, made.type, made.buffer = name, list(shape), getattr(schema.TensorType, TYPES.get(kind) or kind.upper()), 0
    return made


def run(name, inputs, options, **values):
    model, graph, code, op = schema.ModelT(), schema.SubGraphT(), schema.OperatorCodeT(), schema.OperatorT()
    code.builtinCode = getattr(schema.BuiltinOperator, name)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
    op.builtinOptionsType = getattr(schema.BuiltinOptions, options)
    op.builtinOptions = getattr(schema, options + "T")()
    for key, value in values.items():
        setattr(op.builtinOptions, key, value)
    op.opcodeIndex, op.inputs, op.outputs = 0, list(range(len(inputs))), [len(inputs)]
    out = "int64" if name == "ARG_MAX" else inputs[0].dtype.name
    graph.tensors = [tensor(f"x{i}", x.dtype.name, x.shape) for i, x in enumerate(inputs)] + [tensor("y", out, [])]
    graph.inputs, graph.outputs, graph.operators = op.inputs, op.outputs, [op]
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    lite = interpreter.Interpreter(model_content=bytes(builder.Output()))
    lite.allocate_tensors()
    for i, x in enumerate(inputs):
        lite.set_tensor(i, np.array(x, order="C"))
    lite.invoke()
    return lite.get_tensor(len(inputs))
