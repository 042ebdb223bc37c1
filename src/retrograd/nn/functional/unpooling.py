"""Maxima put back in place, and maxima over windows at random places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...foundations.errors import noted
from ...kernels.random.distributions import uniform
from ...ops.basic import beyond, check_values
from ...ops.creation import draw_for
from ...ops.images import pooling as ops
from ...tensors.arguments.generator import twister_of
from ...tensors.arguments.options import check_tensor
from ...tensors.arguments.sliding import ints, shown
from ...tensors.functions.images.pooling import check_type
from ...tensors.recording.calls import recorded
from ...tensors.recording.not_differentiable import refuse_gradient
from ...tensors.recording.public import public
from ...tensors.state.base import plain
from ...tensors.tensor import Tensor

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]

_UNPOOLED = {2: recorded(ops.max_unpool2d), 3: recorded(ops.max_unpool3d)}
_FRACTIONAL = {2: recorded(ops.fractional_max_pool2d), 3: recorded(ops.fractional_max_pool3d)}


def _all(name: str, argument: str, value: Any, dims: int) -> tuple[int, ...]:
    sizes = ints(name, argument, value)
    return sizes * dims if len(sizes) == 1 and not isinstance(value, (tuple, list)) else sizes


def _unpool_output_size(input: Tensor, kernel_size: Shape, stride: Shape, padding: Shape,
                        output_size: Any) -> list[int]:
    """The sizes of the tensor that was pooled: the given sizes, or the smallest sizes that are possible."""
    dims, shape = len(kernel_size), input.shape
    default = [(shape[i - dims] - 1) * stride[i] + kernel_size[i] - 2 * padding[i] for i in range(dims)]
    if output_size is None:
        return default
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a "
                         f"length of '{len(output_size)}'")
    for i, (size, n, s) in enumerate(zip(output_size, default, stride)):
        if not n - s < size < n + s:
            raise ValueError(f'invalid output_size "{output_size}" (dim {i} must be between {n - s} and {n + s})')
    return [*output_size]


def _check_places(input: Tensor, indices: Tensor, to: tuple[int, ...], dims: int) -> None:
    x, at = input._array, indices._array
    if at.dtype.name != "int64":
        found = f" but got: {indices.dtype.legacy}" if dims == 2 else ""
        raise noted(RuntimeError(f"elements in indices should be type int64{found}"), instead="convert with .long()")
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a "
                           f"tensor with {x.ndim} dimensions.")
    if x.shape != at.shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({[*x.shape]}) but got "
                           f"indices tensor with shape: {[*at.shape]}")
    if x.size:
        check_type(f"max_unpool{dims}d", x, "f")

    def test(at: Array) -> None:
        wrong = at[(at < 0) | (at >= math.prod(to))]
        if wrong.size:
            raise RuntimeError(f"Found an invalid max index: {wrong[0]} (output volumes are of size {shown(to)})")

    check_values(at, test)


def _max_unpool(dims: int) -> Callable[..., Any]:
    """max_unpool1d, max_unpool2d or max_unpool3d."""
    name = f"max_unpool{dims}d"

    @public(name=name,
            doc=f"""Zeros, and the elements where the `indices` of max_pool{dims}d say: the maxima back in place.

    Raises RuntimeError for indices outside of the result, ValueError for an `output_size` that cannot have been.
    """)
    def function(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 output_size: Sequence[int] | None = None) -> Tensor:
        check_tensor(name, input)
        check_tensor(name, indices, "indices", 2)
        kernel = _all(name, "kernel_size", kernel_size, dims)
        steps = kernel if stride is None else _all(name, "stride", stride, dims)
        given = _all(name, "padding", padding, dims)
        to = tuple(_unpool_output_size(input, kernel, steps, given, output_size))
        if dims == 3 and min(steps) <= 0:
            raise RuntimeError(f"strides should be greater than zero, but got stride: {[*steps]}")
        if dims == 1:
            to, input, indices = (*to, 1), input.unsqueeze(-1), indices.unsqueeze(-1)
        _check_places(input, indices, to, max(2, dims))
        found = _UNPOOLED[max(2, dims)](input, indices, to)
        return found.squeeze(-1) if dims == 1 else found

    return function


max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)


def _samples(name: str, input: Tensor, given: Tensor | None, dims: int) -> Any:
    """The random numbers that place the windows of each image: given, or drawn as PyTorch draws them."""
    x = input._array
    images = x.shape[:-dims] if x.ndim == dims + 2 else (1, x.shape[0])
    if given is None:
        stream = twister_of(name, None)
        return plain(draw_for(x, lambda x: uniform(stream, (*x.shape[:-dims], dims), x.dtype)))
    check_tensor(name, given, "random_samples", 4)
    refuse_gradient(name, "random_samples", given)
    samples = given._array
    if samples.dtype != x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.shape[0] < images[0]:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != images[1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")
    return plain(beyond(lambda given: np.ascontiguousarray(given[:images[0]]).reshape(*x.shape[:-dims], dims), samples))


def _fractional_sizes(name: str, input: Tensor, output_size: Any, output_ratio: Any, dims: int) -> tuple[int, ...]:
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if dims == 3 and not isinstance(output_ratio, (tuple, list)):
            output_ratio = (output_ratio,) * dims
        if len(output_ratio) > dims:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        return tuple([int(input.size(i - dims) * output_ratio[i]) for i in range(dims)])
    return _all(name, "output_size", output_size, dims)


def _check_fractional(name: str, shape: Any, kernel: tuple[int, ...], to: tuple[int, ...], dims: int) -> None:
    """Raises RuntimeError for sizes that do not fit."""
    for argument, sizes in (("kernel_size", kernel), ("output_size", to)):
        if len(sizes) != dims:
            raise RuntimeError(f"{name}: {argument} must either be a single Int or tuple of Ints")
    words = ("time", "height", "width")[-dims:]
    for word, n, k, m in zip(words, shape[-dims:], kernel, to):
        if m + k - 1 + (dims == 3) > n:
            raise RuntimeError(f"{name}{'_out' if dims == 3 else ''}(): pool {word} {k} too large relative to input "
                               f"{word} {n}")


def _fractional(dims: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """fractional_max_pool2d or fractional_max_pool3d, and the same function with indices."""
    name = f"fractional_max_pool{dims}d"

    said = "The maxima of windows at random places, `output_size` or `output_ratio` times the input's size of them"

    @public(name=f"{name}_with_indices", doc=f"{said}, and where each is.\n\n    It draws what PyTorch draws.")
    def with_indices(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
                     return_indices: bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
        check_tensor(name, input)
        to = _fractional_sizes(name, input, output_size, output_ratio, dims)
        kernel = _all(name, "kernel_size", kernel_size, dims)
        input.size(-dims - 1)
        samples = _samples(name, input, _random_samples, dims)
        _check_fractional(name, input.shape, kernel, to, dims)
        check_type(f"{name}_out_frame", input._array, "f")
        return _FRACTIONAL[dims](input, samples, kernel, to)

    @public(name=name, doc=f"{said}; with `return_indices`, and where each is.\n\n    It draws what PyTorch draws.")
    def function(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
                 return_indices: bool = False, _random_samples: Tensor | None = None) -> Any:
        found = with_indices(input, kernel_size, output_size, output_ratio, False, _random_samples)
        return found if return_indices else found[0]

    return function, with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional(3)
