"""What tests share: the devices that they run on, and arrays of every type."""

import os

import ml_dtypes
import numpy as np
import pytest

import wgmax

DTYPES = [
    np.dtype(each)
    for each in "f4 f8 f2 i1 u1 i2 u2 i4 u4 i8 u8 ?".split()
] + [np.dtype(ml_dtypes.bfloat16)]

NO_GPU = os.environ.get("WGMAX_NO_GPU") == "1"


@pytest.fixture(params=["cpu"] + ([] if NO_GPU else ["gpu"]))
def device(request):
    """The name of a device. Without a GPU adapter the tests fail, unless WGMAX_NO_GPU is 1."""
    return request.param


def is_float(dtype):
    """Whether a dtype has NaN."""
    return dtype.kind in "fV"


def random_array(dtype, shape, seed=0, special=True):
    """An array with ties, and of floats with NaN, infinities, subnormals and zeros of both signs."""
    if not dtype.isnative:
        return random_array(dtype.newbyteorder("="), shape, seed, special).astype(dtype)
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return np.asarray(random.random(shape) < 0.2)
    if not is_float(dtype):
        low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max)
        wide = random.integers(low, high, shape, dtype, endpoint=True)
        return np.where(random.random(shape) < 0.5, wide, (wide % 5).astype(dtype))
    found = np.asarray(random.integers(-4, 4, shape)).astype(dtype)
    if special:
        finfo = ml_dtypes.finfo(dtype)
        for value in [np.inf, -np.inf, -0.0, finfo.smallest_subnormal, finfo.min, np.nan]:
            found[random.random(shape) < 0.02] = value
    return found


def assert_same(found, expected):
    """Types, shapes and bits are the same."""
    found, expected = np.asarray(found), np.asarray(expected)
    report = wgmax.compare(found, expected)
    assert report.equal, str(report)
