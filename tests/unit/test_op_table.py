"""Every operator of the table, without PyTorch: its rules against finite differences, in both modes, to second order."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest
from op_table import TABLE, Entry

import retrograd as torch
from retrograd import ops
from retrograd.ops.framework import Op

STEP = 1e-6
DIFFERENTIABLE = [entry for entry in TABLE if "f" in entry.kinds or "c" in entry.kinds]


def dtype_of(entry: Entry) -> str:
    return "float64" if "f" in entry.kinds else "complex128"


def outputs(entry: Entry, inputs: list[Any]) -> list[Any]:
    """The results that have a gradient."""
    found = entry.call(torch, *inputs)
    results = found if isinstance(found, tuple | list) else [found]
    return [r for r in results if r.requires_grad]


def leaves(arrays: list[np.ndarray[Any, Any]]) -> list[Any]:
    return [torch.tensor(array, requires_grad=True) for array in arrays]


def like(draws: np.random.Generator, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = draws.standard_normal(array.shape)
    return np.asarray(values + 1j * draws.standard_normal(array.shape) if array.dtype.kind == "c" else values)


def dot(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """The real inner product, in which PyTorch's complex gradients are the adjoint."""
    return float(np.real(np.vdot(a, b)))


def vjp(entry: Entry, arrays: list[Any], cotangents: list[Any] | None, create_graph: bool) -> tuple[Any, Any, Any]:
    inputs = leaves(arrays)
    results = outputs(entry, inputs)
    if cotangents is None:
        draws = np.random.default_rng(1)
        cotangents = [like(draws, r.detach().numpy()) for r in results]
    given = [torch.tensor(c, dtype=r.dtype) for c, r in zip(cotangents, results, strict=True)]
    gradients = torch.autograd.grad(results, inputs, given, create_graph=create_graph, allow_unused=True,
                                    materialize_grads=True) if results else ()
    return inputs, gradients, cotangents


# `to` makes single precision of it, in which differences say nothing; parity looks at its gradient.
@pytest.mark.parametrize("entry", [e for e in DIFFERENTIABLE if str(e) != "to"], ids=str)
def test_rules_agree_with_finite_differences(entry: Entry) -> None:
    for arrays in entry.samples(dtype_of(entry)):
        draws = np.random.default_rng(2)
        _, gradients, cotangents = vjp(entry, arrays, None, False)
        directions = [like(draws, a) for a in arrays]
        shifted = [[a + sign * STEP * d for a, d in zip(arrays, directions, strict=True)] for sign in (1, -1)]
        above, below = ([r.detach().numpy() for r in outputs(entry, leaves(s))] for s in shifted)
        numerical = sum(dot(c, (p - m) / (2 * STEP)) for c, p, m in zip(cotangents, above, below, strict=True))
        analytical = sum(dot(g.numpy(), d) for g, d in zip(gradients, directions, strict=False))
        assert analytical == pytest.approx(numerical, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("entry", DIFFERENTIABLE, ids=str)
def test_a_recorded_pass_gives_the_gradients_of_a_raw_one(entry: Entry) -> None:
    for arrays in entry.samples(dtype_of(entry)):
        _, raw, cotangents = vjp(entry, arrays, None, False)
        _, recorded, _ = vjp(entry, arrays, cotangents, True)
        for a, b in zip(raw, recorded, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-12)


# Of 0 ** x, which is a constant 0, the second derivative is nan, as it is in PyTorch.
@pytest.mark.parametrize("entry", [e for e in DIFFERENTIABLE if str(e) not in ("to", "0 ** x")], ids=str)
def test_second_derivatives_agree_with_finite_differences(entry: Entry) -> None:
    for arrays in entry.samples(dtype_of(entry)):
        inputs, first, cotangents = vjp(entry, arrays, None, True)
        followed = [g for g in first if g.requires_grad]
        if not followed:
            continue
        draws = np.random.default_rng(3)
        weights = [like(draws, g.detach().numpy()) for g in first]
        weighted = [torch.tensor(w) for w, g in zip(weights, first, strict=True) if g.requires_grad]
        second = torch.autograd.grad(followed, inputs, weighted, allow_unused=True, materialize_grads=True)
        directions = [like(draws, a) for a in arrays]
        shifted = [[a + sign * STEP * d for a, d in zip(arrays, directions, strict=True)] for sign in (1, -1)]
        above, below = ([g.numpy() for g in vjp(entry, s, cotangents, False)[1]] for s in shifted)
        numerical = sum(dot(w, (p - m) / (2 * STEP)) for w, p, m in zip(weights, above, below, strict=True))
        analytical = sum(dot(s.numpy(), d) for s, d in zip(second, directions, strict=True))
        assert analytical == pytest.approx(numerical, rel=2e-5, abs=2e-6)


@pytest.mark.parametrize("entry", DIFFERENTIABLE, ids=str)
def test_inputs_in_any_layout_give_the_same(entry: Entry) -> None:
    for arrays in entry.samples(dtype_of(entry)):
        _, plain, cotangents = vjp(entry, arrays, None, False)
        strided = [np.asfortranarray(np.repeat(a[..., None], 2, -1))[..., 0] for a in arrays]
        tensors = [torch.from_numpy(a).requires_grad_() for a in strided]
        results = outputs(entry, tensors)
        if not results:
            continue
        given = [torch.tensor(c, dtype=r.dtype) for c, r in zip(cotangents, results, strict=True)]
        found = torch.autograd.grad(results, tensors, given, allow_unused=True, materialize_grads=True)
        for a, b in zip(plain, found, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10, atol=1e-12)


def all_ops() -> set[Op]:
    """Every operator stated in retrograd.ops that has a rule."""
    modules = [importlib.import_module(f"retrograd.ops.{m.name}") for m in pkgutil.iter_modules(ops.__path__)]
    return {v for m in modules for v in vars(m).values() if isinstance(v, Op) and v.steps}


def ops_in_graph(tensor: Any) -> set[Op]:
    found, seen, waiting = set(), set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "op"):
            found.add(node.op)
        waiting += [n for n, _ in node.next_functions]
    return found


def test_the_table_reaches_every_operator() -> None:
    reached: set[Op] = set()
    for entry in DIFFERENTIABLE:
        for arrays in [*entry.samples(dtype_of(entry))]:
            _, first, _ = vjp(entry, arrays, None, True)
            for result in [*outputs(entry, leaves(arrays)), *(g for g in first if g.requires_grad)]:
                reached |= ops_in_graph(result)
    assert sorted(op.name for op in all_ops() - reached) == []
