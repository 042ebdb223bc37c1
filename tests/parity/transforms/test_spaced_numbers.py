"""`linspace` and `logspace` between ends that are tensors: in batches, with tangents and with gradients."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

import retrograd

ENDS = ("a, b", "a, 3.0", "1.0, b", "a, t.tensor(3.0)", "t.tensor(0), b", "a, a", "a.sum(), b + 1")
MODES = {
    "plain": "f(x[0], y[1])", "batch": "t.vmap(f)(x, y)", "last dim": "t.vmap(f, out_dims=-1)(x, y)",
    "one batch": "t.vmap(f, in_dims=(0, None))(x, y[0])", "in chunks": "t.vmap(f, chunk_size=1)(x, y)",
    "two batches": "t.vmap(t.vmap(f, in_dims=(0, None)), in_dims=(None, 0))(x, y)",
    "jvp": "t.func.jvp(f, (x[0], y[0]), (x[1], y[1]))", "a leaf": "f(x[0].double().requires_grad_(), y[0])",
    "jvp in a batch": "t.vmap(lambda a, b: t.func.jvp(f, (a, b), (b, a)))(x, y)",
    "two dims": "f(x, y)", "dims of start": "f(x, y[0])", "dims of end": "f(x[0], y)"}


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("function", ["linspace", "logspace"])
def test_numbers_between_tensors(function: str, ends: str, mode: str) -> None:
    def seen(t: Any, steps: int, target: str, kind: str) -> Any:
        names: Any = {"t": t, "x": t.tensor([1, 2]).to(getattr(t, kind)), "y": t.tensor([3, 5]).to(getattr(t, kind))}
        exec(f"def f(a, b): return t.{function}({ends}, {steps}, dtype=t.{target})", names)
        try:
            found = eval(MODES[mode], names)
        except (RuntimeError, ValueError) as error:
            return type(error), str(error).split("\n")[0]
        return str(found.dtype)[-7:], found.requires_grad, found.shape, found.double().flatten().tolist()

    for case in product((0, 1, 2, 5), ("float32", "float64", "int64"), ("float32", "int64", "float64")):
        theirs, ours = seen(torch, *case), seen(retrograd, *case)
        assert ours[:-1] == theirs[:-1], (case, ours, theirs)
        assert ours[-1] == (theirs[-1] if type(theirs[-1]) is str else pytest.approx(theirs[-1], rel=1e-6)), case
