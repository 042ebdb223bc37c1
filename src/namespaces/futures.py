"""torch.futures: values that are computed later, and functions that run when such a value is there."""

from typing import TYPE_CHECKING

from .foundations.futures import Future, collect_all, wait_all
from .foundations.names import missing

__all__ = ["Future", "collect_all", "wait_all"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
