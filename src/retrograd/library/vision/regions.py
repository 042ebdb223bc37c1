"""Regions of pictures: which boxes to keep, and what a region of interest (RoI) holds, in a grid of bins.

A region is (number of the picture, x1, y1, x2, y2), times `spatial_scale`. Sampling and averaging are products of two
matrices with the region, one for the rows and one for the columns: the weights of a bin are the product of a weight for
each row and one for each column. So the gradient by the picture is the product with the same matrices, transposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...tensors.state.base import plain

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Any:
    """The boxes to keep, by falling scores: a box goes if it overlaps a kept one by more than the threshold."""
    boxes, order = dets._array, np.argsort(-scores._array, kind="stable")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise RuntimeError(f"boxes should be a 2d tensor with 4 columns, got the shape {list(boxes.shape)}")
    if len(boxes) != len(order):
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0, got "
                           f"{len(boxes)} and {len(order)}")
    x1, y1, x2, y2 = boxes.T
    areas, kept = (x2 - x1) * (y2 - y1), []
    while order.size:
        first, rest = order[0], order[1:]
        kept.append(first)
        width = np.maximum(0, np.minimum(x2[first], x2[rest]) - np.maximum(x1[first], x1[rest]))
        height = np.maximum(0, np.minimum(y2[first], y2[rest]) - np.maximum(y1[first], y1[rest]))
        shared = width * height
        with np.errstate(divide="ignore", invalid="ignore"):
            overlap = shared / (areas[first] + areas[rest] - shared)
        order = rest[~(overlap > iou_threshold)]
    return plain(np.array(kept, np.int64))


class Bins(NamedTuple):
    """A region: the number of its picture, and the matrices of rows and of columns, bins by pixels. `empty` says
    whether its bins have no samples.
    """

    picture: int
    rows: Array
    columns: Array
    empty: bool = False


def _samples(length: float, bins: int, ratio: int) -> int:
    """How many samples a bin has in one direction."""
    return ratio if ratio > 0 else int(np.ceil(length / bins))


def _sampled(start: float, length: float, bins: int, ratio: int, size: int, dtype: Any) -> Array:
    """The matrix of bins by pixels of one direction: the average of samples, each between two pixels."""
    count = _samples(length, bins, ratio)
    matrix = np.zeros((bins, size), dtype)
    if count <= 0 or not size:
        return matrix
    step = length / bins
    at = (start + np.arange(bins)[:, None] * step + (np.arange(count) + 0.5) * step / count).astype(dtype)
    inside = (at >= -1) & (at <= size)
    at = np.clip(at, 0, None)
    low = np.minimum(at.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    part = np.where(low == size - 1, 0, at - low).astype(dtype)
    rows = np.broadcast_to(np.arange(bins)[:, None], at.shape)
    np.add.at(matrix, (rows, low), np.where(inside, 1 - part, 0) / count)
    np.add.at(matrix, (rows, high), np.where(inside, part, 0) / count)
    return matrix


def _aligned(rois: Tensor, scale: float, bins: tuple[int, int], ratio: int, aligned: bool, size: tuple[int, int],
             least: float) -> Iterator[Bins]:
    """The bins of each region by samples. A region has at least the side `least`."""
    shift = 0.5 if aligned else 0.0
    dtype = rois._array.dtype
    for number, *corners in rois._array:
        x1, y1, x2, y2 = [dtype.type(corner) * dtype.type(scale) - dtype.type(shift) for corner in corners]
        height, width = max(y2 - y1, least), max(x2 - x1, least)
        yield Bins(int(number), _sampled(y1, height, bins[0], ratio, size[0], dtype),
                   _sampled(x1, width, bins[1], ratio, size[1], dtype),
                   0 in (_samples(height, bins[0], ratio), _samples(width, bins[1], ratio)))


def roi_align(input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
              sampling_ratio: int, aligned: bool) -> Any:
    """The averages of samples in the bins of each region, for all channels."""
    x, bins = input._array, (pooled_height, pooled_width)
    least = -np.inf if aligned else 1.0
    out = [each.rows @ x[each.picture] @ each.columns.T for each in _aligned(
        rois, spatial_scale, bins, sampling_ratio, aligned, x.shape[2:], least)]
    return plain(np.array(out, x.dtype).reshape(-1, x.shape[1], *bins))


def roi_align_backward(grad: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
                       batch_size: int, channels: int, height: int, width: int, sampling_ratio: int,
                       aligned: bool) -> Any:
    """The gradient of `roi_align` by the pictures."""
    g, into = grad._array, np.zeros((batch_size, channels, height, width), grad._array.dtype)
    found = _aligned(rois, spatial_scale, (pooled_height, pooled_width), sampling_ratio, aligned, (height, width),
                     -np.inf if aligned else 1.0)
    for part, each in zip(g, found):
        into[each.picture] += each.rows.T @ part @ each.columns
    return plain(into)


# Each bin of a region has channels of its own ("position-sensitive").

def _mapping(rois: Tensor, channels: int, bins: tuple[int, int]) -> Any:
    """The channel of the picture that each bin of each region reads."""
    own = channels // (bins[0] * bins[1])
    one = np.arange(own * bins[0] * bins[1], dtype=np.int32).reshape(own, *bins)
    return plain(np.broadcast_to(one, (len(rois._array), *one.shape)).copy())


def _by_position(x: Array, found: Iterator[Bins], bins: tuple[int, int]) -> Any:
    own = x.shape[1] // (bins[0] * bins[1])
    parts = x[:, :own * bins[0] * bins[1]].reshape(len(x), own, *bins, *x.shape[2:])
    out = [np.full(parts.shape[1:4], np.nan) if each.empty else
           np.einsum("ih,cijhw,jw->cij", each.rows, parts[each.picture], each.columns, optimize=True)
           for each in found]
    return plain(np.array(out, x.dtype).reshape(-1, own, *bins))


def _by_position_backward(g: Array, found: Iterator[Bins], shape: tuple[int, ...]) -> Any:
    into, (own, high, wide) = np.zeros(shape, g.dtype), g.shape[1:]
    parts = into[:, :own * high * wide].reshape(shape[0], own, high, wide, *shape[2:])
    for part, each in zip(g, found):
        parts[each.picture] += np.einsum("ih,cij,jw->cijhw", each.rows, part, each.columns, optimize=True)
    return plain(into)


def ps_roi_align(input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
                 sampling_ratio: int) -> Any:
    """`roi_align` in which each bin reads channels of its own. Returns the channels, too."""
    x, bins = input._array, (pooled_height, pooled_width)
    found = _aligned(rois, spatial_scale, bins, sampling_ratio, True, x.shape[2:], -np.inf)
    return _by_position(x, found, bins), _mapping(rois, x.shape[1], bins)


def ps_roi_align_backward(grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, pooled_height: int,
                          pooled_width: int, sampling_ratio: int, batch_size: int, channels: int, height: int,
                          width: int) -> Any:
    """The gradient of `ps_roi_align` by the pictures."""
    found = _aligned(rois, spatial_scale, (pooled_height, pooled_width), sampling_ratio, True, (height, width), -np.inf)
    return _by_position_backward(grad._array, found, (batch_size, channels, height, width))


# Bins of whole pixels

def _rounded(value: Any) -> int:
    """The nearest whole number; a half goes away from zero, as in C."""
    return int(np.floor(abs(value) + 0.5) * np.sign(value))


def _edges(start: float, length: float, bins: int, size: int) -> list[tuple[int, int]]:
    """The first pixel of each bin, and the pixel after its last."""
    step = np.float32(length) / np.float32(bins)
    edges = []
    for i in range(bins):
        first, last = int(np.floor(np.float32(i) * step)), int(np.ceil(np.float32(i + 1) * step))
        edges.append((min(max(first + int(start), 0), size), min(max(last + int(start), 0), size)))
    return edges


def _averaged(edges: list[tuple[int, int]], size: int, dtype: Any) -> Array:
    matrix = np.zeros((len(edges), size), dtype)
    for i, (first, last) in enumerate(edges):
        if last > first:
            matrix[i, first:last] = 1 / (last - first)
    return matrix


def _pixels(rois: Tensor, scale: float, bins: tuple[int, int], size: tuple[int, int], unread: int) -> Iterator[Bins]:
    """The bins of each region by whole pixels, for `ps_roi_pool`. The last `unread` rows and columns are in no bin."""
    for number, *corners in rois._array:
        x1, y1, x2, y2 = [_rounded(corner * rois._array.dtype.type(scale)) for corner in corners]
        rows, columns = [_averaged(_edges(start, max(length, 1), count, n - unread), n, rois._array.dtype)
                         for start, length, count, n in ((y1, y2 - y1, bins[0], size[0]),
                                                         (x1, x2 - x1, bins[1], size[1]))]
        yield Bins(int(number), rows, columns)


def ps_roi_pool(input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int) -> Any:
    """The averages of the pixels in the bins of each region; each bin reads channels of its own.

    As in torchvision, the result leaves out the last row and the last column, and the gradient does not.
    """
    x, bins = input._array, (pooled_height, pooled_width)
    return _by_position(x, _pixels(rois, spatial_scale, bins, x.shape[2:], 1), bins), _mapping(rois, x.shape[1], bins)


def ps_roi_pool_backward(grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, pooled_height: int,
                         pooled_width: int, batch_size: int, channels: int, height: int, width: int) -> Any:
    """The gradient of `ps_roi_pool` by the pictures."""
    found = _pixels(rois, spatial_scale, (pooled_height, pooled_width), (height, width), 0)
    return _by_position_backward(grad._array, found, (batch_size, channels, height, width))


def roi_pool(input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int) -> Any:
    """The largest pixels in the bins of each region, and their places in the picture; 0 and -1 for an empty bin."""
    x = input._array
    shape = (len(rois._array), x.shape[1], pooled_height, pooled_width)
    out, places = np.zeros(shape, x.dtype), np.full(shape, -1, np.int32)
    for k, (number, *corners) in enumerate(rois._array):
        x1, y1, x2, y2 = [_rounded(corner * rois._array.dtype.type(spatial_scale)) for corner in corners]
        picture = x[int(number)]
        rows = _edges(y1, max(y2 - y1 + 1, 1), pooled_height, x.shape[2])
        columns = _edges(x1, max(x2 - x1 + 1, 1), pooled_width, x.shape[3])
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                if bottom > top and right > left:
                    part = picture[:, top:bottom, left:right].reshape(len(picture), -1)
                    best = part.argmax(1)
                    out[k, :, i, j] = part[np.arange(len(part)), best]
                    down, across = np.divmod(best, right - left)
                    places[k, :, i, j] = (top + down) * x.shape[3] + left + across
    return plain(out), plain(places)


def roi_pool_backward(grad: Tensor, rois: Tensor, argmax: Tensor, spatial_scale: float, pooled_height: int,
                      pooled_width: int, batch_size: int, channels: int, height: int, width: int) -> Any:
    """The gradient of `roi_pool` by the pictures."""
    into = np.zeros((batch_size, channels, height * width), grad._array.dtype)
    for number, part, places in zip(rois._array[:, 0], grad._array, argmax._array):
        flat = places.reshape(channels, -1)
        rows = np.broadcast_to(np.arange(channels)[:, None], flat.shape)
        chosen = flat >= 0
        np.add.at(into[int(number)], (rows[chosen], flat[chosen]), part.reshape(channels, -1)[chosen])
    return plain(into.reshape(batch_size, channels, height, width))
