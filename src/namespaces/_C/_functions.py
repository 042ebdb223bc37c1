"""torch._C._functions: of the nodes that PyTorch keeps here, the one that programs ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..foundations.names import missing
from ..graph.node import AccumulateGrad

__all__ = ["AccumulateGrad"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
