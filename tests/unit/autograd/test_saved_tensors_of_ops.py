"""Every operator of the table under hooks on saved tensors: the same gradients, and no memory but the parcels'."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.table import TABLE, Entry
from retrograd.autograd.graph import saved_tensors_hooks
from retrograd.graph.packed import Packed, Parcel

NO_HOOKS: Any = None
IDENTITY = (lambda t: t, lambda packed: packed)
COPIES = (lambda t: t.detach().numpy().copy(), torch.from_numpy)


def results_of(entry: Entry, hooks: Any) -> tuple[list[Any], list[Any]]:
    """The leaves of the first sample and the results that require grad; nothing where the entry refuses."""
    torch.manual_seed(0)
    leaves = [torch.from_numpy(a.copy()).requires_grad_() for a in next(entry.samples())]
    try:
        with warnings.catch_warnings(), saved_tensors_hooks(*hooks) if hooks else nullcontext():
            warnings.simplefilter("ignore")
            found = entry.call(torch, *leaves)
    except (RuntimeError, NotImplementedError):
        return [], []
    found = [*found] if isinstance(found, (tuple, list)) else [found]
    return leaves, [r for r in found if isinstance(r, torch.Tensor) and r.grad_fn is not None]


def gradients(entry: Entry, hooks: Any, recorded: bool) -> list[Any]:
    leaves, results = results_of(entry, hooks)
    if not results:
        return []
    found: Any = torch.autograd.grad(results, leaves, [torch.ones_like(r) for r in results], create_graph=recorded,
                                allow_unused=True)
    return [None if g is None else g.detach().numpy() for g in found]


@pytest.mark.sampled(4)                                    # 1,621 entries, and few ways to save a value
@pytest.mark.parametrize("entry", TABLE, ids=str)
def test_saved_tensors(entry: Entry) -> None:
    nodes_keep_no_array_besides_the_parcels(entry)
    if not entry.refused:
        gradients_are_the_same_under_hooks(entry)


def gradients_are_the_same_under_hooks(entry: Entry) -> None:
    expected = gradients(entry, NO_HOOKS, False)
    for hooks, recorded in ((COPIES, False), (COPIES, True), (IDENTITY, True)):
        for a, b in zip(expected, gradients(entry, hooks, recorded), strict=True):
            if a is None:
                assert b is None
            elif not np.array_equal(a, b):
                # A recorded pass adds in another order than a kernel, which shows where summands cancel.
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-16)


def nodes_keep_no_array_besides_the_parcels(entry: Entry) -> None:
    """But the numbers that Python programs wrote, and what stands for nothing."""
    _, results = results_of(entry, COPIES)
    nodes = [r.grad_fn for r in results]
    while nodes:
        node = nodes.pop()
        nodes += [after for after, _ in node.next_functions if after is not None]
        if type(node.saved) is Packed:
            kept = [value for value in node.saved if isinstance(value, np.ndarray)]
            assert all(value.ndim == 0 or not value.size for value in kept), node
        elif type(node.saved) is tuple:
            assert not any(isinstance(value, (np.ndarray, Parcel)) and value.ndim for value in node.saved), node
