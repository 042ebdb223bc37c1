"""Results of less usual functions lie in memory as PyTorch's do, for arguments in every layout."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import retrograd

ORDERS = [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 2, 0), (1, 0, 2), (2, 0, 1)]
CALLS = {
    "put": "t.put(x, i, x.flatten()[:2] + 1)", "put, added": "t.put(x, i, x.flatten()[:2], True)",
    "complex": "t.complex(x, y)", "complex of a number": "t.complex(x, y[0, 0, 0])",
    "complex with a number": "t.complex(y[0, 0, 0], x)", "polar": "t.polar(x, y)",
    "polar of a number": "t.polar(x, y[0, 0, 0])", "normal": "t.normal(x, y)", "normal around": "t.normal(x, 1.0)",
    "normal of widths": "t.normal(0.0, x)", "addr": "t.addr(x[0], x[0, :, 0], x[0, 0])",
    "addr of parts": "t.addr(x[:, 0], x[:, 0, 0], x[0, 0])", "addr of a row": "t.addr(x[0, 0], x[0, :, 0], x[0, 0])",
    "kron": "t.kron(x, y)", "kron of a matrix": "t.kron(x[0], y[0])", "kron with a number": "t.kron(x, y[0, 0, 0])",
    "taken": "t.take_along_dim(x, i)", "taken by many": "t.take_along_dim(y.flatten(), (x * 0).long())"}


def numbers(t: Any, order: tuple[int, ...]) -> Any:
    size = (2, 3, 4)
    flat = (t.arange(24.0) % 7 + 1).reshape([size[dim] for dim in order])
    return flat.permute(tuple([order.index(dim) for dim in range(3)]))


def seen(t: Any, call: str, orders: tuple[Any, Any]) -> Any:
    x, y = [numbers(t, order) for order in orders]
    t.manual_seed(0)
    try:
        out = eval(CALLS[call], {"t": t, "x": x, "y": y, "i": t.tensor([1, 5])})
    except RuntimeError as error:
        return str(error).split("\n")[0]
    return tuple(out.shape), out.stride(), out.is_contiguous()


@pytest.mark.parametrize("call", CALLS)
def test_layouts(call: str) -> None:
    for orders in itertools.product(ORDERS, ORDERS):
        expected = seen(torch, call, orders)
        found = seen(retrograd, call, orders)
        if call.startswith("kron") and isinstance(expected, str):   # PyTorch cannot take a view of the product
            assert found[0] == ((4, 9, 16) if call == "kron" else (9, 16))
        else:
            assert found == expected, orders


@pytest.mark.parametrize("name", ["conv1d", "conv_transpose1d"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [3, 4])
@pytest.mark.parametrize("batch", [(), (1,), (2,)], ids=str)
def test_convolutions_of_signals(batch: tuple[int, ...], length: int, dtype: str, name: str) -> None:
    """PyTorch computes with pictures of one row, whose layout follows that of the weight."""
    def strides(t: Any, turned: tuple[bool, bool], sizes: tuple[int, int, int]) -> Any:
        channels, outputs, kernel = sizes
        given = []
        for size, turn in zip(((*batch, channels, length),
                               (channels, outputs, kernel) if "transpose" in name else (outputs, channels, kernel)),
                              turned):
            made = t.ones(size, dtype=getattr(t, dtype))
            given.append(made.mT.contiguous().mT if turn else made)
        out = getattr(t.nn.functional, name)(*given, padding=1)
        return tuple(out.shape), [step for step, n in zip(out.stride(), out.shape) if n > 1]

    for turned in itertools.product((False, True), repeat=2):
        for sizes in itertools.product((1, 3), (1, 2), (2, 3)):
            assert strides(retrograd, turned, sizes) == strides(torch, turned, sizes), (turned, sizes)
