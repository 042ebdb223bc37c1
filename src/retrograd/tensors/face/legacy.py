"""The old constructors of tensors: `Tensor(2, 3)`, `Tensor([1, 2])`, `LongTensor([1, 2])`.

PyTorch keeps them for old programs, and much learning material uses them. `torch.tensor` and `torch.empty` are clearer.
"""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from ...foundations import dtypes
from ...foundations.devices import DeviceLike, checked
from ...foundations.dtypes import Array, default_floating, dtype
from ...foundations.errors import noted
from ...foundations.modes import local
from ..arguments.data import new_array
from ..recording.public import public
from ..state.base import TensorBase
from ..state.dispatch import DISPATCH
from .subclassing import as_subclass, leaf_of

_MISSING: Any = object()
_UNION: Any = Union                                  # for unions made at run time
# The element types by the names of the old types of tensors.
BY_NAME = {f"torch.{of.legacy}Tensor": of for of in dtype.all.values()}


def _shown(of: np.dtype[Any]) -> str:
    """An element type as PyTorch's C++ shows the options of a tensor."""
    return (f"TensorOptions(dtype={dtypes.C_NAMES[of.name]}, device=cpu, layout=Strided, requires_grad=false "
            "(default), pinned_memory=false (default), memory_format=(nullopt))")


def _array_from(args: tuple[Any, ...], to: np.dtype[Any] | None) -> Array:
    """The array for the old constructor: of the given sizes, of a sequence, or the memory of a tensor.

    Raises TypeError for any other argument.
    """
    target = default_floating() if to is None else to
    if not args:
        return np.empty(0, target)
    if all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in args):
        return np.empty(args, target)
    if len(args) > 1:
        raise TypeError(f"new(): expected sizes as integers, but got ({', '.join(type(a).__name__ for a in args)})")
    value = args[0]
    if isinstance(value, TensorBase):
        if to is not None and value._array.dtype != to:
            raise noted(
                TypeError(f"expected {_shown(to)} (got {_shown(value._array.dtype)})"),
                instead="convert it with .to(dtype)")
        return value._array
    if type(value).__name__ == "Size":
        return np.empty(value, target)
    if isinstance(value, str):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if not hasattr(value, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
    with np.errstate(all="ignore"):
        return np.asarray(new_array(value, None)).astype(target)


def construct(cls: type[Any], args: tuple[Any, ...], data: Any = _MISSING, to: np.dtype[Any] | None = None) -> Any:
    """A tensor of the class `cls`, by the old constructor."""
    args = args if data is _MISSING else (data,)
    array = _array_from(args, to)
    if len(args) == 1 and isinstance(args[0], TensorBase):
        return as_subclass(args[0], cls)                 # the tensor itself, with its history
    return leaf_of(cls, array, inference=local.thread.inference)


@public(method=True)
def new(self: TensorBase, *args: Any, device: DeviceLike | None = None) -> Any:
    """A tensor of the same dtype, by the old constructor. `new_tensor` and `new_empty` are clearer."""
    if device is not None:
        checked(device)
    return construct(DISPATCH.tensor, args, to=self._array.dtype)


class tensortype:
    """An old type of tensors of one dtype. A call makes such a tensor, and `isinstance` checks the dtype.

    >>> LongTensor([1, 2])
    tensor([1, 2])
    """

    def __init__(self, of: dtype) -> None:
        self.dtype = self.of_type = of                   # `t.type(LongTensor)` converts to `of_type`
        self.__name__ = f"{of.legacy}Tensor"

    def __call__(self, *args: Any) -> Any:
        return construct(DISPATCH.tensor, args, to=self.dtype.dtype)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, TensorBase) and value._array.dtype == self.dtype.dtype

    def __or__(self, other: Any) -> Any:
        """A union for annotations, as of classes."""
        return _UNION[self, other]

    def __ror__(self, other: Any) -> Any:
        return _UNION[other, self]

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"


HalfTensor, BFloat16Tensor = map(tensortype, (dtypes.float16, dtypes.bfloat16))
FloatTensor, DoubleTensor = map(tensortype, (dtypes.float32, dtypes.float64))
CharTensor, ShortTensor, IntTensor = map(tensortype, (dtypes.int8, dtypes.int16, dtypes.int32))
LongTensor, ByteTensor, BoolTensor = map(tensortype, (dtypes.int64, dtypes.uint8, dtypes.bool_))
