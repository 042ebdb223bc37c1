"""The operators of torchvision, without torchvision: against sums that are written out, and against its numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.library import register_autograd, vision
from retrograd.library.vision import deforming, regions

ops = vision.library and torch.ops.torchvision


def bilinear(picture: Any, y: float, x: float) -> float:
    """The value between four pixels, by the formula."""
    high, wide = picture.shape
    if not (-1 <= y <= high and -1 <= x <= wide):
        return 0.0
    y, x = max(y, 0.0), max(x, 0.0)
    top, left = min(int(y), high - 1), min(int(x), wide - 1)
    down = 0.0 if top == high - 1 else y - top
    across = 0.0 if left == wide - 1 else x - left
    below, right = min(top + 1, high - 1), min(left + 1, wide - 1)
    return float((1 - down) * ((1 - across) * picture[top, left] + across * picture[top, right])
                 + down * ((1 - across) * picture[below, left] + across * picture[below, right]))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align_averages_samples(ratio: int, aligned: bool) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 9, 11, dtype=torch.float64)
    rois = torch.tensor([[0, 1.0, 2, 7, 6], [1, -2, -3, 4, 5], [1, 6, 5, 14, 12], [0, 3, 3, 3.2, 3.1]]).double()
    found = ops.roi_align(x, rois, 0.7, 2, 3, ratio, aligned)
    for k, (number, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = [corner * 0.7 - 0.5 * aligned for corner in corners]
        least = -math.inf if aligned else 1.0
        height, width = max(y2 - y1, least), max(x2 - x1, least)
        down, across = [ratio if ratio > 0 else math.ceil(n / bins) for n, bins in ((height, 2), (width, 3))]
        for i in range(2):
            for j in range(3):
                samples = [bilinear(x[int(number), 1].numpy(), y1 + (i + (a + 0.5) / down) * height / 2,
                                    x1 + (j + (b + 0.5) / across) * width / 3)
                           for a in range(down) for b in range(across)]
                assert found[k, 1, i, j].item() == pytest.approx(sum(samples) / len(samples), abs=1e-9)


def test_boxes_that_overlap_a_better_one_go() -> None:
    generator = torch.Generator().manual_seed(1)
    boxes, scores = torch.rand(40, 4, generator=generator) * 10, torch.rand(40, generator=generator)
    boxes[:, 2:] += boxes[:, :2]
    for threshold in (0.1, 0.5, 0.9):
        kept: list[int] = []
        for i in scores.argsort(descending=True).tolist():
            overlaps = []
            for j in kept:
                low, high = torch.maximum(boxes[i, :2], boxes[j, :2]), torch.minimum(boxes[i, 2:], boxes[j, 2:])
                shared = (high - low).clamp(min=0).prod().item()
                areas = [(boxes[k, 2:] - boxes[k, :2]).prod().item() for k in (i, j)]
                overlaps.append(shared / (sum(areas) - shared))
            if not [overlap for overlap in overlaps if overlap > threshold]:
                kept.append(i)
        assert ops.nms(boxes, scores, threshold).tolist() == kept
    assert ops.nms(torch.zeros(0, 4), torch.zeros(0), 0.5).shape == (0,)
    with pytest.raises(RuntimeError, match="same number of elements in dimension 0, got 40 and 3"):
        ops.nms(boxes, scores[:3], 0.5)


def test_numbers_of_torchvision() -> None:
    """What the compiled operators of torchvision 0.29 gave."""
    x = torch.arange(9.0).expand(1, 6, 9, 9) + 10 * torch.arange(9.0).view(9, 1)
    expected = {(0, 0, 3, 3): [5.0, 6.0, 7.0, 15.0, 16.0, 17.0], (6, 6, 12, 12): [71.5, 0, 0, 0, 0, 0],
                (4, 4, 9, 9): [54.5, 56, 57, 69.5, 71, 72], (8, 8, 3, 3): [0] * 6}
    for corners, numbers in expected.items():
        roi = torch.tensor([[0.0, *corners]])
        assert ops.ps_roi_pool(x, roi, 1.0, 2, 3)[0].flatten().tolist() == numbers, corners
    pooled, places = ops.roi_pool(x, torch.tensor([[0.0, 1, 1, 5, 4]]), 1.0, 2, 2)
    assert pooled[0, 0].tolist() == [[23, 25], [43, 45]]
    assert places[0, 0].tolist() == [[21, 23], [39, 41]]
    assert torch.isnan(ops.ps_roi_align(x, torch.tensor([[0.0, 4, 4, 4, 6]]), 1.0, 2, 3, -1)[0]).all()


def gradients_match(backward: Any, forward: Any, x: Any) -> None:
    """Compare the gradient by the pictures with differences of the result."""
    result = forward(x)
    weight = torch.arange(result.numel(), dtype=torch.float64).view(result.shape).cos()
    found, step = backward(weight), 1e-5
    for place in np.ndindex(*x.shape):
        moved = x.clone()
        moved[place] += step
        slope = ((forward(moved) - result) * weight).sum().item() / step
        assert found[place].item() == pytest.approx(slope, abs=1e-4), place


def test_gradients_by_the_pictures() -> None:
    torch.manual_seed(2)
    x = torch.randn(1, 4, 4, 4, dtype=torch.float64)
    rois = torch.tensor([[0, 0.5, 0.4, 2.6, 2.2], [0, -1.0, 1.0, 1.5, 2.5]]).double()
    at, sizes = (1.0, 2, 2), (1, 4, 4, 4)
    gradients_match(lambda g: ops._roi_align_backward(g, rois, *at, *sizes, 2, True),
                    lambda x: ops.roi_align(x, rois, *at, 2, True), x)
    mapping = ops.ps_roi_align(x, rois, *at, 2)[1]
    gradients_match(lambda g: ops._ps_roi_align_backward(g, rois, mapping, *at, 2, *sizes),
                    lambda x: ops.ps_roi_align(x, rois, *at, 2)[0], x)
    places = ops.roi_pool(x, rois, *at)[1]
    gradients_match(lambda g: ops._roi_pool_backward(g, rois, places, *at, *sizes),
                    lambda x: ops.roi_pool(x, rois, *at)[0], x)
    gradients_match(lambda g: ops._ps_roi_pool_backward(g, rois, mapping, *at, *sizes),
                    lambda x: ops.ps_roi_pool(x, rois, *at)[0], x)


def test_a_deformable_convolution() -> None:
    torch.manual_seed(3)
    shapes = (1, 4, 5, 4), (2, 2, 2, 2), (1, 16, 4, 3), (1, 8, 4, 3), (2,)
    x, weight, offset, mask, bias = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    plain = torch.nn.functional.conv2d(x, weight, bias, groups=2)
    still = deforming.deform_conv2d(x, weight, offset * 0, mask, bias, 1, 1, 0, 0, 1, 1, 2, 2, False)
    assert torch.allclose(still, plain)
    y = deforming.deform_conv2d(x, weight, offset, mask, bias, 1, 1, 0, 0, 1, 1, 2, 2, True)
    pixel, sample = x[0].detach().numpy(), y[0, 1, 2, 1].item()
    expected = bias[1].item()
    for c in range(2):
        for k, (i, j) in enumerate(np.ndindex(2, 2)):
            moves = offset.view(2, 4, 2, 4, 3)[1, k, :, 2, 1].tolist()
            place = (2 + i + moves[0], 1 + j + moves[1])
            inside = -1 < place[0] < 5 and -1 < place[1] < 4
            padded = np.pad(pixel[2 + c], 1)
            value = bilinear(padded, place[0] + 1, place[1] + 1) if inside else 0.0
            expected += weight[1, c, i, j].item() * value * mask.view(2, 4, 4, 3)[1, k, 2, 1].item()
    assert sample == pytest.approx(expected)
    register_autograd("torchvision::deform_conv2d", lambda ctx, g: (*deforming.deform_conv2d_backward(
        g, *ctx.saved_tensors, *ctx.options), *[None] * 9), setup_context=_kept)
    options = (1, 1, 0, 0, 1, 1, 2, 2, True)
    assert torch.autograd.gradcheck(lambda *given: ops.deform_conv2d(*given, *options), (x, weight, offset, mask, bias))


def _kept(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:5])
    ctx.options = inputs[5:]


def test_libraries_that_are_compiled_for_pytorch(tmp_path: Path) -> None:
    torch.ops.load_library(str(tmp_path / "torchvision" / "_C.so"))
    with pytest.raises(OSError, match="is compiled for PyTorch, and retrograd cannot load it"):
        torch.ops.load_library(str(tmp_path / "torchvision" / "image.so"))
    assert ops._cuda_version() == -1
    assert regions.nms.__doc__


def test_names_of_keys() -> None:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU) | torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
    assert keys.has(torch._C.DispatchKey.Meta)
    assert not keys.has(torch._C.DispatchKey.CUDA)
