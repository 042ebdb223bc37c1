"""Transforms over several dimensions: over the last two, or over any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..foundations.dtypes import legacy
from ..ops.fourier import c2c, c2r, r2c
from ..tensors.functions.elementwise.elementary import conj, conj_physical
from ..tensors.recording.public import public
from ..tensors.tensor import Tensor
from .points import half_points, ints, points_of, promoted, put_into, resized, scale_of


def _over(name: str, transform: Callable[..., Any], rule: str, about: str) -> tuple[Callable[..., Any], Any]:
    """The function over any dims, and the function over the last two."""

    said = "fftn" if name == "ifftn" else name              # PyTorch uses this name for an unfit output

    def over(called: str, dims: list[int] | None, where: str) -> Callable[..., Any]:
        @public(f"fft_{called}(Tensor input, ints[1] s=None, ints[1] dim={dims}, str norm=None, out)", name=called,
                strict=True, doc=f"{about} over {where}")
        def function(input: Tensor, s: Any = None, dim: Any = dims, norm: str | None = None, *,
                     out: Tensor | None = None) -> Any:
            s, dim = ints(f"fft_{called}", s, "s"), ints(f"fft_{called}", dim, "dim")
            if out is not None:
                return put_into(out, said, rule, transform, input, s, dim, norm)
            return transform(input, s, dim, norm)

        return function

    return (over(name, None, "`dim`, with `s` points along each; without `dim`, over the last len(s) dims, or all.\n\n"
                             "    Raises RuntimeError for float16 and for no points."),
            over(f"{name[:-1]}2", [-2, -1], f"the last two dims, or over `dim`. See `{name}`."))


def _fftn(forward: bool) -> Callable[..., Any]:
    def transform(input: Tensor, s: tuple[int, ...] | None, dim: tuple[int, ...] | None, norm: Any) -> Any:
        points = points_of(input, s, dim)
        x = resized(promoted(input, True), points)
        return c2c(x, points.dims, scale_of(norm, forward), forward)

    return transform


def _rfftn(input: Tensor, s: tuple[int, ...] | None, dim: tuple[int, ...] | None, norm: Any) -> Any:
    if input._array.dtype.kind == "c":
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {legacy(input._array)}")
    points = points_of(input, s, dim)
    if not points.dims:
        raise RuntimeError("rfftn must transform at least one axis")
    return r2c(resized(promoted(input, False), points), points.dims, scale_of(norm, True), True)


def _irfftn(input: Tensor, s: tuple[int, ...] | None, dim: tuple[int, ...] | None, norm: Any) -> Any:
    points, size = half_points("irfftn", input, points_of(input, s, dim), s)
    x = resized(promoted(input, True), points)
    return c2r(x, points.dims, scale_of(norm, False), size)


def _hfftn(input: Tensor, s: tuple[int, ...] | None, dim: tuple[int, ...] | None, norm: Any) -> Any:
    """The forward transform of an array that is Hermitian-symmetric in the last dim: the c2r of its conjugate."""
    points, size = half_points("hfftn", input, points_of(input, s, dim), s)
    x, scale = resized(promoted(input, True), points), scale_of(norm, True)
    *others, last = points.dims
    if others:
        x = c2c(x, tuple(others), scale, True)
    return c2r(conj(x), (last,), scale, size)


def _ihfftn(input: Tensor, s: tuple[int, ...] | None, dim: tuple[int, ...] | None, norm: Any) -> Any:
    points = points_of(input, s, dim)
    if not points.dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    x, scale = resized(promoted(input, False), points), scale_of(norm, False)
    if x._array.dtype.kind == "c":
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {legacy(x._array)}")
    *others, last = points.dims
    half = r2c(x, (last,), scale, True)
    return c2c(conj_physical(half), tuple(others), scale, False) if others else conj(half)


fftn, fft2 = _over("fftn", _fftn(True), "_fft_c2c", "The discrete Fourier transform")
ifftn, ifft2 = _over("ifftn", _fftn(False), "_fft_c2c", "The inverse discrete Fourier transform")
rfftn, rfft2 = _over("rfftn", _rfftn, "_fft_r2c", "The transform of real numbers, with the first half of the last dim,")
irfftn, irfft2 = _over("irfftn", _irfftn, "_fft_c2r", "The inverse of `rfftn`, to real numbers,")
hfftn, hfft2 = _over("hfftn", _hfftn, "_fft_c2r", "The transform of half a Hermitian-symmetric array to real numbers")
ihfftn, ihfft2 = _over("ihfftn", _ihfftn, "_fft_c2c", "The inverse of `hfftn`, from real numbers,")
