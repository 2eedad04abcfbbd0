"""The inputs: small tensors, each with an operator and its attributes, by topic."""

from types import SimpleNamespace

import ml_dtypes
import numpy as np

TYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
}
FLOATS = ["f32", "f64", "f16", "bf16"]
TOPICS = {
    "nan": "NaN", "zero": "Signs of zero", "subnormal": "Subnormals", "infinity": "Infinities",
    "types": "Types and their limits", "positions": "Positions", "windows": "Windows",
    "empty": "Empty sets", "ids": "Ids of segments",
}
nan, inf = float("nan"), float("inf")
ALL = []


def bits(type, words):
    return np.array(words, f"u{np.dtype(TYPES[type]).itemsize}").view(TYPES[type])


def lowest(type, finite=True):
    kind = np.dtype(TYPES[type])
    if type == "bool":
        return False
    if type in FLOATS:
        return float(ml_dtypes.finfo(kind).min) if finite else -inf
    return int(np.iinfo(kind).min)


def add(topic, what, op, x, type="f32", shape=None, **attrs):
    """`op`: reduce and arg (of `axes`), pool and where (its positions), segment (of `ids`, `n`; `id_type` None: any)."""
    x = np.asarray(x if isinstance(x, np.ndarray) else np.array(x, TYPES[type]))
    if op in ("pool", "where"):
        axes = len(attrs["kernel"])
        attrs = {"strides": [1] * axes, "pads": [0] * 2 * axes, "dilations": [1] * axes,
                 "ceil": False, "auto": None} | attrs
        x = x.reshape(shape or (1,) * (axes + 2 - x.ndim) + x.shape)
    else:
        attrs = {"reduce": {"axes": [0]}, "arg": {"axes": [0]}, "segment": {"id_type": None}}[op] | attrs
        x = x.reshape(x.shape if shape is None else shape)
    number = sum(case.topic == topic for case in ALL) + 1
    ALL.append(SimpleNamespace(id=f"{topic}-{number}", topic=topic, what=what, op=op, type=type, x=x, **attrs))


def segment(topic, what, x, ids, n, type="f32", **attrs):
    add(topic, what, "segment", x, type, ids=ids, n=n, **attrs)


def square(topic, what, x, type="f32", op="pool", **attrs):
    """One window of 2 x 2."""
    add(topic, what, op, x, type, kernel=[2, 2], **attrs)


for what, x in [("first", [nan, 1, 2]), ("in the middle", [1, nan, 2]), ("last", [1, 2, nan]), ("alone", [nan]),
                ("only", [nan, nan]), ("before smaller and larger numbers", [0, nan, 1, 2, 3, 4, 5, 6]),
                ("before infinity", [nan, inf]), ("after infinity", [inf, nan]), ("after minus infinity", [-inf, nan])]:
    add("nan", f"NaN {what}", "reduce", x)
for what, word in [("with its sign set", 0xffc00000), ("with a payload", 0x7fc12345), ("that signals", 0x7f800001)]:
    add("nan", f"NaN {what}", "reduce", bits("f32", [0x3f800000, word, 0x40000000]))
for at in (0, 1, 16, 63, 64):
    add("nan", f"NaN at {at} of 65", "reduce", [float(i) if i != at else nan for i in range(65)])
TABLE = [[0, 1, 2, 3], [4, 5, nan, 6], [7, 8, 9, 10]]
add("nan", "NaN in a column", "reduce", TABLE, axes=[0])
add("nan", "NaN in a row", "reduce", TABLE, axes=[1])
add("nan", "NaN in a matrix", "reduce", TABLE, axes=[0, 1])
for type in FLOATS[1:]:
    add("nan", f"NaN in the middle, {type}", "reduce", [1, nan, 2], type)
for what, x in [("first", [[nan, 1], [2, 3]]), ("second", [[1, nan], [2, 3]]), ("third", [[1, 2], [nan, 3]]),
                ("last", [[1, 2], [3, nan]]), ("only", [[nan, nan], [nan, nan]]),
                ("with minus infinity", [[-inf, nan], [-inf, -inf]])]:
    square("nan", f"window: NaN {what}", x)
add("nan", "window: NaN between, padded", "pool", [[1, 2, 3], [4, nan, 5], [6, 7, 8]], kernel=[3, 3], pads=[1] * 4)
add("nan", "window: NaN in one of two", "pool", [[0, 1, 2, 3], [4, nan, 5, 6]], kernel=[2, 2], strides=[2, 2])
for type in FLOATS[1:]:
    square("nan", f"window: NaN second, {type}", [[1, nan], [2, 3]], type)
for what, x in [("first", [nan, 1, 2]), ("in the middle", [1, nan, 2]), ("last", [1, 2, nan]), ("only", [nan, nan, nan])]:
    segment("nan", f"segment: NaN {what}", x, [0, 0, 0], 1)
for type in ("f64", "f16"):
    segment("nan", f"segment: NaN in the middle, {type}", [1, nan, 2], [0, 0, 0], 1, type)

for what, x in [("-0, +0", [-0.0, 0.0]), ("+0, -0", [0.0, -0.0]), ("-0 twice", [-0.0, -0.0]), ("-0, -1", [-0.0, -1.0]),
                ("-0, 15 times +0", [-0.0] + [0.0] * 15), ("15 times +0, -0", [0.0] * 15 + [-0.0])]:
    add("zero", what, "reduce", x)
for type in FLOATS[1:]:
    add("zero", f"+0, -0, {type}", "reduce", [0.0, -0.0], type)
square("zero", "window: -0, then +0", [[-0.0, 0.0], [0.0, 0.0]])
square("zero", "window: +0, then -0", [[0.0, -0.0], [-0.0, -0.0]])
segment("zero", "segment: -0, +0", [-0.0, 0.0], [0, 0], 1)
segment("zero", "segment: +0, -0", [0.0, -0.0], [0, 0], 1)

TINY = {"f32": 2.0**-149, "f64": 2.0**-1074, "f16": 2.0**-24, "bf16": 2.0**-133}
for type, tiny in TINY.items():
    add("subnormal", f"the smallest above zero, {type}", "reduce", [0.0, tiny, 0.0], type)
    square("subnormal", f"window: subnormals, {type}", [[0.0, tiny], [3 * tiny, 2 * tiny]], type)
add("subnormal", "the largest comes last", "reduce", [TINY["f32"], 3 * TINY["f32"]])
add("subnormal", "below zero", "reduce", [-3 * TINY["f32"], -TINY["f32"]])
add("subnormal", "window: below zero", "pool", [[-3 * TINY["f32"], -TINY["f32"]]], kernel=[1, 2])
segment("subnormal", "segment: subnormals", [TINY["f32"], 3 * TINY["f32"]], [0, 0], 1)

add("infinity", "minus infinity alone", "reduce", [-inf])
add("infinity", "infinity and a number", "reduce", [1.0, inf, 2.0])
for type in FLOATS:
    add("infinity", f"minus infinity only, {type}", "reduce", [-inf, -inf, -inf], type)
    add("infinity", f"minus infinity and the lowest number, {type}", "reduce", [-inf, lowest(type)], type)
    square("infinity", f"window: minus infinity only, {type}", [[-inf, -inf], [-inf, -inf]], type)
add("infinity", "minus infinity in a column", "reduce", [[1, -inf], [2, -inf]], axes=[0])
add("infinity", "window: minus infinity beside padding", "pool", [[-inf, -inf], [-inf, -inf]], kernel=[3, 3], pads=[1] * 4)
segment("infinity", "segment: minus infinity only", [-inf, -inf], [0, 0], 1)

for type in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
    limits = np.iinfo(TYPES[type])
    low, high = int(limits.min), int(limits.max)
    add("types", f"the two smallest, {type}", "reduce", [low, low + 1], type)
    add("types", f"the two largest, {type}", "reduce", [high - 1, high, high - 1], type)
    if low == 0:
        add("types", f"beside half the range, {type}", "reduce", [high // 2, high // 2 + 1], type)
for what, type, x in [
    ("past f32's whole numbers", "i32", [2**24, 2**24 + 1]), ("past f32's whole numbers", "u32", [2**24, 2**24 + 1]),
    ("2^32 and 1", "i64", [2**32, 1]), ("2^32 and 2^32 + 1", "i64", [2**32 + 1, 2**32]), ("2^31 and 1", "i64", [2**31, 1]),
    ("past f64's whole numbers", "i64", [2**53, 2**53 + 1]), ("the same below zero", "i64", [-2**53 - 1, -2**53]),
    ("past f64's whole numbers", "u64", [2**53, 2**53 + 1]), ("False, True", "bool", [False, True]),
    ("False twice", "bool", [False, False]), ("neighbours of 1", "f64", [1.0, 1.0 + 2.0**-52]), ("past f32", "f64", [1e300, 1e308]),
    ("neighbours of 1", "f16", [1.0, 1.0 + 2.0**-10]), ("the two largest", "f16", [65472.0, 65504.0]),
    ("neighbours of 1", "bf16", [1.0, 1.0 + 2.0**-7]), ("past f16", "bf16", [1e38, 2e38])]:
    add("types", f"{what}, {type}", "reduce", x, type)
for what, type, x in [("signs", "i8", [[-128, -3], [-2, -127]]), ("signs", "u8", [[127, 128], [255, 0]]),
                      ("past f32", "i32", [[2**24, 2**24 + 1], [0, 0]]), ("past f64", "i64", [[2**53, 2**53 + 1], [0, 0]]),
                      ("neighbours of 1", "f64", [[1.0, 1.0 + 2.0**-52], [0.0, 0.0]]),
                      ("below zero", "f16", [[-65504.0, -1.0], [-2.0, -3.0]]), ("below zero", "bf16", [[-1e38, -1.0], [-2.0, -3.0]])]:
    square("types", f"window: {what}, {type}", x, type)
for what, type, x in [("past f32", "i32", [2**24, 2**24 + 1]), ("past f64", "i64", [2**53, 2**53 + 1]), ("signs", "i8", [-128, -1]),
                      ("signs", "u8", [127, 128]), ("neighbours of 1", "f64", [1.0, 1.0 + 2.0**-52])]:
    segment("types", f"segment: {what}, {type}", x, [0, 0], 1, type)

FAR = [float(i in (3, 40)) for i in range(65)]
for what, x in [("two equal", [1, 3, 3]), ("two equal, first", [3, 3, 1]), ("equal at 3 and 40 of 65", FAR), ("all equal", [2, 2, 2, 2]),
                ("-0, +0", [-0.0, 0.0]), ("+0, -0", [0.0, -0.0]), ("minus infinity only", [-inf] * 3),
                ("NaN in the middle", [1, nan, 2]), ("NaN twice", [1, nan, nan]), ("NaN after infinity", [inf, nan]), ("NaN first", [nan, 2, 1])]:
    add("positions", what, "arg", x)
ROWS = [[1, 5, 5], [6, 2, 6]]
add("positions", "rows", "arg", ROWS, axes=[1])
add("positions", "columns", "arg", [[1, 5, 5], [1, 2, 6]], axes=[0])
add("positions", "NaN in rows", "arg", [[1, nan, 5], [6, 2, nan]], axes=[1])
for what, type, x in [("past f32", "i32", [2**24, 2**24 + 1]), ("past f64", "i64", [2**53, 2**53 + 1]), ("equal", "u8", [7, 255, 255]),
                      ("neighbours of 1", "f64", [1.0, 1.0 + 2.0**-52]), ("equal", "f16", [1, 2, 2]), ("equal", "bf16", [1, 2, 2])]:
    add("positions", f"{what}, {type}", "arg", x, type)
for what, x in [("two equal", [[1, 3], [3, 2]]), ("-0, +0", [[-0.0, 0.0], [-0.0, 0.0]]), ("minus infinity only", [[-inf] * 2] * 2),
                ("NaN second", [[1, nan], [2, 3]]), ("NaN twice", [[1, nan], [nan, 3]]), ("the lowest number only", [[lowest("f32")] * 2] * 2)]:
    square("positions", f"window: {what}", x, op="where")
NEGATIVE = [[-4, -3, -2], [-7, -6, -5], [-1, -9, -8]]
square("positions", "window: zeros only, u8", [[0, 0], [0, 0]], "u8", op="where")
add("positions", "window: beside padding", "where", NEGATIVE, kernel=[3, 3], pads=[1] * 4, strides=[2, 2])
add("positions", "window: minus infinity, in the second row", "where", [[1, 1], [-inf, -inf]], kernel=[1, 2])
add("positions", "window: dilated, equal", "where", [[1] * 3] * 3, kernel=[2, 2], dilations=[2, 2])
add("positions", "window: overlapping, equal", "where", [[1] * 4] * 4, kernel=[3, 3])

FIVE = [[float(5 * i + j) * (-1) ** (i * j) for j in range(5)] for i in range(5)]
LINE = [-5.0, -4.0, -6.0, -3.0, -7.0]
for what, x, attrs in [
    ("padding beside numbers below zero", NEGATIVE, dict(kernel=[3, 3], pads=[1] * 4)),
    ("padding at the begin", NEGATIVE, dict(kernel=[2, 2], pads=[1, 1, 0, 0])),
    ("padding at the end", NEGATIVE, dict(kernel=[2, 2], pads=[0, 0, 1, 1])),
    ("padding of one axis", NEGATIVE, dict(kernel=[3, 3], pads=[0, 1, 0, 1])),
    ("stride 2, padding 1", FIVE, dict(kernel=[3, 3], strides=[2, 2], pads=[1] * 4)),
    ("stride larger than the window", FIVE, dict(kernel=[2, 2], strides=[3, 3])),
    ("window of one element", FIVE, dict(kernel=[1, 1], strides=[2, 2])),
    ("one window", FIVE, dict(kernel=[5, 5])),
    ("windows and strides of two sizes", FIVE, dict(kernel=[3, 2], strides=[1, 2])),
    ("ceil: a part of a window", FIVE, dict(kernel=[2, 2], strides=[2, 2], ceil=True)),
    ("ceil: no window in the end padding", NEGATIVE, dict(kernel=[2, 2], strides=[2, 2], pads=[1] * 4, ceil=True)),
    ("ceil: stride 3", FIVE, dict(kernel=[2, 2], strides=[3, 3], ceil=True)),
    ("ceil: no remainder", FIVE, dict(kernel=[3, 3], strides=[2, 2], ceil=True)),
    ("dilation 2", FIVE, dict(kernel=[2, 2], dilations=[2, 2])),
    ("dilation 2, padding 1", NEGATIVE, dict(kernel=[2, 2], dilations=[2, 2], pads=[1] * 4)),
    ("dilation of one axis", FIVE, dict(kernel=[2, 2], dilations=[1, 3])),
    ("dilation, ceil", FIVE, dict(kernel=[2, 2], dilations=[3, 3], strides=[3, 3], ceil=True)),
    ("same upper: an even window", NEGATIVE, dict(kernel=[2, 2], auto="SAME_UPPER")),
    ("same lower: an even window", NEGATIVE, dict(kernel=[2, 2], auto="SAME_LOWER")),
    ("same upper, stride 2", FIVE, dict(kernel=[2, 2], strides=[2, 2], auto="SAME_UPPER")),
    ("same lower, stride 2", FIVE, dict(kernel=[2, 2], strides=[2, 2], auto="SAME_LOWER")),
    ("same upper, dilation 2", FIVE, dict(kernel=[2, 2], dilations=[2, 2], auto="SAME_UPPER")),
    ("one axis", [[LINE]], dict(kernel=[3])),
    ("one axis, padding, stride 2", [[LINE]], dict(kernel=[3], strides=[2], pads=[1, 1])),
    ("three axes", np.arange(27, dtype=np.float32).reshape(1, 1, 3, 3, 3), dict(kernel=[2, 2, 2])),
    ("two images of two channels", np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2) * -1, dict(kernel=[2, 2])),
    ("padding as large as the window", NEGATIVE, dict(kernel=[2, 2], pads=[2, 2, 2, 2])),
    ("a window between elements, dilated", [[1.0]], dict(kernel=[2, 2], dilations=[2, 2], pads=[1] * 4))]:
    add("windows", what, "pool", x, **attrs)

for type in ("f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool"):
    add("empty", f"no element, {type}", "reduce", [], type, shape=[0])
for what, shape, axes in [("the reduced axis", [2, 0], [1]), ("the other axis", [0, 2], [1]), ("the axis between", [2, 0, 3], [0, 2]),
                          ("one of two reduced axes", [2, 0, 3], [0, 1])]:
    add("empty", f"{what} has no element", "reduce", [], shape=shape, axes=axes)
add("empty", "the position in an empty set", "arg", [], shape=[0])
add("empty", "the positions of no rows", "arg", [], shape=[0, 3], axes=[1])
add("empty", "windows of no image", "pool", [], shape=[0, 1, 2, 2], kernel=[2, 2])
for what, type, ids, n in [("a gap", "f32", [0, 2, 2], 3), ("a gap", "i32", [0, 2, 2], 3), ("a gap", "f16", [0, 2, 2], 3),
                           ("segments after the last id", "f32", [0, 1, 1], 4), ("no segment before the first id", "f32", [1, 1, 1], 2)]:
    segment("empty", f"segment: {what}, {type}", [-5, -6, -7], ids, n, type)
segment("empty", "segment: no row", [], [], 2)
segment("empty", "segment: no row and no segment", [], [], 0)

for what, ids in [("ascending, repeated", [0, 0, 1, 1]), ("descending", [1, 1, 0, 0]), ("mixed", [1, 0, 1, 0]), ("one segment", [0, 0, 0, 0])]:
    for id_type in ("i64", "i32"):
        segment("ids", f"{what}, {id_type}", [-1, -2, -3, -4], ids, 2, id_type=id_type)
segment("ids", "64 rows of one segment", [float(i * 37 % 64) for i in range(64)], [1] * 64, 2)
segment("ids", "64 rows of three segments", [float(i * 37 % 64) for i in range(64)], [i % 3 for i in range(64)], 3)
segment("ids", "rows of two elements", [[1, 8], [3, 4], [5, 2]], [0, 1, 0], 2)
for what, id, id_type in [("-1", -1, "i64"), ("-1", -1, "i32"), ("minus the number of segments", -2, "i64"), ("less than that", -3, "i64"),
                          ("the number of segments", 2, "i64"), ("the number of segments", 2, "i32"), ("2^31 - 1", 2**31 - 1, "i64"),
                          ("2^32", 2**32, "i64"), ("2^32 + 1", 2**32 + 1, "i64"), ("-2^63", -(2**63), "i64")]:
    segment("ids", f"an id of {what}, {id_type}", [9, 2, 1] if id < 0 else [1, 2, 9], sorted([0, 1, id]), 2, id_type=id_type)
