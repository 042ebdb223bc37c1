"""The columns that a convolution multiplies by its weight, and the products of such columns in threads.

A column holds the elements that one output position sees: C * prod(kernel) numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product as places
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...foundations.dtypes import Array
from ..native import blas, threads
from ..thresholds import (
    COLUMNS_BLOCK_BYTES,
    COLUMNS_COPIED,
    COLUMNS_KEPT_BYTES,
    COLUMNS_PLACES,
    COLUMNS_POSITIONS,
    COLUMNS_PRODUCT_COST,
)

Sizes = tuple[int, ...]
Taps = tuple[tuple[tuple[slice, ...], tuple[slice, ...]], ...]


class Window(NamedTuple):
    """How a kernel slides: for each dimension of space its size, its stride, the padding, and the dilation."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes

    def outputs(self, sizes: Sizes) -> Sizes:
        """The number of output positions in each dimension."""
        return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1
                      for n, k, s, p, d in zip(sizes, *self)])

    def inputs(self, outputs: Sizes, extra: Sizes) -> Sizes:
        """The output sizes of a transposed convolution."""
        return tuple([(n - 1) * s - 2 * p + d * (k - 1) + e + 1
                      for n, k, s, p, d, e in zip(outputs, *self, extra)])

    @property
    def trivial(self) -> bool:
        """Whether each position sees only its own element."""
        return not any(self.padding) and max((*self.kernel, *self.stride)) == 1

    def reach(self, start: int, stop: int) -> slice:
        """The range of the first dimension that these positions see, if it has no padding."""
        first = self.stride[0] * start
        return slice(first, self.stride[0] * (stop - 1) + self.dilation[0] * (self.kernel[0] - 1) + 1)

    def taps(self, sizes: Sizes, outputs: Sizes) -> Taps:
        """For each place in the kernel, row by row: the positions that see an input through it, and these inputs."""
        return _taps(self, sizes, outputs)

    def view(self, x: Array, outputs: Sizes) -> Any:
        """The windows of an array (..., *sizes) without padding, as a view: (..., *kernel, *outputs)."""
        dims = len(outputs)
        steps = x.strides[-dims:]
        return as_strided(x, (*x.shape[:-dims], *self.kernel, *outputs),
                          (*x.strides[:-dims], *[s * d for s, d in zip(steps, self.dilation)],
                           *[s * t for s, t in zip(steps, self.stride)]), writeable=False)


def last(ranges: tuple[slice, ...]) -> Any:
    """An index with these ranges of the last dimensions."""
    return (..., *ranges)


@lru_cache(maxsize=256)
def _taps(window: Window, sizes: Sizes, outputs: Sizes) -> Taps:
    pairs = [[_seen(i * d - p, s, n, m) for i in range(k)] for k, s, p, d, n, m in zip(*window, sizes, outputs)]
    return tuple([(tuple([a for a, _ in tap]), tuple([b for _, b in tap])) for tap in places(*pairs)])


def _seen(offset: int, step: int, inputs: int, outputs: int) -> tuple[slice, slice]:
    """The positions i with 0 <= i * step + offset < inputs, and their places in the input."""
    first = max(0, -(offset // step))
    last = max(first, min(outputs, (inputs - 1 - offset) // step + 1))
    start = first * step + offset
    return slice(first, last), slice(start, max(start, (last - 1) * step + offset + 1), step)


class Columns:
    """The columns of `count` samples of a shape, in memory that is reused. Only one thread at a time may use it.

    The columns of each sample are one matrix for each group: (samples, groups, C / groups * prod(kernel), positions).
    If `merged`, the columns of all samples are one matrix: (groups, C / groups * prod(kernel), samples * positions).
    With `ones`, each column has a last element of 1.
    """

    def __init__(self, count: int, shape: Sizes, dtype: np.dtype[Any], window: Window, outputs: Sizes, groups: int,
                 merged: bool, ones: bool = False) -> None:
        inner, sizes = shape[0] // groups, shape[1:]
        self.shape, self.merged, self.trivial = (count, groups, inner, *sizes), merged, window.trivial
        self.sliding: tuple[Window, Sizes] | None = None
        self.rest: list[tuple[Any, Any]] = []
        self.nbytes = 0
        if self.trivial:
            return
        depth, positions = inner * math.prod(window.kernel), math.prod(outputs)
        by_rows = window.kernel[-1] > 1 and max(window.kernel[:-1], default=1) > 1
        new = np.empty if by_rows or not any(window.padding) else np.zeros
        if merged:
            memory = new((groups, depth + ones, count, positions), dtype)
            self.columns, memory = memory.reshape(groups, depth + ones, -1), memory.transpose(2, 0, 1, 3)
        else:
            memory = self.columns = new((count, groups, depth + ones, positions), dtype)
        self.nbytes = memory.nbytes
        memory[:, :, depth:] = 1
        place = memory[:, :, :depth].reshape(count, groups, inner, *window.kernel, *outputs)
        if by_rows:
            window, outputs, place = self._by_rows(window, outputs, place)
        if not any(window.padding):
            self.sliding, self.pieces = (window, outputs), [(place, ...)]
        elif math.prod(window.kernel) > COLUMNS_PLACES or place.size < COLUMNS_COPIED:
            padded = np.zeros((count, groups, inner, *[n + 2 * p for n, p in zip(sizes, window.padding)]), dtype)
            self.nbytes += padded.nbytes
            self.pieces = [(padded[last(tuple([slice(p, p + n) for n, p in zip(sizes, window.padding)]))], ...)]
            self.rest.insert(0, (place, window.view(padded, outputs)))
        else:
            self.pieces = [(place[(slice(None),) * 3 + tap][last(source)], last(target)) for tap, (source, target) in
                           zip(places(*map(range, window.kernel)), window.taps(sizes, outputs))]

    def _by_rows(self, window: Window, outputs: Sizes, columns: Array) -> tuple[Window, Sizes, Any]:
        """Copy in two steps: first the elements along the kernel's last dimension, then whole rows of them.

        The first step copies short runs. The second step copies more data, but in long runs. Returns the first step.
        """
        one, (kernel, stride, padding, dilation) = (1,) * (len(outputs) - 1), window
        ahead = [n + 2 * p for n, p in zip(self.shape[3:-1], padding)]
        rows = np.zeros((*columns.shape[:3], kernel[-1], *ahead, outputs[-1]), columns.dtype)
        self.nbytes += rows.nbytes
        view = Window((*kernel[:-1], 1), (*stride[:-1], 1), (0, *one), (*dilation[:-1], 1)).view(rows, outputs)
        after = 3 + len(outputs)
        view = view.transpose(0, 1, 2, *range(4, after), 3, *range(after, view.ndim)).reshape(columns.shape)
        self.rest.append((columns, view))
        return (Window((*one, kernel[-1]), (*one, stride[-1]), padding, (*one, dilation[-1])), rows.shape[4:],
                rows.reshape(*rows.shape[:3], *one, *rows.shape[3:]))

    def __call__(self, x: Array) -> Any:
        """The columns of these samples."""
        x = x.reshape(self.shape)
        if self.trivial:
            return matrices(x, self.merged)
        if self.sliding:
            x = self.sliding[0].view(x, self.sliding[1])
        for place, source in self.pieces:
            np.copyto(place, x[source])
        for place, view in self.rest:
            np.copyto(place, view)
        return self.columns


def in_blocks(kind: Callable[..., Any], x: Array, start: int, stop: int, size: int,
              *geometry: Any) -> Iterator[tuple[int, int, Any]]:
    """The samples from `start` to `stop` by blocks: the first sample, how many, and their columns in reused memory.

    `kind` makes the object that makes the columns, from the number of samples, their shape and dtype, and `geometry`.
    A small object is kept for the next call of the same geometry, because making it takes longer than filling it.
    """
    makers: dict[int, Any] = {}
    for i in range(start, stop, size):
        count = min(size, stop - i)
        if count not in makers:
            try:
                makers[count] = _kept(kind, count, x.shape[1:], x.dtype, *geometry).pop()
            except IndexError:                              # none is kept, or each is in use
                makers[count] = kind(count, x.shape[1:], x.dtype, *geometry)
        yield i, count, makers[count](x[i:i + count])
    for count, maker in makers.items():
        kept = _kept(kind, count, x.shape[1:], x.dtype, *geometry)
        if maker.nbytes <= COLUMNS_KEPT_BYTES and len(kept) < threads.available():
            kept.append(maker)


@lru_cache(maxsize=32)
def _kept(*geometry: Any) -> list[Any]:
    """The objects of this geometry that are not in use."""
    return []


def matrices(x: Array, merged: bool) -> Any:
    """Samples (n, groups, rows, ...) as matrices: (n, groups, rows, positions) or (groups, rows, n * positions)."""
    shape = x.shape[1:3]
    if merged:
        return x.transpose(1, 2, 0, *range(3, x.ndim)).reshape(*shape, -1)
    return x.reshape(len(x), *shape, -1)


def blocks(samples: int, positions: int, rows: int, inner: int, groups: int, itemsize: int) -> tuple[int, bool, float]:
    """How to process samples by products of (rows, inner) with (inner, positions) in each group of each sample.

    The number of samples at a time, whether one product merges them, and the total cost. The cost is in nanoseconds. It
    is 0 if threads cannot share the work.
    """
    cost = cost_in_threads(samples, positions * rows * inner * groups)
    merged = positions < COLUMNS_POSITIONS
    size = (-(-COLUMNS_POSITIONS // max(1, positions)) if merged else
            COLUMNS_BLOCK_BYTES // (max(rows, inner) * positions * groups * itemsize))
    if cost:
        samples = -(-samples // threads.available())
    size = max(1, min(samples, size))
    return -(-samples // -(-samples // size)), merged and size > 1, cost


def cost_in_threads(samples: int, products: int) -> float:
    """The nanoseconds that so many multiplications for each sample take, or 0 if threads cannot share the work."""
    cost = samples * products * COLUMNS_PRODUCT_COST
    alone = threads.available() == 1 or samples < 2 or cost < 2 * threads.ENOUGH or not blas.can_be_alone()
    return 0 if alone else cost


def over_samples(work: Callable[[int, int], object], samples: int, cost: float) -> None:
    """Run `work(start, stop)` for ranges that cover all samples, in threads if the cost is high enough."""
    if not cost:
        work(0, samples)
        return
    with blas.alone():
        threads.in_parts(work, samples, cost)
