"""torch.distributed.autograd: gradients across processes. There is one process, so there are none."""

from typing import TYPE_CHECKING

from ..foundations.names import missing

__all__ = ["is_available"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def is_available() -> bool:
    """Whether gradients flow between processes: no."""
    return False
