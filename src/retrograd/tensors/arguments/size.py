"""torch.Size: a tuple of dimension sizes that prints as PyTorch's."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, overload

from ...foundations.sealed import Sealed


class Size(tuple[int, ...], metaclass=Sealed):
    """The shape of a tensor.

    `sizes` are ints. Tensors and arrays of one integer count as ints, too. Anything else raises TypeError.

    >>> import retrograd as torch
    >>> torch.Size([2, 3])
    torch.Size([2, 3])
    >>> torch.Size([2, 3]).numel()
    6
    """

    __module__ = "retrograd"                                 # the module under which programs know the class
    __slots__ = ()

    def __new__(cls, *sizes: Iterable[Any], **named: Any) -> Size:
        if named:
            raise TypeError("tuple() takes no keyword arguments")
        given = tuple(*sizes)                                # raises for several
        return tuple.__new__(cls, given if all(type(size) is int for size in given) else _whole(given))

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
        return size_of(value) if isinstance(index, slice) else value

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(super().__add__(other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        if not hasattr(times, "__index__"):
            raise TypeError(f"can't multiply sequence by non-int of type '{type(times).__name__}'")
        return size_of(super().__mul__(times))

    __rmul__ = __mul__


# The Size of an array's shape, whose items are ints. The constructor would look at each of them.
size_of: Callable[[tuple[int, ...]], Size] = functools.partial(tuple.__new__, Size)


def _whole(sizes: tuple[Any, ...]) -> list[int]:
    """Sizes as ints. A tensor or an array of one integer becomes this integer."""
    found = []
    for place, size in enumerate(sizes):
        try:
            found.append(int(operator.index(size)))
        except TypeError:
            raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{_kind(size)}')") from None
    return found


def _kind(value: Any) -> str:
    """The name of a value's type. The names of types that are not written in Python include their package."""
    kind = type(value)
    package = "torch." if kind is Size else "numpy." if kind.__module__ == "numpy" else ""
    return package + kind.__name__
