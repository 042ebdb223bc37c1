"""Adaptive pooling: maxima and means over a given number of windows, which together cover the input."""

from __future__ import annotations

from typing import Any

from ....ops.images import pooling as ops
from ...arguments.options import check_tensor, refuse_complex_gradient
from ...arguments.sliding import ints, shown
from ...recording.calls import recorded
from ...recording.public import public
from .pooling import check_lines, check_type

_MAXIMA = {2: recorded(ops.adaptive_max_pool2d), 3: recorded(ops.adaptive_max_pool3d)}
_MEANS = {2: recorded(ops.adaptive_avg_pool2d), 3: recorded(ops.adaptive_avg_pool3d)}


def _check_space(name: str, shape: Any, dims: int, first: int) -> None:
    """Raise RuntimeError if a dimension of the image has size 0. `first` is the first dimension to check."""
    for axis in range(first, len(shape)):
        if not shape[axis]:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
                               f"has sizes {[*shape]} with dimension {axis} being empty")


def adaptive_means(name: str, input: Any, output_size: Any, dims: int) -> Any:
    """The means over `output_size` windows along the last two or three dimensions."""
    check_tensor(name, input)
    to = output_size
    if len(to) != dims:
        raise RuntimeError(f"{name}: output_size must be {dims}")
    if min(to) < 0:
        separated = f"{to[0]}, {shown(to[1:], ',')}"
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received "
                           f"{{{separated}}}")
    array = input._array
    if max(to) == min(to) == 1:
        return input.mean(tuple(range(-dims, 0)), True)
    _check_space(name, array.shape, dims, array.ndim - dims)
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {[*array.shape]}")
    if array.size or dims == 3:
        check_type(name if dims == 2 else f"{name}_cpu", array, "f")
    refuse_complex_gradient(f"_{name}", input)
    return _MEANS[dims](input, to)


def adaptive_maxima(name: str, input: Any, output_size: Any, dims: int) -> Any:
    """The maxima over `output_size` windows along the last two or three dimensions, and their indices."""
    check_tensor(name, input)
    array, to = input._array, output_size
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {[*array.shape]}")
    _check_space(name, array.shape, dims, array.ndim - dims - 1)
    if len(to) != dims:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
    if min(to) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(to)}: "
                           f"{[*array.shape[:-dims], *to]}. The sizes of the result must not be negative.")
    check_type(name if dims == 2 else f"{name}_cpu", array, "f")
    return _MAXIMA[dims](input, to)


def one_size(name: str, value: Any) -> int:
    """The output size of a 1-d function. Raises RuntimeError for more than one int."""
    sizes = ints(name, "output_size", value)
    if len(sizes) != 1:
        raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(sizes)})")
    return sizes[0]


@public("adaptive_avg_pool1d(Tensor input, ints[1] output_size)")
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means over `output_size` windows along the last dimension of (N, C, L) or (C, L).

    The windows cover the dimension. The result has the size `output_size` there. Raises RuntimeError for an input of
    another number of dimensions.

    >>> import retrograd as torch
    >>> torch.adaptive_avg_pool1d(torch.tensor([[1., 2., 3., 4.]]), 2)
    tensor([[1.5000, 3.5000]])
    """
    check_tensor("adaptive_avg_pool1d", input)
    check_lines("adaptive_avg_pool1d", input)
    to = one_size("adaptive_avg_pool1d", output_size)
    return adaptive_means("adaptive_avg_pool2d", input.unsqueeze(-2), (1, to), 2).squeeze(-2)


@public()
def adaptive_max_pool1d(input: Any, output_size: Any) -> tuple[Any, Any]:
    """The maxima over `output_size` windows along the last dimension of (N, C, L) or (C, L), and their indices.

    The windows cover the dimension. Raises RuntimeError for an input of another number of dimensions.
    """
    check_tensor("adaptive_max_pool1d", input)
    check_lines("adaptive_max_pool1d", input)
    to = one_size("adaptive_max_pool1d", output_size)
    shape = input._array.shape
    _check_space("adaptive_max_pool1d", shape, 1, len(shape) - 2)
    values, indices = adaptive_maxima("adaptive_max_pool2d", input.unsqueeze(-2), (1, to), 2)
    return values.squeeze(-2), indices.squeeze(-2)
