"""torch.nn.modules: where PyTorch keeps its modules; here, the hooks on all modules."""

from typing import TYPE_CHECKING

from ...names import missing
from . import module

__all__ = ["module"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
