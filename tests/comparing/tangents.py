"""Tangents of a call by forward mode, and the same tangents as the gradient of the gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import retrograd as torch
from retrograd.tensors.transforms.crossing import entered, make_dual, primal_part, tangent_part
from retrograd.tensors.transforms.forward import ForwardLevel

Array = np.ndarray[Any, Any]
# The numbers of a small dual tensor, and of its tangent.
X, V = [1.0, 2.0], [3.0, 4.0]


def tangent_of(tensor: Any) -> Any:
    """The tangent of a tensor at the dual level, as a list; None if it has none."""
    found = torch.autograd.forward_ad.unpack_dual(tensor).tangent
    return None if found is None else found.tolist()


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
