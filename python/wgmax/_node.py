"""Code that the modules of the specifications share."""

import numpy as np

from . import _wgmax


def results(dialect, operator, inputs, given):
    """The result of an operator of a specification, or a tuple of several.

    ``given`` are the arguments of a function by name, its ``locals()``: those whose names are in ``inputs``,
    the version (``version`` or ``opset``), ``outputs``, ``nan`` and ``device``; all others are
    attributes. Attributes that are None are omitted, and so are inputs at the end that are None.
    """
    inputs = [given.pop(name) for name in inputs]
    while inputs and inputs[-1] is None:
        inputs.pop()
    version = given.pop("opset", given.pop("version", None))
    others = [given.pop("outputs", 1), given.pop("nan", None), given.pop("device")]
    attributes = {name: value for name, value in given.items() if value is not None}
    found = _wgmax.node(dialect, operator, version, attributes, inputs, *others)
    return found[0] if len(found) == 1 else tuple(found)


def array(given):
    """An array of which every element counts."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError("a masked array has elements that do not count; fill it")
    return np.asarray(given)


def integers(given):
    """Integers as int64, if it has them. Others are not converted: operators refuse them."""
    found = array(given)
    fits = found.dtype.kind == "i" or found.dtype.kind == "u" and (found <= np.iinfo(np.int64).max).all()
    return found.astype(np.int64) if fits or not found.size else found


def typed(given):
    """Arrays and tensors, which have a type; Python's lists and numbers as `integers`."""
    return given if hasattr(given, "dtype") else integers(given)
