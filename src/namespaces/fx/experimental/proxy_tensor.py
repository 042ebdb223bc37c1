"""torch.fx.experimental.proxy_tensor: whether operations are traced. They are not."""

from typing import TYPE_CHECKING

from ...foundations.names import missing

__all__ = ["get_proxy_mode"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def get_proxy_mode() -> None:
    """The mode that traces operations: None, because there is no such mode."""
