"""4 GiB of chunks on two processes, neither of which may have as much."""

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import wgmax
import wgmax.dask

BITS = 30
LEN = 1 << BITS
SIDE = 1 << BITS // 2
FACTOR = 2_654_435_761


def value(at):
    """A permutation of the numbers below 2^30, as u32, by the number of the element."""
    return ((at * np.uint64(FACTOR)) % np.uint64(LEN)).astype(np.uint32)


def elements(block_info=None):
    """The elements of a chunk, from where it lies alone."""
    (rows, columns) = block_info[None]["array-location"]
    rows = np.arange(*rows, dtype=np.uint64)[:, np.newaxis]
    return value(rows * np.uint64(SIDE) + np.arange(*columns, dtype=np.uint64))


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes of 1 GiB each, which are killed beyond that."""
    config = {
        "distributed.worker.memory.terminate": 0.95,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
    }
    options = dict(n_workers=2, threads_per_worker=1, memory_limit="1GiB")
    with dask.config.set(config):
        with LocalCluster(processes=True, dashboard_address=None, **options) as cluster:
            with Client(cluster) as client:
                yield client


@pytest.fixture(scope="module")
def x():
    """32768 x 32768 elements in chunks of 32 MiB."""
    chunks = (SIDE // 8, SIDE // 16)
    made = da.map_blocks(elements, chunks=((chunks[0],) * 8, (chunks[1],) * 16), dtype=np.uint32)
    assert made.nbytes == 4 << 30
    return made


def test_the_largest_of_all(client, x):
    assert wgmax.dask.reduce_max(x).compute() == LEN - 1
    assert wgmax.dask.reduce_min(x).compute() == 0


def test_the_largest_of_rows_and_columns(client, x):
    for axis in [0, 1]:
        found = wgmax.dask.reduce_max(x, axis).compute()
        assert found.shape == (SIDE,)
        for place in [0, 1, 4095, 4096, 20_000, SIDE - 1]:
            own = np.arange(SIDE, dtype=np.uint64)
            place_ = np.uint64(place)
            at = own * np.uint64(SIDE) + place_ if axis == 0 else place_ * np.uint64(SIDE) + own
            assert found[place] == value(at).max()


def test_the_largest_of_segments(client, x):
    """Ids in no order: elements belong to the segment that their values say."""
    count = 1000
    rows = x.rechunk((SIDE // 256, -1)).reshape(-1)
    ids = (rows % count).astype(np.int32)
    found = wgmax.dask.segment_max(rows, ids, count).compute()
    last = LEN - 1
    expected = [last - (last - segment) % count for segment in range(count)]
    assert found.tolist() == expected


def test_the_largest_of_windows(client, x):
    pool = dict(kernel_size=(7, 5), stride=(64, 96), padding=(3, 2))
    found = wgmax.dask.max_pool(x[np.newaxis, np.newaxis], **pool).compute()[0, 0]
    assert found.shape == (SIDE // 64, -(-(SIDE - 1) // 96))
    random = np.random.default_rng(0)
    for row, column in [(0, 0), (64, 128)] + random.integers(0, found.shape, (200, 2)).tolist():
        rows = np.arange(max(row * 64 - 3, 0), min(row * 64 + 4, SIDE), dtype=np.uint64)
        columns = np.arange(max(column * 96 - 2, 0), min(column * 96 + 3, SIDE), dtype=np.uint64)
        window = value(rows[:, np.newaxis] * np.uint64(SIDE) + columns)
        assert found[row, column] == window.max()


def test_workers_hold_little(client, x):
    """What is left on the workers afterwards, and what each process has had, are less than the data."""
    held = client.run(lambda: __import__("resource").getrusage(0).ru_maxrss * 1024)
    assert len(held) == 2
    assert all(each < 1 << 30 for each in held.values()), held
