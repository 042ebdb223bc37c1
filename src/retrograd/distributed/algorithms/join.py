"""torch.distributed.algorithms.join: classes for processes that end at different times. There is one process."""

from typing import TYPE_CHECKING

from ...names import missing, refused_class

__all__ = ["Join", "JoinHook", "Joinable"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)

Join, JoinHook, Joinable = (
    refused_class(f"torch.distributed.algorithms.join.{name}") for name in ("Join", "JoinHook", "Joinable"))
