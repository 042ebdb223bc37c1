"""Classes derived from Tensor: how their instances are made, and how results of calls become instances too.

`overriding` decides which class handles a call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from ...foundations.dtypes import DIFFERENTIABLE
from ...foundations.errors import noted
from ...ops.shape import alias
from ..arguments.options import check_tensor
from ..recording.calls import recorded
from ..recording.overriding import disabled_torch_dispatch_impl, passed_on, torch_function
from ..recording.public import METHODS
from ..state.base import TensorBase, meta_of, note_kind
from ..state.dispatch import DISPATCH

S = TypeVar("S")
_alias = recorded(alias)


def _check_class(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise noted(
            TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                      "Make sure your class inherits from Tensor."),
            because=f"this one is {cls!r}")


def as_subclass(self: TensorBase, cls: type[S]) -> S:
    """A view of the whole tensor that is an instance of `cls`, a class derived from Tensor. Gradients flow through.

    Raises TypeError for another class.

    >>> import retrograd as torch
    >>> class Named(torch.Tensor):
    ...     pass
    >>> torch.ones(2).as_subclass(Named) * 3
    Named([3., 3.])
    """
    _check_class(cls)
    other = getattr(self._array, "face", None) is not None             # a sparse array, or one on the device `meta`
    view = _alias_of_other(self) if other else _alias(self)
    result: Any = object.__new__(cls)
    result._array, result._edge, result._grad_meta = view._array, view._edge, view._grad_meta
    if other:
        note_kind(result)
    return result  # type: ignore[no-any-return]


def _alias_of_other(tensor: Any) -> Any:
    """A view of a whole tensor over an array of another kind. Raises PyTorch's errors for sparse tensors."""
    if tensor.is_meta:
        return passed_on(METHODS["view_as"], (tensor, tensor), {})
    if tensor.is_sparse:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")
    raise RuntimeError("Sparse CSR tensors do not have strides")


def leaf_of(cls: type[Any], array: Any, requires_grad: bool = False, inference: bool = False) -> Any:
    """A leaf of the class `cls` over an array; with `inference`, an inference tensor."""
    leaf = object.__new__(cls)
    leaf._array, leaf._edge, leaf._grad_meta = array, None, None
    note_kind(leaf)
    if requires_grad:
        meta_of(leaf).leaf = True
    if inference:
        meta_of(leaf).inference = True
    return leaf


def make_subclass(cls: type[S], data: TensorBase, require_grad: bool = False) -> S:
    """A leaf of the class `cls`, which is derived from Tensor, over the memory of the tensor `data`.

    Raises TypeError for another class or if `data` is no tensor, RuntimeError if `require_grad` is set and the dtype
    has no gradients.
    """
    _check_class(cls)
    check_tensor("_make_subclass", data, "data", 2)
    if require_grad and data._array.dtype not in DIFFERENTIABLE:
        raise noted(
            RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
            given=repr(data.dtype))
    return leaf_of(cls, data._array, require_grad, data.is_inference())  # type: ignore[no-any-return]


@cache
def kept() -> frozenset[Any]:
    """The functions whose results a subclass does not convert: they return tensors that exist already."""
    return frozenset(vars(DISPATCH.tensor)[name].__get__ for name in ("grad", "_base"))


class Wrapping:
    """Classes that handle calls below autograd, and wrappers of tensors. A higher layer defines them, for `wiring`."""

    begin: Callable[[], None]                                 # prepares the dispatch of calls to such classes
    make: Callable[..., Any]                                  # makes a wrapper


def make_wrapper_subclass(cls: type[S], size: Any, *args: Any, **options: Any) -> S:
    """A tensor of the class `cls` that has a size, and no memory. The class computes with what the tensor wraps.

    `options` are strides, storage_offset, memory_format, dtype, layout, device, pin_memory and requires_grad.
    """
    return Wrapping.make(cls, size, *args, **options)  # type: ignore[no-any-return]


class SubclassMethods:
    """What a class derived from Tensor needs."""

    __slots__ = ()
    __torch_dispatch__ = staticmethod(disabled_torch_dispatch_impl)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__torch_dispatch__" in vars(cls):
            Wrapping.begin()

    as_subclass = as_subclass
    _make_subclass = staticmethod(make_subclass)
    _make_wrapper_subclass = staticmethod(make_wrapper_subclass)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Call a public function on instances of subclasses; its results are instances of the subclass again.

        A subclass may override this method. It then handles every call of a public function with an instance among the
        arguments, and may end with `super().__torch_function__(func, types, args, kwargs)`. Returns NotImplemented if
        `cls` is not derived from all of `types`.
        """
        return torch_function(cls, func, types, args, kwargs, kept())
