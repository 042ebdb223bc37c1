"""Conversions to a memory format, which return the tensor itself or lay out a copy as PyTorch does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd

TOLERANCE = {"float16": 0.01, "float32": 1e-5, "float64": 1e-10}

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


# Layers whose results lie channel by channel for each point, if their input or their weight does.
PICTURES = ("conv2d(x, w)", "conv2d(x, w, stride=2, padding=1)", "conv2d(x, w, dilation=2)",
            "conv2d(x, w[:, :2], groups=2)", "conv2d(x, w[:, :1], groups=4)", "conv2d(x, w[:, :, :1, :1])",
            "conv2d(x, w[:1])", "conv2d(x[0], w)", "conv_transpose2d(x, w)", "conv_transpose2d(x, w, stride=2)",
            "conv_transpose2d(x, w[:, :1], groups=4)", "pad(x, (1, 2, 2, 1), 'reflect')",
            "pad(x, (1, -1, 2, 1), 'replicate')", "pad(x[0], (1, 1), 'reflect')", "group_norm(x, 2)",
            "group_norm(x, 4, w[:, 0, 0, 0])", "rms_norm(x, (5,))", "rms_norm(x, (5, 5))", "layer_norm(x, (5,))",
            "batch_norm(x, None, None, training=True)", "max_pool2d(x, 2)", "avg_pool2d(x, 2)", "relu(x)")
VOLUMES = ("conv3d(x, w)", "conv3d(x[:1], w)", "conv3d(x[:1], w[:, :2], groups=2)", "conv3d(x[0], w)",
           "conv3d(x[:1], w.repeat(1, 1, 1, 2, 2)[..., :4, :4])", "conv_transpose3d(x, w)",
           "conv_transpose3d(x[:1], w)", "pad(x, (1, 2, 2, 1, 1, 1), 'reflect')",
           "pad(x[0], (1, 1, 1, 1, 2, 1), 'replicate')", "group_norm(x, 2)", "rms_norm(x, (5,))")


@pytest.mark.parametrize("dtype", [*TOLERANCE])
@pytest.mark.parametrize("weight", ["contiguous_format", "last"])
@pytest.mark.parametrize("input", ["contiguous_format", "last"])
@pytest.mark.parametrize("call", [*PICTURES, *VOLUMES])
@pytest.mark.sampled(4)
def test_layers(call: str, input: str, weight: str, dtype: str) -> None:
    rank, last = (5, "channels_last_3d") if call in VOLUMES else (4, "channels_last")

    def seen(library: Any) -> Any:
        x, w = (library.linspace(-1, 1, a * 4 * b ** (rank - 2)).view(a, 4, *[b] * (rank - 2)).to(
            getattr(library, dtype)).contiguous(memory_format=getattr(library, form.replace("last", last)))
            for a, b, form in ((2, 5, input), (4, 3, weight)))
        found = eval(f"F.{call}", {"F": library.nn.functional, "x": x, "w": w})
        return found.shape, found.stride(), found.double().numpy()

    (shape, strides, numbers), (expected, lie, right) = seen(retrograd), seen(torch)
    assert (shape, strides) == (expected, lie)
    np.testing.assert_allclose(numbers, right, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
