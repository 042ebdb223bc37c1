"""Whole Jacobians: all unit vectors in one batch, and the results cut into the blocks of outputs and inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ..autograd.blocks import units
from ..tensors.functions.shapes.joining import cat
from ..tensors.tensor import Tensor
from ..utils._pytree import PyTree, TreeSpec, tree_unflatten
from .batch import vmap


def basis(tensors: Sequence[Tensor], start: int, stop: int) -> list[Tensor]:
    """Unit vectors for all elements of the tensors, those from `start` to `stop`: one batch for each tensor."""
    firsts = accumulate([tensor.numel() for tensor in tensors], initial=0)
    return [units(tensor, stop - start, first - start) for tensor, first in zip(tensors, firsts)]


def rows_of(batched: Callable[..., Any], tensors: Sequence[Tensor], chunk_size: int | None) -> list[Tensor]:
    """`batched` of all unit vectors, in batches of `chunk_size`; the results have the vectors as first dim."""
    total = sum(tensor.numel() for tensor in tensors)
    size = total if chunk_size is None else chunk_size
    parts = [batched(*basis(tensors, start, min(start + size, total))) for start in range(0, total, size or 1)]
    if not parts:
        parts = [batched(*basis(tensors, 0, 0))]
    return [*parts[0]] if len(parts) == 1 else [cat(column) for column in zip(*parts, strict=True)]


def by_rows(pull: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a batch of rows, from the function of one row. A batch of a single row is one plain call."""
    together = vmap(pull)

    def call(*rows: Tensor) -> Any:
        if rows[0].shape[0] == 1:
            return [found[None] for found in pull(*[row[0] for row in rows])]
        return together(*rows)

    return call


def assembled(rows: Sequence[Tensor], outputs: Sequence[Tensor], spec: TreeSpec, inputs: Sequence[Tensor],
              inputs_spec: TreeSpec) -> PyTree:
    """The Jacobians by output and input, from the rows of all outputs for each input."""
    blocks, first = [], 0
    for output in outputs:
        count = output.numel()
        blocks.append(tree_unflatten(
            [row[first:first + count].reshape((*output.shape, *x.shape)) for row, x in zip(rows, inputs, strict=True)],
            inputs_spec))
        first += count
    return tree_unflatten(blocks, spec)
