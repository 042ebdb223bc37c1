"""Pooling, called in every way and wrongly, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare
from comparing.same_expression import check
from retrograd.kernels.images import pooling

SETUP = """
F = torch.nn.functional
ones = torch.ones

# Small integers as floats, so that sums are exact in any order.
def whole(*sizes):
    count = math.prod(sizes)
    return (torch.arange(count * 7.0) * 5 % 7 - 3)[:count].view(sizes).requires_grad_()

y, y1, y3 = whole(2, 3, 8, 8), whole(2, 3, 8), whole(2, 3, 5, 5, 5)
"""
CALLS = """
F.max_pool1d(y1,2)
F.max_pool1d(y1.detach(),2)
F.max_pool1d(y1[0],2)
F.max_pool1d(y1,2,return_indices=True)
torch.max_pool1d(y1,2)
torch.max_pool1d_with_indices(y1,2)
F.max_pool2d(y,2)
F.max_pool2d(y[0],2)
F.max_pool2d(y,2,return_indices=True)
F.max_pool3d(y3,2)
F.max_pool3d(y3[0],2)
torch.max_pool2d(y,2)
torch.max_pool3d(y3,2)
F.max_pool2d(y,3,2,1)
F.max_pool2d(y,3,2,2)
F.max_pool2d(y,3,2,-1)
F.max_pool2d(y,9)
F.max_pool2d(y,0)
F.max_pool2d(y,2,0)
F.max_pool2d(y,2,dilation=0)
F.max_pool2d(y,(2,2,2))
F.max_pool2d(y,(2,))
F.max_pool2d(y,2,(1,2,3))
F.max_pool2d(y,2,padding=(1,2,3))
F.max_pool2d(y,2,dilation=(1,2,3))
F.max_pool2d(y1,2)
F.max_pool2d(ones(8,8),2)
F.max_pool2d(y3,2)
F.max_pool1d(y,2)
F.max_pool1d(ones(8),2)
F.max_pool3d(y,2)
F.max_pool3d(y1,2)
F.max_pool2d(y.long(),2)
F.max_pool2d(y.int(),2)
F.max_pool2d(y.to(torch.uint8),2)
F.max_pool2d(y.bool(),2)
F.max_pool2d(y.half(),2)
F.max_pool2d(y.cfloat(),2)
F.max_pool1d(y1.long(),2)
F.max_pool1d(y1.detach().long(),2)
F.max_pool1d(y1.detach().int(),2)
F.max_pool1d(y1.bool(),2)
F.max_pool1d(y1.detach().half(),2)
F.max_pool1d(y1.cfloat(),2)
F.max_pool1d(y1.detach().cfloat(),2)
F.max_pool3d(y3.long(),2)
F.max_pool3d(y3.bool(),2)
F.max_pool3d(y3.half(),2)
F.max_pool3d(y3.cfloat(),2)
F.max_pool2d(y[:0],2)
F.max_pool2d(y[:,:0],2)
F.max_pool2d(y[:,:,:0],2)
F.max_pool1d(y1[:0],2)
F.max_pool1d(y1.detach()[:0],2)
F.max_pool1d(y1[:,:0],2)
F.max_pool1d(y1,9)
F.max_pool1d(y1,0)
F.max_pool1d(y1,2,0)
F.max_pool1d(y1,2,padding=2)
F.max_pool1d(y1.detach(),9)
F.max_pool1d(y1.detach(),0)
F.max_pool1d(y1.detach(),2,0)
F.max_pool1d(y1.detach(),2,padding=2)
F.max_pool1d(y1.detach(),2,padding=-1)
F.max_pool1d(y1.detach(),2,dilation=0)
F.max_pool1d(y1,(2,2))
F.max_pool1d(y1.detach(),(2,2))
F.max_pool3d(y3[:0],2)
F.max_pool3d(y3,6)
F.max_pool3d(y3,2,padding=2)
F.max_pool3d(y3,(2,2,3),padding=(1,2,1),dilation=3)
F.max_pool2d(y,(2,3),padding=(2,1),dilation=4)
F.max_pool1d(y1,2,padding=2,dilation=4)
F.max_pool3d(y3,0)
F.max_pool3d(y3,2,0)
F.max_pool3d(y3,2,dilation=0)
F.max_pool3d(y3,(2,2))
F.max_unpool2d(*F.max_pool2d(y,2,return_indices=True),2)
F.max_unpool2d(*F.max_pool2d(y[0],2,return_indices=True),2)
F.max_unpool1d(*F.max_pool1d(y1,2,return_indices=True),2)
F.max_unpool1d(*F.max_pool1d(y1[0],2,return_indices=True),2)
F.max_unpool3d(*F.max_pool3d(y3,2,return_indices=True),2,output_size=(5,5,5))
F.max_unpool3d(*F.max_pool3d(y3,2,return_indices=True),2,output_size=(2,3,5,5,5))
F.max_unpool2d(*F.max_pool2d(y,2,return_indices=True),2,output_size=(20,8))
F.max_unpool2d(*F.max_pool2d(y,2,return_indices=True),2,output_size=(8,))
F.max_unpool2d(y,ones(2,3,8,8),2)
F.max_unpool2d(y,ones(2,3,8,8).int(),2)
F.max_unpool2d(y,ones(2,3,8,7).long(),2)
F.max_unpool2d(y,ones(2,3,8,8).long()*500,2)
F.max_unpool2d(y,-ones(2,3,8,8).long(),2)
F.max_unpool2d(y,ones(2,3,8,8).long(),(2,2,2))
F.max_unpool2d(y,ones(2,3,8,8).long(),2,0)
F.max_unpool3d(y3,ones(2,3,5,5,5).long(),2,0)
F.max_unpool2d(y1,ones(2,3,8).long(),2)
F.max_unpool2d(ones(8,8),ones(8,8).long(),2)
F.max_unpool2d(y.long(),ones(2,3,8,8).long(),2)
F.max_unpool2d(y.cfloat(),ones(2,3,8,8).long(),2)
F.max_unpool2d(y[:0],ones(0,3,8,8).long(),2)
F.max_unpool3d(y3,ones(2,3,5,5,5),2)
F.max_unpool3d(y,ones(2,3,8,8).long(),2)
F.max_unpool3d(y3,ones(2,3,5,5,4).long(),2)
F.max_unpool3d(y3,ones(2,3,5,5,5).long()*5000,2)
F.max_unpool1d(y1,ones(2,3,8).long()*500,2)
F.avg_pool1d(y1,2)
F.avg_pool1d(y1[0],2)
torch.avg_pool1d(y1,2)
F.avg_pool2d(y,2)
F.avg_pool2d(y[0],2)
F.avg_pool3d(y3,2)
F.avg_pool3d(y3[0],2)
F.avg_pool2d(y,3,2,2)
F.avg_pool2d(y,3,2,-1)
F.avg_pool2d(y,9)
F.avg_pool2d(y,0)
F.avg_pool2d(y,2,0)
F.avg_pool2d(y,(2,2,2))
F.avg_pool2d(y,2,(2,2,2))
F.avg_pool2d(y,2,2,(2,2,2))
F.avg_pool2d(y,2,divisor_override=0)
F.avg_pool2d(y,2,divisor_override=3)
F.avg_pool2d(y1,2)
F.avg_pool2d(y3,2)
F.avg_pool1d(y,2)
F.avg_pool1d(ones(8),2)
F.avg_pool1d(y1,9)
F.avg_pool1d(y1,2,padding=2)
F.avg_pool1d(y1,(2,2))
F.avg_pool1d(y1,2,0)
F.avg_pool1d(y1,0)
F.avg_pool3d(y,2)
F.avg_pool3d(y3,6)
F.avg_pool3d(y3,2,padding=2)
F.avg_pool3d(y3[...,:1],2,padding=1)
F.avg_pool3d(y3[:,:,:3],(4,2,2),padding=(2,0,0))
F.avg_pool3d(y3,2,divisor_override=0)
F.avg_pool3d(y3,(2,2))
F.avg_pool3d(y3,2,0)
F.avg_pool2d(y.long(),2)
F.avg_pool2d(y.int(),2)
F.avg_pool2d(y.bool(),2)
F.avg_pool2d(y.cfloat(),2)
F.avg_pool1d(y1.long(),2)
F.avg_pool3d(y3.long(),2)
F.avg_pool3d(y3.cfloat(),2)
F.avg_pool2d(y[:0],2)
F.avg_pool2d(y[:,:0],2)
F.avg_pool1d(y1[:0],2)
F.avg_pool3d(y3[:0],2)
F.avg_pool3d(y3[:,:0],2)
F.adaptive_avg_pool1d(y1,3)
F.adaptive_avg_pool1d(y1[0],3)
F.adaptive_avg_pool1d(y1,1)
F.adaptive_avg_pool1d(y1,(3,3))
F.adaptive_avg_pool1d(y1,-1)
F.adaptive_avg_pool1d(y1,0)
F.adaptive_avg_pool1d(y,2)
F.adaptive_avg_pool1d(y1[:0],2)
F.adaptive_avg_pool1d(y1[:,:,:0],2)
F.adaptive_avg_pool1d(y1[:,:0],2)
F.adaptive_avg_pool2d(y,4)
F.adaptive_avg_pool2d(y[0],(2,4))
F.adaptive_avg_pool2d(y,(None,3))
F.adaptive_avg_pool2d(torch.where(y > 2.5, math.inf, y),(3,5))
F.adaptive_avg_pool1d(torch.where(y1 > 2.5, math.nan, y1),3)
F.adaptive_max_pool2d(torch.where(y > 2.5, math.nan, y),(3,5),return_indices=True)
F.adaptive_avg_pool2d(y,1)
F.adaptive_avg_pool2d(y[0],1)
F.adaptive_avg_pool2d(y,(1,2,3))
F.adaptive_avg_pool2d(y,(1,))
F.adaptive_avg_pool2d(y,-1)
F.adaptive_avg_pool2d(y,0)
F.adaptive_avg_pool2d(y1[:,0],2)
F.adaptive_avg_pool2d(y3,2)
F.adaptive_avg_pool2d(y[:0],2)
F.adaptive_avg_pool2d(y[:,:,:0],2)
F.adaptive_avg_pool2d(y[:,:,:0],1)
F.adaptive_avg_pool2d(y.long(),2)
F.adaptive_avg_pool2d(y.long(),1)
F.adaptive_avg_pool2d(y.cfloat(),2)
F.adaptive_avg_pool3d(y3,5)
F.adaptive_avg_pool3d(y3,1)
F.adaptive_avg_pool3d(y3[0],(None,5,5))
F.adaptive_avg_pool3d(y3.long(),2)
F.adaptive_avg_pool3d(y3,-1)
F.adaptive_avg_pool3d(y[0],2)
F.adaptive_avg_pool3d(y1,2)
F.adaptive_avg_pool3d(y3[:,:,:0],2)
F.adaptive_max_pool1d(y1,3)
F.adaptive_max_pool1d(y1,3,return_indices=True)
F.adaptive_max_pool1d(y1[0],3)
F.adaptive_max_pool1d(y1,-1)
F.adaptive_max_pool1d(y1,(1,2))
F.adaptive_max_pool1d(y1[:0],2)
F.adaptive_max_pool1d(y1[:,:,:0],2)
F.adaptive_max_pool1d(y,2)
torch.adaptive_max_pool1d(y1,3)
F.adaptive_max_pool2d(y,3)
F.adaptive_max_pool2d(y,(3,None))
F.adaptive_max_pool2d(y[0],3)
F.adaptive_max_pool2d(y,-1)
F.adaptive_max_pool2d(y,(1,2,3))
F.adaptive_max_pool2d(y[:0],2)
F.adaptive_max_pool2d(y[:,:,:0],2)
F.adaptive_max_pool2d(y3,2)
F.adaptive_max_pool2d(y.long(),2)
F.adaptive_max_pool2d(y.cfloat(),2)
F.adaptive_max_pool2d(y.half(),2)
F.adaptive_max_pool3d(y3,2)
F.adaptive_max_pool3d(y3[0],2)
F.adaptive_max_pool3d(y3,-1)
F.adaptive_max_pool3d(y3.long(),2)
F.adaptive_max_pool3d(y3.half(),2)
F.adaptive_max_pool3d(y3[:,:,:0],2)
F.adaptive_max_pool3d(y[0],2)
F.fractional_max_pool2d(y,2,3)
F.fractional_max_pool2d(y,2,output_ratio=0.5)
F.fractional_max_pool2d(y,2,3,return_indices=True)
F.fractional_max_pool2d(y[0],2,3)
F.fractional_max_pool2d(y,2)
F.fractional_max_pool2d(y,2,3,output_ratio=.5)
F.fractional_max_pool2d(y,2,output_ratio=1.5)
F.fractional_max_pool2d(y,2,8)
F.fractional_max_pool2d(y,9,1)
F.fractional_max_pool2d(y,2,3,_random_samples=ones(2,3,3))
F.fractional_max_pool2d(y,2,3,_random_samples=ones(2,4,2)/2)
F.fractional_max_pool2d(y,2,3,_random_samples=ones(1,3,2)/2)
F.fractional_max_pool2d(y,2,3,_random_samples=ones(2,3,2).double()/2)
F.fractional_max_pool2d(y.long(),2,3)
F.fractional_max_pool2d(y1[:,0],2,3)
F.fractional_max_pool2d(y[:0],2,3)
F.fractional_max_pool2d(y,(2,2,2),3)
F.fractional_max_pool3d(y3,2,3)
F.fractional_max_pool3d(y3[0],2,3)
F.fractional_max_pool3d(y3,2)
F.fractional_max_pool3d(y3,2,5)
F.fractional_max_pool3d(y3,2,output_ratio=(.5,.5,.6))
F.fractional_max_pool3d(y3,2,output_ratio=1.5)
torch.max_pool2d(y,kernel_size=2,stride=2,padding=0,dilation=1,ceil_mode=False)
torch.adaptive_avg_pool1d(y1,output_size=2)
torch.nn.functional.avg_pool2d(y,2,1,count_include_pad=False,ceil_mode=True)
F.max_pool2d(input=y,kernel_size=2,stride=None)
F.max_pool2d(y,2,[])
"""


@pytest.mark.parametrize("expression", CALLS.split("\n")[1:-1])
def test_pooling(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)


AT_RANDOM = """
F.fractional_max_pool2d(y, 2, 3, return_indices=True)
F.fractional_max_pool2d(y.double(), (2, 3), output_ratio=(0.5, 0.6), return_indices=True)
F.fractional_max_pool2d(y.half(), 3, 1, return_indices=True)
F.fractional_max_pool3d(y3, 2, (3, 2, 1), return_indices=True)
F.fractional_max_pool2d_with_indices(y[0], 2, 4)
(F.fractional_max_pool2d(y, 2, 3), torch.rand(2))
"""


@pytest.mark.parametrize("expression", AT_RANDOM.split("\n")[1:-1])
def test_windows_at_random_places_are_drawn_as_by_pytorch(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)


VALUES = np.array([0.0, -0.0, 1.0, 2.0, np.nan, np.inf, -np.inf])
WINDOWS = [((2, 2), (2, 2), (0, 0), (1, 1)), ((3, 2), (1, 2), (1, 1), (1, 2)), ((3, 3), (2, 2), (1, 1), (2, 1)),
           ((1, 3), (3, 1), (0, 1), (1, 1))]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("many", [1, 64], ids=["images last", "images first"])
def test_which_of_equal_maxima_and_of_nans_counts(window: tuple[Any, ...], ceil_mode: bool, many: int,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "POOLED_IMAGES", many)
    draws = np.random.default_rng(5)
    for _ in range(10):
        array = draws.choice(VALUES, (2, 2, 7, 6), p=(0.2, 0.1, 0.2, 0.1, 0.05, 0.05, 0.3))
        for call in (lambda f, x: f.max_pool2d(x, *window, ceil_mode, True),
                     lambda f, x: f.max_pool3d(x, *((1, *n) for n in window[:2]), *((0, *window[2]), (1, *window[3])),
                                               ceil_mode, True),
                     lambda f, x: f.adaptive_max_pool2d(x, (4, 5), True)):
            found = []
            for library in (torch, retrograd):
                x = library.from_numpy(array.copy()).requires_grad_()
                values, indices = call(library.nn.functional, x)
                values.sum().backward()
                found.append([values.detach().numpy(), indices.numpy(), x.grad.numpy()])
            for theirs, ours in zip(*found, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_where_maxima_of_overlapping_windows_go_back() -> None:
    """Of the values for one place the last is kept, but all of them get its gradient, and so on with that."""
    def call(torch: Any, x: Any) -> Any:
        f = torch.nn.functional
        _, indices = f.max_pool2d(x.detach(), 3, 1, return_indices=True)
        return f.max_unpool2d(f.max_pool2d(x, 3, 1), indices, 3, 1)

    compare(call, np.random.default_rng(3).standard_normal((2, 3, 7, 6)))


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("many", [1, 64], ids=["images last", "images first"])
def test_maxima_of_windows_without_elements(dims: int, size: int, dtype: str, many: int,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """All places of a dilated kernel lie in the padding."""
    monkeypatch.setattr(pooling, "POOLED_IMAGES", many)
    if dims == 1 and dtype != "float32":
        return
    far = size + 1
    for kernel, stride, dilation in ((2, 1, far), (2, 2, far), ((3, 2, 2)[:dims], 1, (1, far, far)[:dims]),
                                     ((2, 3, 2)[:dims], 1, (far, 1, 1)[:dims])):
        found = []
        for package in (torch, retrograd):
            x = package.tensor([np.nan, 1.0, 0.0, 2.0])[package.arange(2 * size ** dims) % 4].reshape(2, *[size] * dims)
            x = x.nan_to_num(3).to(getattr(package, dtype)) if dtype != "float32" else x
            values, places = getattr(package.nn.functional, f"max_pool{dims}d")(
                x, kernel, stride, 1, dilation, True, return_indices=True)
            found.append((values.numpy(), places.numpy()))
        for mine, real in zip(*found):
            np.testing.assert_array_equal(mine, real)


IMAGES = [(0, 1, 2, 3), (0, 3, 1, 2), (3, 0, 1, 2), (0, 1, 3, 2), (1, 0, 2, 3)]
LAYOUTS = {
    "max_pool2d(x, 2, return_indices=True)": IMAGES, "adaptive_max_pool2d(x, 3, return_indices=True)": IMAGES,
    "adaptive_max_pool2d(x, 2, return_indices=True)": IMAGES, "avg_pool2d(x, 2)": IMAGES,
    "adaptive_avg_pool2d(x, 3)": IMAGES, "adaptive_avg_pool2d(x, 2)": IMAGES, "max_pool2d(x[0], 2)": IMAGES,
    "interpolate(x, size=(3, 2), mode='area')": IMAGES, "avg_pool2d(x.half(), 2)": IMAGES,
    "avg_pool2d(x[:, :1], 2)": IMAGES, "max_pool1d(x[0], 2)": IMAGES, "max_pool1d(x[0].requires_grad_(), 2)": IMAGES}
VOLUMES = [(0, 1, 2, 3, 4), (0, 4, 1, 2, 3), (4, 0, 1, 2, 3)]
LAYOUTS |= {f"{name}(x, 2)": VOLUMES for name in (
    "avg_pool3d", "adaptive_avg_pool3d", "max_pool3d", "adaptive_max_pool3d")}


@pytest.mark.parametrize(("call", "orders"), LAYOUTS.items())
@pytest.mark.parametrize("many", [1, 64], ids=["images last", "images first"])
def test_layouts(call: str, orders: list[tuple[int, ...]], many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "POOLED_IMAGES", many)
    for order in orders:
        found = []
        for package in (torch, retrograd):
            shape = (4, 6, 4, 6, 4)[:len(order)]
            x = (package.arange(float(np.prod(shape))) % 7).reshape(shape).permute(order)
            result = eval(f"F.{call}", {"F": package.nn.functional, "x": x})
            parts = result if isinstance(result, tuple) else (result,)
            found.append([(part.stride(), part.tolist()) for part in parts])
        assert found[0] == found[1], order
