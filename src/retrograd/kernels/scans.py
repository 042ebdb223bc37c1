"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..foundations.dtypes import C64, C128, F16, F32, F64, I64, Array, is_half, letter, refuse
from .native.blas import alone
from .options import rounds_steps
from .rows import extremes
from .sums import converted
from .thresholds import SCAN_PIECE, SCAN_PRODUCT, SCAN_STEP

# The types in which running sums and products are computed, as in PyTorch.
_WIDER = {F32: F64, C64: C128}


def _wider(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    return F32 if is_half(dtype) else _WIDER.get(dtype)


def _accumulated(ufunc: np.ufunc, x: Array, dim: int, dtype: np.dtype[Any] | None) -> Any:
    """`ufunc.accumulate` in PyTorch's dtype: int64 for bools and ints. Floats are computed in the next wider type."""
    if dtype is None:
        dtype = I64 if x.dtype.kind in "biu" else x.dtype
    x = converted(x, dtype)
    return running(ufunc, x, dim, dtype, wide=_wider(dtype)) if x.ndim else x.astype(dtype)


def running(ufunc: np.ufunc, x: Array, dim: int, dtype: np.dtype[Any], out: Array | None = None,
            wide: np.dtype[Any] | None = None) -> Any:
    """`ufunc.accumulate`. If the other axes are long enough, each step along `dim` handles all of them at once.

    If `wide` is given, this type is computed in. Contiguous integers are an exception: NumPy accumulates them faster,
    because an integer addition takes little time.
    """
    if x.size < SCAN_STEP * x.shape[dim] or (
            dim == x.ndim - 1 and np.dtype(dtype).kind in "iu" and ufunc in (np.add, np.multiply)):
        if wide is None:
            return ufunc.accumulate(x, dim, dtype, out=out)
        found = ufunc.accumulate(x, dim, wide)
        if out is None:
            return found.astype(dtype)
        np.copyto(out, found, casting="unsafe")
        return out
    result = np.empty(x.shape, dtype) if out is None else out
    steps, sums = np.moveaxis(x, dim, 0), np.moveaxis(result, dim, 0)
    if wide is None:
        sums[:1] = steps[:1]
        for i in range(1, len(steps)):
            ufunc(sums[i - 1], steps[i], out=sums[i], dtype=dtype, casting="unsafe")
        return result
    block, before = max(1, SCAN_PIECE * len(steps) // max(x.size, 1)), None
    for at in range(0, len(steps), block):
        part = steps[at:at + block].astype(wide)
        if before is not None:
            ufunc(before, part[:1], out=part[:1])
        for i in range(1, len(part)):
            ufunc(part[i - 1], part[i], out=part[i])
        np.copyto(sums[at:at + block], part, casting="unsafe")
        before = part[-1:]
    return result


@rounds_steps
def cumsum(x: Array, dim: int, dtype: np.dtype[Any] | None) -> Any:
    """The running sums along `dim`."""
    if (dtype is None or dtype == x.dtype) and _by_products(x, dim):
        return _sums_by_products(x, dim, False)
    return _accumulated(np.add, x, dim, dtype)


def _by_products(x: Array, dim: int) -> bool:
    """Whether matrix products compute running sums faster than `ufunc.accumulate` or `running` does."""
    if x.size < SCAN_PRODUCT or x.dtype not in (F32, F64):
        return False
    n = x.shape[dim]
    return bool(n >= 32 and (x.size < SCAN_STEP * n or dim == x.ndim - 1))


def _sums_by_products(x: Array, dim: int, backwards: bool) -> Any:
    """Running sums along `dim` from one end, in pieces.

    In a plain running sum, each addition waits for the addition before it. Here the product with a triangle of ones
    gives all sums of short blocks at once, and each block starts from the sum of the blocks before it. The product
    includes every element, even if only multiplied by 0. So arrays with infinities or nans are summed one by one.
    """
    lines = np.moveaxis(x, dim, -1)
    n = lines.shape[-1]
    rows, found = lines.reshape(-1, n), np.empty((x.size // n, n), x.dtype)
    tall, long = max(1, SCAN_PIECE // n), min(n, SCAN_PIECE)
    with alone():
        for top in range(0, len(rows), tall):
            before: Any = 0.0                              # the sums of these lines up to a piece
            for at in range(0, n, long):
                piece = slice(top, top + tall), slice(max(n - at - long, 0), n - at) if backwards else (
                    slice(at, at + long))
                before = _sums_of_piece(rows[piece], before, found[piece], backwards)
                if before is None:
                    return _one_by_one(x, dim, backwards)
    return np.moveaxis(found.reshape(lines.shape), -1, dim)


def _sums_of_piece(lines: Array, before: Any, out: Array, backwards: bool) -> Any:
    """Write the running sums of lines to `out`. They start from the sums `before`, and their last sums are returned.

    The result is None if there are infinities or nans.
    """
    count, n = lines.shape
    length = _length_of_blocks(n)
    padded = np.zeros((count, n + -n % length), F64)
    padded[:, :n] = lines
    padded[:, n - 1 if backwards else 0] += before
    parts = padded.reshape(count, -1, length)
    totals = parts @ np.ones(length)
    if not np.isfinite(totals).all():
        return None
    if backwards:
        parts[:, :-1, -1] += sums_from(totals, 1)[:, 1:]
    else:
        parts[:, 1:, 0] += cumsum(totals, 1, F64)[:, :-1]
    sums = (parts.reshape(-1, length) @ _triangle(length, F64, backwards)).reshape(padded.shape)
    np.copyto(out, sums[:, :n], casting="same_kind")
    return sums[:, 0 if backwards else n - 1].copy()


def _length_of_blocks(n: int) -> int:
    """The length of the short blocks of a line of n elements: a divisor of n from 16 to 32, or else 16."""
    return next((k for k in range(16, 33) if not n % k), 16)


@cache
def _triangle(n: int, dtype: np.dtype[Any], lower: bool) -> Any:
    """A square with ones on and below the diagonal (or on and above it), and zeros elsewhere."""
    return np.tri(n, dtype=dtype) if lower else np.tri(n, dtype=dtype).T.copy()


def sums_from(x: Array, dim: int) -> Any:
    """For each element along `dim`, the sum from this element to the end: the transpose of `cumsum`."""
    if x.ndim == 0:
        return x.copy()
    return _sums_by_products(x, dim, True) if _by_products(x, dim) else _one_by_one(x, dim, True)


def _one_by_one(x: Array, dim: int, backwards: bool) -> Any:
    """Running sums along `dim` from one end."""
    wide = _wider(x.dtype)
    if not backwards:
        return running(np.add, x, dim, x.dtype, wide=wide)
    result = np.empty(x.shape, x.dtype)
    running(np.add, np.flip(x, dim), dim, x.dtype, np.flip(result, dim), wide)
    return result


@rounds_steps
def cumprod(x: Array, dim: int, dtype: np.dtype[Any] | None) -> Any:
    """The running products along `dim`."""
    return _accumulated(np.multiply, x, dim, dtype)


def reverse(x: Array, dim: int) -> Any:
    """`x` flipped along `dim`, in new memory, because a gradient may not have negative strides."""
    return np.array(np.flip(x, dim), order="C") if x.ndim else x


def cumextreme(x: Array, dim: int, largest: bool) -> tuple[Any, Any]:
    """The largest or smallest elements so far, and the index of the last element equal to each."""
    refuse(x.dtype, "cummax_cpu" if largest else "cummin_cpu")
    if x.ndim == 0:
        return x.copy(), np.zeros((), I64)
    ufunc, n = np.maximum if largest else np.minimum, x.shape[dim]
    if x.size < SCAN_PRODUCT or (dim < x.ndim - 1 and x.size >= SCAN_STEP * n):
        return _extremes_step_by_step(ufunc, x, dim)
    lines = np.ascontiguousarray(np.moveaxis(x, dim, -1))
    values = _extremes_in_blocks(ufunc, lines.reshape(-1, n)).reshape(lines.shape)
    at = np.flatnonzero(_reached(lines, values))            # the first of them in each line
    stays = np.empty_like(at)
    np.subtract(at[1:], at[:-1], out=stays[:-1])
    stays[-1] = x.size - at[-1]
    index = np.repeat(at % n, stays).reshape(lines.shape)
    return np.moveaxis(values, -1, dim), np.moveaxis(index, -1, dim)


def _reached(x: Array, values: Array) -> Any:
    """Where an element is the extreme of the elements so far. A nan always is."""
    reached = x == values
    if x.dtype.kind == "f":
        reached |= np.isnan(x)
    return reached


def _extremes_step_by_step(ufunc: np.ufunc, x: Array, dim: int) -> tuple[Any, Any]:
    values = running(ufunc, x, dim, x.dtype)
    place = np.arange(x.shape[dim], dtype=np.int32).reshape(-1, *[1] * (x.ndim - 1 - dim))
    found = np.where(_reached(x, values), place, np.int32(0))
    return values, running(np.maximum, found, dim, found.dtype, found).astype(I64)


def _extremes_in_blocks(ufunc: np.ufunc, x: Array) -> Any:
    """The running extremes of rows. Only blocks with a new extreme are searched, and there are few of these."""
    n = x.shape[1]
    length = _length_of_blocks(n)
    if n % length:
        return ufunc.accumulate(x, 1)
    parts = x.reshape(-1, length)
    ends = ufunc.accumulate(extremes(parts, (1,), False, ufunc is np.maximum).reshape(len(x), -1), 1)
    before = np.concatenate((x[:, :1], ends[:, :-1]), 1)
    new = ends != before
    new[:, 0] = True
    found = np.ascontiguousarray(parts[new.reshape(-1)].T)
    ufunc(found[0], before[new], out=found[0])
    for i in range(1, length):
        ufunc(found[i - 1], found[i], out=found[i])
    values = np.repeat(ends, length).reshape(-1, length)
    values[new.reshape(-1)] = found.T
    return values.reshape(x.shape)


@rounds_steps
def logcumsumexp(x: Array, dim: int) -> Any:
    """The logarithms of the running sums of exponentials along `dim`, without overflow."""
    refuse(x.dtype, "logcumsumexp_out_cpu", "biu")
    if x.ndim == 0 or not x.size:
        return x.copy()
    if letter(x.dtype) == "f":
        return np.logaddexp.accumulate(x.astype(_wider(x.dtype) or F64), dim).astype(x.dtype, copy=False)
    sums = np.moveaxis(x.astype(C128), dim, 0)
    for i in range(1, len(sums)):
        sums[i] = _log_of_two(sums[i - 1], sums[i])
    return np.moveaxis(sums, 0, dim).astype(x.dtype)


def _log_of_two(a: Array, b: Array) -> Any:
    """log(exp(a) + exp(b)) of complex numbers. If both are negative infinities, the result is the first of them."""
    small, large = np.where(a.real < b.real, a, b), np.where(a.real < b.real, b, a)
    exponential = np.exp(small - large)
    result = np.log(1.0 + exponential) + large
    near = np.abs(exponential) < 1e-3                      # 1 + exponential would round the exponential away
    result = np.where(near, exponential * (1.0 - exponential * (0.5 - exponential / 3.0)) + large, result)
    return np.where(np.isneginf(large.real), small, np.where(np.isnan(a + b), math.nan + math.nan * 1j, result))


def recurrence(a: Array, b: Array, dim: int) -> Any:
    """s[i] = a[i] s[i - 1] + b[i] along `dim`, from s[0] = b[0] on. `a` and `b` have one shape and dtype."""
    if not b.size:
        return b.copy()
    dtype = F32 if b.dtype == F16 else b.dtype
    factors, sums = np.moveaxis(a, dim, 0).astype(dtype), np.moveaxis(b, dim, 0).astype(dtype)
    n, rest = len(sums), sums[0].size
    if n <= 2 * SCAN_STEP or rest >= SCAN_STEP:
        _step(factors, sums)
    else:
        sums = _in_blocks(factors, sums, n, math.isqrt(n))
    return np.moveaxis(sums, 0, dim).astype(b.dtype, copy=False)


def _step(factors: Array, sums: Array) -> None:
    """The recurrence along the first axis, written to `sums`."""
    for i in range(1, len(sums)):
        sums[i] += factors[i] * sums[i - 1]


def _in_blocks(factors: Array, sums: Array, n: int, length: int) -> Any:
    """The recurrence in all blocks at once, as if each block started from 0; then the true starts are added."""
    blocks = -(-n // length)
    padding = [(0, blocks * length - n), *[(0, 0)] * (sums.ndim - 1)]
    factors, sums = (np.moveaxis(np.pad(part, padding).reshape(blocks, length, *part.shape[1:]), 1, 0).copy()
                     for part in (factors, sums))
    _step(factors, sums)
    products = np.multiply.accumulate(factors, 0)
    starts = sums[-1].copy()
    _step(products[-1], starts)
    sums[:, 1:] += products[:, 1:] * starts[:-1]
    return np.moveaxis(sums, 0, 1).reshape(blocks * length, *sums.shape[2:])[:n]
