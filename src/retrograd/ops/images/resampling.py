"""Resized images, affine grids, and values of images at the points of a grid.

Resizing is linear, and each operator has an adjoint. Each name in PyTorch has its operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.images import resampling as kernels, sampling_grids
from ..framework import Op, linear, operator

if TYPE_CHECKING:
    from ..values import Value

# For each mode the name of PyTorch's nodes, with {} for the number of dims.
NAMES = {"nearest": "UpsampleNearest{}D", "nearest-exact": "UpsampleNearestExact{}D", "linear": "UpsampleLinear{}D",
         "bilinear": "UpsampleBilinear{}D", "trilinear": "UpsampleTrilinear{}D", "bicubic": "UpsampleBicubic{}D",
         "bilinear aa": "UpsampleBilinear{}DAa", "bicubic aa": "UpsampleBicubic{}DAa",
         "lanczos aa": "UpsampleLanczos{}DAa"}


# The operators that resize, and their adjoints.
RESIZINGS: list[Op] = []


def _pair(name: str) -> Op:
    """Resampling with a node of this name, and its adjoint."""
    backward: Op
    forward = linear(name, kernels.resample, node=f"{name}Backward0", layout="kept",
                     x=lambda g, axes: backward(g, axes))
    backward = linear(f"{name}_backward", kernels.resample_backward, node=f"{name}BackwardBackward0",
                      g=lambda v, axes: forward(v, axes))
    RESIZINGS.extend((forward, backward))
    return forward


NEAREST = {dims: _pair(NAMES["nearest"].format(dims)) for dims in (1, 2, 3)}
NEAREST_EXACT = {dims: _pair(NAMES["nearest-exact"].format(dims)) for dims in (1, 2, 3)}
SMOOTH = {mode: _pair(NAMES[mode].format(1 if mode == "linear" else 3 if mode == "trilinear" else 2))
          for mode in NAMES if mode[:4] != "near"}

affine_grid = linear("affine_grid", kernels.affine_grid, node="AffineGridGeneratorBackward0",
                     theta=lambda g, sizes, align: affine_grid_backward(g, sizes, align))
affine_grid_backward: Op = linear("affine_grid_backward", kernels.affine_grid_backward,
                                  g=lambda v, sizes, align: affine_grid(v, sizes, align))

# Values of images at the points of a grid. `orders` says which derivative by each coordinate the weights are. The
# derivative by the grid is the same operator one order higher, so derivatives of all orders exist.

grid_sampler_2d, grid_sampler_3d = [operator(
    f"grid_sampler_{dims}d", sampling_grids.grid_sample, tensors=2, node=f"GridSampler{dims}DBackward0",
    x=lambda g, x_shape, grid, orders, mode, padding, align: grid_scatter(
        g, grid, x_shape, orders, mode, padding, align),
    grid=lambda g, x, grid, orders, mode, padding, align: grid_slopes(g, x, grid, orders, mode, padding, align))
    for dims in (2, 3)]


def _again(x: Value, grid: Value, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    sample = grid_sampler_2d if grid.ndim == 4 else grid_sampler_3d
    return sample(x, grid, orders, mode, padding, align)


grid_scatter: Op = operator(
    "grid_scatter", sampling_grids.grid_scatter, tensors=2, node="GridSampler2DBackwardBackward0",
    g=lambda v, grid, orders, mode, padding, align: _again(v, grid, orders, mode, padding, align),
    grid=lambda v, g, grid, orders, mode, padding, align: grid_slopes(g, v, grid, orders, mode, padding, align))


def _higher(orders: tuple[int, ...], i: int) -> Any:
    return tuple([order + (axis == i) for axis, order in enumerate(orders)])


def _slopes_by_g(v: Value, x: Value, grid: Value, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    parts = [np.expand_dims(v[..., i], 1) * _again(x, grid, _higher(orders, i), mode, padding, align)
             for i, _ in enumerate(orders)]
    return sum(parts[1:], parts[0])


def _slopes_by_image(v: Value, g: Value, x_shape: Shape, grid: Value, orders: tuple[int, ...], mode: int, padding: int,
                     align: bool) -> Any:
    parts = [grid_scatter(g * np.expand_dims(v[..., i], 1), grid, x_shape, _higher(orders, i), mode, padding, align)
             for i, _ in enumerate(orders)]
    return sum(parts[1:], parts[0])


def _slopes_by_grid(v: Value, g: Value, x: Value, grid: Value, orders: tuple[int, ...], mode: int, padding: int,
                    align: bool) -> Any:
    parts = [grid_slopes(g * np.expand_dims(v[..., i], 1), x, grid, _higher(orders, i), mode, padding, align)
             for i, _ in enumerate(orders)]
    return sum(parts[1:], parts[0])


grid_slopes: Op = operator("grid_slopes", sampling_grids.grid_slopes, tensors=3, node="GridSampler2DBackwardBackward0",
                           g=_slopes_by_g, x=_slopes_by_image, grid=_slopes_by_grid)
