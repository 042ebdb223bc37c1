"""Convolutions of any number of dimensions as matrix products of columns: forward, by input and by weight.

Columns (see `columns`) are copied for a few samples at a time, and for a strip of one sample if images are large. So
they stay in the cache, and memory does not grow with the batch. The gradient by the weight copies the columns again,
because keeping them would take prod(kernel) times the memory of the input. A product is written directly to the result.
The bias is part of the product: the columns get a row of ones.

Small pictures have a way of their own (see `samples_last`). Machine code, if there is any, computes batches without
columns (see `served_convolution`).

The transposed convolution, which is the gradient by the input, is the reverse: a product gives columns, and the columns
are added at the places that they came from. If all strides but the last are 1, only the last dimension needs this.
Along the other dimensions the flipped kernel slides over the cotangent, which copies long runs and leaves fewer parts
to add. If strides skip elements, the elements at the same place within a stride are added together, also in long runs.

Samples are spread over threads, in which the BLAS uses no threads of its own (see `blas`). Each call handles several
samples at once, because between calls of NumPy only one thread runs.

Measured on one core for 32x16x28x28 and 32 filters of 3x3: products take 2.1 ms each way, columns 0.4, sums 0.3. One
product for the whole batch was not faster, with 32 times the memory. Shifted products without columns have an inner
dimension of only C, or of C * 3 with columns of the last dimension only, and took longer than they saved. Transposing
by 9 sums of columns took 1 ms more than now.
"""

from __future__ import annotations

import math
from itertools import product as places
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, Array
from ..layout import beside_channels, by_channels, channels_last
from ..shape import unsqueeze
from ..thresholds import COLUMNS_STRIP_BYTES
from . import samples_last, served_convolution
from .columns import Columns, Sizes, Taps, Window, blocks, in_blocks, last, matrices, over_samples

# Above so many rows, PyTorch computes a volume by the library that lays out its results by channels.
_LARGE_VOLUMES = 20480


def convolution(x: Array, weight: Array, bias: Array | None, stride: Sizes, padding: Sizes, dilation: Sizes,
                transposed: bool, output_padding: Sizes, groups: int) -> Any:
    """x (N, C, ...) with weight (O, C / groups, ...), or transposed with weight (C, O / groups, ...): (N, O, ...)."""
    window = Window(weight.shape[2:], stride, padding, dilation)
    sizes = window.inputs(x.shape[2:], output_padding) if transposed else None
    if x.dtype == F16:
        wide = None if bias is None else bias.astype(F32)
        result = _in_rows(x.astype(F32), weight.astype(F32), wide, window, sizes, groups).astype(F16)
    else:
        result = _in_rows(x, weight, bias, window, sizes, groups)
    return by_channels(result) if lies_by_channels(x, weight, groups) else np.ascontiguousarray(result)


def lies_by_channels(x: Any, weight: Any, groups: int) -> bool:
    """Whether PyTorch lays out a convolution channel by channel for each point.

    For pictures it does so if the input or the weight lies so. Signals are pictures of one row, and PyTorch copies a
    signal that does not lie row by row. For volumes one of its libraries does so, which computes float32 only where it
    is quicker, and float64 never.
    """
    if x.ndim == 3:
        signals = (weight, x) if x.flags.c_contiguous else (weight,)
        return any([each.strides[1] <= each.strides[2] and channels_last(unsqueeze(each, 2)) for each in signals])
    if x.ndim == 4:
        return channels_last(x) or channels_last(weight)
    if x.ndim != 5 or x.dtype != F32 or not (channels_last(x) or channels_last(weight)):
        return False
    return groups > 1 or len(x) > 1 or min(weight.shape[3:]) > 3 or math.prod(x.shape[:4]) > _LARGE_VOLUMES


def _in_rows(x: Array, weight: Array, bias: Array | None, window: Window, sizes: Sizes | None, groups: int) -> Any:
    """A convolution, or a transposed one if the sizes of its result are given."""
    if sizes is None:
        return gathered(x, weight, bias, window, groups)
    return spread(x, weight, bias, window, sizes, groups)


def dense(x: Array) -> Any:
    """Images without gaps between them: channel by channel for each point if they lie so, or row by row."""
    return beside_channels(x, x)


def conv_tbc(x: Array, weight: Array, bias: Array, pad: int) -> Any:
    """x (time, batch, C) with weight (kernel, C, O) and bias (O): (time, batch, O)."""
    result = convolution(np.transpose(x, (1, 2, 0)), np.transpose(weight, (2, 1, 0)), bias, (1,), (pad,), (1,), False,
                         (0,), 1)
    return np.transpose(result, (2, 0, 1))


def gathered(x: Any, weight: Array, bias: Any, window: Window, groups: int) -> Any:
    """For each position, the weighted sum of the elements that it sees."""
    outputs, rows = window.outputs(x.shape[2:]), weight.shape[0]
    result = np.empty((x.shape[0], rows, *outputs), x.dtype)
    if not result.size:
        return result
    if not weight.size:
        result[...] = 0
        return _with_bias(result, bias)
    if (found := served_convolution.gathered(x, weight, bias, window, groups)) is not None:
        return found
    if size := samples_last.block(x.shape, weight.shape, window, outputs, x.itemsize):
        return samples_last.gathered(x, weight, bias, window, size)
    strips = _strips(window, outputs, x.shape[1] * x.itemsize)
    if strips:
        whole, window = _padded_ahead(x, window), _flush(window)
        for a, b in strips:
            result[:, :, a:b] = gathered(whole[:, :, window.reach(a, b)], weight, bias, window, groups)
        return result
    weights = weight.reshape(groups, rows // groups, -1)
    positions = math.prod(outputs)
    size, merged, cost = blocks(len(x), positions, rows // groups, weights.shape[2], groups, x.itemsize)
    extended = bias is not None and not window.trivial
    if bias is not None:
        bias = bias.reshape(groups, -1, 1)
    if extended:
        weights = np.concatenate((weights, bias), 2)

    def work(start: int, stop: int) -> None:
        for i, count, columns in in_blocks(Columns, x, start, stop, size, window, outputs, groups, merged, extended):
            target = np.empty((groups, rows // groups, count * positions), x.dtype) if merged else (
                result[i:i + count].reshape(count, groups, rows // groups, positions))
            np.matmul(weights, columns, out=target)
            if bias is not None and not extended:
                target += bias
            if merged:
                result[i:i + count] = target.reshape(rows, count, *outputs).swapaxes(0, 1)

    over_samples(work, len(x), cost)
    return result


def spread(g: Any, weight: Any, bias: Any, window: Window, sizes: Sizes, groups: int) -> Any:
    """The transpose of `gathered`: each position adds its value, weighted, to all elements that it sees."""
    channels = weight.shape[1] * groups
    shape = (g.shape[0], channels, *sizes)
    if not (math.prod(shape) and weight.size and g.size):
        return _with_bias(np.zeros(shape, g.dtype), bias)
    if (found := _as_gathered(g, weight, bias, window, sizes, groups)) is not None:
        return found
    if groups == 1 and (size := samples_last.adjoint_block(g.shape, weight.shape, window, sizes, g.itemsize)):
        return _with_bias(samples_last.spread(g, weight, window, sizes, size), bias)
    strips = _strips(window, g.shape[2:], channels * g.itemsize)
    if strips:
        return _spread_by_strips(g, weight, bias, window, np.zeros(shape, g.dtype), strips, groups)
    ahead, window = _ahead(window, g.shape[2:], sizes)
    weights, outputs = _weight_matrices(weight, ahead, groups), ahead.outputs(g.shape[2:])
    taps, whole = window.taps(sizes, outputs), tuple([slice(0, n, 1) for n in sizes])
    first = next((t for t, (_, target) in enumerate(taps) if target == whole), None)
    result = np.zeros(shape, g.dtype) if first is None else np.empty(shape, g.dtype)
    positions = math.prod(outputs)
    size, merged, cost = blocks(len(g), positions, weights.shape[1], weights.shape[2], groups, g.itemsize)
    flat = outputs == sizes and window.stride[-1] == 1 and len(taps) == window.kernel[-1]
    phases = _phases(window) if _by_phases(window, sizes, outputs) else []

    def work(start: int, stop: int) -> None:
        room = 0
        for i, count, given in in_blocks(Columns, g, start, stop, size, ahead, outputs, groups, merged):
            if room != count:
                products, parts = _room(groups, (channels, len(taps), count, *outputs), merged, g.dtype)
                room = count
            np.matmul(weights, given, out=products)
            if phases:
                _add_by_phases(parts, result[i:i + count], window.stride, phases)
            else:
                _add_up(parts, result[i:i + count], taps, first, flat)

    over_samples(work, len(g), cost)
    return _with_bias(result, bias)


def _flipped(window: Window) -> Window | None:
    """The window of the flipped kernel over the result of a convolution with strides of 1; None for other strides."""
    around = tuple([d * (k - 1) - p for k, p, d in zip(window.kernel, window.padding, window.dilation)])
    return window._replace(padding=around) if max(window.stride) == 1 and min(around) >= 0 else None


def _as_gathered(g: Any, weight: Any, bias: Any, window: Window, sizes: Sizes, groups: int) -> Any:
    """`spread` as a convolution with the flipped kernel, if its strides are 1 and this is quicker; otherwise None."""
    rows, channels, *kernel = weight.shape
    flipped = _flipped(window)
    if not flipped or flipped.outputs(g.shape[2:]) != sizes:
        return None
    weight = weight[(..., *[slice(None, None, -1)] * len(kernel))].reshape(groups, rows // groups, channels, *kernel)
    weight = weight.swapaxes(1, 2).reshape(groups * channels, rows // groups, *kernel)
    if rows == groups and channels == 1:
        # One channel each: a product with given columns is several times as fast as one that makes columns.
        return gathered(g, np.ascontiguousarray(weight), bias, flipped, groups)
    return served_convolution.gathered(g, weight, bias, flipped, groups)


def _room(groups: int, shape: Sizes, merged: bool, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Memory for products of this shape, (channels, taps, samples, ...), and a view with the samples first."""
    channels, taps, count, *outputs = shape
    if merged:
        parts = np.empty(shape, dtype)
        return parts.reshape(groups, channels * taps // groups, -1), parts.transpose(2, 0, 1, *range(3, parts.ndim))
    parts = np.empty((count, channels, taps, *outputs), dtype)
    return parts.reshape(count, groups, channels * taps // groups, -1), parts


def _add_up(parts: Array, sums: Array, taps: Taps, first: int | None, flat: bool) -> None:
    """Add each of the parts (samples, channels, taps, ...) at its places. Part `first`, if given, starts the sums."""
    if first is not None:
        np.copyto(sums, parts[:, :, first][last(taps[first][0])])
    for t, (source, target) in enumerate(taps):
        if t == first:
            continue
        if flat:
            _add_moved(parts[:, :, t], sums, tuple([to.start - of.start for of, to in zip(source, target)]))
        else:
            place = sums[last(target)]
            np.add(place, parts[:, :, t][last(source)], out=place)


def _add_moved(part: Array, sums: Array, far: Sizes) -> None:
    """Add the part, shifted by `far` in space, to the sums: as one long run, with 0 for the elements outside."""
    sizes = sums.shape[2:]
    if any(abs(by) >= n for by, n in zip(far, sizes)):
        return
    along = 0
    for dim, (by, n) in enumerate(zip(far, sizes)):
        along = along * n + by
        if dim and by:  # elements shifted out along the first dimension are not in the run
            part[(slice(None),) * (2 + dim) + (slice(n - by, None) if by > 0 else slice(-by),)] = 0
    part, sums = (a.reshape(*sums.shape[:2], -1) for a in (part, sums))
    place = sums[..., max(along, 0):sums.shape[-1] + min(along, 0)]
    np.add(place, part[..., max(-along, 0):part.shape[-1] - max(along, 0)], out=place)


def _by_phases(window: Window, sizes: Sizes, outputs: Sizes) -> bool:
    """Whether the strides exceed 1 and divide the input into as many places as there are positions."""
    return (max(window.stride) > 1 and max(window.kernel) > 1
            and all(n == m * s for n, m, s in zip(sizes, outputs, window.stride)))


def _phases(window: Window) -> list[tuple[Sizes, list[tuple[Sizes, int]]]]:
    """By the place of an element within a stride: the distances of the positions that see it, and their taps.

    The tap with the least distance comes first.
    """
    found: dict[Sizes, list[tuple[Sizes, int]]] = {place: [] for place in places(*map(range, window.stride))}
    for t, tap in enumerate(places(*map(range, window.kernel))):
        steps = [divmod(i * d - p, s) for i, s, p, d in zip(tap, *window[1:])]
        found[tuple([place for _, place in steps])].append((tuple([far for far, _ in steps]), t))
    return [(place, sorted(taps, key=lambda tap: [abs(far) for far in tap[0]])) for place, taps in found.items()]


def _add_by_phases(parts: Array, sums: Array, stride: Sizes,
                   phases: list[tuple[Sizes, list[tuple[Sizes, int]]]]) -> None:
    """Add the parts (samples, channels, taps, ...) of each phase in long runs, and write each sum once."""
    for place, taps in phases:
        if taps and not any(taps[0][0]):
            total, taps = parts[:, :, taps[0][1]], taps[1:]
        else:
            total = np.zeros((*parts.shape[:2], *parts.shape[3:]), parts.dtype)
        for far, t in taps:
            _add_moved(parts[:, :, t], total, far)
        sums[last(tuple([slice(a, None, s) for a, s in zip(place, stride)]))] = total


def _spread_by_strips(g: Array, weight: Array, bias: Any, window: Window, result: Array, strips: list[tuple[int, int]],
                      groups: int) -> Any:
    """`spread` by strips: ranges of rows of positions are processed in turn, and added up in `result`."""
    sizes, around, free = result.shape[2:], window.padding[0], _flush(window)
    for a, b in strips:
        rows = free.reach(a, b)
        part = spread(g[:, :, a:b], weight, None, free, (rows.stop - rows.start, *sizes[1:]), groups)
        start, stop = max(0, rows.start - around), min(sizes[0], rows.stop - around)
        if start < stop:
            first = start + around - rows.start
            result[:, :, start:stop] += part[:, :, first:first + stop - start]
    return _with_bias(result, bias)


def _strips(window: Window, outputs: Sizes, channel: int) -> list[tuple[int, int]]:
    """Ranges of the first dimension whose columns are small enough. Empty if no division is needed."""
    row = channel * math.prod(window.kernel) * math.prod(outputs[1:])
    count = max(1, COLUMNS_STRIP_BYTES // max(1, row))
    if window.trivial or count >= outputs[0]:
        return []
    return [(a, min(a + count, outputs[0])) for a in range(0, outputs[0], count)]


def _padded_ahead(x: Array, window: Window) -> Any:
    """x with the padding of its first dimension of space."""
    around = window.padding[0]
    if not around:
        return x
    return np.pad(x, [(0, 0), (0, 0), (around, around), *[(0, 0)] * (x.ndim - 3)])


def _flush(window: Window) -> Window:
    """The window without padding in the first dimension."""
    return window._replace(padding=(0, *window.padding[1:]))


def _ahead(window: Window, outputs: Sizes, sizes: Sizes) -> tuple[Window, Window]:
    """Two windows in turn: a convolution by the flipped kernel, and then a transposed convolution.

    If all strides but the last are 1, the first window has all dimensions but the last, and copies long runs. Otherwise
    it is trivial. So the second window adds as few pieces as possible. The first window cannot reach more than it pads:
    if padding has cut off what an output padding shows again, the first window is trivial, too.
    """
    kernel, stride, padding, dilation = window
    one = (1,) * len(kernel)
    around = [d * (k - 1) - p for k, p, d in zip(kernel, padding, dilation)][:-1]
    ahead = Window((*kernel[:-1], 1), one, (*around, 0), (*dilation[:-1], 1))
    if max((*stride[:-1], 1)) > 1 or min((*around, 0)) < 0 or ahead.outputs(outputs)[:-1] != sizes[:-1]:
        return Window(one, one, (0,) * len(kernel), one), window
    return ahead, Window((*one[1:], kernel[-1]), (*one[1:], stride[-1]), (*[0] * len(around), padding[-1]),
                         (*one[1:], dilation[-1]))


def _weight_matrices(weight: Array, ahead: Window, groups: int) -> Any:
    """The weight as matrices that map what `ahead` sees of g to the parts to add up."""
    given, channels, *kernel = weight.shape
    whole = weight.reshape(groups, given // groups, channels, math.prod(kernel[:-1]), kernel[-1])
    if math.prod(ahead.kernel) == 1:
        return np.ascontiguousarray(np.moveaxis(whole, 1, 4)).reshape(groups, channels * math.prod(kernel), -1)
    flipped = np.ascontiguousarray(whole[..., ::-1, :].transpose(0, 2, 4, 1, 3))
    return flipped.reshape(groups, channels * kernel[-1], -1)


def weight_gradient(x: Array, g: Array, shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
                    groups: int) -> Any:
    """The gradient of a convolution of x by its weight of this shape. g is the gradient of the result."""
    if x.dtype == F16:
        return weight_gradient(x.astype(F32), g.astype(F32), shape, stride, padding, dilation, groups).astype(F16)
    window, outputs = Window(shape[2:], stride, padding, dilation), g.shape[2:]
    inner, rows = math.prod(shape[1:]), shape[0] // groups
    if not (x.size and g.size):
        return np.zeros(shape, x.dtype)
    if (found := served_convolution.weight_gradient(x, g, shape, window, groups)) is not None:
        return found
    if size := samples_last.block(x.shape, shape, window, outputs, x.itemsize):
        return samples_last.weight_gradient(x, g, shape, window, size)
    strips = _strips(window, outputs, x.shape[1] * x.itemsize)
    if strips:
        whole, free, total = _padded_ahead(x, window), _flush(window), np.zeros(shape, x.dtype)
        for a, b in strips:
            total += weight_gradient(whole[:, :, free.reach(a, b)], g[:, :, a:b], shape, stride, free.padding,
                                     dilation, groups)
        return total
    size, merged, cost = blocks(len(x), math.prod(outputs), rows, inner, groups, x.itemsize)
    given, sums = g.reshape(len(g), groups, rows, *outputs), []

    def work(start: int, stop: int) -> None:
        total = np.zeros((groups, rows, inner), x.dtype)
        for i, count, columns in in_blocks(Columns, x, start, stop, size, window, outputs, groups, merged):
            product = _product_over_positions(matrices(given[i:i + count], merged), columns)
            total += product if merged else product.sum(0)
        sums.append(total)

    over_samples(work, len(x), cost)
    for other in sums[1:]:
        sums[0] += other
    return sums[0].reshape(shape)


def _product_over_positions(a: Array, b: Array) -> Any:
    """a (..., rows, positions) times b (..., columns, positions) transposed. More rows in a are faster in the BLAS."""
    if a.shape[-2] < b.shape[-2]:
        return _product_over_positions(b, a).swapaxes(-1, -2)
    return np.matmul(a, b.swapaxes(-1, -2))


def _with_bias(result: Array, bias: Array | None) -> Any:
    """The result, with a number for each channel added in place, if there is a bias."""
    return result if bias is None else np.add(result, bias.reshape(-1, *[1] * (result.ndim - 2)), out=result)


def unfold(x: Array, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """The elements that each position sees in x (N, C, ...) or (C, ...): columns (N, C * prod(kernel), positions)."""
    if x.ndim == len(kernel) + 1:
        return unfold(x[None], kernel, dilation, padding, stride)[0]
    window = Window(kernel, stride, padding, dilation)
    outputs = window.outputs(x.shape[2:])
    if any(padding):
        x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    columns = window.view(x, outputs)
    return np.array(columns, order="C").reshape(len(x), x.shape[1] * math.prod(kernel), math.prod(outputs))


def fold(x: Array, sizes: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """The columns (N, C * prod(kernel), positions) added at the places of `unfold`: (N, C, *sizes). N may be absent."""
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
