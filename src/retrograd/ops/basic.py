"""The operators that the engine needs to fit a gradient to its edge: a change of dtype, a real part, a copy.

This module also has `check_values` and `beyond`, the only ways to use the numbers of an array outside of an op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.modes import local
from ..kernels.layout import copied, empty_strided, in_rows, row_major, steps
from .framework import Op, composed, linear, operator

if TYPE_CHECKING:
    from .values import Value


def _cast(x: Array, dtype: np.dtype[Any]) -> Any:
    """`x` in another dtype. A complex array loses its imaginary part to become real, without a warning."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        x = x.real
    return copied(x, dtype)


# The real part, a view of a complex array's memory.
real = linear("real", lambda x: x.real, view=True, node="SelectBackward0", complex="adjoint", x=lambda g: g)


def _cast_back(g: Value, x_dtype: np.dtype[Any]) -> Any:
    """The gradient of a cast. As in PyTorch, a real part stays a view."""
    if g.dtype.kind == "c" != x_dtype.kind:
        return real(g) if g.dtype.itemsize == 2 * x_dtype.itemsize else cast(real(g), x_dtype)
    return cast(g, x_dtype)


cast: Op = linear("to", _cast, layout="kept", any_type=True, node="ToCopyBackward0", complex="adjoint",
                  x=_cast_back)


def _clone(x: Array, order: Any) -> Any:
    """A dense copy: in the order of axes that `x` has ("K"), row by row ("C"), or with the given strides."""
    if order == "K":
        return copied(x, x.dtype)
    if order == "C":
        return row_major(x)
    out = empty_strided(x.shape, order, x.dtype)
    out[...] = x
    return out


def _cast_in(x: Array, dtype: np.dtype[Any], order: Any) -> Any:
    """`x` in another dtype, in an order of axes that `_clone` takes."""
    out = _cast(x, dtype)
    if order == "K" or (in_rows(out) if order == "C" else steps(out) == order):
        return out
    return _clone(out, order)


# The cast of which the caller says how it lies in memory.
cast_in: Op = linear("to", _cast_in, layout="kept", any_type=True, node="ToCopyBackward0", complex="adjoint",
                     x=_cast_back)
clone = linear("clone", _clone, layout="kept", any_type=True, x=lambda g: g)
contiguous = composed("contiguous", np.ascontiguousarray, lambda x: clone(x, "C"), tensors=1, arguments=["x"])
_COPY = "torch::autograd::CopyBackwards"
copy = linear("copy_", _clone, layout="kept", any_type=True, node=_COPY, x=lambda g: g)
# A copy as the node of a write shows it, whose first edge is that of the memory written to: None for new memory.
copy_into = linear("copy_", lambda x, y, order: _clone(y, order), layout="kept", any_type=True, node=_COPY,
                   x=lambda g: g, y=lambda g: g)


def _looked_at(x: Value, test: Callable[..., Any], *options: Any) -> Any:
    """The array itself, if `test(x, *options)` does not raise."""
    test(x, *options)
    return x


look = operator("look", _looked_at, tensors=1, layout="kept", any_type=True)


def check_values(x: Value, test: Callable[..., Any], *options: Any) -> None:
    """Let `test(x, *options)` look at the numbers of an array, as a kernel does, and raise if they are wrong."""
    if local.thread.transform is None:
        test(x, *options)
    else:
        look.run(x, test, *options)


# The result of a function for several arrays.
call = operator("call", lambda xs, function: function(*xs), variadic=True, any_type=True)


def beyond(function: Callable[..., Any], *xs: Any) -> Any:
    """The result of a function of NumPy arrays, called beyond the seam. It is for work that has no op of its own."""
    return call.compute(xs, function) if local.thread.transform is None else call.run([*xs], function)
