"""wgmax.torch beside PyTorch: values, indices and gradients, for every kind of tensor and argument."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; scripts/python torch installs it")

import wgmax
import wgmax.torch as ours
from test_docs import run

F = torch.nn.functional
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
WIDE = [torch.uint16, torch.uint32, torch.uint64]


def values(random, shape, dtype, distinct=False):
    """Elements with ties, or all different; zeros are +0."""
    count = int(np.prod(shape))
    if distinct:
        found = random.permutation(count) - count // 2
    else:
        found = random.integers(-3, 4, count)
    if dtype in WIDE + [torch.uint8]:
        found = np.abs(found)
    return torch.tensor(found.reshape(shape)).to(dtype)


def laid_out(random, x):
    """The same elements with any strides, as views have them."""
    kind = random.integers(5)
    if kind == 1 and x.ndim:
        order = random.permutation(x.ndim).tolist()
        return x.permute(order).contiguous().permute(np.argsort(order).tolist())
    if kind == 2 and x.ndim:
        return x.repeat_interleave(2, -1)[..., ::2]
    if kind == 3 and x.ndim == 4:
        return x.contiguous(memory_format=torch.channels_last)
    if kind == 4 and x.ndim and x.shape[0]:
        memory = torch.empty(3 + x.numel(), dtype=x.dtype)
        memory[3:] = x.flatten()
        return memory[3:].view(x.shape)
    return x


def assert_same(found, expected, where=""):
    found, expected = found.detach(), expected.detach()
    assert found.shape == expected.shape and found.dtype == expected.dtype, where
    report = wgmax.compare(ours._array(found), ours._array(expected))
    assert report.equal, f"{where}: {report}"


def beside(random, function, reference, x, where):
    """Values, indices and gradients of a function and of PyTorch's on one tensor."""
    one, two = x.detach(), x.detach().clone(memory_format=torch.contiguous_format)
    if x.is_floating_point():
        one.requires_grad_(), two.requires_grad_()
    found, expected = function(one), reference(two)
    single = isinstance(found, torch.Tensor)
    found, expected = ((found,), (expected,)) if single else (found, expected)
    for a, b in zip(found, expected, strict=True):
        assert_same(a, b, where)
    if "segment" not in where:
        # Shapes alone, as a compiler asks for them.
        shaped = function(one.to("meta"))
        for a, b in zip((shaped,) if single else shaped, found, strict=True):
            assert (a.shape, a.dtype, a.stride()) == (b.shape, b.dtype, b.stride()), where
    if x.is_floating_point():
        # In a pooling, small enough for sums to be exact: PyTorch rounds those of two bytes otherwise.
        distinct = random.random() < 0.5 and not ("pool" in where and x.element_size() == 2)
        gradient = values(random, found[0].shape, x.dtype, distinct)
        # PyTorch does not share negative gradients in segments.
        gradient = gradient.abs() if "segment" in where else gradient
        given = laid_out(random, gradient)
        found[0].backward(given), expected[0].backward(gradient)
        assert_same(one.grad, two.grad, where)


def random_shape(random, rank, most=6):
    return [int(size) for size in random.integers(1, most, rank)]


def reduction(random, device):
    name = str(random.choice(["amax", "amin", "max", "min", "max", "min"]))
    x_dims = int(random.integers(0, 5))
    dtype = FLOATS[random.integers(4)] if random.random() < 0.6 else [*INTEGERS, torch.bool][random.integers(6)]
    x = values(random, random_shape(random, x_dims), dtype)
    keepdim = bool(random.integers(2))
    rank = max(x_dims, 1)
    if name[0] == "a":
        dims = [int(dim) - rank * int(random.integers(2)) for dim in range(rank) if random.random() < 0.5]
        dim = dims[0] if len(dims) == 1 and random.random() < 0.5 else dims
        args = (dim, keepdim) if random.random() < 0.9 else ()
    else:
        args = (int(random.integers(-rank, rank)), keepdim) if random.random() < 0.7 else ()
    return (
        lambda t: getattr(ours, name)(t, *args, device=device), lambda t: getattr(torch, name)(t, *args),
        x, f"{name} {args} of {dtype} {tuple(x.shape)}",
    )  # fmt: skip


def pooling(random, device):
    rank = int(random.integers(1, 4))
    adaptive = random.random() < 0.35
    dtype = FLOATS[random.integers(4)]
    if rank > 1 and random.random() < 0.2 and not adaptive:
        dtype = INTEGERS[random.integers(5)]
    shape = random_shape(random, 1 + int(random.integers(2)), 4) + random_shape(random, rank, 9)
    x = values(random, shape, dtype)
    one = lambda low, high: (
        int(random.integers(low, high)) if random.random() < 0.5
        else tuple(int(each) for each in random.integers(low, high, rank))
    )  # fmt: skip
    indices = bool(random.integers(2))
    if adaptive:
        name = f"adaptive_max_pool{rank}d"
        sizes = tuple(None if random.random() < 0.2 and rank > 1 else int(random.integers(1, 6)) for _ in range(rank))
        args = (sizes if random.random() < 0.7 else int(random.integers(1, 6)), indices)
    else:
        name = f"max_pool{rank}d"
        while True:
            taps, dilation = one(1, 5), one(1, 3)
            each = lambda value: [value] * rank if isinstance(value, int) else list(value)
            limits = [(k - 1) * d + 1 for k, d in zip(each(taps), each(dilation))]
            pads = tuple(int(random.integers(0, min(k // 2, e // 2) + 1)) for k, e in zip(each(taps), limits))
            if not all(size + 2 * pad >= reach for size, pad, reach in zip(shape[-rank:], pads, limits)):
                continue
            # Windows without elements differ.
            if F.max_pool3d(torch.zeros(1, *[1] * (3 - rank), *shape[-rank:]), *[
                [one] * (3 - rank) + each(value) for one, value in [(1, taps), (1, 1), (0, list(pads)), (1, dilation)]
            ]).isfinite().all():
                break
        stride = None if random.random() < 0.3 else one(1, 4)
        args = (taps, stride, pads, dilation, bool(random.integers(2)), indices)
    return (
        lambda t: getattr(ours, name)(t, *args, device=device), lambda t: getattr(F, name)(t, *args),
        x, f"{name} {args} of {dtype} {shape}",
    )  # fmt: skip


def segments(random, device):
    axis = int(random.integers(0, 3))
    shape = random_shape(random, axis + 1 + int(random.integers(0, 3)), 5)
    shape[axis] = int(random.integers(0, 12))
    x = values(random, shape, FLOATS[random.integers(4)])
    count, outer = int(random.integers(1, 6)), int(np.prod(shape[:axis]))
    options = {"axis": axis, "initial": [None, 0.0, 2.0][random.integers(3)]}
    cuts = np.sort(random.integers(0, shape[axis] + 1, (outer, count + 1)), axis=1)
    if random.random() < 0.5:
        cuts[:, 0], cuts[:, -1] = 0, shape[axis]
        options["lengths"] = torch.tensor(np.diff(cuts).reshape(*shape[:axis], count))
    else:
        options["offsets"] = torch.tensor(cuts.reshape(*shape[:axis], count + 1))
    reduce = str(random.choice(["max", "min"]))
    return (
        lambda t: ours.segment_reduce(t, reduce, **options, device=device),
        lambda t: torch.segment_reduce(t, reduce, **options),
        x, f"segment {reduce} {options} of {x.dtype} {shape}",
    )  # fmt: skip


def scatters(random, device):
    """Of one tensor that has the elements of both, each with strides of its own."""
    rank = int(random.integers(0, 4))
    shape = random_shape(random, rank)
    dim = int(random.integers(0, max(rank, 1)))
    of = [int(random.integers(0, size + 1)) for size in shape]
    if rank:
        of[dim] = int(random.integers(0, 12))
    wider = [size + int(random.integers(0, 3)) for size in of]
    index = laid_out(random, torch.tensor(random.integers(0, shape[dim] if rank else 1, of)))
    include_self = bool(random.integers(2))
    dtype = FLOATS[random.integers(4)] if random.random() < 0.6 else INTEGERS[random.integers(5)]
    x, src = values(random, shape, dtype).flatten(), values(random, wider, dtype).flatten()
    # PyTorch counts elements of the input that equal the result, though they take no part.
    x = x if include_self else x + 50
    orders = [random.permutation(rank).tolist() for _ in range(2)]

    def parts(t):
        for part, sizes, order in zip(t.split([x.numel(), src.numel()]), [shape, wider], orders):
            yield part.reshape([sizes[at] for at in order]).permute(np.argsort(order).tolist())

    reduce, named = str(random.choice(["amax", "amin"])), dim - rank * int(random.integers(2))

    def call(function, t, **options):
        data, updates = parts(t)
        if function is torch.scatter_reduce:
            # Larger ones have no gradient there.
            updates = updates[tuple(slice(size) for size in of)]
        return function(data, named, index, updates, reduce, include_self=include_self, **options)

    return (
        lambda t: call(ours.scatter_reduce, t, device=device), lambda t: call(torch.scatter_reduce, t),
        torch.cat([x, src]), f"scatter {reduce} {named} {include_self} {index} of {dtype} {shape} {wider}",
    )  # fmt: skip


@pytest.mark.parametrize("case", [reduction, pooling, segments, scatters], ids=lambda case: case.__name__)
def test_beside_pytorch(case, device):
    for seed in range(400 if device == "cpu" else 25):
        random = np.random.default_rng(seed)
        function, reference, x, where = case(random, device)
        beside(random, function, reference, laid_out(random, x), f"seed {seed}: {where}")


def special(random, shape, dtype):
    """With NaN, infinities and zeros of both signs."""
    found = values(random, shape, dtype)
    for value in [np.nan, np.inf, -np.inf, -0.0]:
        found[torch.tensor(random.random(shape) < 0.1)] = value
    return found


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_and_zeros(dtype):
    """Values are equal; where NaN are, gradients are as documented."""
    equal = lambda a, b: torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)
    for seed in range(100):
        random = np.random.default_rng(seed)
        x = special(random, (3, 4, 6), dtype)
        for name, args in [("amax", (1,)), ("amin", (-1,)), ("max", ()), ("min", ())]:
            one, two = x.clone().requires_grad_(), x.clone().requires_grad_()
            found, expected = getattr(ours, name)(one, *args), getattr(torch, name)(two, *args)
            equal(found, expected)
            found.sum().backward(), expected.sum().backward()
            equal(one.grad, two.grad)
        found, expected = ours.max(x, 1), torch.max(x, 1)
        equal(found.values, expected.values), equal(found.indices, expected.indices)
        found, at = ours.max_pool1d(x, 3, 1, 1, return_indices=True)
        expected, theirs = F.max_pool1d(x, 3, 1, 1, return_indices=True)
        equal(found, expected)
        # The first NaN in place of the last one.
        assert ((at == theirs) | found.isnan()).all() and (at <= theirs).all()
        equal(ours.max_pool1d(x, 3, 1, 1), expected)
        lengths = torch.tensor([1, 0, 2])
        equal(ours.segment_reduce(x, "max", lengths=lengths), torch.segment_reduce(x, "max", lengths=lengths))
        index = torch.tensor(random.integers(0, 3, (2, 4, 6)))
        for reduce in ["amax", "amin"]:
            args = (0, index, special(random, (2, 4, 6), dtype), reduce)
            equal(ours.scatter_reduce(x, *args), torch.scatter_reduce(x, *args))
    nan = torch.tensor([[1, np.nan, np.nan, 2]], dtype=dtype, requires_grad=True)
    ours.max_pool1d(nan, 4).backward(torch.ones(1, 1, dtype=dtype))
    assert nan.grad.tolist() == [[0, 1, 0, 0]]
    zeros = torch.tensor([-0.0, 0.0], dtype=dtype)
    assert not ours.amax(zeros).signbit() and ours.amin(zeros.flip(0)).signbit()


def test_segments_share_negative_gradients():
    x = torch.tensor([1.0, 3, 3, 2], requires_grad=True)
    found = ours.segment_reduce(x, "max", lengths=torch.tensor([3, 1]))
    found.backward(torch.tensor([-1.0, -4.0]))
    assert x.grad.tolist() == [0, -0.5, -0.5, -4]


def test_scatters_share_among_those_that_take_part():
    x, src = torch.tensor([3.0, 7.0]).requires_grad_(), torch.tensor([3.0, 3.0, 1.0]).requires_grad_()
    for include_self, shared in [(True, 2.0), (False, 0.0)]:
        found = ours.scatter_reduce(x, 0, torch.tensor([0, 0, 0]), src, "amax", include_self=include_self)
        of_x, of_src = torch.autograd.grad(found, [x, src], torch.tensor([6.0, 5.0]))
        assert of_x.tolist() == [shared, 5] and of_src.tolist() == [(6 - shared) / 2] * 2 + [0]
    nan = torch.full((2,), torch.nan, requires_grad=True)
    found = ours.scatter_reduce(nan, 0, torch.tensor([1]), nan[:1], "amin")
    assert torch.autograd.grad(found.sum(), nan)[0].tolist() == [1.5, 0.5]


def test_scatters_refuse():
    x, index = torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int64)
    for args in [
        (2, index, x, "amax"), (0, index, x, "max"), (0, index[0], x, "amax"), (0, index, x[:1], "amax"),
        (0, index.float(), x, "amax"), (0, index - 1, x, "amax"), (0, index + 2, x, "amax"),
        (1, index.repeat(2, 1), x.repeat(2, 1), "amax"), (9, index[:0], x[:0], "amax"),
        (0, index[:0], x[:0].double(), "amax"), (0, index, x.double(), "amax"),
    ]:  # fmt: skip
        with pytest.raises((wgmax.ArgumentError, wgmax.AxisError)):
            ours.scatter_reduce(x, *args)


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_types_that_pytorch_lacks(dtype):
    x = torch.tensor([[1, 7, 7, 2]], dtype=dtype)
    assert ours.amax(x, 1).tolist() == [7] and ours.max(x, 1).indices.tolist() == [1]
    assert ours.max_pool1d(x, 2).tolist() == [[7, 7]] and ours.max_pool1d(x, 2).dtype == dtype


CALLS = {
    "extreme": lambda x: (x, [0, 2], True, False, False, "cpu"),
    "extreme, all": lambda x: (x, [0, 1, 2], False, True, True, "cpu"),
    "position": lambda x: (x, 1, False, True, "cpu"),
    "pool": lambda x: (x, [2, 2, 1, 1], True, False, "cpu"),
    "pool, adaptive": lambda x: (x, [2, 3], False, False, "cpu"),
    "pool_positions": lambda x: (x, [3, 2, 1, 1], False, True, "cpu"),
    "pool_backward": lambda x: (x.detach(), x[..., ::2], x.shape, [1, 2, 0, 1], False, False, "cpu"),
    "segment": lambda x: (x, torch.tensor([0, 1, 3]), False, 0.25, "cpu"),
    "scatter": lambda x: (x, 1, torch.tensor([[[0, 2]]]), x.detach()[:1, :1, :2], True, False, "cpu"),
}


@pytest.mark.parametrize("name", CALLS)
def test_operators_keep_the_rules(name):
    """Schemas, what is registered for gradients, and fake tensors, dynamic ones too."""
    for dtype, shape in itertools.product([torch.float32, torch.bfloat16, torch.float64], [(3, 4, 6), (4, 3, 5)]):
        x = torch.randn(shape).to(dtype).requires_grad_()
        torch.library.opcheck(getattr(torch.ops.wgmax, name.split(",")[0]), CALLS[name](x))


FUNCTIONS = {
    "amax": lambda x: ours.amax(x, (0, 2)),
    "amin": lambda x: ours.amin(x, -1, True),
    "max": lambda x: ours.max(x),
    "min of a dimension": lambda x: ours.min(x, 1).values,
    "max_pool1d": lambda x: ours.max_pool1d(x, 3, 2, 1, ceil_mode=True),
    "max_pool2d": lambda x: ours.max_pool2d(x, 2, 1, 1),
    "with indices": lambda x: ours.max_pool2d(x, (2, 3), return_indices=True)[0],
    "max_pool3d": lambda x: ours.max_pool3d(x[None], 2, 1),
    "adaptive_max_pool1d": lambda x: ours.adaptive_max_pool1d(x, 4),
    "adaptive_max_pool2d": lambda x: ours.adaptive_max_pool2d(x, (None, 2)),
    "segment_reduce": lambda x: ours.segment_reduce(x, "max", lengths=torch.tensor([2, 1])),
    "segments without rows": lambda x: ours.segment_reduce(x, "max", lengths=torch.tensor([2, 0, 1]), initial=-9),
    "scatter_reduce": lambda x: ours.scatter_reduce(x, 1, torch.tensor([[[0], [2]]]), x[..., 2:] + 0.1, "amax"),
    "segments of rows": lambda x: ours.segment_reduce(x, "min", offsets=torch.tensor([[1, 2, 4]] * 3), axis=1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_the_derivatives(name):
    torch.manual_seed(1)
    x = torch.randn(3, 4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(FUNCTIONS[name], (x,))
    assert torch.autograd.gradgradcheck(FUNCTIONS[name], (x,))


def test_gradients_of_nothing():
    """Windows without elements have no part in a gradient, nor in its own. Then no segments at all."""
    x = torch.zeros(1, 1, 2, requires_grad=True)
    found = ours.max_pool1d(x, 2, padding=1, dilation=3)
    given = torch.ones_like(found, requires_grad=True)
    (own,) = torch.autograd.grad(found, x, given, create_graph=True)
    (again,) = torch.autograd.grad(own.sum(), given)
    assert found.isneginf().all() and not own.any() and not again.any()
    rows = torch.ones(3, requires_grad=True)
    ours.segment_reduce(rows, "max", offsets=torch.tensor([0])).sum().backward()
    assert not rows.grad.any()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled(name):
    """One graph, without a break, gives the same; then for another size."""
    function = lambda x: (FUNCTIONS[name](x) * 2).sum()
    # Checks of lengths depend on their values, and break the graph.
    whole = name not in ("segment_reduce", "segments without rows")
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="aot_eager", fullgraph=whole, dynamic=True)
    for size in [6, 9]:
        one = torch.randn(3, 4, size, requires_grad=True)
        two = one.detach().clone().requires_grad_()
        found, expected = compiled(one), function(two)
        assert_same(found, expected)
        found.backward(), expected.backward()
        assert_same(one.grad, two.grad)


def test_documentation():
    run(ours.__doc__, "wgmax.torch")


def test_memory_is_shared():
    for dtype in FLOATS + INTEGERS + WIDE + [torch.bool]:
        x = torch.zeros(5, 7, dtype=dtype).T
        array = ours._array(x)
        assert array.__array_interface__["data"][0] == x.data_ptr()
        assert [stride // x.element_size() for stride in array.strides] == list(x.stride())
        again = ours._tensor(array)
        assert again.data_ptr() == x.data_ptr() and again.dtype == dtype
    parameter = torch.nn.Parameter(torch.randn(2, 3))
    assert ours.amax(parameter).requires_grad
    negative = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert negative.is_neg() and ours.amax(negative).item() == 4


def test_modules_train():
    """A step of training moves the weights as PyTorch's own pooling does."""
    weights = []
    for pool in [F.max_pool2d, ours.max_pool2d]:
        torch.manual_seed(2)
        layer = torch.nn.Conv2d(1, 4, 3)
        step = torch.optim.SGD(layer.parameters(), 0.1)
        for _ in range(3):
            step.zero_grad()
            pool(layer(torch.randn(2, 1, 12, 12)), 2).square().mean().backward()
            step.step()
        weights.append(layer.weight)
    assert_same(*weights)


X = torch.zeros(2, 3, 4)
WRONG = [
    (lambda: ours.amax(X, 3), IndexError, "axis 3"),
    (lambda: ours.amax(X, (0, -3)), ValueError, "twice"),
    (lambda: ours.max(X, -4), IndexError, "axis -4"),
    (lambda: ours.amax(X[:0]), ValueError, "no extremum"),
    (lambda: ours.max(X[:0], 0), ValueError, "no extremum"),
    (lambda: ours.max_pool2d(X, 3, padding=2), ValueError, "half a window"),
    (lambda: ours.max_pool2d(X, (2, 2, 2)), ValueError, "kernel_size must be 2"),
    (lambda: ours.max_pool2d(X, 2, 0), ValueError, "stride must be"),
    (lambda: ours.max_pool2d(X, 2, padding=-1), ValueError, "padding must be"),
    (lambda: ours.max_pool2d(X[0, 0], 2), ValueError, "dimensions"),
    (lambda: ours.max_pool3d(X, 2), ValueError, "dimensions"),
    (lambda: ours.max_pool2d(X, 9), ValueError, "window"),
    (lambda: ours.adaptive_max_pool2d(X, (2, 2, 2)), ValueError, "output_size must have 2"),
    (lambda: ours.segment_reduce(X, "sum", lengths=X), ValueError, "'max' or 'min'"),
    (lambda: ours.segment_reduce(X, "max"), ValueError, "lengths or offsets"),
    (lambda: ours.segment_reduce(X, "max", lengths=torch.tensor([1, 2])), ValueError, "as sum"),
    (lambda: ours.segment_reduce(X, "max", lengths=torch.tensor([3, -1])), ValueError, "0 or more"),
    (lambda: ours.segment_reduce(X, "max", lengths=torch.tensor([2]), axis=1), ValueError, "dimensions"),
    (lambda: ours.segment_reduce(X, "max", offsets=torch.tensor([0, 3])), ValueError, "offset|range|rows"),
    (lambda: ours.segment_reduce(torch.zeros(2, 3), "max", offsets=torch.tensor([[0, 4], [1, 3]]), axis=1), ValueError, "offsets must ascend"),
    (lambda: ours.segment_reduce(torch.zeros(2, 3), "max", offsets=torch.tensor([[0, 2], [-1, 3]]), axis=1), ValueError, "offsets must ascend"),
    (lambda: ours.segment_reduce(torch.zeros(2, 3), "max", offsets=torch.tensor([[2, 1], [0, 3]]), axis=1), ValueError, "offsets must ascend"),
    (lambda: ours.segment_reduce(X[0, 0], "max", lengths=torch.tensor(4), axis=-2), IndexError, "axis -2"),
    (lambda: ours.segment_reduce(X.int(), "max", lengths=torch.tensor([2])), ValueError, "floats"),
    (lambda: ours.amax(X.to(torch.complex64)), ValueError, "none of the types"),
    (lambda: ours.amax(X, device="no such"), RuntimeError, "no GPU adapter"),
    (lambda: ours.amax(X.to("meta")[:0]), ValueError, "no extremum"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[2])
def test_errors(wrong):
    call, kind, message = wrong
    with pytest.raises(kind, match=message):
        call()


def test_forward_mode_is_refused():
    x = torch.tensor([[1.0, 3.0]])
    calls = [
        lambda t: ours.amax(t, 1), lambda t: ours.max(t, 1).values, lambda t: ours.max_pool1d(t, 2),
        lambda t: ours.adaptive_max_pool1d(t, 1), lambda t: ours.segment_reduce(t, "max", lengths=torch.tensor([1])),
        lambda t: ours.scatter_reduce(x, 1, torch.tensor([[0, 0]]), t, "amax"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(NotImplementedError, match="forward mode"):
            torch.func.jvp(call, (x,), (torch.ones_like(x),))
        with torch.autograd.forward_ad.dual_level():
            call(x)


def test_integers_of_numpy():
    x = torch.tensor([[1.0, 3, 2, 0]])
    one, two = np.int64(1), np.int64(2)
    assert ours.amax(x, None).item() == 3 and ours.amax(x, one).tolist() == [3]
    assert ours.max(x, one).indices.tolist() == [1]
    assert ours.max_pool1d(x, two, one).tolist() == [[3, 3, 2]]
    assert ours.adaptive_max_pool1d(x, two).tolist() == [[3, 2]]
    for many in [np.array([0, 1]), torch.tensor([0, 1]), (0, 1)]:
        assert ours.amax(x, many).item() == 3
    assert ours.max_pool2d(x[None], np.array([1, 2])).tolist() == [[[3, 2]]]
    assert ours.adaptive_max_pool2d(x[None], np.array([1, 2])).tolist() == [[[3, 2]]]
    assert ours.adaptive_max_pool2d(x[None], (np.int64(1), None)).shape == (1, 1, 4)
    for several in [(0, 1), [1], ()]:
        with pytest.raises(TypeError):
            ours.max(x, several)
    for wrong in [lambda: ours.amax(x, True), lambda: ours.amax(x, [np.True_]), lambda: ours.adaptive_max_pool2d(x[None], (True, 2)), lambda: ours.max(x, True), lambda: ours.max_pool1d(x, True), lambda: ours.adaptive_max_pool1d(x, True)]:
        with pytest.raises(wgmax.ArgumentError, match="integer"):
            wrong()


def test_negated_views():
    """Memory whose elements PyTorch has yet to negate."""
    x = torch._neg_view(torch.tensor([1.0, -5.0]))
    y = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert wgmax.reduce_max(x) == 5 and wgmax.reduce_max(y) == 4
    assert ours.amax(x).item() == 5 and ours.amax(y).item() == 4
