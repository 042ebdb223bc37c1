"""torch.utils: what programs use around a computation."""

from . import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
