"""Transforms along one dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..foundations.dtypes import legacy
from ..ops.fourier import c2c, c2r, r2c
from ..tensors.arguments.dims import as_int
from ..tensors.functions.elementwise.elementary import conj
from ..tensors.recording.public import public
from ..tensors.tensor import Tensor
from .points import Points, check_points, dim_of, promoted, put_into, resized, scale_of


def _along(name: str, transform: Callable[..., Any], forward: bool, asks: str, about: str) -> Callable[..., Any]:
    """The function of a transform along one dimension.

    `asks` is the rule for `out` if the input is complex or the result real; "" if the input must be real.
    """

    @public(f"fft_{name}(Tensor input, int n=None, int dim=-1, str norm=None, out)", name=name,
            doc=f"The {'' if forward else 'inverse '}{about}")
    def function(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
                 out: Tensor | None = None) -> Any:
        array = input._array
        if array.dtype.kind == "c" and not asks:
            raise RuntimeError(f"{name} expects a real input tensor, but got {legacy(array)}")
        if out is not None:
            of_real = array.dtype.kind != "c" and asks != "_fft_c2r"
            rule = asks if not of_real else "_fft_r2c" if forward else "_fft_conj"
            return put_into(out, name, rule, function, input, n, dim, norm)
        return transform(input, None if n is None else as_int(name, n, "n"), dim, norm, forward)

    return function


def _placed(input: Tensor, n: Any, dim: Any) -> tuple[Any, int]:
    """The tensor with `n` points, and the dimension counted from the front."""
    shape = input._array.shape
    dim = dim_of(dim, len(shape))
    check_points(shape[dim] if n is None else n)
    return (input if n is None else resized(input, Points((dim,), (n,)))), dim


def _full(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """The transform to as many complex numbers."""
    if input._array.dtype.kind != "c":
        return _of_real(input, n, dim, norm, forward, onesided=False)
    x, dim = _placed(input, n, dim)
    return c2c(x, (dim,), scale_of(norm, forward), forward)


def _of_real(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool, onesided: bool = True) -> Any:
    """The transform of real numbers. The inverse transform is the conjugate."""
    x, dim = _placed(promoted(input, False), n, dim)
    result = r2c(x, (dim,), scale_of(norm, forward), onesided)
    return result if forward else conj(result)


def _to_real(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """The transform to `n` real numbers. The forward transform is that of the conjugate."""
    x = promoted(input, True)
    axis = dim_of(dim, x._array.ndim)
    size = 2 * (x._array.shape[axis] - 1) if n is None else n
    check_points(size)
    if n is not None:
        x = resized(x, Points((axis,), (n // 2 + 1,)))
    scale = scale_of(norm, forward)
    return c2r(conj(x) if forward else x, (axis,), scale, size)


_FULL = """discrete Fourier transform along `dim`.

    With `n` the input is first cut, or extended by zeros, to `n` points. The result is complex. `norm="{norm}"` divides
    by n, "ortho" by its square root; the default is "backward".
    Raises RuntimeError for float16 and for no points.

    >>> import retrograd as torch
    >>> torch.fft.{name}(torch.tensor([1, 0j]))
    {result}
"""
_OF_REAL = """transform of real numbers along `dim`.

    With `n` the input is first cut, or extended by zeros, to n points. The result has the first n // 2 + 1 points,
    which determine the others. Raises RuntimeError for complex input and for float16.
"""
_TO_REAL = """transform to `n` real numbers along `dim`, from the first half of a Hermitian-symmetric input.

    Without `n` the result has 2 * (m - 1) elements along `dim`, where m is the size of the input. Raises RuntimeError
    for float16.
"""
fft = _along("fft", _full, True, "_fft_c2c",
             _FULL.format(name="fft", norm="forward", result="tensor([1.+0.j, 1.+0.j])"))
ifft = _along("ifft", _full, False, "_fft_c2c",
              _FULL.format(name="ifft", norm="backward", result="tensor([0.5000+0.j, 0.5000+0.j])"))
rfft, ihfft = _along("rfft", _of_real, True, "", _OF_REAL), _along("ihfft", _of_real, False, "", _OF_REAL)
irfft = _along("irfft", _to_real, False, "_fft_c2r", _TO_REAL)
hfft = _along("hfft", _to_real, True, "_fft_c2r", _TO_REAL)
