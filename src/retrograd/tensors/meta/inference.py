"""The transform for meta arrays: it finds the shape, the dtype and the strides of what an operator would compute.

A view is taken of an array that has the geometry but no memory. The shapes of elementwise operators, products and
convolutions follow from rules. All other operators compute on zeros, and their results are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ...foundations.dtypes import FLOATING, category, dtype as torch_dtype
from ...foundations.modes import standing
from ...kernels.kinds import found_in, replaced
from ...kernels.meta import (
    MetaArray,
    added_product,
    convolution as convolved,
    copied,
    elementwise,
    product,
    stand_in,
    strided,
    without_memory,
    without_memory_like,
)
from ...ops.basic import cast, clone, copy, look
from ...ops.creation import drawn, drawn_beside, fresh, new_full
from ...ops.elementwise.arithmetic import copy as copy_elements, fill, fill_tensor
from ...ops.framework import Op
from ...ops.images.convolution import convolution
from ...ops.linalg.matrix import addmm, baddbmm, bmm, mm
from ...ops.shape import as_strided
from ...ops.tables import Table, table
from ..arguments.generator import stream_restored
from ..recording.inplace import write_over

_RANDOM = (drawn, drawn_beside)
SHAPES: Table[Op, Callable[..., MetaArray]] = table("For meta tensors, the result is found by {}", {
    mm: product, bmm: product, addmm: added_product, baddbmm: added_product, convolution: convolved, clone: copied,
    copy: copied})
_CONVERTING = table("For meta tensors, a write of it may convert numbers to any type",
                    dict.fromkeys((copy_elements, fill, fill_tensor), True))


def inferring() -> AbstractContextManager[None]:
    """Have `infer` stand on the seam of this thread."""
    return standing(infer)


def infer(op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The results of an operator, as arrays without memory if one of its arguments is such an array."""
    metas = found_in(args, MetaArray)
    if not metas:
        return call(*args)
    if write:
        return _check_write(op, args[1:], args[0]) if getattr(call, "func", None) is write_over else None
    if op is look:
        return args[0]
    if op is new_full:
        return without_memory(tuple(args[1]), np.dtype(args[2]))
    if op is fresh:
        return without_memory_like(args[0])
    if op.view:
        return _viewed(op, call, args, metas)
    rule = SHAPES.get(op)
    if rule is not None and all(a is None or hasattr(a, "shape") for a in args[:op.arity]):
        return rule(*args)
    if op is cast:
        return elementwise([args[0]], np.dtype(args[1]))
    if op.kind in ("elementwise", "constant") and op.outputs == ("out",) and not op.variadic:
        found = _elementwise(op, args)
        if found is not None:
            return found
    with stream_restored():
        return _computed(call, args)


def _elementwise(op: Op, args: tuple[Any, ...]) -> MetaArray | None:
    """The result of an elementwise operator; None if the operator turns out to be none."""
    result = elementwise(_arrays(args), np.float32)
    small = _small(op, args)
    fits = small.shape == tuple([min(n, 2) for n in result.shape])
    return elementwise(_arrays(args), small.dtype) if fits else None


def _arrays(args: tuple[Any, ...]) -> list[Any]:
    return [a for a in args if isinstance(a, (np.ndarray, MetaArray))]


def _small(op: Op, args: tuple[Any, ...]) -> Any:
    """The result for zeros, at most two in each dimension. Of integers that refuse zeros, the result for ones."""
    small = [np.zeros([min(n, 2) for n in a.shape], a.dtype) if isinstance(a, (np.ndarray, MetaArray)) else a
             for a in args]
    if op.kernel in _RANDOM:
        return small[0]
    try:
        return op.compute(*small)
    except RuntimeError:
        if not all([category(a.dtype) < FLOATING for a in _arrays(args)]):
            raise
        return op.compute(*[np.ones_like(a) if isinstance(a, np.ndarray) else 1 if type(a) is int else a
                            for a in small])


def _viewed(op: Op, call: Callable[..., Any], args: tuple[Any, ...], metas: list[MetaArray]) -> Any:
    """The views that an operator takes."""
    x = metas[0]
    if op in (as_strided, as_strided.written):
        return strided(x, tuple(args[1]), tuple(args[2]), args[3] or 0)
    found = call(*replaced(args, MetaArray, lambda array: array.like))
    if type(found) is tuple:
        return tuple([x.over(part) for part in found])
    return x.over(found)


def _computed(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a kernel makes of zeros or, if it refuses them, of ones and identity matrices."""
    try:
        found = call(*replaced(args, MetaArray, stand_in))
    except Exception:
        try:
            found = call(*replaced(args, MetaArray, lambda array: stand_in(array, unit=True)))
        except Exception:
            found = None
        if found is None:
            raise
    return replaced_by_meta(found)


def replaced_by_meta(found: Any) -> Any:
    """The results of a kernel, without memory."""
    if isinstance(found, np.ndarray):
        return without_memory_like(found)
    if type(found) in (list, tuple):
        return type(found)([replaced_by_meta(part) for part in found])
    return found


def _check_write(op: Op, args: tuple[Any, ...], target: MetaArray) -> None:
    """Refuse a result that does not fit the memory that it would be written to. Nothing is written."""
    arrays = _arrays(args)
    if op.kind not in ("elementwise", "constant") or op.kernel in _RANDOM or op.variadic or len(arrays) < 2:
        return
    shape, dtype = elementwise(arrays, target.dtype).shape, _small(op, args).dtype
    if shape != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}")
    if category(dtype) > category(target.dtype) and op not in _CONVERTING:
        have, want = torch_dtype.of[dtype].legacy, torch_dtype.of[target.dtype].legacy
        raise RuntimeError(f"result type {have} can't be cast to the desired output type {want}")
