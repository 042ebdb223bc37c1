"""torch.fft: Fourier transforms. The modules of this package have the functions, built on `ops.fourier`."""

from typing import TYPE_CHECKING

from ..foundations.names import missing, offered
from .frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .one_dim import fft, hfft, ifft, ihfft, irfft, rfft
from .several_dims import fft2, fftn, hfft2, hfftn, ifft2, ifftn, ihfft2, ihfftn, irfft2, irfftn, rfft2, rfftn

__all__ = offered(globals())
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
