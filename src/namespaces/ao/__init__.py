"""torch.ao: of PyTorch's optimisation of architectures, the names that programs import for quantisation."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from . import quantization

__all__ = ["quantization"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
