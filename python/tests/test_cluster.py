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
    """The elements at these positions: a permutation of the numbers below 2^30."""
    return (at.astype(np.uint32) * np.uint32(FACTOR)) & np.uint32(LEN - 1)


def elements(block_info=None):
    """The elements of a chunk, computed from its location only."""
    (*rows, columns) = block_info[None]["array-location"]
    if not rows:
        return value(np.arange(*columns, dtype=np.uint32))
    (rows,) = rows
    rows = np.arange(*rows, dtype=np.uint32)[:, np.newaxis]
    return value(rows * np.uint32(SIDE) + np.arange(*columns, dtype=np.uint32))


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


def test_the_largest_of_all_and_of_rows_and_columns(client, x):
    both = [wgmax.dask.reduce_max(x), wgmax.dask.reduce_min(x)]
    axes = [wgmax.dask.reduce_max(x, axis) for axis in [0, 1]]
    largest, smallest, columns, rows = dask.compute(*both, *axes)
    assert (largest, smallest) == (LEN - 1, 0)
    own = np.arange(SIDE)
    for place in [0, 1, 4095, 4096, 20_000, SIDE - 1]:
        assert columns[place] == value(own * SIDE + place).max()
        assert rows[place] == value(place * SIDE + own).max()
    assert rows.shape == columns.shape == (SIDE,)


def test_the_largest_of_segments(client):
    """Unordered ids: an element's segment is its value modulo the number of segments."""
    count = 1000
    rows = da.map_blocks(elements, chunks=((LEN // 128,) * 128,), dtype=np.uint32)
    ids = (rows % np.uint32(count)).astype(np.int32)
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
        rows = np.arange(max(row * 64 - 3, 0), min(row * 64 + 4, SIDE))
        columns = np.arange(max(column * 96 - 2, 0), min(column * 96 + 3, SIDE))
        window = value(rows[:, np.newaxis] * SIDE + columns)
        assert found[row, column] == window.max()


def test_workers_hold_little(client, x):
    """The peak memory of each process is less than the data."""
    held = client.run(lambda: __import__("resource").getrusage(0).ru_maxrss * 1024)
    assert len(held) == 2
    assert all(each < 1 << 30 for each in held.values()), held
