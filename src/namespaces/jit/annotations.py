"""torch.jit.annotations: names for annotations. Scripts are not compiled here, so an annotation is read by people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from ..foundations.names import missing

__all__ = ["BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Optional", "Tuple", "Union"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
Dict, List, Tuple = dict, list, tuple


class _Broadcasting:
    """`BroadcastingList2[int]`: a list of ints, or one int that stands for all of its elements."""

    def __getitem__(self, types: Any) -> None:
        """Nothing: an annotation of a script."""


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _Broadcasting()
