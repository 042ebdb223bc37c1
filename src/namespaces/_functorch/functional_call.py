"""torch._functorch.functional_call: modules as functions of their state."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from ..func.state import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
