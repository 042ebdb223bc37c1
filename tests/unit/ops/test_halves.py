"""In float16 and bfloat16, a plain pass gives the bits of a recorded pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from op_table.table import TABLE, Entry
from retrograd.kernels.options import is_rounded_once


def _nodes(root: Any) -> list[Any]:
    found, todo = [], [root]
    while todo:
        node = todo.pop()
        if node is not None and node not in found:
            found.append(node)
            todo += [edge for edge, _ in node.next_functions]
    return found


def _rounds_once(root: Any) -> bool:
    """Whether a graph has a rule that PyTorch computes by one kernel, so that a plain pass does not round its steps."""
    return any(is_rounded_once(rule) for node in _nodes(root) for _, rule, _ in getattr(node, "steps", None) or ())


def _gradients(entry: Entry, arrays: list[Any], dtype: torch.dtype, record: bool) -> list[Any] | None:
    inputs = [torch.tensor(array).to(dtype).requires_grad_() for array in arrays]
    torch.manual_seed(0)
    try:
        found = entry.call(torch, *inputs)
    except (RuntimeError, NotImplementedError, TypeError, ValueError):     # not for these types
        return None
    results = [r for r in (found if isinstance(found, tuple | list) else [found]) if r.requires_grad]
    if not results or any(_rounds_once(r.grad_fn) for r in results):
        return None
    gradients = torch.autograd.grad(results, inputs, [torch.ones_like(r) * 0.3 for r in results], allow_unused=True,
                                    create_graph=record)
    return [None if g is None else (g.dtype, g.detach().to_dense().double().numpy()) for g in gradients]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["float16", pytest.param("bfloat16", marks=needs("ml_dtypes"))])
@pytest.mark.parametrize("entry", [e for e in TABLE if "f" in e.kinds and not e.refused], ids=str)
def test_a_plain_pass_gives_the_bits_of_a_recorded_pass(entry: Entry, dtype: str) -> None:
    for arrays in entry.samples("float32"):
        plain = _gradients(entry, arrays, getattr(torch, dtype), record=False)
        recorded = _gradients(entry, arrays, getattr(torch, dtype), record=True)
        for ours, expected in zip(plain or [], recorded or [], strict=True):
            if ours is not None and expected is not None:
                assert ours[0] is expected[0]
                np.testing.assert_array_equal(ours[1], expected[1])


@pytest.mark.parametrize("dtype", ["float16", pytest.param("bfloat16", marks=needs("ml_dtypes"))])
def test_the_gradient_of_each_activation_in_a_chain_is_rounded_once(dtype: str) -> None:
    x = torch.linspace(-3, 3, 301).to(getattr(torch, dtype)).requires_grad_()
    y = torch.nn.functional.silu(x)
    g = torch.linspace(0.1, 1, 301).to(x.dtype)

    def by_hand(g: Any, at: Any) -> Any:
        wide = at.detach().float()
        part = 1 / (1 + (-wide).exp())
        return (g.float() * (part * (1 + wide * (1 - part)))).to(x.dtype)

    found, = torch.autograd.grad(torch.nn.functional.silu(y), x, g)
    assert found.dtype is x.dtype
    equal = found == by_hand(by_hand(g, y), x)
    assert equal.float().mean() > 0.97                      # the exponentials differ by a bit here and there
