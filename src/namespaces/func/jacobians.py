"""Whole Jacobians: all unit vectors in one batch, and the results cut into the blocks of outputs and inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from .._functorch.vmap import over_samples
from ..autograd.blocks import in_shape, units
from ..tensors.functions.shapes.joining import cat
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor


def basis(tensors: Sequence[Tensor], start: int, stop: int) -> list[Tensor]:
    """Unit vectors for all elements of the tensors, those from `start` to `stop`: one batch for each tensor."""
    firsts = accumulate([tensor.numel() for tensor in tensors], initial=0)
    return [units(tensor, stop - start, first - start) for tensor, first in zip(tensors, firsts)]


def rows_of(pull: Callable[..., list[Tensor]], outputs: Sequence[Tensor], chunk_size: int | None) -> list[Tensor]:
    """The gradients that `pull` returns for each unit vector of the outputs, with the vectors as first dim.

    They are computed in batches of `chunk_size`. A batch of a single vector is a plain call. If there is one row in
    all, the row has no further dim.
    """
    total = sum(output.numel() for output in outputs)
    if total == 1 == len(outputs):
        return pull(plain(np.ones(outputs[0]._array.shape, outputs[0]._array.dtype)))
    size = total if chunk_size is None else chunk_size
    parts = [_rows(pull, basis(outputs, start, min(start + size, total))) for start in range(0, total, size or 1)]
    if not parts:
        parts = [_rows(pull, basis(outputs, 0, 0))]
    return parts[0] if len(parts) == 1 else [cat(column) for column in zip(*parts, strict=True)]


def _rows(pull: Callable[..., list[Tensor]], vectors: Sequence[Tensor]) -> list[Tensor]:
    if vectors[0].shape[0] == 1:
        return [row[None] for row in pull(*[vector[0] for vector in vectors])]
    return over_samples(pull, vectors, "error", 0)


def by_output(rows: Sequence[Tensor], outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[list[Tensor]]:
    """The Jacobians of each output by each input, from the rows of all outputs for each input."""
    blocks, first = [], 0
    for output in outputs:
        last = first + output.numel()
        own = rows if len(outputs) == 1 else [row[first:last] for row in rows]
        blocks.append([in_shape(row, (*output.shape, *x.shape)) for row, x in zip(own, inputs, strict=True)])
        first = last
    return blocks


def by_input(columns: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The Jacobians of one output by each input, from the columns of all inputs, which are the last dim."""
    blocks, first = [], 0
    for x in inputs:
        last = first + x.numel()
        own = columns if len(inputs) == 1 else columns[..., first:last]
        blocks.append(in_shape(own, (*columns.shape[:-1], *x.shape)))
        first = last
    return blocks
