"""torch.utils.hooks: the handle that removes a hook."""

from ..graph.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
