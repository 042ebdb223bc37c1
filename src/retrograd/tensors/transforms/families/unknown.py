"""Operators that no single call computes for a batch: they are called for each sample, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....ops import joining, shape
from ....ops.framework import Op
from ....ops.indexing import indexing, scattering, segments, sorting
from ....ops.linalg import norms, solving
from ....ops.networks import ctc, embedding, fake_quantization, losses, normalization
from ..batched import is_batched
from ..refusals import SELECTED, of_any_shape, unbatched
from .operands import Rule, one_by_one, rules

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel


def _of_any_shape(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator whose results differ in shape from sample to sample."""
    raise unbatched(of_any_shape("where" if op is sorting.nonzero_columns else op.name))


def _masked_select(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    if is_batched(args[1], level):
        raise unbatched(SELECTED)
    return NotImplemented


UNKNOWN: dict[Op, Rule] = {
    **rules(one_by_one, ctc.shifted, embedding.embedding_renorm, fake_quantization.observed,
            fake_quantization.per_channel, fake_quantization.per_tensor, fake_quantization.per_tensor_of_tensors,
            indexing.as_strided_scatter, indexing.masked_first, indexing.masked_place, indexing.masked_scatter,
            indexing.put, joining.block_diag, losses.listed, normalization.blend, norms.paired, norms.pdist,
            norms.renorm, norms.symmetric, norms.weight_norm, scattering.in_groups, segments.segment_extreme,
            segments.segment_mean, segments.segment_prod, segments.segment_sum, shape.transfer, solving.lstsq,
            sorting.bincount, sorting.histc, sorting.histogram, sorting.histogramdd, sorting.weighted_histogram,
            sorting.weighted_histogramdd),
    **rules(_of_any_shape, sorting.nonzero, sorting.nonzero_columns, sorting.unique, sorting.unique_consecutive,
            sorting.unique_dim),
    indexing.masked_select: _masked_select,
}
