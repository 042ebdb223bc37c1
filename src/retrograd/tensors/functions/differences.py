"""Differences of neighbors, slopes of samples and integrals by the trapezoidal rule, as functions and methods.

As in PyTorch, these functions consist of slices, sums and quotients. So they have derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...foundations.dtypes import BOOL_, Array, letter
from ...foundations.errors import noted
from ...ops.elementwise import arithmetic as ops
from ..arguments.dims import array_of, as_int, axes_of, axis_of
from ..arguments.options import number
from ..recording.out_rules import FREE, rule
from ..recording.overwriting import copy_
from ..recording.public import public
from ..state.base import TensorBase
from .creation.creation import empty_like, zeros_like
from .elementwise.arithmetic import add, div, invalid, mul, neg, sub
from .elementwise.comparison import logical_xor
from .indexing.indexing import narrow, select
from .indexing.sorting import cumsum
from .shapes.joining import cat
from .shapes.shape import view
from .sums import sum as sum_over


def _scaled(x: TensorBase, factor: Any) -> Any:
    """`x` times a Python number, recorded in the way of PyTorch's composed functions."""
    composed = letter(x._array.dtype) in "fc" and not isinstance(factor, complex)
    return ops.mul_number(x, factor) if composed else mul(x, factor)


def _divided(x: TensorBase, divisor: Any) -> Any:
    """`x` divided by a Python number."""
    composed = letter(x._array.dtype) in "fc" and not isinstance(divisor, complex)
    return ops.div_number(x, divisor) if composed else div(x, divisor)


def _ends(x: TensorBase, dim: int) -> tuple[Any, Any]:
    """All elements along `dim` except the last, and all elements except the first."""
    n = x._array.shape[dim]
    return narrow(x, dim, 0, max(n - 1, 0)), narrow(x, dim, min(1, n), max(n - 1, 0))


@public(
    "diff(Tensor input, int n=1, int dim=-1, Tensor prepend=None, Tensor append=None, out)",
    out=rule(blame="sub", overlap=FREE),
    event="aten::diff", method=True)
def diff(input: TensorBase, n: int = 1, dim: int = -1, prepend: TensorBase | None = None,
         append: TensorBase | None = None) -> Any:
    """The differences of neighbors along `dim`, taken `n` times. For bools the result says whether neighbors differ.

    The tensors `prepend` and `append` are first joined to the input along `dim`. Their other sizes must be those of the
    input. Raises RuntimeError for a 0-d input, for a negative `n`, and for tensors that cannot be joined.

    >>> import retrograd as torch
    >>> torch.diff(torch.tensor([1, 4, 9, 16]), n=2)
    tensor([2, 2])
    """
    array, n = input._array, as_int("diff", n, "n")
    if not array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = axis_of("diff", dim, array.ndim)
    if n == 0:
        return copy_(empty_like(input), input)
    parts = [part for part in (prepend, input, append) if part is not None]
    for part in parts:
        _check_joined(array.shape, array_of("diff", part).shape, dim)
    x = cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, x._array.shape[dim])):
        low, high = _ends(x, dim)
        x = logical_xor(high, low) if x._array.dtype == BOOL_ else sub(high, low)
    return x


def _check_joined(shape: tuple[int, ...], joined: tuple[int, ...], dim: int) -> None:
    if len(joined) != len(shape):
        raise noted(
            RuntimeError("diff expects prepend or append to be the same dimension as input"),
            given=f"the tensors have {len(joined)} and {len(shape)} dimensions")
    for axis, (size, other) in enumerate(zip(shape, joined, strict=True)):
        if axis != dim and size != other:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({axis}) = {size}, but got tensor.size({axis}) = {other}")


# Slopes

@public(
    "gradient(Tensor input, *, ints dim, int edge_order=1)",
    "gradient(Tensor input, *, Number spacing, ints dim, int edge_order=1)",
    "gradient(Tensor input, *, Number? spacing=None, int? dim=None, int edge_order=1)",
    "gradient(Tensor input, *, Numbers spacing, int? dim=None, int edge_order=1)",
    "gradient(Tensor input, *, Numbers spacing, ints dim, int edge_order=1)",
    "gradient(Tensor input, *, Tensors spacing, int? dim=None, int edge_order=1)",
    "gradient(Tensor input, *, Tensors spacing, ints dim, int edge_order=1)",
    event="aten::gradient")
def gradient(input: TensorBase, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Any, ...]:
    """The slopes of samples, a tensor of the input's shape for each dim in `dim`. None stands for all dims.

    `spacing` is the distance of the samples: a number for all dims, a number for each dim, or a 1-d tensor of
    coordinates for each dim. At the edges two samples give the slope, or three samples if `edge_order` is 2. Raises
    RuntimeError if there are fewer samples, and if `spacing` and `dim` do not fit together.

    >>> import retrograd as torch
    >>> torch.gradient(torch.tensor([1., 4., 9., 16.]))
    (tensor([3., 4., 6., 7.]),)
    """
    array = array_of("gradient", input)
    dims = [*range(array.ndim)] if dim is None else [*dim] if isinstance(dim, (tuple, list)) else [dim]
    if isinstance(spacing, (tuple, list)):
        if dim is None and len(spacing) != array.ndim:
            raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal "
                               f"to 'self.dim() = {array.ndim}', since dim argument was not given, but got a list of "
                               f"length {len(spacing)}")
        if len(spacing) != len(dims):
            raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
                               "arguments to have the same length, but got a spacing argument of length "
                               f"{len(spacing)} and a dim argument of length {len(dims)}.")
        spacings: Sequence[Any] = spacing
    elif isinstance(spacing, TensorBase) and spacing._array.ndim:
        raise invalid("gradient", input, spacing)
    else:
        spacings = [1 if spacing is None else number("gradient", "spacing", 2, spacing)] * len(dims)
    _check_sampled(array, dims, edge_order)
    along = [axis_of("gradient", d, array.ndim) for d in dims]
    if spacings and isinstance(spacings[0], TensorBase):
        for i, part in enumerate(spacings):
            if not isinstance(part, TensorBase):
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(part).__name__}")
            if part._array.ndim != 1:
                raise RuntimeError("torch.gradient expected each element of spacing to have one dimension, but got an "
                                   f"element with {part._array.ndim} dimensions!")
        return tuple([_uneven_slopes(input, part, d, edge_order) for part, d in zip(spacings, along, strict=True)])
    return tuple([_even_slopes(input, part, d, edge_order) for part, d in zip(spacings, along, strict=True)])


def _check_sampled(array: Array, dims: list[Any], edge_order: int) -> None:
    if array.dtype == "uint8":
        raise noted(RuntimeError("torch.gradient does not support uint8 input."), instead="convert with .float() first")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    axes = axes_of("gradient", dims, array.ndim) if dims else ()
    if dims and not array.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if any(array.shape[axis] < edge_order + 1 for axis in axes):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")


def _three_slices(x: TensorBase, dim: int, first: int) -> list[Any]:
    """Three slices of size 1 along `dim`, beginning at the index `first`."""
    return [narrow(x, dim, first + i, 1) for i in range(3)]


def _even_slopes(x: TensorBase, step: Any, dim: int, edge_order: int) -> Any:
    """The slopes of samples with the distance `step`."""
    n = x._array.shape[dim]
    inner = _divided(sub(narrow(x, dim, 2, n - 2), narrow(x, dim, 0, n - 2)), step)
    if edge_order == 1:
        first = sub(narrow(x, dim, 1, 1), narrow(x, dim, 0, 1))
        last = sub(narrow(x, dim, n - 1, 1), narrow(x, dim, n - 2, 1))
    else:
        a, b, c = _three_slices(x, dim, 0)
        first = sub(add(_scaled(a, -1.5), _scaled(b, 2)), _scaled(c, 0.5))
        a, b, c = _three_slices(x, dim, n - 3)
        last = add(sub(_scaled(a, 0.5), _scaled(b, 2)), _scaled(c, 1.5))
    return cat([_divided(first, step), _divided(inner, 2), _divided(last, step)], dim)


def _uneven_slopes(x: TensorBase, places: TensorBase, dim: int, edge_order: int) -> Any:
    """The slopes of samples at the coordinates `places`, from the parabola through each sample and its neighbors.

    As in PyTorch, each use of a step has its own node.
    """
    n, beside = x._array.shape[dim], ((1,) * dim, (1,) * (x._array.ndim - 1 - dim))
    steps = diff(places)
    before, after = _ends(steps, 0)
    a, b, c = (view(part, (*beside[0], -1, *beside[1])) for part in (
        div(neg(after), mul(before, add(before, after))), div(sub(after, before), mul(before, after)),
        div(before, mul(after, add(before, after)))))
    inner = _weighted((a, b, c), [narrow(x, dim, i, n - 2) for i in range(3)])

    def step(place: int) -> Any:
        return select(steps, 0, place)

    if edge_order == 1:
        first = div(sub(narrow(x, dim, 1, 1), narrow(x, dim, 0, 1)), step(0))
        last = div(sub(narrow(x, dim, n - 1, 1), narrow(x, dim, n - 2, 1)), step(-1))
        return cat([first, inner, last], dim)

    def both(place: int, next_place: int) -> Any:
        return add(step(place), step(next_place))

    first = _weighted((div(neg(add(_scaled(step(0), 2.0), step(1))), mul(step(0), both(0, 1))),
                       div(both(0, 1), mul(step(0), step(1))),
                       div(neg(step(0)), mul(step(1), both(0, 1)))), _three_slices(x, dim, 0))
    last = _weighted((div(step(-1), mul(step(-2), both(-1, -2))),
                      div(neg(both(-1, -2)), mul(step(-1), step(-2))),
                      div(add(_scaled(step(-1), 2), step(-2)), mul(step(-1), both(-1, -2)))),
                     _three_slices(x, dim, n - 3))
    return cat([first, inner, last], dim)


def _weighted(weights: Sequence[Any], parts: Sequence[Any]) -> Any:
    a, b, c = (mul(weight, part) for weight, part in zip(weights, parts, strict=True))
    return add(add(a, b), c)


# Integrals

@public(
    "trapezoid(Tensor y, Tensor x, *, int dim=-1)",
    "trapezoid(Tensor y, *, Number dx=1, int dim=-1)",
    event="aten::trapezoid", strict=True)
def trapezoid(y: TensorBase, x: TensorBase | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of the samples `y` along `dim`, by the trapezoidal rule. The result has no dimension `dim`.

    The samples are at the coordinates `x`, or have the distance `dx` (1). `x` is 1-d, or is broadcast to `y`. Raises
    RuntimeError for bools, and if a 1-d `x` does not have the size of `dim`.

    >>> import retrograd as torch
    >>> torch.trapezoid(torch.tensor([1., 2., 4.]), dx=2)
    tensor(9.)
    """
    array, dim, x = _sampled("trapezoid", y, x, dx, dim)
    if array.shape[dim] == 0:
        return sum_over(zeros_like(y), dim, dtype=y.dtype)
    if x is None:
        edges = add(select(y, dim, 0), select(y, dim, -1))
        return _scaled(sub(sum_over(y, dim), _scaled(edges, 0.5)), 1.0 if dx is None else dx)
    left, right = _ends(y, dim)
    return _divided(sum_over(mul(add(left, right), x), dim), 2.0)


@public(
    "trapz(Tensor y, Tensor x, *, int dim=-1)",
    "trapz(Tensor y, *, float dx=1, int dim=-1)",
    event="aten::trapz", strict=True)
def trapz(y: TensorBase, x: Any = None, *, dx: Any = None, dim: int = -1) -> Any:
    """Another name for `trapezoid`."""
    return trapezoid(y, x, dx=dx, dim=dim)


@public(
    "cumulative_trapezoid(Tensor y, Tensor x, *, int dim=-1)",
    "cumulative_trapezoid(Tensor y, *, Number dx=1, int dim=-1)",
    event="aten::cumulative_trapezoid", strict=True)
def cumulative_trapezoid(y: TensorBase, x: TensorBase | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integrals of `y` along `dim` up to each sample except the first. The arguments are those of `trapezoid`.

    >>> import retrograd as torch
    >>> torch.cumulative_trapezoid(torch.tensor([1., 2., 4.]))
    tensor([1.5000, 4.5000])
    """
    _, dim, x = _sampled("cumulative_trapezoid", y, x, dx, dim)
    left, right = _ends(y, dim)
    if x is None:
        return cumsum(_scaled(add(left, right), (1.0 if dx is None else dx) / 2.0), dim)
    return _divided(cumsum(mul(add(left, right), x), dim), 2.0)


def _sampled(name: str, y: TensorBase, x: TensorBase | None, dx: Any, dim: int) -> tuple[Any, int, Any]:
    """The array of the samples, the axis, and the distances if coordinates are given."""
    array = y._array
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions" if name == "trapezoid" else
                         "slice() cannot be applied to a 0-dim tensor.")
    dim = axis_of(name, dim, array.ndim)
    if x is None:
        if array.dtype == BOOL_ and (array.shape[dim] or name != "trapezoid"):
            raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
        if isinstance(dx, (bool, complex)):
            raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
        if dx is not None:
            number(name, "dx", 2, dx)
        return array, dim, None
    places = x._array
    if array.shape[dim] == 0:
        return array, dim, x
    if BOOL_ in (array.dtype, places.dtype):
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if places.ndim == 1:
        if places.shape[0] != array.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = view(x, (*(1,) * dim, -1, *(1,) * (array.ndim - 1 - dim)))
    elif places.ndim < array.ndim:
        x = view(x, (1,) * (array.ndim - places.ndim) + places.shape)
    low, high = _ends(x, dim)
    return array, dim, sub(high, low)
