"""torch.Size: a tuple of dimension sizes that prints as PyTorch's."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """The shape of a tensor.

    >>> Size([2, 3])
    torch.Size([2, 3])
    >>> Size([2, 3]).numel()
    6
    """

    __module__ = "retrograd"                                 # the module under which programs know the class
    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        value = super().__getitem__(index)
        return Size(value) if isinstance(index, slice) else value

    def __add__(self, other: Any) -> Size:
        return Size(super().__add__(tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(super().__mul__(times))

    __rmul__ = __mul__
