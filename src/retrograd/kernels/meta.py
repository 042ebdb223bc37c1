"""Arrays without memory: a shape, a dtype and strides. And what a kernel would make of them, found without its numbers.

`MetaArray.like` is a NumPy array of that geometry. It has one element of memory, and nobody reads it. A view of it is a
view by NumPy's own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from ..foundations.dtypes import Array, Shape
from ..foundations.errors import noted
from .kinds import Geometry
from .layout import address, broadcast_strides, by_falling_strides, by_strides, dense, row_by_row, steps
from .shape import common_shape

# Stand-ins up to this size have memory of their own. The others repeat one element.
_MOST_BYTES = 1 << 28


class MetaArray(Geometry):
    """An array without memory. `nbytes` is the size that its memory would have."""

    __slots__ = ("__weakref__", "base", "like", "nbytes")
    __array_ufunc__ = None
    # The class of a tensor over such an array, given its class over another array. The tensors fill it in.
    face: ClassVar[Callable[[type[Any]], type[Any]]]

    def __init__(self, like: Array, base: Array, nbytes: int) -> None:
        self.like, self.base, self.nbytes = like, base, nbytes

    real = property(lambda self: self.over(self.like.real))
    offset = property(lambda self: (address(self.like) - address(self.base)) // self.like.itemsize)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise noted(
            TypeError("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                      "memory first."),
            because="a meta tensor has no numbers", instead="torch.empty_like(x, device='cpu')")

    def tolist(self) -> NoReturn:
        """Raises RuntimeError, since there are no numbers."""
        raise no_item()

    item = tolist

    def over(self, view: Array) -> MetaArray:
        """The view of this array that has the geometry of `view`, which is a view of `like`."""
        return MetaArray(view, self.base, self.nbytes)

    def apart(self) -> MetaArray:
        """An array of this geometry over a base of its own, which counts its writes."""
        base = np.empty(1, self.dtype)
        return strided(MetaArray(base, base, self.nbytes), self.shape, steps(self.like), self.offset)

    def resized(self, shape: Shape) -> MetaArray:
        """The same memory in another shape, row by row. The memory grows if it must."""
        lain = strided(self, shape, row_by_row(shape), 0)
        lain.nbytes = max(self.nbytes, (self.offset + lain.size) * self.itemsize)
        return lain

    def transpose(self, order: Any) -> MetaArray:
        """The view of this array with its axes in another order."""
        return self.over(self.like.transpose(order))


def no_item() -> RuntimeError:
    """The error for a call that asks for the number of a meta tensor."""
    return noted(
        RuntimeError("Tensor.item() cannot be called on meta tensors"),
        because="a meta tensor has a shape and a dtype, and no numbers")


def without_memory(shape: Shape, dtype: np.dtype[Any], strides: Shape | None = None) -> MetaArray:
    """A new array without memory. `strides` counts elements; by default the array lies row by row."""
    lie = row_by_row(shape) if strides is None else strides
    base = np.empty(1, dtype)
    last = 0 if 0 in shape else 1 + sum([(n - 1) * step for n, step in zip(shape, lie)])
    like = by_strides(base, shape, [step * base.itemsize for step in lie])
    return MetaArray(like, base, last * base.itemsize)


def without_memory_like(array: Any) -> MetaArray:
    """A new array without memory, of the shape, the dtype and the layout of another array."""
    return without_memory(array.shape, array.dtype, steps(array))


def stand_in(array: MetaArray, unit: bool = False) -> Array:
    """A NumPy array of that geometry that a kernel may read: zeros, or identity matrices if `unit`."""
    if unit and array.ndim >= 2 and array.shape[-1] == array.shape[-2]:
        return np.broadcast_to(np.eye(array.shape[-1], dtype=array.dtype), array.shape).copy()
    if unit:
        return np.ones(array.shape, array.dtype)
    if array.size * array.itemsize > _MOST_BYTES:
        return np.broadcast_to(np.zeros((), array.dtype), array.shape)
    strides = array.strides
    if not array.size or min(strides, default=0) < 0:
        return np.zeros(array.shape, array.dtype)
    last = 1 + sum([(n - 1) * step for n, step in zip(array.shape, steps(array.like))])
    zeros: Array = np.ndarray(array.shape, array.dtype, np.zeros(last, array.dtype), 0, strides)
    zeros.flags.writeable = array.flags.writeable
    return zeros


def elementwise(arrays: Sequence[Any], dtype: Any) -> MetaArray:
    """The result of an elementwise operator, laid out as PyTorch's TensorIterator does. Raises RuntimeError if the
    shapes do not broadcast.
    """
    present = [a for a in arrays if a is not None]
    shape = common_shape(*[a.shape for a in present])
    given = [a.like if type(a) is MetaArray else a for a in present if a.ndim]
    first = given[0] if given else None
    if first is not None and all([a.shape == shape and a.strides == first.strides for a in given]) and dense(first):
        return without_memory(shape, dtype, steps(first))
    if all([a.flags.c_contiguous for a in given]) or len(shape) < 2:
        return without_memory(shape, dtype)
    strides, step = [0] * len(shape), 1
    for axis in reversed(by_falling_strides(shape, [broadcast_strides(a, shape) for a in given])):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return without_memory(shape, dtype, tuple(strides))


def strided(x: MetaArray, shape: Shape, strides: Shape, start: int) -> MetaArray:
    """The view of `x` by other strides. As in PyTorch, it may leave the memory, since nobody reads it."""
    size = x.itemsize
    whole = by_strides(x.base, (max(1, x.offset + start + 1),), (size,))
    first = whole[x.offset + start:]
    return x.over(by_strides(first, shape, [s * size for s in strides]))


# Operators whose kernels would take long, and whose shapes follow from those of their arguments

def product(x: MetaArray, y: Any, *options: Any) -> MetaArray:
    """A product of matrices, or of stacks of matrices."""
    return without_memory((*x.shape[:-1], *y.shape[-1:]), x.dtype)


def added_product(x: MetaArray, mat1: MetaArray, mat2: MetaArray, *options: Any) -> MetaArray:
    """A product of matrices, or of stacks of matrices, to which `x` is added."""
    return without_memory((*mat1.shape[:-1], *mat2.shape[-1:]), x.dtype)


def convolution(x: MetaArray, weight: MetaArray, bias: MetaArray, stride: Shape, padding: Shape, dilation: Shape,
                transposed: Any, output_padding: tuple[int, ...], groups: Any) -> MetaArray:
    """A convolution."""
    sizes = []
    for i, (n, k) in enumerate(zip(x.shape[2:], weight.shape[2:])):
        if transposed:
            sizes.append((n - 1) * stride[i] - 2 * padding[i] + dilation[i] * (k - 1) + output_padding[i] + 1)
        else:
            sizes.append((n + 2 * padding[i] - dilation[i] * (k - 1) - 1) // stride[i] + 1)
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    return without_memory((x.shape[0], channels, *sizes), x.dtype)


def copied(x: MetaArray, order: Any = "K") -> MetaArray:
    """A copy. TensorIterator lays it out, unless `order` says how."""
    if isinstance(order, tuple):
        return without_memory(x.shape, x.dtype, order)
    return without_memory(x.shape, x.dtype) if order == "C" else elementwise([x], x.dtype)
