"""The old constructors of tensors: `Tensor(2, 3)`, `Tensor([1, 2])`, `LongTensor([1, 2])`.

PyTorch keeps them for old programs, and much learning material uses them. `torch.tensor` and `torch.empty` are clearer.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, Union

import numpy as np

from ...foundations import dtypes
from ...foundations.devices import DeviceLike, checked, device as Device
from ...foundations.dtypes import Array, default_floating, dtype
from ...foundations.errors import kind_of, noted
from ...foundations.modes import local
from ..arguments import options
from ..arguments.combinations import combination
from ..arguments.data import is_sequence, new_array
from ..arguments.schemas import Schema
from ..recording.public import public
from ..state.base import TensorBase
from ..state.dispatch import DISPATCH
from .subclassing import as_subclass, leaf_of

# The ways to call the constructor, as messages show them.
_WAYS = tuple([Schema("new", (), "Tensor", text) for text in (
    "(*, torch.device device = None)", "(torch.Storage storage)", "(Tensor other)",
    "(tuple of ints size, *, torch.device device = None)", "(object data, *, torch.device device = None)")])
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
    place = next((i for i, n in enumerate(args) if not _is_size(n)), None)
    if place is None:
        return np.empty(_sizes(args), target)
    if len(args) > 1:
        raise combination(_WAYS, args, {}, kind_of) if not place else TypeError(
            f"new(): argument 'size' failed to unpack the object at pos {place + 1} with error \"type must be tuple of "
            f'ints,but got {kind_of(args[place])}"')
    value = args[0]
    if isinstance(value, TensorBase):
        if to is not None and value._array.dtype != to:
            raise noted(
                TypeError(f"expected {_shown(to)} (got {_shown(value._array.dtype)})"),
                instead="convert it with .to(dtype)")
        return value._array
    if type(value).__name__ == "Size":
        return np.empty(value, target)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{kind_of(value)}'")
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "iu":
        return np.empty(_sizes([value.item()]), target)
    if not is_sequence(value):
        raise TypeError(f"new(): data must be a sequence (got {kind_of(value)})")
    return new_array(value, target)


def _is_size(value: Any) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(value, (bool, TensorBase, np.ndarray))


def _sizes(sizes: Iterable[int]) -> list[int]:
    """Sizes, checked. Raises TypeError or RuntimeError."""
    found = [index(size) for size in sizes]
    for place, size in enumerate(found, 1):
        if not -2**63 <= size < 2**63:
            raise TypeError(f"new(): argument 'size' failed to unpack the object at pos {place} with error "
                            '"Overflow when unpacking long long"')
    negative = next((size for size in found if size < 0), 0)
    if negative:
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {found}")
    return found


def _with_named(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments, with `data` among them. Raises errors for other names than `device`, and for other devices."""
    if (args and "data" in named) or not named.keys() <= {"data", "device"}:
        raise noted(combination(_WAYS, args, named, kind_of),
                    instead="use torch.tensor(data, dtype=..., requires_grad=...), or torch.empty(sizes, dtype=...)")
    device = named.get("device")
    if device is not None and (kind := Device(device).type) != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {kind} was passed")
    return (named["data"],) if "data" in named else args


def construct(cls: type[Any], args: tuple[Any, ...], to: np.dtype[Any] | None = None, **named: Any) -> Any:
    """A tensor of the class `cls`, by the old constructor."""
    args = _with_named(args, named) if named else args
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

    def __call__(self, *args: Any, **named: Any) -> Any:
        return construct(DISPATCH.tensor, args, self.dtype.dtype, **named)

    def __instancecheck__(self, value: object) -> bool:
        return (isinstance(value, TensorBase) and value._array.dtype == self.dtype.dtype
                and value.layout is options.strided and not value.is_meta)

    def __or__(self, other: Any) -> Any:
        """A union for annotations, as of classes."""
        return _UNION[self, other]

    def __ror__(self, other: Any) -> Any:
        return _UNION[other, self]

    def __reduce__(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"


HalfTensor, BFloat16Tensor = map(tensortype, (dtypes.float16, dtypes.bfloat16))
FloatTensor, DoubleTensor = map(tensortype, (dtypes.float32, dtypes.float64))
CharTensor, ShortTensor, IntTensor = map(tensortype, (dtypes.int8, dtypes.int16, dtypes.int32))
LongTensor, ByteTensor, BoolTensor = map(tensortype, (dtypes.int64, dtypes.uint8, dtypes.bool_))
# The old types by their names.
TYPES = {f"torch.{kind.__name__}": kind for kind in (
    HalfTensor, BFloat16Tensor, FloatTensor, DoubleTensor, CharTensor, ShortTensor, IntTensor, LongTensor, ByteTensor,
    BoolTensor)}
