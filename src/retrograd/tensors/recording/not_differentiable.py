"""The refusal of operands that require grad, of functions without a derivative with respect to them."""

from __future__ import annotations

from ...foundations.errors import noted
from ...foundations.modes import local
from ..state.base import TensorBase, requires


def refuse_gradient(name: str, argument: str, value: TensorBase) -> None:
    """Raises RuntimeError if `value` requires grad: the function has no derivative with respect to it."""
    if local.thread.grad and requires(value):
        raise noted(
            RuntimeError(f"The function '{name}' is not differentiable with respect to argument '{argument}'. This "
                         "input cannot have requires_grad True."),
            instead="use .detach()")
