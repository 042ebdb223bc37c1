"""The short-time Fourier transform of a signal (`stft`), and its inverse (`istft`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array, dtype as torch_dtype, legacy, letter
from ...foundations.errors import kind_of, noted, warn, warn_once
from ...ops import fourier, shape as shape_ops
from ...ops.basic import check_values
from ...tensors.state.base import TensorBase
from ..arguments.checking import is_int
from ..arguments.dims import array_of, as_int
from ..recording.calls import recorded
from ..recording.public import public
from ..state.base import plain
from .elementwise.elementary import view_as_complex, view_as_real
from .images.padding import constant_pad_nd, pad

_RETURN_COMPLEX_IS_MISSING = (
    "stft requires the return_complex parameter be given for real inputs, and will further require that "
    "return_complex=True in a future PyTorch release.")
_PAIRS_ARE_DEPRECATED = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
    "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
    "torch.view_as_real on the complex output to recover the old return format.")

_frames_of = recorded(shape_ops.frames)


def _type_name(array: Array) -> str:
    legacy = torch_dtype.of[array.dtype].legacy
    return f"CPU{legacy}Type" if array.dtype.kind in "cb" else f"torch.{legacy}Tensor"


def _spelled(value: Any) -> str:
    """An option in the spelling of PyTorch's messages."""
    if value is None or not hasattr(value, "_array"):
        return str(int(value)) if isinstance(value, bool) else str(value)
    return f"{_type_name(value._array)}{{{[*value._array.shape]}}}"


def _call(name: str, input: TensorBase, **options: Any) -> str:
    """The call in the spelling of PyTorch's messages."""
    said = ", ".join(f"{key}={_spelled(value)}" for key, value in options.items())
    return f"{name}({_type_name(input._array)}{[*input._array.shape]}, {said})"


def _padded(input: TensorBase, size: int, mode: str) -> Any:
    """The signal, padded with `size` points at both ends. `mode` is that of `pad`."""
    shape = input._array.shape
    wide = pad(input.view((1,) * (3 - len(shape)) + shape), (size, size), mode)
    return wide.view(wide._array.shape[-len(shape):])


def _padded_window(window: TensorBase | None, like: TensorBase, win_length: int, n_fft: int) -> Any:
    """The window, or a window of ones, padded with zeros to the length of the transform."""
    if win_length == n_fft:
        return window
    if window is None:
        window = plain(np.ones(win_length, like._array.dtype))
    before = (n_fft - win_length) // 2
    return constant_pad_nd(window, (before, n_fft - win_length - before))


_STFT_ENDS = ("bool normalized = False, bool onesided = None, bool return_complex = None, bool align_to_window = None)")
_STFT_BEGINS = " * (Tensor input, int n_fft, int hop_length = None, int win_length = None, Tensor window = None, "
_STFT_IS_CALLED_WRONG = (
    "stft() received an invalid combination of arguments - got (Tensor, {}), but expected one of:\n"
    f'{_STFT_BEGINS}bool center = True, str pad_mode = "reflect", {_STFT_ENDS}\n{_STFT_BEGINS}{_STFT_ENDS}\n'
    "      didn't match because some of the arguments have invalid types: (Tensor, {})\n")


def _expect_window(window: TensorBase | None, advice: str) -> None:
    """Warn once if there is no window."""
    if window is None:
        warn_once(f"A window was not provided. A rectangular window will be applied{advice}To suppress this warning "
                  "and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`.")


@public(method=True)
def stft(input: TensorBase, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
         window: TensorBase | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None) -> Any:
    """The short-time Fourier transform: the transforms of the frames of a signal.

    The signal has the shape (n,) or (batch, n), the result ([batch,] frequencies, frames). A frame has `n_fft` points.
    Frames begin `hop_length` (n_fft // 4) points apart. Each frame is multiplied by the window of `win_length` points.
    If `center` is True, the signal is padded such that the center of the first frame is the first point. Raises
    RuntimeError for other shapes and for lengths that do not fit.

    >>> import retrograd as torch
    >>> torch.stft(torch.zeros(16), 8, window=torch.hann_window(8), return_complex=True).shape
    torch.Size([5, 9])
    """
    array_of("stft", input)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if not is_int(n_fft):
        n_fft // 2                                          # which raises Python's error for a text, as in PyTorch
        given = n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
        raise TypeError(_STFT_IS_CALLED_WRONG.format(", ".join([kind_of(value) for value in given]),
                                                     ", ".join([f"!{kind_of(value)}!" for value in given])))
    n_fft = as_int("stft", n_fft, "n_fft")
    if center:
        input = _padded(input, n_fft // 2, pad_mode)
    _expect_window(window, ",which is known to cause spectral leakage. Other windows such as torch.hann_window or "
                           "torch.hamming_window are recommended to reduce spectral leakage.")
    hop = n_fft >> 2 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    is_complex = "c" in (input._array.dtype.kind, window is not None and window._array.dtype.kind)
    as_complex = is_complex if return_complex is None else return_complex
    if not as_complex:
        if return_complex is None:
            raise RuntimeError(_RETURN_COMPLEX_IS_MISSING)
        warn_once(_PAIRS_ARE_DEPRECATED)
    call = _call("stft", input, n_fft=n_fft, hop_length=hop, win_length=width, window=window, normalized=normalized,
                 onesided=onesided, return_complex=return_complex, align_to_window=align_to_window)
    _check_signal(call, input._array, n_fft, hop, width, window)
    x = input if input._array.ndim == 2 else input.unsqueeze(0)
    if align_to_window and not center:
        ahead = (n_fft - width) // 2
        x = constant_pad_nd(x, (ahead, n_fft - width - ahead))
    x, weights = _frames_of(x, n_fft, hop), _padded_window(window, input, width, n_fft)
    if weights is not None:
        x = x * weights
    out = _transformed(x, normalized, onesided).transpose_(1, 2)
    if input._array.ndim == 1:
        out.squeeze_(0)
    return out if as_complex else view_as_real(out)


def _int_of(n_fft: Any) -> int:
    if not is_int(n_fft):
        raise TypeError(f"istft(): argument 'n_fft' (position 2) must be int, not {kind_of(n_fft)}")
    return as_int("istft", n_fft, "n_fft")


def _check_signal(call: str, array: Array, n_fft: int, hop: int, width: int, window: TensorBase | None) -> None:
    """Raise RuntimeError if the signal, the lengths or the window are wrong."""
    if letter(array.dtype) not in "fc":
        raise RuntimeError(f"{call} : expected a tensor of floating point or complex values")
    if array.ndim not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")
    if not 0 < n_fft <= array.shape[-1]:
        raise RuntimeError(f"{call} : expected 0 < n_fft < {array.shape[-1]}, but got n_fft={width}")
    if hop <= 0:
        raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={width}")
    if window is not None and window._array.shape != (width,):
        raise RuntimeError(f"{call} : expected a 1D window tensor of size equal to win_length={width}, but got window "
                           f"with size {[*window._array.shape]}")


def _transformed(x: TensorBase, normalized: bool, onesided: bool | None) -> Any:
    """The transforms of the frames. The frames lie along the last of three dims."""
    scale = 1 if normalized else 0
    if x._array.dtype.kind != "c":
        if x._array.dtype.itemsize == 2:
            raise noted(RuntimeError(f"MKL FFT doesn't support tensors of type: {legacy(x._array)}"),
                        instead="convert with .float() first")
        return fourier.r2c(x, (2,), scale, onesided is None or onesided)
    if onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    return fourier.c2c(x, (2,), scale, True)


@public(method=True)
def istft(input: TensorBase, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
          window: TensorBase | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
          length: int | None = None, return_complex: bool = False) -> Any:
    """The inverse of `stft`: the signal with these transforms. `length` is the number of points, if given.

    Raises RuntimeError if the input is not complex, if the lengths do not fit, and if the squares of the windows over a
    point add up to 0, because the transforms then say nothing about this point.
    """
    array = array_of("istft", input)
    n_fft = _int_of(n_fft)
    _expect_window(window, ".Please provide the same window used by stft to make the inversion lossless.")
    hop = n_fft >> 2 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if array.dtype.kind != "c":
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with "
                           "return_complex=True.")
    call = _call("istft", input, n_fft=n_fft, hop_length=hop, win_length=width, window=window, center=center,
                 normalized=normalized, onesided=onesided, length=length, return_complex=return_complex)
    half = _check_transforms(call, array, n_fft, hop, width, window, onesided)
    x = view_as_real(input) if array.ndim == 3 else view_as_real(input).unsqueeze(0)
    y = _frames(view_as_complex(x.transpose(1, 2)), n_fft, normalized, half, return_complex, window)
    if window is None:
        window = plain(np.ones(width, torch_dtype.of[array.dtype].to_real().dtype))
    weights, count = _padded_window(window, window, width, n_fft), array.shape[-1]
    total = n_fft + hop * (count - 1)
    y = shape_ops.unfold_backward(y * weights.view(1, 1, n_fft), (y._array.shape[0], total), 1, n_fft, hop)
    envelope = shape_ops.unfold_backward(weights.pow(2).expand(1, count, n_fft), (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    kept = min(end, total) - start
    y, envelope = y.narrow(1, start, kept), envelope.narrow(1, start, kept)

    def test(envelope: Array) -> None:
        if np.any(np.abs(envelope) < 1e-11):
            raise RuntimeError(f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]")

    check_values(envelope._array, test)
    y = y / envelope
    if array.ndim == 2:
        y = y.squeeze(0)
    if end <= total:
        return y
    warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
         "Please check your center and hop_length settings.")
    return constant_pad_nd(y, (0, end - total))


def _check_transforms(call: str, array: Array, n_fft: int, hop: int, width: int, window: TensorBase | None,
                      onesided: bool | None) -> bool:
    """Whether the transforms are one-sided. Raises RuntimeError if transforms, lengths or window are wrong."""
    if array.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-array.ndim - 1}, {array.ndim}], but "
                         "got -3)")
    if array.size == 0:
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    if array.ndim not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 3 or 4 dimensions, but got {array.ndim + 1}")
    found = array.shape[-2]
    half = found != n_fft if onesided is None else onesided
    if found != (n_fft // 2 + 1 if half else n_fft):
        match = "n_fft / 2 + 1 when onesided=True" if half else "n_fft when onesided=False"
        raise RuntimeError(f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to match "
                           f"{match}, but got {found}")
    if not 0 < hop <= width:
        raise RuntimeError(f"{call} : expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft")
    if window is not None and window._array.shape != (width,):
        raise RuntimeError(f"{call} : Invalid window shape. window has to be 1D and length of `win_length`")
    return half


def _frames(x: TensorBase, n_fft: int, normalized: bool, half: bool, return_complex: bool,
            window: TensorBase | None) -> Any:
    """The frames of the signal. The frames lie along the last of three dims."""
    scale = 1 if normalized else 2
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        return fourier.c2c(x, (2,), scale, False)
    if window is not None and window._array.dtype.kind == "c":
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not half:
        x = x.narrow(2, 0, n_fft // 2 + 1)
    return fourier.c2r(x, (2,), scale, n_fft)
