"""What optimizers share about sparse gradients. This module must not know any single optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..autograd.grad_mode import no_grad
from ..kernels.kinds import OtherArray
from ..tensors.functions.sparse import sparse_coo_tensor
from .optimizer import Optimizer


def is_sparse(g: Any) -> bool:
    """Whether a gradient is sparse."""
    return isinstance(g._array, OtherArray)


def refuse_sparse(optimizer: Optimizer) -> None:
    """Raises RuntimeError if a parameter of an optimizer that knows no sparse gradients has one."""
    for _ in _sparse_gradients(optimizer):
        raise RuntimeError(f"{type(optimizer).__name__} does not support sparse gradients. Use SGD, Adagrad or "
                           "SparseAdam, or a dense gradient.")


def _sparse_gradients(optimizer: Optimizer) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None and is_sparse(p.grad):
                yield p, p.grad, group


@contextmanager
def stepped(optimizer: Optimizer, step: Callable[[Any, Any, dict[str, Any]], None]) -> Iterator[None]:
    """Call `step(parameter, gradient, group)` for each sparse gradient, and put these gradients aside meanwhile."""
    found = [*_sparse_gradients(optimizer)]
    with no_grad():
        for p, g, group in found:
            step(p, g, group)
    for p, _, _ in found:
        p.grad = None
    try:
        yield
    finally:
        for p, g, _ in found:
            p.grad = g


def with_values(g: Any, values: Any) -> Any:
    """A sparse tensor with the indices of the coalesced gradient `g` and other values."""
    return sparse_coo_tensor(g._indices(), values, g.size(), is_coalesced=True)
