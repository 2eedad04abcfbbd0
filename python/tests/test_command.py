"""The command in the package: ``python -m wgmax`` and the script ``wgmax``."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import wgmax

MODULE = [sys.executable, "-m", "wgmax"]
SCRIPT = [str(pathlib.Path(sys.executable).with_name("wgmax"))]


def run(command, *arguments, **options):
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("command", [MODULE, SCRIPT], ids=["module", "script"])
def test_files(command, tmp_path):
    x = np.random.default_rng(1).standard_normal((30, 40), dtype=np.float32)
    np.save(tmp_path / "x y.npy", x)
    done = run(command, "reduce-max", "x y.npy", "--axes", "0", "--device", "cpu", "-o", "z.npy", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert np.array_equal(np.load(tmp_path / "z.npy"), x.max(axis=0))


def test_statuses(tmp_path):
    assert run(MODULE, "--version").stdout == f"wgmax {wgmax.__version__}\n"
    wrong = run(MODULE, "reduce-max", "--axes")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("wgmax: ") and wrong.stderr.endswith("try wgmax reduce-max --help\n")
    for name, value in [("x", 1.0), ("y", -1.0)]:
        np.save(tmp_path / f"{name}.npy", np.float32([value]))
    assert run(MODULE, "compare", "x.npy", "y.npy", cwd=tmp_path).returncode == 1


def test_closed_pipe():
    with subprocess.Popen([*MODULE, "shader", "reduce_rows", "f32"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_interrupt():
    command = [*MODULE, "verify", "--device", "cpu", "--cases", "100000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # Until the first lines of its progress.
        begun = process.stderr.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        seen, rest = process.communicate(timeout=60)
    assert process.returncode == 130, (begun, seen, rest)
    assert "Traceback" not in rest
