"""Views of batches: a view of a batch is the same view of each sample.

Most views are taken of the whole batch, whose dims are further on. Any other view is found from one sample and the
strides. The tangents of a view are the view of the tangents, so views concern no level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...kernels.shape import by_steps
from ...ops.framework import Op
from ...ops.indexing.indexing import select, slice_
from ...ops.joining import split, split_with_sizes, unbind
from ...ops.shape import (
    as_strided,
    diagonal,
    permute,
    squeeze_dim,
    t,
    transpose,
    unfold,
    unsqueeze,
    view,
)
from ...ops.tables import table
from .batched import Batched
from .refusals import check_reach

# The options that name dims, and the options that are sizes of all dims. All other options stay as they are.
DIMS = frozenset(("dim", "dims", "axes", "dim0", "dim1", "over"))
SIZES = frozenset(("shape",))

# The names of the options of these views say what is a dim and what are sizes.
WHOLE = table("vmap takes the view of all samples at once", dict.fromkeys((
    view, transpose, squeeze_dim, select, slice_, unbind, split, split_with_sizes, unfold, diagonal), True))


def viewed(op: Op, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The views of all samples. `call` is the view of one array."""
    x = args[0]
    levels, array = x.levels, x.array
    if op is t and x.ndim == 2:
        return Batched(levels, array.swapaxes(-1, -2))
    lead, options = len(levels), args[1:]
    if op is unsqueeze:
        return Batched(levels, call(array, _further(options[0], lead)))
    if op is view and array.flags.c_contiguous and math.prod(options[0]) == math.prod(x.shape):
        return Batched(levels, array.reshape(array.shape[:lead] + options[0]))
    if op is permute:
        return Batched(levels, array.transpose((*range(lead), *[_further(d, lead) for d in options[0]])))
    if x.ndim and op in WHOLE:
        found = call(array, *[array.shape[:lead] + o if name == "shape" else _further(o, lead) if name in DIMS else o
                              for name, o in zip(op.arguments[1:], options)])
        return tuple([Batched(levels, part) for part in found]) if type(found) is tuple else Batched(levels, found)
    if op is as_strided:
        check_reach(x, *options[:3])
    found = call(x.like, *options)
    return tuple([_spread(x, part) for part in found]) if type(found) is tuple else _spread(x, found)


def _further(dim: int, by: int) -> Any:
    """A dim further on, if it counts from the front."""
    return dim + by if dim >= 0 else dim


def _spread(x: Batched, view: Any) -> Batched:
    lead = len(x.levels)
    memory = x.array if not x.array.size and x.dtype == view.dtype else view     # of no samples, the first lies apart
    array = by_steps(memory, (*x.array.shape[:lead], *view.shape), (*x.array.strides[:lead], *view.strides))
    return Batched(x.levels, array)
