"""Element-wise operators, and the numbers at which they are special: zeros, infinities, poles, ends of the range.

`CASES` has the operators, `FAULTS` where PyTorch is wrong or takes what was in memory, and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

inf, nan = math.inf, math.nan
Case = Callable[..., Any]

_UNARY = """abs acos acosh angle asin asinh atan atanh ceil conj_physical cos cosh deg2rad digamma erf erfc erfinv exp
exp2 expm1 floor frac i0 isfinite isinf isnan isneginf isposinf isreal lgamma log log10 log1p log2 logical_not logit
nan_to_num neg positive rad2deg real imag reciprocal relu round rsqrt selu celu sgn sigmoid sign signbit sin sinc sinh
sqrt square tan tanh trunc special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1
special.entr special.erfcx special.i0e special.i1 special.i1e special.log_ndtr special.modified_bessel_i0
special.modified_bessel_i1 special.modified_bessel_k0 special.modified_bessel_k1 special.ndtr special.ndtri
special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.spherical_bessel_j0 nn.functional.gelu
nn.functional.silu nn.functional.mish nn.functional.softplus nn.functional.softsign nn.functional.tanhshrink
nn.functional.hardswish nn.functional.hardsigmoid nn.functional.hardtanh nn.functional.relu6 nn.functional.elu
nn.functional.leaky_relu nn.functional.logsigmoid nn.functional.softshrink nn.functional.hardshrink"""
_BINARY = """add sub mul div floor_divide remainder fmod pow float_power atan2 hypot logaddexp logaddexp2 maximum
minimum fmax fmin copysign heaviside nextafter eq ne lt le gt ge isclose logical_and logical_or logical_xor xlogy
special.xlog1py special.zeta igamma igammac ldexp complex polar"""
_POLYNOMIALS = """chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u"""


def _named(name: str) -> Case:
    def call(torch: Any, *x: Any) -> Any:
        for part in name.split("."):
            torch = getattr(torch, part)
        return torch(*x)

    return call


def _each(name: str, numbers: Any, case: Case) -> dict[str, Case]:
    return {f"{name} {number}": lambda t, x, n=number: case(t, x, n) for number in numbers}


CASES: dict[str, Case] = {
    **{name: _named(name) for name in _UNARY.split()},
    **_each("polygamma", (0, 1, 2, 3, 4, 10), lambda t, x, n: t.polygamma(n, x)),
    **_each("mvlgamma", (1, 2), lambda t, x, n: t.mvlgamma(x, n)),
    **_each("x **", (0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, -1.5), lambda t, x, n: x ** n),
    **_each("** x", (0, 1, 2, -2, 0.5), lambda t, x, n: n ** x),
    **_each("/ x", (0, 1, -2), lambda t, x, n: n / x),
    **_each("x %", (2, -2, 0.5), lambda t, x, n: x % n),
    **_each("% x", (2, -2), lambda t, x, n: n % x),
    **_each("x xlogy", (0, 1, -1, inf, nan), lambda t, x, n: t.xlogy(x, n)),
    **_each("xlogy x", (0, 1, inf, nan), lambda t, x, n: t.xlogy(n, x)),
    **_each("x xlog1py", (0, -1, -2), lambda t, x, n: t.special.xlog1py(x, n)),
    **_each("zeta x", (0.5, 1, 2, 2.5), lambda t, x, n: t.special.zeta(n, x)),
    **_each("x zeta", (0.5, 1, -1, -0.5), lambda t, x, n: t.special.zeta(x, n)),
    **_each("copysign", (-1, 0.0), lambda t, x, n: t.copysign(x, n)),
    **_each("round", (2, -1), lambda t, x, n: t.round(x, decimals=n)),
    "clamp": lambda t, x: t.clamp(x, -1, 1), "clamp min": lambda t, x: t.clamp(x, min=0),
    "logit 0.1": lambda t, x: t.logit(x, 0.1), "threshold": lambda t, x: t.nn.functional.threshold(x, 0.1, 5),
    "gelu tanh": lambda t, x: t.nn.functional.gelu(x, approximate="tanh"),
    **{f"{name} {n}": lambda t, x, name=name, n=n: getattr(t.special, name)(x, n)
       for name, n in product(_POLYNOMIALS.split(), (0, 1, 2, 7))},
}
BINARY: dict[str, Case] = {name: _named(name) for name in _BINARY.split()}


def points(dtype: str) -> list[float]:
    """The numbers for one operand."""
    limits = np.finfo("float32" if dtype == "bfloat16" else dtype)
    most = 3.3895313892515355e38 if dtype == "bfloat16" else float(limits.max)
    least = 2.0**-133 if dtype == "bfloat16" else float(limits.smallest_subnormal)
    found = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, least, -least, float(limits.tiny), most, -most, -2.0, -3.0, -10.0,
             0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2.0, 3.0, 10.0, 20.0, -20.0, 100.0, -100.0, 1e4, -1e4, -20.5]
    return found if dtype == "float16" else [*found, 1e20, -1e20, 1e-20]


def complex_points() -> list[complex]:
    """The complex numbers for one operand."""
    parts = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 0.5, -2.0, 2.5]
    return [complex(a, b) for a, b in product(parts, parts)]


def pairs(dtype: str) -> tuple[list[Any], list[Any]]:
    """The numbers for two operands."""
    found: list[Any] = [0.0, 1.0, -1.0, inf, nan, 0.5, -2.0]
    more = [-0.0, -inf, 2.5, -2.5, 3.0, 20.0, -20.0]
    found += [1j, 1 - 1j] if dtype.startswith("complex") else [*more, points(dtype)[10]]
    first, second = zip(*product(found, found))
    return [*first], [*second]


def faults(name: str, dtype: str, *x: Any) -> bool:
    """Whether the operator may differ from PyTorch at these operands. The reasons stand in `FAULTS`."""
    kind = "complex" if dtype[0] == "c" else "half" if dtype.endswith("float16") else "real"
    return any(name in names.split(", ") and kinds in (kind, "") and where(*x) for names, kinds, where, _ in FAULTS)


def _pole(*x: Any) -> bool:
    return all(each < 0 and each == math.floor(each) if math.isfinite(each) else False for each in x)


def _infinite(*x: Any) -> bool:
    return any(math.isinf(abs(each)) for each in x)


def _unbounded(*x: Any) -> bool:
    return any(not math.isfinite(abs(each)) for each in x)


def _far(*x: Any) -> bool:
    return any(math.isfinite(abs(each)) and abs(each) >= 100 for each in x)


def _near(*x: Any) -> bool:
    return any(0 < abs(each) < 1e-15 for each in x)


def _digits(*x: Any) -> bool:
    return all(math.isfinite(abs(each)) for each in x)


def _isnan(*x: Any) -> bool:
    return any(each != each for each in x)


def _ends(*x: Any) -> bool:
    return any(abs(each) == 0 or not math.isfinite(abs(each)) for each in x)


_GAMMA = "digamma, polygamma 0, polygamma 1, polygamma 2, polygamma 3, polygamma 4, polygamma 10"
_WALKS = ", ".join(f"{name} {n}" for name in _POLYNOMIALS.split() for n in (2, 7))
# The operators, the kinds of numbers ("" for all), where they differ, and why.
FAULTS: list[tuple[str, str, Callable[..., bool], str]] = [
    (_GAMMA, "", _pole, "PyTorch divides by the square of the rounded sine of pi * x, which is not 0 at a pole"),
    (_GAMMA, "", _infinite, "PyTorch's sums for zeta and trigamma are nan at infinity"),
    (_GAMMA, "half", _digits, "PyTorch rounds between the steps of its sums"),
    ("polygamma 10", "", _digits, "PyTorch's zeta has few right digits for negative numbers"),
    ("zeta x 0.5, zeta x 1, zeta x 2, zeta x 2.5, special.zeta", "", lambda *x: _infinite(*x) or _far(*x),
     "PyTorch's sum for zeta is nan far away"),
    ("special.airy_ai, special.bessel_j0, special.bessel_j1, special.bessel_y0, special.bessel_y1", "", _digits,
     "PyTorch's results have six to nine right digits, and none far away"),
    ("special.modified_bessel_k1, special.scaled_modified_bessel_k0, special.scaled_modified_bessel_k1, "
     "special.modified_bessel_i1, special.i1, special.i1e, i0, erfinv, log1p, erf, igamma, igammac", "",
     _near, "the last of the numbers below the normal ones"),
    ("special.i0e, special.i1e, special.erfcx, sinc", "", lambda x: _far(x) or _near(x),
     "the gradient is a difference of almost equal numbers"),
    ("special.i0e, special.i1e, special.ndtr, sinc, nn.functional.gelu, gelu tanh, nn.functional.silu, "
     "nn.functional.mish, nn.functional.softsign, erf", "half", lambda x: True,
     "PyTorch rounds between the steps, or retrograd does"),
    ("special.i1, special.i1e", "half", lambda x: True, "PyTorch has no derivative"),
    ("special.log_ndtr", "", lambda x: x < -50, "PyTorch's derivative is a quotient of zeros"),
    ("tanh, logaddexp2, shifted_chebyshev_polynomial_u 7, nn.functional.softplus, nn.functional.logsigmoid", "real",
     _digits, "a rounding"),
    ("logaddexp2", "half", _digits, "a rounding"),
    (_WALKS, "", _isnan, "PyTorch returns what was in the memory"),
    (_WALKS, "real", _digits, "PyTorch computes in single precision, where the steps overflow"),
    ("abs, sgn", "complex", _infinite, "PyTorch divides an infinity by an infinity; here an infinity has a direction"),
    ("polar", "real", _ends, "the same; and the sign of a gradient that is 0"),
    ("fmax, fmin", "real", lambda *x: x[0] == x[1] == 0, "the sign of 0 depends on the place in the array"),
    ("acosh", "complex", lambda x: True, "PyTorch's gradient has the wrong sign below the cut"),
    ("log1p", "complex", _unbounded, "PyTorch makes nan of the size of an infinite number with a part that is nan"),
    ("add, sub, nn.functional.tanhshrink", "complex", _unbounded,
     "PyTorch multiplies the second operand by 1 + 0j, and infinity times 0 is nan"),
    ("ldexp, logaddexp", "complex", _unbounded, "NumPy and C++ multiply infinite numbers differently"),
    ("** x 0", "complex", lambda x: True, "C++ takes the logarithm of 0"),
    ("x ** -2, x ** -1.5, pow, float_power", "complex", _ends,
     "C++ takes the logarithm of 0 and of infinity; NumPy multiplies for whole exponents"),
    ("complex", "half", lambda *x: True, "there is no complex type of half precision"),
]
