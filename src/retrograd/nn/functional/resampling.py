"""Images with other sizes. Images are tensors (N, C, …) with one to three dimensions of space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from ...foundations.dtypes import Array, is_half, letter, unimplemented
from ...foundations.errors import warn
from ...ops.images import resampling as ops
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "lanczos": 2}
_AREA: dict[int, Callable[..., Any]] = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
_SMOOTHED = ("bilinear", "bicubic", "lanczos")


def _new_sizes(shape: tuple[int, ...], size: Any, scale_factor: Any) -> tuple[list[int] | None, list[float] | None]:
    """The sizes or else the factors, one for each dimension. Raises ValueError or TypeError if they do not fit."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    name, given = ("output size", size) if size is not None else ("scale_factor", scale_factor)
    if not isinstance(given, (list, tuple)):
        given = [given] * len(shape)
    elif len(given) != len(shape):
        what = "Input and output" if size is not None else "Input and scale_factor"
        of = "o" if size is not None else "s"
        shown = "output size of" if size is not None else "scale_factor of shape"
        raise ValueError(f"{what} must have the same number of spatial dimensions, but got input with spatial "
                         f"dimensions of {[*shape]} and {shown} {given}. Please provide "
                         f"input tensor in (N, C, d1, d2, ...,dK) format and {name} in ({of}1, {of}2, ...,{of}K) "
                         "format.")
    if size is None:
        return None, [float(factor) for factor in given]
    try:
        return [index(n) for n in given], None
    except TypeError:
        if isinstance(size, (list, tuple)):
            raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], "
                            f"but got size with types {[type(n) for n in size]}") from None
        raise TypeError(f"interpolate() received an invalid combination of arguments: size is {size!r}, not an "
                        "int") from None


def _check_mode(mode: str, dims: int) -> None:
    """Raises NotImplementedError if the mode does not exist for so many dimensions."""
    wanted = _DIMS.get(mode, dims if mode in ("nearest", "nearest-exact", "area") else 0)
    if 1 <= dims <= 3 and wanted == dims:
        return
    if 1 <= dims <= 3 and mode in ("linear", "bilinear", "trilinear"):
        raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {wanted + 2}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})")


def _check_sizes(shape: tuple[int, ...], new: Sequence[int], dims: int) -> None:
    if min((*shape[2:], *new)) <= 0:
        letters = {1: "W", 2: "HW", 3: "DHW"}[dims]
        old, made = (", ".join(f"{letter}: {n}" for letter, n in zip(letters, sizes)) for sizes in (shape[2:], new))
        between = "and " if dims == 1 else ""
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({old}) {between}output "
                           f"({made})")
    if math.prod(shape[1:]) == 0:
        raise RuntimeError(f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {[*shape]}")


def _check_type(x: Array, mode: str, dims: int, antialias: bool) -> None:
    """Raises NotImplementedError for dtypes that PyTorch's kernels lack: all ints but uint8, complex numbers."""
    kind = letter(x.dtype)
    if (x.dtype.name == "uint8" and (dims == 2 or mode[:4] == "near")) or (kind == "f" and not (
            antialias and is_half(x.dtype))):
        return
    if antialias:
        kernel = "compute_index_ranges_weights"
    else:
        what = "nearest" if mode[:4] == "near" else "cubic" if mode == "bicubic" else "linear"
        kernel = f"compute_indices_weights_{what}"
        if dims == 2 and what != "cubic":
            kernel = f"upsample_{'nearest' if what == 'nearest' else mode}2d_channels_last"
    raise unimplemented(kernel, x.dtype)


@public()
def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:
    """`input` (N, C, …) with other sizes of its last one to three dimensions.

    The new sizes are `size`, or the old sizes times `scale_factor`: one number, or one for each dimension. `mode` is
    "nearest", "nearest-exact" or "area" for any number of dimensions, "linear" for one, "bilinear", "bicubic" or
    "lanczos" for two, "trilinear" for three. With `align_corners` the centers of the outermost elements stay in place,
    otherwise their outer edges. With `antialias` bilinear, bicubic and Lanczos filters are as wide as the steps.
    Positions are computed from the given factors, or from the sizes with `recompute_scale_factor`.

    >>> import retrograd as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[0., 1.]]]), 4, mode="linear")
    tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])

    Raises ValueError, TypeError or NotImplementedError for arguments that do not fit together, RuntimeError for sizes
    of 0.
    """
    exact = mode in ("nearest", "area", "nearest-exact")
    if exact and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | "
                         "bicubic | trilinear")
    dims, x = input.dim() - 2, input._array
    new, factors = _new_sizes(x.shape[2:], size, scale_factor)
    if recompute_scale_factor and new is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if new is None:
        new = [int(n * factor) for n, factor in zip(x.shape[2:], factors or ())]
        if mode == "area" or recompute_scale_factor:
            factors = None
    if antialias and (mode not in _SMOOTHED or x.ndim != 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
                         "tensor as input")
    _check_mode(mode, dims)
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError("Lanczos mode does not support align_corners=True" if align_corners else
                         "Lanczos mode requires antialias=True")
    if mode == "area":
        return _AREA[dims](input, new)
    _check_sizes(x.shape, new, dims)
    _check_type(x, mode, dims, antialias)
    kind = mode if exact else mode[-6:] if mode[-6:] == "linear" else mode.removeprefix("bi")
    axes = tuple([(i + 2, n, new[i], kind, factors and factors[i], bool(align_corners), bool(antialias))
                  for i, n in enumerate(x.shape[2:])])
    op = {"nearest": ops.NEAREST, "nearest-exact": ops.NEAREST_EXACT}[mode][dims] if exact else (
        ops.SMOOTH[f"{mode} aa" if antialias else mode])
    return recorded(op)(input, axes)


def _deprecated(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", UserWarning)


@public()
def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool | None = None) -> Tensor:
    """`interpolate` under its former name. Warns that the name is deprecated."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public()
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with the nearest element. Warns that the name is deprecated."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor)


@public()
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear" and aligned corners. Warns that the name is deprecated."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)
