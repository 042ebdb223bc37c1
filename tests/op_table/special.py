"""Entries for special functions: gamma, Bessel, the normal distribution, polynomials; and for parts of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import INFINITE, ONE, TWO, Entry, Shapes, binary, named, unary

_NINE_DIGITS = "PyTorch is right to nine digits only"
_SIX_DIGITS = {"f": "PyTorch is right to six digits only"}
_NO_HALF = {"h": "PyTorch has the function of half precision, but not its derivatives"}
_NO_TANGENT = "PyTorch has no forward mode of it"
_NONE = "PyTorch has no derivative by the first argument, which is detached here"


def _special(name: str) -> Callable[..., Any]:
    return lambda torch, *inputs: getattr(torch.special, name)(*inputs)


def of_special(names: str, shapes: tuple[Shapes, ...] = ONE, **options: Any) -> list[Entry]:
    """For each name an entry that calls `torch.special.name`."""
    return [Entry(f"special.{name}", _special(name), shapes, **options) for name in names.split()]


_GAMMA = [
    *unary("lgamma", low=0.3, high=12.0, kinds="fi", points=(1.0, 2.0, 0.5, -0.5, *INFINITE)),
    *unary("digamma", low=0.3, high=12.0, kinds="fi", points=(1.0, 2.0, 0.5, -0.5, 0.0, -0.0, float("nan"))),
    Entry("lgamma below 0", named("lgamma"), low=-0.9, high=-0.1),
    Entry("digamma below 0", named("digamma"), low=-2.9, high=-2.1),
    *(Entry(f"polygamma {n}", lambda t, x, n=n: t.polygamma(n, x), low=0.3, high=12.0, points=(1.0, 2.0, 40.0))
      for n in (0, 2, 3, 4)),
    Entry("polygamma 1", lambda t, x: x.polygamma(1), low=0.3, high=12.0, apart={"f": _NINE_DIGITS}),
    Entry("polygamma 1 below 0", lambda t, x: t.polygamma(1, x), low=-1.9, high=-1.1,
          apart={"f": _NINE_DIGITS, "i": "at a pole PyTorch divides by what its sine is rounded to"}),
    *(Entry(f"mvlgamma {p}", lambda t, x, p=p: t.mvlgamma(x, p), low=1.3, high=8.0, points=(2.5, 10.0))
      for p in (1, 2, 3)),
    *(Entry(name, lambda t, a, x, name=name: getattr(t, name)(a.detach(), x), TWO, low=0.3, high=4.0,
            points=(0.0, 0.5, 1.0, 2.0, 15.0, *INFINITE), conventional=_NONE, no_tangent=_NO_TANGENT)
      for name in ("igamma", "igammac")),
    *(Entry(f"special.{name}", lambda t, a, x, name=name: getattr(t.special, name)(a.detach(), x), TWO, low=0.3,
            high=4.0, conventional=_NONE, no_tangent=_NO_TANGENT) for name in ("gammainc", "gammaincc")),
    *(Entry(f"{name} {a}", lambda t, x, name=name, a=a: getattr(t, name)(t.full_like(x.detach(), a), x), low=low,
            high=high, apart={"f": _NINE_DIGITS} if a == 40 else {}, no_tangent=_NO_TANGENT)
      for name in ("igamma", "igammac") for a, low, high in ((2.5, 0.3, 4.0), (40, 25.0, 60.0))),
    Entry("zeta", lambda t, x, y: t.special.zeta(x.detach(), y), TWO, low=1.5, high=5.0,
          points=(0.0, 1.0, 1.5, 2.0, 3.0, -0.5), conventional=_NONE, no_tangent=_NO_TANGENT),
    Entry("zeta with 2", lambda t, x: t.special.zeta(x, 2), low=1.5, high=5.0, kinds="fi", refused=True),
    Entry("igamma by both", named("igamma"), TWO, low=0.3, high=4.0, refused=True),
    Entry("igammac by both", named("igammac"), TWO, low=0.3, high=4.0, refused=True),
    Entry("zeta of 2", lambda t, x: t.special.zeta(2, x), low=0.5, high=5.0, kinds="fi", points=(1.0, 0.5, 20.0),
          no_tangent=_NO_TANGENT),
    *binary("xlogy", low=0.2, points=(0.0, 1.0, -1.0, float("nan"))),
    Entry("xlogy 2", lambda t, x: t.xlogy(x, 2), low=0.2, kinds="fi", points=(0.0, 1.0, -1.0, *INFINITE)),
    Entry("2 xlogy", lambda t, x: t.xlogy(2, x), low=0.2, kinds="fi", points=(0.0, 1.0, -1.0, *INFINITE)),
    *of_special("xlog1py", TWO, low=0.2, kinds="fi", points=(0.0, 1.0, -1.0, float("nan"))),
    Entry("special.xlog1py 2", lambda t, x: t.special.xlog1py(x, 2), low=0.2, points=(0.0, 1.0, -1.0)),
    Entry("2 special.xlog1py", lambda t, x: t.special.xlog1py(2, x), low=0.2, points=(0.0, 1.0, -1.0)),
]

_BESSEL = [
    *unary("i0", kinds="fi", points=(0.0, -0.0, 8.0, -9.0, *INFINITE), apart=_NO_HALF),
    *of_special("i0e i1 i1e", kinds="fi", low=0.1, points=(0.0, -0.0, 8.0, -9.0, *INFINITE), apart=_NO_HALF),
    *of_special("modified_bessel_i0 modified_bessel_i1 spherical_bessel_j0 airy_ai", low=-12.0, high=12.0, kinds="fi",
                points=(0.0, -0.0, 2.25, 8.0, -8.0, 50.0, *INFINITE)),
    *of_special("modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1", low=0.1,
                high=12.0, kinds="fi", points=(0.0, -0.0, -1.0, 2.0, 8.0, 50.0, *INFINITE)),
    *of_special("bessel_j0 bessel_j1", low=-12.0, high=12.0, points=(0.0, -0.0, *INFINITE), apart=_SIX_DIGITS),
    *of_special("bessel_y0 bessel_y1", low=0.1, high=12.0, points=(0.0, -0.0, -1.0, *INFINITE), apart=_SIX_DIGITS),
]

_NORMAL = [
    *of_special("erfcx entr", kinds="fi", low=0.2, points=(0.0, 1.0, -1.0, -30.0, *INFINITE)),
    *of_special("ndtr", kinds="fi", points=(0.0, 1.0, -1.0, 6.0, -30.0, *INFINITE)),
    *of_special("log_ndtr", kinds="fi", points=(0.0, 1.0, -1.0, 6.0, -30.0, float("inf"), float("nan"))),
    *of_special("ndtri", low=0.05, high=0.95, points=(0.0, 1.0, 0.125, 0.5, 1e-200, -1.0, 2.0, float("nan"))),
]

_POLYNOMIALS = [
    Entry(f"special.{name} {n}", lambda t, x, name=name, n=n: getattr(t.special, name)(x, n), kinds="fi",
          points=(0.0, 1.0, -1.0, 0.5, 3.0))
    for name in ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
                 "chebyshev_polynomial_w", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
                 "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "hermite_polynomial_h",
                 "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")
    for n in (-1, 0, 1, 2, 5.5, 12)
]

_NUMBERS = [
    *binary("gcd lcm", kinds="i", low=-20.0, high=20.0),
    *binary("nextafter", distinct=True, points=(0.0, 1.0, *INFINITE)),
    *binary("ldexp", kinds="fci", points=(0.0, 1.0, -1.0, *INFINITE)),
    Entry("frexp", lambda t, x: tuple(t.frexp(x)), low=0.51, high=0.99, points=(0.0, -0.0, 8.0, *INFINITE)),
    *binary("isin", kinds="fi", low=0.0, high=2.0, points=(0.0, 1.0, *INFINITE)),
    Entry("isin of ints", lambda t, x: t.isin(x.long(), t.tensor([0, 1]), invert=True), kinds="fi"),
    Entry("isin 1", lambda t, x: t.isin(x, 1), kinds="fi"),
    Entry("fill 2", lambda t, x: t.fill(x, 2.5), kinds="fci"),
    Entry("fill tensor", lambda t, x, y: t.fill(x, y), (((3, 4), ()), ((), ())), kinds="fci"),
]

SPECIAL = [*_GAMMA, *_BESSEL, *_NORMAL, *_POLYNOMIALS, *_NUMBERS]
