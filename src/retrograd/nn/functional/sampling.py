"""Values of images at the points of a grid, and affine grids."""

from __future__ import annotations

from collections.abc import Sequence

from ...foundations.errors import warn
from ...tensors.functions.images import sampling_grids
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor

__all__ = ["affine_grid", "grid_sample"]

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
             "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
             "details.", UserWarning)
    return bool(align_corners)


@public()
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:
    """The values of `input` (N, C, H, W) at the points of `grid` (N, h, w, 2): (N, C, h, w).

    Volumes (N, C, D, H, W) take a grid (N, d, h, w, 3). A point is (column, row) from -1 to 1. With `align_corners` -1
    and 1 are the centers of the outermost elements, otherwise their outer edges. `mode` is "bilinear", "nearest" or,
    for images only, "bicubic". `padding_mode` says what is outside of the image: "zeros", the "border", or the image by
    "reflection". The function has derivatives with respect to input and grid.

    >>> import retrograd as torch
    >>> image = torch.tensor([[[[0., 1.], [2., 3.]]]])
    >>> torch.nn.functional.grid_sample(image, torch.tensor([[[[0., 0.], [1., 1.]]]]), align_corners=True)
    tensor([[[[1.5000, 3.0000]]]])

    Raises ValueError for other modes, RuntimeError if input and grid do not fit.
    """
    if mode not in _MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
                         f"got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
                         f"but got: '{padding_mode}'")
    return sampling_grids.grid_sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode),
                                       _aligned(align_corners))


@public()
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """A grid for `grid_sample`: the points of an image of `size`, mapped by affine maps `theta`.

    `size` is (N, C, H, W) for theta (N, 2, 3), and (N, C, D, H, W) for theta (N, 3, 4).

    >>> import retrograd as torch
    >>> turn = torch.tensor([[[0., -1., 0.], [1., 0., 0.]]])
    >>> torch.nn.functional.affine_grid(turn, (1, 1, 2, 2), align_corners=True).shape
    torch.Size([1, 2, 2, 2])

    Raises ValueError if theta does not fit or a size is not positive, NotImplementedError for other numbers of
    dimensions.
    """
    aligned = _aligned(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
                                  f"respectively. Got size {size}.")
    if theta.dim() != 3 or theta.shape[1:] != (dims, dims + 1):
        raise ValueError(f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. "
                         f"Got {theta.shape}.")
    if aligned and min(size[2:]) == 1:
        warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
             "is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
             UserWarning)
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return sampling_grids.affine_grid_generator(theta, size, aligned)
