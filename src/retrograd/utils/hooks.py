"""torch.utils.hooks: the handle that removes a hook."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from ..graph.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
