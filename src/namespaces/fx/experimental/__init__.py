"""torch.fx.experimental: names for programs that ask whether PyTorch's compiler traces them. Nothing is traced."""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from . import proxy_tensor

__all__ = ["proxy_tensor"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
