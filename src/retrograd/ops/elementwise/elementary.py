"""Exponentials, logarithms, trigonometric and hyperbolic functions, the error function, roundings, parts of numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.elementwise import elementary as kernels
from ...kernels.special import normal
from ..basic import contiguous, real
from ..choosing import choose
from ..domains import floating, promoted
from ..framework import Op, constant, elementwise, flat, linear, operator

if TYPE_CHECKING:
    from ..values import Value

_LN2, _LN10 = math.log(2), math.log(10)

# Exponentials and logarithms

exp = elementwise("exp", np.exp, domain="float", x=lambda g, out: g * out)
exp2 = elementwise("exp2", kernels.exp2, domain="float", x=lambda g, out: g * out * _LN2)
expm1 = elementwise("expm1", np.expm1, domain="float", x=lambda g, out: g * (out + 1))
log = elementwise("log", np.log, domain="float", x=lambda g, x: g / x)
log2 = elementwise("log2", np.log2, domain="float", x=lambda g, x: g / (x * _LN2))
log10 = elementwise("log10", np.log10, domain="float", x=lambda g, x: g / (x * _LN10))
log1p = elementwise("log1p", kernels.log1p, node="Log1PBackward0", domain="float", x=lambda g, x: g / (x + 1))
sqrt = elementwise("sqrt", np.sqrt, domain="float", x=lambda g, out: g / (2 * out))
rsqrt = elementwise("rsqrt", kernels.rsqrt, domain="float", x=lambda g, out: g * (-0.5 * (out * out * out)))
logaddexp = elementwise("logaddexp", kernels.logaddexp, domain=promoted("logaddexp_cpu", "bi"),
                      x=lambda g, x, y: g / (1 + np.exp(y - x)), y=lambda g, x, y: g / (1 + np.exp(x - y)))
logaddexp2 = elementwise("logaddexp2", kernels.logaddexp2, domain=promoted("logaddexp2_cpu", "bic"),
                       x=lambda g, x, y: g / (1 + exp2(y - x)), y=lambda g, x, y: g / (1 + exp2(x - y)))

# Trigonometric and hyperbolic functions

sin = elementwise("sin", np.sin, domain="float", x=lambda g, x: g * np.cos(x))
cos = elementwise("cos", np.cos, domain="float", x=lambda g, x: g * -np.sin(x))
tan = elementwise("tan", np.tan, domain="float", x=lambda g, out: g * (1 + out * out))
asin = elementwise("asin", np.arcsin, domain="float", x=lambda g, x: g * rsqrt(1 - x * x))
acos = elementwise("acos", np.arccos, domain="float", x=lambda g, x: g * -rsqrt(1 - x * x))
atan = elementwise("atan", np.arctan, domain="float", x=lambda g, x: g / (x * x + 1))
sinh = elementwise("sinh", np.sinh, domain="float", x=lambda g, x: g * np.cosh(x))
cosh = elementwise("cosh", np.cosh, domain="float", x=lambda g, x: g * np.sinh(x))
tanh_backward: Op = elementwise("tanh_backward", kernels.tanh_backward, domain="as given",
                                grad_output=lambda g, output: tanh_backward(g, output),
                                output=lambda g, grad_output, output: g * (-2 * output * grad_output))
tanh = elementwise("tanh", np.tanh, domain="float", x=lambda g, out: tanh_backward(g, out))
asinh = elementwise("asinh", np.arcsinh, domain="float", x=lambda g, x: g * rsqrt(x * x + 1), written={"node": 1})
atanh = elementwise("atanh", np.arctanh, domain="float", x=lambda g, x: g / (1 - x * x), written={"node": 1})


def _acosh(g: Value, x: Value) -> Any:
    """The square root of x * x - 1 has a branch cut that acosh lacks. The product of two roots does not have it."""
    return g * rsqrt(x * x - 1) if x.dtype.kind != "c" else g * (rsqrt(x - 1) * rsqrt(x + 1))


acosh = elementwise("acosh", np.arccosh, domain="float", x=_acosh, written={"node": 1})


def _over_square(g: Value, part: Value, x: Value, y: Value) -> Any:
    """g * part / (x * x + y * y), and a 0 with the sign of `g * part` at the origin."""
    square = x * x + y * y
    return g * part * choose(square == 0, 0.0, np.reciprocal(square))


atan2 = elementwise("atan2", np.arctan2, domain=floating("atan2_cpu", "c"),
                  x=lambda g, x, y: _over_square(g, y, x, y), y=lambda g, x, y: _over_square(g, -x, x, y))
hypot = elementwise("hypot", kernels.hypot, domain=promoted("hypot_cpu", "bic"),
                  x=lambda g, x, out: g * x / out, y=lambda g, y, out: g * y / out)
deg2rad = elementwise("deg2rad", kernels.deg2rad, node="Deg2RadBackward0", x=lambda g: g * (math.pi / 180),
                      domain=floating(c=RuntimeError("deg2rad is not supported for complex tensors.")))
rad2deg = elementwise("rad2deg", kernels.rad2deg, node="Rad2DegBackward0", x=lambda g: g * (180 / math.pi),
                      domain=floating(c=RuntimeError("rad2deg is not supported for complex tensors.")))

# The error function

erf = elementwise("erf", normal.erf, domain=floating("erf_vml_cpu", "c"),
                x=lambda g, x: g * (2 / math.sqrt(math.pi) * np.exp(-(x * x))))
erfc = elementwise("erfc", normal.erfc, domain=floating("erfc_vml_cpu", "c"),
                 x=lambda g, x: g * (-2 / math.sqrt(math.pi) * np.exp(-(x * x))))
erfinv: Op = elementwise("erfinv", normal.erfinv, domain=floating("erfinv_vml_cpu", "c"),
                   x=lambda g, x: g * (math.sqrt(math.pi) / 2 * np.exp(np.square(erfinv(x)))))


def _logit(g: Value, x: Value, eps: Any) -> Any:
    """Outside of the limits the derivative is 0, or nan without eps. At 0, of either sign, and at 1 it is infinite."""
    limit = 0.0 if eps is None else eps
    outside = np.logical_or(x < limit, x > 1 - limit)
    slope = g / choose(outside, 1.0, x * (1 - x) + 0.0)
    return choose(outside, math.nan if eps is None else 0.0, slope)


logit = elementwise("logit", kernels.logit, domain=floating("logit_cpu", "c"), x=_logit)


# Where the logarithm is infinite, a gradient of 0 stays 0. As in PyTorch, a narrow type also rounds the logarithm.
xlogy: Op = elementwise(
    "xlogy", kernels.xlogy, domain=floating("xlogy_cpu", "c"), any_type=True,
    x=lambda g, x, y: np.where(np.logical_and(x == 0, y <= 0), 0.0, xlogy(g, y)), y=lambda g, x, y: g * x / y)


def _sinc(g: Value, x: Value) -> Any:
    t, square = x * math.pi, x * x * math.pi
    return np.where(square == 0, 0.0, g * ((t * np.cos(t) - np.sin(t)) / square))


sinc = elementwise("sinc", kernels.sinc, domain="float", x=_sinc)

# Sizes and signs


def _sgn(g: Value, x: Value) -> Any:
    """The sign of a real number is flat. That of a complex number follows the part at right angles to the number."""
    if x.dtype.kind != "c":
        return np.zeros_like(g)
    size, sign = np.abs(x), sgn(x)
    scaled = g / size
    return np.where(size == 0, 0.0, scaled - np.real(np.conj(sign) * scaled) * sign)


sgn: Op = elementwise("sgn", kernels.sgn, complex="adjoint", x=_sgn)
abs = elementwise("abs", np.absolute, complex="adjoint", domain=promoted("abs_cpu", "b"), x=lambda g, x: g * sgn(x))
sign = elementwise("sign", kernels.sgn, x=flat, domain=promoted(
    c="Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."))
Op.by_kernel[np.sign] = sgn

# Roundings, which are flat wherever they have a derivative

ceil, floor, trunc = [
    elementwise(name, kernels.whole(ufunc), x=flat, domain=promoted(
        b=f'"{name}_vml_cpu" not implemented for {{}}', c=f"{name} is not supported for complex inputs"))
    for name, ufunc in (("ceil", np.ceil), ("floor", np.floor), ("trunc", np.trunc))]
round = elementwise("round", kernels.rounded, x=flat, domain=promoted("round_vml_cpu", "bc"))
# With `decimals=0`, which PyTorch computes by the kernel of the other form.
round_to_whole = elementwise("round", kernels.rounded_at, node=1, x=flat, domain=promoted("round_vml_cpu", "bic"))
round_decimals = elementwise("round", kernels.rounded_at, node=1, x=flat, domain=promoted("round_cpu", "bic"))
frac = elementwise("frac", kernels.frac, x=lambda g: g, domain=promoted("frac_cpu", "bic"))
Op.by_kernel.update({np.ceil: ceil, np.floor: floor, np.trunc: trunc, np.rint: round, np.exp2: exp2, np.log1p: log1p,
                     np.logaddexp: logaddexp, np.logaddexp2: logaddexp2, np.hypot: hypot, np.deg2rad: deg2rad,
                     np.rad2deg: rad2deg})
nan_to_num = elementwise("nan_to_num", kernels.nan_to_num, x=lambda g, x: np.where(np.isfinite(x), g, 0.0))

# Complex numbers and their parts. The rule of a function that is not holomorphic is its VJP.


def _angle(g: Value, x: Value) -> Any:
    if x.dtype.kind != "c":
        return np.zeros_like(g)
    size = np.abs(x)
    return np.where(size == 0, 0.0, g * (1j * x) / (size * size))


angle = elementwise("angle", kernels.angle, domain="float", complex="adjoint", x=_angle)
conj = elementwise("conj", np.conjugate, complex="adjoint", x=lambda g: np.conj(g))
conj_physical = elementwise("conj_physical", np.conjugate, complex="adjoint", x=lambda g: np.conj(g),
                            written={"kernel": kernels.conjugate, "node": 1})
view_as_real = linear("view_as_real", kernels.view_as_real, view=True, complex="adjoint",
                      x=lambda g: view_as_complex(contiguous(g)))
view_as_complex: Op = linear("view_as_complex", kernels.view_as_complex, view=True, complex="adjoint",
                             x=lambda g: view_as_real(g))


def _into_pairs(g: Value, index: int) -> Any:
    flat = np.zeros_like(g)
    return np.stack((flat, g) if index else (g, flat), -1)


part = linear("select", kernels.part, view=True, x=_into_pairs)


polar = elementwise("polar", kernels.polar, complex="adjoint", x=lambda g, out: real(g * np.conj(sgn(out))),
                  y=lambda g, out: real(g * -1j * np.conj(out)))

# Parts and neighbors of numbers: mantissas and exponents, common divisors, the next representable number

gcd: Op = constant("gcd", kernels.gcd, "x y", domain=promoted("gcd_cpu", "bfc"))
Op.by_kernel[np.gcd] = gcd
lcm = constant("lcm", np.lcm, "x y", domain=promoted("lcm_cpu", "bfc"))
nextafter: Op = elementwise("nextafter", kernels.nextafter, domain=promoted("nextafter_cpu", "bic"), any_type=True,
                      x=lambda g, x, y: np.where(x == y, 0.0, g), y=flat)
Op.by_kernel[np.nextafter] = nextafter
ldexp: Op = elementwise("ldexp", kernels.ldexp, domain="float", tensors=2, x=lambda g, y: g * exp2(y),
                        y=lambda g, out: g * (out * math.log(2)))
Op.by_kernel[np.ldexp] = ldexp
frexp = operator("frexp", kernels.frexp, layout="kept", outputs="mantissa exponent", differentiable="mantissa",
                 x=lambda g, exponent: ldexp(g, -exponent))
