"""Operators on batches: the table of operators inside of a level of `vmap` gives what a loop over the samples gives.

Each entry runs with all inputs batched and with only one of them batched. Its gradients are taken inside of the level
(per sample) and outside of it (through the border), and its tangents inside of it. What cannot be batched is listed in
op_table/exceptions.py, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.exceptions import UNBATCHED
from op_table.table import TABLE, Entry
from retrograd.tensors.transforms.batching import BatchLevel
from retrograd.tensors.transforms.crossing import enter_batch, entered, leave_batch, make_dual, tangent_part
from retrograd.tensors.transforms.forward import ForwardLevel
from seam.running import (
    BATCH,
    Array,
    cotangents_like,
    following,
    gradients,
    groups,
    numbers,
    outputs,
    same,
)


def entering(level: BatchLevel, columns: Sequence[Sequence[Array]], batched: Sequence[bool]) -> list[Any]:
    """The inputs inside of the level: the samples, or for an input that is not batched the first of them."""
    return [enter_batch(level, torch.tensor(np.stack(column)), 0) if is_batched else torch.tensor(column[0])
            for column, is_batched in zip(columns, batched, strict=True)]


def compare(level: BatchLevel, found: Sequence[Any], expected: Sequence[Sequence[Array]]) -> None:
    """Compare results of the level with the results of each sample."""
    for result, samples in zip(found, zip(*expected, strict=True), strict=True):
        for one, sample in zip(leave_batch(level, result, 0).detach().numpy(), samples, strict=True):
            same(np.asarray(one), sample)


def ways(count: int) -> list[list[bool]]:
    """Which inputs are batched: all, and each by itself."""
    alone = [[i == k for i in range(count)] for k in range(count)] if count > 1 else []
    return [[True] * count, *alone]


def draws_numbers(entry: Entry, group: tuple[list[Array], ...]) -> bool:
    """Whether an entry draws random numbers, which the level refuses unless told what to do."""
    level = BatchLevel(BATCH, "error")
    try:
        with entered(level):
            outputs(entry, entering(level, [*zip(*group, strict=True)], [True] * len(group[0])))
    except RuntimeError as error:
        return "called random operation" in str(error)
    return False


def values(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    expected = [numbers(outputs(entry, [torch.tensor(column[k if own else 0])
                                        for column, own in zip(columns, batched, strict=True)])) for k in range(BATCH)]
    with entered(level):
        found = outputs(entry, entering(level, columns, batched))
    compare(level, found, expected)


def inside(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Gradients by sample: a reverse pass inside of the level."""
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    expected, cotangents = [], []
    for k in range(BATCH):
        leaves = [torch.tensor(column[k if own else 0], requires_grad=True)
                  for column, own in zip(columns, batched, strict=True)]
        results = following(outputs(entry, leaves))
        cotangents.append(cotangents_like(k, results))
        expected.append(numbers(gradients(results, leaves, [torch.tensor(c) for c in cotangents[-1]])))
    with entered(level):
        inputs = [x.requires_grad_() for x in entering(level, columns, batched)]
        results = following(outputs(entry, inputs))
        given = entering(level, [*zip(*cotangents, strict=True)], [True] * len(results))
        found = gradients(results, inputs, given)
    compare(level, found, expected)


def outside(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Gradients of the whole batch: a reverse pass that starts outside and crosses the border of the level."""
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    leaves = [torch.tensor(np.stack(column) if own else column[0], requires_grad=True)
              for column, own in zip(columns, batched, strict=True)]
    by_sample = [following(outputs(entry, [x[k].clone() if own else x for x, own in zip(leaves, batched, strict=True)]))
                 for k in range(BATCH)]
    cotangents = [cotangents_like(k, results) for k, results in enumerate(by_sample)]
    flat = [r for results in by_sample for r in results]
    expected = gradients(flat, leaves, [torch.tensor(c) for given in cotangents for c in given])
    with entered(level):
        found = following(outputs(entry, [enter_batch(level, x, 0) if own else x
                                          for x, own in zip(leaves, batched, strict=True)]))
    results = [leave_batch(level, r, 0) for r in found]
    pulled = gradients(results, leaves, [torch.tensor(np.stack(c)) for c in zip(*cotangents, strict=True)])
    for one, other in zip(pulled, expected, strict=True):
        same(one.numpy(), other.numpy())


def pushed(entry: Entry, inputs: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
    """The tangents of the results that may have some."""
    level = ForwardLevel()
    with entered(level):
        found = outputs(entry, [make_dual(level, x, t) for x, t in zip(inputs, directions, strict=True)])
    return [tangent_part(level, r) for r in found if r.is_floating_point() or r.is_complex()]


def tangents(entry: Entry, group: tuple[list[Array], ...], batched: list[bool]) -> None:
    """Tangents by sample: forward mode inside of the level."""
    level = BatchLevel(BATCH, "error")
    columns = [*zip(*group, strict=True)]
    directions = [[cotangents_like(k, [torch.tensor(column[0])])[0] for k in range(BATCH)]
                  for column in columns]
    expected = [numbers(pushed(entry, [torch.tensor(column[k if own else 0])
                                       for column, own in zip(columns, batched, strict=True)],
                               [torch.tensor(direction[k]) for direction in directions])) for k in range(BATCH)]
    with entered(level):
        inputs = entering(level, columns, batched)
        found = pushed(entry, inputs, entering(level, directions, [True] * len(inputs)))
    compare(level, found, expected)


def run(way: Callable[..., None], entry: Entry, dtype: str) -> None:
    for group in groups(entry, dtype):
        if draws_numbers(entry, group):
            return
        for batched in ways(len(group[0])):
            try:
                way(entry, group, batched)
            except RuntimeError as error:
                if all(batched) or "inplace arithmetic" not in str(error):
                    raise RuntimeError(f"{error} with {batched}") from error
            except AssertionError as error:
                raise AssertionError(f"with {batched}: {error}") from error


@pytest.mark.parametrize(("way", "dtype"), [
    (values, "float64"), (inside, "float64"), (outside, "float64"), (tangents, "float64"), (values, "complex128"),
    (inside, "complex128")])
def test_a_batch_is_its_samples(way: Callable[..., None], dtype: str) -> None:
    entries = [entry for entry in TABLE if dtype[0] in entry.kinds and not (entry.refused and way is not values)]
    failed = {}
    for entry in entries:
        try:
            run(way, entry, dtype)
        except Exception as error:                         # whatever it is, the entry is not right
            failed[entry.name] = f"{type(error).__name__}: {error}"
    known = UNBATCHED[way.__name__] if dtype == "float64" else {}
    unexpected = {name: why for name, why in failed.items() if name not in known}
    assert not unexpected
    assert not known.keys() - failed.keys(), "these are right, and no longer to be listed"
