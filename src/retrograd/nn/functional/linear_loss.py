"""`linear_cross_entropy`: a linear map and the cross-entropy of what it gives, in one call."""

from __future__ import annotations

import math
from typing import Any

from ...tensors.arguments.options import check_tensor
from .affine import linear
from .classes import cross_entropy

__all__ = ["linear_cross_entropy"]


def linear_cross_entropy(input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
                         reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
                         options: Any = None) -> Any:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target, …)`.

    `input` is (in_features) or (N, in_features), `linear_weight` (C, in_features), or (C, d1, …, in_features) for
    several choices among C classes each. `target` and the other arguments are those of `cross_entropy`; its
    `ignore_index` is for classes only. `options` say how PyTorch may save memory, and change no number. Raises
    RuntimeError where shapes do not fit.

    >>> import retrograd as torch
    >>> x, w = torch.ones(2, 3), torch.zeros(4, 3)
    >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([0, 3]))
    tensor(1.3863)
    """
    check_tensor("linear_cross_entropy", input)
    check_tensor("linear_cross_entropy", linear_weight, "linear_weight", 2)
    check_tensor("linear_cross_entropy", target, "target", 3)
    classes, *several = _checked(input, linear_weight, linear_bias)
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities. Leave it out.")
    if several:
        flat = math.prod((classes, *several))
        linear_weight = linear_weight.reshape(flat, -1)
        linear_bias = None if linear_bias is None else linear_bias.reshape(flat)
    logits = linear(input, linear_weight, linear_bias).view(*input.shape[:-1], classes, *several)
    return cross_entropy(logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
                         reduction=reduction, label_smoothing=label_smoothing)


def _checked(input: Any, linear_weight: Any, linear_bias: Any) -> tuple[int, ...]:
    """The shape of the classes: how many there are, and of how many choices."""
    given, shape = tuple(input.shape), tuple(linear_weight.shape)
    if len(given) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(given)}. Its shape is {given}.")
    if len(shape) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(shape)}. Its shape is "
                           f"{shape}.")
    if given[-1] != shape[-1]:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), got "
                           f"{given[-1]} and {shape[-1]}, respectively. It is (classes, in_features).")
    if len(shape) > 2 and len(given) == 1:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {shape} requires batched input, (N, "
                           f"{shape[-1]}), got unbatched input with shape {given}. Give it a first dimension.")
    if linear_bias is not None and tuple(linear_bias.shape) != shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {shape[:-1]}, got {tuple(linear_bias.shape)}. It is added to "
                           "what the linear map gives.")
    return shape[:-1]
