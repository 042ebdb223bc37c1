"""torch.signal.windows: weights over M points, computed with recorded operators.

Every window raises ValueError if M is negative or the dtype is not float32 or float64. A window with `sym=True` is
symmetric. A window with `sym=False` is periodic, for spectra: it is the symmetric window of one more point, without
the last point. The dtype is `dtype`, or the default float dtype. With `requires_grad`, the points require grad.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

from ..foundations.devices import DeviceLike
from ..foundations.dtypes import dtype as Dtype, float32, float64, get_default_dtype
from ..foundations.names import missing
from ..tensors.arguments.options import layout as Layout, strided
from ..tensors.functions.creation.creation import empty, ones, tensor
from ..tensors.functions.creation.ranges import arange, linspace
from ..tensors.functions.elementwise.elementary import abs, cos, exp, sin, sqrt
from ..tensors.functions.elementwise.special import i0
from ..tensors.tensor import Tensor

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
           "hann", "kaiser", "nuttall"]
__getattr__, __dir__ = missing(__name__, __all__)


def _options(name: str, m: int, dtype: Dtype | None, layout: Layout, device: DeviceLike | None,
             requires_grad: bool) -> dict[str, Any]:
    """The checked options with which all tensors of a window are made."""
    dtype = get_default_dtype() if dtype is None else dtype
    if m < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={m}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return {"dtype": dtype, "device": device, "requires_grad": requires_grad}


def _short(m: int, options: dict[str, Any]) -> Tensor:
    """The window of no point or of one point."""
    return cast("Tensor", (empty if m == 0 else ones)((m,), **options))


def _span(m: int, sym: bool) -> int:
    """The distance between the ends of a symmetric window, or to the point that a periodic window leaves out."""
    return m if not sym and m > 1 else m - 1


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Dtype | None = None,
                layout: Layout = strided, device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """exp(-|n - center| / tau). Only a periodic window may have a center other than its middle.

    >>> import retrograd as torch
    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    options = _options("exponential", M, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return _short(M, options)
    if center is None:
        center = _span(M, sym) / 2.0
    window: Tensor = exp(-abs(linspace(-center / tau, (M - 1 - center) / tau, M, **options)))
    return window


def cosine(M: int, *, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
           device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """One half of a wave of the sine: sin(pi (n + 1/2) / M)."""
    options = _options("cosine", M, dtype, layout, device, requires_grad)
    if M == 0:
        return _short(M, options)
    step = math.pi / (_span(M, sym) + 1)
    window: Tensor = sin(linspace(0.5 * step, (0.5 + (M - 1)) * step, M, **options))
    return window


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
             device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """The density of a normal distribution with the standard deviation `std`, with the height 1."""
    options = _options("gaussian", M, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return _short(M, options)
    start, step = -_span(M, sym) / 2.0, 1 / (std * math.sqrt(2))
    window: Tensor = exp(-(linspace(start * step, (start + (M - 1)) * step, M, **options) ** 2))
    return window


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
           device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """Kaiser's window: i0(beta sqrt(1 - x ** 2)) / i0(beta), for x from -1 to 1."""
    options = _options("kaiser", M, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _short(M, options)
    end = min(beta, -beta + (M - 1) * (2.0 * beta / (M - sym)))
    points = linspace(-beta, end, M, **options)
    height = tensor(beta, dtype=points.dtype, device=device)
    window: Tensor = i0(sqrt(height * height - points ** 2)) / i0(height)
    return window


def bartlett(M: int, *, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
             device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """A triangle that is 0 at the ends.

    >>> import retrograd as torch
    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    options = _options("bartlett", M, dtype, layout, device, requires_grad)
    if M < 2:
        return _short(M, options)
    window: Tensor = 1 - abs(linspace(-1, -1 + (M - 1) * (2 / (M - sym)), M, **options))
    return window


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, dtype: Dtype | None = None,
                   layout: Layout = strided, device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """The sum of waves of the cosine: a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., for x from 0 to 2 pi.

    Raises TypeError if `a` is no sequence, and ValueError if it is empty.
    """
    options = _options("general_cosine", M, dtype, layout, device, requires_grad)
    if M < 2:
        return _short(M, options)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    points = linspace(0, (M - 1) * (2 * math.pi / (M - sym)), M, **options)
    weights = tensor([(-1) ** i * weight for i, weight in enumerate(a)], **options)
    orders = arange(weights.shape[0], dtype=weights.dtype, device=device)
    window: Tensor = (weights.unsqueeze(-1) * cos(orders.unsqueeze(-1) * points)).sum(0)
    return window


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Dtype | None = None,
                    layout: Layout = strided, device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """alpha - (1 - alpha) cos(x), for x from 0 to 2 pi."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def hamming(M: int, *, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
            device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """Hamming's window, which stays above 0 at the ends."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M: int, *, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
         device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """Hann's window, which is 0 at the ends.

    >>> import retrograd as torch
    >>> torch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)


def blackman(M: int, *, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
             device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """Blackman's window, of a constant and two cosines."""
    _options("blackman", M, dtype, layout, device, requires_grad)                # the error names this window
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def nuttall(M: int, *, sym: bool = True, dtype: Dtype | None = None, layout: Layout = strided,
            device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """Nuttall's window with the lowest side lobes of four terms, after Blackman and Harris.

    Source: A. H. Nuttall, "Some windows with very good sidelobe behavior", 1981.
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)
