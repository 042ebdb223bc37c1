"""Maxima and means over as many windows as a result is to have, as functions."""

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
    """Refuse an image without elements; `first` is the first dimension that must have some."""
    for axis in range(first, len(shape)):
        if not shape[axis]:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
                               f"has sizes {[*shape]} with dimension {axis} being empty")


def adaptive_means(name: str, input: Any, output_size: Any, dims: int) -> Any:
    """The means of `output_size` windows in each of two or three dimensions."""
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
    """The maxima of `output_size` windows in each of two or three dimensions, and where they are."""
    check_tensor(name, input)
    array, to = input._array, output_size
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {[*array.shape]}")
    _check_space(name, array.shape, dims, array.ndim - dims - 1)
    if len(to) != dims:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
    if min(to) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(to)}: "
                           f"{[*array.shape[:-dims], *to]}. The sizes of a result are not negative.")
    check_type(name if dims == 2 else f"{name}_cpu", array, "f")
    return _MAXIMA[dims](input, to)


def one_size(name: str, value: Any) -> int:
    """The one size of a line."""
    sizes = ints(name, "output_size", value)
    if len(sizes) != 1:
        raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(sizes)})")
    return sizes[0]


@public("adaptive_avg_pool1d(Tensor input, ints[1] output_size)")
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means of `output_size` windows along lines (N, C, L) or (C, L), which together cover them.

    Raises RuntimeError for other numbers of dimensions.
    """
    check_tensor("adaptive_avg_pool1d", input)
    check_lines("adaptive_avg_pool1d", input)
    to = one_size("adaptive_avg_pool1d", output_size)
    return adaptive_means("adaptive_avg_pool2d", input.unsqueeze(-2), (1, to), 2).squeeze(-2)


@public()
def adaptive_max_pool1d(input: Any, output_size: Any) -> tuple[Any, Any]:
    """The maxima of `output_size` windows along lines (N, C, L) or (C, L), and the place of each along its line.

    Raises RuntimeError for other numbers of dimensions.
    """
    check_tensor("adaptive_max_pool1d", input)
    check_lines("adaptive_max_pool1d", input)
    to = one_size("adaptive_max_pool1d", output_size)
    shape = input._array.shape
    _check_space("adaptive_max_pool1d", shape, 1, len(shape) - 2)
    values, indices = adaptive_maxima("adaptive_max_pool2d", input.unsqueeze(-2), (1, to), 2)
    return values.squeeze(-2), indices.squeeze(-2)
