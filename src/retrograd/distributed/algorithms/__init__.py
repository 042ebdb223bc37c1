"""torch.distributed.algorithms: names that programs import. One process needs no algorithms for several."""

from typing import TYPE_CHECKING

from ...names import missing
from .join import Join

__all__ = ["Join"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
