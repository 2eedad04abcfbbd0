"""The specifications: the operators from their definitions, and clauses for results that a definition leaves open."""

import itertools
import math

import numpy as np

from cases import FLOATS, lowest

# Results that a definition leaves open, as the page names them.
OPEN = {
    "reduce.nan": "the result of a reduction with a NaN", "pool.nan": "the result of a window with a NaN",
    "segment.nan": "the result of a segment with a NaN", "arg.nan": "the position in a set with a NaN",
    "where.nan": "the position in a window with a NaN", "zero": "which of -0 and +0 is larger",
    "reduce.empty": "the maximum of an empty set", "arg.empty": "the position in an empty set",
    "pool.ceil": "whether a window starts in the end padding", "pool.empty": "the maximum of a window that covers padding alone", "segment.empty": "the value of a segment without rows",
    "arg.tie": "which of several equal elements has the position", "where.tie": "which of several equal elements of a window has the position",
    "ids.order": "the result if ids do not ascend", "ids.negative": "the effect of an id below zero", "ids.beyond": "the effect of an id past the last segment",
}
FLOOR = "-inf"  # minus infinity; of other types the lowest value
ONNX = {
    "name": "ONNX (ReduceMax-20, ArgMax-13, MaxPool-22, ScatterElements-18)",
    "reduce.nan": ("propagate", "ReduceMax-20: “The above behavior is similar to numpy” (whose maximum propagates NaN)"),
    "reduce.empty": (FLOOR, "ReduceMax-20: “Reduction over an empty set of values yields minus infinity (if supported by the datatype) or the minimum value”"),
    "pool.ceil": ("no", "MaxPool-22: “Sliding windows that would start in the right padded region are ignored”"),
    "arg.tie": ("first", "ArgMax-13: select_last_index 0: “the index of the first occurrence is selected”"),
    "segment.empty": (FLOOR, "ScatterElements-18: elements that no index names keep the value of data (here the lowest, or minus infinity)"),
    "ids.order": ("any", "ScatterElements-18: indices come in any order"),
    "ids.negative": ("wrap", "ScatterElements-18: indices are in [-s, s-1]; “It is an error if any of the index values are out of bounds”"),
    "ids.beyond": ("error", "ScatterElements-18: “It is an error if any of the index values are out of bounds”"),
}
SPECS = {
    "numpy": {
        "name": "NumPy's reference",
        "reduce.nan": ("propagate", "numpy.max: “NaN values are propagated”"),
        "segment.nan": ("propagate", "numpy.maximum: “NaNs are propagated”"),
        "reduce.empty": ("error", "numpy.max, initial: “Must be present to allow computation on empty slice”"),
        "arg.tie": ("first", "numpy.argmax: “the indices corresponding to the first occurrence are returned”"),
        "segment.empty": (FLOOR, "numpy.ufunc.at changes the indexed elements only (here minus infinity, or the lowest value, stays)"),
        "ids.order": ("any", "numpy.ufunc.at: indices come in any order"),
        "ids.negative": ("wrap", "NumPy, indexing: negative indices count from the end; others are an IndexError"),
        "ids.beyond": ("error", "NumPy, indexing: indices past the end are an IndexError"),
    },
    "torch": {
        "name": "PyTorch's reference",
        "pool.empty": (FLOOR, "torch.nn.MaxPool2d: “the input is implicitly padded with negative infinity”"),
        "pool.ceil": ("no", "torch.nn.MaxPool2d, ceil_mode: “Sliding windows that would start in the right padded region are ignored”"),
        "arg.tie": ("first", "torch.argmax: “If there are multiple maximal values then the indices of the first maximal value are returned”"),
        "segment.empty": (FLOOR, "torch.Tensor.scatter_reduce: elements that no index names stay (here minus infinity, or the lowest value)"),
        "ids.order": ("any", "torch.Tensor.scatter_reduce: indices come in any order"),
    },
    "onnx": ONNX,
    "openvino": {
        "name": "OpenVINO's operators (ReduceMax-1, TopK-11, MaxPool-14, SegmentMax-16)",
        "arg.tie": ("first", "TopK-11, stable: equal elements keep their order"),
        "pool.empty": (FLOOR, "MaxPool-14: the values of padding are -inf"),
        "pool.ceil": ("no", "MaxPool-14, rounding_type ceil_torch: no window starts in the end padding"),
        "segment.empty": ("lowest", "SegmentMax-16, fill_mode LOWEST: “the lowest value of the data type”"),
    },
    "jax": {
        "name": "JAX's reference (jax.numpy by NumPy's; lax by StableHLO)",
        "reduce.nan": ("propagate", "jax.numpy.max is numpy.max: “NaN values are propagated”"),
        "pool.nan": ("propagate", "lax.max is stablehlo.maximum: for floats the maximum of IEEE 754"),
        "segment.nan": ("propagate", "stablehlo.scatter with stablehlo.maximum: for floats the maximum of IEEE 754"),
        "pool.empty": (FLOOR, "lax.reduce_window: its init_value (here minus infinity, or the lowest value)"),
        "reduce.empty": ("error", "jax.numpy.max is numpy.max, initial: “Must be present to allow computation on empty slice”"),
        "arg.tie": ("first", "jax.numpy.argmax is numpy.argmax: “the first occurrence”"),
        "ids.order": ("any", "jax.ops.segment_max: ids “need not be sorted”"),
        "ids.negative": ("drop", "jax.ops.segment_max: “values outside of the range [0, num_segments) are dropped”"),
        "ids.beyond": ("drop", "jax.ops.segment_max: “values outside of the range [0, num_segments) are dropped”"),
    },
    "tensorflow": {
        "name": "TensorFlow's reference (max, argmax, nn.max_pool, math.unsorted_segment_max)",
        "segment.empty": ("lowest", "tf.math.unsorted_segment_max: “the smallest possible value for the specific numeric type”, numeric_limits::lowest()"),
        "ids.order": ("any", "tf.math.unsorted_segment_max: ids need not be sorted"),
        "ids.negative": ("drop", "tf.math.unsorted_segment_max: for a negative id “the corresponding value is dropped”"),
        "ids.beyond": ("error", "tf.math.unsorted_segment_max: on the CPU “an error is thrown for out-of-bound indices”"),
    },
    "burn": {
        "name": "burn's documentation",
        "reduce.nan": ("propagate", "burn, max_dim: NaN “if it contains a NaN”"),
        "arg.nan": ("first", "burn, argmax: “NaNs take precedence”, the lowest coordinate"),
        "arg.tie": ("first", "burn, argmax: ties “return the lowest coordinate”"),
        "segment.empty": (FLOOR, "burn, select_assign changes the indexed rows only (here minus infinity, or the lowest value, stays)"),
        "ids.order": ("any", "burn, select_assign: indices come in any order"),
    },
    "candle": {"name": "candle's documentation"},
    "wgmax": {
        "name": "wgmax's guide",
        "zero": ("+0", "wgmax: +0 is above -0 unless positions are requested"),
        "pool.empty": (FLOOR, "wgmax max-pool --empty neg-inf"),
        "pool.ceil": ("no", "wgmax max-pool --rounding ceil-torch: a window does not start after the last element"),
        "reduce.empty": (FLOOR, "wgmax reduce-max --empty neg-inf"),
        "arg.empty": ("error", "wgmax: an empty set has no position"),
        "arg.tie": ("first", "wgmax: the first of equal elements, -0 equal to +0"),
        "where.tie": ("first", "wgmax: the first of equal elements, -0 equal to +0"),
        "arg.nan": ("first", "wgmax: the first NaN"), "where.nan": ("first", "wgmax: the first NaN"),
        "segment.empty": ("lowest", "wgmax segment-max --fill lowest"),
        "ids.order": ("any", "wgmax segment-max --unsorted"),
        "ids.negative": ("drop", "wgmax segment-max --unsorted: rows of negative ids are dropped"),
        "ids.beyond": ("error", "wgmax segment-max: ids at or above --num-segments are errors"),
    } | {f"{op}.nan": ("propagate", "wgmax --nan propagate") for op in ("reduce", "pool", "segment")},
}


class Refused(Exception):
    """The specification makes this an error."""


class Reference:
    """Computes a case; `asked` notes what its definition leaves open, `rules` decide."""

    def __init__(self, case, rules):
        self.case, self.rules, self.asked = case, rules, {}

    def rule(self, what):
        self.asked[what] = self.rules.get(what)
        choice = (self.rules.get(what) or (None,))[0]
        if choice == "error":
            raise Refused
        return choice

    def maximum(self, values):
        values, op = list(values), {"arg": "reduce", "where": "pool"}.get(self.case.op, self.case.op)
        if not values:
            return lowest(self.case.type, finite=self.rule(f"{op}.empty") == "lowest")
        if any(v != v for v in values):
            self.rule(f"{op}.nan")  # if it is defined, NaN wins
            return math.nan
        best = max(values)
        if best == 0 and self.case.type in FLOATS and len({math.copysign(1, v) for v in values if v == 0}) == 2:
            self.rule("zero")
            return 0.0
        return best

    def position(self, values):
        """The index of the maximum in a list."""
        op = self.case.op
        if not values:
            self.rule(f"{op}.empty")
            return 0
        nans = [i for i, v in enumerate(values) if v != v]
        if nans:
            self.rule(f"{op}.nan")
            return nans[0]
        best = [i for i, v in enumerate(values) if v == max(values)]
        if len(best) > 1:
            self.rule(f"{op}.tie")
        return best[0]

    def reduce(self):
        case, x = self.case, self.case.x
        kept = [a for a in range(x.ndim) if a not in case.axes]
        rows = x.transpose(kept + case.axes).reshape(*(x.shape[a] for a in kept), math.prod(x.shape[a] for a in case.axes))
        find = self.position if case.op == "arg" else self.maximum
        return rows.shape[:-1], [find(rows[at].tolist()) for at in np.ndindex(*rows.shape[:-1])]

    def pool(self):
        case, x = self.case, self.case.x
        axes, starts = range(len(case.kernel)), []
        for a in axes:
            size, stride = x.shape[a + 2], case.strides[a]
            begin, end, extent = case.pads[a], case.pads[a + len(axes)], (case.kernel[a] - 1) * case.dilations[a] + 1
            if case.auto:
                count = -(-size // stride)
                total = max(0, (count - 1) * stride + extent - size)
                begin = total // 2 if case.auto == "SAME_UPPER" else total - total // 2
            elif case.ceil:
                count = -(-(size + begin + end - extent) // stride) + 1
                if (count - 1) * stride >= size + begin:
                    self.rule("pool.ceil")
                    count -= 1
            else:
                count = (size + begin + end - extent) // stride + 1
            starts.append([i * stride - begin for i in range(count)])
        found = []
        for n, c in np.ndindex(*x.shape[:2]):
            for at in itertools.product(*starts):
                taps = itertools.product(*([at[a] + j * case.dilations[a] for j in range(case.kernel[a])] for a in axes))
                taps = [t for t in taps if all(0 <= t[a] < x.shape[a + 2] for a in axes)]
                values = [x[(n, c, *t)].item() for t in taps]
                if case.op == "pool":
                    found.append(self.maximum(values))
                else:
                    found.append(int(np.ravel_multi_index(taps[self.position(values)], x.shape[2:])))
        return (*x.shape[:2], *map(len, starts)), found

    def segment(self):
        case, rows = self.case, [[] for _ in range(self.case.n)]
        if list(case.ids) != sorted(case.ids):
            self.rule("ids.order")
        for id, row in zip(case.ids, case.x):
            wrap = False
            if id < 0 and self.rule("ids.negative") == "wrap":
                if id < -case.n:
                    raise Refused
                wrap = True
            if id >= case.n:
                self.rule("ids.beyond")
            if 0 <= id < case.n or wrap:
                rows[id].append(row)
        width = case.x.shape[1:]
        found = [self.maximum(row[at].item() for row in segment) for segment in rows for at in np.ndindex(*width)]
        return (case.n, *width), found


def expect(case, rules):
    """(shape, values) or "an error", whether something stays open, and the clauses."""
    reference = Reference(case, rules)
    op = {"arg": "reduce", "where": "pool"}.get(case.op, case.op)
    try:
        answer = getattr(reference, op)()
    except Refused:
        answer = "an error"
    # The definition requires ids in range and in order; other ids are not judged.
    still_open = [what for what, rule in reference.asked.items() if rule is None]
    return answer, still_open, [rule[1] for rule in reference.asked.values() if rule]
