"""Functions of the Python array API standard, with its exact signatures.

They take arrays of any library that follows the standard, in host memory, and return arrays of that library,
never scalars. A `wgmax.Tensor` stays on its device.

For an empty set, `max` is the lowest number of the dtype or minus infinity, and `min` the opposite; `argmax`
and `argmin` raise an error. NaN propagates, and the index is that of the first of equal elements.

Examples
--------
>>> import numpy as np, wgmax.array_api as xp
>>> xp.max(np.array([[1, 5], [3, 2]]), axis=1)
array([5, 3])
>>> xp.argmin(np.array([2.0, 0.5]))
array(1)
"""

from typing import Any, Callable, Optional, TypeVar, Union

import numpy as np

from . import _wgmax

__all__ = ["argmax", "argmin", "max", "min"]

_X = TypeVar("_X")


def _result(function: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    found = function(x, axis, keepdims=keepdims)
    if isinstance(x, _wgmax.Tensor):
        return found
    found = np.asarray(found)
    if isinstance(x, np.ndarray) or not hasattr(x, "__array_namespace__"):
        return found
    return x.__array_namespace__().from_dlpack(found)


def max(
    x: _X, /, *, axis: Optional[Union[int, tuple[int, ...]]] = None, keepdims: bool = False
) -> _X:
    """The maximum along axes; of all elements by default."""
    found: _X = _result(_wgmax.reduce_max, x, axis, keepdims)
    return found


def min(
    x: _X, /, *, axis: Optional[Union[int, tuple[int, ...]]] = None, keepdims: bool = False
) -> _X:
    """The minimum along axes; of all elements by default."""
    found: _X = _result(_wgmax.reduce_min, x, axis, keepdims)
    return found


def argmax(x: _X, /, *, axis: Optional[int] = None, keepdims: bool = False) -> _X:
    """The indices of the maxima along an axis; by default the index in the flattened array."""
    found: _X = _result(_wgmax.arg_max, x, axis, keepdims)
    return found


def argmin(x: _X, /, *, axis: Optional[int] = None, keepdims: bool = False) -> _X:
    """The indices of the minima along an axis; by default the index in the flattened array."""
    found: _X = _result(_wgmax.arg_min, x, axis, keepdims)
    return found
