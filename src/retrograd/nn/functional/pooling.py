"""Pooling: maxima, means and norms over windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...foundations.errors import noted
from ...tensors.arguments.options import check_tensor
from ...tensors.arguments.sliding import ints
from ...tensors.functions.images import pooling
from ...tensors.functions.images.pooling import adaptive_avg_pool1d, avg_pool1d
from ...tensors.recording.out_rules import EXACT, FREE, rule
from ...tensors.recording.public import public
from ...tensors.recording.public_facts import facts_of
from ...tensors.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d",
    "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices",
    "max_pool3d", "max_pool3d_with_indices",
]


def _max_pool(dims: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """max_pool1d, max_pool2d or max_pool3d, and the same function with indices."""
    name, space = f"max_pool{dims}d", ("lines", "images", "volumes")[dims - 1]
    indexed = f"{name}_with_indices"

    said = (f"The maxima of windows that slide over {space} (N, C, ...) or (C, ...)", """

    Raises RuntimeError where the window does not fit, NotImplementedError for bools and complex numbers.
    """)

    @public(name=indexed, doc=f"{said[0]}, and where each is.{said[1]}")
    def with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                     ceil_mode: bool = False, return_indices: bool = False) -> tuple[Tensor, Tensor]:
        check_tensor(indexed, input)
        if dims == 1:
            return pooling.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return pooling.maxima(name, input, kernel_size, stride, padding, dilation, ceil_mode, dims)

    @public(name=name, doc=f"{said[0]}; with `return_indices`, and where each is.{said[1]}")
    def function(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 ceil_mode: bool = False, return_indices: bool = False) -> Any:
        if dims == 1 and not return_indices:
            return pooling.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)
        check_tensor(indexed if return_indices else name, input)
        found = with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if return_indices else found[0]

    return function, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def _avg_pool(dims: int) -> Callable[..., Any]:
    """avg_pool2d or avg_pool3d."""
    name = f"avg_pool{dims}d"

    @public(f"{name}(Tensor input, ints[{dims}] kernel_size, ints[{dims}] stride=[], ints[{dims}] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True, int divisor_override=None, out)", strict=True,
            name=name, out=rule(exact=EXACT, overlap=FREE),
            doc=f"""The means of windows that slide over (N, C, ...) or (C, ...) of {dims} dimensions of space.

    The zeros around count as elements unless `count_include_pad` is False; `divisor_override` is divided by instead.
    Raises RuntimeError where the window does not fit, NotImplementedError for ints but int64, and complex numbers.
    """)
    def function(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
        return pooling.means(name, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override,
                             dims)

    return function


avg_pool2d, avg_pool3d = _avg_pool(2), _avg_pool(3)


def _sizes(name: str, input: Tensor, output_size: Any, dims: int) -> tuple[int, ...]:
    """The output sizes. None stands for the size of the input, and one int stands for all sizes."""
    check_tensor(name, input)
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * dims
    elif input.dim() <= len(output_size):
        raise noted(ValueError(f"Input dimension should be at least {len(output_size) + 1}"), given=f"{input.dim()}")
    shape = input.shape[-len(output_size):]
    return ints(name, "output_size", tuple([n if to is None else to for n, to in zip(shape, output_size)]))


def _adaptive_avg_pool(dims: int) -> Callable[..., Any]:
    """adaptive_avg_pool2d or adaptive_avg_pool3d."""
    name = f"adaptive_avg_pool{dims}d"

    @public(name=name,
            doc=f"""The means of `output_size` windows in each of {dims} dimensions of (N, C, ...) or (C, ...).

    None stands for the size of the input. Raises RuntimeError for other numbers of dimensions.
    """)
    def function(input: Tensor, output_size: Any) -> Tensor:
        return pooling.adaptive_means(name, input, _sizes(name, input, output_size, dims), dims)

    return function


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive_avg_pool(2), _adaptive_avg_pool(3)


def _adaptive_max_pool(dims: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """adaptive_max_pool1d, adaptive_max_pool2d or adaptive_max_pool3d, and the same function with indices."""
    name = f"adaptive_max_pool{dims}d"

    said = f"The maxima of `output_size` windows in each of {dims} dimensions of (N, C, ...) or (C, ...)"

    @public(name=f"{name}_with_indices", doc=f"{said}, and where each is.")
    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
        if dims == 1:
            return pooling.adaptive_max_pool1d(input, output_size)
        return pooling.adaptive_maxima(name, input, _sizes(name, input, output_size, dims), dims)

    @public(name=name, doc=f"{said}; with `return_indices`, and where each is.")
    def function(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        found = with_indices(input, output_size)
        return found if return_indices else found[0]

    return function, with_indices


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)


def _lp_pool(dims: int) -> Callable[..., Any]:
    """lp_pool1d, lp_pool2d or lp_pool3d: composed as PyTorch composes them."""
    mean = (avg_pool1d, avg_pool2d, avg_pool3d)[dims - 1]

    @public(name=f"lp_pool{dims}d",
            doc=f"""The sum of x ** norm_type over windows of {dims} dimensions, to the power of 1 / norm_type.

    Its gradient is not defined where that sum is 0. Raises RuntimeError where the window does not fit.
    """)
    def function(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None,
                 ceil_mode: bool = False) -> Tensor:
        sizes = (kernel_size,) * dims if isinstance(kernel_size, int) else tuple(kernel_size)
        if dims > 1 and len(sizes) != dims:
            found = "too many" if len(sizes) > dims else "not enough"
            raise ValueError(f"{found} values to unpack (expected {dims}"
                             f"{f', got {len(sizes)}' if len(sizes) < dims else ''})")
        count = math.prod(sizes)
        means = mean(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        return (means.sign() * means.abs().relu()).mul(count).pow(1.0 / norm_type)

    return function


lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)

# Python names these in errors about arguments, as it names PyTorch's.
for _function in (max_pool1d, max_pool2d, max_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d):
    facts_of(_function).body.__qualname__ = f"_{_function.__name__}"
