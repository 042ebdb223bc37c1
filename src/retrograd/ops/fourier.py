"""Discrete Fourier transforms: from complex to complex, from real to complex, from complex to real. All are linear.

The rules are adjoints: the adjoint of a sum with exponents of one sign has exponents of the other sign. A transform
that keeps half of a symmetric result counts the other half by a weight. `scale` multiplies the sums (see the kernels).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..foundations.dtypes import Shape
from ..kernels import fourier as kernels
from .framework import Op, linear

if TYPE_CHECKING:
    from .values import Value


def _doubles(size: int) -> int:
    """How many elements of the kept half stand for two elements each, in a transform of `size` points."""
    return (size - 1) // 2


def _from_real(g: Value, x_shape: Shape, dims: tuple[int, ...], scale: int, onesided: bool) -> Any:
    """The gradient for the input of a real transform. The engine takes the real part if the input is real."""
    if not onesided:
        return c2c(g, dims, scale, False)
    return half_adjoint(g, dims, scale, x_shape[dims[-1]])


c2c: Op = linear("_fft_c2c", kernels.c2c, layout="kept", node="FftC2CBackward0", complex="adjoint",
                 x=lambda g, dims, scale, forward: c2c(g, dims, scale, not forward))
r2c: Op = linear("_fft_r2c", kernels.r2c, layout="kept", node="FftR2CBackward0", complex="adjoint", x=_from_real)
c2r: Op = linear("_fft_c2r", kernels.c2r, layout="kept", node="FftC2RBackward0", complex="adjoint",
                 x=lambda g, dims, scale, size: weighted(r2c(g, dims, scale, True), dims[-1], _doubles(size), 2.0))

# The gradient for the input of a real transform of which half is kept.
half_adjoint: Op = linear("_fft_r2c_backward", kernels.half_adjoint, layout="kept", node="SelectBackward0",
                          complex="adjoint", x=lambda g, dims, scale: r2c(g, dims, scale, True))
weighted: Op = linear("mul", kernels.weighted, layout="kept",
                      x=lambda g, dim, count, weight: weighted(g, dim, count, weight))
