"""The pipe at the beginning: the items of a sequence or of a dict."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from .....foundations.errors import warn
from ..datapipe import MapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]


class SequenceWrapperMapDataPipe(MapDataPipe[Any]):
    """The items of a sequence or of a dict, which is copied, unless ``deepcopy`` is false.

    >>> SequenceWrapperMapDataPipe([3, 4])[1]
    4
    """

    sequence: Any

    def __init__(self, sequence: Sequence[Any] | Mapping[Any, Any], deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warn("The input sequence can not be deepcopied, please be aware of in-place modification would affect "
                     "source data")

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)
