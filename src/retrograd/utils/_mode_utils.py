"""torch.utils._mode_utils: what libraries use to step past modes below autograd."""

from typing import TYPE_CHECKING, Any

from ..dispatch.modes import no_dispatch
from ..foundations.names import missing

__all__ = ["all_same_mode", "no_dispatch"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def all_same_mode(modes: Any) -> bool:
    """Whether all modes are one mode."""
    return all(mode is modes[0] for mode in modes)
