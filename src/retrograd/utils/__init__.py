"""torch.utils: tools around a computation."""

from typing import TYPE_CHECKING

from ..names import missing
from . import checkpoint, dlpack, hooks

__all__ = ["checkpoint", "dlpack", "hooks"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
