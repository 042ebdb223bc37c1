"""torch.utils: what programs use around a computation."""

from . import hooks

__all__ = ["hooks"]
