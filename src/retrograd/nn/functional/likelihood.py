"""Losses that are negative log-likelihoods, as functions: of counts, of samples of a normal distribution, of labels."""

from __future__ import annotations

import math
from typing import Any

from ...autograd.grad_mode import no_grad
from ...ops.basic import check_values
from ...tensors.arguments.options import check_tensor
from .activation import logsigmoid
from .loss import reduced
from .reduction import checked_reduction

__all__ = ["gaussian_nll_loss", "multilabel_soft_margin_loss", "poisson_nll_loss"]

_NAMES = ("none", "mean", "sum")


def poisson_nll_loss(input: Any, target: Any, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
                     reduction: str = "mean") -> Any:
    """The negative log-likelihood of counts `target`, of Poisson distributions with rates exp(`input`); reduced.

    Without `log_input` the rates are `input` itself, and `eps` keeps their logarithm from 0. With `full` the term of
    the target alone is added, by Stirling's formula.
    """
    return poisson(input, target, log_input, full, eps, checked_reduction(reduction, size_average, reduce))


def poisson(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str) -> Any:
    """`poisson_nll_loss`, given the reduction."""
    for position, (argument, value) in enumerate((("input", input), ("target", target)), 1):
        check_tensor("poisson_nll_loss", value, argument, position)
    expected = target * (input if log_input else (input + eps).log())
    loss = (input.exp() if log_input else input) - expected
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


def gaussian_nll_loss(input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Any:
    """The negative log-likelihood of samples `target`, of normal distributions with means `input`; reduced.

    `var` is the variance: a number, or a tensor of the shape of `input`, or of that with the last or another dimension
    1, or without the last. It counts at least as `eps`, without an influence on the gradient. With `full` the constant
    term is added. Raises ValueError for negative variances, and for another shape.
    """
    var = _variances(input, var)
    if reduction not in _NAMES:
        raise ValueError(f"{reduction} is not valid: choose 'mean', 'sum' or 'none'")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variances(input: Any, var: Any) -> Any:
    """The variances as a tensor that broadcasts with the input."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return var * input.new_ones(input.shape)
    check_values(var._array, _check_not_negative)
    if var.size() == input.size():
        return var
    shape, given = tuple(input.shape), tuple(var.shape)
    if shape[:-1] == given:
        return var.unsqueeze(-1)
    if len(shape) != len(given) or sum(have for want, have in zip(shape, given) if want != have) != 1:
        raise ValueError(f"var is of incorrect size: it is {list(given)}, and the input {list(shape)}")
    return var


def _check_not_negative(var: Any) -> None:
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")


def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, size_average: bool | None = None,
                                reduce: bool | None = None, reduction: str = "mean") -> Any:
    """The mean over the last dimension of the cross-entropies of sigmoid(`input`) with labels `target`; reduced."""
    if size_average is not None or reduce is not None:
        reduction = checked_reduction(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    dim = input.dim() - 1
    loss = loss.sum(dim=dim) / input.size(dim)
    if reduction not in _NAMES:
        raise ValueError(f"{reduction} is not valid: choose 'mean', 'sum' or 'none'")
    return reduced(loss, reduction)
