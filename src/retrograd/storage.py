"""torch.storage: the memory of tensors."""

from .tensors.face.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
