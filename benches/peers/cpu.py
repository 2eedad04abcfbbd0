"""Peers on the CPU, two threads each. A peer takes an item and copies of its inputs. It returns a function
that runs the item on one of the copies, and one that returns the last answer. Unsupported: it has no such
operator."""

import numpy as np

import items

THREADS = 2


class Unsupported(Exception):
    pass


def numpy_peer():
    def make(item, copies):
        attrs, last = item["attrs"], [None]
        if item.get("gradient") or "elements" in attrs:
            raise Unsupported("gradients and scatters")
        if item["op"] == "ReduceMax":
            axes = tuple(attrs["axes"])
            call = lambda data: data.max(axis=axes)
        elif item["op"] == "SegmentMax":
            call = lambda data, ids: items.segments(data, ids, attrs["num_segments"])[0]
        elif attrs.get("indices"):
            raise Unsupported("indices")
        else:
            call = lambda data: items.pool(data, attrs)

        def run(copy):
            last[0] = call(*copies[copy])

        return run, lambda: last[0]

    return {f"numpy {np.__version__}": make}


def onnxruntime_peer():
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper

    onnxruntime.set_default_logger_severity(3)

    def graph(item, data):
        """The nodes, the constants, and the ids as int64, if there are any."""
        attrs = item["attrs"]
        if item["op"] == "ReduceMax":
            axes = numpy_helper.from_array(np.array(attrs["axes"], np.int64), "axes")
            return [helper.make_node("ReduceMax", ["x", "axes"], ["y"], keepdims=0)], [axes], None
        if "elements" in attrs:
            node = helper.make_node(
                "ScatterElements", ["x", "ids", "updates"], ["y"], axis=0, reduction="max")
            return [node], [], data[1].astype(np.int64)
        if item["op"] == "SegmentMax":
            shape = (attrs["num_segments"], *item["shape"][1:])
            base = numpy_helper.from_array(np.full(shape, -np.inf, np.float32), "base")
            if len(item["shape"]) == 1:
                node = helper.make_node(
                    "ScatterElements", ["base", "ids", "x"], ["y"], axis=0, reduction="max")
            else:
                node = helper.make_node("ScatterND", ["base", "ids", "x"], ["y"], reduction="max")
            return [node], [base], data[1].astype(np.int64)
        if "output_sizes" in attrs:
            raise Unsupported("adaptive pooling")
        options = dict(
            kernel_shape=attrs["kernel"], strides=attrs["strides"],
            pads=attrs["pads"], dilations=attrs["dilations"])
        if attrs["layout"] == "NHWC":
            return [
                helper.make_node("Transpose", ["x"], ["channels_first"], perm=[0, 3, 1, 2]),
                helper.make_node("MaxPool", ["channels_first"], ["pooled"], **options),
                helper.make_node("Transpose", ["pooled"], ["y"], perm=[0, 2, 3, 1]),
            ], [], None
        outputs = ["y", "indices"] if attrs["indices"] else ["y"]
        return [helper.make_node("MaxPool", ["x"], outputs, **options)], [], None

    def make(item, copies):
        if item.get("gradient"):
            raise Unsupported("gradients")
        data = copies[0]
        expected = items.Answer(item, data).value
        nodes, constants, long_ids = graph(item, data)
        inputs = [{"x": copy[0]} for copy in copies]
        outputs = {"y": np.empty(expected.shape, expected.dtype)}
        if long_ids is not None:
            long_ids = long_ids if data[0].ndim == 1 else long_ids.reshape(-1, 1)
            for copy, own in zip(inputs, copies):
                copy["ids"] = long_ids
                if len(own) == 3:
                    copy["updates"] = own[2]
        if item["attrs"].get("indices"):
            outputs["indices"] = np.empty(expected.shape, np.int64)
        info = lambda name, array: helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        model = helper.make_model(
            helper.make_graph(
                nodes, "item",
                [info(name, array) for name, array in inputs[0].items()],
                [info(name, array) for name, array in outputs.items()],
                constants),
            opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        bindings = []
        for copy in inputs:
            binding = session.io_binding()
            for name, array in copy.items():
                binding.bind_cpu_input(name, array)
            for name, array in outputs.items():
                binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
            bindings.append(binding)
        return lambda copy: session.run_with_iobinding(bindings[copy]), lambda: outputs["y"]

    return {f"onnxruntime {onnxruntime.__version__}": make}


def openvino_peer():
    import openvino
    from openvino import opset14 as ops

    try:
        from openvino import opset16
    except ImportError:
        opset16 = None
    core = openvino.Core()

    def make(item, copies):
        if item.get("gradient") or "elements" in item["attrs"]:
            raise Unsupported("gradients and scatters")
        attrs, data = item["attrs"], copies[0]
        x = ops.parameter(list(data[0].shape), openvino.Type(data[0].dtype))
        parameters = [x]
        if item["op"] == "ReduceMax":
            outputs = [ops.reduce_max(x, ops.constant(np.array(attrs["axes"], np.int64)), False)]
        elif item["op"] == "SegmentMax":
            if opset16 is None or attrs["dist"] == "unordered":
                raise Unsupported("SegmentMax")
            parameters.append(ops.parameter([len(data[1])], openvino.Type.i32))
            count = ops.constant(np.array(attrs["num_segments"], np.int32))
            outputs = [opset16.segment_max(x, parameters[1], count, "LOWEST")]
        elif "output_sizes" in attrs:
            sizes = ops.constant(np.array(attrs["output_sizes"], np.int64))
            outputs = [ops.adaptive_max_pool(x, sizes, "i64").output(0)]
        else:
            last = attrs["layout"] == "NHWC"
            axes = len(attrs["kernel"])
            source = ops.transpose(x, ops.constant(np.array([0, 3, 1, 2]))) if last else x
            pooled = ops.max_pool(
                source, attrs["strides"], attrs["dilations"], attrs["pads"][:axes],
                attrs["pads"][axes:], attrs["kernel"], "floor", "explicit", "i64", 0)
            outputs = [pooled.output(0)]
            if last:
                outputs = [ops.transpose(pooled.output(0), ops.constant(np.array([0, 2, 3, 1])))]
            elif attrs["indices"]:
                outputs.append(pooled.output(1))
        model = core.compile_model(
            openvino.Model(outputs, parameters, "item"), "CPU",
            {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY",
             "INFERENCE_PRECISION_HINT": "f32"})
        requests = []
        for copy in copies:
            request = model.create_infer_request()
            for i, array in enumerate(copy):
                request.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
            requests.append(request)
        last_request = [requests[0]]

        def run(copy):
            request = last_request[0] = requests[copy]
            request.start_async()
            request.wait()

        return run, lambda: last_request[0].get_output_tensor(0).data

    return {f"OpenVINO {openvino.__version__.split('-')[0]}": make}


def torch_peer():
    import torch

    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    functional = torch.nn.functional

    def make(item, copies):
        attrs, last = item["attrs"], [None]
        data = [torch.from_numpy(copy[0]) for copy in copies]
        if item["op"] == "ReduceMax":
            out = torch.empty(items.Answer(item, copies[0]).value.shape, dtype=data[0].dtype)
            return lambda copy: torch.amax(data[copy], attrs["axes"], out=out), out.numpy
        if item["op"] == "SegmentMax":
            if attrs["dist"] == "unordered" or "elements" in attrs:
                raise Unsupported("rows in any order")
            lengths = np.bincount(copies[0][1], minlength=attrs["num_segments"])
            lengths = torch.from_numpy(lengths.astype(np.int64))

            def run(copy):
                last[0] = torch.segment_reduce(
                    data[copy], "max", lengths=lengths, axis=0, unsafe=True, initial=float("-inf"))

            return run, lambda: last[0].numpy()
        if "output_sizes" in attrs:
            def run(copy):
                last[0] = functional.adaptive_max_pool2d(data[copy], attrs["output_sizes"])

            return run, lambda: last[0].numpy()
        axes = len(attrs["kernel"])
        if attrs["pads"][:axes] != attrs["pads"][axes:]:
            raise Unsupported("uneven padding")
        if item.get("gradient"):
            return backward(item, data, copies)
        channels_last = attrs["layout"] == "NHWC"
        if channels_last:
            data = [tensor.permute(0, 3, 1, 2) for tensor in data]
        pool = [functional.max_pool1d, functional.max_pool2d, functional.max_pool3d][axes - 1]

        def run(copy):
            last[0] = pool(
                data[copy], attrs["kernel"], attrs["strides"], attrs["pads"][:axes],
                attrs["dilations"], False, attrs["indices"])

        def answer():
            found = last[0][0] if attrs["indices"] else last[0]
            return (found.permute(0, 2, 3, 1) if channels_last else found).contiguous().numpy()

        return run, answer

    def backward(item, data, copies):
        """From saved indices or, if the item has none, after a forward pass that finds them."""
        attrs, last = item["attrs"], [None]
        sizes = [attrs["kernel"], attrs["strides"], attrs["pads"][:2], attrs["dilations"]]
        gradients = [torch.from_numpy(copy[1]) for copy in copies]
        find = lambda tensor: functional.max_pool2d(tensor, *sizes, False, True)[1]
        saved = [find(tensor) for tensor in data] if attrs["indices"] else None

        def run(copy):
            indices = saved[copy] if saved else find(data[copy])
            last[0] = torch.ops.aten.max_pool2d_with_indices_backward(
                gradients[copy], data[copy], *sizes, False, indices)

        return run, lambda: last[0].numpy()

    def scatter(item, copies):
        if item["op"] != "SegmentMax":
            raise Unsupported("segments and scatters only")
        data = [torch.from_numpy(copy[-1 if "elements" in item["attrs"] else 0]) for copy in copies]
        ids = torch.from_numpy(copies[0][1].astype(np.int64))
        if data[0].ndim == 2:
            ids = ids[:, None].expand(-1, data[0].shape[1])
        if "elements" in item["attrs"]:
            bases = [torch.from_numpy(copy[0]) for copy in copies]
        else:
            shape = (item["attrs"]["num_segments"], *data[0].shape[1:])
            bases = [torch.full(shape, float("-inf"))] * len(copies)
        last = [None]

        def run(copy):
            last[0] = bases[copy].scatter_reduce(0, ids, data[copy], "amax", include_self=True)

        return run, lambda: last[0].numpy()

    name = f"PyTorch {torch.__version__}"
    return {name: make, f"{name} scatter": scatter}


ALL = {
    "numpy": numpy_peer, "onnxruntime": onnxruntime_peer,
    "openvino": openvino_peer, "torch": torch_peer,
}
