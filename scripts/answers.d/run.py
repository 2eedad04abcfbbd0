"""Puts the cases to every library and writes docs/answers.json and docs/answers.html; scripts/answers calls it."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import onnx
import onnx.parser

import ask
import cases
import page
import rust
import specs

CASES = {case.id: case for case in cases.ALL}
ROUNDS = 3
SECONDS = 120


def process(command, ids, folder):
    """The answers of one process; after a crash or a hang, a new process is asked the rest."""
    answers, version, ids = {}, None, list(ids)
    while ids:
        child = subprocess.Popen([*command, *ids], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder, start_new_session=True)
        lines = queue.Queue()
        threading.Thread(target=lambda: [lines.put(line) for line in child.stdout] and None or lines.put(None), daemon=True).start()
        why = None
        while ids and why is None:
            try:
                line = lines.get(timeout=SECONDS)
            except queue.Empty:
                why = f"no answer in {SECONDS} seconds"
                break
            if line is None:
                status = child.wait()
                why = "the process ends: a signal" if status < 0 else f"the process ends: status {status}"
            elif line.startswith("{"):
                said = json.loads(line)
                if "version" in said:
                    version = said["version"]
                else:
                    answers[said.pop("id")] = said
                    ids = [id for id in ids if id not in answers]
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        if why and version is None:
            raise RuntimeError(f"{command} does not start: {why}")
        if why:
            answers[ids.pop(0)] = {"crash": why}
    return answers, version


def tidy(text):
    """The first words of a message, without what differs from machine to machine."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"(/[\w.@+-]+)+/", "", text)
    text = re.sub(r"0x[0-9a-f]{6,}|\bat [\w./]+:\d+(:\d+)?|[\w./]+\.(cpp|cc|h|hpp|rs):\d+(:\d+)?", "…", text)
    text = re.sub(r"(?<=.)(?<!Error: )Node number \d.*", "", text, flags=re.S)  # LiteRT's second line, which is not always there
    return " ".join(text.split())[:160]


def text_of(value):
    """An element as the page writes it: shortest digits that give it back, NaN whatever its bits."""
    if isinstance(value, np.bool_):
        return str(bool(value))
    if value != value:
        return "NaN"
    return str(value).removesuffix(".0") if value != 0 or not np.signbit(value) else "-0"


def values_of(kind, shape, words):
    return list(shape), [text_of(v) for v in np.frombuffer(bytes.fromhex(words), cases.TYPES[kind])]


def wanted(case, rules):
    """The specification's answer as the library would give it, with what is open and the clauses."""
    answer, still_open, clauses = specs.expect(case, rules)
    if answer != "an error":
        shape, values = answer
        kind = cases.TYPES[case.type] if case.op not in ("arg", "where") else np.int64
        answer = {"shape": list(shape), "values": [text_of(v) for v in np.array(values, kind).ravel()]}
    return answer, still_open, clauses


def thin(shape):
    return [size for size in shape if size != 1]


def judge(case, want, still_open, answers):
    found = answers[case.id]
    if "none" in found:
        return "none"
    if set(still_open) - {"zero"}:
        return "open"
    if "crash" in found or "varies" in found:
        return "differs"
    if want == "an error":
        # An error agrees unless the type causes it. It does not if another case of the same kind gives a
        # value.
        kind = lambda other: (other.op, other.type, getattr(other, "id_type", None))
        takes = any("values" in answers[other.id] for other in CASES.values() if kind(other) == kind(case))
        return "differs" if "error" not in found else "agrees" if takes else "refuses"
    if "error" in found:
        return "refuses"
    if case.op not in ("arg", "where") and found["type"] != case.type:
        return "differs"
    if thin(found["shape"]) != thin(want["shape"]):
        return "differs"
    if found["values"] == want["values"]:
        return "open" if still_open else "agrees"
    same = [v.replace("-0", "0") if v == "-0" else v for v in found["values"]] == want["values"]
    return "open" if still_open and same else "differs"


def hostile(case):
    return case.op == "segment" and any(not 0 <= id < case.n for id in case.ids)


def questions(name):
    """The cases that a library has an operator for, with the lines that ask it."""
    return {id: lines for id, case in CASES.items() if (lines := ask.LIBRARIES[name][0](case)) is not None}


def answers_of(name, command, folder):
    """Asks every case ROUNDS times. Those with ids out of range run in a second process, or one by one if that ends."""
    lines, rounds, version = questions(name), [], None
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("questions.json").write_text(json.dumps(lines))
    for _ in range(ROUNDS):
        found, version = process(command, [id for id in lines if not hostile(CASES[id])], folder)
        apart = [id for id in lines if hostile(CASES[id])]
        together = process(command, apart, folder)[0] if apart else {}
        if any("crash" in answer for answer in together.values()):
            for id in apart:
                together |= process(command, [id], folder)[0]
        found |= together
        rounds.append({id: tidied(answer) for id, answer in found.items()})
    merged = {}
    for id in CASES:
        said = [found[id] for found in rounds] if id in lines else [{"none": True}]
        crash = next((s for s in said if "crash" in s), None)
        if all("error" in s for s in said):
            said = [{"error": os.path.commonprefix([s["error"] for s in said])}]
        merged[id] = crash or (said[0] if all(s == said[0] for s in said) else {"varies": True})
    print(f"{name}: {len(lines)} cases", file=sys.stderr, flush=True)
    return merged, version


def tidied(found):
    if "hex" in found:
        shape, values = values_of(found["type"], found["shape"], found["hex"])
        return {"type": found["type"], "shape": shape, "values": values}
    return {"error": tidy(found["error"])} if "error" in found else found


def build_rust(work, names):
    """The program that asks the Rust libraries, and their versions."""
    crate, here = work / "rust", pathlib.Path(__file__).parent / "rust"
    crate.joinpath("src").mkdir(parents=True, exist_ok=True)
    for file in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(here / file, crate)
    versions = dict(re.findall(r'^([\w-]+) = .*?"=([\d.]+)"', here.joinpath("Cargo.toml").read_text(), re.M))
    package = {name: ask.LIBRARIES[name][3] for name in names}
    crate.joinpath("src/main.rs").write_text(rust.program(
        {name: (package[name].split("-")[0], versions[package[name]], questions(name)) for name in names}))
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked"], cwd=crate, check=True, env=os.environ | {"CARGO_TARGET_DIR": str(crate / "target")})
    return crate / "target/release/answers"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--work", required=True, type=lambda p: pathlib.Path(p).resolve())
    options.add_argument("--out", required=True, type=pathlib.Path)
    options.add_argument("names", nargs="*", metavar="LIBRARY")
    given = options.parse_args()
    work, here, names = given.work, pathlib.Path(__file__).parent, given.names or list(ask.LIBRARIES)
    if unknown := set(names) - set(ask.LIBRARIES):
        raise SystemExit(f"no such library: {', '.join(unknown)}; there are {'; '.join(ask.LIBRARIES)}")
    models = work / "models"
    models.mkdir(exist_ok=True)
    for id, case in CASES.items():
        onnx.save(onnx.parser.parse_model(ask.onnx_text(case)), models / f"{id}.onnx")
    program = build_rust(work, rusts) if (rusts := [n for n in names if ask.LIBRARIES[n][2] == "rust"]) else None

    def run(name):
        language, package = ask.LIBRARIES[name][2:]
        if language == "python":
            command = [work / ("torch" if name == "PyTorch" else "peers") / "bin/python", here / "host.py", "questions.json", package]
        elif language == "rust":
            command = [program, name]
        else:
            version = json.loads((work / f"npm/node_modules/{package}/package.json").read_text())["version"]
            command = [sys.executable, here / "browser.py", "questions.json", work / "npm/node_modules", name, version]
        found, version = answers_of(name, list(map(str, command)), work / "run" / name)
        kept(name).write_text(json.dumps({"version": version, "answers": found}))

    kept = lambda name: work / f"run/{name}.json"
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(run, names))
    libraries = {}
    for name, (_, spec, language, _) in ask.LIBRARIES.items():
        if kept(name).exists():
            libraries[name] = json.loads(kept(name).read_text()) | {"spec": spec, "language": language, "lines": questions(name)}

    report = {"specifications": {n: s["name"] for n, s in specs.SPECS.items()},
              "libraries": {n: {"version": l["version"], "specification": l["spec"]} for n, l in libraries.items()}, "cases": []}
    for id, case in CASES.items():
        attributes = {k: v for k, v in vars(case).items() if k not in ("id", "topic", "what", "op", "type", "x")}
        row = {"id": id, "topic": case.topic, "what": case.what, "operator": case.op, "type": case.type, "shape": list(case.x.shape),
               "input": [text_of(v) for v in case.x.ravel()], "attributes": attributes, "specifications": {}, "answers": {}}
        for name, library in libraries.items():
            want, still_open, clauses = wanted(case, specs.SPECS[library["spec"]])
            row["specifications"][library["spec"]] = {"answer": want if not set(still_open) - {"zero"} else "undefined",
                                                      "open": [specs.OPEN[o] for o in still_open], "clauses": clauses}
            found = library["answers"][id]
            row["answers"][name] = {"verdict": judge(case, want, still_open, library["answers"])} | found
            if row["answers"][name]["verdict"] == "differs" or "crash" in found or "varies" in found:
                row["answers"][name]["reproducer"] = page.shown(library["lines"][id], library["language"])
        report["cases"].append(row)
    given.out.joinpath("answers.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    given.out.joinpath("answers.html").write_text(page.page(report))
    readme = given.out.parent / "README.md"
    if readme.exists():
        readme.write_text(re.sub(r"\| library \| NaN [^\0]*?\n(?=\n)", lambda _: page.markdown(report) + "\n", readme.read_text()))


main()
