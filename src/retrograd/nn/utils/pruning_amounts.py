"""How much is pruned: what amounts and dimensions mean, which are refused, and which mask a parameter has."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from ...tensors.functions.creation.creation import ones_like, zeros_like
from ...tensors.functions.linalg.norms import norm
from ...tensors.tensor import Tensor

if TYPE_CHECKING:
    from ...nn.modules.module import Module

__all__ = ["_compute_norm", "_compute_nparams_toprune", "_validate_pruning_amount", "_validate_pruning_amount_init",
           "_validate_pruning_dim", "_validate_structured_pruning", "count_to_prune", "kept_slices", "mask_of",
           "slices_to_prune"]


def _validate_pruning_amount_init(amount: Any) -> None:
    """Raises TypeError or ValueError for a number or fraction that cannot be pruned."""
    whole, real = isinstance(amount, numbers.Integral), isinstance(amount, numbers.Real)
    if not real:
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not whole and amount > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Raises ValueError for a number that is larger than the size."""
    whole = isinstance(amount, numbers.Integral)
    if whole and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> Any:
    """The number that an amount means, which may be a fraction of the size."""
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def count_to_prune(amount: Any, tensor_size: int) -> Any:
    """The number that an amount means, which may be a fraction of the size. Raises ValueError if it is too large."""
    _validate_pruning_amount(amount, tensor_size)
    return _compute_nparams_toprune(amount, tensor_size)


def _validate_structured_pruning(t: Tensor) -> None:
    """Raises ValueError for a tensor that has no slices to prune."""
    if t.dim() <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {t.dim()} dims")


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    """Raises IndexError if the tensor has no such dimension."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def slices_to_prune(t: Tensor, dim: int, amount: Any) -> tuple[int, Any]:
    """The number of slices of a tensor along a dimension, and the number that an amount means.

    Raises ValueError if the tensor has no slices to prune, IndexError if the tensor has no such dimension.
    """
    _validate_structured_pruning(t)
    _validate_pruning_dim(t, dim)
    return t.shape[dim], count_to_prune(amount, t.shape[dim])


def _compute_norm(t: Tensor, n: Any, dim: int) -> Any:
    """The norms of the slices along a dimension."""
    return norm(t, p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])


def mask_of(module: Module, name: str) -> Any:
    """The mask of a parameter; ones if the parameter is not pruned."""
    mask = getattr(module, f"{name}_mask", None)
    return ones_like(getattr(module, name)) if mask is None else mask


def kept_slices(t: Tensor, dim: int, kept: Tensor) -> Any:
    """A mask of the shape of `t`, with ones in these slices along a dimension."""
    mask = zeros_like(t)
    mask[(slice(None),) * (dim % t.dim()) + (kept,)] = 1
    return mask
