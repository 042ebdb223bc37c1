"""torch.backends.mha: the switch of a faster attention without gradients. It may be set, and changes nothing."""

from __future__ import annotations

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """The value of the switch."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch."""
    global _enabled
    _enabled = value
