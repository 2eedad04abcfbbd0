"""How each library is asked: at most five lines of its own language, which run as they stand and end with `y = ...`.
None: the library has no such operator."""

import itertools
import json

import numpy as np

from cases import FLOATS, lowest

PYTHON = {"bool": "np.bool_", "bf16": "ml_dtypes.bfloat16"}
NUMPY = {"f": "float", "i": "int", "u": "uint", "b": "bfloat"}
ONNX = {"f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16", "bool": "bool"}


def long_name(type):
    return "bool" if type == "bool" else NUMPY[type[0]] + type.lstrip("bfiu")


def id_type(c, any="i64"):
    return c.id_type or any


def id_name(c, any="i64"):
    return long_name(id_type(c, any))


def odd(x):
    """Whether there is a NaN that is not the usual one: then its bits are written."""
    return x.dtype.kind == "f" and bool(np.any(np.isnan(x) & (x.view(f"u{x.itemsize}") != np.array(np.nan, x.dtype).view(f"u{x.itemsize}"))))


def words(x):
    return ", ".join(f"0x{word:x}" for word in x.ravel().view(f"u{x.itemsize}").tolist())


def numbers(x, nan="np.nan", inf="np.inf"):
    text = [repr(v) for v in x.ravel().tolist()]
    return ", ".join({"nan": nan, "inf": inf, "-inf": "-" + inf}.get(t, t.removesuffix(".0") if t != "-0.0" else t) for t in text)


def array(x, type):
    """numpy's x."""
    kind = PYTHON.get(type) or "np." + long_name(type)
    if odd(x):
        made = f"np.array([{words(x)}], np.uint{8 * x.itemsize}).view({kind})"
    else:
        made = f"np.array([{numbers(x)}], {kind})"
    return f"x = {made}" + ("" if x.shape == (x.size,) else f".reshape({', '.join(map(str, x.shape))})")


def start(c):
    """What a segment begins with: minus infinity, or the lowest value."""
    value = lowest(c.type, finite=False)
    return "-np.inf" if c.type in FLOATS else repr(value)


def imports(c, *more):
    return "import numpy as np" + "".join(f", {m}" for m in (*more, *(["ml_dtypes"] if c.type == "bf16" else [])))


def numpy_(c):
    if c.type == "bf16" or c.op in ("pool", "where"):
        return None
    head = [imports(c), array(c.x, c.type)]
    if c.op == "reduce":
        return [*head, f"y = np.max(x, axis={tuple(c.axes)})"]
    if c.op == "arg":
        return [*head, f"y = np.argmax(x, axis={c.axes[0]})"]
    return [*head, f"y = np.full({(c.n, *c.x.shape[1:])}, {start(c)}, x.dtype); np.maximum.at(y, np.array({c.ids}, np.{id_name(c)}), x)"]


def torch(c):
    kind = "torch." + long_name(c.type)
    if odd(c.x):
        made = f"torch.tensor([{words(c.x)}], dtype=torch.int64).to(torch.int32).view({kind})"
    else:
        made = f"torch.tensor([{numbers(c.x, 'nan', 'inf')}], dtype={kind})"
    x = f"x = {made}" + ("" if c.x.ndim == 1 and c.x.size else f".reshape({list(c.x.shape)})")
    head = ["import torch; from math import inf, nan", x]
    if c.op == "reduce":
        return [*head, f"y = torch.amax(x, {c.axes})"]
    if c.op == "arg":
        return [*head, f"y = torch.argmax(x, {c.axes[0]})"]
    if c.op in ("pool", "where"):
        half = len(c.kernel)
        if c.auto or c.pads[:half] != c.pads[half:]:
            return None
        more = f", {c.strides}, {c.pads[:half]}, {c.dilations}, ceil_mode={c.ceil}"
        call = f"torch.nn.functional.max_pool{half}d(x, {c.kernel}{more}"
        return [*head, f"y = {call})" if c.op == "pool" else f"y = {call}, return_indices=True)[1]"]
    row = [1] * (c.x.ndim - 1)
    ids = f"torch.tensor({c.ids}, dtype=torch.{id_name(c)})" + (f".reshape([-1{', 1' * len(row)}]).expand_as(x)" if row else "")
    base = f"torch.full({[c.n, *c.x.shape[1:]]}, {start(c).replace('np.', '')}, dtype={kind})"
    return [*head, f"y = {base}.scatter_reduce(0, {ids}, x, 'amax')"]


def onnx(c):
    """A model in ONNX's textual form."""
    kind, shape = ONNX.get(c.type) or long_name(c.type), ",".join(map(str, c.x.shape))
    out, ints = kind, lambda values: "[" + ", ".join(map(str, values)) + "]"
    if c.op == "reduce":
        body = f"a = Constant <value_ints = {ints(c.axes)}> () y = ReduceMax <keepdims = 0> (x, a)"
    elif c.op == "arg":
        body, out = f"y = ArgMax <axis = {c.axes[0]}, keepdims = 0> (x)", "int64"
    elif c.op in ("pool", "where"):
        more = "" if c.auto else f", pads = {ints(c.pads)}"
        more += f', auto_pad = "{c.auto}"' if c.auto else ""
        more += ", ceil_mode = 1" if c.ceil else ""
        more += f", dilations = {ints(c.dilations)}" if set(c.dilations) != {1} else ""
        made = f"MaxPool <kernel_shape = {ints(c.kernel)}, strides = {ints(c.strides)}{more}> (x)"
        body, out = (f"y = {made}", kind) if c.op == "pool" else (f"v, y = {made}", "int64")
    else:
        return None
    return f'<ir_version: 10, opset_import: ["": 22]> g ({kind}[{shape}] x) => ({out}[] y) {{ {body} }}'


def onnx_scatter(c):
    kind, shape = ONNX.get(c.type) or long_name(c.type), ",".join(map(str, c.x.shape))
    data = f"{kind}[{','.join(map(str, (c.n, *c.x.shape[1:])))}] d"
    return (f'<ir_version: 10, opset_import: ["": 22]> g ({kind}[{shape}] x, {data}, {id_name(c)}[{shape}] i) => ({kind}[] y) '
            '{ y = ScatterElements <reduction = "max"> (d, i, x) }')


def onnx_text(c):
    return onnx(c) or onnx_scatter(c)


def scatter_ids(c):
    return np.broadcast_to(np.array(c.ids, id_name(c)).reshape([-1] + [1] * (c.x.ndim - 1)), c.x.shape)


def onnxruntime(c):
    lines = [imports(c, "onnx.parser", "onnxruntime"), array(c.x, c.type), f"m = onnx.parser.parse_model('{onnx_text(c)}')"]
    feed = "{'x': x}"
    if c.op == "segment":
        ids = f"np.array({scatter_ids(c).tolist()}, np.{id_name(c)})" + ("" if c.x.size else f".reshape({list(c.x.shape)})")
        feed = f"{{'x': x, 'd': np.full({(c.n, *c.x.shape[1:])}, {start(c)}, x.dtype), 'i': {ids}}}"
    return [*lines, f"y = onnxruntime.InferenceSession(m.SerializeToString(), providers=['CPUExecutionProvider']).run(['y'], {feed})[0]"]


def openvino(c):
    lines = [imports(c, "openvino as ov", "openvino.opset16 as op"), array(c.x, c.type),
             f"p = op.parameter(x.shape, ov.Type.{'boolean' if c.type == 'bool' else c.type})"]
    out = 0
    if c.op == "reduce":
        made = f"op.reduce_max(p, np.array({c.axes}))"
    elif c.op == "arg":
        made, out = f"op.topk(p, 1, {c.axes[0]}, 'max', 'value', 'i64', True)", 1
    elif c.op in ("pool", "where"):
        half = len(c.kernel)
        auto = c.auto.lower() if c.auto else "explicit"
        rounding = "ceil_torch" if c.ceil else "floor"
        made = f"op.max_pool(p, {c.strides}, {c.dilations}, {c.pads[:half]}, {c.pads[half:]}, {c.kernel}, '{rounding}', '{auto}', 'i64', 0)"
        out = int(c.op == "where")
    else:
        ids = f"np.array({c.ids}, np.{id_name(c)})"
        return [*lines[:2], f"p, i = op.parameter(x.shape, ov.Type.{c.type}), op.parameter([{len(c.ids)}], ov.Type.{id_type(c)})",
                f"m = ov.Model([op.segment_max(p, i, {c.n}, 'LOWEST')], [p, i])",
                f"y = ov.compile_model(m, 'CPU', {{'EXECUTION_MODE_HINT': 'ACCURACY'}})([{tensor(c)}, {ids}])[0]"]
    made = f"m = ov.Model([{made}.output({out})], [p])"
    back = ".view(ml_dtypes.bfloat16)" if c.type == "bf16" and c.op in ("reduce", "pool") else ""
    return [*lines, made, f"y = ov.compile_model(m, 'CPU', {{'EXECUTION_MODE_HINT': 'ACCURACY'}})([{tensor(c)}])[0]{back}"]


def tensor(c):
    return "ov.Tensor(x.view(np.uint16), x.shape, ov.Type.bf16)" if c.type == "bf16" else "x"


def jax(c):
    lines = [imports(c, "jax") + "; jax.config.update('jax_enable_x64', True)", array(c.x, c.type)]
    if c.op == "reduce":
        return [*lines, f"y = jax.numpy.max(jax.numpy.array(x), axis={tuple(c.axes)})"]
    if c.op == "arg":
        return [*lines, f"y = jax.numpy.argmax(jax.numpy.array(x), axis={c.axes[0]})"]
    if c.op == "segment":
        ids = f"np.array({c.ids}, np.{id_name(c)})"
        return [*lines, f"y = jax.ops.segment_max(jax.numpy.array(x), {ids}, {c.n})"]
    if c.op == "where" or c.ceil:
        return None
    half, one = len(c.kernel), "1, 1, "
    pads = repr({"SAME_UPPER": "SAME"}.get(c.auto, c.auto)) if c.auto else f"((0, 0), (0, 0), {', '.join(f'({b}, {e})' for b, e in zip(c.pads, c.pads[half:]))})"
    join = lambda sizes: f"({one}{', '.join(map(str, sizes))})"
    call = f"jax.lax.reduce_window(x, x.dtype.type({start(c)}), jax.lax.max, {join(c.kernel)}, {join(c.strides)}, {pads}, None, {join(c.dilations)})"
    return [*lines, f"y = {call}"]


def tflite(c):
    head = [imports(c, "one_operator") + "  # scripts/answers.d/one_operator.py writes the model", array(c.x, c.type)]
    if c.op == "reduce":
        return [*head, f"y = one_operator.run('REDUCE_MAX', [x, np.array({c.axes}, np.int32)], 'ReducerOptions', keepDims=False)"]
    if c.op == "arg":
        return [*head, f"y = one_operator.run('ARG_MAX', [x, np.array({c.axes[0]}, np.int32)], 'ArgMaxOptions', outputType=4)"]
    if c.op == "segment":
        ids = f"np.array({c.ids}, np.{id_name(c, 'i32')})"
        return [*head, f"y = one_operator.run('UNSORTED_SEGMENT_MAX', [x, {ids}, np.array({c.n}, np.int32)], 'UnsortedSegmentMaxOptions')"]
    padding = padding_of(c)
    if c.op == "where" or padding is None or len(c.kernel) != 2 or set(c.dilations) != {1}:
        return None
    sizes = f"padding={['SAME', 'VALID'].index(padding)}, filterHeight={c.kernel[0]}, filterWidth={c.kernel[1]}, strideH={c.strides[0]}, strideW={c.strides[1]}"
    return [*head, f"y = one_operator.run('MAX_POOL_2D', [x.transpose(0, 2, 3, 1)], 'Pool2DOptions', {sizes}).transpose(0, 3, 1, 2)"]


def padding_of(c):
    """TensorFlow's word for the padding."""
    if c.ceil or c.auto == "SAME_LOWER" or any(c.pads):
        return None
    return "SAME" if c.auto else "VALID"


def wgmax(device):
    def ask(c):
        x = f"np.save('x.npy', x{'.view(np.uint16)' if c.type == 'bf16' else ''})"
        lines = [imports(c, "subprocess"), array(c.x, c.type)]
        typed, out = " --type bf16" if c.type == "bf16" else "", "-o y.npy"
        if c.op == "reduce":
            call = f"reduce-max x.npy --axes {','.join(map(str, c.axes))}"
        elif c.op == "arg":
            call = f"arg-max x.npy --axes {c.axes[0]}"
        elif c.op == "segment":
            x = f"{x}; np.save('i.npy', np.array({c.ids}, np.{id_name(c)}))"
            call = f"segment-max x.npy i.npy --num-segments {c.n} --fill lowest --unsorted"
        else:
            join = lambda sizes: ",".join(map(str, sizes))
            call = f"max-pool x.npy --layout ncx --kernel {join(c.kernel)} --strides {join(c.strides)} --dilations {join(c.dilations)}"
            call += f" --auto-pad {c.auto.lower().replace('_', '-')}" if c.auto else f" --pads {join(c.pads)}"
            call += " --rounding ceil-torch" if c.ceil else ""
            out = "--indices y.npy -o v.npy" if c.op == "where" else out
        back = ".view(ml_dtypes.bfloat16)" if c.type == "bf16" and c.op not in ("arg", "where") else ""
        return [*lines, x, f"subprocess.run('wgmax {call}{typed} --device {device} --force {out}'.split(), check=True, capture_output=True)", f"y = np.load('y.npy'){back}"]
    return ask


JS = {"f32": "Float32Array", "f64": "Float64Array", "f16": "Float16Array", "i8": "Int8Array", "u8": "Uint8Array", "i16": "Int16Array",
      "u16": "Uint16Array", "i32": "Int32Array", "u32": "Uint32Array", "i64": "BigInt64Array", "u64": "BigUint64Array", "bool": "Uint8Array"}


def js_array(x, type):
    if odd(x):
        return f"new {JS[type]}(Uint{8 * x.itemsize}Array.of({words(x)}).buffer)"
    text = numbers(x.astype(np.uint8) if type == "bool" else x, "NaN", "Infinity")
    return f"{JS[type]}.of({', '.join(t + 'n' for t in text.split(', ') if t) if type in ('i64', 'u64') else text})"


def onnx_file(c):
    return f"""python3 -c "import onnx.parser as p, onnx; onnx.save(p.parse_model('{onnx_text(c).replace('"', chr(92) + '"')}'), 'case.onnx')" """.strip()


def onnx_web(provider):
    def ask(c):
        if c.type == "bf16":
            return None
        tensor = lambda x, type: f"new ort.Tensor('{long_name(type)}', {js_array(x, type)}, {list(x.shape)})"
        feed = f"x: {tensor(c.x, c.type)}"
        if c.op == "segment":
            full = np.full((c.n, *c.x.shape[1:]), lowest(c.type, finite=False), c.x.dtype)
            feed += f", d: {tensor(full, c.type)}, i: {tensor(scatter_ids(c).copy(), id_type(c))}"
        return [f"// {onnx_file(c)}", f"const s = await ort.InferenceSession.create('case.onnx', {{executionProviders: ['{provider}']}});",
                f"y = (await s.run({{{feed}}})).y;"]
    return ask


def tfjs(c):
    if c.type not in ("f32", "i32", "bool") or c.op == "segment":
        return None
    kind = {"f32": "float32", "i32": "int32", "bool": "bool"}[c.type]
    x = f"const x = tf.tensor({js_array(c.x, c.type)}, {list(c.x.shape)}, '{kind}');"
    if c.op == "reduce":
        return [x, f"y = tf.max(x, {c.axes});"]
    if c.op == "arg":
        return [x, f"y = tf.argMax(x, {c.axes[0]});"]
    half = len(c.kernel)
    if c.auto == "SAME_LOWER" or half != 2:
        return None
    if set(c.dilations) != {1}:
        if c.op == "where" or c.ceil or any(c.pads):
            return None
        return [x, f"y = tf.transpose(tf.pool(tf.transpose(x, [0, 2, 3, 1]), {c.kernel}, 'max', '{'same' if c.auto else 'valid'}', {c.dilations}, {c.strides}), [0, 3, 1, 2]);"]
    pads = f"'{'same' if c.auto else 'valid'}'" if not any(c.pads) else json.dumps([[0, 0], [c.pads[0], c.pads[2]], [c.pads[1], c.pads[3]], [0, 0]])
    if c.op == "where":
        if any(c.pads):
            return None
        return [x, f"y = tf.transpose(tf.maxPoolWithArgmax(tf.transpose(x, [0, 2, 3, 1]), {c.kernel}, {c.strides}, {pads}).indexes, [0, 3, 1, 2]);"]
    rounding = f", '{'ceil' if c.ceil else 'floor'}'" if any(c.pads) else ""
    if c.ceil and not rounding:
        return None
    return [x, f"y = tf.transpose(tf.maxPool(tf.transpose(x, [0, 2, 3, 1]), {c.kernel}, {c.strides}, {pads}{rounding}), [0, 3, 1, 2]);"]


def rust_list(x, type):
    if x.size == 0:
        return f"Vec::<{type}>::new()"
    if odd(x):
        return f"vec![{words(x)}u32].into_iter().map(f32::from_bits).collect::<Vec<_>>()"
    if type in FLOATS:
        text = floats(x, "f32" if type in ("f16", "bf16") else type)
        return f"[{text}].map({type}::from_f32).to_vec()" if type in ("f16", "bf16") else f"vec![{text}]"
    first, *rest = numbers(x).split(", ")
    return f"vec![{', '.join([first + type, *rest]) if type != 'bool' else numbers(x).lower()}]"


def floats(x, type):
    text = [repr(v) for v in x.ravel().tolist()]
    special = {"nan": f"{type}::NAN", "inf": f"{type}::INFINITY", "-inf": f"-{type}::INFINITY"}
    text = [special.get(t) or (t if "." in t or "e" in t else t + ".0") for t in text]
    return ", ".join([text[0] + (type if text[0] not in special.values() else ""), *text[1:]])


def candle(c):
    if c.type in ("i8", "u16", "u64", "bool") or c.op == "segment":
        return None
    x = f"let x = Tensor::from_vec({rust_list(c.x, c.type)}, vec!{list(c.x.shape)}, &Device::Cpu)?;"
    if c.op in ("reduce", "arg"):
        if len(c.axes) != 1:
            return None
        return [x, f"let y = x.{'max' if c.op == 'reduce' else 'argmax'}({c.axes[0]})?;"]
    if c.op == "where" or any(c.pads) or c.auto or c.ceil or len(c.kernel) != 2 or set(c.dilations) != {1}:
        return None
    return [x, f"let y = x.max_pool2d_with_stride({tuple(c.kernel)}, {tuple(c.strides)})?;"]


def tract(c):
    if c.type == "bf16":
        return None
    datum = lambda x, type: f"Tensor::from_shape(&{list(x.shape)}, &{rust_list(x, type)})?"
    feed = datum(c.x, c.type) + ".into()"
    if c.op == "segment":
        full = np.full((c.n, *c.x.shape[1:]), lowest(c.type, finite=False), c.x.dtype)
        feed += f", {datum(full, c.type)}.into(), {datum(scatter_ids(c).copy(), id_type(c))}.into()"
    return [f"// {onnx_file(c)}", 'let m = tract_onnx::onnx().model_for_path("case.onnx")?.into_optimized()?.into_runnable()?;',
            f"let y = m.run(tvec![{feed}])?.remove(0);"]


def burn(c):
    if c.type == "bool":
        return None
    dtype, rank = f"(&d, DType::{c.type.upper()})", c.x.ndim
    x = f"let x = Tensor::<{rank}{'' if c.type in FLOATS else ', Int'}>::from_data(TensorData::new({rust_list(c.x, c.type)}, {list(c.x.shape)}), {dtype});"
    head = ["let d = Device::flex();", x]
    if c.op == "reduce":
        call = "max_dims(&[" + ", ".join(map(str, c.axes)) + "])" if len(c.axes) > 1 else f"max_dim({c.axes[0]})"
        return [*head, f"let y = x.{call}.into_data();"]
    if c.op == "arg":
        return [*head, f"let y = x.argmax({c.axes[0]}).into_data();"]
    if c.op in ("pool", "where"):
        half = len(c.kernel)
        if c.type not in FLOATS or c.auto or half == 3:
            return None
        options = f"MaxPoolOptions::new({c.kernel}).with_stride({c.strides}).with_padding_pairs({list(zip(c.pads, c.pads[half:]))}).with_dilation({c.dilations})"
        options += ".with_ceil_mode(true)" if c.ceil else ""
        end = f"max_pool2d_with_indices(x, {options}).1" if c.op == "where" else f"max_pool{half}d(x, {options})"
        return [*head, f"let y = {end}.into_data();"]
    kind, low = (f"{rank}", "f32::NEG_INFINITY") if c.type in FLOATS else (f"{rank}, Int", f"{lowest(c.type)}{c.type}")
    low = f"Tensor::<{kind}>::full({[c.n, *c.x.shape[1:]]}, {low}, {dtype})"
    ids = rust_list(np.array(c.ids, id_name(c)), id_type(c))
    ids = f"Tensor::<1, Int>::from_data(TensorData::new({ids}, [{len(c.ids)}]), (&d, DType::{id_type(c).upper()}))"
    return [*head, f"let i = {ids};", f"let y = {low}.select_assign(0, i, x, IndexingUpdateOp::Max).into_data();"]


# name -> (what asks, the specification, the language, the package)
LIBRARIES = {
    "wgmax, CPU": (wgmax("cpu"), "wgmax", "python", "wgmax"), "wgmax, wgpu": (wgmax("gpu"), "wgmax", "python", "wgmax"), "NumPy": (numpy_, "numpy", "python", "numpy"), "PyTorch": (torch, "torch", "python", "torch"),
    "JAX": (jax, "jax", "python", "jax"), "ONNX Runtime": (onnxruntime, "onnx", "python", "onnxruntime"),
    "OpenVINO": (openvino, "openvino", "python", "openvino"), "LiteRT": (tflite, "tensorflow", "python", "ai-edge-litert"),
    "tract": (tract, "onnx", "rust", "tract-onnx"), "candle": (candle, "candle", "rust", "candle-core"),
    "burn, flex": (burn, "burn", "rust", "burn"),
    "ONNX Runtime Web, WebGPU": (onnx_web("webgpu"), "onnx", "js", "onnxruntime-web"),
    "ONNX Runtime Web, wasm": (onnx_web("wasm"), "onnx", "js", "onnxruntime-web"), "tfjs, WebGL": (tfjs, "tensorflow", "js", "@tensorflow/tfjs"),
}
