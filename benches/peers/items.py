"""The work items: their data, and the right answers."""

import json
import pathlib
import subprocess
import tempfile

import numpy as np

ITEMS = pathlib.Path(__file__).parents[2] / "cli/src/bench/items.json"


def load():
    # The peers are measured at the maximum, and at positions of windows alone.
    own = [item for item in json.loads(ITEMS.read_text()) if not item.get("minimum")]
    return [item for item in own if item["op"] == "MaxPool" or not item["attrs"].get("indices")]


def size(item):
    """The fewest bytes to read and write."""
    return item["bytes_read"] + item["bytes_write"]


def inputs(lab, item):
    """The data, and the ids of SegmentMax, the indices and updates of a scatter, or the gradient of the maxima, as `wgmax bench` has them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lab, "inputs", item["name"], folder], check=True)
        return [np.load(file) for file in sorted(pathlib.Path(folder).iterdir())]


def lowest(kind):
    return -np.inf if np.issubdtype(kind, np.floating) else np.iinfo(kind).min


def pool(data, attrs):
    """MaxPool, one axis after the other, by the maximum of shifted views, or of each window."""
    if "output_sizes" in attrs:
        for axis, count in enumerate(attrs["output_sizes"], 2):
            size = data.shape[axis]
            bounds = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
            windows = [data.take(range(*each), axis).max(axis, keepdims=True) for each in bounds]
            data = np.concatenate(windows, axis)
        return data
    first = 1 if attrs["layout"] == "NHWC" else 2
    kernel, pads = attrs["kernel"], attrs["pads"]
    for i, (k, stride, dilation) in enumerate(zip(kernel, attrs["strides"], attrs["dilations"])):
        axis = first + i
        before, behind = pads[i], pads[i + len(kernel)]
        if before or behind:
            padding = [(0, 0)] * data.ndim
            padding[axis] = (before, behind)
            data = np.pad(data, padding, constant_values=lowest(data.dtype))
        count = (data.shape[axis] - (dilation * (k - 1) + 1)) // stride + 1

        def shifted(tap):
            at = [slice(None)] * data.ndim
            begin = tap * dilation
            at[axis] = slice(begin, begin + (count - 1) * stride + 1, stride)
            return data[tuple(at)]

        result = shifted(0).copy()
        for tap in range(1, k):
            np.maximum(result, shifted(tap), out=result)
        data = result
    return data


def pool_gradient(data, gradient, attrs):
    """The gradient of MaxPool along two axes after the channels, the windows in row-major order."""
    (height, width), (down, along) = data.shape[2:], attrs["kernel"]
    above, left = attrs["pads"][:2]
    padding = [(0, 0), (0, 0), *zip(attrs["pads"][:2], attrs["pads"][2:])]
    padded = np.pad(data, padding, constant_values=lowest(data.dtype))
    rows, columns = gradient.shape[2:]
    best = np.full(gradient.shape, lowest(data.dtype), data.dtype)
    found = np.zeros(gradient.shape, np.int64)
    planes = np.arange(data.shape[0] * data.shape[1]).reshape(*data.shape[:2], 1, 1) * height
    for i in range(down):
        for j in range(along):
            y = i * attrs["dilations"][0] + np.arange(rows)[:, None] * attrs["strides"][0]
            x = j * attrs["dilations"][1] + np.arange(columns) * attrs["strides"][1]
            taps = padded[:, :, y, x]
            above_best = taps > best
            at = (planes + y - above) * width + x - left
            found = np.where(above_best, at, found)
            best = np.where(above_best, taps, best)
    result = np.zeros(data.size, data.dtype)
    np.add.at(result, found.ravel(), gradient.ravel())
    return result.reshape(data.shape)


def segments(data, ids, count):
    """SegmentMax; segments without rows give the lowest value."""
    if np.any(ids[1:] < ids[:-1]):
        order = np.argsort(ids, kind="stable")
        data, ids = data[order], ids[order]
    starts = np.searchsorted(ids, np.arange(count))
    filled = np.append(starts[1:], len(ids)) > starts
    result = np.full((count, *data.shape[1:]), lowest(data.dtype), data.dtype)
    result[filled] = np.maximum.reduceat(data, starts[filled], axis=0)
    return result, filled


class Answer:
    """The right answer; what a segment without rows gives is not judged."""

    def __init__(self, item, data):
        self.filled = None
        if "elements" in item["attrs"]:
            self.value = data[0].copy()
            np.maximum.at(self.value, data[1], data[2])
        elif item["op"] == "ReduceMax":
            self.value = np.asarray(data[0].max(axis=tuple(item["attrs"]["axes"])))
        elif item.get("gradient"):
            self.value = pool_gradient(*data, item["attrs"])
        elif item["op"] == "MaxPool":
            self.value = pool(data[0], item["attrs"])
        else:
            self.value, self.filled = segments(*data, item["attrs"]["num_segments"])

    def agrees(self, other):
        other = np.asarray(other)
        if other.size != self.value.size or other.dtype != self.value.dtype:
            return False
        other = other.reshape(self.value.shape)
        if self.filled is not None:
            return np.array_equal(other[self.filled], self.value[self.filled])
        return np.array_equal(other, self.value)
