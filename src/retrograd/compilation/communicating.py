"""Whether a call can reach what sends something to other processes, or waits for them.

The trace of a call ends where the call communicates (`Tape.communicate`). This is asked before: a call that may
communicate cannot be run a second time, as a trace for many sizes may have to be. And what the call sends may be in
the hands of others when the call is over, so no other tensors may stand for its arguments meanwhile.
"""

from __future__ import annotations

from typing import Any

from ..names import PACKAGE
from ..nn.modules.batchnorm import SyncBatchNorm
from .items import Item, State
from .reading import is_type

_MODULES = (f"{PACKAGE}.distributed", f"{PACKAGE}.nn.parallel.distributed")


def may_communicate(state: State) -> bool:
    """Whether a call can reach a function, a module or an object that communicates.

    Hooks of parameters run in backward passes only.
    """
    if any(["distributed" in name for name in state.mentioned]):
        return True
    runs_backward = "backward" in state.mentioned
    return any([_communicates(item.value) and (runs_backward or not _is_hook(item)) for item in state.items])


def _communicates(value: Any) -> bool:
    """Whether a value, or its type, stands in a module whose functions communicate."""
    kind = value if is_type(value) else type(value)
    names = (getattr(value, "__name__", None), getattr(value, "__module__", None), kind.__module__)
    return isinstance(value, SyncBatchNorm) or any([isinstance(name, str) and name.startswith(_MODULES)
                                                    for name in names])


def _is_hook(item: Item) -> bool:
    return item.parent is not None and item.parent.step.kind == "meta"
