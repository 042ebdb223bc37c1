"""Strides as PyTorch has them: of views of views, taken at random, with sizes of 1, where NumPy differs; and of
elementwise results, whose operands lie in memory in different orders.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

import retrograd


def _steps(draw: random.Random, shape: list[int]) -> list[str]:
    """The views that may be taken of a tensor of a shape."""
    n = len(shape)
    found = [f".unsqueeze({draw.randrange(-n - 1, n + 1)})", ".squeeze()", "[...]", "[None]", "[..., None]",
             ".view(-1)", ".reshape(-1)", ".flatten()", ".contiguous()", ".data", ".clone()"]
    if not n:
        return found
    d = draw.randrange(n)
    size = shape[d]
    low = draw.randrange(size + 1)
    high = draw.randrange(low, size + 1)
    found += [f".squeeze({d})", f".transpose({d}, {draw.randrange(-n, n)})", f".movedim({d}, {draw.randrange(n)})",
              f".permute({draw.sample(range(n), n)})", f".narrow({d}, {low}, {high - low})", f".chunk(2, {d})[-1]",
              f".unfold({d}, {draw.randrange(size + 1)}, {draw.choice([1, 2])})",
              f".split({max(1, size // 2)}, {d})[0]", f".expand({[3 if m == 1 else -1 for m in shape]})",
              f".expand({[draw.choice([1, 2]), *shape]})"]
    if size:
        found += [f".select({d}, {draw.randrange(size)})", f".unbind({d})[0]",
                  f"[{':, ' * d}::{draw.choice([1, 2, 3])}]"]
    if n > 1:
        found += [f".diagonal({draw.choice([0, 1, -1])}, {d}, {(d + 1) % n})", f".reshape({[1, *shape, 1]})", ".mT"]
    return found


def _layout(x: Any) -> Any:
    return tuple(x.shape), x.stride(), x.is_contiguous(), x.storage_offset() if x.numel() else 0, x._base is None


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_strides_of_views_of_views(first: int) -> None:
    for seed in range(first, first + 250):
        draw = random.Random(seed)
        shape = [draw.choice([1, 1, 2, 3, 4, 2, 3]) for _ in range(draw.randrange(4))]
        count = int(np.prod(shape))
        theirs, ours = (m.arange(float(count)).reshape(shape) for m in (torch, retrograd))
        chain = ""
        for _ in range(draw.randrange(1, 5)):
            step = draw.choice(_steps(draw, [*theirs.shape]))
            chain += step
            try:
                expected = eval("x" + step, {"x": theirs})
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    eval("x" + step, {"x": ours})
                break
            theirs, ours = expected, eval("x" + step, {"x": ours})
            if not theirs.numel():
                break
            assert _layout(ours) == _layout(theirs), (seed, shape, chain)
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_writes_to_views_of_views(first: int) -> None:
    """A write to a view changes the same elements, or is refused with the same words."""
    for seed in range(first, first + 250):
        draw = random.Random(seed)
        shape = [draw.choice([1, 2, 3]) for _ in range(draw.randrange(1, 4))]
        bases = [m.arange(float(np.prod(shape))).reshape(shape) for m in (torch, retrograd)]
        view, chain = bases[0], ""
        for _ in range(draw.randrange(1, 6)):
            steps = [step for step in _steps(draw, [*view.shape]) if step not in (".contiguous()", ".clone()")]
            step = draw.choice(steps)
            try:
                view = eval("x" + step, {"x": view})
            except RuntimeError:
                break
            chain += step
        chain += draw.choice([".add_(1)", ".copy_(torch.zeros(()))", ".mul_(2)", ".fill_(3.)", ".zero_()"])
        found = []
        for library, base in zip((torch, retrograd), bases):
            try:
                eval("x" + chain, {"x": base, "torch": library})
                found.append((base.tolist(), base._version))
            except RuntimeError as error:
                found.append((str(error), base._version))
        assert found[0] == found[1], (seed, shape, chain)


# Elementwise calls, and of how many tensors.
CALLS: dict[str, tuple[int, Any]] = {
    "x + y": (2, lambda t, x, y: x + y), "x - y": (2, lambda t, x, y: x - y), "x / y": (2, lambda t, x, y: x / y),
    "x < y": (2, lambda t, x, y: x < y), "x ** y": (2, lambda t, x, y: x ** y), "x // y": (2, lambda t, x, y: x // y),
    "x + y.double()": (2, lambda t, x, y: x + y.double()), "x.long() * y": (2, lambda t, x, y: x.long() * y),
    "maximum": (2, lambda t, x, y: t.maximum(x, y)), "atan2": (2, lambda t, x, y: t.atan2(x, y)),
    "logical_and": (2, lambda t, x, y: t.logical_and(x, y)), "complex": (2, lambda t, x, y: t.complex(x, y)),
    "add alpha": (2, lambda t, x, y: t.add(x, y, alpha=2)), "hypot": (2, lambda t, x, y: t.hypot(x, y)),
    "div floor": (2, lambda t, x, y: t.div(x, y, rounding_mode="floor")),
    "out": (2, lambda t, x, y: t.mul(x, y, out=t.empty(0))),
    "of results": (2, lambda t, x, y: (x.exp() + y.neg()).sqrt() * y.clone()),
    "mse_loss": (2, lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction="none")),
    "where": (3, lambda t, x, y, z: t.where(x > 2, y, z)), "lerp": (3, lambda t, x, y, z: t.lerp(x, y, z)),
    "addcmul": (3, lambda t, x, y, z: t.addcmul(x, y, z)), "clamp": (3, lambda t, x, y, z: t.clamp(x, y, z)),
}


def _operand(draw: random.Random, shape: list[int]) -> str:
    """An expression for a tensor that broadcasts to a shape: turned, with gaps, repeated, of fewer dimensions."""
    mine = shape[draw.randrange(len(shape)):] if draw.random() < 0.2 else shape
    turned = draw.sample(range(len(mine)), len(mine))
    gap = draw.randrange(len(mine)) if draw.random() < 0.3 else -1
    made = [mine[axis] * (2 if axis == gap else 1) for axis in turned]
    text = f"torch.arange(1., {np.prod(made) + 1.}).view({made})"
    text += f".permute({[turned.index(axis) for axis in range(len(mine))]})"
    if gap >= 0:
        text += f"[{':, ' * gap}::2]"
    if draw.random() < 0.2:
        axis = draw.randrange(len(mine))
        text += f".narrow({axis}, 0, 1)" + (f".expand({mine})" if draw.random() < 0.5 else "")
    return text


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("call", CALLS)
def test_strides_of_elementwise_results(call: str) -> None:
    count, function = CALLS[call]
    for seed in range(120):
        draw = random.Random(seed)
        shape = [draw.choice([2, 3, 4]) for _ in range(draw.choice([1, 2, 2, 3, 4]))]
        operands = [_operand(draw, shape) for _ in range(count)]
        theirs, ours = (function(m, *[eval(x, {"torch": m}) for x in operands]) for m in (torch, retrograd))
        assert ours.shape == tuple(theirs.shape)
        steps = [[s for s, n in zip(r.stride(), r.shape) if n > 1] for r in (theirs, ours)]
        assert steps[0] == steps[1], (seed, operands, theirs.stride(), ours.stride())
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4)


@pytest.mark.parametrize("name", ["binary_cross_entropy", "binary_cross_entropy_with_logits"])
@pytest.mark.parametrize("weighted", [False, True])
def test_strides_of_losses_of_elements(name: str, weighted: bool) -> None:
    draw = random.Random(name)
    for _ in range(40):
        shape = [draw.randint(2, 4) for _ in range(draw.randint(1, 4))]
        order = draw.sample(range(len(shape)), len(shape))
        values = np.linspace(0.1, 0.9, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        found = []
        for library in (torch, retrograd):
            x, y = [library.tensor(values).permute(order) for _ in range(2)]
            loss = getattr(library.nn.functional, name)(x.requires_grad_(), y, y if weighted else None,
                                                        reduction="none")
            by_x, = library.autograd.grad(loss, x, library.ones_like(loss))
            found.append((loss.stride(), by_x.stride()))
        assert found[0] == found[1], (shape, order)


# Products, and the shapes of their tensors for sizes n, k, m.
PRODUCTS: dict[str, tuple[Any, Any]] = {
    "mm": (lambda t, x, y: x.mm(y), lambda n, k, m: [(n, k), (k, m)]),
    "matmul of a stack": (lambda t, x, y: x @ y, lambda n, k, m: [(2, n, k), (k, m)]),
    "mv": (lambda t, x, y: x @ y, lambda n, k, m: [(n, k), (k,)]),
    "bmm": (lambda t, x, y: t.bmm(x, y), lambda n, k, m: [(2, n, k), (2, k, m)]),
    "addmm": (lambda t, x, y, z: t.addmm(z, x, y, alpha=2, beta=3), lambda n, k, m: [(n, k), (k, m), (m,)]),
    "linear": (lambda t, x, y, z: t.nn.functional.linear(x, y, z), lambda n, k, m: [(n, k), (m, k), (m,)]),
    "linear without bias": (lambda t, x, y: t.nn.functional.linear(x, y), lambda n, k, m: [(n, k), (m, k)]),
    "linear of a stack": (lambda t, x, y, z: t.nn.functional.linear(x, y, z),
                          lambda n, k, m: [(2, n, k), (m, k), (m,)]),
    "einsum": (lambda t, x, y: t.einsum("ij,kj->ik", x, y), lambda n, k, m: [(n, k), (m, k)]),
    "einsum with exchanged operands": (lambda t, x, y: t.einsum("ij,kj->ki", x, y), lambda n, k, m: [(n, k), (m, k)]),
    "linear in half precision": (lambda t, x, y: t.nn.functional.linear(x.bfloat16(), y.bfloat16()).float(),
                                 lambda n, k, m: [(n, k), (m, k)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_strides_of_gradients_of_products(name: str) -> None:
    """Programs flatten what `torch.autograd.grad` returns with `view`, which needs the very strides of PyTorch."""
    function, shapes = PRODUCTS[name]
    for seed in range(60):
        draw = random.Random(seed)
        sizes = shapes(*[draw.choice([1, 2, 3, 5]) for _ in range(3)])
        turned = [draw.random() < 0.5 for _ in sizes]
        found = []
        for library in (torch, retrograd):
            x = [library.ones(shape[::-1]).permute(*range(len(shape))[::-1]) if turn else library.ones(shape)
                 for shape, turn in zip(sizes, turned)]
            leaves = [tensor.requires_grad_() for tensor in x]
            out = function(library, *leaves)
            found.append([[s for s, n in zip(g.stride(), g.shape) if n > 1]
                          for g in library.autograd.grad(out.square().sum(), leaves)])
        assert found[0] == found[1], (sizes, turned)


@pytest.mark.parametrize("equation", ["ijz,kjz->kiz", "zij,kj->kiz", "zij,zkj->zki", "ij,zkj->zki", "ij,kzj->kzi"])
def test_a_size_of_1_in_both_operands_of_a_contraction_belongs_to_the_second(equation: str) -> None:
    found = []
    for library in (torch, retrograd):
        operands = [library.ones([{"i": 4, "j": 5, "k": 6, "z": 1}[label] for label in term])
                    for term in equation.partition("->")[0].split(",")]
        out = library.einsum(equation, *operands)
        found.append([s for s, n in zip(out.stride(), out.shape) if n > 1])
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(300))
def test_strides_of_contractions(seed: int) -> None:
    """`einsum` of two and three operands. All operands have the label `a`, which is summed."""
    draw = random.Random(seed)
    sizes = {label: draw.choice([2, 3, 4]) for label in "abcdef"}
    terms = [["a", *draw.sample("bcdef", draw.randint(1, 3))] for _ in range(draw.choice([2, 2, 2, 3]))]
    for term in terms:
        draw.shuffle(term)
    labels = sorted({label for term in terms for label in term} - {"a"})
    equation = f"{','.join(map(''.join, terms))}->{''.join(draw.sample(labels, draw.randint(1, len(labels))))}"
    turned = [draw.random() < 0.3 for _ in terms]
    found = []
    for library in (torch, retrograd):
        shapes = [[sizes[label] for label in term] for term in terms]
        operands = [library.ones(shape[::-1]).permute(*range(len(shape))[::-1]) if turn else library.ones(shape)
                    for shape, turn in zip(shapes, turned)]
        out = library.einsum(equation, *operands)
        found.append([s for s, n in zip(out.stride(), out.shape) if n > 1])
    assert found[0] == found[1], (equation, sizes)


def _order(module: Any, shape: list[int], strides: list[int] | None, dims: list[int], check: Any) -> Any:
    """The order of a tensor's dims, or the error. A list of formats is given by their names."""
    x = module.zeros(shape).permute(dims) if strides is None else module.zeros(200).as_strided(shape, strides)
    if type(check) is list:
        check = [getattr(module, name) if isinstance(name, str) else name for name in check]
    try:
        return x.dim_order() if check is None else x.dim_order(ambiguity_check=check)
    except (RuntimeError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("check", [None, False, True, ["contiguous_format"], ["channels_last"],
                                   ["contiguous_format", "channels_last"], "other", [1], 1], ids=str)
def test_orders_of_dims(check: Any) -> None:
    draw = random.Random(0)
    for _ in range(1500):
        shape = [draw.choice([1, 1, 2, 3]) for _ in range(draw.randrange(5))]
        dims = draw.sample(range(len(shape)), len(shape))
        strides = [draw.choice([0, 1, 2, 3, 6, 12]) for _ in shape] if draw.random() < 0.5 else None
        given = shape, strides, dims, check
        assert _order(retrograd, *given) == _order(torch, *given), given
