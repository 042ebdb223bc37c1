"""torch.storage: the memory of tensors."""

from typing import TYPE_CHECKING

from .foundations.names import missing
from .tensors.face.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
