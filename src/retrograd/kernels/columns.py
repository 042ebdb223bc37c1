"""The columns that a convolution multiplies with its weight, and products of such columns in threads.

A column holds what one output position sees: C * prod(kernel) numbers. Must not know what is made of the products.
"""

from __future__ import annotations

import math
from itertools import product as places
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import threads

Sizes = tuple[int, ...]
# OpenBLAS computes products of fewer multiplications in the calling thread (interface/gemm.c).
_ALONE = 1 << 19
# How many output positions a product should have at least, and how long a multiplication takes, in nanoseconds, with
# what has to be done around it.
_POSITIONS, _PRODUCT = 256, 0.04


class Window(NamedTuple):
    """How a kernel slides: for each dimension of space its size, step, the zeros around, and the gaps in it."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes

    def outputs(self, sizes: Sizes) -> Sizes:
        """How many positions there are in each dimension."""
        return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1
                      for n, k, s, p, d in zip(sizes, *self)])

    def inputs(self, outputs: Sizes, extra: Sizes) -> Sizes:
        """The sizes that a transposed convolution gives."""
        return tuple([(n - 1) * s - 2 * p + d * (k - 1) + e + 1
                      for n, k, s, p, d, e in zip(outputs, *self, extra)])

    @property
    def trivial(self) -> bool:
        """Whether each position sees just itself."""
        return not any(self.padding) and max((*self.kernel, *self.stride)) == 1

    def reach(self, start: int, stop: int) -> slice:
        """What these positions see of the first dimension, where no zeros are around it."""
        first = self.stride[0] * start
        return slice(first, self.stride[0] * (stop - 1) + self.dilation[0] * (self.kernel[0] - 1) + 1)

    def taps(self, sizes: Sizes, outputs: Sizes) -> list[tuple[tuple[slice, ...], tuple[slice, ...]]]:
        """For each place in the kernel, row by row: which positions see an input through it, and which inputs."""
        pairs = [[_seen(i * d - p, s, n, m) for i in range(k)]
                 for k, s, p, d, n, m in zip(*self, sizes, outputs)]
        return [(tuple([a for a, _ in tap]), tuple([b for _, b in tap])) for tap in places(*pairs)]

    def view(self, padded: Any, outputs: Sizes) -> Any:
        """The windows of a padded array (n, c, ...) as a view: (c, *kernel, n, *outputs)."""
        n, c, *steps = padded.strides
        return as_strided(padded, (padded.shape[1], *self.kernel, padded.shape[0], *outputs),
                          (c, *[s * d for s, d in zip(steps, self.dilation)],
                           n, *[s * t for s, t in zip(steps, self.stride)]), writeable=False)


def last(ranges: tuple[slice, ...]) -> Any:
    """An index that takes these ranges of the last dimensions."""
    return (..., *ranges)


def _seen(offset: int, step: int, inputs: int, outputs: int) -> tuple[slice, slice]:
    """The positions i with 0 <= i * step + offset < inputs, and these places of the input."""
    first = max(0, -(offset // step))
    last = max(first, min(outputs, (inputs - 1 - offset) // step + 1))
    start = first * step + offset
    return slice(first, last), slice(start, max(start, (last - 1) * step + offset + 1), step)


class Columns:
    """The columns of so many samples at a time, in memory that is used again. One for each thread.

    They are copied in two steps: what the last dimension of the kernel sees, which are short runs, and then the rows
    of that which its other dimensions see, which are long ones. With `ones`, each column has a last element of 1.
    """

    def __init__(self, x: Any, window: Window, outputs: Sizes, groups: int, count: int, ones: bool = False) -> None:
        self.x, self.trivial, self.groups, self.count = x, window.trivial, groups, count
        self.padded = self.rows = None
        if self.trivial:
            return
        if any(window.padding):
            sizes = x.shape[2:]
            x = self.padded = np.zeros(
                (count, x.shape[1], *[n + 2 * p for n, p in zip(sizes, window.padding)]), x.dtype)
            self.inside = x[(..., *[slice(p, p + n) for n, p in zip(sizes, window.padding)])]
        self.each = (slice(None),) * (len(outputs) + 1)
        self.windows = window.view(x, outputs)
        if window.kernel[-1] > 1 and max(window.kernel[:-1], default=1) > 1:
            self.windows, self.rows, self.long = _by_rows(x, window, outputs, count)
        inner = x.shape[1] // groups
        depth = inner * math.prod(window.kernel)
        self.columns = np.empty((groups, depth + ones, count * math.prod(outputs)), x.dtype)
        self.columns[:, depth:] = 1
        self.places = self.columns[:, :depth].reshape(groups, inner, *window.kernel, count, *outputs)

    def __call__(self, start: int) -> Any:
        """Those of the samples from this one on: (groups, C / groups * prod(kernel), samples * positions)."""
        stop, view, places = start + self.count, self.x, None
        if self.trivial:
            return matrices(self.x, start, stop, self.groups)
        if self.padded is not None:
            self.inside[...] = self.x[start:stop]
            start, stop = 0, self.count
        view, places = self.windows[(*self.each, slice(start, stop))], self.places
        if self.rows is not None:
            np.copyto(self.rows, view)
            view = self.long
        np.copyto(places, view.reshape(places.shape))
        return self.columns


def _by_rows(x: Any, window: Window, outputs: Sizes, count: int) -> tuple[Any, Any, Any]:
    """What the last dimension of the kernel sees as a view of x, memory for it, and the windows of that."""
    kernel, stride, _, dilation = window
    ahead, one = x.shape[2:-1], (1,) * (len(kernel) - 1)
    view = Window((*one, kernel[-1]), (*one, stride[-1]), kernel, (*one, dilation[-1])).view(
        x, (*ahead, outputs[-1]))
    rows = np.empty((*view.shape[:len(kernel) + 1], count, *ahead, outputs[-1]), x.dtype)
    c, *_, last, n = rows.strides[:len(kernel) + 2]
    *steps, item = rows.strides[len(kernel) + 2:]
    long = as_strided(rows, (x.shape[1], *kernel, count, *outputs),
                      (c, *[s * d for s, d in zip(steps, dilation)], last, n,
                       *[s * t for s, t in zip(steps, stride)], item), writeable=False)
    return view, rows, long


def matrices(x: Any, start: int, stop: int, groups: int) -> Any:
    """Samples as matrices: (groups, C / groups, samples * positions)."""
    if stop - start == 1:
        return x[start].reshape(groups, x.shape[1] // groups, -1)
    return x[start:stop].swapaxes(0, 1).reshape(groups, x.shape[1] // groups, -1)


class Blocks(NamedTuple):
    """How the samples are taken: so many at a time, by products of so many columns; what all costs, in nanoseconds."""

    samples: int
    width: int
    cost: float


def blocks(samples: int, positions: int, rows: int, inner: int, groups: int) -> Blocks:
    """For products of (rows, inner) with (inner, positions) in each group of each sample."""
    size = max(1, min(samples, -(-_POSITIONS // max(1, positions))))
    width = _ALONE // max(1, rows * inner) // 8 * 8
    cost = samples * positions * rows * inner * groups * _PRODUCT
    if threads.available() == 1 or samples < 2 or width < 16 or cost < 2 * threads.ENOUGH:
        return Blocks(size, 0, 0)
    return Blocks(min(size, -(-samples // threads.available())), width, cost)


def multiply(a: Any, b: Any, out: Any, width: int) -> None:
    """The products of two stacks of matrices, in pieces of so many columns unless `width` is 0."""
    columns = b.shape[-1]
    if not width or columns <= width:
        np.matmul(a, b, out=out)
        return
    width = -(-columns // -(-columns // width))
    whole = columns - columns % width
    pieces = (*b.shape[:-1], whole // width, width)
    np.matmul(a[:, None], b[..., :whole].reshape(pieces).swapaxes(1, 2),
              out=cut(out[..., :whole], width))
    if whole < columns:
        np.matmul(a, b[..., whole:], out=out[..., whole:])


def cut(stack: Any, width: int) -> Any:
    """Matrices (groups, rows, columns) as a view of narrower ones: (groups, pieces, rows, width)."""
    groups, rows, columns = stack.shape
    a, b, c = stack.strides
    return as_strided(stack, (groups, columns // width, rows, width), (a, c * width, b, c))


def summed_product(a: Any, b: Any, width: int) -> Any:
    """a (groups, rows, n) @ b (groups, columns, n) transposed, in pieces of the sum unless `width` is 0."""
    n = a.shape[-1]
    if not width or n <= width:
        return np.matmul(a, b.swapaxes(1, 2))
    width = -(-n // -(-n // width))
    whole = n - n % width
    pieces = np.matmul(cut(a[..., :whole], width), cut(b[..., :whole], width).swapaxes(2, 3)).sum(1)
    return pieces if whole == n else pieces + np.matmul(a[..., whole:], b[..., whole:].swapaxes(1, 2))
