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
CALLS = ("x.to(memory_format=f)", "x.to(memory_format=f, copy=True)", "x.to(t.float64, memory_format=f)",
         "x.double().to(t.float32, memory_format=f)", "x.cpu(memory_format=f)", "x.float(memory_format=f)",
         "x.clone(memory_format=f)", "x.contiguous(memory_format=f)")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tensor", TENSORS)
def test_conversions(tensor: str, format: str, call: str) -> None:
    def seen(library: Any) -> Any:
        x = eval(TENSORS[tensor], {"t": library})
        try:
            found = eval(call, {"t": library, "x": x, "f": getattr(library, format)})
        except (RuntimeError, TypeError) as error:
            return type(error), str(error).split("\n")[0]
        return found is x, found.stride(), bool((found == x).all())

    assert seen(retrograd) == seen(torch)
