"""torch.utils: tools around a computation."""

from typing import TYPE_CHECKING

from ..names import missing
from . import checkpoint, dlpack, hooks

if TYPE_CHECKING:
    from . import _pytree as _pytree, data as data           # imported when a program first names the module

__all__ = ["_pytree", "checkpoint", "data", "dlpack", "hooks"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=["_pytree", "data"])
