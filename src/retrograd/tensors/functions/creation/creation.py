"""Making tensors: from data, filled with a number, and like another.

Ranges are in `ranges`, random numbers in `random`, the memory of others in `memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....errors import warn
from ....kernels import layout as layouts
from ....modes import local
from ....ops import creation as ops
from ....ops.creation import full_beside
from ...arguments.data import new_array
from ...arguments.options import (
    check_real_parts,
    check_tensor,
    contiguous_format,
    element_type,
    filled_type,
    filling,
    layout as Layout,
    made,
    memory_format as MemoryFormat,
    number,
    order_in,
    preserve_format,
    shape_of,
    strided,
)
from ...recording.calls import recorded
from ...recording.out_rules import CONSTANT, RESIZED, rule
from ...recording.public import public
from ...state.base import TensorBase, plain

Array = np.ndarray[Any, Any]

_complex = recorded(ops.complex_)


@public(for_modes=True)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> TensorBase:
    """A new leaf tensor with a copy of `data`: a number, nested sequences of numbers, an array, a tensor.

    `dtype` is found from the data where it is not given: Python floats make the default type (float32), ints int64.
    Raises ValueError for ragged sequences, TypeError or RuntimeError for what is no number, and RuntimeError where
    `requires_grad` is asked of integers.

    >>> tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    if isinstance(data, TensorBase):
        _warn_of_copy("torch.tensor")
    return made(new_array(data, None if dtype is None else element_type("tensor", dtype)), device, requires_grad)


def _warn_of_copy(function: str) -> None:
    warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
         f"sourceTensor.detach().clone().requires_grad_(True), rather than {function}(sourceTensor).",
         UserWarning)


@public(event="aten::scalar_tensor", for_modes=True)
def scalar_tensor(s: Any, *, dtype: Any = None, layout: Layout = strided, device: Any = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> TensorBase:
    """A tensor without dimensions that holds the number `s`, of the default floating type unless `dtype` is given."""
    target = element_type("scalar_tensor", dtype)
    return made(np.full((), filling(number("scalar_tensor", "s", 1, s), target), target), device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::zeros")
def zeros(*sizes: Any, size: Any = None, dtype: Any = None, layout: Layout = strided, device: Any = None,
          pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """Zeros in the shape given, as `zeros(2, 3)` or `zeros((2, 3))`.

    >>> zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return made(np.zeros(shape_of("zeros", sizes, size), element_type("zeros", dtype)), device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::ones")
def ones(*sizes: Any, size: Any = None, dtype: Any = None, layout: Layout = strided, device: Any = None,
         pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """Ones in the shape given, as `ones(2, 3)` or `ones((2, 3))`."""
    return made(np.ones(shape_of("ones", sizes, size), element_type("ones", dtype)), device, requires_grad)


@public(out=rule(gradient=RESIZED, typed=True, repeated=True, notice=""), event="aten::empty")
def empty(*sizes: Any, size: Any = None, dtype: Any = None, layout: Layout = strided, device: Any = None,
          pin_memory: bool = False, requires_grad: bool = False,
          memory_format: MemoryFormat | None = None) -> TensorBase:
    """Memory in the shape given, with whatever it holds."""
    array = np.empty(shape_of("empty", sizes, size), element_type("empty", dtype))
    if memory_format is not None and memory_format is not contiguous_format:
        if memory_format is preserve_format:
            raise RuntimeError("unsupported memory format Preserve: there is nothing whose order could be kept")
        array = empty_as(array, array.dtype, memory_format)
    return made(array, device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::full")
def full(size: Any, fill_value: Any, *, dtype: Any = None, layout: Layout = strided, device: Any = None,
         pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """The number `fill_value` all over, in its own type unless `dtype` is given.

    >>> full((2,), 3)
    tensor([3, 3])
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    value = number("full", "fill_value", 2, fill_value)
    target = filled_type(dtype, value)
    return made(np.full(shape_of("full", (size,)), filling(value, target), target), device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::eye")
def eye(n: int, m: int | None = None, *, dtype: Any = None, layout: Layout = strided, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """Ones on the diagonal of `n` rows and `m` columns (or `n`), zeros elsewhere."""
    for name, count, position in (("n", n, 1), ("m", n if m is None else m, 2)):
        if isinstance(count, float) or not hasattr(count, "__index__"):
            raise TypeError(f"eye(): argument '{name}' (position {position}) must be int, not {type(count).__name__}")
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    return made(np.eye(n, m, dtype=element_type("eye", dtype)), device, requires_grad)


# Like another

def empty_as(array: Array, dtype: np.dtype[Any], memory_format: MemoryFormat | None = None) -> Array:
    """New memory of the shape of `array`, its dimensions in the same order in memory unless a format is given."""
    order = order_in("empty_like", memory_format, array, "K")
    if order == "C" or (order == "K" and layouts.in_rows(array)):
        return np.empty(array.shape, dtype)
    return layouts.empty_as(array, dtype) if order == "K" else layouts.empty_strided(array.shape, order, dtype)


def _full_as(array: Array, dtype: np.dtype[Any], memory_format: MemoryFormat | None, value: Any) -> Array:
    """Memory as `empty_as` makes it, which holds the number everywhere, or anything if it is None."""
    if local.thread.transform is not None:
        full: Array = full_beside(array, array.shape, dtype, 0 if value is None else value)
        return full
    out = empty_as(array, dtype, memory_format)
    if value is not None:
        out.fill(value)
    return out


def _like(name: str, input: Any, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    check_tensor(name, input)
    array = input._array
    return array, array.dtype if dtype is None else element_type(name, dtype)


@public(event="aten::zeros_like")
def zeros_like(input: TensorBase, *, dtype: Any = None, layout: Layout | None = None, device: Any = None,
               pin_memory: bool = False, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None) -> TensorBase:
    """Zeros of the shape, type and order in memory of `input`."""
    array, target = _like("zeros_like", input, dtype)
    if layouts.in_rows(array) and memory_format is None:
        return made(full_beside(array, array.shape, target, 0), device, requires_grad)
    return made(_full_as(array, target, memory_format, 0), device, requires_grad)


@public(event="aten::ones_like")
def ones_like(input: TensorBase, *, dtype: Any = None, layout: Layout | None = None, device: Any = None,
              pin_memory: bool = False, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None) -> TensorBase:
    """Ones of the shape, type and order in memory of `input`."""
    array, target = _like("ones_like", input, dtype)
    return made(_full_as(array, target, memory_format, 1), device, requires_grad)


@public(event="aten::empty_like")
def empty_like(input: TensorBase, *, dtype: Any = None, layout: Layout | None = None, device: Any = None,
               pin_memory: bool = False, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None) -> TensorBase:
    """Memory of the shape, type and order in memory of `input`, with whatever it holds."""
    array, target = _like("empty_like", input, dtype)
    return made(_full_as(array, target, memory_format, None), device, requires_grad)


@public(event="aten::full_like")
def full_like(input: TensorBase, fill_value: Any, *, dtype: Any = None, layout: Layout | None = None,
              device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None) -> TensorBase:
    """The number `fill_value` all over a tensor of the shape, type and order in memory of `input`."""
    array, target = _like("full_like", input, dtype)
    value = filling(number("full_like", "fill_value", 2, fill_value), target)
    return made(_full_as(array, target, memory_format, value), device, requires_grad)


# Of the type of another

@public()
def new_tensor(self: TensorBase, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
               layout: Layout = strided, pin_memory: bool = False) -> TensorBase:
    """`tensor(data)` in this tensor's type."""
    if isinstance(data, TensorBase):
        _warn_of_copy("tensor.new_tensor")
    target = self._array.dtype if dtype is None else element_type("new_tensor", dtype)
    return made(new_array(data, target), device, requires_grad)


@public(event="aten::new_zeros")
def new_zeros(self: TensorBase, *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None,
              requires_grad: bool = False, layout: Layout = strided, pin_memory: bool = False) -> TensorBase:
    """Zeros in this tensor's type."""
    target = self._array.dtype if dtype is None else element_type("new_zeros", dtype)
    return made(full_beside(self._array, shape_of("new_zeros", sizes, size), target, 0), device, requires_grad)


@public(event="aten::new_ones")
def new_ones(self: TensorBase, *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None,
             requires_grad: bool = False, layout: Layout = strided, pin_memory: bool = False) -> TensorBase:
    """Ones in this tensor's type."""
    target = self._array.dtype if dtype is None else element_type("new_ones", dtype)
    return made(full_beside(self._array, shape_of("new_ones", sizes, size), target, 1), device, requires_grad)


@public(event="aten::new_empty")
def new_empty(self: TensorBase, *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None,
              requires_grad: bool = False, layout: Layout = strided, pin_memory: bool = False) -> TensorBase:
    """Memory for this tensor's type, with whatever it holds."""
    target = self._array.dtype if dtype is None else element_type("new_empty", dtype)
    shape = shape_of("new_empty", sizes, size)
    if local.thread.transform is not None:
        return made(full_beside(self._array, shape, target, 0), device, requires_grad)
    return made(np.empty(shape, target), device, requires_grad)


@public(event="aten::new_full")
def new_full(self: TensorBase, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
             requires_grad: bool = False, layout: Layout = strided, pin_memory: bool = False) -> TensorBase:
    """The number `fill_value` all over, in this tensor's type."""
    target = self._array.dtype if dtype is None else element_type("new_full", dtype)
    value = filling(number("new_full", "fill_value", 2, fill_value), target)
    return made(full_beside(self._array, shape_of("new_full", (size,)), target, value), device, requires_grad)


@public(out=rule(exact="Expected object of scalar type {result} but got scalar type {out} for argument 'out'"))
def complex(real: TensorBase, imag: TensorBase) -> TensorBase:
    """The complex tensor of two real ones, of float32 or float64 both. Raises RuntimeError for other types."""
    check_real_parts("complex", real, imag, ("real", "imag"))
    if real.dtype.itemsize == 2:
        raise RuntimeError("complex(): there is no complex type of two float16. Convert the parts with .float() first.")
    result: TensorBase = _complex(real, imag)
    return result


class CreationMethods:
    """New tensors of a tensor's type, as methods."""

    __slots__ = ()

    new_tensor = new_tensor
    new_zeros = new_zeros
    new_ones = new_ones
    new_empty = new_empty
    new_full = new_full


def _np_like(function: Callable[..., Any], value: Any = 0) -> Callable[..., Any]:
    """A NumPy function of the `*_like` kind for tensors: a constant, whatever the first argument requires."""

    def like(a: Any, *args: Any, **kwargs: Any) -> Any:
        args = tuple([x._array if isinstance(x, TensorBase) else x for x in args])
        array = a._array if isinstance(a, TensorBase) else a
        if local.thread.transform is None:
            return plain(local.thread.run(function, array, *args, **kwargs))
        shape, dtype = kwargs.get("shape", array.shape), kwargs.get("dtype", array.dtype)
        return plain(full_beside(array, shape, np.dtype(dtype), args[0] if args else value))

    return like


NUMPY: dict[Any, Callable[..., Any]] = {
    np.zeros_like: _np_like(np.zeros_like), np.ones_like: _np_like(np.ones_like, 1),
    np.empty_like: _np_like(np.empty_like), np.full_like: _np_like(np.full_like)}
