"""torch.utils: what programs use around a computation."""

from . import checkpoint, dlpack, hooks

__all__ = ["checkpoint", "dlpack", "hooks"]
