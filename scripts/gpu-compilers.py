"""What scripts/gpu-compilers does once the drivers have compiled: reads what they printed."""

import argparse
import collections
import itertools
import json
import pathlib
import re
import subprocess
import sys
import typing

# Figures as drivers print them: one a line, or several with their names after them.
LINES = re.compile(r"^(?P<name>[\w/ ]+): (?P<value>\d+)$")
LISTS = re.compile(r"(?P<value>\d+) (?P<name>\w+)")


class Driver(typing.NamedTuple):
    # The text in the line before the figures of a shader.
    start: str
    figure: re.Pattern
    # The driver's names of figures, and ours.
    stats: dict
    # The figures that must be 0.
    spills: list
    # The columns of the table.
    columns: dict


AMD = Driver(
    "*** SHADER STATS ***",
    LINES,
    {
        "VGPRs": "vgprs",
        "SGPRs": "sgprs",
        "Spilled VGPRs": "spilled_vgprs",
        "Spilled SGPRs": "spilled_sgprs",
        "Scratch size": "scratch_bytes",
        "LDS size": "lds_bytes",
        "Subgroups per SIMD": "waves",
        "Instructions": "instructions",
        "Code size": "code_bytes",
        "Latency": "latency",
        "Inverse Throughput": "inverse_throughput",
    },
    ["spilled_vgprs", "spilled_sgprs", "scratch_bytes"],
    {
        "vgprs": "VGPRs",
        "sgprs": "SGPRs",
        "waves": "waves",
        "lds_bytes": "LDS",
        "instructions": "instr",
        "code_bytes": "code",
        "latency": "latency",
        "inverse_throughput": "inverse",
    },
)
ADRENO = Driver(
    " instr, ",
    LISTS,
    {
        "full": "registers",
        "max_waves": "waves",
        "double_threadsize": "double_threadsize",
        "instr": "instructions",
    },
    ["private_accesses"],
    {"registers": "full", "waves": "waves", "double_threadsize": "double", "instructions": "instr"},
)
M1 = Driver(
    "CS shader: ",
    LISTS,
    {"gprs": "registers", "threads": "waves", "instrs": "instructions", "scratch": "scratch_bytes"},
    ["scratch_bytes"],
    {"registers": "gprs", "waves": "threads", "instructions": "instrs"},
)
NVIDIA = Driver(
    "Stage: compute",
    LINES,
    {
        "Num GPRs": "registers",
        "Max warps/SM": "waves",
        "Instruction count": "instructions",
        "Spills to mem": "spills",
        "Fills from mem": "fills",
        # It includes arrays.
        "SLM size": "local_bytes",
    },
    ["spills", "fills"],
    {"registers": "GPRs", "waves": "warps", "instructions": "instr", "local_bytes": "local"},
)

# The columns of each loop.
LOOP = {
    "loads": "loads",
    "in_flight": "flight",
    "round_trips": "trips",
    "descriptor_loads": "desc",
    "uniform_loads": "unif",
    "scalar_waits": "waits",
    "valu": "VALU",
}
WIDTHS_OF = ["loads", "in_flight"]

NAMED = re.compile(r"pipeline (\d+) of \d+: (.*)")
WIDTHS = {"dword": 4, "b32": 4, "dwordx2": 8, "b64": 8, "dwordx3": 12, "b96": 12, "dwordx4": 16, "b128": 16}
VECTOR_LOAD = re.compile(r"(?:buffer|global|flat)_load_(\w+)")
VECTOR_STORE = re.compile(r"(?:buffer|global|flat)_(?:store|atomic)_")
BRANCH = re.compile(r"(s_cbranch\w*|s_branch)\s+(BB\d+)")
# The counter of vector loads, as GPUs before gfx12 and gfx12 write it.
VECTOR_WAIT = re.compile(r"vmcnt\((\d+)\)|s_wait_loadcnt(?:_dscnt)? (?:0x)?(\w+)|s_waitcnt_vmcnt \w+, (?:0x)?(\w+)")
PRIVATE = re.compile(r"\b(?:stp|ldp)\.")
SCALAR_WAIT = re.compile(r"lgkmcnt\(|s_wait_kmcnt|s_waitcnt_lgkmcnt")


def sections(log):
    """What was printed for each pipeline, by its number from 1; number 0 has what came before the first."""
    found = {0: ("", [])}
    number = 0
    for line in log.splitlines():
        if named := NAMED.fullmatch(line):
            number = int(named[1])
            found[number] = (named[2], [])
        found[number][1].append(line)
    return found


def driver_of(gpu):
    return M1 if gpu == "m1" else ADRENO if gpu.startswith("adreno") else NVIDIA if gpu.startswith("nv") else AMD


def statistics(lines, driver):
    """The figures of each shader that was compiled."""
    shaders = []
    for line in lines:
        if driver.start in line:
            shaders.append({})
        for figure in driver.figure.finditer(line):
            if shaders and figure["name"] in driver.stats:
                shaders[-1][driver.stats[figure["name"]]] = int(figure["value"])
    if driver is ADRENO and shaders:
        # Turnip has no figure of spills: the accesses to an invocation's own memory are counted.
        shaders[-1]["private_accesses"] = sum(bool(PRIVATE.search(line)) for line in lines)
    return shaders


def blocks(lines):
    """The basic blocks: instructions, and the numbers of the blocks that may follow."""
    code, labels, starts = [], {}, {0}
    for line in lines:
        if label := re.fullmatch(r"(BB\d+):", line):
            labels[label[1]] = len(code)
            starts.add(len(code))
        elif line.startswith("\t"):
            code.append(line.split(";")[0].strip())
            if BRANCH.match(code[-1]) or code[-1] == "s_endpgm":
                starts.add(len(code))
    starts = sorted(start for start in starts if start < len(code))
    number = {start: i for i, start in enumerate(starts)}
    result = []
    for start, end in zip(starts, starts[1:] + [len(code)]):
        last = code[end - 1]
        branch = BRANCH.match(last)
        follow = [number[labels[branch[2]]]] if branch and labels[branch[2]] < len(code) else []
        if last != "s_endpgm" and not (branch and branch[1] == "s_branch") and end in number:
            follow.append(number[end])
        result.append((code[start:end], follow))
    return result


def loops(graph):
    """The loops by their first blocks: all blocks of each."""
    before = {0: []}
    stack = [0]
    while stack:
        i = stack.pop()
        for j in graph[i][1]:
            if j not in before:
                before[j] = []
                stack.append(j)
            before[j].append(i)
    every = set(before)
    dominators = {i: every for i in every} | {0: {0}}
    changed = True
    while changed:
        changed = False
        for i in sorted(every - {0}):
            new = set.intersection(*(dominators[j] for j in before[i])) | {i}
            changed |= new != dominators[i]
            dominators[i] = new
    found = {}
    for i in every:
        for head in graph[i][1]:
            if head in dominators[i]:
                body = found.setdefault(head, {head})
                stack = [i]
                while stack:
                    block = stack.pop()
                    if block not in body:
                        body.add(block)
                        stack += before[block]
    return found


def width(name):
    return WIDTHS.get(name) or (1 if "8" in name or "byte" in name else 2)


class Path:
    """What happens along a path through a loop."""

    def __init__(self, flight=(), scalars=False):
        # Vector loads that are not waited for, by their bytes; stores among them are 0.
        self.flight = flight
        # Whether a scalar load is not waited for.
        self.scalars = scalars
        self.loads = ()
        self.trips = self.descriptors = self.uniforms = self.waits = self.valu = self.instructions = 0
        self.most = ()

    def then(self, code, own, stores_count):
        path = Path(self.flight, self.scalars)
        path.__dict__.update(self.__dict__)
        for text in code:
            path.step(text, own, stores_count)
        return path

    def step(self, text, own, stores_count):
        if load := VECTOR_LOAD.match(text):
            if own:
                self.trips += not any(self.flight)
                self.loads += (width(load[1]),)
            self.flight = (self.flight + (width(load[1]),))[-64:]
            if own and sum(self.flight) > sum(self.most):
                self.most = in_flight(self.flight)
        elif VECTOR_STORE.match(text) and stores_count:
            self.flight = (self.flight + (0,))[-64:]
        elif wait := VECTOR_WAIT.search(text):
            left = int(next(filter(None, wait.groups())), 16 if "0x" in text else 10)
            self.flight = self.flight[len(self.flight) - min(left, len(self.flight)) :]
        if text.startswith(("s_load_", "s_buffer_load_")):
            self.scalars = True
            if own:
                self.descriptors += text.startswith("s_load_")
                self.uniforms += text.startswith("s_buffer_load_")
        elif SCALAR_WAIT.search(text) and self.scalars:
            self.scalars = False
            self.waits += own
        if own:
            self.valu += text.startswith("v_")
            self.instructions += 1

    def key(self):
        return len(self.loads), sum(self.loads), self.trips, self.instructions


def in_flight(flight):
    return tuple(bytes for bytes in flight if bytes)


def longest(graph, head, body, own, stores_count, start):
    """The path with the most loads from a loop's first block back to it, and the most that were in
    flight on any path."""
    order, seen = [], set()

    def visit(block):
        seen.add(block)
        for next_block in graph[block][1]:
            if next_block in body and next_block not in seen:
                visit(next_block)
        order.append(block)

    visit(head)
    order.reverse()
    place = {block: i for i, block in enumerate(order)}
    at = {block: {} for block in order}
    at[head][start.flight] = start
    ends, most = [], ()
    for block in order:
        for path in sorted(at[block].values(), key=Path.key)[-64:]:
            path = path.then(graph[block][0], block in own, stores_count)
            most = max(most, path.most, key=sum)
            for next_block in graph[block][1]:
                if next_block == head:
                    ends.append(path)
                elif next_block in body and place[next_block] > place[block]:
                    known = at[next_block].get(path.flight)
                    if known is None or known.key() < path.key():
                        at[next_block][path.flight] = path
    return max(ends, key=Path.key, default=None), most


def inner_loops(graph, stores_count):
    """The loops that load by themselves, those with the most bytes per iteration first."""
    found = loops(graph)
    result = []
    for head, body in found.items():
        nested = [other for h, other in found.items() if h != head and other < body]
        own = body - set().union(*nested)
        path, _ = longest(graph, head, body, own, stores_count, Path())
        if path is None or not path.loads:
            continue
        # A second pass, with the loads that the first iteration left in flight.
        start = Path(path.flight, path.scalars)
        path, most = longest(graph, head, body, own, stores_count, start)
        result.append(
            {
                "loads": list(path.loads),
                "in_flight": list(most),
                "round_trips": path.trips,
                "descriptor_loads": path.descriptors,
                "uniform_loads": path.uniforms,
                "scalar_waits": path.waits,
                "valu": path.valu,
                "instructions": path.instructions,
                "depth": sum(head in other for other in found.values()),
            }
        )
    return sorted(result, key=lambda loop: -sum(loop["loads"]))


def widths(loads):
    """Such as 4x16: four loads of 16 bytes."""
    counts = {bytes: loads.count(bytes) for bytes in sorted(set(loads), reverse=True)}
    return "+".join(f"{count}x{bytes}" for bytes, count in counts.items()) or "-"


def copies(loops):
    """The cells of each loop. Equal loops become one, with their number."""
    cells = ((widths(loop[name]) if name in WIDTHS_OF else str(loop[name]) for name in LOOP) for loop in loops)
    counts = collections.Counter(map(tuple, cells))
    return [(str(count), *cells) for cells, count in counts.items()]


def joined(values):
    """One value if it is that of all GPUs; else those of each, in order."""
    return values[0] if len(set(values)) == 1 else "/".join(values)


def rows_of(pipelines):
    """The rows of a kernel on each of AMD's GPUs: one for each loop."""
    figures = [pipelines[0]["name"], *(joined([str(p[name]) for p in pipelines]) for name in AMD.columns)]
    none = ("-",) * (1 + len(LOOP))
    loops = list(itertools.zip_longest(*(copies(p["loops"]) for p in pipelines), fillvalue=none))
    for of_gpus in loops or [[none]]:
        yield figures + [joined(values) for values in zip(*of_gpus)]
        figures = [""] * len(figures)


def by_name(pipelines):
    """The pipelines of each name."""
    names = dict.fromkeys(p["name"] for p in pipelines)
    return [[p for p in pipelines if p["name"] == name] for name in names]


def others(pipelines):
    """A row for each kernel, with the figures of the other GPUs side by side."""
    columns = {p["gpu"]: driver_of(p["gpu"]).columns for p in pipelines}
    head = ["kernel"]
    for gpu, of_gpu in columns.items():
        first, *rest = of_gpu.values()
        head += [f"{gpu}: {first}", *rest]
    yield head
    for of_name in by_name(pipelines):
        made = {p["gpu"]: p for p in of_name}
        cells = (made.get(gpu, {}).get(key, "-") for gpu, of_gpu in columns.items() for key in of_gpu)
        yield [of_name[0]["name"], *map(str, cells)]


def table(rows):
    rows = list(rows)
    if len(rows) == 1:
        return
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, wide))]
        print("  ".join(cells).rstrip())
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--isa", type=pathlib.Path)
    parser.add_argument("gpus", nargs="+")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10000)

    failures, devices, found = [], [], []
    for gpu in arguments.gpus:
        driver = driver_of(gpu)
        report = json.loads((arguments.work / f"{gpu}.json").read_text())
        printed = sections((arguments.work / f"{gpu}.log").read_text(errors="replace"))
        devices.append(report["device"])
        most = max(shader["waves"] for _, lines in printed.values() for shader in statistics(lines, driver))
        # Before gfx10 stores are counted with the loads.
        stores_count = gpu.startswith(("vega", "polaris", "raven", "renoir", "mi", "fiji", "tonga"))
        for number, pipeline in enumerate(report["pipelines"], 1):
            name = pipeline["name"]
            if pipeline["error"]:
                failures.append(f"{gpu}: {name}: refused: {pipeline['error']}")
                continue
            printed_name, lines = printed.get(number, ("", []))
            shaders = statistics(lines, driver)
            expected = {*driver.stats.values(), *driver.spills}
            if printed_name != name or len(shaders) != 1 or set(shaders[0]) != expected:
                sys.exit(f"{gpu}: {name}: the driver's figures are not those of one pipeline")
            stats = shaders[0]
            text = pipeline.pop("text")
            # A check that figures and names belong together.
            if driver is AMD and ("var<workgroup>" in text) != (stats["lds_bytes"] > 0):
                sys.exit(f"{gpu}: {name}: workgroup memory is not as in its text; are these its figures?")
            if any(stats[spill] for spill in driver.spills):
                failures.append(f"{gpu}: {name}: spills: {({s: stats[s] for s in driver.spills})}")
            row = {"gpu": gpu, **pipeline, **stats, "most_waves": most}
            if driver is AMD:
                row["loops"] = inner_loops(blocks(lines), stores_count)
            found.append(row)
            if arguments.isa:
                arguments.isa.mkdir(parents=True, exist_ok=True)
                base = name.replace(" ", "_")
                (arguments.isa / f"{base}.{gpu}.s").write_text("\n".join(lines) + "\n")
                (arguments.isa / f"{base}.wgsl").write_text(text)

    rows = [["kernel", *AMD.columns.values(), "copies", *LOOP.values()]]
    for pipelines in by_name([row for row in found if driver_of(row["gpu"]) is AMD]):
        rows += rows_of(pipelines)
    table(rows)
    table(others([row for row in found if driver_of(row["gpu"]) is not AMD]))
    for gpu, device in zip(arguments.gpus, devices):
        most = max((row["most_waves"] for row in found if row["gpu"] == gpu), default="no")
        print(f"{gpu}: {device}; at most {most} {driver_of(gpu).columns['waves']}")
    if arguments.json:
        content = {"devices": devices, "pipelines": found, "failures": failures}
        arguments.json.write_text(json.dumps(content, indent=2) + "\n")
    if not failures:
        print("no pipeline is refused, and none spills registers")
    else:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
