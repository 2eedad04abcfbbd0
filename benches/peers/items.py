"""The work items: their data, and the right answers."""

import json
import pathlib

import numpy as np

ITEMS = pathlib.Path(__file__).parents[2] / "cli/src/bench/items.json"
TYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64,
}


def load():
    # The peers are measured at the maximum, and at positions of windows alone.
    own = [item for item in json.loads(ITEMS.read_text()) if not item.get("minimum")]
    return [item for item in own if item["op"] == "MaxPool" or not item["attrs"].get("indices")]


def size(item):
    """The fewest bytes to read and write."""
    return item["bytes_read"] + item["bytes_write"]


def inputs(item):
    """The data, and the ids of SegmentMax. `wgmax bench` makes the same bytes."""
    kind = TYPES[item["dtype"]]
    random = np.random.default_rng(1234)
    if item["dtype"] in ("f32", "f64"):
        data = random.standard_normal(item["shape"], dtype=kind)
    elif item["dtype"] == "f16":
        data = random.standard_normal(item["shape"], dtype=np.float32).astype(kind)
    else:
        limits = np.iinfo(kind)
        data = random.integers(limits.min, limits.max, item["shape"], dtype=kind, endpoint=True)
    return [data, ids(item)] if item["op"] == "SegmentMax" else [data]


def ids(item):
    rows, attrs = item["shape"][0], item["attrs"]
    count, sizes = attrs["num_segments"], attrs["dist"]
    random = np.random.default_rng(99)
    if sizes == "uniform":
        found = np.arange(rows) // (rows // count)
    elif sizes == "random":
        found = np.sort(random.integers(0, count, rows, dtype=np.int32))
    elif sizes == "powerlaw":
        weights = 1.0 / np.arange(1, count + 1)
        lengths = np.floor(weights / weights.sum() * rows).astype(np.int64)
        lengths[0] += rows - lengths.sum()
        random.shuffle(lengths)
        found = np.repeat(np.arange(count), lengths)
    elif sizes == "giant":
        found = np.full(rows, count // 2)
        found[:500] = np.arange(500)
        found[-500:] = np.arange(count - 500, count)
    else:
        raise ValueError(sizes)
    return found.astype(np.int32)


def lowest(kind):
    return -np.inf if np.issubdtype(kind, np.floating) else np.iinfo(kind).min


def pool(data, attrs):
    """MaxPool, one axis after the other, by the maximum of shifted views."""
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


def segments(data, ids, count):
    """SegmentMax of ascending ids; segments without rows give the lowest value."""
    starts = np.searchsorted(ids, np.arange(count))
    filled = np.append(starts[1:], len(ids)) > starts
    result = np.full((count, *data.shape[1:]), lowest(data.dtype), data.dtype)
    result[filled] = np.maximum.reduceat(data, starts[filled], axis=0)
    return result, filled


class Answer:
    """The right answer; what a segment without rows gives is not judged."""

    def __init__(self, item, data):
        self.filled = None
        if item["op"] == "ReduceMax":
            self.value = np.asarray(data[0].max(axis=tuple(item["attrs"]["axes"])))
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
