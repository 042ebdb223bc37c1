"""Fit a gradient to its edge: undo a broadcast, cast, take the real part. Rules leave these steps to this module.

The steps are operators that record, so a recorded pass uses the same code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.basic import cast, real
from ..ops.reductions import sum_dim
from ..ops.shape import view


def unbroadcast(g: Any, found: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The sum of `g`, of the shape `found`, over the axes that broadcasting from `shape` added or stretched."""
    if type(g) is np.ndarray and not shape and g.itemsize > 2:
        return np.add.reduce(g, axis=None, out=...)      # the same sum as np.sum, with less overhead
    lead = len(found) - len(shape)
    if lead < 0:
        return np.broadcast_to(g, shape)
    stretched = tuple([lead + i for i, n in enumerate(shape) if n == 1 != found[lead + i]])
    if lead and not stretched and found[:lead] == (1,) * lead and type(g) is np.ndarray:
        return g.reshape(shape).copy()                   # quicker than the sum, which has memory of its own, too
    if lead:
        axes = (*range(lead), *stretched)
        if not shape:
            return sum_dim(g, axes, False, None)
        if type(g) is np.ndarray:
            return np.ascontiguousarray(sum_dim(g, axes, False, None)).reshape(shape)
        return view(sum_dim(g, axes, True, None), shape)
    total: Any = sum_dim(g, stretched, True, None)
    return np.ascontiguousarray(total) if type(total) is np.ndarray else total


def fit(g: Any, shape: tuple[int, ...], dtype: np.dtype[Any], to_shape: tuple[int, ...],
        to_dtype: np.dtype[Any]) -> Any:
    """The gradient `g` of this shape and NumPy dtype, turned into one for a value of `to_shape` and `to_dtype`."""
    if dtype.kind == "c" and to_dtype.kind != "c":
        g, dtype = real(g), np.dtype(f"f{dtype.itemsize // 2}")
    if shape != to_shape:
        g = unbroadcast(g, shape, to_shape)
    return g if dtype == to_dtype else cast(g, to_dtype)
