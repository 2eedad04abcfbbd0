"""Scatters against a loop over their updates, on every type and device, with any strides."""

import numpy as np
import pytest
from conftest import DTYPES, is_float, random_array
from test_operators import extreme, same_value

import wgmax


def strided(array, random):
    """The same elements with other strides."""
    if array.ndim == 0 or random.integers(3) == 0:
        return array
    axis = int(random.integers(array.ndim))
    if random.integers(2):
        return np.flip(np.flip(array, axis).copy(), axis)
    order = random.permutation(array.ndim)
    return array.transpose(order).copy().transpose(np.argsort(order))


def expected(data, indices, updates, axis, vectors, include, low, nan):
    """The maxima and where they come from, update by update."""
    values, places = data.copy(), np.full(data.shape, -1, np.int64)
    length = indices.shape[-1] if vectors else None
    sent = {}
    if vectors:
        for number, row in enumerate(np.ndindex(indices.shape[:-1])):
            at = tuple(int(i) % data.shape[j] for j, i in enumerate(indices[row]))
            for inner in np.ndindex(data.shape[length:]):
                sent.setdefault(at + inner, []).append((number, updates[row + inner]))
    else:
        for at in np.ndindex(updates.shape):
            place = int(indices[at]) % data.shape[axis]
            to = at[:axis] + (place,) + at[axis + 1 :]
            sent.setdefault(to, []).append((at[axis], updates[at]))
    for to, given in sent.items():
        own = [(-1, data[to])] if include else []
        given = own + sorted(given, key=lambda pair: pair[0])
        value, first = extreme(np.array([each for _, each in given], data.dtype), low, nan)
        values[to], places[to] = value, given[first][0]
    return values, places


def draw(dtype, random):
    """Data, indices and updates, the axis, whether there are vectors, and the options that say so."""
    rank = int(random.integers(1, 4))
    shape = tuple(int(size) for size in random.integers(1, 6, rank))
    data = random_array(dtype, shape, special=is_float(dtype))
    vectors, axis = bool(random.integers(2)), int(random.integers(rank))
    if vectors:
        length = int(random.integers(0, rank + 1))
        rows = tuple(int(size) for size in random.integers(0, 5, int(random.integers(1, 3))))
        sizes = np.array(shape[:length], np.int64)
        indices = random.integers(-sizes, np.maximum(sizes, 1), rows + (length,))
        of, where = rows + shape[length:], {"vectors": True}
    else:
        of = [int(random.integers(0, size + 1)) for size in shape]
        of[axis] = int(random.integers(0, 9))
        indices = random.integers(-shape[axis], shape[axis], of)
        where = {"axis": axis - rank if random.integers(2) else axis}
    indices = indices.astype([np.int64, np.int32, np.int8][random.integers(3)])
    return data, indices, random_array(dtype, tuple(of), special=is_float(dtype)), axis, vectors, where


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_random_scatters(dtype, device):
    random = np.random.default_rng(np.dtype(dtype).num)
    for number in range(12):
        data, indices, updates, axis, vectors, where = draw(dtype, random)
        low, include = bool(random.integers(2)), bool(random.integers(2))
        nan = ["propagate", "ignore"][random.integers(2)]
        values, places = expected(data, indices, updates, axis, vectors, include, low, nan)
        scatter = wgmax.scatter_min if low else wgmax.scatter_max
        given = [strided(each, random) for each in (data, indices, updates)]
        options = {"include_data": include, "nan": nan, "device": device, **where}
        same_value(scatter(*given, **options), values)
        found = scatter(*given, return_indices=True, index_type=["int64", "int32"][number % 2], **options)
        same_value(found[0], values)
        assert np.array_equal(found[1], places), (given, options)


def gradients(gradient, places, indices, updates, axis, vectors):
    """Each gradient at its winner, an element of the data or an update."""
    of_data, of_updates = np.zeros_like(gradient), np.zeros(updates.shape, gradient.dtype)
    rows = list(np.ndindex(indices.shape[:-1])) if vectors else []
    length = indices.shape[-1] if vectors else 0
    for at in np.ndindex(gradient.shape):
        place = int(places[at])
        if place < 0:
            of_data[at] = gradient[at]
        elif vectors:
            of_updates[rows[place] + at[length:]] = gradient[at]
        else:
            of_updates[at[:axis] + (place,) + at[axis + 1 :]] = gradient[at]
    return of_data, of_updates


@pytest.mark.parametrize("dtype", [each for each in DTYPES if is_float(each)], ids=str)
def test_random_gradients(dtype, device):
    random = np.random.default_rng(np.dtype(dtype).itemsize)
    for number in range(16):
        data, indices, updates, axis, vectors, where = draw(dtype, random)
        low, include = bool(random.integers(2)), bool(random.integers(2))
        nan = ["propagate", "ignore"][random.integers(2)]
        _, places = expected(data, indices, updates, axis, vectors, include, low, nan)
        gradient = random_array(dtype, data.shape, special=False)
        wanted = gradients(gradient, places, indices, updates, axis, vectors)
        backward = wgmax.scatter_min_backward if low else wgmax.scatter_max_backward
        options = {"include_data": include, "nan": nan, "device": device, **where}
        given = [strided(each, random) for each in (data, indices, updates, gradient)]
        for found, right in zip(backward(*given, **options), wanted):
            same_value(found, right)
        width = ["int64", "int32"][number % 2]
        saved = strided(places.astype(width), random)
        found = backward(saved, None, None, given[3], **options, index_type=width, shape=indices.shape)
        for each, right in zip(found, wanted):
            same_value(each, right)
        out = np.zeros_like(data), np.zeros_like(updates)
        assert backward(*given, **options, out=out) == out
        for each, right in zip(out, wanted):
            same_value(each, right)


def test_indices_beside_tensors_are_checked(device):
    data = wgmax.Tensor(np.zeros(3, np.float32), device=device)
    for function, rest in [(wgmax.scatter_max, ()), (wgmax.scatter_max_backward, (data,))]:
        with pytest.raises(wgmax.ArgumentError, match="out of range"):
            function(data, [0, 3, 1], data, *rest)
        function(data, [0, -3, 1], data, *rest)


def test_indices_that_name_no_element(device):
    data = np.zeros((2, 3), np.float32)
    for indices in ([[3, 0, 0]], [[-3, 0, 0]]):
        with pytest.raises(wgmax.ArgumentError, match="out of range") as caught:
            wgmax.scatter_max(data, indices, np.ones((1, 3), np.float32), 0, device=device)
        assert caught.value.code == "IndexOutOfRange"
    with pytest.raises(wgmax.ArgumentError):
        wgmax.scatter_max(data, [[0]], np.ones((1, 3)), vectors=True, device=device)
    with pytest.raises(wgmax.ArgumentError, match="axis"):
        wgmax.scatter_max(data, [[0]], data, 0, vectors=True, device=device)


def test_specifications():
    data = np.array([1.0, 2.0, np.nan], np.float32)
    updates = np.array([5.0, np.nan, 3.0], np.float32)
    onnx = wgmax.onnx.ScatterElements(data, [0, 1, 2], updates, reduction="max")
    assert onnx[0] == 5 and np.isnan(onnx[1:]).all()
    vectors = wgmax.onnx.ScatterND(data, [[0], [-1]], updates[:2], reduction="min")
    assert vectors[0] == 1 and np.isnan(vectors[2])
    openvino = wgmax.openvino.ScatterElementsUpdate(
        data, [0, 1, 2], updates, 0, reduction="max", use_init_val=False
    )
    assert openvino[0] == 5 and np.isnan(openvino[1]) and openvino[2] == 3
    found = wgmax.openvino.ScatterNDUpdate(data, [[2]], updates[:1], reduction="max")
    assert found.tolist() == [1, 2, 5]
    with pytest.raises(wgmax.ArgumentError, match="max or min"):
        wgmax.onnx.ScatterND(data, [[0]], updates[:1], reduction="add")
    pool = wgmax.webnn.maxPool2d(
        np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3), windowDimensions=[2, 2], padding=[1, 0, 0, 0]
    )
    assert pool.ravel().tolist() == [1, 2, 4, 5, 7, 8]
    assert wgmax.webnn.argMax(data, axis=0).dtype == np.int32
