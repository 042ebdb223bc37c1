"""torch._higher_order_ops: operators that take functions. Here they are functions of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..control_flow import cond, while_loop
from ..foundations.names import missing
from .associative_scan import associative_scan

__all__ = ["associative_scan", "cond", "while_loop"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
