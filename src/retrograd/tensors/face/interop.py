"""Out of tensors: NumPy arrays, Python numbers and lists, text; and out of the graph.

Memory is shared wherever PyTorch shares it. Must not know how an operator is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from ...modes import local
from ..functions.shapes.rearranging import flip
from ..recording.public import public
from ..state.base import Results, TensorBase, requires, set_leaf, sharing
from .printing import repr_of

Array = np.ndarray[Any, Any]


# To NumPy

def array_for_reading(tensor: Any) -> Array:
    """The array of a tensor, unless a gradient would be lost on the way. Raises RuntimeError then."""
    if local.thread.grad and requires(tensor):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    array: Array = tensor._array
    return array


@public()
def numpy(self: TensorBase, *, force: bool = False) -> Array:
    """The tensor as an array on the same memory. Raises RuntimeError where it requires grad, unless `force` is set."""
    if type(force) is not bool:
        raise TypeError(f"numpy(): argument 'force' must be bool, not {type(force).__name__}")
    # A view: whoever gives the array another shape does not give it to the tensor.
    return (self._array if force else array_for_reading(self)).view()


@public(name="__array__")
def array(self: TensorBase, dtype: Any = None, copy: bool | None = None) -> Array:
    """NumPy's question for an array, from `np.asarray(tensor)` and its like."""
    own = array_for_reading(self).view()
    if dtype is None and not copy:
        return own
    return np.array(own, dtype=dtype, copy=copy)


@public(name="__dlpack__")
def dlpack(self: TensorBase, **options: Any) -> Any:
    """The memory, for another library. Raises BufferError where the tensor requires grad."""
    if requires(self):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._array.__dlpack__(**options)


@public(name="__dlpack_device__")
def dlpack_device(self: TensorBase) -> tuple[int, int]:
    """Where the memory is, as DLPack numbers it."""
    return self._array.__dlpack_device__()


# To Python

@public(event="aten::item")
def item(self: TensorBase) -> Any:
    """The one element as a Python number. Raises RuntimeError where there is another number of elements."""
    if self._array.size != 1:
        raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar. Its shape is "
                           f"{list(self._array.shape)}; tolist() gives all elements.")
    return self._array.item()


@public()
def tolist(self: TensorBase) -> Any:
    """The elements as Python numbers in nested lists; a number where there are no dimensions."""
    return self._array.tolist()


def _only(self: Any) -> Any:
    if self._array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars. This one has shape "
                         f"{list(self._array.shape)}.")
    return self._array.item()


def _real(value: Any, kind: str) -> Any:
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow. {value} is not real.")
        return value.real
    return value


@public(name="__bool__")
def to_bool(self: TensorBase) -> bool:
    """Whether the one element is not zero."""
    if self._array.size != 1:
        how = "more than one value" if self._array.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {how} is ambiguous. Use .any() or .all(), or compare its "
                           f"shape {list(self._array.shape)}.")
    return bool(self._array.item())


@public(name="__int__")
def to_int(self: TensorBase) -> int:
    """The one element, cut to an integer."""
    return int(_real(_only(self), "int64_t"))


@public(name="__float__")
def to_float(self: TensorBase) -> float:
    """The one element as a float."""
    return float(_real(_only(self), "double"))


@public(name="__complex__")
def to_complex(self: TensorBase) -> complex:
    """The one element as a complex number."""
    return complex(_only(self))


@public(name="__index__")
def to_index(self: TensorBase) -> int:
    """The one element of an integer tensor, for use as an index."""
    if self._array.size != 1 or self._array.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index. This one is "
                        f"{self.dtype!r} of shape {list(self._array.shape)}.")
    return int(self._array.item())


@public(name="__len__")
def length(self: TensorBase) -> int:
    """The size of the first dimension. Raises TypeError where there is none."""
    if not self._array.ndim:
        raise TypeError("len() of a 0-d tensor")
    size: int = self._array.shape[0]
    return size


@public(name="__contains__")
def contains(self: TensorBase, element: Any) -> bool:
    """Whether some element equals the number, or some element equals that of a tensor at its place."""
    if not isinstance(element, (TensorBase, Number)):
        raise RuntimeError("Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                           f"{type(element)}.")
    hits: Any = self == element
    return bool(hits._array.any())


@public(name="__reversed__")
def backwards(self: TensorBase) -> Any:
    """The tensor with its first dimension reversed; where there is none, the tensor itself."""
    return flip(self, (0,)) if self._array.ndim else self


# To text

@public(name="__repr__")
def text_of(self: TensorBase) -> str:
    """The text of a tensor. That of a subclass opens with its name."""
    name = None
    try:
        node = self.grad_fn
    except RuntimeError:                        # of a view of what was written over
        name = "Invalid"
    else:
        if node is not None:
            name = type(node).__name__
    kind = type(self).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    text = repr_of(self._array, requires_grad=name is None and self.requires_grad, grad_fn_name=name, prefix=prefix)
    return f"Parameter({text})" if prefix != "tensor(" and getattr(self, "_is_param", False) else text


@public(name="__format__")
def format_as(self: TensorBase, spec: str) -> str:
    """A plain tensor without dimensions is written as its number, any other as its text, which takes no format."""
    if self._array.ndim == 0 and type(self) is Results.tensor:
        return format(self._array.item(), spec)
    return object.__format__(self, spec)


# Out of the graph

@public(event="aten::detach")
def detach(input: TensorBase) -> TensorBase:
    """The same memory without its history. A write through either shows in both, and a saved value is guarded."""
    tensor: TensorBase = sharing(input, input._array)
    return tensor


@public()
def detach_(input: TensorBase) -> TensorBase:
    """Forget the history of this tensor itself. Raises RuntimeError for a view."""
    meta = input._meta
    if meta is not None and meta.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead. The base would still be in the graph.")
    if meta is not None:
        set_leaf(meta, False)
    input._edge = None
    return input




class InteropMethods:
    """Conversion to what is no tensor, text, and leaving the graph, as methods."""

    __slots__ = ()

    numpy = numpy
    __array__ = array
    __dlpack__ = dlpack
    __dlpack_device__ = dlpack_device
    item = item
    tolist = tolist
    __bool__ = to_bool
    is_nonzero = to_bool
    __int__ = to_int
    __float__ = to_float
    __complex__ = to_complex
    __index__ = to_index
    __len__ = length
    __contains__ = contains
    __reversed__ = backwards
    __repr__ = text_of
    __format__ = format_as
    detach = detach
    detach_ = detach_


def _fact(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that asks for a fact about arrays, not for their elements; so no gradient is lost."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[x._array if isinstance(x, TensorBase) else x for x in args], **kwargs)

    return ask


NUMPY: dict[Any, Callable[..., Any]] = {
    function: _fact(function) for function in (
        np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.may_share_memory,
        np.shares_memory)}
