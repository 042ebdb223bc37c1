"""Joined tensors lie in memory as in PyTorch: as images and volumes lie if all of the tensors lie so."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import retrograd

# Sizes, the order of the dims in memory (the slowest first), and the gap between neighbors.
LAYOUTS = {
    "rows": ((0, 1, 2, 3), 1), "images": ((0, 2, 3, 1), 1), "images with gaps": ((0, 2, 3, 1), 2),
    "turned": ((3, 2, 1, 0), 1), "turned images": ((2, 0, 3, 1), 1), "points": ((0, 3, 2, 1), 1)}
SIZES = [(2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1), (1, 1, 1, 1), (2, 3, 1, 5), (2, 0, 4, 5)]
CALLS = ["cat", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "concat"]


def laid_out(t: Any, size: tuple[int, ...], order: tuple[int, ...], gap: int = 1, dtype: str = "float32") -> Any:
    """Numbers whose dims lie in memory in this order."""
    strides, step = [0] * len(size), gap
    for dim in reversed(order):
        strides[dim] = step
        step *= max(size[dim], 1)
    memory = t.arange(step + 1.).to(getattr(t, dtype))
    return memory.as_strided(size, strides)


def seen(t: Any, call: str, dim: int | None, parts: list[Any], **options: Any) -> Any:
    try:
        out = getattr(t, call)(parts, **({} if dim is None else {"dim": dim}), **options)
    except (RuntimeError, IndexError) as error:
        return str(error).split("\n")[0]
    images = {4: [t.channels_last], 5: [t.channels_last_3d]}.get(out.ndim, [])
    return (out.tolist(), out.stride(), out._is_view(), out.is_contiguous(),
            [out.is_contiguous(memory_format=each) for each in images])


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_pairs(call: str, size: tuple[int, ...]) -> None:
    for one, other in itertools.product(LAYOUTS, LAYOUTS):
        for dim in range(len(size) + (call == "stack")) if call in ("cat", "stack", "concat") else [None]:
            found, expected = [seen(t, call, dim, [laid_out(t, size, *LAYOUTS[each]) for each in (one, other)])
                               for t in (retrograd, torch)]
            assert found == expected, (one, other, dim)


@pytest.mark.parametrize("dim", range(5))
@pytest.mark.parametrize("call", ["cat", "stack"])
@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("int64", "float32"), ("bool", "uint8"),
                                    ("complex64", "float32"), ("float16", "float16")], ids=str)
def test_dtypes(call: str, dtypes: tuple[str, str], dim: int) -> None:
    found, expected = [seen(t, call, dim, [laid_out(t, SIZES[0], *LAYOUTS["images"], each) for each in dtypes])
                       for t in (retrograd, torch)]
    assert found == expected


@pytest.mark.parametrize("dim", range(6))
@pytest.mark.parametrize("call", ["cat", "stack"])
def test_volumes(call: str, dim: int) -> None:
    for orders in itertools.product([(0, 2, 3, 4, 1), (0, 1, 2, 3, 4), (0, 2, 3, 1, 4)], repeat=2):
        found, expected = [seen(t, call, dim, [laid_out(t, (2, 3, 4, 5, 2), order) for order in orders])
                           for t in (retrograd, torch)]
        assert found == expected, orders


@pytest.mark.parametrize("call", ["cat", "stack"])
def test_one_tensor_and_vectors_without_elements(call: str) -> None:
    for count in (1, 3):
        found, expected = [seen(t, call, 0, [laid_out(t, SIZES[0], *LAYOUTS["images"])] * count)
                           for t in (retrograd, torch)]
        assert found == expected
    found, expected = [seen(t, "cat", 1, [laid_out(t, SIZES[0], *LAYOUTS["images"]), t.empty(0)])
                       for t in (retrograd, torch)]
    assert found == expected


@pytest.mark.parametrize("dim", range(4))
@pytest.mark.parametrize("given", [(0,), (7,), "rows", "images"], ids=str)
@pytest.mark.parametrize("call", ["cat", "stack"])
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_outs(call: str, given: Any, dim: int) -> None:
    def strides(t: Any) -> Any:
        parts = [laid_out(t, SIZES[0], *LAYOUTS["images"])] * 2
        like = getattr(t, call)(parts, dim)
        memory = t.channels_last if given == "images" and like.ndim == 4 else t.contiguous_format
        out = t.empty(given) if type(given) is tuple else like.contiguous(memory_format=memory).clone()
        got = getattr(t, call)(parts, dim, out=out)
        return got is out, out.stride(), out.tolist()

    assert strides(retrograd) == strides(torch)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cotangent", LAYOUTS)
@pytest.mark.parametrize("call", ["cat", "stack", "unbind", "split"])
def test_gradients(call: str, cotangent: str, layout: str) -> None:
    def strides(t: Any, dim: int) -> Any:
        x, y = [laid_out(t, (2, 4, 6, 8), *LAYOUTS[layout]).requires_grad_() for _ in range(2)]
        if call in ("unbind", "split"):
            outs = x.unbind(dim) if call == "unbind" else x.split(2, dim)
            given = [laid_out(t, out.shape, sorted(range(out.ndim), key=LAYOUTS[cotangent][0].index))
                     for out in outs]
            outs = sum((out * g).sum() for out, g in zip(outs, given))
            (found,) = t.autograd.grad(outs, x)
            return found.stride(), found.tolist()
        out = getattr(t, call)([x, y], dim)
        order = LAYOUTS[cotangent][0]
        given = laid_out(t, out.shape, order if out.ndim == 4 else (*order, 4))
        gradients = t.autograd.grad(out, [x, y], given, retain_graph=True)
        out.backward(given)
        return ([(g.stride(), g.tolist()) for g in gradients],
                [(leaf.grad.stride(), leaf.grad._is_view(), leaf.grad.tolist()) for leaf in (x, y)])

    for dim in range(4):
        assert strides(retrograd, dim) == strides(torch, dim)


@pytest.mark.parametrize("dim", range(4))
@pytest.mark.parametrize("call", ["cat", "stack"])
def test_on_meta_and_compiled(call: str, dim: int) -> None:
    parts, theirs = [[laid_out(t, SIZES[0], *LAYOUTS["images"]) for _ in range(2)] for t in (retrograd, torch)]
    expected = getattr(torch, call)(theirs, dim).stride()
    assert getattr(retrograd, call)([part.to("meta") for part in parts], dim).stride() == expected
    for backend in ("numpy", "inductor"):
        compiled = retrograd.compile(lambda a, b: getattr(retrograd, call)([a * 1, b * 1], dim), backend=backend)
        for _ in range(2):
            assert compiled(*parts).stride() == expected
