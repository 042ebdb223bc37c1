"""Conversions to a memory format, which return the tensor itself or lay out a copy as PyTorch does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

TENSORS = {
    "rows": "t.randn(2, 3, 4, 5)", "last": "t.randn(2, 3, 4, 5).contiguous(memory_format=t.channels_last)",
    "turned": "t.randn(2, 4, 3, 5).transpose(1, 2)", "gaps": "t.randn(2, 3, 8, 5)[:, :, ::2]",
    "last with gaps": "t.randn(2, 3, 8, 5).contiguous(memory_format=t.channels_last)[:, :, ::2]",
    "one channel": "t.randn(2, 1, 4, 5)", "one point": "t.randn(2, 3, 1, 1)", "vector": "t.randn(6)[::2]",
    "expanded": "t.randn(1, 3, 1, 1).expand(2, 3, 4, 5)", "matrix": "t.randn(3, 4).t()",
    "volume": "t.randn(2, 3, 4, 5, 6).contiguous(memory_format=t.channels_last_3d)",
    "points": "t.randn(2, 3, 4, 5).permute(0, 2, 3, 1)",
}
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
CALLS = (*(f"x.{name}(memory_format=f)" for name in ("bfloat16", "half", "double", "cfloat", "int", "bool")),
         "x.to('cpu', memory_format=f)", "x.to('cpu', t.float64, memory_format=f)", "x.to(x.half(), memory_format=f)",
         "x.to(t.bfloat16)", "x.to(memory_format=f)", "x.to(memory_format=f, copy=True)",
         "x.to(t.float64, memory_format=f)", "x.double().to(t.float32, memory_format=f)", "x.cpu(memory_format=f)",
         "x.float(memory_format=f)", "x.clone(memory_format=f)", "x.contiguous(memory_format=f)")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tensor", TENSORS)
def test_conversions(tensor: str, format: str, call: str) -> None:
    """The same for a leaf that requires grad, whose result has one node for the type and the memory format."""
    def seen(library: Any, grad: bool) -> Any:
        library.manual_seed(0)
        x = eval(TENSORS[tensor], {"t": library}).detach().requires_grad_(grad)
        try:
            found = eval(call, {"t": library, "x": x, "f": getattr(library, format)})
        except (RuntimeError, TypeError) as error:
            return type(error), str(error).split("\n")[0]
        node = found.grad_fn
        names = node and [node.name(), *(before.name() for before, _ in node.next_functions)]
        return found is x, found.stride(), found.requires_grad, names, found.tolist()

    assert [seen(retrograd, grad) for grad in (False, True)] == [seen(torch, grad) for grad in (False, True)]
