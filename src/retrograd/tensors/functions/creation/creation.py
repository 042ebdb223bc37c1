"""Functions that create tensors: from data, filled with a number, and with the shape and dtype of another tensor.

All functions here copy their data. `ranges` makes ranges, and `random` makes random tensors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from ....foundations.devices import DeviceLike
from ....foundations.dtypes import RARE, Array, dtype as torch_dtype, unimplemented
from ....foundations.errors import OWN, kind_of, noted, warn
from ....foundations.modes import local
from ....foundations.scalars import filling
from ....kernels import layout as layouts
from ....ops import creation as ops
from ....ops.basic import clone
from ....ops.creation import full_beside
from ...arguments.data import new_array
from ...arguments.options import (
    check_real_parts,
    check_tensor,
    contiguous_format,
    element_type,
    filled_type,
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
from ...state.base import TensorBase, plain, requires
from ..sparse import implementation

_complex = recorded(ops.complex_)


@public(for_modes=True)
def tensor(data: Any, *, dtype: torch_dtype | None = None, device: DeviceLike | None = None,
           requires_grad: bool = False, pin_memory: bool = False) -> TensorBase:
    """A new leaf tensor with a copy of `data`: a number, nested sequences of numbers, an array or a tensor.

    If `dtype` is not given, the data decide it: Python floats give the default dtype (float32), ints give int64.
    Raises ValueError for ragged sequences, TypeError or RuntimeError for elements that are not numbers, and
    RuntimeError if integers are to require grad.

    >>> import retrograd as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    if isinstance(data, TensorBase):
        warn_of_copy("torch.tensor")
    return made(new_array(data, None if dtype is None else element_type("tensor", dtype)), device, requires_grad)


def warn_of_copy(function: str) -> None:
    """Warn that a function copies a tensor that it was given."""
    warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
         f"sourceTensor.detach().clone().requires_grad_(True), rather than {function}(sourceTensor).",
         UserWarning)


@public(event="aten::scalar_tensor")
def scalar_tensor(s: Any, *, dtype: torch_dtype | None = None, layout: Layout = strided,
                  device: DeviceLike | None = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> TensorBase:
    """A 0-d tensor that holds the number `s`. Its dtype is `dtype`, or the default float dtype."""
    target = element_type("scalar_tensor", dtype)
    return made(np.full((), filling(number("scalar_tensor", "s", 1, s), target, 1), target), device, requires_grad)


def _with_layout(name: str, shape: tuple[int, ...], layout: Layout, dtype: Any, device: Any, requires_grad: Any
                 ) -> TensorBase:
    """A sparse tensor that stores nothing."""
    return implementation("_with_layout")(  # type: ignore[no-any-return]
        name, shape, layout, dtype, device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::zeros")
def zeros(*sizes: Any, size: Any = None, dtype: torch_dtype | None = None, layout: Layout = strided,
          device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """A tensor of zeros. The shape is given as `zeros(2, 3)` or `zeros((2, 3))`.

    The dtype is `dtype`, or the default float dtype. Raises RuntimeError for a negative size.

    >>> import retrograd as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    if layout is not strided:
        return _with_layout("zeros", shape_of("zeros", sizes, size), layout, dtype, device, requires_grad)
    return made(np.zeros(shape_of("zeros", sizes, size), element_type("zeros", dtype)), device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::ones")
def ones(*sizes: Any, size: Any = None, dtype: torch_dtype | None = None, layout: Layout = strided,
         device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """A tensor of ones. The shape is given as `ones(2, 3)` or `ones((2, 3))`.

    The dtype is `dtype`, or the default float dtype. Raises RuntimeError for a negative size.

    >>> import retrograd as torch
    >>> torch.ones(2, dtype=int)
    tensor([1, 1])
    """
    return made(np.ones(shape_of("ones", sizes, size), element_type("ones", dtype)), device, requires_grad)


@public(out=rule(gradient=RESIZED, typed=True, repeated=True, notice=""), event="aten::empty")
def empty(*sizes: Any, size: Any = None, dtype: torch_dtype | None = None, layout: Layout = strided,
          device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
          memory_format: MemoryFormat | None = None) -> TensorBase:
    """A tensor whose elements are not initialized. The shape is given as `empty(2, 3)` or `empty((2, 3))`.

    The dtype is `dtype`, or the default float dtype. Raises RuntimeError for a negative size.
    """
    if layout is not strided:
        return _with_layout("empty", shape_of("empty", sizes, size), layout, dtype, device, requires_grad)
    array = np.empty(shape_of("empty", sizes, size), element_type("empty", dtype))
    if memory_format is not None and memory_format is not contiguous_format:
        if memory_format is preserve_format:
            raise noted(
                RuntimeError("unsupported memory format Preserve"),
                because="a new tensor has no order in memory to preserve")
        array = empty_as(array, array.dtype, memory_format)
    return made(array, device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::full")
def full(size: Any, fill_value: Any, *, dtype: torch_dtype | None = None, layout: Layout = strided,
         device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """A tensor of shape `size` filled with the number `fill_value`.

    If `dtype` is not given, the number decides the dtype. Raises RuntimeError if the number does not fit the dtype.

    >>> import retrograd as torch
    >>> torch.full((2,), 3)
    tensor([3, 3])
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {kind_of(size)}")
    value = number("full", "fill_value", 2, fill_value)
    target = filled_type(dtype, value)
    shape = shape_of("full", (size,))
    return made(np.full(shape, filling(value, target, math.prod(shape)), target), device, requires_grad)


@public(out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""), event="aten::eye")
def eye(n: int, m: int | None = None, *, dtype: torch_dtype | None = None, layout: Layout = strided,
        device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """A matrix of `n` rows and `m` columns (by default `n`), with ones on the diagonal and zeros elsewhere.

    The dtype is `dtype`, or the default float dtype. Raises RuntimeError if `n` or `m` is negative.
    """
    for name, count, position in (("n", n, 1), ("m", n if m is None else m, 2)):
        if isinstance(count, float) or not hasattr(count, "__index__"):
            raise TypeError(f"eye(): argument '{name}' (position {position}) must be int, not {kind_of(count)}")
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    target = element_type("eye", dtype)
    if target in RARE and target.kind == "u" and n and m != 0:
        raise unimplemented("eye", target)
    return made(np.eye(n, m, dtype=target), device, requires_grad)


# Like another tensor

def empty_as(array: Array, dtype: np.dtype[Any], memory_format: MemoryFormat | None = None) -> Array:
    """A new array of the shape of `array`. Its dimensions keep their order in memory unless a format is given."""
    order = order_in("empty_like", memory_format, array, "K")
    if order == "C" or (order == "K" and layouts.in_rows(array)):
        return np.empty(array.shape, dtype)
    return layouts.empty_as(array, dtype) if order == "K" else layouts.empty_strided(array.shape, order, dtype)


def _full_as(array: Array, dtype: np.dtype[Any], memory_format: MemoryFormat | None, value: Any) -> Array:
    """The array of `empty_as`, filled with the number `value`. If `value` is None, the array is not initialized."""
    if local.thread.transform is not None:
        full: Array = full_beside(array, array.shape, dtype, 0 if value is None else value)
        order = order_in("empty_like", memory_format, array, "K")
        if order == "K" and not layouts.in_rows(array):
            order = layouts.dense_strides(array)
        return clone.run(full, order) if isinstance(order, tuple) else full
    out = empty_as(array, dtype, memory_format)
    if value is not None:
        out.fill(value)
    return out


def _like(name: str, input: TensorBase, dtype: torch_dtype | None) -> tuple[Array, np.dtype[Any]]:
    check_tensor(name, input)
    array = input._array
    return array, array.dtype if dtype is None else element_type(name, dtype)


@public(event="aten::zeros_like")
def zeros_like(input: TensorBase, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
               device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None) -> TensorBase:
    """Zeros with the shape, the dtype and the order in memory of `input`, unless an option says otherwise.

    >>> import retrograd as torch
    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    array, target = _like("zeros_like", input, dtype)
    if layout is not None and layout is not strided:
        return implementation("zeros_like")(  # type: ignore[no-any-return]
            input, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    if layouts.in_rows(array) and memory_format is None:
        return made(full_beside(array, array.shape, target, 0), device, requires_grad)
    return made(_full_as(array, target, memory_format, 0), device, requires_grad)


@public(event="aten::ones_like")
def ones_like(input: TensorBase, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
              device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None) -> TensorBase:
    """Ones with the shape, the dtype and the order in memory of `input`, unless an option says otherwise."""
    array, target = _like("ones_like", input, dtype)
    return made(_full_as(array, target, memory_format, 1), device, requires_grad)


@public(event="aten::empty_like")
def empty_like(input: TensorBase, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
               device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None) -> TensorBase:
    """A tensor with the shape, the dtype and the order in memory of `input`. Its elements are not initialized."""
    array, target = _like("empty_like", input, dtype)
    return made(_full_as(array, target, memory_format, None), device, requires_grad)


@public(event="aten::full_like")
def full_like(input: TensorBase, fill_value: Any, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
              device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None) -> TensorBase:
    """The number `fill_value` in every element of a tensor like `input`: same shape, dtype and order in memory.

    Raises RuntimeError if the number does not fit the dtype.
    """
    array, target = _like("full_like", input, dtype)
    value = filling(number("full_like", "fill_value", 2, fill_value), target, array.size)
    return made(_full_as(array, target, memory_format, value), device, requires_grad)


# With the dtype of another tensor

@public(method=True)
def new_tensor(self: TensorBase, data: Any, *, dtype: torch_dtype | None = None, device: DeviceLike | None = None,
               requires_grad: bool = False, layout: Layout = strided, pin_memory: bool = False) -> TensorBase:
    """`tensor(data)`. The dtype is `dtype`, or the dtype of this tensor."""
    if isinstance(data, TensorBase):
        warn_of_copy("tensor.new_tensor")
    target = self._array.dtype if dtype is None else element_type("new_tensor", dtype)
    return made(new_array(data, target), device, requires_grad)


@public(event="aten::new_zeros", method=True)
def new_zeros(self: TensorBase, *sizes: Any, size: Any = None, dtype: torch_dtype | None = None,
              device: DeviceLike | None = None, requires_grad: bool = False, layout: Layout = strided,
              pin_memory: bool = False) -> TensorBase:
    """Zeros in the given shape. The dtype is `dtype`, or the dtype of this tensor."""
    if layout is not strided:
        return _with_layout("zeros", shape_of("new_zeros", sizes, size), layout, dtype or self.dtype, device,
                            requires_grad)
    target = self._array.dtype if dtype is None else element_type("new_zeros", dtype)
    return made(full_beside(self._array, shape_of("new_zeros", sizes, size), target, 0), device, requires_grad)


@public(event="aten::new_ones", method=True)
def new_ones(self: TensorBase, *sizes: Any, size: Any = None, dtype: torch_dtype | None = None,
             device: DeviceLike | None = None, requires_grad: bool = False, layout: Layout = strided,
             pin_memory: bool = False) -> TensorBase:
    """Ones in the given shape. The dtype is `dtype`, or the dtype of this tensor."""
    target = self._array.dtype if dtype is None else element_type("new_ones", dtype)
    return made(full_beside(self._array, shape_of("new_ones", sizes, size), target, 1), device, requires_grad)


@public(event="aten::new_empty", method=True)
def new_empty(self: TensorBase, *sizes: Any, size: Any = None, dtype: torch_dtype | None = None,
              device: DeviceLike | None = None, requires_grad: bool = False, layout: Layout = strided,
              pin_memory: bool = False) -> TensorBase:
    """A tensor whose elements are not initialized. The dtype is `dtype`, or the dtype of this tensor."""
    shape = shape_of("new_empty", sizes, size)
    if layout is not strided:
        return _with_layout("empty", shape, layout, dtype or self.dtype, device, requires_grad)
    target = self._array.dtype if dtype is None else element_type("new_empty", dtype)
    if local.thread.transform is not None:
        return made(full_beside(self._array, shape, target, 0), device, requires_grad)
    return made(np.empty(shape, target), device, requires_grad)


@public(event="aten::new_full", method=True)
def new_full(self: TensorBase, size: Any, fill_value: Any, *, dtype: torch_dtype | None = None,
             device: DeviceLike | None = None, requires_grad: bool = False, layout: Layout = strided,
             pin_memory: bool = False) -> TensorBase:
    """A tensor of shape `size` filled with a number. The dtype is `dtype`, or the dtype of this tensor."""
    target = self._array.dtype if dtype is None else element_type("new_full", dtype)
    shape = shape_of("new_full", (size,))
    value = filling(number("new_full", "fill_value", 2, fill_value), target, math.prod(shape))
    return made(full_beside(self._array, shape, target, value), device, requires_grad)


@public(out=rule(exact="Expected object of scalar type {result} but got scalar type {out} for argument 'out'"))
def complex(real: TensorBase, imag: TensorBase) -> TensorBase:
    """The complex tensor with these real and imaginary parts, broadcast. Both have float32, or both float64.

    Raises RuntimeError for other dtypes.
    """
    check_real_parts("complex", real, imag, ("real", "imag"))
    if real.dtype.itemsize == 2:
        raise noted(
            RuntimeError("complex(): no complex dtype has parts of float16"), instead="convert the parts with .float()")
    result: TensorBase = _complex(real, imag)
    return result


def _asked_by_rule(a: TensorBase) -> bool:
    """Whether a call of NumPy comes from the package itself; or, of a tensor that requires grad, from within a call of
    it: a rule that a program wrote."""
    frame: FrameType | None = sys._getframe(3)                         # above `like` and `__array_function__`
    while frame is not None:
        if frame.f_code.co_filename.startswith(OWN):
            return True
        if not (local.thread.grad and requires(a)):
            return False
        frame = frame.f_back
    return False


def _np_like(function: Callable[..., Any], value: Any = 0) -> Callable[..., Any]:
    """A NumPy function such as `np.zeros_like` for tensors.

    For a program it gives an array, as for PyTorch's tensors, which NumPy turns into arrays. For a rule, which computes
    with tensors in a recorded pass, it gives a tensor that does not require grad.
    """

    def like(a: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, TensorBase) and not _asked_by_rule(a):
            return function(a.numpy(), *args, **kwargs)
        args = tuple([x._array if isinstance(x, TensorBase) else x for x in args])
        array: Any = a._array if isinstance(a, TensorBase) else a
        if local.thread.transform is None:
            return plain(local.thread.run(function, array, *args, **kwargs))
        shape, dtype = kwargs.get("shape", array.shape), kwargs.get("dtype", array.dtype)
        return plain(full_beside(array, shape, np.dtype(dtype), args[0] if args else value))

    return like


NUMPY: dict[Any, Callable[..., Any]] = {
    np.zeros_like: _np_like(np.zeros_like), np.ones_like: _np_like(np.ones_like, 1),
    np.empty_like: _np_like(np.empty_like), np.full_like: _np_like(np.full_like)}
