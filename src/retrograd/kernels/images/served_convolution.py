"""The convolutions that machine code computes, if there is any: those of batches of rows and pictures.

Machine code makes no columns (`compilation/eager/convolving.py` and `convolving_weight.py` say how). Each thread has
memory for a padded sample and for the results of a sample.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..native import threads
from ..native.served import served
from ..thresholds import (
    CONVOLUTION_CHANNELS,
    CONVOLUTION_FILLED,
    CONVOLUTION_ROOM,
    CONVOLUTION_SERVED,
    CONVOLUTION_SHARE,
)
from .columns import Sizes, Window


def gathered(x: Array, weight: Array, bias: Array | None, window: Window, groups: int) -> Any:
    """`convolution.gathered` by machine code; None if NumPy is to compute it. All strides must be 1."""
    sizes, outputs = x.shape[2:], window.outputs(x.shape[2:])
    if max(window.stride) > 1 or window.trivial or len(weight) < CONVOLUTION_CHANNELS * groups or not _worth(
            len(x), x.shape[1] + len(weight), weight.size, sizes, outputs, window, x.itemsize):
        return None
    given = bias if bias is not None else np.zeros(len(weight), x.dtype)
    return served(gathered, *map(np.ascontiguousarray, (x, weight, given)), window, groups)


def weight_gradient(x: Array, g: Array, shape: Sizes, window: Window, groups: int) -> Any:
    """`convolution.weight_gradient` by machine code; None if NumPy is to compute it."""
    channels = x.shape[1]
    filled = channels / (-(-channels // CONVOLUTION_FILLED) * CONVOLUTION_FILLED)      # the others are computed, too
    if groups > 1 or shape[0] < CONVOLUTION_CHANNELS or filled < CONVOLUTION_SHARE or not _worth(
            len(x), channels + shape[0], math.prod(shape), x.shape[2:], g.shape[2:], window, x.itemsize):
        return None
    return served(weight_gradient, np.ascontiguousarray(x), np.ascontiguousarray(g), shape, window)


def _worth(samples: int, channels: int, weights: int, sizes: Sizes, outputs: Sizes, window: Window,
           itemsize: int) -> bool:
    """Whether there are samples for threads, products enough for a call, and little memory for a sample."""
    if len(sizes) > 2 or samples < min(2, threads.available()):
        return False
    padded = math.prod([n + 2 * p for n, p in zip(sizes, window.padding)])
    return (samples * math.prod(outputs) * weights >= CONVOLUTION_SERVED
            and channels * max(padded, 1) * itemsize <= CONVOLUTION_ROOM)
