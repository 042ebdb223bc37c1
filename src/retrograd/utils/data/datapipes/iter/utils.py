"""The pipe at the beginning: the items of any iterable."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from .....foundations.errors import warn
from .._length import no_length
from ..datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe[Any]):
    """The items of an iterable. With ``deepcopy`` each iterator begins with a copy of the iterable.

    >>> list(IterableWrapperIterDataPipe(range(3)))
    [0, 1, 2]
    """

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:                                # such as a generator
                warn("The input iterable can not be deepcopied, please be aware of in-place modification would affect "
                     "source data.")
        yield from source

    def __len__(self) -> int:
        try:
            return len(self.iterable)  # type: ignore[arg-type]
        except TypeError as error:
            raise no_length(self) from error
