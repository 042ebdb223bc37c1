"""Adam: steps scaled by running means of the gradient and of its square.

This module must not know other optimizers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.dtypes import NARROW
from ..foundations.names import missing
from ..tensors.state.base import TensorBase, moves
from .elementwise import ElementsOptimizer, Rates
from .formula import is_learned, without_dimensions
from .saved_numbers import as_float, later
from .stepping import check_betas, check_learning_rate, check_modes, check_number

__all__ = ["Adam"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Adam(ElementsOptimizer):
    """`p -= lr * m / (sqrt(v) + eps)`. m and v are running means of g and g * g, corrected for their start at 0.

    `betas` are the weights of the past in both means. `weight_decay` adds that multiple of p to g; with
    `decoupled_weight_decay` it shrinks p itself, as in AdamW. `amsgrad` uses the largest v so far. `maximize` changes
    the sign of g. `foreach` and `fused` make no difference.

    >>> import retrograd as torch
    >>> w = torch.nn.Parameter(torch.tensor([1., 2.]))
    >>> optimizer = torch.optim.Adam([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    Parameter containing:
    tensor([0.5000, 1.5000], requires_grad=True)

    With `differentiable`, the graph records the step. Raises ValueError for an option out of range, the errors of
    `Optimizer`, and RuntimeError for `fused` with `foreach` or `differentiable`. A step with `capturable` raises
    AssertionError, since there are no CUDA graphs.
    """

    writes_lines = True
    _zeros = ("exp_avg", "exp_avg_sq")
    _learned = ("lr", "betas", "weight_decay")
    _sparse_words = "Adam does not support sparse gradients, please consider SparseAdam instead"

    _later = later(capturable=False, amsgrad=False, decoupled_weight_decay=False, fused=None)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
                 decoupled_weight_decay: bool = False) -> None:
        if isinstance(lr, TensorBase) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_learning_rate(lr)
        check_number(eps, "epsilon value")
        check_betas(betas)
        check_number(weight_decay, "weight_decay value")
        _check_kinds(betas, foreach and not capturable)
        super().__init__(params, {
            "lr": lr, "betas": tuple(map(without_dimensions, betas)), "eps": eps,
            "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})
        check_modes(foreach, fused, differentiable)

    def _names(self, p: TensorBase, group: dict[str, Any]) -> tuple[str, ...]:
        return (*self._zeros, "max_exp_avg_sq") if group["amsgrad"] else self._zeros

    def _refuse_capturable(self, group: dict[str, Any]) -> None:
        if not group["fused"]:
            super()._refuse_capturable(group)

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        """What corrects both means for their start at 0."""
        (first, second), step = group["betas"], state["step"]
        if not group["differentiable"]:
            step = as_float(step)
        return (_missing(first, step), _root(_missing(second, step))), {}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        lr, (first, second), eps, (seen, root) = group["lr"], group["betas"], group["eps"], rates
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - (first.to(p.dtype) if isinstance(first, TensorBase) else first))
        if is_learned(second):
            square.lerp_(g.square(), 1 - second)
        else:
            square.mul_(second).addcmul_(g, g, value=as_float(1 - second))
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            square = largest.copy_((largest.clone() if group["differentiable"] else largest).maximum(square))
        if group["differentiable"]:
            # p + rate * mean / (sqrt(square) / root + eps), with the rate divided into both terms below.
            rate = -(lr / seen)
            p.addcdiv_(mean.clone(), square.sqrt().div(root * rate).add_(eps / rate))
        elif _rounds(p, g):
            p.addcdiv_(mean, square.sqrt().div(root).add_(eps), value=-lr / seen)
        else:
            # One factor makes both corrections, since
            # (mean / seen) / (sqrt(square) / root + eps) = mean / (sqrt(square) + eps * root) * root / seen.
            p.addcdiv_(mean, square.sqrt().add_(eps * root), value=-lr * root / seen)


def _missing(beta: Any, step: Any) -> Any:
    """How much of the weights of a mean the gradients have. A later step writes over the count."""
    return 1 - beta ** (step.clone() if is_learned(beta) else step)


def _root(x: Any) -> Any:
    return math.sqrt(x) if type(x) is float else x.sqrt()


def _rounds(p: Any, g: Any) -> bool:
    """Whether each operation rounds to a type of ml_dtypes or has a tangent, so that PyTorch's order matters."""
    return isinstance(p, TensorBase) and (p._array.dtype in NARROW or moves(p) or moves(g))


def _check_kinds(betas: tuple[Any, Any], together: Any) -> None:
    """Raises ValueError unless the betas are two floats, or two tensors of one element; `together` allows floats alone.
    """
    kinds = {TensorBase if isinstance(beta, TensorBase) else type(beta) for beta in betas}
    if kinds != {TensorBase} and not all(isinstance(beta, float) for beta in betas):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if isinstance(beta, TensorBase) and together:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if isinstance(beta, TensorBase) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")
