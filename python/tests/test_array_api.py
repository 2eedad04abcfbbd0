"""wgmax.array_api as the array API standard has it, on numpy's arrays, a strict library's, and tensors."""

import inspect

import array_api_strict
import numpy as np
import pytest
from conftest import DTYPES, assert_same, random_array
from test_views import laid_out

import wgmax
import wgmax.array_api as xp

FUNCTIONS = ["max", "min", "argmax", "argmin"]
REAL = [dtype for dtype in DTYPES if dtype.kind in "fiu" and dtype.name != "float16"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures(name):
    """Names, kinds and defaults are those of the standard's own library."""
    said = lambda of: [(p.name, p.kind, p.default) for p in inspect.signature(getattr(of, name)).parameters.values()]
    assert said(xp) == said(array_api_strict)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("library", [np, array_api_strict], ids=["numpy", "strict"])
def test_beside_the_library(name, library):
    for seed in range(150):
        random = np.random.default_rng(seed)
        dtype = random.choice(REAL)
        shape = tuple(random.integers(1, 5, random.integers(5)).tolist())
        x = random_array(dtype, shape, seed)
        if library is np:
            x = laid_out(x, random)
        axis = [None, *range(-x.ndim, x.ndim)][random.integers(2 * x.ndim + 1)]
        if "arg" not in name and random.random() < 0.5:
            axis = tuple(int(each) for each in range(x.ndim) if random.random() < 0.5)
        options = dict(axis=axis, keepdims=bool(random.integers(2)))
        given = x if library is np else library.asarray(x)
        found, expected = getattr(xp, name)(given, **options), getattr(library, name)(given, **options)
        assert type(found) is (np.ndarray if library is np else type(given))
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.dtype == expected.dtype.newbyteorder("=")
        report = wgmax.compare(found, expected.astype(found.dtype), values=True)
        assert report.equal, f"seed {seed}: {report}"
        tensor = getattr(xp, name)(wgmax.Tensor(x), **options)
        assert isinstance(tensor, wgmax.Tensor)
        assert_same(tensor.numpy(), found)


def test_special_cases():
    nan = np.array([[1.0, np.nan], [3.0, 2.0]])
    assert_same(xp.max(nan, axis=1), np.array([np.nan, 3]))
    assert xp.argmax(nan).tolist() == 1 and xp.argmin(nan, axis=0).tolist() == [0, 0]
    none = np.zeros((0, 3), np.float32)
    assert xp.max(none, axis=0).tolist() == [-np.inf] * 3 and xp.min(none, axis=0).tolist() == [np.inf] * 3
    assert xp.max(np.zeros(0, np.int8)) == -128 and xp.min(np.zeros(0, np.uint8)) == 255
    with pytest.raises(wgmax.ArgumentError, match="no position"):
        xp.argmax(none)
    with pytest.raises(TypeError):
        xp.max(nan, 1)
    with pytest.raises(np.exceptions.AxisError):
        xp.min(nan, axis=2)
    with pytest.raises(TypeError):
        xp.argmax(x=nan)
