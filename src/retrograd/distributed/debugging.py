"""How much programs ask to be checked, as PyTorch's environment says. Here all calls of all processes are compared."""

from __future__ import annotations

import os
from enum import Enum

from ..foundations.errors import noted

__all__ = ["DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]


class DebugLevel(Enum):
    """How much PyTorch checks. retrograd compares the calls of all processes at each level."""

    OFF = 0
    INFO = 1
    DETAIL = 2

    def __int__(self) -> int:
        return self.value

    def __str__(self) -> str:
        return f"DebugLevel.{self.name}"


class _Level:
    now = DebugLevel.OFF


def get_debug_level() -> DebugLevel:
    """The level that was set last. At first it is what the variable TORCH_DISTRIBUTED_DEBUG says."""
    return _Level.now


def set_debug_level(level: DebugLevel, /) -> None:
    """Set the level. Raises TypeError for another value."""
    if not isinstance(level, DebugLevel):
        raise noted(
            TypeError("set_debug_level(): incompatible function arguments. The following argument types are supported:"
                      "\n    1. (arg0: torch._C._distributed_c10d.DebugLevel) -> None\n\nInvoked with: " f"{level!r}"),
            instead="a level, such as torch.distributed.DebugLevel.INFO")
    _Level.now = level


def set_debug_level_from_env() -> None:
    """Set the level that the variable TORCH_DISTRIBUTED_DEBUG says. Raises ValueError for a name that is none."""
    said = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if said not in DebugLevel.__members__:
        raise ValueError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    _Level.now = DebugLevel[said]


set_debug_level_from_env()
