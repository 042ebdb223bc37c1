"""Forward mode of the whole table of operators: first and second order, writes, views, layouts, detached constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.exceptions import WITHOUT_TANGENT, without_second
from op_table.sparse import SPARSE
from op_table.table import TABLE, Entry
from retrograd.tensors.transforms.crossing import entered, make_dual, primal_part, tangent_part
from retrograd.tensors.transforms.forward import ForwardLevel

Array = np.ndarray[Any, Any]


def cases(entries: Sequence[Entry]) -> list[Any]:
    return [pytest.param(entry, dtype, id=f"{entry}-{dtype}") for entry in entries if not entry.refused
            for kind, dtype in (("f", "float64"), ("c", "complex128")) if kind in entry.kinds]


def flat(found: Any) -> list[Any]:
    """The tensors of a result that may have a derivative."""
    if isinstance(found, torch.Tensor):
        return [found] if found.is_floating_point() or found.is_complex() else []
    return [tensor for part in found for tensor in flat(part)] if isinstance(found, list | tuple) else []


def pushed(call: Callable[..., Any], inputs: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The results of a call, and their tangents."""
    level = ForwardLevel()
    with entered(level):
        found = flat(call(*[make_dual(level, x, t) for x, t in zip(inputs, tangents, strict=True)]))
    return [primal_part(level, r) for r in found], [tangent_part(level, r) for r in found]


def pulled(results: list[Any], inputs: list[Any], cotangents: list[Any], create_graph: bool = False) -> list[Any]:
    """The gradients, zeros where a result does not depend on an input."""
    pairs = [(r, c) for r, c in zip(results, cotangents, strict=True) if r.requires_grad]
    if not pairs:
        return [torch.zeros_like(x) for x in inputs]
    found = torch.autograd.grad([r for r, _ in pairs], inputs, [c for _, c in pairs], create_graph=create_graph,
                                allow_unused=True, materialize_grads=True)
    return [g.to_dense() for g in found]


def leaves(arrays: Sequence[Array]) -> list[Any]:
    return [torch.tensor(a, requires_grad=True) for a in arrays]


def drawn(seed: int, likes: Sequence[Array]) -> list[Any]:
    draws = np.random.default_rng(seed)
    return [torch.tensor(np.asarray(draws.standard_normal(a.shape) + (
        1j * draws.standard_normal(a.shape) if a.dtype.kind == "c" else 0), a.dtype)) for a in likes]


def numbers(tensors: Sequence[Any]) -> list[Array]:
    return [t.detach().to_dense().numpy() for t in tensors]


def same(found: Sequence[Any], expected: Sequence[Any], rtol: float = 1e-9) -> None:
    for a, b in zip(numbers(found), numbers(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def transposed(call: Callable[..., Any], arrays: Sequence[Array], directions: list[Any]) -> tuple[list[Any], list[Any]]:
    """The results, and their tangents as the gradient of the gradient."""
    inputs = leaves(arrays)
    results = flat(call(*inputs))
    cotangents = leaves(numbers(drawn(1, numbers(results))))
    gradients = pulled(results, inputs, cotangents, create_graph=True)
    return results, pulled(gradients, cotangents, directions)


@pytest.mark.parametrize(("entry", "dtype"), cases([e for e in TABLE if e.name not in WITHOUT_TANGENT]))
def test_tangents_are_transposed_gradients(entry: Entry, dtype: str) -> None:
    def call(*inputs: Any) -> Any:
        return entry.call(torch, *inputs)

    for arrays in entry.samples(dtype):
        directions = drawn(2, arrays)
        results, tangents = transposed(call, arrays, directions)
        found = pushed(call, [torch.tensor(a) for a in arrays], directions)
        same(found[0], results, 1e-12)
        same(found[1], tangents)


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


def gradient(call: Callable[..., Any]) -> Callable[..., Any]:
    def compute(*inputs: Any) -> Any:
        inner = [x if x.requires_grad else x.view_as(x).requires_grad_() for x in inputs]
        return pulled([call(*inner)], inner, [None], create_graph=True)

    return compute


@pytest.mark.parametrize(("entry", "dtype"), cases([e for e in TABLE if e.name not in without_second()]))
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
