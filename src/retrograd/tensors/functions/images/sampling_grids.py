"""The functions of the namespace torch that sample images at the points of a grid or make affine grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....foundations.dtypes import Array, dtype as torch_dtype, refuse
from ....ops.images import resampling as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, as_int, size_at
from ...recording.calls import recorded
from ...recording.public import public

_samplers = {2: recorded(ops.grid_sampler_2d), 3: recorded(ops.grid_sampler_3d)}
_affine_grid = recorded(ops.affine_grid)


def _check(x: Array, grid: Array, mode: int) -> None:
    dims, shown = x.ndim - 2, f"input with sizes {[*x.shape]} and grid with sizes {[*grid.shape]}"
    if size_at(grid, 0) != size_at(x, 0):
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {shown}")
    if grid.shape[-1] != dims:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {dims} in last dimension, but got grid with "
                           f"sizes {[*grid.shape]}")
    for axis, n in enumerate(x.shape[2:], 2):
        if n == 0:
            raise RuntimeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
                               f"sizes {[*x.shape]} with dimension {axis} being empty")
    if dims not in (2, 3) or grid.ndim != x.ndim:
        raise RuntimeError(f"grid_sampler(): expected {4 if x.ndim == 4 else 5}D input and grid with same number of "
                           f"dimensions, but got {shown}")
    if dims == 3 and mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    refuse(x.dtype, "grid_sampler_2d_cpu_kernel_impl" if dims == 2 else "grid_sampler3d_cpu", "biuc")
    if grid.dtype != x.dtype:
        want, have = (torch_dtype.of[a.dtype].legacy for a in (x, grid))
        raise RuntimeError(f"expected scalar type {want} but found {have}")


@public()
def grid_sampler(input: TensorBase, grid: TensorBase, interpolation_mode: int, padding_mode: int,
                 align_corners: bool) -> Any:
    """`nn.functional.grid_sample` with numbers for the modes.

    Interpolation: 0 is linear, 1 nearest, 2 cubic. Padding: 0 is zeros, 1 border, 2 reflection. Raises RuntimeError if
    input and grid do not fit together, NotImplementedError for ints and complex numbers.
    """
    x, points = array_of("grid_sampler", input), array_of("grid_sampler", grid, "grid", 2)
    _check(x, points, interpolation_mode)
    return _samplers[x.ndim - 2](input, grid, (0,) * (x.ndim - 2), interpolation_mode, padding_mode,
                                 bool(align_corners))


@public()
def grid_sampler_2d(input: TensorBase, grid: Any, interpolation_mode: int, padding_mode: int,
                    align_corners: bool) -> Any:
    """`grid_sampler` for images (N, C, H, W)."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@public()
def _grid_sampler_2d_cpu_fallback(input: TensorBase, grid: Any, interpolation_mode: int, padding_mode: int,
                                  align_corners: bool) -> Any:
    """`grid_sampler_2d`, which PyTorch computes in another way for images with too many elements."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@public()
def grid_sampler_3d(input: TensorBase, grid: Any, interpolation_mode: int, padding_mode: int,
                    align_corners: bool) -> Any:
    """`grid_sampler` for volumes (N, C, D, H, W)."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@public()
def affine_grid_generator(theta: TensorBase, size: Sequence[int], align_corners: bool) -> Any:
    """The points of an image of `size` (N, C, H, W) or (N, C, D, H, W), mapped by the affine maps `theta`.

    `theta` has the shape (N, 2, 3) or (N, 3, 4), the grid (N, H, W, 2) or (N, D, H, W, 3). Raises RuntimeError if
    `theta` has another shape.
    """
    shape = array_of("affine_grid_generator", theta, "theta").shape
    sizes = tuple([as_int("affine_grid_generator", n, "size") for n in size])
    dims = len(sizes) - 2
    if shape[0] != sizes[0]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{sizes[0]}, {dims + 1}] "
                           f"but got: [{shape[0]}, {shape[-1]}].")
    return _affine_grid(theta, sizes[2:], bool(align_corners))
