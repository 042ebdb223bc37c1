"""Softmax, log-softmax, and their adjoints: along the last axis in blocks of rows, along other axes in slabs.

A block first computes the exponentials of x itself. Only if their sums show overflow or lost digits, the largest
element of each row is subtracted first, which takes as long as the rest of the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...dtypes import F16, refuse
from ..elementwise.elementary import widened
from ..linalg.line_products import by_row
from ..native.threads import in_parts

_add, _maximum = np.add.reduce, np.maximum.reduce
# Elements. Smaller blocks would stay in a nearer cache, but threads meet at the interpreter's lock between calls, and
# lose more time there: with a quarter of this, each of two threads took half as long again.
_BLOCK = 1 << 19
_SMALL = 1 << 12
_LOW, _HIGH = 1e-7, 1e7                                    # sums between these have lost no digits
_TALLER = 1e30                                             # softmax divides by any sum from 1 up to this


def _wide(name: str, x: Any, dim: int) -> Any:
    """x in a dtype of sufficient precision."""
    if x.dtype.kind != "f":
        last = "lastdim_" if dim == max(x.ndim, 1) - 1 else ""
        refuse(x.dtype, f"{name}_{last}kernel_impl", "biuc")
    return widened(x)


def _by_rows(block: Callable[..., None], out: Any, *arrays: Any) -> Any:
    """Call `block` with blocks of rows of `out` and of `arrays`, which all have one shape."""
    length = out.shape[-1]
    rows = max(1, _BLOCK // length)
    flat = [a.reshape(-1, length) for a in (out, *arrays)]

    def work(start: int, stop: int) -> None:
        ones = np.ones(length, out.dtype)
        for at in range(start, stop, rows):
            end = min(at + rows, stop)
            block(*[a[at:end] for a in flat], ones)

    in_parts(work, flat[0].shape[0], out.size)
    return out


def _last(x: Any, dim: int) -> bool:
    """Whether blocks of rows are faster: along the last axis of a large array."""
    return bool(x.size >= _SMALL and dim == x.ndim - 1)


def _by_slabs(slab: Callable[..., None], dim: int, out: Any, *arrays: Any) -> Any:
    """Call `slab` with slabs (before, along, after) of `out` and of `arrays`, which all have one shape."""
    length, inner = out.shape[dim], math.prod(out.shape[dim + 1:])
    step = max(1, _BLOCK // (length * inner))
    whole = [a.reshape(-1, length, inner) for a in (out, *arrays)]

    def work(start: int, stop: int) -> None:
        for at in range(start, stop, step):
            slab(*[a[at:min(at + step, stop)] for a in whole])

    in_parts(work, whole[0].shape[0], out.size)
    return out


def _middle(x: Any, dim: int) -> bool:
    """Whether slabs are faster: along another axis of a large array."""
    return bool(x.size >= _SMALL and dim < x.ndim - 1)


def _shifted(x: Any, dim: int, out: Any) -> Any:
    """x minus its largest element along `dim`."""
    return np.subtract(x, _maximum(x, axis=dim, keepdims=True), out=out) if x.size else x.copy()


def _softmax_block(out: Any, x: Any, ones: Any) -> None:
    sums = by_row(np.exp(x, out=out), ones)
    if not (sums.min() >= 1.0 and sums.max() <= _TALLER):
        np.exp(_shifted(x, -1, out), out=out)
        sums = by_row(out, ones)
    np.multiply(out, np.reciprocal(sums)[:, None], out=out)


def _softmax_slab(out: Any, x: Any) -> None:
    sums = _add(np.exp(x, out=out), axis=1, keepdims=True)
    if not (sums.min() >= 1.0 and sums.max() <= _TALLER):
        sums = _add(np.exp(_shifted(x, 1, out), out=out), axis=1, keepdims=True)
    np.multiply(out, np.reciprocal(sums), out=out)


def softmax(x: Any, dim: int) -> Any:
    """exp(x), scaled to a sum of 1 along `dim`."""
    wide = _wide("softmax", x, dim)
    if _last(x, dim):
        e = _by_rows(_softmax_block, np.empty(x.shape, wide.dtype), wide)
    elif _middle(x, dim):
        e = _by_slabs(_softmax_slab, dim, np.empty(x.shape, wide.dtype), wide)
    else:
        e = _shifted(wide, dim, ...)
        np.exp(e, out=e)
        np.divide(e, _add(e, axis=dim, keepdims=True), out=e)
    return e if e.dtype is x.dtype else e.astype(x.dtype)


def _log_softmax_block(out: Any, x: Any, ones: Any) -> None:
    sums = by_row(np.exp(x, out=out), ones)
    if not (sums.min() >= _LOW and sums.max() <= _HIGH):
        x = _shifted(x, -1, out)
        sums = by_row(np.exp(x), ones)
    np.subtract(x, np.log(sums)[:, None], out=out)


def _log_softmax_slab(out: Any, x: Any) -> None:
    sums = _add(np.exp(x, out=out), axis=1, keepdims=True)
    if not (sums.min() >= _LOW and sums.max() <= _HIGH):
        x = _shifted(x, 1, out)
        sums = _add(np.exp(x), axis=1, keepdims=True)
    np.subtract(x, np.log(sums), out=out)


def log_softmax(x: Any, dim: int) -> Any:
    """The logarithm of softmax, without the rounding of a logarithm taken afterwards."""
    wide = _wide("log_softmax", x, dim)
    if _last(x, dim):
        e = _by_rows(_log_softmax_block, np.empty(x.shape, wide.dtype), wide)
    elif _middle(x, dim):
        e = _by_slabs(_log_softmax_slab, dim, np.empty(x.shape, wide.dtype), wide)
    else:
        e = _shifted(wide, dim, ...)
        np.subtract(e, np.log(_add(np.exp(e), axis=dim, keepdims=True)), out=e)
    return e if e.dtype is x.dtype else e.astype(x.dtype)


def _softmax_backward_block(out: Any, g: Any, y: Any, ones: Any) -> None:
    np.subtract(g, np.vecdot(g, y)[:, None], out=out)
    np.multiply(out, y, out=out)


def _softmax_backward_slab(out: Any, g: Any, y: Any) -> None:
    sums = _add(np.multiply(g, y, out=out), axis=1, keepdims=True)
    np.multiply(np.subtract(g, sums, out=out), y, out=out)


def softmax_backward(g: Any, y: Any, dim: int) -> Any:
    """(g - sum(g * y)) * y, for the result y of softmax."""
    if y.dtype != F16 and g.dtype == y.dtype:
        if _last(y, dim):
            return _by_rows(_softmax_backward_block, np.empty(y.shape, y.dtype), g, y)
        if _middle(y, dim):
            return _by_slabs(_softmax_backward_slab, dim, np.empty(y.shape, y.dtype), g, y)
    if not y.ndim:
        return np.multiply(g - g * y, y, out=...)
    product = g * y
    np.subtract(g, _add(product, axis=dim, keepdims=True), out=product)
    return np.multiply(product, y, out=product)


def _log_softmax_backward_block(out: Any, g: Any, y: Any, ones: Any) -> None:
    np.multiply(np.exp(y, out=out), np.negative(by_row(g, ones))[:, None], out=out)
    np.add(out, g, out=out)


def _log_softmax_backward_slab(out: Any, g: Any, y: Any) -> None:
    sums = _add(g, axis=1, keepdims=True)
    np.subtract(g, np.multiply(np.exp(y, out=out), sums, out=out), out=out)


def log_softmax_backward(g: Any, y: Any, dim: int) -> Any:
    """g - exp(y) * sum(g), for the result y of log_softmax."""
    if y.dtype != F16 and g.dtype == y.dtype:
        if _last(y, dim):
            return _by_rows(_log_softmax_backward_block, np.empty(y.shape, y.dtype), g, y)
        if _middle(y, dim):
            return _by_slabs(_log_softmax_backward_slab, dim, np.empty(y.shape, y.dtype), g, y)
    chances = np.exp(y, out=...)
    np.multiply(chances, _add(g, axis=dim, keepdims=True) if y.ndim else g, out=chances)
    return np.subtract(g, chances, out=chances)


def safe_softmax(x: Any, dim: int) -> Any:
    """softmax, but 0 along a `dim` whose elements are all -inf."""
    out = softmax(x, dim)
    if np.isnan(out).any():                                # softmax is nan if all elements are -inf
        np.copyto(out, 0, where=_maximum(x, axis=dim, keepdims=True) == -np.inf)
    return out
