"""Values of images at the points of a grid. `orders` says which derivative by each coordinate the weights are.

The derivative by the grid is the same operator one order higher, so derivatives of all orders exist.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.images import sampling_grids as kernels
from ..framework import Op, operator

grid_sampler_2d, grid_sampler_3d = [operator(
    f"grid_sampler_{dims}d", kernels.grid_sample, tensors=2, node=f"GridSampler{dims}DBackward0",
    x=lambda g, x_shape, grid, orders, mode, padding, align: grid_scatter(
        g, grid, x_shape, orders, mode, padding, align),
    grid=lambda g, x, grid, orders, mode, padding, align: grid_slopes(g, x, grid, orders, mode, padding, align))
    for dims in (2, 3)]


def _again(x: Any, grid: Any, orders: Any, mode: Any, padding: Any, align: Any) -> Any:
    sample = grid_sampler_2d if grid.ndim == 4 else grid_sampler_3d
    return sample(x, grid, orders, mode, padding, align)


grid_scatter: Op = operator(
    "grid_scatter", kernels.grid_scatter, tensors=2, node="GridSampler2DBackwardBackward0",
    g=lambda v, grid, orders, mode, padding, align: _again(v, grid, orders, mode, padding, align),
    grid=lambda v, g, grid, orders, mode, padding, align: grid_slopes(g, v, grid, orders, mode, padding, align))


def _higher(orders: Any, i: Any) -> Any:
    return tuple([order + (axis == i) for axis, order in enumerate(orders)])


def _slopes_by_g(v: Any, x: Any, grid: Any, orders: Any, mode: Any, padding: Any, align: Any) -> Any:
    parts = [np.expand_dims(v[..., i], 1) * _again(x, grid, _higher(orders, i), mode, padding, align)
             for i, _ in enumerate(orders)]
    return sum(parts[1:], parts[0])


def _slopes_by_image(v: Any, g: Any, x_shape: Any, grid: Any, orders: Any, mode: Any, padding: Any,
                     align: Any) -> Any:
    parts = [grid_scatter(g * np.expand_dims(v[..., i], 1), grid, x_shape, _higher(orders, i), mode, padding, align)
             for i, _ in enumerate(orders)]
    return sum(parts[1:], parts[0])


def _slopes_by_grid(v: Any, g: Any, x: Any, grid: Any, orders: Any, mode: Any, padding: Any, align: Any) -> Any:
    parts = [grid_slopes(g * np.expand_dims(v[..., i], 1), x, grid, _higher(orders, i), mode, padding, align)
             for i, _ in enumerate(orders)]
    return sum(parts[1:], parts[0])


grid_slopes: Op = operator("grid_slopes", kernels.grid_slopes, tensors=3, node="GridSampler2DBackwardBackward0",
                           g=_slopes_by_g, x=_slopes_by_image, grid=_slopes_by_grid)
