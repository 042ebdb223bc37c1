"""How many floating-point operations a call of an operator takes: two for each product that is added to a sum.

The counts are those of PyTorch. They depend on shapes alone. Functions of shapes have PyTorch's names.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..foundations.dtypes import Array
from ..ops.elementwise.arithmetic import add, add_number, add_scaled, mul, mul_number
from ..ops.fourier import weighted
from ..ops.framework import Op
from ..ops.images.convolution import convolution, convolution_weight
from ..ops.linalg.matrix import addmm, baddbmm, bmm, mm
from ..ops.tables import Table, table

Shape = Any  # a size, a tuple or a list


def mm_flop(a_shape: Shape, b_shape: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """The operations of a product of matrices (m, k) and (k, n): 2mkn. Raises AssertionError if k differs."""
    (m, k), (k2, n) = a_shape, b_shape
    if k != k2:
        raise AssertionError(f"matmul: inner dimensions must match (k == k2), got {k} and {k2}")
    return int(m * n * 2 * k)


def addmm_flop(self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """The operations of `addmm`: those of the product."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """The operations of products of matrices (b, m, k) and (b, k, n). Raises AssertionError if b or k differs."""
    (b, m, k), (b2, k2, n) = a_shape, b_shape
    if b != b2:
        raise AssertionError(f"bmm: batch dimensions must match (b == b2), got {b} and {b2}")
    if k != k2:
        raise AssertionError(f"bmm: inner dimensions must match (k == k2), got {k} and {k2}")
    return int(b * m * n * 2 * k)


def baddbmm_flop(self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """The operations of `baddbmm`: those of the products."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Shape, w_shape: Shape, out_shape: Shape, transposed: bool = False) -> int:
    """The operations of a convolution of (batch, channels, …) with weights of this shape, without the bias."""
    moved = (x_shape if transposed else out_shape)[2:]
    return int(2 * x_shape[0] * prod(moved) * prod(w_shape))


def sdpa_flop_count(query_shape: Shape, key_shape: Shape, value_shape: Shape) -> int:
    """The operations of an attention of (b, h, q, d), (b, h, k, d) and (b, h, k, v): those of its two products."""
    b, h, s_q, d_q = query_shape
    _b, _h, s_k, d_k = key_shape
    d_v = value_shape[3]
    if not ((b, h) == (_b, _h) == tuple(value_shape[:2]) and d_q == d_k and s_k == value_shape[2]):
        raise AssertionError("sdpa_flop_count: query/key/value shapes are incompatible: "
                             f"q={query_shape}, k={key_shape}, v={value_shape}")
    return bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k)) + bmm_flop((b * h, s_q, s_k), (b * h, s_k, d_v))


def _of_product(count: Callable[..., int]) -> Callable[..., int]:
    """The operations of a call of a product. What the product is added to counts nothing."""

    def flops(args: tuple[Any, ...], out: Array) -> int:
        return count(*[value.shape for value in args if getattr(value, "ndim", 0) > 1][-2:])

    return flops


def _convolution_flops(args: tuple[Any, ...], out: Array) -> int:
    """The operations of a convolution."""
    return conv_flop_count(args[0].shape, args[1].shape, out.shape, args[6])


def _weight_gradient_flops(args: tuple[Any, ...], out: Array) -> int:
    """The operations of the gradient of a convolution by its weight. Like PyTorch, a group counts all channels."""
    return conv_flop_count(args[1].shape, out.shape, args[1].shape) * int(args[-1])


def _plane_flops(args: tuple[Any, ...], out: Any) -> int:
    """The operations of a convolution of images that is not transposed, and 0 for any other."""
    return _convolution_flops(args, out) if args[0].ndim == 4 and not args[6] else 0


def _element_flops(args: tuple[Any, ...], out: Any) -> int:
    """One operation for each element of the first array."""
    arrays = [value for value in args if hasattr(value, "shape")]
    return int(prod(arrays[0].shape)) if arrays else 0


Flops = Callable[[tuple[Any, ...], Any], int]
_PRODUCTS: dict[Op, Flops] = {
    mm: _of_product(mm_flop), addmm: _of_product(mm_flop), bmm: _of_product(bmm_flop), baddbmm: _of_product(bmm_flop)}
# From the arguments and the result of a call.
FLOPS: Table[Op, Flops] = table("FlopCounterMode counts floating-point operations by {}", _PRODUCTS, {
    convolution: _convolution_flops, convolution_weight: _weight_gradient_flops})
PROFILED: Table[Op, Flops] = table("The profiler counts floating-point operations by {}", _PRODUCTS, {
    convolution: _plane_flops,
    **dict.fromkeys((add, add_scaled, add_number, mul, mul_number, weighted), _element_flops)})
