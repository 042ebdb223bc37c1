"""torch.fft, stft and istft against PyTorch: options, errors, `out=`, the order of checks."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import retrograd
from comparing.near_expression import check

_SETUP = """
fft = torch.fft
r = (torch.arange(12.) * 7 % 5 - 2).view(3, 4).requires_grad_()
z = torch.complex(r.detach(), r.detach().flip(0)).requires_grad_()
p, q = r.detach(), z.detach()
i, h, e, n0 = torch.arange(6).view(2, 3), torch.ones(4).half(), torch.zeros(3, 0), torch.tensor(1.)
c64, c128 = torch.zeros(3, 4, dtype=torch.complex64), torch.zeros(3, 4, dtype=torch.complex128)
"""
_ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
_MORE = ["fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"]
_ONE_CALLS = """
{f}(z)
{f}(r)
{f}(i)
{f}(h)
{f}(e)
{f}(n0)
{f}(p > 0)
{f}(p.double())
{f}([1.])
{f}({x}, n=0)
{f}({x}, n=-2)
{f}({x}, dim=5)
{f}({x}, norm='x')
{f}({x}, n=1.5)
{f}({x}, dim=(0, 1))
{f}({x}, norm=3)
{f}({x}, n=1)
{f}({x}, 2, 0, 'ortho')
{f}({x}, out=c64.clone())
{f}({x}.detach(), out=c64.clone())
{f}({x}.detach(), out=c128.clone()).to(torch.complex64)
{f}({x}.detach(), out=torch.zeros(2))
{f}({x}.detach(), out=torch.zeros(0, dtype=torch.float64)).float()
{f}({x}.detach().t()[::2])
"""
_MORE_CALLS = """
{f}(z)
{f}(r)
{f}(i)
{f}(h)
{f}(e)
{f}(n0)
{f}(p.double())
{f}(p[0])
{f}({x}, s=(0, 1))
{f}({x}, s=(-1, 2))
{f}({x}, s=(-2, 2))
{f}({x}, s=(2,))
{f}({x}, s=(2, -1))
{f}({x}, s=4)
{f}({x}, dim=5)
{f}({x}, dim=())
{f}({x}, s=(), dim=())
{f}({x}, dim=(0, 0))
{f}({x}, dim=(0, 1, 2))
{f}({x}, s=(1, 2, 3))
{f}({x}, s=(1, 2, 3), dim=(0, 1))
{f}({x}, norm='x')
{f}({x}, s=(5, 5), norm='forward')
{f}({x}, dim=-1)
{f}({x}, dim=(1, 0))
{f}({x}, s='a')
{f}({x}, norm=3)
{f}({x}, out=c64.clone())
{f}({x}.detach(), out=c64.clone())
{f}({x}.detach(), out=c128.clone()).to(torch.complex64)
{f}({x}.detach(), out=torch.zeros(2))
{f}({x}.detach(), out=torch.zeros(0, dtype=torch.float64)).float()
"""
_FREQUENCIES = """
fft.fftfreq(5)
fft.fftfreq(6, 0.1)
fft.fftfreq(0)
fft.fftfreq(1)
fft.fftfreq(5, d=2, dtype=torch.float64)
fft.fftfreq(7, d=0.3, dtype=torch.float16)
fft.fftfreq(-1)
fft.fftfreq(5, d=0.)
fft.fftfreq(5, requires_grad=True)
fft.fftfreq(2.5)
fft.fftfreq(4, 'a')
fft.fftfreq(4, dtype=torch.int64)
fft.fftfreq(5, out=torch.zeros(5))
fft.fftfreq(5, out=torch.zeros(5, dtype=torch.float64))
fft.rfftfreq(0)
fft.rfftfreq(1)
fft.rfftfreq(5)
fft.rfftfreq(6, d=0.25)
fft.rfftfreq(-3)
fft.rfftfreq(5, dtype=torch.int64)
fft.fftshift(r)
fft.fftshift(r, 1)
fft.fftshift(r, (0, 1))
fft.fftshift(r, -1)
fft.ifftshift(r)
fft.ifftshift(r, (0, 0))
fft.ifftshift(r, 1)
fft.fftshift(r, 5)
fft.fftshift(n0)
fft.fftshift(n0, 0)
fft.ifftshift(n0, (0, 1))
fft.fftfreq(2.5, device="meta")
fft.fftshift(r, dim=())
fft.fftshift(r, 1.5)
fft.fftshift(i)
"""


def _calls(names: list[str], calls: str) -> list[str]:
    return [call.format(f=f"fft.{name}", x="r" if name.startswith(("rf", "ih")) else "z")
            for name in names for call in calls.split("\n")[1:-1]]


@pytest.mark.parametrize("expression", [*_calls(_ONE, _ONE_CALLS), *_calls(_MORE, _MORE_CALLS),
                                        *_FREQUENCIES.split("\n")[1:-1]])
def test_transforms(expression: str) -> None:
    check(_SETUP, expression, names="out=" not in expression)    # what wrote to `out` has edges of its own


_SIGNALS = """
x = ((torch.arange(40.) * 7 % 11) - 5).view(2, 20).requires_grad_()
d = x.detach()
zc = torch.complex(d, d.flip(1)).requires_grad_()
w = torch.tensor([0.1, 0.5, 0.75, 1., 0.75, 0.5, 0.25, 0.2])
wz = torch.complex(w, w.flip(0))
X = torch.stft(x, 8, window=w, return_complex=True)
F = torch.stft(zc, 8, onesided=False)
"""
_STRETCHES = """
torch.stft(x, 8)
torch.stft(x, 8, return_complex=True)
torch.stft(x, 8, return_complex=False)
torch.stft(x[0], 8, return_complex=True)
x.stft(8, return_complex=True)
x.stft(8, 3, 6, w[:6], return_complex=True)
torch.stft(x, 8, window=w, return_complex=True)
torch.stft(x, 7, window=w[:7], return_complex=True)
torch.stft(x, 8, window=w[:4], return_complex=True)
torch.stft(x, 8, window=w[:4], win_length=4, return_complex=True)
torch.stft(x, 8, window=w[:3], win_length=3, return_complex=True)
torch.stft(x, 8, win_length=5, return_complex=True)
torch.stft(x, 30, return_complex=True)
torch.stft(x, 30, center=False, return_complex=True)
torch.stft(x, 8, 0, return_complex=True)
torch.stft(x, 8, win_length=9, return_complex=True)
torch.stft(x, 8, align_to_window=True, return_complex=True)
torch.stft(x, 8, win_length=4, center=False, align_to_window=True, return_complex=True)
torch.stft(x, 8, win_length=3, center=False, align_to_window=True, return_complex=True)
torch.stft(x, 8, win_length=4, center=False, align_to_window=False, return_complex=True)
torch.stft(x, 8, center=False, return_complex=True)
torch.stft(x, 8, pad_mode='constant', return_complex=True)
torch.stft(x, 8, pad_mode='replicate', return_complex=True)
torch.stft(x, 8, pad_mode='circular', return_complex=True)
torch.stft(x, 8, pad_mode='foo', return_complex=True)
torch.stft(x, 8, onesided=False, return_complex=True)
torch.stft(x, 8, normalized=True, return_complex=True)
torch.stft(x, 8, window=wz)
torch.stft(x, 8, window=wz, onesided=True)
torch.stft(zc, 8)
torch.stft(zc, 8, return_complex=False)
torch.stft(x, 8.5, return_complex=True)
torch.stft(x[None], 8, return_complex=True)
torch.stft(x[None], 8, center=False, return_complex=True)
torch.stft(torch.arange(20), 8, return_complex=True)
torch.stft(torch.arange(20), 8, center=False, return_complex=True)
torch.stft(torch.tensor(1.), 8, return_complex=True)
torch.stft(x[:, :4], 16, return_complex=True)
torch.stft(x.half(), 8, return_complex=True)
torch.istft(X, 8)
X.istft(8, window=w)
torch.istft(X, 8, window=w, center=False)
torch.istft(X, 8, window=w * (w > 0.15), center=False)
torch.istft(X, 8, window=w, length=15)
torch.istft(X, 8, window=w, length=20)
torch.istft(X, 8, window=w, length=40)
torch.istft(X, 8, window=w, length=5, center=False)
torch.istft(X, 8, 0)
torch.istft(X, 8, 9)
torch.istft(X, 8, win_length=9)
torch.istft(X, 8, window=w[:4])
torch.istft(X, 8, 1, 4)
torch.istft(X, 10)
torch.istft(X, 5)
torch.istft(X, 8, onesided=True)
torch.istft(X, 8, onesided=False)
torch.istft(X, 8, normalized=True)
torch.istft(X, 8, return_complex=True)
torch.istft(X, 5, return_complex=True, onesided=False)
torch.istft(X, 8, window=wz)
torch.istft(F, 8, return_complex=True)
torch.istft(F, 8)
torch.istft(X[0], 8)
torch.istft(x, 8)
torch.istft(X[:0], 8)
torch.istft(X[None], 8)
torch.istft(X[0, 0], 8)
"""


@pytest.mark.parametrize("expression", _STRETCHES.split("\n")[1:-1])
def test_stretches_of_a_signal(expression: str) -> None:
    check(_SIGNALS, expression)


_WINDOWS = """
torch.{w}(0)
torch.{w}(1)
torch.{w}(2)
torch.{w}(5)
torch.{w}(5, False)
torch.{w}(1, False)
torch.{w}(window_length=6, periodic=True)
torch.{w}(-1)
torch.{w}(2.5)
torch.{w}(5, 'a')
torch.{w}(4, dtype=torch.float64)
torch.{w}(9, periodic=False, dtype=torch.float64)
torch.{w}(4, dtype=torch.float16)
torch.{w}(4, dtype=torch.int64)
torch.{w}(4, dtype=torch.complex64)
torch.{w}(4, requires_grad=True)
"""
_SHAPED = ["torch.hamming_window(5, True, 0.5)", "torch.hamming_window(5, True, 0.5, 0.2)",
           "torch.hamming_window(5, True, alpha=0.4, dtype=torch.float64)", "torch.kaiser_window(5, True, 8.)",
           "torch.kaiser_window(6, False, beta=3, dtype=torch.float64)"]


@pytest.mark.parametrize("expression", [
    *(call.format(w=f"{name}_window") for name in ["bartlett", "blackman", "hamming", "hann", "kaiser"]
      for call in _WINDOWS.split("\n")[1:-1]), *_SHAPED])
def test_windows(expression: str) -> None:
    check("", expression)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
def test_results_lie_in_memory_as_in_pytorch(name: str) -> None:
    """The dimensions of the transform lie innermost, whatever the order of the input's dimensions."""
    draw = random.Random(name)
    for _ in range(60):
        shape = [draw.randint(2, 4) for _ in range(draw.randint(1, 4))]
        order, dims = [draw.sample(range(len(shape)), count) for count in (len(shape), draw.randint(1, len(shape)))]
        dtype = np.float32 if name in ("rfftn", "ihfftn") else np.complex64
        values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        found, expected = [getattr(t.fft, name)(t.tensor(values).permute(order), dim=dims) for t in (retrograd, torch)]
        assert found.shape == expected.shape
        assert [step for step, n in zip(found.stride(), found.shape, strict=True) if n > 1] == [
            step for step, n in zip(expected.stride(), expected.shape, strict=True) if n > 1], (shape, order, dims)
