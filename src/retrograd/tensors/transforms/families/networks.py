"""Losses, normalizations, rows of tables, attention."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ....foundations.modes import local
from ....ops import sparse
from ....ops.basic import cast
from ....ops.creation import full_beside
from ....ops.elementwise.arithmetic import add, div, mul
from ....ops.elementwise.comparison import ne
from ....ops.framework import Op
from ....ops.linalg.matrix import first_row
from ....ops.networks import attention, dropout, embedding, losses, normalization
from ....ops.networks.recurrent import gates_apart
from ....ops.reductions import mean_dim, sum_dim
from ....ops.shape import expand, unsqueeze
from ..batched import is_array, is_batched, shown
from ..levels import constant
from .dims import shifted
from .operands import (
    Rule,
    Same,
    aligned,
    as_shape,
    by_fold,
    by_stack,
    first,
    flat_rows,
    folded,
    folded_second,
    in_line,
    rules,
    unfolded,
    unfolded_second,
    with_axes,
)

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel

# Losses


def _reduced(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """A loss of elements: those of each sample are reduced by themselves."""
    at = op.arguments.index("reduction")
    reduction = args[at]
    elements = op.run(*aligned((*args[:at], "none", *args[at + 1:]), level))
    return _over(elements, reduction)


def _over(elements: Any, reduction: str) -> Any:
    if reduction == "none":
        return elements
    axes = tuple(range(1, elements.ndim))
    return (mean_dim if reduction == "mean" else sum_dim).run(elements, axes, False, None)


def _for_classes(level: BatchLevel, shape: tuple[int, ...], target: Any) -> tuple[tuple[int, ...], Any]:
    """The shape of the scores of all samples as rows, and the targets of the rows. A sample may be a single row."""
    target = first(target, level)
    if len(shape) > 1:
        return (level.size * shape[0], *shape[1:]), folded(target)
    return (level.size, *shape), target


def _nll_loss(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, target, weight, reduction, ignored = args
    if is_batched(weight, level):
        return NotImplemented
    shape, targets = _for_classes(level, x.shape, target)
    losses = op.run(as_shape(first(x, level), shape), targets, weight, "none", ignored)
    losses = as_shape(losses, (level.size, *target.shape))
    if reduction == "none":
        return losses
    total = sum_dim.run(flat_rows(losses), (1,), False, None) if target.size != 1 else as_shape(losses, (level.size,))
    return _shared(level, total, shape, targets, weight, ignored) if reduction == "mean" else total


def _shared(level: BatchLevel, g: Any, shape: tuple[int, ...], targets: Any, weight: Any, ignored: int) -> Any:
    """A number for each sample, divided by the total weight of the targets of the sample."""
    if (weight is None and type(targets) is np.ndarray and local.thread.below is None
            and not (targets == ignored).any()):
        count = targets.size // level.size
        return g if count == 1 else div.run(g, constant(np.array(count, g.dtype)))
    return div.run(g, _weights(level, g, shape, targets, weight, ignored))


def _weights(level: BatchLevel, like: Any, shape: tuple[int, ...], targets: Any, weight: Any, ignored: int) -> Any:
    """The total weight of each sample's targets: how many there are, or the loss if all scores are -1."""
    if weight is None:
        weights = cast.run(ne.run(targets, constant(np.array(ignored, targets.dtype))), like.dtype)
    else:
        weights = losses.nll_loss.run(expand.run(full_beside(like, (), like.dtype, -1), shape), targets, weight, "none",
                               ignored)
    return sum_dim.run(as_shape(weights, (level.size, math.prod(weights.shape) // level.size)), (1,), False,
                       None)


def _nll_loss_backward(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, target, weight, sample, reduction, ignored = args
    if is_batched(weight, level):
        return NotImplemented
    shape, targets = _for_classes(level, sample, target)
    g = first(g, level)
    if reduction == "mean":
        g = _shared(level, g, shape, targets, weight, ignored)
    if reduction != "none" and target.size != 1:
        g = expand.run(as_shape(g, (level.size, *[1] * target.ndim)), (level.size, *target.shape))
    found = op.run(as_shape(g, targets.shape), targets, weight, shape, "none", ignored)
    return as_shape(found, (level.size, *sample))


def _multi_margin(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, target, weight, p, margin, reduction = args
    if is_batched(weight, level) or not x.ndim:
        return NotImplemented
    count = level.size * (x.shape[0] if x.ndim > 1 else 1)
    rows = as_shape(first(x, level), (count, x.shape[-1]))
    losses = op.run(rows, as_shape(first(target, level), (count,)), weight, p, margin, "none")
    return _over(as_shape(losses, (level.size, *target.shape)), reduction)


def _multilabel_margin(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, classes, between, reduction = args
    if not x.ndim:
        return NotImplemented
    rows = as_shape(first(x, level), (level.size * classes.shape[0], x.shape[-1]))
    losses = op.run(rows, *[folded(first(a, level)) for a in (classes, between)], "none")
    return _over(as_shape(losses, (level.size, *x.shape[:-1])), reduction)


# Normalizations


def _scaled_and_shifted(level: BatchLevel, out: Any, weight: Any, bias: Any, after: int) -> Any:
    """`out` times weight plus bias. They have their axes in line if `after` axes of size 1 follow them."""
    for call, a in ((mul, weight), (add, bias)):
        if a is not None:
            a = shown(a, level) if is_batched(a, level) else as_shape(a, (1, *a.shape))
            lead = out.ndim - a.ndim - after
            out = call.run(out, as_shape(a, (a.shape[0], *[1] * lead, *a.shape[1:], *[1] * after)))
    return out


def _of_one(level: BatchLevel, op: Op, args: tuple[Any, ...], after: int) -> Any:
    """A normalization of what is the same for all samples. Only the weight or the bias differ, and no statistics."""
    x, weight, bias, *options = args
    if weight is not None and weight.dtype != x.dtype:
        return NotImplemented
    out, *statistics = op.run(x, None, None, *options)
    return _scaled_and_shifted(level, unsqueeze.run(out, 0), weight, bias, after), *map(Same, statistics)


def _layer_norm(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, weight, bias, rank, eps = args
    if not is_batched(x, level):
        return _of_one(level, op, args, 0)
    x = first(x, level)
    if not (is_batched(weight, level) or is_batched(bias, level)):
        return op.run(x, weight, bias, rank, eps)
    if weight is not None and weight.dtype != x.dtype:
        return NotImplemented
    out, mean, rstd = op.run(x, None, None, rank, eps)
    return _scaled_and_shifted(level, out, weight, bias, 0), mean, rstd


def _group_norm(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, weight, bias, groups, eps = args
    after = x.ndim - 2
    if not is_batched(x, level):
        return _of_one(level, op, args, after)
    x = folded(first(x, level))
    if not (is_batched(weight, level) or is_batched(bias, level)):
        return unfolded(op.run(x, weight, bias, groups, eps), level.size)
    if weight is not None and weight.dtype != x.dtype:
        return NotImplemented
    out, mean, rstd = unfolded(op.run(x, None, None, groups, eps), level.size)
    return _scaled_and_shifted(level, out, weight, bias, after), mean, rstd


def _by_channels(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Operators on (N, C, ...) whose statistics are of channels: a sample's channels are channels of their own."""
    moved = [folded_second(first(a, level)) if is_array(a) and a.ndim > 1
             else folded(first(a, level)) if is_array(a) else a for a in args]
    found = op.run(*moved)
    if type(found) is tuple:
        return unfolded_second(found[0], level.size), *[unfolded(part, level.size) for part in found[1:]]
    return unfolded(found, level.size) if found.ndim == 1 else unfolded_second(found, level.size)


def _batch_norm(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    if not is_batched(args[0], level):
        found = _of_one(level, op, args, args[0].ndim - 2)
        if found is not NotImplemented:
            return found
    return _by_channels(level, op, args)


def _by_given_moments(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    if any([is_batched(a, level) for a in args[1:]]):
        return _by_channels(level, op, args)
    return unfolded(op.run(folded(shown(args[0], level)), *args[1:]), level.size)


def _standardized(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Parts of the derivatives of normalizations: operands of the rank of x are full, others broadcast."""
    rank = max([a.ndim for a in args if is_array(a)])
    return op.run(*[(first(a, level) if a.ndim == rank else in_line(a, level, rank)) if is_array(a)
                    else shifted(a, rank) if name in ("axes", "over") else a
                    for a, name in zip(args, op.arguments, strict=True)])


# Tables of rows


def _numbers(level: BatchLevel, index: Any, rows: int) -> Any:
    """The numbers of rows in a table of the tables of all samples."""
    index = first(index, level)
    return add.run(index, constant(np.arange(level.size).reshape(-1, *[1] * (index.ndim - 1)) * rows))


def _embedding(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    weight, index, padding, by_count = args
    if not is_batched(weight, level):
        return op.run(weight, shown(index, level), padding, by_count)
    return op.run(folded(shown(weight, level)), _numbers(level, index, weight.shape[0]), -1, False)


def _embedding_rows(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    table, index, padding, by_count = args
    if by_count:
        return NotImplemented
    found = op.run(folded(first(table, level)), _numbers(level, index, table.shape[0]), -1, False)
    return found if padding < 0 else _unless(level, found, index, padding)


def _embedding_backward(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, index, shape, padding, by_count = args
    if by_count:
        return NotImplemented
    g = first(g, level)
    if padding >= 0:
        g = _unless(level, g, index, padding)
    found = op.run(g, _numbers(level, index, shape[0]), (level.size * shape[0], *shape[1:]), -1, False)
    return unfolded(found, level.size)


def _unless(level: BatchLevel, rows: Any, index: Any, padding: int) -> Any:
    """Rows, with zeros where the index is that of the padding."""
    index = first(index, level)
    used = ne.run(index, constant(np.array(padding, index.dtype)))
    return mul.run(rows, cast.run(as_shape(used, (*used.shape, 1)), rows.dtype))


def _first_row(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """The only row of a matrix."""
    x = shown(args[0], level)
    return as_shape(x, (level.size, x.shape[-1]))


# Attention, on (N, heads, length, size)


def _attention(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    q, k, v, mask, causal, scale = args
    if mask is not None and (is_batched(mask, level) or (mask.ndim == 4 and mask.shape[0] != 1)):
        mask = with_axes(first(mask, level), 1, 4 - mask.ndim)
        mask = folded(expand.run(mask, (level.size, q.shape[0], *mask.shape[2:])))
    q, k, v = [folded(first(a, level)) for a in (q, k, v)]
    return unfolded(op.run(q, k, v, mask, causal, scale), level.size)


def _attention_weights(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    *arrays, scale = args
    return unfolded(op.run(*[folded(first(a, level)) for a in arrays], scale), level.size)


NETWORKS: dict[Op, Rule] = {
    **rules(_reduced, losses.mse_loss, losses.smooth_l1_loss, losses.huber_loss, losses.soft_margin_loss,
            losses.binary_cross_entropy, losses.binary_cross_entropy_with_logits),
    losses.multi_margin_loss: _multi_margin, losses.multilabel_margin_loss: _multilabel_margin,
    **rules(_nll_loss, losses.nll_loss, losses.nll_loss2d), losses.nll_loss_backward: _nll_loss_backward,
    **rules(_group_norm, normalization.group_norm, normalization.native_group_norm),
    normalization.layer_norm: _layer_norm,
    normalization.batch_norm_by: _by_given_moments, normalization.batch_norm: _batch_norm,
    normalization.centered_sum: _by_channels,
    **rules(_standardized, normalization.standardize, normalization.standardize_backward,
            normalization.standardized_sum),
    **rules(_embedding, embedding.embedding, sparse.embedding), embedding.embedding_rows: _embedding_rows,
    embedding.embedding_backward: _embedding_backward,
    **rules(by_stack, dropout.native_dropout, dropout.affine), gates_apart: by_fold, first_row: _first_row,
    attention.attention: _attention, attention.attention_weights: _attention_weights,
}
