"""Arrays in and out: strides, memory, other packages' types, threads and processes."""

import multiprocessing
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest
from conftest import NO_GPU, DTYPES, assert_same, random_array

import wgmax


def views(x):
    """Views of an array of rank 3 with strides of every kind."""
    return {
        "transposed": x.T,
        "swapped": x.swapaxes(0, 1),
        "steps": x[::2, 1::2],
        "reversed": x[::-1, :, ::-2],
        "crop": x[1:, 1:, 1:-1],
        "fortran": np.asfortranarray(x),
        "broadcast": np.broadcast_to(x[:, :1], (x.shape[0], 4, x.shape[2])),
        "constant": np.broadcast_to(x[0, 0, 0], (2, 3, 4)),
        "offset": x.reshape(-1)[1:].reshape(1, 1, -1),
        "one": x[1:2, 2:3, 3:4],
        "none": x[:, 3:3],
        "row": x[0, 0][None, None],
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_strides(dtype, device):
    x = random_array(dtype, (4, 6, 7))
    for name, view in views(x).items():
        copy = np.ascontiguousarray(view)
        for axis in range(3):
            found = wgmax.reduce_max(view, axis, device=device)
            assert_same(found, wgmax.reduce_max(copy, axis)), name
        if view.size and dtype.kind != "b":
            pooled = wgmax.max_pool(view, 2, 1, 1, device=device)
            assert_same(pooled, wgmax.max_pool(copy, 2, 1, 1)), name
        ids = np.arange(2 * len(view))[::-2] // 4
        segments = wgmax.segment_max(view, ids, segments="unsorted", device=device)
        ids = np.ascontiguousarray(ids)
        assert_same(segments, wgmax.segment_max(copy, ids, segments="unsorted")), name


def test_unaligned_arrays():
    packed = np.zeros(5, dtype=[("a", "u1"), ("b", "f4"), ("c", "?")])
    packed["b"], packed["c"] = [3, 1, 4, 1, 5], [0, 0, 1, 0, 0]
    assert wgmax.reduce_max(packed["b"]) == 5
    assert wgmax.reduce_max(packed["c"])
    odd = np.frombuffer(b"\0" + np.arange(9, dtype="f8").tobytes(), "f8", offset=1)
    assert not odd.flags.aligned
    assert wgmax.reduce_max(odd) == 8


def test_inputs_are_not_copied_and_results_are_the_callers():
    x = np.ones((1024, 1024), np.float32)
    tensor = wgmax.Tensor(x, copy=False)
    shared = tensor.numpy()
    assert np.shares_memory(shared, x) and not shared.flags.writeable
    assert not np.shares_memory(wgmax.Tensor(x).numpy(), x)
    for size in [8, 256]:
        found = wgmax.max_pool(x[None, None, :size, :size], 2)
        assert found.flags.writeable and found.flags.c_contiguous
        found[...] = 7
        assert (found == 7).all()
        again = wgmax.max_pool(x[None, None, :size, :size], 2)
        assert (again == 1).all() and (found == 7).all()
    for rows in [4, 1024]:
        truth = wgmax.reduce_max(x[:rows] > 2, ())
        truth[0, 0] = True
        assert truth.dtype == bool and truth.sum() == 1
    truth = x > 2
    assert np.shares_memory(wgmax.Tensor(truth, copy=False).numpy(), truth)


def test_results_outlive_everything():
    for _ in range(20):
        found = wgmax.reduce_max(np.full((4, 100_000), 3, np.int16), 0)
        kept = found[::2]
        del found
        wgmax.reduce_max(np.full((4, 100_000), 9, np.int16), 0)
        assert (kept == 3).all()


def test_subclasses_lists_and_dlpack():
    class Own(np.ndarray):
        pass

    x = np.arange(6.0).reshape(2, 3)
    assert wgmax.reduce_max(x.view(Own), 0).tolist() == [3, 4, 5]
    assert wgmax.reduce_max(np.asmatrix(x), 1).tolist() == [2, 5]

    class Other:
        """An array of another package."""

        def __dlpack__(self, **options):
            return x.__dlpack__(**options)

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    assert wgmax.reduce_max(Other(), 0).tolist() == [3, 4, 5]
    tensor = wgmax.Tensor(Other())
    assert_same(np.from_dlpack(tensor), x)
    assert tensor.__dlpack_device__() == (1, 0)
    # Consumers before DLPack version 1 pass no version.
    assert tensor.__dlpack__() is not None


def test_bfloat16(device):
    x = np.array([[1.5, np.nan], [-2, 3]], ml_dtypes.bfloat16)
    found = wgmax.reduce_max(x, 1, nan="ignore", device=device)
    assert found.dtype == ml_dtypes.bfloat16 and found.tolist() == [1.5, 3]


def test_tensors(device):
    on = wgmax.Device(device)
    x = random_array(np.dtype("f4"), (4, 6, 8))
    tensor = wgmax.Tensor(x, on)
    assert tensor.shape == x.shape and tensor.ndim == 3 and tensor.size == x.size
    assert tensor.dtype == x.dtype and len(tensor) == 4 and tensor.device.name == on.name
    assert_same(tensor.numpy(), x)
    assert_same(np.asarray(tensor), x)
    assert np.asarray(tensor, np.float64).dtype == np.float64
    # A chain stays on the device.
    chain = wgmax.reduce_max(wgmax.max_pool(tensor, 2, 1), axis=1)
    assert isinstance(chain, wgmax.Tensor)
    assert_same(chain.numpy(), wgmax.reduce_max(wgmax.max_pool(x, 2, 1), axis=1))
    values, indices = wgmax.max_pool(tensor, 2, return_indices=True)
    expected = wgmax.max_pool(x, 2, return_indices=True)
    assert_same(values.numpy(), expected[0])
    assert_same(indices.numpy(), expected[1])
    # Arrays beside tensors go there too, and are checked.
    segments = wgmax.segment_max(tensor, [0, 0, 1, 3])
    assert_same(segments.numpy(), wgmax.segment_max(x, [0, 0, 1, 3]))
    with pytest.raises(ValueError, match="must ascend"):
        wgmax.segment_max(tensor, [1, 0, 0, 0])
    on_device = wgmax.Tensor(np.array([0, 0, 1, 3]), on)
    assert_same(wgmax.segment_max(tensor, on_device, 4).numpy(), segments.numpy())
    assert_same(wgmax.onnx.ReduceMax(tensor, [1], keepdims=0).numpy(), wgmax.reduce_max(x, 1))
    with pytest.raises(ValueError, match="num_segments is needed"):
        wgmax.segment_max(tensor, on_device)
    with pytest.raises(ValueError, match="device is for arrays"):
        wgmax.reduce_max(tensor, device="cpu")
    assert wgmax.compare(tensor, x)


def test_tensors_of_two_devices():
    other = wgmax.Tensor(np.ones((1, 1, 2), np.float32), "cpu")
    for name in ["gpu"]:
        mine = wgmax.Tensor(np.ones((1, 1, 2), np.float32), name)
        with pytest.raises(ValueError, match="not on"):
            wgmax.max_pool_backward(mine, other, 1)


test_tensors_of_two_devices = pytest.mark.skipif(
    __import__("conftest").NO_GPU, reason="WGMAX_NO_GPU=1"
)(test_tensors_of_two_devices)


def test_views_of_tensors(device):
    x = random_array(np.dtype("i8"), (4, 6, 8))
    tensor = wgmax.Tensor(x, device)
    for index in [
        (slice(None, None, -1),), (slice(1, 3), slice(None, None, 2)), (2,), (-1, Ellipsis, 3),
        (Ellipsis, slice(5, 2, -1)), (slice(3, 3),), (0, 0, 0), (), (Ellipsis, slice(-100, 100, 3)),
    ]:  # fmt: skip
        assert_same(tensor[index].numpy(), x[index])
        found = wgmax.reduce_max(tensor[index])
        assert_same(found.numpy(), wgmax.reduce_max(np.ascontiguousarray(x[index])))
    assert_same(tensor.T.numpy(), x.T)
    assert_same(tensor.transpose(2, 0, 1).numpy(), x.transpose(2, 0, 1))
    assert_same(tensor.transpose((0, -1, 1)).numpy(), x.transpose(0, 2, 1))
    assert_same(tensor.reshape(4, -1).numpy(), x.reshape(4, -1))
    assert_same(tensor.reshape((192,)).numpy(), x.reshape(192))
    for wrong, kind in [
        (lambda: tensor[4], IndexError),
        (lambda: tensor[0, 0, 0, 0], IndexError),
        (lambda: tensor[..., ...], IndexError),
        (lambda: tensor["x"], TypeError),
        (lambda: tensor[[0, 1]], TypeError),
        (lambda: tensor[2**70], TypeError),
        (lambda: tensor.reshape(5), ValueError),
        (lambda: tensor.reshape(-1, -1), ValueError),
        (lambda: tensor.T.reshape(192), ValueError),
        (lambda: tensor.transpose(0, 0, 1), ValueError),
        (lambda: tensor.transpose(7, 0, 1), ValueError),
        (lambda: tensor.transpose("x"), ValueError),
        (lambda: len(tensor[0, 0, 0]), TypeError),
    ]:
        with pytest.raises(kind):
            wrong()


def test_devices():
    names = [info.backend for info in wgmax.devices()]
    assert names[-1] == "cpu"
    device = wgmax.Device()
    assert device.backend in names and repr(device).startswith("<wgmax.Device")
    assert wgmax.Device("cpu").kind == "host"


def test_other_threads_run_meanwhile():
    """During one call a thread of Python counts, which it could not if the call kept the lock."""
    x = np.zeros((1, 64, 1024, 1024), np.uint8)
    counted, ended = [0], threading.Event()

    def count():
        while not ended.wait(1e-5):
            counted[0] += 1

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    # A thread releases the lock only when it waits: it is never taken away.
    sys.setswitchinterval(1000)
    try:
        thread.start()
        while not counted[0]:
            time.sleep(1e-5)
        before = counted[0]
        wgmax.max_pool(x, 5, 1, 2)
        found = counted[0] - before
    finally:
        sys.setswitchinterval(interval)
        ended.set()
        thread.join()
    assert found > 0


def test_threads_at_once(device):
    inputs = [random_array(np.dtype("f4"), (100, 333), seed) for seed in range(8)]
    expected = [wgmax.reduce_max(x, 0) for x in inputs]
    found = [None] * 8

    def work(at):
        for _ in range(5):
            found[at] = wgmax.reduce_max(inputs[at], 0, device=device)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for a, b in zip(found, expected):
        assert_same(a, b)


def in_fork(queue, again):
    x = np.arange(4_000_000, dtype=np.float32).reshape(4, -1)
    queue.put(float(wgmax.reduce_max(x, 1).sum()))
    if again:
        child = multiprocessing.get_context("fork").Process(target=in_fork, args=(queue, False))
        child.start()
        child.join()


def gpu_in_fork(queue):
    queue.put(float(wgmax.reduce_max(np.arange(9, dtype=np.float32), device="gpu")))


@pytest.mark.skipif(NO_GPU, reason="WGMAX_NO_GPU is 1")
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_opens_a_gpu_of_its_own():
    wgmax.reduce_max(np.arange(9, dtype=np.float32), device="gpu")
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=gpu_in_fork, args=(queue,))
    child.start()
    child.join(60)
    if child.is_alive():
        child.kill()
        pytest.fail("the fork waits for the device of its parent")
    assert child.exitcode == 0 and queue.get() == 8


def test_views_copy_their_elements_alone():
    """A column of a matrix, wherever its first byte is."""
    big = np.arange(40_000_000, dtype=np.float32).reshape(4000, 10_000)
    resource = pytest.importorskip("resource")
    for column in [0, 1]:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert wgmax.reduce_max(big[:, column : column + 1]) == big[-1, column]
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 40_000, f"{grown} KiB for 4000 elements"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes():
    """A fork does not have the threads of its parent, nor does a fork of the fork."""
    x = np.arange(4_000_000, dtype=np.float32).reshape(4, -1)
    expected = float(wgmax.reduce_max(x, 1).sum())
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=in_fork, args=(queue, True))
    child.start()
    child.join(60)
    if child.is_alive():
        child.kill()
        pytest.fail("the fork waits for threads that it does not have")
    assert child.exitcode == 0
    assert [queue.get(), queue.get()] == [expected, expected]


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (), (64, 64)], ids=str)
def test_a_tensor_that_must_not_be_copied(shape):
    tensor = wgmax.Tensor(np.ones(shape))
    for share in [lambda x: np.asarray(x, copy=False), lambda x: np.from_dlpack(x, copy=False)]:
        found = share(tensor)
        assert_same(found, np.ones(shape))
        assert not found.size or np.shares_memory(found, share(tensor))
        assert not (found.size and found.flags.writeable)
    whole = wgmax.Tensor(np.ones((64, 64)))
    tensors = [whole[:, ::2], whole[:2], whole[1:], whole[0], wgmax.Tensor(np.ones((4, 6)))[:, ::2]]
    for tensor in tensors + ([] if NO_GPU else [wgmax.Tensor(np.ones((4, 6)), "gpu")]):
        with pytest.raises(ValueError, match="is copied to make an array"):
            np.asarray(tensor, copy=False)
        with pytest.raises(BufferError, match="is copied to make an array"):
            np.from_dlpack(tensor, copy=False)
    with pytest.raises(BufferError, match="read-only"):
        wgmax.Tensor(np.ones(3)).__dlpack__(copy=False)
    # A consumer's arguments are followed, also if it knows no version 1.
    for options in [{"dl_device": (2, 0)}, {"dl_device": (2, 0), "max_version": (1, 0)}]:
        with pytest.raises(BufferError):
            wgmax.Tensor(np.ones(3)).__dlpack__(**options)
    with pytest.raises(TypeError):
        wgmax.Tensor(np.ones(3)).__dlpack__(bogus=1)
    with pytest.raises(Exception, match="stream"):
        wgmax.Tensor(np.ones(3)).__dlpack__(stream=1)
    for options in [{"copy": True}, {"dl_device": (1, 0)}, {"stream": None, "max_version": None}]:
        assert wgmax.Tensor(np.ones(3)).__dlpack__(**options) is not None


def test_attributes_of_array_likes():
    """A table has columns as attributes, whatever their names."""

    class Table:
        is_neg = [1, 2]

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2], [3, 4]])

    assert wgmax.reduce_max(Table()) == 4
