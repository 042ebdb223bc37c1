"""Random numbers inside of `vmap`: refused, the same for all samples, or different for each.

Different numbers are drawn for the whole batch at once, as PyTorch draws them. So `vmap` draws the same
numbers as one call on the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...kernels.elementwise.arithmetic import overwrite
from ...ops.basic import copy
from ...ops.creation import Draw, drawn, drawn_beside, random_channels, random_from, random_like
from ...ops.framework import Op
from ...ops.indexing.indexing import select
from ...ops.shape import expand
from .batched import hidden, is_batched, shown
from .families.operands import aligned, first, folded, unfolded
from .levels import below
from .refusals import unwritable

if TYPE_CHECKING:
    from ...tensors.transforms.batching import BatchLevel

# The kernels that draw random numbers.
RANDOM = frozenset((drawn, drawn_beside))
REFUSED = ("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
           "randomness flags on vmap or perform the randomness operation out of vmap")
# The sentence where autograd itself makes the batch: of gradients, or of rows of a Jacobian.
REFUSED_IN_PASSES = ("vmap: We do not yet support calling random operations inside of vmap. Please perform random "
                     "operations outside of vmap as a workaround")
_NOT_SAME = ("Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
             "functorch")
_NOT_DIFFERENT = ("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like "
                  "same randomness. If this is necessary for your usage, please file an issue with functorch.")


def draw(level: BatchLevel, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """Draw random numbers for a batch."""
    different = level.randomness == "different"
    if level.randomness == "error" and not different:
        raise RuntimeError(level.no_random)
    if write:
        return _write(level, op, call, args, different)
    batched = any([is_batched(a, level) for a in args])
    if not different:
        if not batched:
            return below(op, call, args)
        if op not in (random_like, random_channels):
            raise noted(RuntimeError(_NOT_SAME), instead="use randomness='different'")
        return below(op, call, (_sample(args[0], level), *args[1:]))
    if op not in (random_like, random_channels, random_from):
        found = below(op, call, aligned(args, level) if batched else (first(args[0], level), *args[1:]))
    elif args[0] is None:
        found = _drawn_by(level, op, call, args[1])
    elif op is random_like or args[0].ndim < 2 or not level.size:
        found = below(op, call, (first(args[0], level), *args[1:]))
    else:
        found = unfolded(below(op, call, (folded(first(args[0], level)), *args[1:])), level.size)
    return hidden(found, level)


def _sample(array: Array, level: BatchLevel) -> Any:
    return select.run(shown(array, level), 0, 0) if is_batched(array, level) else array


def _drawn_by(level: BatchLevel, op: Op, call: Callable[..., Any], drawing: Draw) -> Any:
    """Numbers for a shape, or one permutation after another."""
    if isinstance(drawing, Draw) and isinstance(drawing.args[1], tuple):
        stream, shape, *rest = drawing.args
        return below(op, call, (None, Draw(drawing.draw, (stream, (level.size, *shape), *rest))))
    return below(op, call, (None, lambda nothing: np.stack([drawing(nothing) for _ in range(level.size)])))


def _write(level: BatchLevel, op: Op, call: Callable[..., Any], args: tuple[Any, ...], different: bool) -> None:
    """Draw over memory. `args` are the target, the operands of the operator, and what draws."""
    target, *operands = args
    beside = any([is_batched(a, level) for a in operands[1:]])
    if not different and beside:
        raise noted(RuntimeError(_NOT_SAME), instead="use randomness='different'")
    if not is_batched(target, level):
        if beside:
            raise unwritable(op.name, level.size, [])
        if different:
            raise noted(
                RuntimeError(_NOT_DIFFERENT),
                instead="draw new numbers, rather than write over a tensor that is the same for all samples")
        below(op, call, args, True)
    elif different:
        below(op, call, aligned(args, level), True)
    else:
        drawn = below(op, op.compute, [copy.run(_sample(a, level), "K") if is_batched(a, level) else a
                                       for a in operands])
        copy.write(overwrite, shown(target, level), expand.run(drawn, (level.size, *drawn.shape)))
