"""Losses between predictions and targets of the same shape. The losses of classes are in `classes`.

Each loss is computed for every element and then reduced: "mean" and "sum" give a tensor without dimensions, "none"
gives the losses themselves. `size_average` and `reduce` are deprecated ways to say the same, and give a warning.
"""

from __future__ import annotations

import math
from typing import Any

from ...autograd.grad_mode import no_grad
from ...foundations.dtypes import Array, letter, unimplemented
from ...foundations.errors import noted, warn
from ...foundations.modes import local
from ...kernels.shape import common_shape
from ...ops.basic import check_values
from ...ops.elementwise import arithmetic
from ...ops.networks import losses as ops
from ...tensors.arguments.checking import refusal
from ...tensors.arguments.options import check_optional, check_tensor, check_tensors, number, refuse_complex_gradient
from ...tensors.functions.reductions import any as any_of
from ...tensors.functions.shapes.rearranging import broadcast_shapes
from ...tensors.recording.calls import recorded
from ...tensors.recording.not_differentiable import refuse_gradient
from ...tensors.recording.public import public
from ...tensors.recording.public_facts import facts_of
from ...tensors.state.base import TensorBase, moves, requires
from ...tensors.tensor import Tensor
from .activation import logsigmoid
from .reduction import REDUCTIONS, checked_reduction, of_both, reduced, squeezed

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss", "kl_div",
    "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss",
]

_mse_loss, _smooth_l1, _huber = recorded(ops.mse_loss), recorded(ops.smooth_l1_loss), recorded(ops.huber_loss)
_add_number, _mul_number = recorded(arithmetic.add_number), recorded(arithmetic.mul_number)
_bce, _bce_with_logits = recorded(ops.binary_cross_entropy), recorded(ops.binary_cross_entropy_with_logits)


def _same_shapes(name: str, input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Input and target in one shape. Warns if one of them has to be broadcast."""
    x, y = of_both(name, input, target)
    if y.shape == x.shape:
        return input, target
    warn(noted(
        UserWarning(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
                    "will likely lead to incorrect results due to broadcasting. Please ensure they have the same "
                    "size."), "shapes#different-sizes-in-a-loss", instead=squeezed(input, target)))
    common = common_shape(x.shape, y.shape)
    return (input if x.shape == common else input.expand(*common),
            target if y.shape == common else target.expand(*common))


def _reduction_of(reduction: str, size_average: Any, reduce: Any, weight: Tensor | None) -> str:
    """The reduction's name. Raises ValueError for an unknown name, with other words if there are weights."""
    if weight is not None and size_average is None and reduce is None and reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    return checked_reduction(reduction, size_average, reduce)


def _check_weight(name: str, weight: Tensor, input: Tensor) -> None:
    """Raises ValueError unless there is one weight for each element of the input as given."""
    check_tensor(name, weight, "weight", 3)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def _weighted(loss: Tensor, weight: Tensor, reduction: str) -> Any:
    """The losses of all elements, reduced with weights."""
    if reduction == "mean":
        return (loss * weight).sum() / weight.sum()
    return reduced(loss * weight, reduction)


@public(event="aten::mse_loss")
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
             reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """The squared differences of `input` and `target`, reduced.

    Both have the same shape; other shapes are broadcast, with a warning. `weight`, of that shape, has a factor for each
    element, and a mean is then divided by the sum of the factors.

    >>> import retrograd as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)

    Raises ValueError for an unknown reduction and if the shape of `weight` differs.
    """
    reduction = _reduction_of(reduction, size_average, reduce, weight)
    given, (input, target) = input, _same_shapes("mse_loss", input, target)
    if weight is not None:
        _check_weight("mse_loss", weight, given)
        return _weighted((input - target) ** 2, weight, reduction)
    return _mse_loss(input, target, reduction)


@public(event="aten::l1_loss")
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
            reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """The absolute differences of `input` and `target`, reduced. The arguments are those of `mse_loss`.

    >>> import retrograd as torch
    >>> torch.nn.functional.l1_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = _reduction_of(reduction, size_average, reduce, weight)
    given, (input, target) = input, _same_shapes("l1_loss", input, target)
    if weight is not None:
        _check_weight("l1_loss", weight, given)
        return _weighted((input - target).abs(), weight, reduction)
    return reduced((input - target).abs(), reduction)


@public(event="aten::smooth_l1_loss")
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """The absolute differences less beta / 2, and diff² / (2 * beta) if they are less than `beta`; reduced.

    Input and target have the same shape; other shapes are broadcast, with a warning. Raises RuntimeError if `beta` is
    negative.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    input, target = _same_shapes("smooth_l1_loss", input, target)
    beta = number("smooth_l1_loss", "beta", 4, beta, "float")
    if not beta >= 0:
        raise noted(RuntimeError("smooth_l1_loss does not support negative values for beta."), given=f"{beta}")
    if beta == 0:
        return reduced((input - target).abs(), reduction)
    return _smooth_l1(input, target, reduction, beta)


@public(event="aten::huber_loss")
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:
    """Half the squared differences, continued by a line if they are greater than `delta`; reduced.

    Input and target have the same shape; other shapes are broadcast, with a warning. `weight`, of that shape, has a
    factor for each element. Raises RuntimeError if `delta` is not positive, ValueError if the shape of `weight`
    differs.
    """
    reduction = _reduction_of(reduction, None, None, weight)
    given, (input, target) = input, _same_shapes("huber_loss", input, target)
    delta = number("huber_loss", "delta", 4, delta, "float")
    if not delta > 0:
        raise noted(RuntimeError("huber_loss does not support non-positive values for delta."), given=f"{delta}")
    converted = target.to(input.dtype)
    if weight is not None:                      # a mean of these is not divided by the weights
        _check_weight("huber_loss", weight, given)
        return reduced(_huber(input, converted, "none", delta) * weight, reduction)
    return _huber(input, converted, reduction, delta)


@public(event="aten::binary_cross_entropy")
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """The cross-entropy of probabilities `input` with probabilities `target`, for two classes; reduced.

    Input and target have the same shape and the same floating dtype. `weight` broadcasts to that shape.

    >>> import retrograd as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.]))
    tensor(0.6931)

    Raises ValueError if the shapes differ, RuntimeError for an input outside of [0, 1] and for other dtypes.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    of_both("binary_cross_entropy", input, target)
    check_optional("binary_cross_entropy", 3, weight=weight)
    if target.shape != input.shape:
        raise noted(
            ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
                       "deprecated. Please ensure they have the same size."),
            "shapes#different-sizes-in-a-loss", instead=squeezed(input, target))
    if target.dtype is not input.dtype:
        raise noted(
            RuntimeError(f"Found dtype {target.dtype.legacy} but expected {input.dtype.legacy}"),
            instead="convert the target with .to(input.dtype)")
    if weight is not None:
        broadcast_shapes(target.shape, weight.shape)
        refuse_gradient("binary_cross_entropy", "weight", weight)
    return _bce(input, target, weight, reduction)


@public(event="aten::binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None,
                                     reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:
    """The cross-entropy of sigmoid(`input`) with probabilities `target`, for two classes; reduced.

    It is computed in one step, without overflow. Input and target have the same shape, to which `weight` and
    `pos_weight` broadcast. `weight` has a factor for each element, `pos_weight` a factor for the positive class alone.

    >>> import retrograd as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0.]), torch.tensor([1.]))
    tensor(0.6931)

    Raises ValueError if the shapes differ, RuntimeError for dtypes that do not fit.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    of_both("binary_cross_entropy_with_logits", input, target)
    if target.shape != input.shape:
        raise noted(ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})"),
                    "shapes#different-sizes-in-a-loss", instead=squeezed(input, target))
    return cross_entropy_of_logits(input, target, weight, pos_weight, reduction)


def cross_entropy_of_logits(input: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None,
                            reduction: str) -> Tensor:
    """`binary_cross_entropy_with_logits`, for shapes that broadcast."""
    if weight is not None or pos_weight is not None:
        check_optional("binary_cross_entropy_with_logits", 3, weight=weight, pos_weight=pos_weight)
    dtype = input._array.dtype
    if dtype.kind in "bui":
        raise unimplemented("log_sigmoid_cpu", dtype, "convert with .float() first")
    for name, factor in (("weight", weight), ("pos_weight", pos_weight)):
        if factor is not None:
            if not local.thread.functions:                 # transforms differentiate by the weights, too
                refuse_gradient("binary_cross_entropy_with_logits", name, factor)
            common_shape(input._array.shape, factor._array.shape)
    if dtype.kind != "c":
        refuse_complex_gradient("binary_cross_entropy_with_logits", target, input)
    if target._array.dtype.kind == "b" and dtype.kind != "b":
        raise noted(
            RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                         "`logical_xor()` operator instead."), instead="convert the target with .to(input.dtype)")
    if target._array.dtype.kind in "iu" and letter(dtype) == "f":
        raise noted(
            RuntimeError(f"result type {input.dtype.legacy} can't be cast to the desired output "
                         f"type {target.dtype.legacy}"), instead="convert the target with .to(input.dtype)")
    given = (weight, pos_weight)
    weight, pos_weight = [w if w is None or w._array.dtype is dtype else w.to(input.dtype) for w in given]
    if local.thread.functions and any([w is not None and (requires(w) or moves(w)) for w in given]):
        return _by_weights(input, target, weight, pos_weight, reduction)
    return _bce_with_logits(input, target, weight, pos_weight, reduction)


def _by_weights(input: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None,
                reduction: str) -> Tensor:
    """`cross_entropy_of_logits`, composed of operators that have derivatives by the weights."""
    gain = logsigmoid(input)
    if pos_weight is not None:
        gain = gain * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * input - gain
    return reduced(loss if weight is None else loss * weight, reduction)


@public(event="aten::kl_div")
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities `input` from probabilities `target`, reduced.

    The reduction "batchmean" divides the sum by the size of the first dimension, as the divergence is defined. "mean"
    divides by the number of elements, with a warning. With `log_target` the target holds log-probabilities too. Raises
    RuntimeError for ints and complex numbers.
    """
    whole = "mean"
    if reduction == "batchmean":
        whole, reduction = "batch", "sum"
    reduction = checked_reduction(reduction, size_average, reduce)
    if reduction == "mean":
        warn("reduction: 'mean' divides the total loss by both the batch size and the support size."
             "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
             "'mean' will be changed to behave the same as 'batchmean' in the next major release.")
    loss = reduced(divergence(input, target, log_target), reduction)
    return loss / input.size(0) if whole == "batch" and input.ndim else loss


def divergence(input: Tensor, target: Tensor, log_target: bool) -> Tensor:
    """What each element adds to the Kullback-Leibler divergence."""
    x, y = of_both("kl_div", input, target)
    for kinds, what in (("c", "Complex"), ("biu", "Integral")):
        if x.dtype.kind in kinds or y.dtype.kind in kinds:
            raise RuntimeError(f"kl_div: {what} inputs not supported.")
    if log_target:
        return target.exp() * (target - input)
    return target.xlogy(target) - target * input


@public()
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """The negative log-likelihood of counts `target` under Poisson distributions, reduced.

    The rates are exp(`input`), or `input` itself without `log_input`; `eps` then keeps their logarithm away from that
    of 0. `full` adds the term of the target alone, by Stirling's formula.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    check_tensors("poisson_nll_loss", input=input, target=target)
    expected = target * (input if log_input else _add_number(input, float(eps)).log())
    loss = (input.exp() if log_input else input) - expected
    if full:
        stirling = target * target.log() - target + _mul_number(_mul_number(target, 2 * math.pi).log(), 0.5)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


@public()
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Tensor:
    """The negative log-likelihood of samples `target` under normal distributions with means `input`, reduced.

    `var` holds the variances: one float, or a tensor in the shape of the input, in that shape with one size 1, or in
    that shape without the last dimension. A variance less than `eps` counts as `eps`, and its gradient does not change.
    `full` adds the constant term. Raises ValueError for negative variances, and for another shape of `var`.
    """
    variances = _variances(input, var)
    if reduction not in REDUCTIONS:
        raise noted(ValueError(f"{reduction} is not valid"), instead="choose 'mean', 'sum' or 'none'")
    variances = variances.clone()
    with no_grad():
        variances.clamp_(min=eps)
    loss = 0.5 * (variances.log() + (input - target) ** 2 / variances)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _check_not_negative(var: Array) -> None:
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")


def _variances(input: Tensor, var: Any) -> Any:
    """The variances as a tensor that broadcasts with the input."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return var * input.new_ones(input.shape)
    negative = var < 0
    if not isinstance(negative, TensorBase):
        said = refusal(facts_of(any_of).schemas, (negative,), {})
        raise said or TypeError("gaussian_nll_loss(): var must be Tensor or float")
    check_values(var._array, _check_not_negative)
    if var.size() == input.size():
        return var
    shape, given = tuple(input.shape), tuple(var.shape)
    if shape[:-1] == given:
        return var.unsqueeze(-1)
    if len(shape) != len(given) or sum(have for want, have in zip(shape, given) if want != have) != 1:
        raise noted(ValueError("var is of incorrect size"), given=f"{list(given)}, and the input is {list(shape)}")
    return var
