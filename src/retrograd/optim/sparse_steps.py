"""What optimizers share about sparse gradients. This module must not know any single optimizer."""

from __future__ import annotations

from typing import Any

from ..foundations.errors import noted
from ..tensors.functions.sparse import sparse_coo_tensor
from ..tensors.state.inside import is_sparse
from ..tensors.tensor import Tensor
from .optimizer import Optimizer


def refuse_sparse(optimizer: Optimizer, words: str = "") -> None:
    """Raises RuntimeError, with the words, if a parameter of an optimizer that takes no sparse gradients has one."""
    if any([p.grad is not None and is_sparse(p.grad) for group in optimizer.param_groups for p in group["params"]]):
        raise noted(RuntimeError(words or f"{type(optimizer).__name__} does not support sparse gradients"),
                    instead="use SGD, Adagrad or SparseAdam, or a dense gradient")


def with_values(g: Any, values: Tensor) -> Any:
    """A sparse tensor with the indices of the coalesced gradient `g` and other values."""
    return sparse_coo_tensor(g._indices(), values, g.size(), is_coalesced=True)
