"""A batched array in its plainest form: samples along one hidden axis, and each op a loop over the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seam.standing import Foreign, foreign, replaced


class Batched(Foreign):
    """Samples, stacked. To whoever asks it is one of them."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        super().__init__(array[0, ...])
        self.array = array


def batching(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """Call an op on each sample by itself. Results that are views share the memory of the batch."""
    batches = [*foreign(args)]
    if not batches:
        return call(*args)
    if write and not isinstance(args[0], Batched):
        raise TypeError(f"{op.name}: what differs from sample to sample is written over what does not")
    results = [call(*replaced(args, lambda batch, i=i: batch.array[i, ...])) for i in range(len(batches[0].array))]
    if write:
        return None
    if type(results[0]) is tuple:
        return tuple([_joined(op, batches[0].array, [*parts]) for parts in zip(*results, strict=True)])
    return _joined(op, batches[0].array, results)


def _joined(op: Any, batch: np.ndarray[Any, Any], results: list[np.ndarray[Any, Any]]) -> Batched:
    first = results[0]
    if op.view and first.size and np.may_share_memory(first, batch):
        return Batched(np.lib.stride_tricks.as_strided(first, (len(results), *first.shape),
                                                       (batch.strides[0], *first.strides),
                                                       writeable=first.flags.writeable))
    return Batched(np.stack(results))
