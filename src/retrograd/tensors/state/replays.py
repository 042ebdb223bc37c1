"""How the view of a tensor is taken again, of the present array of its base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...foundations.dtypes import Array
from ...kernels.layout import offset_of, steps
from ...ops.shape import as_strided, transfer


class Chain:
    """A view of a view, as one function of the base."""

    __slots__ = ("first", "then")

    def __init__(self, first: Callable[[Any], Any], then: Callable[[Any], Any]) -> None:
        self.first, self.then = first, then

    def __call__(self, base: Any) -> Any:
        return self.then(self.first(base))


class ByStrides:
    """Takes a view of a base whose geometry has changed since: by the place of the view in memory."""

    __slots__ = ("geometry", "layout")

    def __init__(self, view: Array, base: Array) -> None:
        self.geometry = view.shape, steps(view), offset_of(view) - offset_of(base)
        self.layout = steps(base)

    def __call__(self, base: Array) -> Any:
        return as_strided(base, *self.geometry, self.layout)

    def undone(self, g: Any, shape: tuple[int, ...]) -> Any:
        """The gradient for a base of `shape`. Elements of the view outside of the base have none."""
        whole = (shape, self.layout, 0)
        return transfer(g, self.geometry, whole, whole)
