"""Layers of convolutions and pooling against PyTorch: how they print, start and save, and what they give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

# A layer, and the shape of an input.
LAYERS = """
nn.Conv1d(4, 6, 3) | 2, 4, 8
nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2) | 2, 4, 8, 8
nn.Conv2d(4, 6, (3, 2), dilation=2, bias=False) | 2, 4, 8, 8
nn.Conv2d(4, 6, 3, padding='same', padding_mode='reflect') | 2, 4, 8, 8
nn.Conv2d(4, 6, 3, padding=(1, 2), padding_mode='circular') | 2, 4, 8, 8
nn.Conv2d(4, 6, 4, padding='same', padding_mode='replicate') | 4, 8, 8
nn.Conv2d(4, 6, 4, padding='valid', padding_mode='replicate') | 4, 8, 8
nn.Conv3d(4, 6, 3, padding=1, dtype=torch.float64) | 2, 4, 5, 5, 5
nn.ConvTranspose1d(4, 6, 3, 2, 1, 1) | 2, 4, 8
nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2, dilation=2) | 2, 4, 8, 8
nn.ConvTranspose3d(4, 6, 3, bias=False) | 2, 4, 5, 5, 5
nn.MaxPool1d(2) | 2, 4, 8
nn.MaxPool2d(3, 2, 1, return_indices=True, ceil_mode=True) | 2, 4, 8, 8
nn.MaxPool3d(2) | 2, 4, 5, 5, 5
nn.AvgPool1d(2) | 2, 4, 8
nn.AvgPool2d(2, 1, divisor_override=3) | 2, 4, 8, 8
nn.AvgPool3d(2, padding=1) | 2, 4, 5, 5, 5
nn.AdaptiveAvgPool1d(3) | 2, 4, 8
nn.AdaptiveAvgPool2d((3, None)) | 2, 4, 8, 8
nn.AdaptiveAvgPool3d(2) | 2, 4, 5, 5, 5
nn.AdaptiveMaxPool1d(3) | 2, 4, 8
nn.AdaptiveMaxPool2d((3, None), return_indices=True) | 2, 4, 8, 8
nn.AdaptiveMaxPool3d(2) | 2, 4, 5, 5, 5
nn.LPPool1d(2, 3) | 2, 4, 8
nn.LPPool2d(3.0, 2, stride=1, ceil_mode=True) | 2, 4, 8, 8
nn.LPPool3d(2, 2) | 2, 4, 5, 5, 5
nn.Unfold(2, padding=1) | 2, 4, 8, 8
nn.Fold(5, 2) | 2, 8, 16
nn.FractionalMaxPool2d(2, 3) | 2, 4, 8, 8
nn.FractionalMaxPool2d(2, output_ratio=.5, return_indices=True) | 2, 4, 8, 8
nn.FractionalMaxPool3d((2, 1, 2), output_ratio=.5) | 2, 4, 6, 6, 6
"""
WRONG = """
nn.Conv2d(4, 6, 3, groups=0)
nn.Conv2d(4, 6, 3, groups=3)
nn.Conv2d(6, 4, 3, groups=3)
nn.Conv2d(4, 6, 3, 2, padding='same')
nn.ConvTranspose2d(4, 6, 3, padding_mode='reflect')
nn.FractionalMaxPool2d(2)
nn.FractionalMaxPool2d(2, 3, .5)
nn.FractionalMaxPool3d(2, output_ratio=1.5)
"""


def outcome(library: Any, layer: str, sizes: str) -> tuple[list[Any], list[Any]]:
    """What is said of a layer, and its numbers: parameters, results, gradients."""
    library.manual_seed(3)
    module = eval(layer, {"nn": library.nn, "torch": library})
    draws = np.random.default_rng(1)
    shape = tuple(map(int, sizes.split(",")))
    x = library.from_numpy(np.abs(draws.standard_normal(shape)).astype("f8" if "64" in layer else "f4"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = module(x.requires_grad_())
    results = [*found] if isinstance(found, tuple) else [found]
    results[0].sum().backward()
    numbers = [*module.state_dict().values(), *results, x.grad, *(p.grad for p in module.parameters())]
    said = [repr(module), [*module.state_dict()], [type(r.grad_fn).__name__ for r in results]]
    return said, [n.detach().numpy() for n in numbers]


@pytest.mark.parametrize("line", LAYERS.split("\n")[1:-1])
def test_a_layer(line: str) -> None:
    layer, _, sizes = line.partition(" | ")
    (said, numbers), (expected, theirs) = outcome(retrograd, layer, sizes), outcome(torch, layer, sizes)
    assert said == expected
    for ours, their in zip(numbers, theirs, strict=True):
        assert ours.dtype == their.dtype
        np.testing.assert_allclose(ours, their, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layer", WRONG.split("\n")[1:-1])
def test_a_layer_is_refused(layer: str) -> None:
    said = []
    for library in (torch, retrograd):
        try:
            said.append(repr(eval(layer, {"nn": library.nn, "torch": library})))
        except ValueError as error:
            said.append(str(error))
    assert said[1] == said[0]


@pytest.mark.parametrize(("sizes", "fits"), [
    ([9, 9], True), ([2, 6, 10, 9], True), ([6, 9, 9], False), ([11, 9], False)])
def test_the_size_of_a_transposed_convolution(sizes: list[int], fits: bool) -> None:
    outcomes = []
    for library in (torch, retrograd):
        layer, x = library.nn.ConvTranspose2d(4, 6, 3, stride=2), library.ones(2, 4, 4, 4)
        try:
            outcomes.append(tuple(layer(x, output_size=sizes).shape))
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    assert isinstance(outcomes[0], tuple) == fits


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 2, "same", "valid", (1, 2, 3)])
def test_the_padding_that_programs_read(dims: int, padding: Any) -> None:
    found = []
    for library in (torch, retrograd):
        kind = getattr(library.nn, f"Conv{dims}d")
        layer = kind(2, 2, 4, padding=padding[:dims] if type(padding) is tuple else padding, padding_mode="circular")
        layer.kept = layer._reversed_padding_repeated_twice
        layer.padding = (7,) * dims                          # the padding of the forward pass was computed before
        found.append((layer.kept, [*layer(library.ones(1, 2, *(9,) * dims)).shape]))
    assert found[0] == found[1]


@pytest.mark.parametrize("size", [(8, 10), (1, 4, 8, 10), None, (3, 3), (1, 2, 3)])
def test_the_output_padding_that_programs_ask_for(size: Any) -> None:
    found: list[Any] = []
    for library in (torch, retrograd):
        layer = library.nn.ConvTranspose2d(3, 4, 3, padding=(1, 0), stride=2)
        x = library.ones(1, 3, 4, 4)
        try:
            found.append(layer._output_padding(x, size, layer.stride, layer.padding, layer.kernel_size, 2))
            found[-1] = found[-1], layer(x, size).shape
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]
