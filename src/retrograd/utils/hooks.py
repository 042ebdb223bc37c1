"""torch.utils.hooks: the handle that takes a hook away again."""

from ..graph.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
