"""Window functions: 1-d tensors of weights that decrease towards both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....foundations.devices import DeviceLike
from ....foundations.dtypes import C_NAMES, dtype as torch_dtype, letter, unimplemented
from ....kernels import windows as kernels
from ...arguments.dims import as_int
from ...arguments.options import element_type, layout as Layout, made, strided
from ...recording.public import public

_OPTIONS = "layout=Strided (default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt)"

_COMMON = "dtype? dtype=None, layout? layout=None, device? device=None, bool pin_memory=False, bool requires_grad=False"


def _schemas(name: str, *parameters: str) -> list[str]:
    """The schemas of a window, the last ones with parameters of its own."""
    return [f"{name}_window(int window_length, *, {_COMMON})",
            *[f"{name}_window(int window_length, bool periodic, {more}*, {_COMMON})"
              for more in ("", *[f"{parameter}, " for parameter in parameters])]]


def _window(name: str, window_length: Any, periodic: Any, dtype: torch_dtype | None, device: DeviceLike | None,
            requires_grad: bool, *parameters: float) -> Any:
    """The window that a kernel computes. A periodic window is the symmetric window of one more point, less the last."""
    if not isinstance(periodic, bool) or not all(isinstance(p, (int, float)) for p in parameters):
        raise TypeError(f"{name}_window() received an invalid combination of arguments")
    n = as_int(f"{name}_window", window_length, "window_length")
    target = element_type(f"{name}_window", dtype)
    if letter(target) not in "fc":
        raise RuntimeError(f"{name}_window expects floating point dtypes, got: TensorOptions(dtype="
                           f"{C_NAMES[target.name]}, device=cpu, {_OPTIONS})")
    if n < 0:
        raise RuntimeError(f"{name}_window requires non-negative window_length, got window_length={n}")
    if n < 2:
        return made(np.ones(n, target), device, requires_grad)
    if target.kind == "c":
        raise unimplemented("arange_cpu", target)
    weights = getattr(kernels, name)(n + periodic, *parameters)
    return made(weights[:n].astype(target), device, requires_grad)


@public(*_schemas("bartlett"))
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: torch_dtype | None = None,
                    layout: Layout = strided, device: DeviceLike | None = None, pin_memory: bool = False,
                    requires_grad: bool = False) -> Any:
    """A triangle over `window_length` points. A periodic window, for spectra, is the symmetric window of one
    more point, without the last point.

    The dtype is `dtype`, or the default float dtype. Every window raises RuntimeError if the dtype is not floating or
    the length is negative.
    """
    return _window("bartlett", window_length, periodic, dtype, device, requires_grad)


@public(*_schemas("blackman"))
def blackman_window(window_length: int, periodic: bool = True, *, dtype: torch_dtype | None = None,
                    layout: Layout = strided, device: DeviceLike | None = None, pin_memory: bool = False,
                    requires_grad: bool = False) -> Any:
    """Blackman's window: a constant and two cosines. It decreases to 0 at the ends."""
    return _window("blackman", window_length, periodic, dtype, device, requires_grad)


@public(*_schemas("hamming", "float alpha", "float alpha, float beta"))
def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
                   dtype: torch_dtype | None = None, layout: Layout = strided, device: DeviceLike | None = None,
                   pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """Hamming's window: alpha - beta * cos. With the default parameters it stays above 0 at the ends."""
    return _window("hamming", window_length, periodic, dtype, device, requires_grad, alpha, beta)


@public(*_schemas("hann"))
def hann_window(window_length: int, periodic: bool = True, *, dtype: torch_dtype | None = None,
                layout: Layout = strided, device: DeviceLike | None = None, pin_memory: bool = False,
                requires_grad: bool = False) -> Any:
    """Hann's window: (1 - cos) / 2, which decreases to 0 at the ends.

    >>> import retrograd as torch
    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann", window_length, periodic, dtype, device, requires_grad)


@public(*_schemas("kaiser", "float beta"))
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: torch_dtype | None = None,
                  layout: Layout = strided, device: DeviceLike | None = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> Any:
    """Kaiser's window. A larger `beta` gives a narrower window."""
    return _window("kaiser", window_length, periodic, dtype, device, requires_grad, beta)
