"""Examples in docstrings and documents run as printed; stubs and signatures say the same."""

import ast
import doctest
import inspect
import pathlib
import re

import dask
import pytest

import wgmax
import wgmax.array_api
import wgmax.backend
import wgmax.dask

ROOT = pathlib.Path(__file__).parents[2]
MODULES = [wgmax, wgmax.onnx, wgmax.openvino, wgmax.onednn, wgmax.webnn, wgmax.array_api, wgmax.backend, wgmax.dask]
FUNCTIONS = [getattr(wgmax, name) for name in wgmax.__all__]
FUNCTIONS = [each for each in FUNCTIONS if inspect.isroutine(each) and each.__text_signature__]


def run(text, name):
    """Runs the examples of a text; how many there were."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    report = []
    with dask.config.set(scheduler="synchronous"):
        found = doctest.DocTestRunner().run(test, out=report.append)
    assert found.failed == 0, "".join(report)
    return found.attempted


@pytest.mark.parametrize("documented", FUNCTIONS + MODULES, ids=lambda each: each.__name__)
def test_docstrings(documented):
    assert documented.__doc__
    run(documented.__doc__, documented.__name__)


def test_most_have_examples():
    assert sum(">>>" in each.__doc__ for each in FUNCTIONS + MODULES) >= 16


@pytest.mark.parametrize("path", ["README.md", "python/README.md"])
def test_documents(path):
    blocks = re.findall(r"```pycon\n(.*?)```", (ROOT / path).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        assert run(block, path) > 3


def stubs():
    """The functions of the stubs, with their arguments and defaults."""
    path = pathlib.Path(wgmax.__file__).with_name("_wgmax.pyi")
    body = ast.parse(path.read_text()).body
    functions = [each for each in body if isinstance(each, ast.FunctionDef)]
    found = {}
    for function in functions:
        args = function.args
        defaults = dict(zip([a.arg for a in args.args][::-1], args.defaults[::-1]))
        defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None}
        positional, keyword = [a.arg for a in args.args], [a.arg for a in args.kwonlyargs]
        values = {name: ast.literal_eval(value) for name, value in defaults.items()}
        # Overloads differ in types, and in which flags they need.
        same = found.setdefault(function.name, (positional, keyword, values))
        assert same[:2] == (positional, keyword), function.name
        assert not (same[2].keys() ^ values.keys()) - {"return_indices"}, function.name
        same[2].update(values)
    # Functions that take the same arguments: `reduce_min = reduce_max`.
    for same in (each for each in body if isinstance(each, ast.Assign)):
        if isinstance(same.value, ast.Name) and same.value.id in found:
            found[same.targets[0].id] = found[same.value.id]
    return found


def test_stubs_say_what_signatures_say():
    stubbed = stubs()
    for function in FUNCTIONS:
        parameters = inspect.signature(function).parameters.values()
        positional = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
        keyword = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
        values = {p.name: p.default for p in parameters if p.default is not p.empty}
        assert stubbed[function.__name__] == (positional, keyword, values), function.__name__
    assert {function.__name__ for function in FUNCTIONS} <= set(stubbed)
    assert (pathlib.Path(wgmax.__file__).with_name("py.typed")).exists()


def test_defaults_are_what_signatures_say():
    """Calls with every default written out are the calls without."""
    import numpy as np

    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    first = {
        "reduce": (x,), "arg": (x,), "max_pool": (x, 2), "min_pool": (x, 2),
        "adaptive": (x, 2),
        "segment": (x[0], [0, 1]), "scatter": (x[0], [[[0] * 4] * 3] * 2, x[0]), "max_unpool": (x, x.astype(int), (24,)),
    }  # fmt: skip
    for function in FUNCTIONS:
        name = function.__name__
        if name in ("compare", "devices", "verify") or name.endswith("_backward"):
            continue
        given = next(value for prefix, value in first.items() if name.startswith(prefix))
        if name[-2] in "13":
            # Names that end with the number of spatial axes: of pictures, a row and a volume.
            given = (x[0, 0] if name[-2] == "1" else x, *given[1:])
        parameters = list(inspect.signature(function).parameters.values())[len(given) :]
        written = {p.name: p.default for p in parameters}
        found, expected = function(*given, **written), function(*given)
        assert wgmax.compare(found, expected), name
