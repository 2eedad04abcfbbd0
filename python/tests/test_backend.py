"""ONNX's own tests of the operators that wgmax has, by ONNX's runner."""

import unittest

import numpy as np
import onnx
import onnx.backend.test
import pytest
from conftest import NO_GPU
from onnx.backend.test.loader import load_model_tests

import wgmax
from wgmax.backend import OPERATORS, WgmaxBackend


class OnCpu(WgmaxBackend):
    """On the CPU alone."""

    device = "cpu"

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


class OnGpu(OnCpu):
    """On the best GPU adapter, which may be a software one."""

    device = "gpu"


def model_of(case):
    """The model of one of ONNX's tests."""
    return onnx.load(f"{case.model_dir}/model.onnx") if case.model_dir else case.model


# ONNX's tests, nearly all of which are of other operators.
CASES = {kind: load_model_tests(kind=kind) for kind in ("node", "simple", "pytorch-converted", "pytorch-operator")}
COMPATIBLE = {
    case.name for cases in CASES.values() for case in cases if WgmaxBackend.is_compatible(model_of(case))
}


def cases_of(backend, name):
    """The test classes of a backend, with names of its own and the tests that it is compatible with."""
    found = onnx.backend.test.BackendTest(backend, __name__).test_cases
    for cls in found.values():
        for test in [test for test in vars(cls) if test.startswith("test_")]:
            if test.rpartition("_")[0] not in COMPATIBLE:
                delattr(cls, test)
    return {f"{name}{case}": cls for case, cls in found.items()}


globals().update(cases_of(OnCpu, "Cpu"))
if not NO_GPU:
    globals().update(cases_of(OnGpu, "Gpu"))


def is_own(test):
    """Whether a test is of one of the operators."""
    return any(test.startswith(f"test_{prefix}") for prefix in (
        "argmax_", "argmin_", "maxpool_", "maxunpool_", "globalmaxpool", "reduce_max_", "reduce_min_",
        "scatter_elements_with_reduction_max", "scatter_elements_with_reduction_min", "scatternd_max", "scatternd_min",
    ))  # fmt: skip


def test_all_of_the_operators_are_run():
    """None is left out: each test of an operator is of a model that the backend takes."""
    own = [case for case in CASES["node"] if is_own(case.name)]
    assert len(own) > 70
    assert {node.op_type for case in own for node in model_of(case).graph.node} == OPERATORS
    assert {case.name for case in own} <= COMPATIBLE
    collected = globals()["CpuOnnxBackendNodeModelTest"]
    assert all(hasattr(collected, f"{case.name}_cpu") for case in own)


def test_all_else_is_unsupported():
    from onnx import helper

    info = [helper.make_tensor_value_info(name, 1, [2]) for name in "xyz"]
    add = helper.make_node("Add", ["x", "y"], ["z"])
    model = helper.make_model(helper.make_graph([add], "g", info[:2], info[2:]))
    assert not WgmaxBackend.is_compatible(model)
    with pytest.raises(wgmax.ArgumentError, match="no operator"):
        WgmaxBackend.prepare(model)
    with pytest.raises(unittest.SkipTest):
        WgmaxBackend.prepare(model)
    assert WgmaxBackend.supports_device("CPU")
    assert not WgmaxBackend.supports_device("no such")


def test_the_graph_has_as_many_inputs():
    from onnx import helper

    info = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    node = helper.make_node("GlobalMaxPool", ["x"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", info[:1], info[1:]))
    prepared = WgmaxBackend.prepare(model)
    with pytest.raises(wgmax.ArgumentError, match="1 inputs, not 2"):
        prepared.run([np.ones((1, 1, 2), np.float32)] * 2)


def test_scatters_of_other_reductions_are_unsupported():
    from onnx import helper

    info = [helper.make_tensor_value_info(name, kind, [2]) for name, kind in [("x", 1), ("i", 7), ("u", 1), ("y", 1)]]
    for attributes, word in [({}, "none"), ({"reduction": "add"}, "add")]:
        node = helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], **attributes)
        model = helper.make_model(helper.make_graph([node], "g", info[:3], info[3:]))
        with pytest.raises(unittest.SkipTest, match=f"with the reduction {word}"):
            WgmaxBackend.prepare(model)


def test_outputs_are_those_that_are_used():
    from onnx import helper

    x, y = (helper.make_tensor_value_info(name, 1, [1, 1, size]) for name, size in [("x", 2), ("y", 1)])
    zeros = np.array([[[-0.0, 0.0]]], np.float32)
    # With indices the first of two zeros is the maximum; an output without a name is none.
    for outputs, negative in [(["y"], False), (["y", ""], False), (["y", "at"], True)]:
        node = helper.make_node("MaxPool", ["x"], outputs, kernel_shape=[2])
        found = WgmaxBackend.prepare(helper.make_model(helper.make_graph([node], "g", [x], [y]))).run([zeros])
        assert np.signbit(found.y).item() == negative, outputs
    # The graph returns its input, too.
    graph = helper.make_graph([node], "g", [x], [y, x])
    found = WgmaxBackend.prepare(helper.make_model(graph)).run([zeros])
    assert found.x is zeros and found.y.shape == (1, 1, 1)


def test_names_of_devices():
    names = {"CPU": "cpu", "CPU:0": "cpu", "CUDA": "gpu", "CUDA:0": "gpu", "CUDA:1": "1", "0": "0", "a:b": "a:b"}
    assert {name: WgmaxBackend._named(name) for name in names} == names
    assert not WgmaxBackend.supports_device("CUDA:99")
