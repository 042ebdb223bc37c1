"""torch.Size: a tuple of dimension sizes that prints as PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """The shape of a tensor. It is made of ints, and of what counts as an int. Raises TypeError for other elements.

    >>> Size([2, 3])
    torch.Size([2, 3])
    >>> Size([2, 3]).numel()
    6
    """

    __module__ = "retrograd"                                 # the module under which programs know the class
    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        found = []
        for i, n in enumerate(sizes):
            try:
                found.append(int(index(n)))
            except TypeError:
                kind = type(n)
                named = f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{named}')") from None
        return super().__new__(cls, found)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Size: ...
    def __getitem__(self, at: Any) -> Any:
        value = super().__getitem__(at)
        return new_size(Size, value) if isinstance(at, slice) else value

    def __add__(self, other: Any) -> Size:
        return Size(super().__add__(tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return new_size(Size, super().__mul__(times))

    __rmul__ = __mul__


# `new_size(Size, shape)` makes the Size of the shape of an array, whose elements need no check.
new_size = tuple.__new__
