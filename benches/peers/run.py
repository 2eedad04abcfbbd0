"""Runs the work items through wgmax and its peers, item by item, and prints one table.
scripts/bench-peers says what it takes, and calls it."""

import argparse
import gc
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

import cpu
import items


def say(*words):
    print(*words, file=sys.stderr, flush=True)


class Figure:
    """The result of one program for one item."""

    def __init__(self, who, times=(), right=True, why=None, fraction=None):
        self.who, self.right, self.why, self.fraction = who, right, why, fraction
        # wgmax's time over this one's, measured one after the other.
        self.ratio = None
        self.min = min(times) if times else None
        self.median = statistics.median(times) if times else None

    def row(self, item, device):
        return {
            "item": item["name"], "device": device, "who": self.who, "min_s": self.min,
            "median_s": self.median, "right": self.right, "why": self.why, "fraction": self.fraction,
            "ratio": self.ratio,
        }


def short(error):
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160]


def wgmax(command, item, device, seconds, answer):
    """wgmax's figure, and how many copies of the inputs it took in turn."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    environment["RAYON_NUM_THREADS"] = str(cpu.THREADS)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "bench.json"
        subprocess.run(
            [command, "bench", "--device", device, "--filter", f"^{item['name']}$",
             "--seconds", str(seconds), "--json", file],
            check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        row = json.loads(file.read_text())["rows"][0]
    if "error" in row:
        return Figure("wgmax", why=row["error"]), 1
    right = row["results_crc32"][0] == zlib.crc32(np.ascontiguousarray(answer.value).tobytes())
    # Peers on a GPU are timed by the wall, so wgmax is too.
    least, median = ("min_s", "median_s") if device == "cpu" else ("wall_s", "wall_median_s")
    figure = Figure("wgmax", right=right, fraction=row["fraction"])
    figure.min, figure.median = row[least], row[median]
    return figure, row["copies"]


def cpu_peer(who, make, item, copies, seconds, answer):
    try:
        run, get = make(item, copies)
        run(0)
        right = answer.agrees(get())
        times, start = [], time.perf_counter()
        count = 0
        while True:
            begun = time.perf_counter()
            run(count % len(copies))
            ended = time.perf_counter()
            count += 1
            if count > 1:
                times.append(ended - begun)
            spent = ended - start
            if (len(times) >= 9 and spent > seconds) or (len(times) >= 3 and spent > 10 * seconds):
                return Figure(who, times, right)
    except cpu.Unsupported as error:
        return Figure(who, why=short(error))
    except Exception as error:  # whatever a peer throws is its answer
        return Figure(who, why=f"{type(error).__name__}: {short(error)}")


def beside(command, makes, item, data, seconds, answer):
    """The figures of wgmax and of peers on the CPU. wgmax is measured again after each peer: memory may be
    twice as fast a minute later, so a peer's time is compared with the two around it."""
    ours, count = wgmax(command, item, "cpu", seconds, answer)
    copies = [data] + [[array.copy() for array in data] for _ in range(count - 1)]
    best, is_right, found = ours, ours.right, []
    for who, make in makes.items():
        figure = cpu_peer(who, make, item, copies, seconds, answer)
        gc.collect()
        found.append(figure)
        if figure.min and ours.min:
            again, _ = wgmax(command, item, "cpu", seconds, answer)
            is_right &= again.right
            if not again.min:
                continue
            figure.ratio = min(ours.min, again.min) / figure.min
            best = min(best, again, key=lambda each: each.min)
            ours = again
    best.right = is_right
    return best, found


def gpu_peer(who, program, item, data, copies, seconds, answer):
    """A program in a process of its own: a crash or a hang stays with the item."""
    with tempfile.TemporaryDirectory() as folder:
        for i, array in enumerate(data):
            array.tofile(pathlib.Path(folder) / f"input{i}")
        try:
            done = subprocess.run(
                [program, "--item", json.dumps(item), "--folder", folder,
                 "--copies", str(copies), "--seconds", str(seconds)],
                capture_output=True, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            return Figure(who, why="took more than 240 s")
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            return Figure(who, why=short("\n".join(lines[:1]) or f"status {done.returncode}"))
        times = json.loads(done.stdout.splitlines()[-1])["times"]
        found = np.fromfile(pathlib.Path(folder) / "answer", dtype=data[0].dtype)
        return Figure(who, times, answer.agrees(found))


def line(item, device, ours, peers):
    """A line of the table: wgmax beside the peer that answers right and for which the ratio is largest."""
    rate = lambda figure: f"{items.size(item) / figure.min * 1e-9:.2f}"
    right = [peer for peer in peers if peer.min and peer.right]
    for peer in right:
        peer.ratio = peer.ratio or (ours.min / peer.min if ours.min else 0)
    best = max(right, key=lambda peer: (peer.ratio, -peer.min), default=None)
    wrong = ", ".join(peer.who.split()[0] for peer in peers if peer.min and not peer.right)
    return [
        item["name"], device,
        rate(ours) + ("" if ours.right else " WRONG") if ours.min else f"({ours.why[:24]})",
        f"{ours.fraction:.2f}" if ours.fraction else "",
        rate(best) if best else "", best.who if best else "none right",
        f"{best.ratio:.2f}" if best and ours.min else "", wrong,
    ]


def table(lines):
    header = ["item", "on", "wgmax GB/s", "of ceiling", "peer GB/s", "fastest right peer",
              "time ratio", "wrong"]
    lines = [header] + lines
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--wgmax", required=True)
    options.add_argument("--lab", required=True)
    options.add_argument("--burn")
    options.add_argument("--wonnx")
    options.add_argument("--gpu", help="the device of wgmax beside burn and wonnx")
    options.add_argument("--no-cpu", action="store_true")
    options.add_argument("--filter", default="")
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--json")
    given = options.parse_args()

    peers = {}
    for name, load in ({} if given.no_cpu else cpu.ALL).items():
        try:
            peers.update(load())
        except ImportError as error:
            say(f"{name} is not there: {short(error)}")
    programs = {name: path for name, path in (("burn", given.burn), ("wonnx", given.wonnx)) if path}

    lines, rows = [], []
    for item in items.load():
        if not re.search(given.filter, item["name"]):
            continue
        data = items.inputs(given.lab, item)
        answer = items.Answer(item, data)
        if not given.no_cpu:
            ours, found = beside(given.wgmax, peers, item, data, given.seconds, answer)
            lines.append(line(item, "cpu", ours, found))
            rows += [figure.row(item, "cpu") for figure in [ours, *found]]
            say(*lines[-1])
        # No program on the GPU has gradients, scatters or adaptive poolings.
        others = {"elements", "output_sizes"} & item["attrs"].keys()
        if given.gpu and not item.get("gradient") and not others:
            ours, count = wgmax(given.wgmax, item, given.gpu, given.seconds, answer)
            found = [gpu_peer(who, program, item, data, count, given.seconds, answer)
                     for who, program in programs.items()]
            lines.append(line(item, "gpu", ours, found))
            rows += [figure.row(item, "gpu") for figure in [ours, *found]]
            say(*lines[-1])
        gc.collect()
    print(table(lines))
    print("\nGB/s: the fewest bytes to read and write, over the shortest time; of ceiling: beside the "
          "fastest\nof a few plain passes; time ratio: wgmax's shortest time, just before or after, over that "
          "of the peer\nthat answers right and for which this is largest.")
    if given.json:
        pathlib.Path(given.json).write_text("".join(json.dumps(row) + "\n" for row in rows))


main()
