"""Fourier transforms: closed forms, inverses, the sum of squares that they keep, and facts recorded from PyTorch."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import fft
from retrograd.kernels import fourier

PAIRS = [("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft"), ("fft2", "ifft2"), ("rfft2", "irfft2"),
         ("ihfft2", "hfft2"), ("fftn", "ifftn"), ("rfftn", "irfftn"), ("ihfftn", "hfftn")]


def signal(*shape: int, dtype: Any = torch.float64) -> Any:
    return torch.from_numpy(np.random.default_rng(len(shape)).standard_normal(shape)).to(dtype)


@pytest.mark.parametrize(("forward", "inverse"), PAIRS)
@pytest.mark.parametrize("norm", [None, "forward", "backward", "ortho"])
@pytest.mark.parametrize("shape", [(4, 6), (3, 5), (2, 3, 7)])
def test_an_inverse_gives_back_what_was_transformed(forward: str, inverse: str, norm: str | None,
                                                    shape: tuple[int, ...]) -> None:
    x = signal(*shape)
    there = getattr(fft, forward)(x, norm=norm)
    size = shape[-1] if forward in ("rfft", "ihfft") else shape[-2:] if forward.endswith("2") else shape
    options = {} if forward[:3] == "fft" else {"n" if isinstance(size, int) else "s": size}
    back = getattr(fft, inverse)(there, norm=norm, **options)
    assert torch.allclose(back.real if back.is_complex() else back, x)


def by_strides(array: Any) -> list[int]:
    """The axes from the slowest in memory to the fastest."""
    return sorted(range(array.ndim), key=lambda d: -array.strides[d])


@pytest.mark.parametrize("shape", [(40, 36), (35, 41), (5, 12, 21)])
@pytest.mark.parametrize("scale", [0, 1, 2])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("own_loops", [True, False])
def test_the_kernels_give_what_numpy_gives(shape: tuple[int, ...], scale: int, precision: Any, own_loops: bool,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    if not own_loops:
        monkeypatch.setattr(fourier, "ufuncs", lambda: None)
    draws, far = np.random.default_rng(5), ["backward", "ortho", "forward"]
    back: Any = far[::-1][scale]
    real = draws.standard_normal(shape).astype(precision)
    numbers = (real + 1j * draws.standard_normal(shape)).astype(np.result_type(precision, np.complex64))
    near = 1e-6 if precision is np.float32 else 1e-14
    for dims in [(1,), (0,), (0, 1), (1, 0), tuple(range(len(shape)))]:
        forth: Any = {"axes": dims, "norm": far[scale]}
        half = np.fft.rfftn(real, **forth)
        for found, expected, innermost in (
                (fourier.c2c(numbers, dims, scale, True), np.fft.fftn(numbers, **forth), max(dims)),
                (fourier.c2c(real + 0j, dims, scale, True), np.fft.fftn(real, **forth), max(dims)),
                (fourier.c2c(numbers, dims, scale, False), np.fft.ifftn(numbers, axes=dims, norm=back), max(dims)),
                (fourier.r2c(real, dims, scale, True), half, dims[-1]),
                (fourier.c2r(half, dims, scale, shape[dims[-1]]),
                 np.fft.irfftn(half, [shape[dim] for dim in dims], dims, back), dims[-1])):
            assert found.dtype == expected.dtype
            assert found.strides[innermost] == found.itemsize
            assert found.transpose(by_strides(found)).flags.c_contiguous, "without gaps"
            np.testing.assert_allclose(found, expected, rtol=0, atol=near * np.abs(expected).max())


def test_a_wave_is_one_frequency() -> None:
    wave = torch.cos(2 * math.pi * 2 * torch.arange(8, dtype=torch.float64) / 8)
    expected = torch.zeros(5, dtype=torch.float64)
    expected[2] = 4
    assert torch.allclose(fft.rfft(wave).abs(), expected)
    assert fft.rfftfreq(8, d=1 / 8)[2] == 2


def test_a_scale_of_the_root_keeps_the_sum_of_squares() -> None:
    x = signal(3, 8)
    assert torch.allclose(fft.fft2(x, norm="ortho").abs().square().sum(), x.square().sum())


@pytest.mark.parametrize(("dtype", "expected"), [
    (torch.float32, torch.complex64), (torch.float64, torch.complex128), (torch.int64, torch.complex64),
    (torch.bool, torch.complex64), (torch.complex64, torch.complex64)])
def test_single_precision_stays_single(dtype: Any, expected: Any) -> None:
    x = signal(2, 4).to(dtype)
    for name in ("fft", "ifft", "fft2", "fftn"):
        assert getattr(fft, name)(x).dtype is expected
    assert fft.irfft(x).dtype is expected.to_real()
    with pytest.raises(RuntimeError, match="^Unsupported dtype Half"):
        fft.fft(x.real.to(torch.float16))


def test_a_stack_of_nothing_is_transformed_to_nothing() -> None:
    """PyTorch's library refuses a configuration here."""
    assert fft.fft(torch.zeros(0, 3)).shape == (0, 3)
    assert fft.irfft(torch.zeros(2, 0, 3), dim=-1).shape == (2, 0, 4)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_shifts_undo_each_other(n: int) -> None:
    x = signal(n, 3)
    assert torch.equal(fft.ifftshift(fft.fftshift(x)), x)
    frequencies = fft.fftshift(fft.fftfreq(n))
    assert frequencies.tolist() == sorted(frequencies.tolist())


@pytest.mark.parametrize("options", [{}, {"normalized": True}, {"onesided": False}, {"hop_length": 3},
                                     {"win_length": 6}])
def test_istft_gives_back_the_signal(options: dict[str, Any]) -> None:
    x = signal(2, 40)
    window = torch.hann_window(options.get("win_length", 8), dtype=torch.float64) + 0.1
    there = torch.stft(x, 8, window=window, return_complex=True, **options)
    back = there.istft(8, window=window, length=40 if 40 % options.get("hop_length", 2) == 0 else 37, **options)
    assert torch.allclose(back, x[:, : back.shape[1]])


def test_windows_that_leave_a_gap_are_refused() -> None:
    spectrum = torch.stft(signal(32), 8, hop_length=8, window=torch.ones(8, dtype=torch.float64), return_complex=True)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        spectrum.istft(8, hop_length=8, window=torch.hann_window(8, dtype=torch.float64), center=False)


def test_a_length_beyond_the_signal_is_filled_with_zeros() -> None:
    ones = torch.ones(8, dtype=torch.float64)
    spectrum = torch.stft(signal(32), 8, window=ones, return_complex=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        back = spectrum.istft(8, window=ones, length=50)
    assert "shorter than the length parameter" in str(caught[0].message)
    assert back.shape == (50,)
    assert not back[40:].any()


def test_windows() -> None:
    """As PyTorch prints them."""
    assert torch.hann_window(5, False).tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]
    assert torch.bartlett_window(4).tolist() == [0.0, 0.5, 1.0, 0.5]
    for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
        window = getattr(torch, f"{name}_window")
        assert window(0).shape == (0,)
        assert window(1).tolist() == [1.0]
        assert torch.equal(window(6), window(7, periodic=False)[:6])
