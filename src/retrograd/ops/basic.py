"""The operators that the engine itself needs to fit a gradient to its edge: a change of dtype, a real part, a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.layout import copied, empty_strided, row_major
from .framework import Op, linear


def _cast(x: Any, dtype: Any) -> Any:
    """`x` in another dtype. A complex array gives up its imaginary part to become real, without a warning."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        x = x.real
    return copied(x, dtype)


cast: Op = linear("to", _cast, layout="kept", node="ToCopyBackward0", x=lambda g, x_dtype: cast(g, x_dtype))


def _real(x: Any) -> Any:
    """The real part, a view of a complex array's memory."""
    return x.real


real = linear("real", _real, view=True, complex="adjoint", x=lambda g: g)


def _clone(x: Any, order: Any) -> Any:
    """A copy, dense in memory: in the order of axes that `x` has ("K"), or row by row ("C"). Or by given strides."""
    if order == "K":
        return copied(x, x.dtype)
    if order == "C":
        return row_major(x)
    out = empty_strided(x.shape, order, x.dtype)
    out[...] = x
    return out


clone = linear("clone", _clone, layout="kept", x=lambda g: g)
copy = linear("copy_", _clone, layout="kept", node="CopyBackwards", x=lambda g: g)
