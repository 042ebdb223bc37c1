"""The operators that torchvision has in C++, under their names in `torch.ops.torchvision`.

torchvision loads them from a library that is compiled for PyTorch. `torch.ops.load_library` imports this package in its
place. The gradients are operators, too, which torchvision registers from Python, from version 0.28 on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..libraries import Library
from . import deforming, regions

_ROI = "Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_DEFORMED = ("Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
             "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, "
             "bool use_mask")

library = Library("torchvision", "DEF")


def _define(schema: str, kernel: Callable[..., Any] | None) -> None:
    """Define an operator. Without a kernel, a call says that there is none."""
    name = library.define(schema)
    if kernel is not None:
        library.impl(name, kernel, "CPU")


_define("_cuda_version() -> int", None)
library.impl("_cuda_version", lambda: -1, "CompositeImplicitAutograd")
_define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", regions.nms)
_define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", None)
_define("qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, int "
        f"rois_zero_point, {_ROI.partition(', ')[2]}, int sampling_ratio, bool aligned) -> Tensor", None)
_define("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", None)
_define(f"roi_align(Tensor input, {_ROI}, int sampling_ratio, bool aligned) -> Tensor", regions.roi_align)
_define(f"_roi_align_backward(Tensor grad, {_ROI}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
        regions.roi_align_backward)
_define(f"roi_pool(Tensor input, {_ROI}) -> (Tensor, Tensor)", regions.roi_pool)
_define(f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_ROI.partition(', ')[2]}, {_SIZES}) -> Tensor",
        regions.roi_pool_backward)
_define(f"ps_roi_align(Tensor input, {_ROI}, int sampling_ratio) -> (Tensor, Tensor)", regions.ps_roi_align)
_define(f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_ROI.partition(', ')[2]}, "
        f"int sampling_ratio, {_SIZES}) -> Tensor", regions.ps_roi_align_backward)
_define(f"ps_roi_pool(Tensor input, {_ROI}) -> (Tensor, Tensor)", regions.ps_roi_pool)
_define(f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_ROI.partition(', ')[2]}, {_SIZES})"
        " -> Tensor", regions.ps_roi_pool_backward)
_define(f"deform_conv2d({_DEFORMED}) -> Tensor", deforming.deform_conv2d)
_define(f"_deform_conv2d_backward(Tensor grad, {_DEFORMED}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
        deforming.deform_conv2d_backward)
