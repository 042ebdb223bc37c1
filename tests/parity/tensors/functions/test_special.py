"""Special functions and parts of numbers against PyTorch: the forms of calls, dtypes, errors, and writes."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.against_torch import compare
from comparing.same_expression import Outcome, check

_SETUP = """
s, t = torch.special, torch.tensor
f, d, i, u = t([1.5, -2.0]), t([1.5, 2.0], dtype=torch.float64), t([3, -6]), t([3, 200], dtype=torch.uint8)
b, c, h, z, e = t([True, False]), t([1j, 2.0]), t([1.5, 2.0]).half(), t(2.0), torch.zeros(0)
r = torch.tensor([1.5, 2.0], dtype=torch.float64, requires_grad=True)
"""
_CALLS = """
torch.polygamma(n=1, input=i).dtype
torch.polygamma(-1, f)
torch.polygamma(1, c)
torch.polygamma(0, c)
torch.polygamma(2, c)
i.polygamma_(1)
type((r * 1).polygamma_(1).grad_fn).__name__
torch.mvlgamma(f, 0)
torch.mvlgamma(b, 1)
torch.mvlgamma(c, 1)
i.mvlgamma_(1)
torch.lgamma(2)
torch.lgamma(input=c)
i.lgamma_()
i.digamma().dtype
torch.i0(i).dtype
torch.igamma(f, 2)
torch.igamma(i, i)
torch.igamma(b, f).dtype
f.igamma_(2)
torch.igamma(d, r).grad_fn.next_functions[0]
s.airy_ai(1.0)
s.erf(1)
s.expit(1)
s.psi(1)
s.gammaln(1)
s.sinc(1)
s.gammainc(d, 1)
s.gammaincc(1, d)
s.airy_ai(x=i).dtype
s.bessel_j0(1)
s.bessel_j0(h)
s.bessel_j0(r).requires_grad
s.erfcx(h)
s.i1(c)
s.ndtr(c)
s.ndtr(1)
s.ndtri(h)
s.chebyshev_polynomial_t(x=d, n=2)
s.chebyshev_polynomial_t(2, d)
s.chebyshev_polynomial_t(u, -1)
s.legendre_polynomial_p(i, 1)
s.laguerre_polynomial_l(i, b)
s.hermite_polynomial_h(h, 2)
s.hermite_polynomial_he(c, 2)
s.zeta(1, d)
s.zeta(2, r).grad_fn.next_functions[0][1]
type(s.zeta(2, r).grad_fn).__name__
type(s.zeta(r, 2).grad_fn).__name__
s.zeta(self=1, other=d)
s.zeta(h, 2)
s.zeta(d, 1j)
s.xlog1py(0, d)
s.xlog1py(c, 2)
type(torch.xlogy(2, r).grad_fn).__name__
type(torch.xlogy(r, 2).grad_fn).__name__
type((r * 1).xlogy_(2).grad_fn).__name__
torch.xlogy(f, 1j)
torch.xlogy(0, d)
torch.gcd(i, i)
torch.gcd(i, u)
torch.gcd(f, f)
torch.gcd(b, b)
torch.gcd(i, 2)
torch.gcd_(i, t([2, 4]))
i.gcd_(2)
torch.lcm(i, t([2, 4]))
i.lcm_(t([2, 4]))
torch.lcm(c, c)
torch.nextafter(d, r)
torch.nextafter(i, i)
d.nextafter_(d + 1)
d.nextafter_(1)
torch.ldexp(i, i)
torch.ldexp(f, i)
torch.ldexp(c, i).dtype
i.ldexp_(i)
f.ldexp_(i)
f.ldexp_(2)
torch.ldexp(2, i)
torch.ldexp(t([1e-30, 1e10, 1e-44, 1.0]), t([130, -160, 270, 100000]))
torch.ldexp(t([1e-300, 1e300]).double(), t([1030, -2000]))
torch.ldexp(t([1e-300, 1e300], dtype=torch.float64), t([1030, -2000]))
torch.ldexp(t([1e-3, 6e-8, 65504.0]).half(), t([20, 30, -40], dtype=torch.int16))
torch.ldexp(t([1e-30, 1e10]), t([130.0, -160.0]))
torch.ldexp(f, t(True))
torch.ldexp(i, t(True))
t([1e-30]).ldexp_(t([130]))
torch.frexp(f)
torch.frexp(f).exponent
torch.frexp(f.reshape(2, 1).expand(2, 2).t())
f.frexp()
torch.frexp(i)
torch.frexp(c)
torch.frexp(e)
torch.isin(f, 1.5)
torch.isin(1.5, f)
torch.isin(i, t([3, 4]), assume_unique=True)
torch.isin(elements=i, test_elements=i, invert=True)
torch.isin(element=3, test_elements=i)
torch.isin(elements=i, test_element=3)
torch.isin(z, f)
torch.isin(e, f)
torch.isin(f, e)
torch.isin(f, e, invert=True)
torch.isin(b, b)
torch.isin(f, True)
torch.isin(c, c)
torch.isin(r[:1].expand(2, 1), torch.ones(2, 2, 2))
torch.isin(torch.ones(2, 3).t(), torch.ones(2, 1))
torch.isin(r, d)
torch.fill(f, 2)
torch.fill(r, 2)
torch.fill(r, z)
torch.fill(i, 2.5)
torch.fill(i, 1j)
torch.fill(f, f)
torch.fill(input=f, value=True)
torch.is_neg(f)
f.is_neg()
torch.is_neg(1)
torch.resolve_neg(r) is r
u / 256
u / -1
torch.div(u, 300)
u ** 300
torch.sub(f, True)
True - f
torch.rsub(i, True)
torch.copysign(f, 1j)
torch.remainder(f, 1j)
torch.fmod(b, True)
torch.floor_divide(i, 1j)
torch.bitwise_and(6, i)
torch.clamp(f, 1j, 2)
torch.clamp_min(f, 1j)
f.clamp_(None, None)
f.atan2_(2)
f.hypot_(2)
b.conj_physical_()
type((r * 1).conj_physical_().grad_fn).__name__
hasattr(f, 'rsub')
"""


@pytest.mark.parametrize("expression", _CALLS.split("\n")[1:-1])
def test_calls(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)


_NAMES = [name for name in retrograd.special.__all__ if "_polynomial_" not in name and name != "round"]
_KINDS = """
def kind(found):
    return str(found.dtype), tuple(found.shape), found.stride() if found.numel() else ()
"""


@pytest.mark.parametrize("name", _NAMES)
def test_layouts_and_types_of_results(name: str) -> None:
    """Strides, dtypes and shapes, where the values are rounded differently; of all arguments that PyTorch takes."""
    tried = 0
    for arguments in ("x", "x, x", "x, 2", "2, x", "x, 0"):
        for x in ("torch.ones(3, 2).t()", "torch.ones(2, 0)", "torch.tensor(2)", "torch.ones(2, 3)[:, 1]"):
            setup, expression = f"{_KINDS}\nx = {x}", f"kind(torch.special.{name}({arguments}))"
            if Outcome(torch, setup, expression).seen != ("error", "TypeError"):
                check(torch, retrograd, setup, expression)
                tried += 1
    assert tried >= 4


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
@pytest.mark.parametrize("number", [0.0, -1.0, -2.0, 0.5, float("inf"), float("nan")])
def test_derivatives_beside_a_number(name: str, number: float) -> None:
    points = torch.tensor([0.0, -1.0, 1.0, 2.0, float("inf"), float("nan")], dtype=torch.float64).numpy()
    # Where the number is nan, PyTorch's second derivative multiplies what it has masked by 0.
    compare(lambda t, x: getattr(t.special, name)(x, number), points, order=1 if number != number else 2)
    compare(lambda t, x: getattr(t.special, name)(number, x), points)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
@pytest.mark.parametrize("other", ["0", "-1", "-2.", "2", "t([0., -1., -2., 2., 0.])"])
@pytest.mark.parametrize("incoming", ["torch.zeros(5)", "t([0., 1., 0., 1., 0.])"])
def test_a_gradient_of_zero_stays_zero(name: str, other: str, incoming: str) -> None:
    setup = f"{_SETUP}\nx = t([1., 0., 0., 1., 2.], requires_grad=True)"
    check(torch, retrograd, setup, f"torch.autograd.grad(s.{name}(x, {other}), x, {incoming})")
