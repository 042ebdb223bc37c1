"""Which gradients share memory with each other, with cotangents, inputs or results, or have elements that share memory.

They are no more than in PyTorch. A program may write to a gradient that `autograd.grad` has returned. What shares its
memory then changes, too, and a write to elements that share memory raises an error.
"""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import tensor_of
from op_table.table import TABLE, Entry


def _pairs(library: Any, entry: Entry, arrays: list[np.ndarray[Any, Any]], create_graph: bool) -> set[tuple[str, str]]:
    """The gradients that share memory, each with what it shares the memory with. This may be the gradient itself."""
    inputs = [tensor_of(library, array).requires_grad_() for array in arrays]
    library.manual_seed(0)
    found = entry.call(library, *inputs)
    results = [r for r in (found if isinstance(found, (tuple, list)) else [found])
               if isinstance(r, library.Tensor) and r.requires_grad]
    cotangents = [library.ones(tuple(r.shape), dtype=r.dtype) for r in results]
    gradients = library.autograd.grad(results, inputs, cotangents, allow_unused=True, create_graph=create_graph)
    tensors = {f"{kind} {i}": t for kind, listed in (
        ("gradient", gradients), ("cotangent", cotangents), ("input", inputs), ("result", results))
        for i, t in enumerate(listed) if t is not None and t.numel()}
    return {(a, b) for a, b in combinations_with_replacement(tensors, 2) if a.startswith("gradient")
            and (_expanded(tensors[a]) if a == b else _address(tensors[a]) == _address(tensors[b]))}


def _address(tensor: Any) -> int:
    return tensor.untyped_storage().data_ptr()  # type: ignore[no-any-return]


def _expanded(tensor: Any) -> bool:
    return any(size > 1 and not stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("entry", [e for e in TABLE if "f" in e.kinds and not e.refused], ids=str)
def test_gradients_share_no_more_memory_than_pytorchs(entry: Entry, create_graph: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arrays in entry.samples():
            try:
                shared = _pairs(torch, entry, arrays, create_graph)
            except (RuntimeError, ValueError):                 # PyTorch has no derivative
                shared = set()
            assert _pairs(retrograd, entry, arrays, create_graph) <= shared
