"""Copies in which a view is replaced: of tensors with gaps, expanded tensors, and windows that overlap."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

TENSORS = {
    "rows": "t.arange(12.).reshape(3, 4)", "columns": "t.arange(12.).reshape(4, 3).t()",
    "gaps": "t.arange(24.).reshape(3, 8)[:, ::2]", "expanded": "t.arange(3.)[:, None].expand(3, 4)",
    "windows": "t.arange(9.).as_strided((3, 4), (2, 1))", "small": "t.arange(24.).reshape(4, 6)[:3, 1:5]",
}
CALLS = {
    "t.slice_scatter(x, s, 0, 1, 3)": (2, 4), "t.slice_scatter(x, s, 1, 0, 4, 2)": (3, 2),
    "t.slice_scatter(x, s, 0, 5, 9)": (0, 4), "t.slice_scatter(x, s)": (3, 4), "t.select_scatter(x, s, 0, 1)": (4,),
    "t.select_scatter(x, s, -1, -2)": (3,), "t.select_scatter(x, s, 0, 2)": (1,), "t.diagonal_scatter(x, s)": (3,),
    "t.diagonal_scatter(x, s, 1)": (3,), "t.diagonal_scatter(x, s, 0, 1, 0)": (3,),
}
STRIDED = {
    "t.as_strided_scatter(x, s, (2, 2), (1, 2))": (2, 2), "t.as_strided_scatter(x, s, (3, 3), (1, 1))": (3, 3),
    "t.as_strided_scatter(x, s, (2, 3), (3, 1), x.storage_offset() + 1)": (2, 3),
    "t.as_strided_scatter(x, s, (2, 2), (0, 1), 9)": (2, 2), "t.as_strided_scatter(x, s, (), (), 9)": (),
    "t.as_strided_scatter(x, s, (0, 3), (0, 1))": (0, 3), "t.as_strided_scatter(x, s, (2, 2), (0, 1))": (2, 1),
}


def _seen(library: Any, tensor: str, call: str, size: tuple[int, ...], dtype: str, leaf: str) -> Any:
    kind = getattr(library, dtype)
    x = eval(TENSORS[tensor], {"t": library})
    x = x.to(kind) if tensor != "windows" else library.arange(9.).to(kind).as_strided((3, 4), (2, 1))
    source = 100 + library.ones(size).cumsum(-1).to(kind) if size else library.ones((), dtype=kind)
    names = {"x": x.detach(), "s": source}
    if leaf:
        names[leaf].requires_grad_()
    try:
        out = eval(call, {"t": library, **names})
    except (RuntimeError, IndexError) as error:
        return type(error), str(error).split("\n")[0]
    if not leaf:
        return out.tolist(), out.stride()
    weights = library.arange(12, dtype=kind).reshape(3, 4)
    (gradient,) = library.autograd.grad(out, names[leaf], weights)
    return out.tolist(), out.stride(), out.requires_grad, out.grad_fn.name(), gradient.tolist()


@pytest.mark.parametrize(("dtype", "leaf"), [("float32", ""), ("float32", "x"), ("float32", "s"), ("float16", "s"),
                                             ("int64", ""), ("complex64", "")])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("tensor", TENSORS)
def test_views_replaced_in_copies(tensor: str, call: str, dtype: str, leaf: str) -> None:
    given = tensor, call, CALLS[call], dtype, leaf
    assert _seen(retrograd, *given) == _seen(torch, *given)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "complex64"])
@pytest.mark.parametrize("call", STRIDED)
@pytest.mark.parametrize("tensor", TENSORS)
def test_strided_views_replaced_in_copies(tensor: str, call: str, dtype: str) -> None:
    """`docs/differences.md` says how gradients differ. That of `s` is PyTorch's if x lies row by row."""
    for leaf in ("", "s") if tensor == "rows" and dtype.startswith("float") else ("",):
        given = tensor, call, STRIDED[call], dtype, leaf
        assert _seen(retrograd, *given) == _seen(torch, *given)


@pytest.mark.parametrize("tensor", ["gaps", "small", "windows"])
def test_the_memory_between_the_elements_is_copied(tensor: str) -> None:
    def seen(library: Any) -> Any:
        x = eval(TENSORS[tensor], {"t": library})
        out = x.select_scatter(library.full((4,), -1.0), 0, 1)
        size = 1 + sum((n - 1) * step for n, step in zip(x.shape, x.stride()))
        whole = out.as_strided((size,), (1,))
        return whole.tolist(), out._is_view(), out._version, (out * 2).stride(), out.clone().stride()

    assert seen(retrograd) == seen(torch)


PLACES = {
    "in the middle": "base[3:27].reshape(2, 3, 4)", "with gaps": "base[:48].reshape(2, 3, 8)[..., ::2]",
    "turned": "base[2:26].reshape(4, 3, 2).permute(2, 1, 0)", "one row": "base.as_strided((2, 1, 3), (3, 7, 1), 4)",
    "repeated": "base.as_strided((2, 3, 4), (0, 4, 1))", "windows": "base.as_strided((3, 4), (2, 1), 5)",
    "one number": "base.as_strided((1, 1), (9, 8), 5)", "no dims": "base[5]",
    "empty": "t.empty_strided((0, 3), (5, 2))", "empty rows": "base[:0].reshape(0, 2)",
    "bytes": "base.view(t.uint8)[8:32].reshape(4, 6)", "whole": "base.reshape(3, 20)"}


REPLACED = [
    "t.slice_scatter(x, t.zeros_like(x[:1]), 0, 0, 1)", "t.select_scatter(x, t.zeros_like(x[0]), 0, 0)",
    "t.diagonal_scatter(x, t.zeros_like(x.diagonal()))", "t.as_strided_scatter(x, t.zeros(2).to(x.dtype), (2,), (3,))",
    "t.as_strided_scatter(x, t.zeros(2).to(x.dtype), (2,), (3,), 1)",
    "t.as_strided_scatter(x, t.zeros(2).to(x.dtype), (2,), (3,), 20)",
    "t.as_strided_scatter(x, t.zeros(2).to(x.dtype), (2,), (3,), 100)"]


@pytest.mark.parametrize(("place", "call"), [
    (place, call) for place in PLACES for call in REPLACED if "empty" not in place or "as_strided" not in call])
def test_the_whole_memory_is_copied(place: str, call: str) -> None:
    """So the result stands where the tensor stands in its memory, and has its strides."""

    def seen(t: Any) -> Any:
        base = t.arange(60.0)
        x = eval(PLACES[place], {"t": t, "base": base})
        try:
            out = eval(call, {"t": t, "x": x})
        except (RuntimeError, IndexError) as error:
            return type(error), str(error).split("\n")[0]
        if not out.numel():
            return out.stride(), out._is_view(), tuple(out.shape)
        storage = out.untyped_storage()
        whole = out.as_strided((storage.nbytes() // out.itemsize,), (1,), 0)
        return out.stride(), out.storage_offset(), out._is_view(), out.tolist(), whole.tolist(), base.tolist()

    assert seen(retrograd) == seen(torch)
