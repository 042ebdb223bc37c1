"""Entries for reading and writing at places: slices, index tensors, masks."""

from __future__ import annotations

from typing import Any

from op_table.entry import MANY, MATRICES, Entry

_ROWS = (((3, 4), (2, 4)),)
_PLACES = (((3, 4), (2, 2)),)


def _mask(t: Any) -> Any:
    """Three of the four elements of a last dimension."""
    return t.tensor([True, False, True, True])


def _index(t: Any) -> Any:
    return t.tensor([2, 0])


def _places(t: Any) -> Any:
    return t.tensor([[0, 1], [1, 2]])


INDEXING = [
    Entry("x[0]", lambda t, x: x[0], MANY),
    Entry("x[1:, ::2]", lambda t, x: x[1:, ::2], MANY),
    Entry("x[None, ..., 1]", lambda t, x: x[None, ..., 1], MANY),
    Entry("x[[0, 0, 2]]", lambda t, x: x[[0, 0, 2]], MATRICES, kinds="fci"),
    Entry("x[:, tensor]", lambda t, x: x[:, t.tensor([1, 1, 0])], MANY),
    Entry("x[tensor, tensor]", lambda t, x: x[t.tensor([0, 1]), t.tensor([2, 2])], MANY),
    Entry("x[..., mask]", lambda t, x: x[..., _mask(t)], MANY),
    Entry("index_select", lambda t, x: x.index_select(0, t.tensor([1, 0, 1])), MANY),
    Entry("gather", lambda t, x: x.gather(1, t.tensor([[0, 1], [1, 1], [2, 0]])), MATRICES),
    Entry("scatter", lambda t, x, y: x.scatter(1, _places(t), y), _PLACES),
    Entry("scatter number", lambda t, x: x.scatter(1, _places(t), 3.0), MATRICES),
    Entry("scatter_add", lambda t, x, y: x.scatter_add(1, t.tensor([[0, 0], [1, 2]]), y), _PLACES),
    Entry("index_add", lambda t, x, y: x.index_add(0, t.tensor([0, 0]), y), _ROWS),
    Entry("index_add alpha", lambda t, x, y: x.index_add(0, t.tensor([0, 0]), y, alpha=2), _ROWS, kinds="fci"),
    Entry("index_copy", lambda t, x, y: x.index_copy(0, _index(t), y), _ROWS, kinds="fci"),
    Entry("index_fill", lambda t, x: x.index_fill(0, _index(t), 1.5), MATRICES),
    Entry("index_fill tensor", lambda t, x, y: x.index_fill(0, _index(t), y), (((3, 4), ()),)),
    Entry("index_put", lambda t, x, y: x.index_put((_index(t), t.tensor([1, 3])), y), (((3, 4), (2,)), ((3, 4), ()))),
    Entry("index_put accumulate", lambda t, x, y: x.index_put((t.tensor([1, 1]),), y, accumulate=True), _ROWS),
    Entry("masked_fill", lambda t, x: x.masked_fill(_mask(t), 2.0), MANY),
    Entry("masked_fill tensor", lambda t, x, y: x.masked_fill(_mask(t), y), (((3, 4), ()),)),
    Entry("masked_select", lambda t, x: x.masked_select(_mask(t)), MANY),
    Entry("take", lambda t, x: x.take(t.tensor([0, 5, 5])), MATRICES),
    Entry("take_along_dim", lambda t, x: t.take_along_dim(x, t.tensor([[0], [1], [0]]), 1), MATRICES),
]
