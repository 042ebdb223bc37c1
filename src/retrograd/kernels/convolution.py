"""Convolutions of any number of dimensions, as matrix products of columns: forwards, and by input and by weight.

Columns (see `columns`) are copied for one sample at a time, for several where images are small, and for a strip of it
where they are large: so they stay in the cache, and memory does not grow with the batch. The gradient by the weight
copies them once more, since to keep them would take prod(kernel) times the memory of the input. A product is written
straight to the result, and the bias is part of it: a row of ones in the columns.

The transposed convolution, which is the gradient by the input, is the reverse: a product gives columns, and they are
added where they came from. Where all steps but the last are 1, only the last dimension is treated so. Along the others
the kernel is turned round and moves over the cotangent, which copies long runs and leaves fewer parts to be added.

Samples are spread over threads. OpenBLAS has threads of its own, but they wait for each other at every product, which
costs more than products as small as these do. It uses them only where a product has 2^19 multiplications or more, so
in threads products are cut in narrower ones, which NumPy runs in one call.

Measured on one core for 32x16x28x28 and 32 filters of 3x3: products take 2.1 ms each way, columns 0.5 (0.7 without the
step by rows). One product for the whole batch was not faster, with 32 times the memory. Shifted products without
columns have an inner dimension of C alone, and took longer than they saved. Transposing by 9 sums of columns took 1 ms
more than now.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import F16, F32
from . import threads
from .columns import Columns, Sizes, Window, blocks, last, matrices, multiply, summed_product

# How many bytes of columns of one sample are made at a time.
_STRIP = 1 << 23


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
    strips = _strips(window, outputs, x.shape[1] * x.itemsize)
    if strips:
        whole, window = _padded_ahead(x, window), _flush(window)
        for a, b in strips:
            result[:, :, a:b] = gathered(whole[:, :, window.reach(a, b)], weight, bias, window, groups)
        return result
    weights = weight.reshape(groups, rows // groups, -1)
    positions = math.prod(outputs)
    size, width, cost = blocks(len(x), positions, weights.shape[1], weights.shape[2], groups)
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

    threads.in_parts(work, len(x), cost)
    return result


def spread(g: Any, weight: Any, bias: Any, window: Window, sizes: Sizes, groups: int) -> Any:
    """The transpose of `gathered`: each position gives its value, weighted, to all that it sees."""
    channels = weight.shape[1] * groups
    result = np.zeros((g.shape[0], channels, *sizes), g.dtype)
    if not (result.size and weight.size and g.size):
        return result if bias is None else np.add(result, _beside(bias, len(sizes)), out=result)
    strips = _strips(window, g.shape[2:], channels * g.itemsize)
    if strips:
        return _spread_by_strips(g, weight, bias, window, result, strips, groups)
    ahead, window = _ahead(window)
    weights, outputs = _turned(weight, ahead, groups), ahead.outputs(g.shape[2:])
    positions, taps = math.prod(outputs), window.taps(sizes, outputs)
    size, width, cost = blocks(len(g), positions, weights.shape[1], weights.shape[2], groups)

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
                    place = sums[last(target)]
                    np.add(place, part[last(source)], out=place)

    threads.in_parts(work, len(g), cost)
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


def _spread_by_strips(g: Any, weight: Any, bias: Any, window: Window, result: Any, strips: list[tuple[int, int]],
                      groups: int) -> Any:
    """The same, where rows of positions are taken after each other and added up in `result`."""
    sizes, around, free = result.shape[2:], window.padding[0], _flush(window)
    for a, b in strips:
        rows = free.reach(a, b)
        part = spread(g[:, :, a:b], weight, None, free, (rows.stop - rows.start, *sizes[1:]), groups)
        start, stop = max(0, rows.start - around), min(sizes[0], rows.stop - around)
        if start < stop:
            first = start + around - rows.start
            result[:, :, start:stop] += part[:, :, first:first + stop - start]
    return result if bias is None else np.add(result, _beside(bias, len(sizes)), out=result)


def _strips(window: Window, outputs: Sizes, channel: int) -> list[tuple[int, int]]:
    """Ranges of the first dimension whose columns are small enough; none where all of them are."""
    row = channel * math.prod(window.kernel) * math.prod(outputs[1:])
    count = max(1, _STRIP // max(1, row))
    if window.trivial or count >= outputs[0]:
        return []
    return [(a, min(a + count, outputs[0])) for a in range(0, outputs[0], count)]


def _padded_ahead(x: Any, window: Window) -> Any:
    """x with the zeros around its first dimension of space."""
    around = window.padding[0]
    if not around:
        return x
    return np.pad(x, [(0, 0), (0, 0), (around, around), *[(0, 0)] * (x.ndim - 3)])


def _flush(window: Window) -> Window:
    """The window without zeros around the first dimension."""
    return window._replace(padding=(0, *window.padding[1:]))


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
    strips = _strips(window, outputs, x.shape[1] * x.itemsize)
    if strips:
        whole, free, total = _padded_ahead(x, window), _flush(window), np.zeros(shape, x.dtype)
        for a, b in strips:
            total += weight_gradient(whole[:, :, free.reach(a, b)], g[:, :, a:b], shape, stride, free.padding,
                                     dilation, groups)
        return total
    positions = math.prod(outputs)
    size, width, cost = blocks(len(x), positions, rows, inner, groups)
    sums: list[Any] = []

    def work(start: int, stop: int) -> None:
        total = np.zeros((groups, rows, inner), x.dtype)
        columns = None
        for i in range(start, stop, size):
            count = min(size, stop - i)
            if columns is None or columns.count != count:
                columns = Columns(x, window, outputs, groups, count)
            total += summed_product(matrices(g, i, i + count, groups), columns(i), width)
        sums.append(total)

    threads.in_parts(work, len(x), cost)
    for other in sums[1:]:
        sums[0] += other
    return sums[0].reshape(shape)


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
        place = result[last(target)]
        np.add(place, parts[:, :, t][last(source)], out=place)
    return result
