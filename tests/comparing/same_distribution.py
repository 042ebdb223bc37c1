"""Whether two libraries give the same answer to a question about a distribution."""

from __future__ import annotations

from typing import Any

import torch

from comparing.against_torch import same_error, same_graph, same_values

# Of the tolerance of a dtype: values agree up to the last bits, gradients up to the rounding of longer sums.
VALUES, GRADIENTS = 0.05, 10.0


def same(theirs: Any, ours: Any, where: str) -> None:
    """Raises AssertionError unless two answers agree: tensors with their graphs, texts, or errors."""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert isinstance(theirs, Exception), f"{where}: {ours!r}, torch has {theirs!r}"
        same_error(theirs, ours if isinstance(ours, Exception) else None)
    elif isinstance(theirs, torch.Tensor):
        same_values(theirs, ours, where, VALUES)
        assert ours.requires_grad == theirs.requires_grad, where
        if theirs.grad_fn is not None:
            same_graph(theirs, ours, where)
    elif isinstance(theirs, list) and where.startswith("gradients"):
        assert [g is None for g in ours] == [g is None for g in theirs], where
        for i, (their, our) in enumerate(zip(theirs, ours)):
            if their is not None:
                same_values(their, our, f"{where} by parameter {i}", GRADIENTS)
    else:
        assert ours == theirs, where
