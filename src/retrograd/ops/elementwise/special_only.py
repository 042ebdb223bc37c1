"""Special functions that only `torch.special` has: zeta, Bessel functions, the normal distribution, polynomials.

Functions without a derivative in PyTorch have none here: most Bessel functions and the polynomials are constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.special import bessel, gamma, normal, polynomials
from ..domains import float_or_double, floating
from ..framework import Op, constant, elementwise
from .elementary import sgn
from .special import log_of, off_zero, underivable, with_numbers

if TYPE_CHECKING:
    from ..values import Value

_ROOT_PI = math.sqrt(math.pi)

_ZETA = float_or_double("zeta_cpu")
_zeta_by_x = underivable("zeta")


def _zeta_of_number(g: Value, y: Value, x: float) -> Any:
    return g * (-x * zeta_of_number(y, x + 1))


zeta: Op = elementwise("zeta", gamma.zeta, arguments="x y", node="SpecialZetaBackward0", domain=_ZETA, x=_zeta_by_x,
                       y=lambda g, x, y: g * (-x * zeta(x + 1, y)))
zeta_of_number, zeta_with_number = with_numbers("zeta", "SpecialZetaBackward", gamma.zeta, _ZETA, _zeta_by_x,
                                                 _zeta_of_number)

# x * log(1 + y)

_XLOG1PY = floating("xlog1py_cpu", "c")


def _by_argument(g: Value, x: Value, y: Value) -> Any:
    return g * x / (y + 1)


def _by_factor_of_number(g: Value, x: Value, y: float) -> Any:
    return g * log_of(y, math.log1p, -1) if y > -1 else np.where(x == 0, 0.0, xlog1py_with_number(g, y))


xlog1py: Op = elementwise(
    "xlog1py", normal.xlog1py, node="SpecialXlog1PyBackward0", domain=_XLOG1PY, any_type=True,
    x=lambda g, x, y: np.where(np.logical_and(x == 0, y <= -1), 0.0, xlog1py(g, y)), y=_by_argument)
xlog1py_of_number, xlog1py_with_number = with_numbers("xlog1py", "SpecialXlog1PyBackward", normal.xlog1py, _XLOG1PY,
                                                       _by_factor_of_number, _by_argument, any_type=True)


# Bessel functions


def _i1e(g: Value, x: Value, out: Value) -> Any:
    flat, safe = off_zero(x)
    return g * np.where(flat, 0.5, i0e(safe) - out * (sgn(x) + 1 / safe))


i0e: Op = elementwise("i0e", bessel.i0e, node="SpecialI0EBackward0", domain=floating("i0e_cpu", "c"),
                    x=lambda g, x, out: g * (i1e(x) - sgn(x) * out))
i1e: Op = elementwise("i1e", bessel.i1e, node="SpecialI1EBackward0", domain=floating("i1e_cpu", "c"), x=_i1e)


def _underived(name: str, kernel: Callable[..., Any], arguments: str = "x") -> Op:
    """A function that is constant to autograd."""
    return constant(name, kernel, arguments, domain=float_or_double(f"{name}_cpu"))


bessel_j0, bessel_j1 = _underived("bessel_j0", bessel.j0), _underived("bessel_j1", bessel.j1)
bessel_y0, bessel_y1 = _underived("bessel_y0", bessel.y0), _underived("bessel_y1", bessel.y1)
modified_bessel_i0, modified_bessel_i1, modified_bessel_k0, modified_bessel_k1 = [
    _underived(f"modified_bessel_{name}", kernel)
    for name, kernel in (("i0", bessel.i0), ("i1", bessel.i1), ("k0", bessel.k0), ("k1", bessel.k1))]
scaled_modified_bessel_k0 = _underived("scaled_modified_bessel_k0", bessel.k0e)
scaled_modified_bessel_k1 = _underived("scaled_modified_bessel_k1", bessel.k1e)
spherical_bessel_j0 = _underived("spherical_bessel_j0", bessel.spherical_j0)
airy_ai = _underived("airy_ai", bessel.airy_ai)

# The normal distribution, the scaled error function, entropy

erfcx = elementwise("erfcx", normal.erfcx, node="SpecialErfcxBackward0", domain=float_or_double("erfcx_cpu"),
                  x=lambda g, x, out: g * (2 * x * out - 2 / _ROOT_PI))
log_ndtr = elementwise("log_ndtr", normal.log_ndtr, node="SpecialLogNdtrBackward0",
                     domain=float_or_double("log_ndtr_cpu"),
                     x=lambda g, x: g / (erfcx(x * -math.sqrt(0.5)) * math.sqrt(math.pi / 2)))
ndtri = elementwise("ndtri", normal.ndtri, node="SpecialNdtriBackward0", domain=float_or_double("ndtri_cpu"),
                  x=lambda g, out: g * (math.sqrt(2 * math.pi) * np.exp(out * out / 2)))
entr = elementwise("entr", normal.entr, node="SpecialEntrBackward0", domain=floating("entr_cpu", "c"),
                 x=lambda g, x: g * (-np.log(x) - 1))

# Orthogonal polynomials of x, of degree y

POLYNOMIALS = {name: _underived(name, kernel, "x y") for name, kernel in {
    "chebyshev_polynomial_t": polynomials.chebyshev_t, "chebyshev_polynomial_u": polynomials.chebyshev_u,
    "chebyshev_polynomial_v": polynomials.chebyshev_v, "chebyshev_polynomial_w": polynomials.chebyshev_w,
    "shifted_chebyshev_polynomial_t": polynomials.shifted_chebyshev_t,
    "shifted_chebyshev_polynomial_u": polynomials.shifted_chebyshev_u,
    "shifted_chebyshev_polynomial_v": polynomials.shifted_chebyshev_v,
    "shifted_chebyshev_polynomial_w": polynomials.shifted_chebyshev_w,
    "hermite_polynomial_h": polynomials.hermite_h, "hermite_polynomial_he": polynomials.hermite_he,
    "laguerre_polynomial_l": polynomials.laguerre_l, "legendre_polynomial_p": polynomials.legendre_p}.items()}
