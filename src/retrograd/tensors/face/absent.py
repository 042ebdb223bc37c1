"""The attributes that PyTorch's tensors have and ours lack. The error of each says what to use instead.

A `__getattr__` of the class could raise this error too, but would make every attribute of every tensor three times as
slow. A descriptor costs nothing until it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ...foundations.names import instead

if TYPE_CHECKING:
    from ..state.base import TensorBase


class Absent:
    """A missing attribute: reading it raises AttributeError, so `hasattr` is false. A value can be assigned to it."""

    __slots__ = ("name",)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, tensor: TensorBase | None, kind: type) -> NoReturn:
        owner = f"type object {kind.__name__!r}" if tensor is None else f"{kind.__name__!r} object"
        # `obj` is given and `name` is not, so that Python does not append its own suggestion.
        raise AttributeError(f"{owner} has no attribute {self.name!r}{instead('torch.Tensor', self.name)}",
                             obj=kind if tensor is None else tensor)


_NAMES = [
    "index", "slice_inverse", "to_mkldnn",
]


class AbsentAttributes:
    """The attributes that Tensor lacks. A method of that name in the class Tensor comes first."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _ABSENT]

    vars().update({name: Absent() for name in _NAMES})


_ABSENT = {name for name, value in vars(AbsentAttributes).items() if isinstance(value, Absent)}
