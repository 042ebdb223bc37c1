"""How the table of operators is run on arrays that are not NumPy's: drawn inputs, results, gradients, comparisons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

import retrograd as torch
from op_table.entry import Entry
from retrograd.tensors.state.base import plain

Array = np.ndarray[Any, Any]
BATCH = 2
SAMPLES = 2                                                # of each entry, of those that it has


def listed(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys((name.strip() for name in names.split(";")), reason)


class Unseeded:
    """The library, for entries that seed the stream of random numbers in their call: here it just goes on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    @staticmethod
    def manual_seed(seed: int) -> None:
        """Nothing."""


def outputs(entry: Entry, inputs: list[Any]) -> list[Any]:
    found = entry.call(Unseeded(), *inputs)
    flat: list[Any] = []
    for value in found if isinstance(found, tuple | list) else [found]:
        flat += value if isinstance(value, tuple | list) else [value]
    return [value for value in flat if isinstance(value, torch.Tensor)]


def groups(entry: Entry, dtype: str) -> list[tuple[list[Array], ...]]:
    """For each sample of the entry that is tried, its inputs as drawn several times."""
    draws = [islice(replace(entry, name=f"{entry.name} {k}").samples(dtype), SAMPLES) for k in range(BATCH)]
    return [*zip(*draws, strict=True)]


def leaf(array: Any) -> Any:
    return plain(array).requires_grad_()


def cotangents_like(seed: int, results: Iterable[Any]) -> list[Array]:
    draws = np.random.default_rng(seed)
    made = [draws.standard_normal(r.shape) + (1j * draws.standard_normal(r.shape) if r.is_complex() else 0)
            for r in results]
    return [np.asarray(c, r._array.dtype) for c, r in zip(made, results, strict=True)]


def gradients(results: list[Any], inputs: list[Any], cotangents: list[Any]) -> list[Any]:
    return [*torch.autograd.grad(results, inputs, cotangents, allow_unused=True,
                                 materialize_grads=True)] if results else [torch.zeros_like(x) for x in inputs]


def following(results: list[Any]) -> list[Any]:
    return [r for r in results if r.requires_grad]


def numbers(tensors: Iterable[Any]) -> list[Array]:
    return [t.detach().numpy() for t in tensors]


def same(found: Array, expected: Array) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if found.tobytes() != expected.tobytes():              # most are, and this is known at once
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
