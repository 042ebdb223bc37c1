"""Random steps with numbers of Python's own, run as they are and with one plan for all sizes.

A step reads numbers from tensors, counts in its state, and computes with both and with sizes of tensors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

SIZES = (4, 6, 9, 5, 3, 7, 12, 4, 8, 20, 9, 30, 11, 13, 2, 17, 1, 5)
TENSORS = ("a = (x * w).sum()", "a = x.mean() + w.sum()", "a = x[0].sum()", "a = (x @ w).square().mean()",
           "a = x.sum(1)[-1] * 2", "a = (x * w).sum() / x.shape[0]", "a = a * x.shape[0]")
READ = ("a.item()", "s.n", "s.total", "x.shape[0]", "(x.shape[0] - 5)", "x.size(0)", "x.numel()", "x[0, 0].item()",
        "2", "0.5", "x.sum(0).tolist()[1]", "s.d['k']", "x.shape[0] * 3", "(x.shape[0] / 2)", "w.sum().item()",
        "(s.n - 3)", "s.last", "len(s.log)")
RARE = ("len(x)", "len(x.tolist())", "x.sum(1).tolist()[-1]", "int(a)", "len(x.sum(1).tolist())", "x.shape[0] ** 2",
        "math.sqrt(x.shape[0])")
# Numbers that are the same to the last bit, whatever computes them: others may jump in a remainder.
EXACT = ("s.n", "x.shape[0]", "(x.shape[0] - 5)", "x.numel()", "(s.n - 3)", "s.last", "len(s.log)", "7")
COMBINED = ("{p} + {q}", "{p} * {q}", "{p} - {q}", "{p} / {q}", "{i} // {j}", "{i} % {j}", "max({p}, {q})",
            "min({p}, {q})", "-{p}", "abs({p})", "round({p}, 2)", "{p} ** 2", "({i} > {j})",
            "({i} if {j} > 2 else {p})", "{p}", "{p}", "math.sqrt(abs({p}))", "math.pow(2.0, {i} % 3)",
            "divmod({i}, {j})", "[{p}, {q}]", "({p}, x.sum(0))")
KEPT = ("s.n += 1", "s.n += 1", "s.n += x.shape[0]", "s.total += {p}", "s.total = s.total * 0.9 + {p} * 0.1",
        "s.log.append({e})", "s.d['k'] = {p}", "s.last = x.shape[0]", "s.n = s.n + 2", "s.log.append(a.item())",
        "r.append({e})", "r.append({e})", "r.append({e})", "a = a * 2 if s.n % 3 else a",
        "r.append(a.detach().numpy())", "s.best = min(s.best, a.item())", "r.append(x.sum(0).tolist())",
        "r.append(x.sum(1).tolist())", "a = a + s.n",
        "r.append(a.numel())", "a = a * (1 if s.n > 4 else 2)", "r.append(a.detach() * 1)")


class State:
    """Where a step counts."""

    def __init__(self) -> None:
        self.n, self.total, self.last, self.best = 0, 0.5, 4, 1e9
        self.log: list[Any] = []
        self.d = {"k": 1.5}


class Found(NamedTuple):
    """What a comparison found: `difference` is "" if all is alike. `sized` says whether one plan served all sizes."""

    difference: str
    sized: bool


def written(seed: int) -> str:
    """The program of a seed."""
    draw = random.Random(seed)

    def operand() -> str:
        return draw.choice(RARE if draw.random() < 0.04 else READ)

    def combined() -> str:
        i, j = draw.choices(EXACT, k=2)
        return draw.choice(COMBINED).format(p=operand(), q=operand(), i=i, j=j)

    lines = [draw.choice(TENSORS[:6])]
    for _ in range(draw.randint(1, 5)):
        line = draw.choice(KEPT if draw.random() < 0.8 else TENSORS)
        lines.append(line.format(p=operand(), e=combined()))
    if draw.random() < 0.7:
        lines += ["(a * w).sum().backward()", "with torch.no_grad(): w.sub_(0.001 * w.grad)", "w.grad = None"]
    lines.append(draw.choice(("return r", "return r, a.item()", "return a.detach(), r", "return r, s.n")))
    return "\n".join(["def made(torch, math, w, s):", " def step(x):", "  r = []", *[f"  {line}" for line in lines],
                      " return step"])


def compared(torch: Any, seed: int, backend: str, dynamic: bool | None, sizes: Sequence[int] = SIZES) -> Found:
    """Run the step of a seed for these sizes, as it is and compiled, and compare all that can be seen."""
    scope: dict[str, Any] = {}
    exec(written(seed), scope)
    weights = [torch.linspace(-1, 1, 3).requires_grad_() for _ in range(2)]
    states = [State(), State()]
    steps = [scope["made"](torch, math, w, s) for w, s in zip(weights, states)]
    steps[1] = compiled = torch.compile(steps[1], backend=backend, dynamic=dynamic)
    found = ""
    for number, size in enumerate(sizes):
        x = torch.linspace(-1, 2, size * 3).reshape(size, 3) + number % 3
        seen = [_seen(step, x.clone()) for step in steps]
        seen = [(each, vars(state), w.tolist()) for each, state, w in zip(seen, states, weights)]
        if not alike(*seen):
            found = f"call {number} of the size {size}: {seen[0]} and {seen[1]}"
            break
        _follow(states[1], states[0])
        weights[1]._array[...] = weights[0]._array
    run = next(cell.cell_contents for cell in compiled.__closure__ if hasattr(cell.cell_contents, "run")).run
    return Found(found, any([getattr(recipe, "code", None) is not None for _, recipe in getattr(run, "entries", ())]))


def _follow(state: State, other: State) -> None:
    """Give a state the floats of another one, from which its own may differ in the last bits."""
    state.total, state.best, state.log[:] = other.total, other.best, other.log
    state.d.update(other.d)


def _seen(step: Callable[[Any], Any], x: Any) -> Any:
    try:
        return step(x)
    except (ArithmeticError, ValueError, TypeError, IndexError, RuntimeError) as error:
        return type(error).__name__, str(error)


def alike(one: Any, other: Any) -> bool:
    """Whether two values are of the same kind, and their floats nearly the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return [*one] == [*other] and all(map(alike, one.values(), other.values()))
    if hasattr(one, "tolist"):
        return bool(one.dtype == other.dtype and one.shape == other.shape) and alike(one.tolist(), other.tolist())
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-5) or (one != one and other != other)
    return bool(one == other)
