"""What programs that use numpy expect: flags, `out`, errors of axes, lists without elements, pickles."""

import copy
import pickle

import numpy as np
import pytest
from conftest import DTYPES, NO_GPU, assert_same, random_array
from test_views import laid_out

import wgmax

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("flag", [1, 0, np.True_, np.False_, np.int8(1), np.bool_(0), np.array(1)], ids=repr)
def test_flags(flag):
    plain = bool(flag)
    assert_same(wgmax.reduce_max(X, 1, keepdims=flag), np.max(X, 1, keepdims=plain))
    assert isinstance(wgmax.reduce_max(X, return_indices=flag), tuple) == plain
    assert_same(wgmax.max_pool(X, 3, ceil_mode=flag), wgmax.max_pool(X, 3, ceil_mode=plain))
    assert wgmax.compare([0.0], [-0.0], values=flag).equal == plain
    big = np.ones((64, 64))
    assert np.shares_memory(wgmax.Tensor(big, copy=flag).numpy(), big) != plain
    assert_same(wgmax.openvino.ReduceMax(X, 1, keep_dims=plain), np.max(X, 1, keepdims=plain))
    assert_same(wgmax.onnx.ReduceMax(X, [1], keepdims=int(flag)), np.max(X, 1, keepdims=plain))


@pytest.mark.parametrize("wrong", [2, -1, 0.5, "yes", [1], np.array([1, 1])], ids=repr)
def test_no_flags(wrong):
    with pytest.raises(wgmax.ArgumentError, match="keepdims must be True or False"):
        wgmax.reduce_max(X, keepdims=wrong)
    with pytest.raises(wgmax.ArgumentError) as raised:
        wgmax.reduce_max(X, keepdims=wrong)
    assert raised.value.code == "BadArgument"
    with pytest.raises(wgmax.ArgumentError, match="a flag must be True or False"):
        wgmax.compare(X, X, values=wrong)


@pytest.mark.parametrize("function", [wgmax.reduce_max, wgmax.arg_min, wgmax.onnx.ReduceMax])
def test_wrong_axes(function):
    options = dict(axes=[-4]) if function is wgmax.onnx.ReduceMax else dict(axis=-4)
    with pytest.raises(wgmax.AxisError) as raised:
        function(X, **options)
    error = raised.value
    assert isinstance(error, (np.exceptions.AxisError, wgmax.ArgumentError, IndexError))
    with pytest.raises(np.exceptions.AxisError) as theirs:
        np.max(X, -4)
    assert str(error) == str(theirs.value) and (error.axis, error.ndim) == (-4, 3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, type(again)) == (str(error), "AxisOutOfRange", wgmax.AxisError)


def test_arg_max_without_axes():
    for keepdims in [False, True]:
        assert_same(wgmax.arg_max(X, keepdims=keepdims), np.argmax(X, keepdims=keepdims))


CALLS = [
    ("reduce_max", (1,), {}),
    ("reduce_min", (), dict(keepdims=True, return_indices=True)),
    ("reduce_max", (), {}),
    ("arg_max", (-1,), dict(index_type="i4")),
    ("max_pool", (2,), dict(return_indices=True)),
    ("max_pool1d", (2,), {}),
    ("max_pool2d", (2, 1), dict(return_indices=True)),
    ("adaptive_min_pool2d", (2,), {}),
    ("segment_max", ([0, 1],), {}),
    ("reduce_max_backward", (X[0, 0], (0, 1)), {}),
    ("max_pool_backward", (X[..., :2], 2), {}),
    ("segment_max_backward", ([0, 1], X), {}),
    ("scatter_max", (np.zeros((1, *X.shape[1:]), int), X[:1]), {}),
    ("scatter_min_backward", (np.zeros((1, *X.shape[1:]), int), X[:1], X), {}),
    ("max_unpool", (np.zeros(X.shape, int), (5, 5)), {}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_out(call, device):
    name, args, options = call
    function = getattr(wgmax, name)
    expected = function(X, *args, **options)
    several = isinstance(expected, tuple)
    for seed in range(20):
        random = np.random.default_rng(seed)
        out = [
            laid_out(np.zeros_like(np.asarray(each)), random, repeats=False)
            for each in (expected if several else (expected,))
        ]
        if not all(each.flags.writeable and each.dtype.isnative for each in out):
            continue
        found = function(X, *args, **options, out=tuple(out) if several else out[0], device=device)
        for a, b, c in zip(found if several else (found,), out, expected if several else (expected,)):
            assert a is b
            assert_same(np.array(b), np.asarray(c))
    wrong = [np.asarray(each)[np.newaxis] for each in (expected if several else (expected,))]
    for out in [wrong[0], tuple(wrong), wrong[0][0].tolist(), wrong[0].astype("c8"), ()]:
        with pytest.raises(wgmax.ArgumentError, match="out must be"):
            function(X, *args, **options, out=out)
    with pytest.raises(wgmax.ArgumentError, match="out is for arrays"):
        function(wgmax.Tensor(X), *args, **options, out=wrong[0])


def test_out_may_be_the_input():
    x = X.copy()
    assert wgmax.reduce_max(x, (), out=x) is x
    assert_same(x, X)
    shifted = np.arange(9)
    wgmax.max_pool1d(shifted[None, :-1], 1, out=shifted[None, 1:])
    assert shifted.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    fixed = np.zeros((2, 4), np.float32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        wgmax.reduce_max(X, 1, out=fixed)


def test_lists_without_elements_are_ids():
    none = np.zeros((0, 3), np.float32)
    for ids in [[], (), np.array([], "i1")]:
        assert_same(wgmax.segment_max(none, ids), np.zeros((0, 3), np.float32))
        assert_same(wgmax.segment_max(none, ids, 2), np.zeros((2, 3), np.float32))
        assert_same(wgmax.segment_max_backward(none, ids, np.zeros((2, 3), "f4")), none)
    assert_same(wgmax.max_unpool(none[:, :0], np.zeros((0, 0), "i8"), (2,)), np.zeros(2, "f4"))
    assert_same(wgmax.max_unpool(none[:, 0], [], (2,)), np.zeros(2, "f4"))
    # An empty array has a type, unlike an empty list.
    with pytest.raises(wgmax.ArgumentError, match="f64"):
        wgmax.segment_max(none, np.zeros(0))


@pytest.mark.parametrize("adaptive", [False, True])
def test_poolings_named_by_their_axes(adaptive, device):
    for seed in range(150 if device == "cpu" else 30):
        random = np.random.default_rng(seed)
        spatial = int(random.integers(1, 4))
        dtype = random.choice([each for each in DTYPES if each.kind != "b"])
        x = random_array(dtype, (*random.integers(0, 4, 2), *random.integers(3, 7, spatial)), seed)
        layout = str(random.choice(["NCX", "NXC"]))
        options = dict(layout=layout, return_indices=True, nan=str(random.choice(["propagate", "ignore"])))
        name = f"{'adaptive_' * adaptive}{random.choice(['max', 'min'])}_pool"
        args = (2,) if adaptive else (int(random.integers(1, 4)), int(random.integers(1, 3)), 1)
        if layout == "NXC":
            x = np.moveaxis(x, 1, -1)
        if random.random() < 0.5:
            options["index_axis"] = int(random.integers(-x.ndim + 1, x.ndim - 1))
        x = laid_out(x, random)
        named = getattr(wgmax, f"{name}{spatial}d")
        place = (lambda a: a) if random.random() < 0.7 else (lambda a: wgmax.Tensor(a, device))
        on = dict(device=device) if isinstance(place(x), np.ndarray) else {}
        batched = {**options}
        if options.get("index_axis", -1) >= 0:
            batched["index_axis"] += 1
        for a, b in zip(named(place(x), *args, **batched, **on), getattr(wgmax, name)(x, *args, **batched)):
            assert_same(a, b)
        for batch in range(len(x)):
            expected = getattr(wgmax, name)(x[batch][np.newaxis], *args, **batched)
            for a, b in zip(named(place(x[batch]), *args, **options, **on), expected):
                assert_same(a, b[0])
        for wrong in [x[0, ..., 0] if len(x) and x.size else None, x[np.newaxis]]:
            if wrong is not None and not (wrong.ndim == spatial + 1):
                with pytest.raises(wgmax.ArgumentError, match=f"pool{spatial}d takes channels"):
                    named(wrong, *args)


def test_devices_are_equal_and_pickled():
    cpu = wgmax.Device("cpu")
    names = ["cpu", "auto"] + ([] if NO_GPU else ["gpu", "llvmpipe"])
    opened = [wgmax.Device(name) for name in names if name != "llvmpipe" or "llvmpipe" in repr(wgmax.devices())]
    for each in opened:
        again = pickle.loads(pickle.dumps(each))
        assert again == each and hash(again) == hash(each) and copy.copy(each) == each
        assert (each == cpu) == (each.backend == "cpu") and each != each.name
        assert all(part in repr(each) for part in [each.name, each.backend, each.kind, each.driver])
        assert wgmax.Tensor(X, each).device == each
    assert len({cpu, *opened}) == len({repr(each) for each in [cpu, *opened]})


def test_devices_of_two_adapters_differ():
    """By names and numbers: each adapter is a device of its own, to which tensors move."""
    adapters = [] if NO_GPU else wgmax.devices()[:-1]
    x = np.arange(6.0).reshape(2, 3)
    for i in range(len(adapters)):
        for j in range(len(adapters)):
            one, other = wgmax.Device(str(i)), wgmax.Device(str(j))
            assert (one == other) == (i == j), (one, other)
            moved = wgmax.Tensor(x, one).to(other)
            assert moved.device == other and repr(moved.device) == repr(other)
            found = wgmax.reduce_max(moved, axis=1)
            assert found.device == other and found.tolist() == [2, 5]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors(dtype, device):
    x = random_array(dtype, (3, 4), special=False)
    tensor = wgmax.Tensor(x, device)
    assert tensor.tolist() == x.tolist() and tensor[1, 2].item() == x[1, 2].item()
    assert tensor.nbytes == x.nbytes and tensor[:, 1:].nbytes == x[:, 1:].nbytes
    assert tensor.to(device) is tensor and tensor.to(tensor.device) is tensor
    moved = tensor[:, ::2].to("cpu")
    assert moved.device == wgmax.Device("cpu")
    assert_same(moved.to(device).numpy(), x[:, ::2])
    text = repr(tensor[:, 1:])
    assert all(part in text for part in [str(dtype), "[3, 3]", "a view", repr(tensor.device)[14:-1]])
    assert "view" not in repr(tensor)
    assert bool(tensor[0, 0]) == bool(x[0, 0])
    for call in [
        lambda: tensor == tensor, lambda: tensor != x, lambda: tensor == None, lambda: tensor < tensor,
        lambda: hash(tensor),
    ]:  # fmt: skip
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError, match=r"wgmax\.compare\(a, b\)"):
        tensor == x
    for call in [tensor.item, tensor.__bool__]:
        with pytest.raises(ValueError):
            call()
    if device == "cpu":
        assert_same(pickle.loads(pickle.dumps(tensor[:, ::2])).numpy(), x[:, ::2])
        assert_same(copy.deepcopy(tensor).numpy(), x)
    else:
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(tensor)


INITIALS = {
    "f": [-1, 0.5, -0.0, float("nan"), float("-inf"), np.float32(96), np.float32(0.1), np.float16(0.1)],
    "i": [-100, 0, np.int8(7), 1.0, True],
    "u": [0, 7, np.uint8(200), np.True_],
    "b": [False, np.True_, 1],
}


@pytest.mark.parametrize("seed", range(60))
def test_initial_as_numpy_has_it(seed, device):
    random = np.random.default_rng(seed)
    dtype = DTYPES[seed % 12]
    array = random_array(dtype, (3, seed % 5, 4), seed)
    choices = INITIALS[dtype.kind]
    initial = choices[random.integers(len(choices))]
    axis = [None, 1, -1, (0, 1)][random.integers(4)]
    for ours, theirs in [(wgmax.reduce_max, np.max), (wgmax.reduce_min, np.min)]:
        found = ours(laid_out(array, random, repeats=False), axis, initial=initial, device=device)
        expected = np.asarray(theirs(array, axis, initial=dtype.type(initial)), dtype)
        # The sign of a zero is not defined in numpy.
        assert found.dtype == dtype and wgmax.compare(found, expected, values=True).equal


def test_initial_joins_windows_and_segments():
    x = -np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6)
    assert wgmax.max_pool1d(x, 2, initial=-2.5).tolist() == [[[-1, -2.5, -2.5]]]
    assert wgmax.adaptive_min_pool(x, 2, initial=-5).tolist() == [[[-5, -6]]]
    found = wgmax.segment_max(x[0, 0], [0, 0, 2, 2, 2, 2], 4, initial=np.float64(-2))
    assert found.tolist() == [-1, -2, -2, -2]


@pytest.mark.parametrize(
    "initial, dtype, message",
    [
        ("0", "f4", "initial must be a number, but is '0'"),
        ([0], "f4", r"initial must be a number, but is \[0\]"),
        (256, "u1", "the initial value 256 is not a value of u8"),
        (0.5, "i4", "the initial value 0.5 is not a value of i32"),
        (1e99, "f4", "the initial value 1e99 is not a value of f32"),
    ],
)
def test_wrong_initials(initial, dtype, message):
    with pytest.raises(wgmax.ArgumentError, match=message):
        wgmax.reduce_max(np.zeros(3, dtype), initial=initial)
    with pytest.raises(wgmax.ArgumentError, match="initial value 0 cannot be used with indices"):
        wgmax.reduce_max(X, 1, initial=0, return_indices=True)
    with pytest.raises(wgmax.ArgumentError, match="initial must be absent for a gradient"):
        wgmax.reduce_max_backward(X, X[:, 0], 1, initial=0)


def test_ids_in_tensors_of_the_cpu_are_checked():
    """As those in arrays are; on a GPU the docstrings say what is not checked."""
    x = np.arange(6, dtype=np.float32)[::-1].copy()
    ids = np.array([0, 1, 2, 0, 1, 2])
    far, ones = np.array([7]), np.ones(1, np.float32)
    calls = {
        "segment_max": lambda of: wgmax.segment_max(of(x), of(ids), 3, mode="drop"),
        "backward": lambda of: wgmax.segment_max_backward(of(x), of(ids), of(x[:3]), mode="drop"),
        "openvino": lambda of: wgmax.openvino.SegmentMax(of(x), of(ids), 3, fill_mode="ZERO"),
        "scatter_max": lambda of: wgmax.scatter_max(of(x), of(far), of(ones)),
        "scatter_backward": lambda of: wgmax.scatter_max_backward(of(x), of(far), of(ones), of(x)),
        "ScatterElements": lambda of: wgmax.onnx.ScatterElements(of(x), of(far), of(ones), reduction="max"),
        "max_unpool": lambda of: wgmax.max_unpool(of(ones.reshape(1, 1, 1)), of(far.reshape(1, 1, 1)), (1, 1, 4)),
        "MaxUnpool": lambda of: wgmax.onnx.MaxUnpool(
            of(ones.reshape(1, 1, 1)), of(far.reshape(1, 1, 1)), kernel_shape=[2], strides=[2]
        ),
    }  # fmt: skip
    for name, call in calls.items():
        said = []
        for of in [np.asarray, wgmax.Tensor, lambda x: wgmax.Tensor(np.repeat(x, 2, -1))[..., ::2]]:
            with pytest.raises(wgmax.ArgumentError) as refused:
                call(of)
            said.append(str(refused.value))
        assert len(set(said)) == 1, (name, said)


def test_tensors_are_iterated_by_rows():
    x = np.arange(6.0).reshape(2, 3)
    for device in (["cpu"] if NO_GPU else ["cpu", "gpu"]):
        rows = list(wgmax.Tensor(x, device))
        assert [row.tolist() for row in rows] == x.tolist() and all(isinstance(row, wgmax.Tensor) for row in rows)
        assert list(wgmax.Tensor(x[:0], device)) == []
        with pytest.raises(TypeError, match="without axes"):
            list(wgmax.Tensor(np.array(3.0), device))


def test_an_operator_has_an_output():
    with pytest.raises(wgmax.ArgumentError, match="1 or 2 outputs"):
        wgmax.onnx.MaxPool(X[None], kernel_shape=[2], outputs=0)
