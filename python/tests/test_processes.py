"""Forks and signals: a GPU of another process is an error at once, and calls that wait can be stopped."""

import _thread
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import NO_GPU

import wgmax

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
gpus = pytest.mark.skipif(NO_GPU, reason="WGMAX_NO_GPU is 1")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

X = np.arange(4096, dtype=np.float32).reshape(64, 64)
# Far more seconds than any of these tests takes: only a deadlock exceeds it.
PATIENCE = 60


def in_child(work):
    """Forks, and calls `work` in the child. Returns the result of `work`, and how the child ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = str(work())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    ended = threading.Timer(PATIENCE, lambda: os.kill(child, signal.SIGKILL))
    ended.start()
    with os.fdopen(reading) as lines:
        text = lines.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended.cancel()
    return text, status


def refused(work):
    """What a call raises, and the code of it."""
    try:
        work()
    except wgmax.DeviceError as error:
        return error.code
    return "nothing"


@forks
@gpus
def test_a_gpu_of_the_parent_is_refused():
    device = wgmax.Device("gpu")
    tensor = wgmax.Tensor(X, device)
    ids = wgmax.Tensor(np.zeros(64, int), device)
    results = wgmax.reduce_max(tensor, 0)
    held = [wgmax.Tensor(X, device), results[1:]]

    def work():
        calls = [
            lambda: wgmax.reduce_max(X, device=device),
            lambda: wgmax.reduce_max(tensor),
            lambda: wgmax.segment_max(tensor, ids, 1),
            lambda: wgmax.segment_max(X, ids, 1),
            lambda: wgmax.reduce_max_backward(tensor, X[0], 0),
            lambda: wgmax.onnx.ReduceMax(tensor, [0]),
            lambda: wgmax.onnx.ReduceMax(X, [0], device=device),
            lambda: wgmax.compare(X, tensor),
            lambda: wgmax.verify(device, cases=1),
            lambda: wgmax.Tensor(X, device),
            lambda: wgmax.Tensor(tensor),
            lambda: tensor.numpy(),
            lambda: results.numpy(),
            lambda: np.asarray(tensor),
            lambda: tensor.__array__(copy=False),
            lambda: np.from_dlpack(tensor),
            lambda: tensor.__dlpack__(),
            lambda: tensor[0],
            lambda: tensor.T,
            lambda: tensor.reshape(-1),
            lambda: tensor.device,
        ]
        assert {refused(call) for call in calls} == {"Forked"}
        # Descriptions do not need the GPU.
        assert "64" in repr(tensor) and device.name in repr(device) and tensor.shape == X.shape
        assert tensor.dtype == X.dtype and tensor.__dlpack_device__() == (1, 0)
        # The CPU works, and so does a GPU that this process opens. Its tensors can be freed.
        assert wgmax.reduce_max(X) == 4095 and wgmax.reduce_max(wgmax.Tensor(X)).numpy() == 4095
        own = wgmax.Tensor(X, "gpu")
        assert wgmax.reduce_max(own).numpy() == 4095
        # Objects are collected; those of the parent's GPU are not freed.
        del own
        held.clear()
        gc.collect()
        return "done"

    assert in_child(work) == ("done", 0)
    # The parent's tensors still work.
    assert held[1].numpy()[0] == 4033 and results.numpy()[0] == 4032
    assert wgmax.reduce_max(tensor).numpy() == 4095


def with_parents_tensor(queue, tensor):
    queue.put((refused(tensor.numpy), float(wgmax.reduce_max(X)), float(wgmax.reduce_max(X, device="gpu"))))


@forks
@gpus
def test_multiprocessing():
    tensor = wgmax.Tensor(X, "gpu")
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=with_parents_tensor, args=(queue, tensor))
    child.start()
    child.join(PATIENCE)
    if child.is_alive():
        child.kill()
        pytest.fail("the fork waits for the GPU of its parent")
    assert child.exitcode == 0 and queue.get() == ("Forked", 4095, 4095)


class Stopped(Exception):
    """What the handler of a signal raises."""


def stop(*_):
    raise Stopped


@gpus
@pytest.mark.skipif(sys.platform == "win32", reason="signals come otherwise there")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_wait_for_a_gpu(kind):
    """128 GiB of one row again and again, which would take minutes; the signal comes in the first second.
    (Of a reduced axis of equal elements one would be read.)"""
    device = wgmax.Device("gpu")
    row = np.arange(1 << 20, dtype=np.float32)
    much = np.broadcast_to(row, (1 << 15, 1 << 20))
    raised = KeyboardInterrupt if kind == signal.SIGINT else Stopped
    before = signal.signal(kind, signal.default_int_handler if kind == signal.SIGINT else stop)
    main = threading.get_ident()
    timer = threading.Timer(1, lambda: signal.pthread_kill(main, kind))
    began = time.monotonic()
    try:
        with pytest.raises(raised):
            timer.start()
            wgmax.reduce_max(much, 1, device=device)
    finally:
        timer.join()
        signal.signal(kind, before)
    assert time.monotonic() - began < PATIENCE
    # The device still works.
    assert wgmax.reduce_max(row, device=device) == row[-1]
    assert (wgmax.reduce_max(wgmax.Tensor(X, device), 0).numpy() == X[-1]).all()


@gpus
def test_handlers_that_return_do_not_end_a_call():
    """Other signals are handled while a call waits, which then goes on."""
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(threading.get_ident()))
    much = np.broadcast_to(np.arange(1 << 20, dtype=np.float32), (1 << 8, 1 << 20))
    timer = threading.Timer(0.2, _thread.interrupt_main)
    try:
        timer.start()
        found = wgmax.reduce_max(much, 1, device="gpu")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert (found == (1 << 20) - 1).all() and came == [threading.get_ident()]
