"""torch.nn: modules, layers, losses, and what goes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..names import missing
from . import functional, init, modules, parameter, utils
from .modules import *
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "modules", "parameter", "utils"]
__all__ += modules.__all__

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
