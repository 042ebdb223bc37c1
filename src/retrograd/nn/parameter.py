"""Parameters: the tensors that a module owns and an optimizer changes. This module must not know modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..foundations.devices import DeviceLike
from ..foundations.dtypes import DIFFERENTIABLE, Shape, default_floating, dtype as torch_dtype
from ..foundations.errors import noted
from ..foundations.names import missing
from ..kernels.layout import copied
from ..tensors.face import printing
from ..tensors.functions.creation.creation import empty
from ..tensors.recording.overriding import disabled_torch_function_impl
from ..tensors.state.base import TensorBase, as_leaf, constant, meta_of, note_kind, plain, plain_class
from ..tensors.state.dispatch import DISPATCH
from ..tensors.state.inference import refuse_inference_leaf
from ..tensors.tensor import Tensor
from .implementations import implementation

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin",
           "clear_grad", "is_lazy"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _over(cls: type[Any], data: Any) -> Any:
    """A leaf of class `cls` over the memory of the tensor `data`; an empty leaf for None."""
    if data is None:
        data = plain(np.empty(0, default_floating()))
    elif not isinstance(data, TensorBase):
        raise noted(
            AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'"),
            because=f"{cls.__name__} takes a tensor", instead="make one with torch.tensor(...)")
    leaf = object.__new__(cls)
    leaf._array, leaf._edge, leaf._grad_meta = constant(data._array), None, None
    note_kind(leaf)
    if data._grad_meta is not None and data._grad_meta.inference:
        meta_of(leaf).inference = True
    return leaf


class _ParameterType(type):
    """Lets `isinstance(tensor, Parameter)` ask the tensor too: a parameter of a derived class keeps its class."""

    def __instancecheck__(cls, instance: object) -> bool:
        marked = cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)
        return marked or super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_ParameterType):
    """A tensor that a `Module` registers when it is assigned to an attribute. It requires grad by default.

    A parameter is a leaf over the memory of `data`, a tensor of any shape. Results computed from it are ordinary
    tensors. The parameter of an instance of a class derived from Tensor is an instance of that class too.

    >>> import retrograd as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)

    Raises RuntimeError if `data` has ints or bools and `requires_grad` is true.
    """

    __module__ = f"{Tensor.__module__}.nn.parameter"         # also if programs know the package as torch
    __slots__ = ()
    __torch_function__ = staticmethod(disabled_torch_function_impl)
    _is_param = True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        if (isinstance(data, TensorBase) and not isinstance(data, cls) and type(data) not in (Tensor, Parameter)
                and plain_class(type(data)) is type(data)):
            return _of_subclass(data, requires_grad)
        parameter = _over(plain_class(cls), data)      # `type(p)` of a parameter on meta makes one on any device
        if requires_grad and parameter._array.dtype not in DIFFERENTIABLE:
            refuse_inference_leaf(parameter)
            raise noted(
                RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
                given=f"this dtype is {parameter.dtype!r}", instead="use .float(), or requires_grad=False")
        parameter.requires_grad = requires_grad
        return parameter

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing: `__new__` does all, and a subclass may give it other arguments. This method replaces the
        constructor that makes a tensor from data.
        """

    def __repr__(self) -> str:
        return printing.parameter_text(super().__repr__())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            array = self._array
            new = copied(array, array.dtype) if type(array) is np.ndarray else array.copy(order="K")
            memo[id(self)] = type(self)(plain(new), self.requires_grad)
        return memo[id(self)]


def _of_subclass(data: Any, requires_grad: bool) -> Any:
    """A leaf with the class of `data`, marked as a parameter."""
    parameter = as_leaf(data.detach(), requires_grad)
    if type(parameter) is not type(data):
        raise RuntimeError(f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
                           "detach() returns an instance of the same type, but return type "
                           f"{type(parameter).__name__} was found instead. To use the type as a Parameter, please "
                           "correct the detach() semantics defined by its __torch_dispatch__() implementation.")
    parameter._is_param = True
    return parameter


DISPATCH.spare(Parameter)


class _BufferType(type):
    """Lets `isinstance(tensor, Buffer)` ask the tensor, since its class is Tensor."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that a `Module` registers as a buffer when it is assigned to an attribute.

    With `persistent=False` the module's `state_dict` leaves the buffer out.
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        buffer = _over(Tensor, data)
        buffer.requires_grad = data is not None and data.requires_grad
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer


def _attempt_on_uninitialized(cls: type[Any], func: Callable[..., Any]) -> ValueError:
    return ValueError(
        f"Attempted to use an uninitialized parameter in {implementation(func)}. This error happens when you are "
        f"using a `LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using "
        "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions")


class UninitializedTensorMixin:
    """What parameters and buffers without a shape share. They may be converted, and get a shape by `materialize`."""

    __slots__ = ()
    cls_to_become: type[Any]
    _ALLOWED = frozenset([
        *(getattr(Tensor, name) for name in (
            "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char",
            "short", "int", "long", "cuda", "cpu", "to", "get_device"))])

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        """Let properties and conversions pass. Raises ValueError for every other function."""
        if func in cls._ALLOWED or getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__"):
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise _attempt_on_uninitialized(cls, func)

    def materialize(self, shape: Shape, device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        """Give the tensor a shape, and memory without values. It becomes an ordinary parameter or buffer.

        `dtype` replaces the dtype that the tensor was made with.
        """
        tensor: Any = self
        tensor.data = empty(shape, device=device, dtype=tensor.dtype if dtype is None else dtype)
        tensor.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: there is no shape yet."""
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens "
                           "in `load_state_dict` when trying to load an uninitialized parameter into an initialized "
                           "one. Call `forward` to initialize the parameters before accessing their attributes.")

    def share_memory_(self) -> Any:
        """Raises RuntimeError: there is no memory yet."""
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize "
                           "the parameters before calling `module.share_memory()`.")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad,)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet. A lazy module gives it a shape at the first call.

    >>> import retrograd as torch
    >>> parameter = torch.nn.UninitializedParameter()
    >>> parameter
    <UninitializedParameter>
    >>> parameter.materialize((2, 3))
    >>> type(parameter).__name__, parameter.shape
    ('Parameter', torch.Size([2, 3]))

    Most functions raise ValueError before that.
    """

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: DeviceLike | None = None,
                dtype: torch_dtype | None = None) -> Any:
        parameter = _over(cls, empty(0, device=device, dtype=dtype))
        if requires_grad:
            meta_of(parameter).leaf = True
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet. A lazy module gives it a shape at the first call."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: DeviceLike | None = None, dtype: torch_dtype | None = None,
                persistent: bool = True) -> Any:
        buffer = _over(cls, empty(0, device=device, dtype=dtype))
        if requires_grad:
            meta_of(buffer).leaf = True
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing: `__new__` does all. This method replaces the constructor that makes a tensor from data."""


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Remove the gradient of a parameter, or fill it with zeros and detach it from its graph."""
    grad = parameter.grad
    if grad is None:
        return
    if set_to_none:
        parameter.grad = None
        return
    if grad.grad_fn is not None:
        grad = parameter.grad = grad.detach()
    else:
        grad.requires_grad = False
    with no_grad():
        grad.zero_()
