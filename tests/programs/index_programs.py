"""Random programs that read or write `x[…]`, as text, for both libraries: what is seen of each can be compared.

An index mixes ints, slices, None, Ellipsis, bools, masks, index tensors, lists and arrays; a value is a number or a
tensor of some shape and type that may or may not fit.
"""

from __future__ import annotations

import random
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np

from comparing.same_expression import said

FLOATS = ("float32", "float64")
ALL = (*FLOATS, "float16", "int64", "int32", "uint8", "bool", "complex64")


def _tensor(draw: random.Random, shape: list[int], dtype: str = "") -> str:
    """A tensor of a shape, of small numbers."""
    count = int(np.prod(shape))
    numbers = [draw.randrange(2) if dtype == "bool" else draw.randrange(1, 9) for _ in range(count)]
    return f"torch.tensor({numbers}, dtype=torch.{dtype or draw.choice(ALL)}).reshape({shape})"


def _indices(draw: random.Random, size: int, shape: list[int]) -> list[int]:
    """Numbers that are mostly within a dimension of a size."""
    low, high = -size, size - 1
    if draw.random() < 0.03 or not size:
        low, high = low - 1, high + 1
    return [draw.randint(low, max(low, high)) for _ in range(int(np.prod(shape)))]


def _slice(draw: random.Random, size: int) -> str:
    ends = [draw.choice(["", str(draw.randint(-size - 1, size + 1))]) for _ in range(2)]
    step = draw.choice(["", "", ":1", ":2", ":3"]) if draw.random() < 0.99 else ":-1"
    return ":".join(ends) + step


def _item(draw: random.Random, shape: list[int], dim: int, common: list[int]) -> tuple[str, int]:
    """One item of an index, and how many dimensions it uses up."""
    size = shape[dim]
    kind = draw.choice(["int", "slice", "slice", ":", "tensor", "tensor", "list", "mask", "mask2", "0-d", "array"])
    if kind == "int":
        return str(_indices(draw, size, [])[0]), 1
    if kind == "slice":
        return _slice(draw, size), 1
    if kind == "mask" or (kind == "mask2" and dim + 1 < len(shape)):
        width = 1 if kind == "mask" else 2
        masked = shape[dim:dim + width]
        if draw.random() < 0.03:
            masked = [masked[0] + 1, *masked[1:]]
        return _tensor(draw, masked, "bool"), width
    if kind in ("tensor", "0-d"):
        at = [] if kind == "0-d" else draw.choice([common, common, [1], [*common[-1:]]])
        numbers = _indices(draw, size, at)
        return f"torch.tensor({numbers}, dtype=torch.{draw.choice(('int64', 'int32'))}).reshape({at})", 1
    if kind == "list":
        return str(_indices(draw, size, common)) if common else str(_indices(draw, size, [1])), 1
    if kind == "array":
        return f"np.array({_indices(draw, size, common)}).reshape({common})", 1
    return ":", 1


def key(draw: random.Random, shape: list[int]) -> str:
    """An index into a tensor of a shape."""
    if draw.random() < 0.06:
        return draw.choice(["...", "None", "True", "False", "()", "torch.tensor(True)", "[]"])
    common = draw.choice([[], [2], [3], [1, 2], [2, 2], [0]])
    items: list[str] = []
    dim, dots = 0, False
    while dim < len(shape):
        what = draw.random()
        if what < 0.12:
            items.append(draw.choice(["None", "None", "True", "False"]) if draw.random() < 0.8 else "None")
        elif what < 0.24 and not dots:
            items.append("...")
            dots, dim = True, dim + draw.randint(0, len(shape) - dim)
        elif what < 0.32:
            break
        else:
            item, used = _item(draw, shape, dim, common)
            items.append(item)
            dim += used
    if draw.random() < 0.02:
        items += ["0"] * (len(shape) + 1)
    if not items:
        return "..."
    return ", ".join(items) + ("," if len(items) == 1 and draw.random() < 0.3 else "")


def value(draw: random.Random, shape: list[int], over: str) -> str:
    """What is written over a part of a shape, in a tensor of the type `over`."""
    kind = draw.random()
    if kind < 0.2:
        return draw.choice(["2", "2.5", "True", "-1", "float('nan')", "300", "1j"])
    wanted = [*shape]
    if kind < 0.5:
        wanted = [1 if draw.random() < 0.4 else n for n in wanted]
    if kind < 0.4 and wanted:
        wanted = wanted[draw.randrange(len(wanted)):]
    if 0.5 < kind < 0.6:
        wanted = [1] * draw.randint(0, 2) + wanted
    if kind > 0.93:
        wanted = [n + draw.randrange(2) for n in wanted]
    if 0.8 < kind < 0.88:
        wanted = []
    dtype = draw.choice(FLOATS) if draw.random() < 0.7 else ""
    text = _tensor(draw, wanted, dtype)
    return text + ".requires_grad_()" if dtype and over in FLOATS and draw.random() < 0.5 else text


def program(seed: int) -> list[str]:
    """A base, a read of it, and a write to it."""
    draw = random.Random(seed)
    shape = [draw.choice([1, 2, 2, 3, 3, 4, 0] if draw.random() < 0.3 else [2, 3, 4]) for _ in range(draw.choice(
        [0, 1, 1, 2, 2, 2, 3, 3, 4]))]
    dtype = draw.choice(FLOATS) if draw.random() < 0.7 else draw.choice(ALL)
    leaf = _tensor(draw, shape, dtype)
    if dtype in FLOATS and draw.random() < 0.7:
        leaf += ".requires_grad_()"
    base = draw.choice(["leaf * 1", "leaf * 1", "leaf.clone()", "leaf", "(leaf * 1).view(leaf.shape)"])
    index = key(draw, shape)
    try:
        part = [*eval(f"x[{index}]", {"x": np.zeros(shape), "torch": _Arrays, "np": np, "float": float}).shape]
    except Exception:
        part = [draw.randrange(4)]
    return [f"leaf = {leaf}", f"x = {base}", f"part = x[{index}]", f"value = {value(draw, part, dtype)}",
            f"x[{index}] = value"]


class _Arrays:
    """Index tensors as arrays, to find the shape of what is written over."""

    int64, int32, bool = np.int64, np.int32, np.bool_

    @staticmethod
    def tensor(values: Any, dtype: Any = None) -> Any:
        return np.array(values, dtype)


def seen(torch: ModuleType, seed: int) -> list[Any]:
    """What a program shows with a library: errors, values, types, versions, nodes and gradients, step by step."""
    names: dict[str, Any] = {"torch": torch, "np": np}
    notes: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in program(seed):
            try:
                exec(line, names)
            except Exception as error:
                # Of several indices that are outside, either may be named.
                words = re.sub(r"-?\d+", "#", said(error))
                notes.append((type(error).__name__, words.partition(": ")[0] if "overflow" in words else words))
        for name in ("part", "x", "value"):
            notes.append((name, _facts(torch, names.get(name))))
        notes.append(_gradients(torch, names))
    return notes


def _facts(torch: ModuleType, x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        return None
    try:
        node = x.grad_fn
    except RuntimeError as error:
        return said(error)
    following = () if node is None else tuple(None if n is None else _name(n) for n, _ in node.next_functions)
    return (str(x.dtype), tuple(x.shape), x._version, x.requires_grad, x._is_view(), node and _name(node), following,
            repr(x.tolist()))


def _name(node: Any) -> str:
    return str(node.name().rpartition("::")[2])


def _gradients(torch: ModuleType, names: dict[str, Any]) -> Any:
    """The gradients, by what requires one, of squares of what was read and written."""
    leaves = [names[name] for name in ("leaf", "value") if isinstance(names.get(name), torch.Tensor)
              and names[name].requires_grad]
    total = [x.double().square().sum() for x in (names.get("x"), names.get("part"))
             if isinstance(x, torch.Tensor) and x.requires_grad]
    if not leaves or not total:
        return None
    try:
        found = torch.autograd.grad(sum(total), leaves, allow_unused=True)
    except Exception as error:
        return type(error).__name__, said(error)
    return [None if g is None else (str(g.dtype), tuple(g.shape), repr(g.tolist())) for g in found]
