"""Sequences: recurrent layers, packed sequences, alignments of labels, bags of rows.

The samples become more sequences of one call. Where sequences are sorted by length, the samples of each sequence lie
side by side, so that the sequences stay sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....foundations.dtypes import Array, Shape
from ....ops import sparse
from ....ops.elementwise.arithmetic import add
from ....ops.framework import Op
from ....ops.networks import ctc, recurrent
from ....ops.networks.embedding import bags_backward, embedding_bag
from ....ops.shape import permute
from ..batched import is_batched, shown
from ..levels import constant
from .operands import Rule, as_shape, first, folded, folded_second, rules, unfolded

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel


def _beside(array: Array, axis: int) -> Any:
    """An array (batch, ...) whose first axis becomes the faster part of the axis `axis` of a sample."""
    size, *shape = array.shape
    array = permute.run(array, (*range(1, axis + 2), 0, *range(axis + 2, array.ndim)))
    return as_shape(array, (*shape[:axis], shape[axis] * size, *shape[axis + 1:]))


def _apart(array: Array, axis: int, size: int) -> Any:
    """The reverse of `_beside`."""
    shape = array.shape
    array = as_shape(array, (*shape[:axis], shape[axis] // size, size, *shape[axis + 1:]))
    return permute.run(array, (axis + 1, *range(axis + 1), *range(axis + 2, array.ndim)))


def _more(sizes: Shape | None, level: BatchLevel) -> Any:
    """The numbers of sequences at each step, for all samples."""
    return None if sizes is None else tuple([count * level.size for count in sizes])


def _layer(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """A recurrent layer, with the same weights for all samples. What is saved has the sequences last."""
    if any([is_batched(a, level) for a, name in zip(args, op.arguments, strict=True) if name not in ("x", "h", "c")]):
        return NotImplemented
    found = op.run(*[_beside(first(a, level), a.ndim - 2) if name in ("x", "h", "c")
                     else _more(a, level) if name == "sizes" else a
                     for a, name in zip(args, op.arguments, strict=True)])
    states = 3 if "c" in op.arguments else 2
    return *[_apart(part, part.ndim - 2, level.size) for part in found[:states]], *[
        _apart(part, part.ndim - 1, level.size) for part in found[states:]]


def _packed(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, sizes, batch_first = args
    found = op.run(_beside(shown(x, level), 0 if batch_first else 1), _more(sizes, level), batch_first)
    return _apart(found, 0, level.size)


def _padded(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    rows, sizes, *options = args
    return _apart(op.run(_beside(shown(rows, level), 0), _more(sizes, level), *options), 1, level.size)


def _ctc(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """The states of paths have a row for each sequence, and are the same for all samples."""
    log_probs, states, zero_infinity = args
    states = type(states)(*[np.concatenate([part] * level.size) for part in states])
    return unfolded(op.run(folded_second(shown(log_probs, level)), states, zero_infinity), level.size)


def _ctc_step(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    now, skips, by = args
    if is_batched(skips, level):
        return NotImplemented
    return unfolded(op.run(folded(shown(now, level)), np.concatenate([skips] * level.size), by), level.size)


def _bag(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """The bags of all samples are bags of one table, or of the tables of all samples."""
    weight, scales, index, starts, mode, padding, by_count = args
    apart, size = is_batched(weight, level), level.size
    if apart and padding >= 0:
        return NotImplemented
    (rows, *_), (places,), (bags,) = weight.shape, index.shape, starts.shape
    index = _numbered(first(index, level), rows if apart else 0)
    table = folded(shown(weight, level)) if apart else weight
    factors = None if scales is None else folded(first(scales, level))
    out, of, counts, chosen = op.run(table, factors, folded(index), folded(_numbered(first(starts, level), places)),
                                     mode, padding, by_count)
    of = _numbered(as_shape(of, (size, places)), -bags)
    if chosen.size:
        chosen = _numbered(unfolded(chosen, size), -rows if apart else 0)
    return *unfolded((out,), size), of, unfolded(counts, size), chosen


def _bags_backward(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, index, bags, shape, padding, by_count = args
    if by_count or padding >= 0:
        return NotImplemented
    index, bags = _numbered(first(index, level), shape[0]), _numbered(first(bags, level), g.shape[0])
    found = op.run(folded(first(g, level)), folded(index), folded(bags), (level.size * shape[0], *shape[1:]), -1, False)
    return unfolded(found, level.size)


def _numbered(index: Any, step: int) -> Any:
    """Numbers, with `step` times the number of the sample added."""
    if not step:
        return index
    return add.run(index, constant(np.arange(index.shape[0]).reshape(-1, *[1] * (index.ndim - 1)) * step))


SEQUENCES: dict[Op, Rule] = {
    **rules(_layer, recurrent.rnn_tanh_layer, recurrent.rnn_relu_layer, recurrent.gru_layer, recurrent.lstm_layer,
            recurrent.projected_lstm_layer),
    recurrent.pack_padded: _packed, recurrent.pad_packed: _padded,
    ctc.ctc_loss: _ctc, ctc.ctc_step: _ctc_step,
    **rules(_bag, embedding_bag, sparse.embedding_bag), bags_backward: _bags_backward,
}
