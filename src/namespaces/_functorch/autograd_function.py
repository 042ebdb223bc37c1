"""torch._functorch.autograd_function: what the `vmap` of a `torch.autograd.Function` is told."""

from typing import TYPE_CHECKING, Any

from ..autograd.function import Function
from ..autograd.function_batches import VmapInfo
from ..foundations.names import missing

__all__ = ["VmapInfo", "has_overridden_vmap_rule"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def has_overridden_vmap_rule(autograd_function: Any) -> bool:
    """Whether a class of `torch.autograd.Function` has a `vmap` of its own."""
    return autograd_function.vmap is not Function.vmap
