"""Lines on small arrays as one call on stacks of these arrays: the same bits, in fewer calls."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.execution.numpy_code import NumPyCode

SHAPES = [(), (1,), (2,), (3, 2), (2, 1, 2)]


def codes(function: Any, *args: Any, runs: int = 2) -> tuple[list[Any], list[NumPyCode]]:
    """The results of a function that is compiled for NumPy, and the code of its plans."""
    made: list[NumPyCode] = []
    begin = NumPyCode.__init__

    def kept(self: NumPyCode, *rest: Any) -> None:
        begin(self, *rest)
        made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumPyCode, "__init__", kept)
        compiled = torch.compile(function, backend="numpy", fullgraph=True)
        return [compiled(*args) for _ in range(runs)], made


def bits(value: Any) -> Any:
    return [part.detach().numpy().tobytes() for part in (value if isinstance(value, tuple) else (value,))]


def test_a_chain_and_its_gradients_take_few_calls() -> None:
    x, y = ((1 + 0.1 * torch.rand(2, 3)).requires_grad_() for _ in range(2))

    def chain() -> Any:
        z = torch.ones(2, 3)
        for _ in range(50):
            z = (z / x) * y
        loss = z.sum()
        return (loss.detach(), *torch.autograd.grad(loss, (x, y)))

    found, (code,) = codes(chain)
    assert bits(found[1]) == bits(chain())
    lines = code.text.splitlines()
    assert sum([line.count("(") for line in lines]) < 4 * 50 + 30           # of 500 operations
    assert len([line for line in lines if "-0.0" in line]) == 2


def test_a_sum_keeps_the_sign_of_zero_and_its_order() -> None:
    numbers = np.random.default_rng(0).standard_normal((40, 2, 3)).astype(np.float32) * 1e4
    numbers[:, 0, 0] = -0.0
    numbers[:, 0, 1] = [0.0, *[-0.0] * 39]
    terms = torch.tensor(numbers)

    def total(terms: Any) -> Any:
        result = terms[0] * 1.5
        for term in terms[1:]:
            result = result + (term * 1.5).negative()
        return result

    found, (code,) = codes(total, terms)
    assert bits(found[1]) == bits(total(terms))
    assert "-0.0" in code.text

    def moved(x: Any) -> Any:
        result = x * -0.0
        for i in range(20):
            result = result + (x * (i % 3 - 1)) / 7
        return result

    x = torch.tensor([[1.0, -2, 0.0], [3e38, float("inf"), float("nan")]])
    found, (code,) = codes(moved, x)
    assert bits(found[1]) == bits(moved(x))


def program(r: random.Random) -> tuple[str, list[tuple[int, ...]]]:
    """A function of small tensors with many lines that are alike, and the shapes of its arguments."""
    shape = r.choice(SHAPES)
    others = [shape, shape, (), shape[1:]]
    lines, names = ["def f(a, b, c, d):"], ["a", "b", "c"]
    total = None
    for name in r.sample(["p", "q"], r.randint(0, 2)):       # the same lines, again and again
        x, y, z = (r.choice(names) for _ in range(3))
        lines += [f"    {name} = {x} + c", f"    for i in range({r.randint(2, 12)}):",
                  f"        u = {name} {r.choice('+-*/')} {y}", f"        {name} = u {r.choice('+-*')} {z}"]
        names.append(name)
    for i in range(r.randint(8, 40)):
        x, y = (r.choice(names[-6:] if r.random() < 0.7 else names) for _ in range(2))
        kind = r.random()
        if kind < 0.12:
            lines.append(f"    v{i} = -{x}")
        elif kind < 0.2:
            lines.append(f"    v{i} = {x} * {r.choice((2.0, -0.5, 3))}")
        elif kind < 0.26:
            lines.append(f"    v{i} = {r.choice(('torch.maximum', 'torch.minimum'))}({x} + a, {y} + a)")
        elif kind < 0.3:
            lines.append(f"    v{i} = ({x} + a).abs().sqrt()")
        elif kind < 0.33:
            lines.append(f"    v{i} = ({x} + a).reshape(-1).clone().reshape(a.shape)")
        elif kind < 0.36:
            lines.append(f"    with torch.no_grad(): d.add_({x}.detach().sum() * 0.01)")
            lines.append(f"    v{i} = {x} - d.clone()")
        elif kind < 0.6 and total is not None:
            lines.append(f"    v{i} = {total} + {x} * {y}")
            total = f"v{i}"
        else:
            lines.append(f"    v{i} = {x} {r.choice('+-**/')} {y}")
            total = total or (f"v{i}" if r.random() < 0.5 else None)
        names.append(f"v{i}")
    results = ", ".join(r.sample(names[3:], min(len(names) - 3, r.randint(1, 3))))
    lines += [f"    found = {results},", "    loss = sum([v.sum() for v in found]) + (a * b).sum()",
              "    return (*[v.detach() for v in found], *torch.autograd.grad(loss, (a, b), allow_unused=True))"]
    return "\n".join(lines), others


@pytest.mark.sampled(5)
@pytest.mark.parametrize("group", range(5))
def test_random_programs_keep_their_bits(group: int) -> None:
    together = 0
    for seed in range(group, 150, 5):
        r = random.Random(seed)
        text, shapes = program(r)
        scope: dict[str, Any] = {"torch": torch}
        exec(text, scope)
        dtype = r.choice((torch.float32, torch.float64))
        numbers = np.random.default_rng(seed)

        def arguments(numbers: Any = numbers, dtype: Any = dtype, shapes: Any = shapes) -> list[Any]:
            made = [torch.tensor(numbers.standard_normal(shape), dtype=dtype) for shape in shapes]
            return [made[0].requires_grad_(), made[1].requires_grad_(), *made[2:]]

        compiled = torch.compile(scope["f"], backend="numpy")
        first = arguments()
        with np.errstate(all="ignore"):
            _, made = codes(scope["f"], *first)
            for _ in range(3):
                args = arguments()
                again = [arg.detach().clone().requires_grad_(arg.requires_grad) for arg in args]
                found, expected = compiled(*args), scope["f"](*again)
                for one, other in zip((*found, args[3]), (*expected, again[3]), strict=True):
                    np.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy(), err_msg=text)
                    assert one.stride() == other.stride()
        together += sum([len(code.stacks.calls) for code in made if code.stacks is not None])
    assert together > 25
