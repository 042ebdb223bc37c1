"""The attribute `grad_dtype`: the type in which a leaf wants its gradient.

The engine fits each gradient to its edge, and so converts it to this type.
"""

from __future__ import annotations

from ...foundations.dtypes import C_NAMES, dtype as torch_dtype
from ...foundations.errors import kind_of, noted
from ...tensors.state.base import TensorBase
from ..recording.public import methods, public_property
from ..state.base import accumulator_of, meta_of, stands_as_leaf


def _check_leaf(tensor: TensorBase, what: str) -> None:
    if not stands_as_leaf(tensor):
        raise noted(RuntimeError(f"grad_dtype can only be {what} on leaf tensors."), because="this one was computed")


def grad_dtype(self: TensorBase) -> torch_dtype | None:
    """The type of the gradient of a leaf: the type of the leaf, unless it was set. None stands for any type.

    The engine converts gradients to it. Raises RuntimeError for a tensor that is no leaf.
    """
    _check_leaf(self, "accessed")
    meta = self._grad_meta
    if meta is not None and meta.any_grad:
        return None
    return torch_dtype.of[(meta and meta.grad_dtype) or self._array.dtype]


def set_grad_dtype(self: TensorBase, value: torch_dtype | None) -> None:
    """Let the gradient have another type. Raises RuntimeError if the leaf has a gradient of yet another type."""
    if value is not None and not isinstance(value, torch_dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {kind_of(value)}")
    _check_leaf(self, "set")
    meta = meta_of(self)
    if value is not None and meta.grad is not None and meta.grad._array.dtype != value.dtype:
        raise RuntimeError(f"Cannot set grad_dtype to '{value.legacy}' because there is already a gradient with dtype "
                           f"'{C_NAMES[meta.grad._array.dtype.name]}'. Please clear the gradient (.grad = None) before "
                           "changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype.")
    meta.any_grad = value is None
    meta.grad_dtype = None if value is None or value.dtype == self._array.dtype else value.dtype
    if meta.leaf:
        accumulator_of(self).dtype = meta.grad_dtype or self._array.dtype


methods(grad_dtype=public_property(grad_dtype, set_grad_dtype))
