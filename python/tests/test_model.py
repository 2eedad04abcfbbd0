"""Models whose inner tensors onnxruntime computes, and whose operators run here."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import NO_GPU
from onnx import TensorProto, helper

import wgmax

DEVICES = ["cpu"] if NO_GPU else None


def model(opset=18):
    """A convolution, and after it each operator that onnxruntime has too."""
    info = lambda name, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, None)
    node = lambda op, inputs, outputs, **attributes: helper.make_node(op, inputs, outputs, outputs[0], **attributes)
    weights = np.random.default_rng(3).normal(size=(4, 2, 3, 3)).astype("f4")
    nodes = [
        node("Conv", ["x", "w"], ["a"], pads=[1] * 4),
        node("Relu", ["a"], ["b"]),
        node("MaxPool", ["b"], ["c", "at"], kernel_shape=[3, 2], strides=[2, 1], ceil_mode=1),
        node("ReduceMax", ["c", "axes"], ["d"], keepdims=0),
        node("ReduceMin", ["a"], ["e"]),
        node("ArgMax", ["d"], ["f"], axis=1, select_last_index=1),
        node("ArgMin", ["a"], ["g"], axis=-1),
        node("GlobalMaxPool", ["c"], ["h"]),
        node("MaxPool", ["b"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Cast", ["f"], ["result"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2, "h", "w"])], [info("result")],
        [onnx.numpy_helper.from_array(weights, "w"), onnx.numpy_helper.from_array(np.array([3]), "axes")],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 10
    return made


def test_all_nodes_on_all_devices(tmp_path):
    x = np.random.default_rng(4).normal(size=(2, 2, 9, 7)).astype("f4")
    path = tmp_path / "model.onnx"
    onnx.save(model(), path)
    for given, inputs in [(model(), [x]), (path, {"x": x}), (str(path), (x,))]:
        found = wgmax.onnx.compare_model(given, inputs, devices=DEVICES)
        count = len(DEVICES or wgmax.devices())
        assert len(found) == 8 * count and len({each.device for each in found}) == count
        assert [each.output for each in found if each.device == "cpu"] == ["c", "at", "d", "e", "f", "g", "h", "p"]
        assert all(each.equal for each in found), [each for each in found if not each.equal]


def test_scatters_are_compared():
    info = lambda name, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, None)
    scatters = [("max", ["a"]), ("none", ["b"]), ("min", ["c"])]
    nodes = [
        helper.make_node("ScatterND", ["x", "at", "u"], outputs, reduction=reduction) for reduction, outputs in scatters
    ]
    nodes.append(helper.make_node("ScatterElements", ["x", "in", "u"], ["d"], axis=0, reduction="max"))
    nodes.append(helper.make_node("MaxPool", ["image"], ["e", ""], kernel_shape=[2]))
    inputs = {
        "x": np.array([1, 5, 3], np.float32), "u": np.array([4, 2], np.float32), "image": np.ones((1, 1, 4), np.float32),
        "at": np.array([[0], [1]]), "in": np.array([2, 0]),
    }  # fmt: skip
    integers = {"at", "in"}
    graph = helper.make_graph(
        nodes, "g", [info(name, TensorProto.INT64 if name in integers else TensorProto.FLOAT) for name in inputs],
        [info(name) for name in "abcde"],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    made.ir_version = 10
    found = wgmax.onnx.compare_model(made, inputs, devices=["cpu"])
    assert [each.output for each in found] == ["a", "c", "d", "e"]
    assert all(each.equal for each in found), found


def test_differences_are_found(monkeypatch):
    node = wgmax._wgmax.node

    def wrong(dialect, operator, *args, **options):
        found = node(dialect, operator, *args, **options)
        if operator == "ReduceMin":
            found[0] = np.nextafter(found[0], np.float32(9))
        return found

    monkeypatch.setattr(wgmax._wgmax, "node", wrong)
    x = np.random.default_rng(4).normal(size=(1, 2, 5, 5)).astype("f4")
    found = wgmax.onnx.compare_model(model(), [x], devices=["cpu", wgmax.Device("cpu")])
    assert [each.output for each in found if not each.equal] == ["e", "e"]
    wrong = next(each for each in found if each.output == "e")
    assert wrong.comparison.max_ulp == 1 and wrong.operator == "ReduceMin" and wrong.error is None


def test_nodes_that_do_not_run_are_told():
    info = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(
        [helper.make_node("ReduceMax", ["x"], ["y"], keepdims=0)], "g",
        [info("x", TensorProto.FLOAT, [0, 2])], [info("y", TensorProto.FLOAT, [])],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    made.ir_version = 10
    (found,) = wgmax.onnx.compare_model(made, [np.ones((0, 2), "f4")], devices=["cpu"])
    assert found.equal
    (found,) = wgmax.onnx.compare_model(made, [np.ones((0, 2), "f4")], devices=["no such"])
    assert not found.equal and "no GPU adapter" in found.error
    with pytest.raises(ValueError):
        wgmax.onnx.compare_model(made, [])


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_packages_that_are_missing(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "wgmax._model", raising=False)
    with pytest.raises(ImportError, match="needs the packages onnx and onnxruntime"):
        wgmax.onnx.compare_model(model(), [])
