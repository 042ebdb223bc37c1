"""torch.ao: of PyTorch's optimization of architectures, the names that programs import for quantization."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from . import quantization

__all__ = ["quantization"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
