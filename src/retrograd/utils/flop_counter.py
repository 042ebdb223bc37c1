"""torch.utils.flop_counter: a name that programs import. retrograd counts no operations."""

from typing import TYPE_CHECKING

from ..names import missing, refused_class

__all__ = ["FlopCounterMode"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)

FlopCounterMode = refused_class("torch.utils.flop_counter.FlopCounterMode")
