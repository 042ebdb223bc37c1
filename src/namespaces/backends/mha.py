"""torch.backends.mha: whether attention may take a way of its own where no gradients are recorded."""

from __future__ import annotations

from ..nn.functional.switches import Allowed

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]


def get_fastpath_enabled() -> bool:
    """Whether `MultiheadAttention` and `TransformerEncoder` may take this way."""
    return Allowed.fastpath


def set_fastpath_enabled(value: bool) -> None:
    """Allow or forbid this way."""
    Allowed.fastpath = value
