"""Products, and running sums, products and extremes along a dimension.

If an element is 0, the product of the others is not the quotient of the product and the element. So the product of the
others is computed as a product.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import F64
from ..kernels import reductions, scans as kernels
from .basic import cast
from .choosing import either, ones
from .framework import Op, linear, operator
from .indexing.sorting import PAIR, reordered
from .reductions import spread

if TYPE_CHECKING:
    from .values import Value

any_zero = operator("any_zero", reductions.has_zero, tensors=1)
shift: Op = operator("shift", reductions.shift, tensors=1, x=lambda g, dim, step: shift(g, dim, -step, 0.0))
reverse: Op = linear("flip", kernels.reverse, layout="kept", x=lambda g, dim: reverse(g, dim))
cumsum: Op = linear("cumsum", kernels.cumsum, x=lambda g, dim: sums_from(g, dim))
sums_from: Op = linear("sums_from", kernels.sums_from, x=lambda g, dim: cumsum(g, dim, None))


def product_of_others(x: Value, dim: int) -> Any:
    """For each element, the product of the others along `dim`: the product before it times the product after it."""
    after = cumprod(reverse(shift(x, dim, -1, 1.0), dim), dim, None)
    return cumprod(shift(x, dim, 1, 1.0), dim, None) * reverse(after, dim)


def _pulled(g: Value, a: Value, dim: int) -> Any:
    """The adjoint of a recurrence, which is a recurrence that runs backwards: u[i] = g[i] + a[i + 1] u[i + 1]."""
    return reverse(recurrence(reverse(shift(a, dim, -1, 0.0), dim), reverse(g, dim), dim), dim)


recurrence: Op = operator("recurrence", kernels.recurrence,
                          a=lambda g, a, out, dim: _pulled(g, a, dim) * shift(out, dim, 1, 0.0), b=_pulled)


def _factors(x: Value, out: Value) -> Any:
    """The factors that were multiplied. If a real type was asked for, these are the real parts of complex numbers."""
    return np.real(x) if x.dtype.kind == "c" != out.dtype.kind else x


def _other_dtype(x: Value, out: Value) -> np.dtype[Any] | None:
    """The dtype that was asked for, if the factors have another one."""
    return None if out.dtype == x.dtype else out.dtype


def _by_neighbors(g: Value, x: Value, out: Value, dim: int) -> Any:
    """The derivative of a product by an element is the product before the element times the product after it."""
    return _pulled(g, x, dim) * shift(out, dim, 1, 1.0)


cumprod_backward = either("cumprod_backward", lambda g, x, out, dim: any_zero(x), _by_neighbors,
                          lambda g, x, out, dim: sums_from(g * out, dim) / x, tensors=3, harmless=ones(2),
                          out=lambda g, x, out, dim: cumprod(x, dim, _other_dtype(x, out)))
cumprod: Op = operator("cumprod", kernels.cumprod, x=lambda g, x, out, dim: (
    cumprod_backward(g, _factors(x, out), out, dim) if x.ndim else g))


def _logcumsumexp(g: Value, x: Value, out: Value, dim: int) -> Any:
    """exp(x) times the sum of g exp(-out) from each element on, as a recurrence with factors of at most 1.

    The factors are products of differences of neighbors, which are near 1. So they are computed in double precision.
    """
    if not x.ndim:
        return g
    exact = cast(out, F64) if out.dtype.kind == "f" else out
    before = shift(exact, dim, 1, -math.inf)
    kept = np.exp(np.where(before == exact, 0.0, before - exact))
    return np.exp(x - out) * cast(_pulled(cast(g, exact.dtype), kept, dim), g.dtype)


logcumsumexp = operator("logcumsumexp", kernels.logcumsumexp, x=_logcumsumexp)


def _by_others(g: Value, x: Value, out: Value, dim: int | None) -> Any:
    """The gradient of a product times the product of the others, along `dim`, or over all elements if `dim` is None."""
    if dim is None:
        return g * np.reshape(product_of_others(np.reshape(x, (-1,)), 0), x.shape)
    return g * product_of_others(x, dim)


def _product(g: Value, x: Value, out: Value, dim: int | None) -> Any:
    """The product along `dim`, or of all elements, in the shape of the factors."""
    dtype = _other_dtype(x, out)
    if dim is None:
        return spread(prod_all(x, dtype), x.shape, (), False)
    return spread(prod_dim(x, dim, True, dtype), x.shape, (dim,), True)


prod_backward = either("prod_backward", lambda g, x, out, dim: any_zero(x), _by_others,
                       lambda g, x, out, dim: g * out / x, tensors=3, harmless=ones(2), out=_product)


def _prod_dim(g: Value, x: Value, out: Value, dim: int, keepdim: bool) -> Any:
    if not x.ndim:
        return g
    g, out = [spread(a, x.shape, (dim,), keepdim) for a in (g, out)]
    return prod_backward(g, _factors(x, out), out, dim)


prod_all: Op = operator("prod", reductions.prod_all, x=lambda g, x, out: (
    prod_backward(spread(g, x.shape, (), False), _factors(x, out), out, None) if x.ndim else g))
prod_dim: Op = operator("prod", reductions.prod_dim, node=1, x=_prod_dim)


cummax, cummin = [operator(name, kernels.cumextreme, **PAIR, x=reordered) for name in ("cummax", "cummin")]
