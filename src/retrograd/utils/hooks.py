"""torch.utils.hooks: the handle that removes a hook."""

from typing import TYPE_CHECKING

from ..graph.hooks import RemovableHandle
from ..names import missing

__all__ = ["RemovableHandle"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
