"""Calls that send something to other processes, receive it or wait for it.

The trace of a call ends where the call communicates (`Tape.communicate`), before anything is sent. Two things must be
known before. A call that may communicate cannot be run a second time, as a trace for many sizes may have to be; and an
operation that has not ended when the call is over still has the tensors that it was given, so no other tensors may
stand for the arguments meanwhile. The compiler also runs the backward pass of the results, to trace it. The program
does not run it then, so nothing may be sent.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any

from ...foundations.launching import Everyone
from ...foundations.names import PACKAGE
from ..program.origins import is_type
from .items import Item, State
from .reading import ANY_ATTRIBUTE

_MODULES = (f"{PACKAGE}.distributed", f"{PACKAGE}.nn.parallel.distributed")


class Needless(RuntimeError):
    """A pass that only the compiler runs cannot be traced, so it ends before it sends anything."""


def may_communicate(state: State) -> bool:
    """Whether a call can reach a function, a module or an object that communicates.

    Hooks of parameters run in backward passes only. Code that may look at any attribute may find a function by a name
    that nobody sees.
    """
    hidden = Everyone.group is not None and not ANY_ATTRIBUTE.isdisjoint(state.mentioned)
    if hidden or any(["distributed" in name for name in state.mentioned]):
        return True
    runs_backward = "backward" in state.mentioned
    return any([_communicates(item.value) and (runs_backward or not _is_hook(item)) for item in state.items])


def _communicates(value: Any) -> bool:
    """Whether a value, or its type, stands in a module whose functions communicate. No code of the value runs."""
    kind = type(value)
    if issubclass(kind, ModuleType):
        name = value.__name__
    else:
        name = (value if kind is FunctionType or is_type(value) else kind).__module__
    norms = sys.modules.get(f"{PACKAGE}.nn.modules.batchnorm")              # no program has a layer before this import
    return (norms is not None and issubclass(kind, norms.SyncBatchNorm)) or (
        isinstance(name, str) and name.startswith(_MODULES))


def _is_hook(item: Item) -> bool:
    return item.parent is not None and item.parent.step.kind == "meta"
