"""What a tensor is said to keep alive, against what is let go when it goes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd.graph import memory_held

SIZE = 4 * 1000


def leaf() -> Any:
    return torch.ones(1000, requires_grad=True)


def rows(tensor: Any) -> dict[str, int]:
    return {row.name: row.bytes for row in memory_held(tensor).rows}


def test_what_a_node_saved_and_the_leaf_behind_it() -> None:
    y = leaf().mul(2).exp().sum()
    assert rows(y) == {"ExpBackward0": SIZE, "a leaf": SIZE, "the tensor": 4, "MulBackward0": 4}
    assert memory_held(y).total == 2 * SIZE + 8


def test_what_several_hold_counts_once() -> None:
    y = leaf().exp()
    z = y * y
    assert rows(z) == {"the tensor": SIZE, "MulBackward0": SIZE, "ExpBackward0": 0, "a leaf": SIZE}
    assert [row.arrays for row in memory_held(z).rows if row.name == "MulBackward0"] == [2]
    assert memory_held(leaf().detach()).total == SIZE


def test_a_view_counts_as_what_it_keeps_alive() -> None:
    assert memory_held(torch.ones(1000)[:1]).total == SIZE
    assert memory_held(torch.ones(1).expand(1000)).total == 4
    x = torch.ones(1000)
    assert memory_held(x.data[:10]).total == SIZE
    y = leaf().exp()[:10]
    assert memory_held(y * y.data[:10]).total == 40 + 2 * SIZE


def test_a_gradient_and_its_own_graph() -> None:
    x = leaf()
    (x * 2).sum().backward()
    assert rows(x * 1)["a gradient"] == SIZE
    y = leaf()
    with pytest.warns(UserWarning, match="reference cycle"):
        (y ** 3).sum().backward(create_graph=True)
    assert "PowBackward0" in rows(y)
    y.grad = None


def test_what_was_let_go_is_not_counted() -> None:
    y = (leaf() * leaf()).sum()
    assert memory_held(y).total == 2 * SIZE + 4
    y.backward()
    assert memory_held(y).total == 4 * SIZE + 4                  # the leaves, and now their gradients
    x = leaf()
    z = x.exp().sum()
    z.backward()
    x.grad = None
    assert rows(z) == {"the tensor": 4, "a leaf": SIZE}


def test_a_base_that_was_written_to_through_a_view() -> None:
    y = leaf() * 1
    y[:10].mul_(leaf()[:10])
    found = rows(y)
    assert found["torch::autograd::CopySlices"] == 40 + SIZE     # a copy of what was there, and the factor
    assert memory_held(y[5:6]).total == memory_held(y).total


class Keeping(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.factor, ctx.others = torch.ones(10), {"list": [torch.ones(20), np.ones(5)], "number": 3}
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


def test_what_a_function_keeps() -> None:
    y = Keeping.apply(leaf())
    row = next(row for row in memory_held(y).rows if row.name == "KeepingBackward")
    assert row.contents == ("float32[1000]", "float32[1000]", "float32[10]", "float32[20]", "float64[5]")
    assert row.bytes == SIZE + 40 + 80 + 40                      # its result is the tensor's own


@pytest.mark.parametrize("make", [
    lambda x: (x * x).sum(),
    lambda x: x.exp().sin().sum(),
    lambda x: torch.stack([x, x * 2]).prod(0).sum(),
    lambda x: Keeping.apply(x * 2).sum(),
    lambda x: torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0].sum(),
])
def test_the_total_is_what_goes_with_the_tensor(make: Callable[[Any], Any]) -> None:
    x = torch.ones(100_000, requires_grad=True)
    make(x)
    tracemalloc.start()
    try:
        y = make(x)
        total = memory_held(y).total
        before = tracemalloc.get_traced_memory()[0]
        del y
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert total - 400_000 == pytest.approx(freed, abs=20_000)     # but for the leaf, which is here


def test_a_deep_graph() -> None:
    y = leaf()
    for _ in range(20_000):
        y = y * 1.5
    held = memory_held(y)
    assert len(held.rows) == 20_002
    assert "and 19982 more" in str(held)


def test_the_table() -> None:
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        y = leaf().exp()
    lines = str(memory_held(y)).splitlines()
    assert [line.split()[0] for line in lines] == ["bytes", "4,000", "4,000", "0", "8,000"]
    assert lines[0].split() == ["bytes", "held", "by", "what", "recorded", "at"]
    assert lines[3].startswith(f'    0  ExpBackward0  float32[1000]  File "{__file__}", line ')
    assert repr(memory_held(y)) == "<memory held: 8,000 bytes by 3>"
    assert "set_detect_anomaly(True, check_nan=False)" in str(memory_held(leaf()))


def test_several_tensors() -> None:
    x = leaf()
    y = x.exp()
    first, second = y.sum(), y.sin()
    held = memory_held([first, second])
    assert [row.name for row in held.rows if row.name.startswith("tensor")] == ["tensor 1", "tensor 0"]
    assert held.total == memory_held(first).total + second.numpy(force=True).nbytes      # what both hold counts once
    assert memory_held((first,)).total == memory_held(first).total
    assert memory_held(t for t in (first, first)).total == memory_held(first).total
    assert memory_held([]).total == 0


def test_a_second_root_that_the_first_keeps_alive_adds_nothing() -> None:
    y = leaf().exp()
    both = memory_held([y.sin(), y])
    assert both.total == memory_held(y.sin()).total


@pytest.mark.parametrize(("given", "kind"), [
    (1.0, "float"), (None, "NoneType"), ([1.0], "list of float"), ({"loss": leaf()}, "dict of str"),
    (torch.nn.Linear(1, 1), "Linear"), (torch.nn.Sequential(torch.nn.Linear(1, 1)), "Sequential of Linear"),
])
def test_what_is_no_tensor(given: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"must be Tensor or a sequence of Tensors, not {kind}"):
        memory_held(given)


def test_sparse_arrays_count_with_their_indices() -> None:
    table = torch.nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([0, 0])).sum().backward()
    assert {row.name: row.bytes for row in memory_held(table.weight).rows} == {"the tensor": 24, "a gradient": 32}
    w = torch.eye(3).to_sparse().requires_grad_()
    assert memory_held(torch.sparse.mm(w, torch.ones(3, 1)).sum()).total == 4 + 12 + 3 * (2 * 8 + 4)
