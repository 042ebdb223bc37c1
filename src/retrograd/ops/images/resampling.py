"""Resized images and affine grids: linear operators, each with an adjoint. Each name in PyTorch has its operator."""

from __future__ import annotations

from ...kernels.images import resampling as kernels
from ..framework import Op, linear

# For each mode the name of PyTorch's nodes, with {} for the number of dims.
NAMES = {"nearest": "UpsampleNearest{}D", "nearest-exact": "UpsampleNearestExact{}D", "linear": "UpsampleLinear{}D",
         "bilinear": "UpsampleBilinear{}D", "trilinear": "UpsampleTrilinear{}D", "bicubic": "UpsampleBicubic{}D",
         "bilinear aa": "UpsampleBilinear{}DAa", "bicubic aa": "UpsampleBicubic{}DAa",
         "lanczos aa": "UpsampleLanczos{}DAa"}


def _pair(name: str) -> Op:
    """Resampling with a node of this name, and its adjoint."""
    backward: Op
    forward = linear(name, kernels.resample, node=f"{name}Backward0", x=lambda g, axes: backward(g, axes))
    backward = linear(f"{name}_backward", kernels.resample_backward, node=f"{name}BackwardBackward0",
                      g=lambda v, axes: forward(v, axes))
    return forward


NEAREST = {dims: _pair(NAMES["nearest"].format(dims)) for dims in (1, 2, 3)}
NEAREST_EXACT = {dims: _pair(NAMES["nearest-exact"].format(dims)) for dims in (1, 2, 3)}
SMOOTH = {mode: _pair(NAMES[mode].format(1 if mode == "linear" else 3 if mode == "trilinear" else 2))
          for mode in NAMES if mode[:4] != "near"}
windows = _pair("SumOverWindows")

affine_grid = linear("affine_grid", kernels.affine_grid, node="AffineGridGeneratorBackward0",
                     theta=lambda g, sizes, align: affine_grid_backward(g, sizes, align))
affine_grid_backward: Op = linear("affine_grid_backward", kernels.affine_grid_backward,
                                  g=lambda v, sizes, align: affine_grid(v, sizes, align))
