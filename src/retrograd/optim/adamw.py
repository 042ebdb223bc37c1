"""AdamW: Adam with a weight decay that does not change the gradient (arXiv:1711.05101)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .adam import Adam

__all__ = ["AdamW"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters, `p *= 1 - lr * weight_decay`, and does not change the gradient.
    """

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
