"""Numbers as computers hold them, divisors of integers, neighbours, membership, and filling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels import arithmetic, number_parts as kernels
from .domains import promoted, without
from .elementary import exp2
from .framework import Op, backward_name, constant, flat, operator, pointwise

gcd = constant("gcd", np.gcd, "x y", domain=promoted(**without("gcd_cpu", "bfc")))
lcm = constant("lcm", np.lcm, "x y", domain=promoted(**without("lcm_cpu", "bfc")))
nextafter = pointwise("nextafter", np.nextafter, domain=promoted(**without("nextafter_cpu", "bic")),
                      x=lambda g, x, y: np.where(x == y, 0.0, g), y=flat)
ldexp: Op = pointwise("ldexp", kernels.ldexp, domain="float", x=lambda g, y: g * exp2(y),
                      y=lambda g, out: g * (out * math.log(2)))
Op.by_kernel[np.ldexp] = ldexp
frexp = operator("frexp", kernels.frexp, layout="kept", outputs="mantissa exponent", differentiable="mantissa",
                 x=lambda g, exponent: ldexp(g, -exponent))
isin = constant("isin", kernels.isin, "x tests")


def _filled(x: Any, value: Any) -> Any:
    return arithmetic.filled(x, value)


def _filled_with(x: Any, y: Any) -> Any:
    return arithmetic.overwritten(x, y)


# As they are recorded where the result is a tensor of its own.
fill = pointwise("fill", _filled, node=backward_name("fill"), domain="as given", x=flat)
fill_tensor = pointwise("fill", _filled_with, node=backward_name("fill", 1), domain="as given", x=flat,
                        y=lambda g: g)
