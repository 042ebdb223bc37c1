"""Convolutions of any number of dimensions, as matrix products of columns: forwards, and by input and by weight.

A column holds what one output position sees: C * prod(kernel) numbers. They are copied for one sample at a time (for
several where the images are small), so that they stay in the cache and the memory that they take does not grow with
the batch; the gradient by the weight copies them once more, since keeping them would take prod(kernel) times the
memory of the input. The product is written straight to the result. The transposed convolution, which is the
gradient by the input, is the reverse: a product gives columns, and they are added where they came from.

Samples are spread over threads. OpenBLAS has threads of its own, but they wait for each other at every product, which
costs more than these small products do. It uses them only where a product has more than 2^19 multiplications, so in
threads products are cut in narrower ones, which NumPy runs in one call.

Measured on one core, input 32x16x28x28, 32 filters of 3x3: the product takes 2.1 ms and the columns 0.7; one large
product over the batch took as long, with 32 times the memory. Shifted products without columns have an inner
dimension of C alone, and took twice as long. `rows` are (O, C / groups, *kernel) as PyTorch has weights.
"""

from __future__ import annotations

import math
from itertools import product as places
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..dtypes import F16, F32
from . import threads

Sizes = tuple[int, ...]
# OpenBLAS computes products of fewer multiplications in the calling thread.
_ALONE = 1 << 19
# How many output positions a product should have at least, and how many multiplications take as long as one element
# of other work.
_POSITIONS, _PRODUCTS = 256, 8


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


def _last(ranges: tuple[slice, ...]) -> Any:
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
    """How the samples are taken: so many at a time, by products of so many columns; how much work that is in all."""

    samples: int
    width: int
    elements: int


def blocks(samples: int, positions: int, rows: int, inner: int, groups: int) -> Blocks:
    """For products of (rows, inner) with (inner, positions) in each group of each sample."""
    size = max(1, min(samples, -(-_POSITIONS // max(1, positions))))
    width = _ALONE // max(1, rows * inner) // 8 * 8
    elements = samples * positions * rows * inner * groups // _PRODUCTS
    if threads.available() == 1 or samples < 2 or width < 16 or elements < threads.LARGE:
        return Blocks(size, 0, 0)
    return Blocks(min(size, -(-samples // threads.available())), width, elements)


def multiply(a: Any, b: Any, out: Any, width: int) -> None:
    """The products of two stacks of matrices, in pieces of so many columns unless `width` is 0."""
    columns = b.shape[-1]
    if not width or columns <= width:
        np.matmul(a, b, out=out)
        return
    width = -(-columns // -(-columns // width))
    whole = columns - columns % width
    cut = (*b.shape[:-1], whole // width, width)
    np.matmul(a[:, None], b[..., :whole].reshape(cut).swapaxes(1, 2),
              out=_cut(out[..., :whole], width))
    if whole < columns:
        np.matmul(a, b[..., whole:], out=out[..., whole:])


def _cut(stack: Any, width: int) -> Any:
    """Matrices (groups, rows, columns) as a view of narrower ones: (groups, pieces, rows, width)."""
    groups, rows, columns = stack.shape
    a, b, c = stack.strides
    return as_strided(stack, (groups, columns // width, rows, width), (a, c * width, b, c))


def convolution(x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
                output_padding: Sizes, groups: int) -> Any:
    """x (N, C, ...) with weight (O, C / groups, ...), or transposed with weight (C, O / groups, ...): (N, O, ...)."""
    if x.dtype == F16:
        bias = None if bias is None else bias.astype(F32)
        return convolution(x.astype(F32), weight.astype(F32), bias, stride, padding, dilation, transposed,
                           output_padding, groups).astype(F16)
    window = Window(weight.shape[2:], stride, padding, dilation)
    if transposed:
        return spread(x, weight, bias, window, window.inputs(x.shape[2:], output_padding), groups)
    return gathered(x, weight, bias, window, groups)


def conv_tbc(x: Any, weight: Any, bias: Any, pad: int) -> Any:
    """x (time, batch, C) with weight (kernel, C, O) and bias (O): (time, batch, O)."""
    result = convolution(np.transpose(x, (1, 2, 0)), np.transpose(weight, (2, 1, 0)), bias, (1,), (pad,), (1,), False,
                         (0,), 1)
    return np.transpose(result, (2, 0, 1))


def gathered(x: Any, weight: Any, bias: Any, window: Window, groups: int) -> Any:
    """What each position sees, weighted and summed."""
    outputs, rows = window.outputs(x.shape[2:]), weight.shape[0]
    result = np.empty((x.shape[0], rows, *outputs), x.dtype)
    if not result.size:
        return result
    if not weight.size:
        result[...] = 0
        return result if bias is None else np.add(result, _beside(bias, len(outputs)), out=result)
    weights = weight.reshape(groups, rows // groups, -1)
    positions = math.prod(outputs)
    size, width, each = blocks(len(x), positions, weights.shape[1], weights.shape[2], groups)
    if bias is not None:
        bias = bias.reshape(groups, -1, 1)
        if not window.trivial:
            weights = np.concatenate((weights, bias), 2)

    def work(start: int, stop: int) -> None:
        columns = None
        for i in range(start, stop, size):
            count = min(size, stop - i)
            if columns is None or columns.count != count:
                columns = Columns(x, window, outputs, groups, count, bias is not None)
            target = result[i].reshape(groups, rows // groups, -1) if count == 1 else np.empty(
                (groups, rows // groups, count * positions), x.dtype)
            multiply(weights, columns(i), target, width)
            if bias is not None and window.trivial:
                target += bias
            if count > 1:
                result[i:i + count] = target.reshape(rows, count, *outputs).swapaxes(0, 1)

    threads.in_parts(work, len(x), each)
    return result


def spread(g: Any, weight: Any, bias: Any, window: Window, sizes: Sizes, groups: int) -> Any:
    """The transpose of `gathered`: each position gives its value, weighted, to all that it sees."""
    channels = weight.shape[1] * groups
    result = np.zeros((g.shape[0], channels, *sizes), g.dtype)
    if not (result.size and weight.size and g.size):
        return result if bias is None else np.add(result, _beside(bias, len(sizes)), out=result)
    ahead, window = _ahead(window)
    weights, outputs = _turned(weight, ahead, groups), ahead.outputs(g.shape[2:])
    positions, taps = math.prod(outputs), window.taps(sizes, outputs)
    size, width, each = blocks(len(g), positions, weights.shape[1], weights.shape[2], groups)

    flat = outputs == sizes and window.stride[-1] == 1 and len(taps) == window.kernel[-1]

    def work(start: int, stop: int) -> None:
        given = None
        for i in range(start, stop, size):
            count = min(size, stop - i)
            if given is None or given.count != count:
                given = Columns(g, ahead, outputs, groups, count)
                products = np.empty((*weights.shape[:2], count * positions), g.dtype)
            multiply(weights, given(i), products, width)
            parts = products.reshape(channels, len(taps), count, *outputs).swapaxes(0, 1)
            sums = result[i:i + count].swapaxes(0, 1)
            for part, (source, target) in zip(parts, taps):
                if flat:
                    _add_shifted(part, sums, source[-1], target[-1])
                else:
                    place = sums[_last(target)]
                    np.add(place, part[_last(source)], out=place)

    threads.in_parts(work, len(g), each)
    return result if bias is None else np.add(result, _beside(bias, len(sizes)), out=result)


def _add_shifted(part: Any, sums: Any, source: slice, target: slice) -> None:
    """Add what the last dimension has at `source` to the sums at `target`: as one long run, where the rest is 0."""
    part[..., :source.start] = 0
    part[..., source.stop:] = 0
    lines = sums.shape[:2]
    part, sums = part.reshape(*lines, -1), sums.reshape(*lines, -1)
    a, b = max(0, source.start - target.start), max(0, target.start - source.start)
    place = sums[..., b:sums.shape[-1] - a]
    np.add(place, part[..., a:part.shape[-1] - b], out=place)


def _ahead(window: Window) -> tuple[Window, Window]:
    """Two windows in turn, of which the first is a convolution by the kernel turned round, the second transposed.

    Where all steps but the last are 1, the first has all dimensions but the last, and copies long runs; otherwise it
    is trivial. So the second adds in as few pieces as can be.
    """
    kernel, stride, padding, dilation = window
    one = (1,) * len(kernel)
    around = [d * (k - 1) - p for k, p, d in zip(kernel, padding, dilation)][:-1]
    if max((*stride[:-1], 1)) > 1 or min((*around, 0)) < 0:
        return Window(one, one, (0,) * len(kernel), one), window
    return (Window((*kernel[:-1], 1), one, (*around, 0), (*dilation[:-1], 1)),
            Window((*one[1:], kernel[-1]), (*one[1:], stride[-1]), (*[0] * len(around), padding[-1]),
                   (*one[1:], dilation[-1])))


def _turned(weight: Any, ahead: Window, groups: int) -> Any:
    """The weight as matrices from what `ahead` sees of g to the parts that are added up."""
    given, channels, *kernel = weight.shape
    whole = weight.reshape(groups, given // groups, channels, math.prod(kernel[:-1]), kernel[-1])
    if math.prod(ahead.kernel) == 1:
        return np.ascontiguousarray(np.moveaxis(whole, 1, 4)).reshape(groups, channels * math.prod(kernel), -1)
    turned = np.ascontiguousarray(whole[..., ::-1, :].transpose(0, 2, 4, 1, 3))
    return turned.reshape(groups, channels * kernel[-1], -1)


def weight_gradient(x: Any, g: Any, shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
    """The gradient of a convolution of x by its weight of this shape, where g is that of its result."""
    if x.dtype == F16:
        return weight_gradient(x.astype(F32), g.astype(F32), shape, stride, padding, dilation, groups).astype(F16)
    window, outputs = Window(shape[2:], stride, padding, dilation), g.shape[2:]
    inner, rows = math.prod(shape[1:]), shape[0] // groups
    if not (x.size and g.size):
        return np.zeros(shape, x.dtype)
    positions = math.prod(outputs)
    size, width, each = blocks(len(x), positions, rows, inner, groups)
    sums: list[Any] = []

    def work(start: int, stop: int) -> None:
        total = np.zeros((groups, rows, inner), x.dtype)
        columns = None
        for i in range(start, stop, size):
            count = min(size, stop - i)
            if columns is None or columns.count != count:
                columns = Columns(x, window, outputs, groups, count)
            total += _summed_product(matrices(g, i, i + count, groups), columns(i), width)
        sums.append(total)

    threads.in_parts(work, len(x), each)
    for other in sums[1:]:
        sums[0] += other
    return sums[0].reshape(shape)


def _summed_product(a: Any, b: Any, width: int) -> Any:
    """a (groups, rows, n) @ b (groups, columns, n) transposed, in pieces of the sum unless `width` is 0."""
    n = a.shape[-1]
    if not width or n <= width:
        return np.matmul(a, b.swapaxes(1, 2))
    width = -(-n // -(-n // width))
    whole = n - n % width
    pieces = np.matmul(_cut(a[..., :whole], width), _cut(b[..., :whole], width).swapaxes(2, 3)).sum(1)
    return pieces if whole == n else pieces + np.matmul(a[..., whole:], b[..., whole:].swapaxes(1, 2))


def _beside(bias: Any, dims: int) -> Any:
    """A number for each channel, broadcast over the dimensions of space."""
    return bias.reshape(-1, *[1] * dims)


def unfold(x: Any, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """What each position sees of x (N, C, ...) or (C, ...), as columns: (N, C * prod(kernel), positions)."""
    if x.ndim == len(kernel) + 1:
        return unfold(x[None], kernel, dilation, padding, stride)[0]
    window = Window(kernel, stride, padding, dilation)
    outputs = window.outputs(x.shape[2:])
    if any(padding):
        x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    columns = np.moveaxis(window.view(x, outputs), len(kernel) + 1, 0)
    return np.ascontiguousarray(columns).reshape(len(x), x.shape[1] * math.prod(kernel), math.prod(outputs))


def fold(x: Any, sizes: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """The columns (N, C * prod(kernel), positions) added where they were seen: (N, C, *sizes), or both without N."""
    if x.ndim == 2:
        return fold(x[None], sizes, kernel, dilation, padding, stride)[0]
    window = Window(kernel, stride, padding, dilation)
    outputs, count = window.outputs(sizes), math.prod(kernel)
    parts = x.reshape(len(x), x.shape[1] // count, count, *outputs)
    result = np.zeros((*parts.shape[:2], *sizes), x.dtype)
    for t, (source, target) in enumerate(window.taps(sizes, outputs)):
        place = result[_last(target)]
        np.add(place, parts[:, :, t][_last(source)], out=place)
    return result
