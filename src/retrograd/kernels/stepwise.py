"""Products of numbers of 16 bits, where each step is rounded, in the order of PyTorch's vector instructions.

PyTorch multiplies four vectors of 16 numbers at a time, if the numbers are neighbors in memory. What remains is
multiplied one by one. `accumulate` rounds each step; `reduce` of NumPy keeps float16 in float32 meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundations.dtypes import Array

_LANES = 16
_AT_ONCE = 4 * _LANES


def stepwise_products(x: Array, dim: int, keepdim: bool) -> Any:
    """The products along `dim`."""
    if x.ndim == 0:
        return x.copy()
    lines = np.moveaxis(x, dim, -1)
    found = _one_by_one(_factors(lines) if x.strides[dim] == x.itemsize else lines)
    return np.expand_dims(found, dim) if keepdim else found


def stepwise_product(x: Array) -> Any:
    """The product of all elements, in the order in which they lie in memory."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis] if x.shape[axis] > 1 else 0)
    x = x.transpose(order)
    if x.flags.c_contiguous:
        x = x.reshape(-1)
    if not x.ndim or x.strides[-1] == x.itemsize:
        x = _factors(np.atleast_1d(x))
    return _one_by_one(x.reshape(-1))


def _one_by_one(lines: Array) -> Any:
    """The products of lines along the last dim, from the first element on."""
    if not lines.shape[-1]:
        return np.ones(lines.shape[:-1], lines.dtype)
    return np.array(np.multiply.accumulate(lines, -1)[..., -1])


def _factors(lines: Array) -> Any:
    """The factors that PyTorch multiplies one by one: the product of the whole blocks of a line, then the rest."""
    count = lines.shape[-1] // _AT_ONCE
    if not count:
        return lines
    blocks = lines[..., :count * _AT_ONCE].reshape(*lines.shape[:-1], count, 4, _LANES)
    vectors = np.multiply.accumulate(blocks, -3)[..., -1, :, :]
    vector = (vectors[..., 0, :] * vectors[..., 1, :]) * (vectors[..., 2, :] * vectors[..., 3, :])
    return np.concatenate((_one_by_one(vector)[..., None], lines[..., count * _AT_ONCE:]), -1)
