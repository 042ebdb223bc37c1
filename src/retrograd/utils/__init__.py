"""torch.utils: tools around a computation."""

from . import checkpoint, dlpack, hooks

__all__ = ["checkpoint", "dlpack", "hooks"]
