"""Transforms along one dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import dtype as torch_dtype
from ..tensors.arguments.dims import array_of, as_int
from ..tensors.functions.elementwise.elementary import conj
from ..tensors.recording.public import public
from .points import Points, c2c, c2r, check_norm, check_points, dim_of, promoted, put_into, r2c, resized, scale_of


def _checked(name: str, input: Any, n: Any, dim: Any, norm: Any) -> Any:
    """Check the types of all arguments, and return `n` as an int or None."""
    array_of(name, input)
    if n is not None:
        n = as_int(name, n, "n")
    as_int(name, dim, "dim")
    check_norm(name, norm)
    return n


def _placed(input: Any, n: Any, dim: Any) -> tuple[Any, int]:
    """The tensor with `n` points, and the dimension counted from the front."""
    shape = input._array.shape
    dim = dim_of(dim, len(shape))
    check_points(shape[dim] if n is None else n)
    return (input if n is None else resized(input, Points((dim,), (n,)))), dim


def _refuse_complex(name: str, input: Any) -> None:
    if input._array.dtype.kind == "c":
        raise RuntimeError(f"{name} expects a real input tensor, but got {torch_dtype.of[input._array.dtype].legacy}")


def _real_forward(input: Any, n: Any, dim: Any, norm: Any, forward: bool, onesided: bool) -> Any:
    """The transform of real numbers. The inverse transform is the conjugate."""
    x, dim = _placed(promoted(input, False), n, dim)
    result = r2c(x, (dim,), scale_of(norm, forward), onesided)
    return result if forward else conj(result)


def _full(name: str, forward: bool) -> Callable[..., Any]:
    """fft or ifft."""

    @public(f"fft_{name}(Tensor input, int n=None, int dim=-1, str norm=None, out)", name=name, doc=
        f"The {'' if forward else 'inverse '}discrete Fourier transform along `dim`.\n\n    With `n` the input is "
        "first cut, or extended by zeros, to `n` points. The result is complex. "
        f"`norm=\"{'forward' if forward else 'backward'}\"` divides by n, \"ortho\" by its square root; the default is "
        "\"backward\".\n    Raises RuntimeError for float16 and for no points.\n\n"
        "    >>> import retrograd as torch\n"
        f"    >>> torch.fft.{name}(torch.tensor([1, 0j]))\n"
        f"    tensor({'[1.+0.j, 1.+0.j]' if forward else '[0.5000+0.j, 0.5000+0.j]'})")
    def function(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
        n = _checked(f"fft_{name}", input, n, dim, norm)
        if out is not None:
            rule = "_fft_c2c" if input._array.dtype.kind == "c" else "_fft_r2c" if forward else "_fft_conj"
            return put_into(out, name, rule, function, input, n, dim, norm)
        if input._array.dtype.kind != "c":
            return _real_forward(input, n, dim, norm, forward, False)
        x, dim = _placed(input, n, dim)
        return c2c(x, (dim,), scale_of(norm, forward), forward)

    return function


fft, ifft = _full("fft", True), _full("ifft", False)


def _from_real(name: str, forward: bool) -> Callable[..., Any]:
    """rfft or ihfft."""

    @public(f"fft_{name}(Tensor input, int n=None, int dim=-1, str norm=None, out)", name=name, doc=
        f"The {'' if forward else 'inverse '}transform of real numbers along `dim`. With `n` the input is "
        "first cut, or extended by zeros, to n points.\n\n    The result has the first n // 2 + 1 points, which "
        "determine the others. Raises RuntimeError for complex input and for float16.")
    def function(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
        n = _checked(f"fft_{name}", input, n, dim, norm)
        _refuse_complex(name, input)
        if out is not None:
            return put_into(out, name, "_fft_r2c" if forward else "_fft_conj", function, input, n, dim, norm)
        return _real_forward(input, n, dim, norm, forward, True)

    return function


rfft, ihfft = _from_real("rfft", True), _from_real("ihfft", False)


def _to_real(name: str, forward: bool) -> Callable[..., Any]:
    """irfft or hfft."""

    @public(f"fft_{name}(Tensor input, int n=None, int dim=-1, str norm=None, out)", name=name, doc=
        f"The {'' if forward else 'inverse '}transform to `n` real numbers along `dim`, from the first half of a "
        "Hermitian-symmetric input.\n\n    Without `n` the result has 2 * (m - 1) elements along `dim`, where m is "
        "the size of the input. Raises RuntimeError for float16.")
    def function(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
        n = _checked(f"fft_{name}", input, n, dim, norm)
        if out is not None:
            return put_into(out, name, "_fft_c2r", function, input, n, dim, norm)
        x = promoted(input, True)
        axis = dim_of(dim, x._array.ndim)
        size = 2 * (x._array.shape[axis] - 1) if n is None else n
        check_points(size)
        if n is not None:
            x = resized(x, Points((axis,), (n // 2 + 1,)))
        scale = scale_of(norm, forward)
        return c2r(conj(x) if forward else x, (axis,), scale, size)

    return function


irfft, hfft = _to_real("irfft", False), _to_real("hfft", True)
