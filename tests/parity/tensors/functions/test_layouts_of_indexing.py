"""The result of indexing by arrays lies in memory as in PyTorch, however the tensor and the indices lie."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import retrograd

SIZE = (4, 4, 5)
CALLS = [
    "x[i]", "x[:, i]", "x[:, :, i]", "x[i, i]", "x[i, :, i]", "x[:, i, i]", "x[k]", "x[:, k]", "x[k.t()]",
    "x[:, k.t()]", "x[k.t(), :, i[:2]]", "x[x > 20]", "x[:, by_rows]", "x[some]", "x[some, :, 1:]", "x[i, 0]",
    "x[0, i]", "x[None, i]", "x[..., i]", "x[i, None]", "x[0, :, i]", "x[i, :, 0]", "x[k.t(), k.t()]",
    "x[:, :, None, i]", "x[k, ..., None]",
    "x[:, k[:, :1], k[0]]", "x[i, 1:]", "x[1:, i]", "x[::2, :, i]", "x[i][:, k]", "x[i[:1]]", "x[:, i[:1]]", "x[i[:0]]",
    "x[i, i, i]", "x[:1, :, i]", "x[some, :, i]", "t.index_select(x, 1, i)", "x.take(k.t())", "x[[0, 2]]", "x[:, [1]]"]


def laid_out(t: Any, order: tuple[int, ...], gap: int, dtype: str) -> Any:
    strides, step = [0, 0, 0], gap
    for dim in reversed(order):
        strides[dim] = step
        step *= SIZE[dim]
    return t.arange(float(step)).to(getattr(t, dtype)).as_strided(SIZE, strides)


def seen(t: Any, call: str, order: tuple[int, ...], gap: int, dtype: str) -> Any:
    x = laid_out(t, order, gap, dtype)
    names = {"t": t, "x": x, "i": t.tensor([2, 0, 1]), "k": t.tensor([[0, 1, 2], [2, 1, 0]]),
             "by_rows": t.tensor([[True] * 3 + [False] * 2] * 4), "some": t.tensor([True, False, True, True])}
    try:
        out = eval(call, names)
    except (RuntimeError, IndexError) as error:
        return str(error).split("\n")[0]
    strides = tuple([1 if n == 1 else step for n, step in zip(out.shape, out.stride())]) if out.numel() else None
    return tuple(out.shape), strides, out.is_contiguous(), out._is_view(), out.tolist()


@pytest.mark.parametrize("call", CALLS)
def test_layouts(call: str) -> None:
    for order, gap in itertools.product(itertools.permutations(range(3)), (1, 2)):
        for dtype in ("float32", "int64", "float16"):
            given = call, order, gap, dtype
            assert seen(retrograd, *given) == seen(torch, *given), given


@pytest.mark.parametrize("call", CALLS)
def test_layouts_of_gradients(call: str) -> None:
    def strides(t: Any, order: tuple[int, ...], turned: bool) -> Any:
        x = laid_out(t, order, 1, "float32").requires_grad_()
        names = {"t": t, "x": x, "i": t.tensor([2, 0, 1]), "k": t.tensor([[0, 1, 2], [2, 1, 0]]),
                 "by_rows": t.tensor([[True] * 3 + [False] * 2] * 4), "some": t.tensor([True, False, True, True])}
        out = eval(call, names)
        given = t.ones(out.shape)
        given = given.mT.contiguous().mT if turned and out.ndim > 1 else given
        out.backward(given)
        return x.grad.stride(), x.grad._is_view(), x.grad.tolist()

    for order, turned in itertools.product([(0, 1, 2), (2, 1, 0), (1, 0, 2)], (False, True)):
        assert strides(retrograd, order, turned) == strides(torch, order, turned), (order, turned)
