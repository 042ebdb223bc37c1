"""Conversion of tensors to NumPy arrays, Python numbers, lists and text; and `detach`.

Memory is shared wherever PyTorch shares it.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from textwrap import indent
from typing import Any

import numpy as np

from ...foundations.dtypes import F64, I64, NARROW, Array, legacy
from ...foundations.errors import noted, warn_once
from ...foundations.modes import local
from ...foundations.scalars import converted
from ...kernels.kinds import OtherArray, with_numbers
from ..functions.shapes.rearranging import flip
from ..recording.public import methods, public
from ..state.base import TensorBase, constant, requires, set_leaf, sharing
from ..state.dispatch import DISPATCH
from ..transforms.batched import is_batch, shown
from ..transforms.levels import outer
from .printing import repr_of

# To NumPy

def array_for_reading(tensor: TensorBase) -> Array:
    """The array of a tensor. Raises RuntimeError if the tensor requires grad, since the gradient would be lost."""
    if local.thread.grad and requires(tensor):
        raise noted(
            RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
            "tensors#numpy-requires-grad")
    return tensor._array


@public(method=True)
def numpy(self: TensorBase, *, force: bool = False) -> Array:
    """The tensor as an array over the same memory. Raises RuntimeError if it requires grad, unless `force` is set."""
    if type(force) is not bool:
        raise TypeError(f"numpy(): argument 'force' must be bool, not {type(force).__name__}")
    _check_known(self._array)
    # A view, so that a new shape of the array does not become the tensor's shape.
    return (self._array if force else array_for_reading(self)).view()


def _check_known(array: Array) -> None:
    """Raise TypeError for a type that NumPy lacks."""
    if array.dtype in NARROW:
        raise noted(
            TypeError(f"Got unsupported ScalarType {legacy(array)}"), instead="convert the tensor first, by .float()")


@public(name="__array__")
def array(self: TensorBase, dtype: Any = None, copy: bool | None = None) -> Array:
    """The array for `np.asarray(tensor)` and similar calls of NumPy."""
    _check_known(self._array)
    own = with_numbers(array_for_reading(self)).view()
    return own if dtype is None and not copy else np.array(own, dtype=dtype, copy=copy)


@public(name="__dlpack__")
def dlpack(self: TensorBase, **options: Any) -> Any:
    """The memory as a DLPack capsule, for another library.

    Raises BufferError if the tensor requires grad, is sparse, or is on the device meta.
    """
    if requires(self):
        raise noted(
            BufferError("Can't export tensors that require gradient, use tensor.detach()"),
            "tensors#export-requires-grad")
    array = with_numbers(self._array)
    if isinstance(array, OtherArray):
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if not isinstance(array, np.ndarray):
        raise BufferError("Cannot pack tensors on meta")
    return array.__dlpack__(**options)


@public(name="__dlpack_device__")
def dlpack_device(self: TensorBase) -> tuple[int, int]:
    """The device of the memory, in DLPack's numbers. Raises ValueError for a tensor on the device meta."""
    if not isinstance(with_numbers(self._array), np.ndarray | OtherArray):
        raise ValueError("Unknown device type meta for Dlpack")
    return 1, 0


# To Python

@public(event="aten::item", method=True)
def item(self: TensorBase) -> int | float | bool:
    """The single element as a Python number. Raises RuntimeError for any other number of elements."""
    if self._array.size != 1:
        raise noted(
            RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar"),
            "shapes#one-element", given=f"its shape is {list(self._array.shape)}; tolist() gives all elements")
    number: int | float | bool = self._array.item()
    return number


@public(method=True)
def tolist(self: TensorBase) -> Any:
    """The elements as Python numbers in nested lists; a single number for a 0-d tensor."""
    return self._array.tolist()


def _only(self: TensorBase) -> Any:
    if self._array.size != 1:
        raise noted(
            ValueError("only one element tensors can be converted to Python scalars"),
            given=f"this one has shape {list(self._array.shape)}")
    return self._array.item()


def _warn_of_history(self: TensorBase) -> None:
    """Warn once that a gradient does not follow a number, as PyTorch does for floats."""
    if local.thread.grad and requires(self):
        warn_once("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                  "Consider using tensor.detach() first.")


def _real(value: Any, dtype: np.dtype[Any]) -> Any:
    return converted(value, dtype) if isinstance(value, complex) else value


@public(name="__bool__")
def to_bool(self: TensorBase) -> bool:
    """Whether the single element is not zero."""
    if self._array.size != 1 and not hasattr(self._array, "levels"):
        how = "more than one value" if self._array.size else "no values"
        raise noted(
            RuntimeError(f"Boolean value of Tensor with {how} is ambiguous"),
            instead=f"use .any() or .all(), or compare its shape {list(self._array.shape)}")
    return bool(self._array)


@public(name="__int__")
def to_int(self: TensorBase) -> int:
    """The single element, truncated to an integer."""
    return int(_real(_only(self), I64))


@public(name="__float__")
def to_float(self: TensorBase) -> float:
    """The single element as a float."""
    _warn_of_history(self)
    return float(_real(_only(self), F64))


@public(name="__complex__")
def to_complex(self: TensorBase) -> complex:
    """The single element as a complex number."""
    _warn_of_history(self)
    return complex(_only(self))


@public(name="__index__")
def to_index(self: TensorBase) -> int:
    """The single element of an integer tensor, for use as an index."""
    if self._array.size != 1 or self._array.dtype.kind not in "iub":
        raise noted(
            TypeError("only integer tensors of a single element can be converted to an index"),
            given=f"{self.dtype!r} of shape {list(self._array.shape)}")
    return int(self._array.item())


@public(name="__len__")
def length(self: TensorBase) -> int:
    """The size of the first dimension. Raises TypeError for a 0-d tensor."""
    if not self._array.ndim:
        raise TypeError("len() of a 0-d tensor")
    return int(self._array.shape[0])


@public(name="__contains__")
def contains(self: TensorBase, element: Any) -> bool:
    """Whether some element equals the number, or the element of the given tensor at the same place."""
    if not isinstance(element, (TensorBase, Number)):
        raise RuntimeError("Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                           f"{type(element)}.")
    return bool((self == element).any().item())


@public(name="__reversed__")
def backwards(self: TensorBase) -> Any:
    """The tensor with its first dimension flipped; a 0-d tensor as it is."""
    return flip(self, (0,)) if self._array.ndim else self


# To text

@public(name="__repr__")
def text_of(self: TensorBase) -> str:
    """The text of a tensor. The text of an instance of a subclass begins with the name of the subclass."""
    try:
        node = self.grad_fn
        name = None if node is None else type(node).__name__
    except RuntimeError:                        # a view whose base was written to
        name = "Invalid"
    if is_batch(self._array):
        return _batched_text(self._array, name, name is None and self.requires_grad)
    kind = type(self).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    facts = [fact for level in local.thread.levels for fact in level.facts(self)]
    text = repr_of(self._array, requires_grad=name is None and self.requires_grad, grad_fn_name=name, prefix=prefix,
                   facts=facts)
    return f"Parameter({text})" if prefix != "tensor(" and getattr(self, "_is_param", False) else text


def _batched_text(array: Any, grad_fn_name: str | None, requires_grad: bool) -> str:
    """The text of a tensor inside of `vmap`: its innermost level first, and all samples last."""
    if not is_batch(array):
        return repr_of(array, requires_grad=requires_grad, grad_fn_name=grad_fn_name)
    level = array.levels[-1]
    inner = _batched_text(outer(shown(array, level)), grad_fn_name, requires_grad)
    number = 1 + sum([other < level for other in local.thread.levels])
    return f"BatchedTensor(lvl={number}, bdim=0, value=\n{indent(inner, '    ')}\n)"


@public(name="__format__")
def format_as(self: TensorBase, spec: str) -> str:
    """Format a plain 0-d tensor as its number. The format of any other tensor is its text, and takes no `spec`."""
    if self._array.ndim == 0 and type(self) is DISPATCH.tensor:
        return format(self._array.item(), spec)
    return object.__format__(self, spec)


# Detaching from the graph

@public(event="aten::detach", method=True)
def detach(input: TensorBase) -> TensorBase:
    """A tensor over the same memory without history. A write to either changes both, and their versions count it."""
    return sharing(input, constant(input._array))  # type: ignore[no-any-return]


@public(method=True)
def detach_(input: TensorBase) -> TensorBase:
    """Remove the history of this tensor, in place. Raises RuntimeError for a view.

    Inside of `inference_mode` nothing happens, as in PyTorch.
    """
    if local.thread.inference:
        return input
    meta = input._grad_meta
    if meta is not None and meta.base is not None:
        raise noted(
            RuntimeError("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
                         "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
                         "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
                         "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."),
            "in-place#view-detached-in-place", because="the base would still be in the graph")
    if meta is not None:
        set_leaf(meta, False)
    input._edge = None
    input._array = constant(input._array)
    return input


methods(
    array, dlpack, dlpack_device, to_bool, to_int, to_float, to_complex, to_index, length, contains, backwards,
    text_of, format_as, is_nonzero=to_bool, __nonzero__=to_bool, __long__=to_int)


def _fact(function: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a NumPy function that asks for facts about arrays, not for elements. No gradient is lost by it."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        return function(*[x._array if isinstance(x, TensorBase) else x for x in args], **kwargs)

    return ask


NUMPY: dict[Any, Callable[..., Any]] = {
    function: _fact(function) for function in (
        np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.may_share_memory,
        np.shares_memory)}
