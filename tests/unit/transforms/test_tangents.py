"""Forward mode of the whole table of operators: first and second order, writes, views, layouts, detached constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.tangents import drawn, flat, leaves, numbers, pulled, pushed, same, transposed
from op_table.exceptions import WITHOUT_TANGENT
from op_table.sparse import SPARSE
from op_table.table import TABLE, Entry

Array = np.ndarray[Any, Any]


def cases(entries: Sequence[Entry]) -> list[Any]:
    return [pytest.param(entry, dtype, id=f"{entry}-{dtype}") for entry in entries if not entry.refused
            for kind, dtype in (("f", "float64"), ("c", "complex128")) if kind in entry.kinds]


CASES = cases([entry for entry in TABLE if entry.name not in WITHOUT_TANGENT])


@pytest.mark.sampled(5)                                    # test_op_table asks the same of other cases
@pytest.mark.parametrize(("entry", "dtype"), CASES)
def test_tangents(entry: Entry, dtype: str) -> None:
    tangents_are_transposed_gradients(entry, dtype)
    if dtype == "float64":
        tangents_in_any_layout(entry, dtype)


def tangents_are_transposed_gradients(entry: Entry, dtype: str) -> None:
    def call(*inputs: Any) -> Any:
        return entry.call(torch, *inputs)

    for arrays in entry.samples(dtype):
        directions = drawn(2, arrays)
        results, tangents = transposed(call, arrays, directions)
        found = pushed(call, [torch.tensor(a) for a in arrays], directions)
        same(found[0], results, 1e-12)
        same(found[1], tangents)


def tangents_in_any_layout(entry: Entry, dtype: str) -> None:
    """Inputs and tangents with gaps, in other orders of axes, and views of dual tensors, which share their memory."""
    arrays = next((arrays for arrays in entry.samples(dtype) if all(a.size for a in arrays)), None)
    if arrays is None:                                     # samples without elements have no layout
        return
    directions = drawn(2, arrays)
    expected = pushed(lambda *xs: entry.call(torch, *xs), [torch.tensor(a) for a in arrays], directions)
    spread = [np.asfortranarray(np.repeat(a[..., None], 2, -1))[..., 0] for a in arrays]
    around = [np.stack([a, a[::-1] if a.ndim else a], -1) for a in arrays]

    def of_views(*wholes: Any) -> Any:
        return entry.call(torch, *[whole[..., 0] for whole in wholes])

    beside = [torch.stack([t, torch.ones_like(t)], -1) for t in directions]
    same(pushed(lambda *xs: entry.call(torch, *xs), [torch.from_numpy(a) for a in spread],
                [t.mT.contiguous().mT if t.ndim > 1 else t for t in directions])[1], expected[1])
    same(pushed(of_views, [torch.tensor(a) for a in around], beside)[1], expected[1])


def scalar(entry: Entry, arrays: Sequence[Array]) -> Callable[..., Any]:
    """A real number made of all results of an entry."""
    likes = flat(entry.call(torch, *leaves(arrays)))
    live, weights = [r.requires_grad for r in likes], drawn(1, numbers(likes))

    def call(*inputs: Any) -> Any:
        found = flat(entry.call(torch, *inputs))
        parts = [(w.conj() * r).real.sum() for w, r, wanted in zip(weights, found, live, strict=True) if wanted]
        return torch.stack(parts).sum() if parts else torch.zeros((), dtype=torch.float64)

    return call


def curvature_by_reverse(call: Callable[..., Any], arrays: Sequence[Array], along: list[Any]) -> list[Any]:
    inputs = leaves(arrays)
    first = pulled([call(*inputs)], inputs, [None], create_graph=True)
    return pulled(first, inputs, along)


def tracked(x: Any) -> Any:
    """An alias of a tensor, as a leaf. A transform refuses `requires_grad_`."""
    alias = x.view_as(x)
    alias.requires_grad = True
    return alias


def gradient(call: Callable[..., Any]) -> Callable[..., Any]:
    def compute(*inputs: Any) -> Any:
        inner = [x if x.requires_grad else tracked(x) for x in inputs]
        return pulled([call(*inner)], inner, [None], create_graph=True)

    return compute


def twice_differentiable(entry: Entry) -> bool:
    return not (entry.once or entry.conventional or entry.name in WITHOUT_TANGENT)


@pytest.mark.sampled(10)                                   # each runs four nestings
@pytest.mark.parametrize(("entry", "dtype"), cases([entry for entry in TABLE if twice_differentiable(entry)]))
def test_second_derivatives_agree_in_every_nesting(entry: Entry, dtype: str) -> None:
    """Reverse over forward, forward over reverse, and forward over forward, against reverse over reverse."""
    arrays = next((arrays for arrays in entry.samples(dtype) if all(a.size for a in arrays)), None)
    if arrays is None:                                     # samples without elements have nothing to compare
        return
    call, along, other = scalar(entry, arrays), drawn(2, arrays), drawn(3, arrays)
    expected = curvature_by_reverse(call, arrays, along)
    inputs, constants = leaves(arrays), [torch.tensor(a) for a in arrays]
    _, tangents = pushed(call, inputs, along)
    same(pulled(tangents, inputs, [None]), expected, 1e-7)
    same(pushed(gradient(call), constants, along)[1], expected, 1e-7)
    (number,) = pushed(lambda *xs: pushed(call, xs, along)[1], constants, other)[1]
    total = sum(float((h.conj() * v).real.sum()) for h, v in zip(expected, other, strict=True))
    assert float(number) == pytest.approx(total, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("entry", [entry for entry in SPARSE if not entry.refused], ids=str)
def test_sparse_tensors_refuse_tangents(entry: Entry) -> None:
    """Sparse arrays do not pass the seam. So a call that would lose a tangent says so."""
    arrays = next(iter(entry.samples("float64")))
    with pytest.raises(NotImplementedError, match="^Trying to use forward AD with .* that does not support it"):
        pushed(lambda *xs: entry.call(torch, *xs), [torch.tensor(a) for a in arrays], drawn(2, arrays))
