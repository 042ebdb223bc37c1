"""Entries for Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry


def _transform(name: str, **options: Any) -> Callable[..., Any]:
    return lambda torch, x: getattr(torch.fft, name)(x, **options)


def _title(options: dict[str, Any]) -> str:
    return "".join(f" {key}={value}" for key, value in options.items())


_ONE: tuple[dict[str, Any], ...] = ({}, {"n": 3, "norm": "forward"}, {"n": 7, "dim": -1, "norm": "ortho"}, {"dim": 0},
                                    {"norm": "forward"}, {"norm": "ortho", "dim": 1})
_MORE: tuple[dict[str, Any], ...] = ({}, {"s": (2, 7)}, {"norm": "forward"}, {"norm": "ortho", "dim": (1, 0)},
                                     {"s": (5,), "dim": (0,)}, {"s": (-1, 3), "dim": (-2, -1), "norm": "ortho"})


def _kinds(name: str) -> str:
    return "fi" if name.startswith(("rfft", "ihfft")) else "fci"


FOURIER = [
    *(Entry(f"{name}{_title(options)}", _transform(name, **options), (((3, 4),), ((2, 5),)), kinds=_kinds(name))
      for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for options in _ONE),
    *(Entry(f"{name}{_title(options)}", _transform(name, **options), (((3, 4),), ((2, 5),)), kinds=_kinds(name))
      for name in ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn") for options in _MORE),
    *(Entry(name, _transform(name), (((2, 3, 4),),), kinds=_kinds(name))
      for name in ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftshift", "ifftshift")),
    *(Entry(f"{name} options", _transform(name, s=(3, 4), dim=(0, 1), norm="ortho"), (((2, 3, 4),),),
            kinds=_kinds(name)) for name in ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")),
    *(Entry(f"{name} dims", _transform(name, dim=(0, 1)), (((2, 3, 4),),), kinds="fci")
      for name in ("fftshift", "ifftshift")),
    Entry("stft", lambda t, x, w: t.stft(x, 4, window=w, return_complex=True), (((2, 9), (4,)), ((7,), (4,)))),
    Entry("stft wide", lambda t, x: t.stft(x, 6, 2, 3, pad_mode="constant", normalized=True, onesided=False,
                                           return_complex=True), (((2, 9),),), kinds="fc"),
    Entry("istft", lambda t, x: t.istft(x, 4, window=t.tensor([1., 2., 3., 2.])), (((2, 3, 4),), ((3, 4),)), kinds="c"),
    Entry("istft complex", lambda t, x, w: t.istft(x, 4, window=w, return_complex=True, length=5), (((2, 4, 4), (4,)),),
          low=0.5, kinds="c"),
]
