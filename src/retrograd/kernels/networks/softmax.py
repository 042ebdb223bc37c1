"""Softmax, log-softmax and their adjoints, log-sum-exp, and attention.

Softmax works along the last axis in blocks of rows, and along other axes in slabs. A block first computes the
exponentials of x itself. Only if their sums show overflow or lost digits, the largest element of each row is subtracted
first, which takes as long as the rest of the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, F64, Array, is_half, refuse
from ..elementwise.elementary import widened
from ..layout import empty_as
from ..linalg.line_products import by_row
from ..linalg.matrix import bmm
from ..native.served import served
from ..native.threads import blocks, in_parts
from ..options import rounds_steps
from ..rounding import in_steps
from ..rows import extremes, sums as sums_over, sums_of_columns
from ..thresholds import ROWS, SOFTMAX_BLOCK, SOFTMAX_ROWS

# So few rows of a slab are added one after the other.
_FEW = 256
_add, _maximum, _minimum = np.add.reduce, np.maximum.reduce, np.minimum.reduce
_LOW, _HIGH = 1e-7, 1e7                                    # sums between these have lost no digits
_TALLER = 1e30                                             # softmax divides by any sum from 1 up to this


def _wide(name: str, x: Array, dim: int) -> Any:
    """x in a dtype of sufficient precision."""
    if x.dtype.kind != "f":
        last = "lastdim_" if dim == max(x.ndim, 1) - 1 else ""
        refuse(x.dtype, f"{name}_{last}kernel_impl", "biuc")
    return widened(x)


def _in_pieces(work_on: Callable[..., None], dim: int, out: Array, *arrays: Any) -> Any:
    """Call `work_on` with pieces of `out` and of `arrays`, which all have one shape, and with a function of sums.

    A piece has `dim` as its axis 1: it is a block of rows if `dim` is the last axis, else a slab (before, along,
    after). The function gives the sums of a piece along axis 1, which keeps size 1.
    """
    length, after = out.shape[dim], out.shape[dim + 1:]
    inner, ones = math.prod(after), None if after else np.ones(length, out.dtype)
    step = max(1, SOFTMAX_BLOCK // (length * inner))
    shape = (-1, length, inner) if after else (-1, length)
    whole = [a.reshape(shape) for a in (out, *arrays)]

    def total(x: Array) -> Any:
        if ones is None and length <= _FEW:
            return _add(x, axis=1, keepdims=True)
        return (sums_of_columns(x) if ones is None else by_row(x, ones))[:, None]

    def work(start: int, stop: int) -> None:
        for piece in blocks(start, stop, step):
            work_on(*[a[piece] for a in whole], total)

    in_parts(work, len(whole[0]), out.size)
    return out


def _within(sums: Array, low: float, high: float) -> Any:
    """Whether all sums are in [low, high]. A nan is not."""
    return _minimum(sums, axis=None) >= low and _maximum(sums, axis=None) <= high


def _shifted(x: Array, dim: int, out: Array | EllipsisType) -> Any:
    """x minus its largest element along `dim`."""
    return np.subtract(x, _maximum(x, axis=dim, keepdims=True), out=out) if x.size else x.copy()


def _large(kernel: Callable[..., Any], piece: Callable[..., Any], dim: int, *arrays: Array) -> Any:
    """A kernel of arrays of one shape and dtype by machine code, or piece by piece."""
    found, like = served(kernel, *arrays, dim), arrays[0]
    return _in_pieces(piece, dim, np.empty(like.shape, like.dtype), *arrays) if found is None else found


def _total(x: Array, dim: int) -> Any:
    """The sums of a small array along `dim`, which keeps size 1."""
    many = x.ndim > 1 and x.shape[dim] > _FEW and dim % x.ndim < x.ndim - 1 and x.dtype is F32     # see `rows.drifts`
    return _add(x, axis=dim, keepdims=True, dtype=F64 if many else None)


def _softmax_of_piece(out: Array, x: Array, total: Callable[[Any], Any]) -> None:
    sums = total(np.exp(x, out=out))
    if not _within(sums, 1.0, _TALLER):
        sums = total(np.exp(_shifted(x, 1, out), out=out))
    np.multiply(out, np.reciprocal(sums), out=out)


def softmax(x: Array, dim: int) -> Any:
    """exp(x), scaled to a sum of 1 along `dim`."""
    wide = _wide("softmax", x, dim)
    if x.size >= SOFTMAX_ROWS:
        e = _large(softmax, _softmax_of_piece, dim, wide)
    else:
        e = _shifted(wide, dim, ...)
        np.exp(e, out=e)
        np.divide(e, _total(e, dim), out=e)
    return e if e.dtype is x.dtype else e.astype(x.dtype)


def _log_softmax_of_piece(out: Array, x: Array, total: Callable[[Any], Any]) -> None:
    sums = total(np.exp(x, out=out))
    if not _within(sums, _LOW, _HIGH):
        x = _shifted(x, 1, out)
        sums = total(np.exp(x))
    np.subtract(x, np.log(sums), out=out)


@rounds_steps
def log_softmax(x: Array, dim: int) -> Any:
    """The logarithm of softmax, without the rounding of a logarithm taken afterwards."""
    if is_half(x.dtype):
        return _log_softmax_of_halves(x, dim)
    wide = _wide("log_softmax", x, dim)
    if x.size >= SOFTMAX_ROWS:
        e = _large(log_softmax, _log_softmax_of_piece, dim, wide)
    else:
        e = _shifted(wide, dim, ...)
        np.subtract(e, np.log(_total(np.exp(e), dim)), out=e)
    return e


def _log_softmax_of_halves(x: Array, dim: int) -> Any:
    """In float32. PyTorch rounds the sums and their logarithms if `dim` is the last one."""
    shifted = _shifted(x.astype(F32), dim, ...)
    half = x.dtype if dim in (-1, x.ndim - 1) else None
    logarithms = in_steps(np.log(in_steps(_total(np.exp(shifted), dim), half)), half)
    return np.subtract(shifted, logarithms, out=...).astype(x.dtype)


def _softmax_backward_of_piece(out: Array, g: Array, y: Array, total: Callable[[Any], Any]) -> None:
    sums = np.vecdot(g, y)[:, None] if g.ndim == 2 else total(np.multiply(g, y, out=out))
    np.multiply(np.subtract(g, sums, out=out), y, out=out)


def softmax_backward(g: Array, y: Array, dim: int) -> Any:
    """(g - sum(g * y)) * y, for the result y of softmax."""
    if y.dtype == F16:
        return softmax_backward(g.astype(F32), y.astype(F32), dim).astype(F16)
    if y.size >= SOFTMAX_ROWS and g.dtype == y.dtype:
        return _large(softmax_backward, _softmax_backward_of_piece, dim, g, y)
    if not y.ndim:
        return np.multiply(g - g * y, y, out=...)
    product = g * y
    np.subtract(g, _total(product, dim), out=product)
    return np.multiply(product, y, out=product)


def _log_softmax_backward_of_piece(out: Array, g: Array, y: Array, total: Callable[[Any], Any]) -> None:
    np.subtract(g, np.multiply(np.exp(y, out=out), total(g), out=out), out=out)


def log_softmax_backward(g: Array, y: Array, dim: int) -> Any:
    """g - exp(y) * sum(g), for the result y of log_softmax."""
    if y.dtype == F16:
        return log_softmax_backward(g.astype(F32), y.astype(F32), dim).astype(F16)
    if y.size >= SOFTMAX_ROWS and g.dtype == y.dtype:
        return _large(log_softmax_backward, _log_softmax_backward_of_piece, dim, g, y)
    chances = np.exp(y, out=...)
    np.multiply(chances, _total(g, dim) if y.ndim else g, out=chances)
    return np.subtract(g, chances, out=chances)


def safe_softmax(x: Array, dim: int) -> Any:
    """softmax, but 0 along a `dim` whose elements are all -inf."""
    out = softmax(x, dim)
    first = out[(slice(None),) * dim + (slice(1),)] if out.ndim else out
    if np.isnan(first).any():                              # softmax is nan along the whole dim if all elements are -inf
        np.copyto(out, 0, where=_maximum(x, axis=dim, keepdims=True) == -np.inf)
    return out


def _largest(x: Array, axes: tuple[int, ...]) -> Any:
    """The largest element if it is finite, else 0. Subtracting it keeps the exponentials from overflow."""
    real = x.real if x.dtype.kind == "c" else x
    if real.size < ROWS:
        largest = _maximum(real, axis=axes, keepdims=True, initial=-math.inf)
    else:
        largest = extremes(real, axes, True, True)
    return np.where(np.isfinite(largest), largest, np.zeros((), real.dtype))


@rounds_steps
def logsumexp(x: Array, axes: tuple[int, ...], keepdim: bool) -> Any:
    """log(sum(exp(x))) over `axes`, without overflow and without loss of small numbers."""
    half = x.dtype if is_half(x.dtype) else None           # PyTorch rounds each step of float16 and bfloat16
    x = x if half is None else x.astype(F32)
    largest = _largest(x, axes)
    exponentials = in_steps(np.subtract(x, largest, out=...), half)
    exponentials = in_steps(np.exp(exponentials, out=exponentials), half)
    logarithms = in_steps(np.log(in_steps(sums_over(exponentials, axes, True), half)), half)
    result = np.add(logarithms, largest, out=...)
    result = result if keepdim else np.squeeze(result, axes)
    return result if half is None else result.astype(half)


# Scaled dot-product attention of four dims: (batch, heads, length, size)


def _stack(x: Array, heads: int) -> Any:
    """x as a stack of matrices, with each head repeated for the `heads` that it serves; half precision as single."""
    if x.shape[1] != heads:
        x = np.repeat(x, heads // x.shape[1], 1)
    x = x.reshape(-1, *x.shape[2:])
    return widened(x)


def attention(q: Array, k: Array, v: Array, mask: Array | None, causal: bool, scale: float) -> tuple[Any, Any]:
    """softmax(q @ k^T * scale + mask) @ v, and the softmax as a stack of matrices.

    The mask is broadcast and added. A row that the mask excludes completely is 0. In a causal row, later columns do not
    count.
    """
    heads = q.shape[1]
    left, right = _stack(q, heads), _stack(k, heads)
    scores = bmm(left * left.dtype.type(scale), right.swapaxes(1, 2))
    if mask is not None:
        shaped = scores.reshape(*q.shape[:3], k.shape[2])
        np.add(shaped, mask, out=shaped, casting="same_kind")
    if causal:
        np.copyto(scores, -math.inf, where=np.triu(np.ones(scores.shape[1:], bool), 1))
    weights = safe_softmax(scores, 2)
    out = bmm(weights, _stack(v, heads)).reshape(*q.shape[:3], v.shape[3])
    out = out.astype(q.dtype, copy=False)
    if not q.flags.c_contiguous:
        rows, out = out, empty_as(q, q.dtype)
        out[...] = rows
    return out, weights


def attention_weights(q: Array, k: Array, weights: Array, scale: float) -> Any:
    """The softmax that `attention` has computed already, as a function of q and k."""
    return weights
