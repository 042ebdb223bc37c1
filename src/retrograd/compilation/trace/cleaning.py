"""NumPy arrays in place of traced ones: in the lists, dicts, tensors and nodes that a traced run leaves behind."""

from __future__ import annotations

import gc
from operator import attrgetter
from typing import Any

from ...graph.node import Node
from ...graph.packed import Packed, Parcel
from ...kernels.kinds import replaced
from ...tensors.state.base import TensorBase

_numbers = attrgetter("like")


def clean_holders(left: list[Any], traced: type[Any]) -> None:
    """Replace these arrays of the class `traced` in all that holds them, also in tuples in what holds those."""
    holders = gc.get_referrers(*left)
    for holder in holders:
        if isinstance(holder, tuple):
            for node in gc.get_referrers(holder):
                if node is not holders:
                    _clean(node, type(holder), traced)
        elif holder is not left:
            _clean(holder, traced, traced)


def _clean(holder: Any, kind: type[Any], traced: type[Any]) -> None:
    """Replace arrays of the class `traced` in a list, a dict or an object, where a value of the class `kind` stands."""
    if isinstance(holder, (list, dict)):
        for key, part in [*(enumerate(holder) if isinstance(holder, list) else holder.items())]:
            if type(part) is kind:
                holder[key] = _cleaned(part, traced)
    elif isinstance(holder, (TensorBase, Node, Parcel)):
        for name in [name for cls in type(holder).__mro__ for name in getattr(cls, "__slots__", ())]:
            if type(getattr(holder, name, None)) is kind:
                setattr(holder, name, _cleaned(getattr(holder, name), traced))


def _cleaned(part: Any, traced: type[Any]) -> Any:
    if type(part) is Packed:
        return Packed([_cleaned(each, traced) for each in part])
    return replaced(part, traced, _numbers)
