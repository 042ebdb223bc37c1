"""Parts and neighbours of numbers: mantissas and exponents, common divisors, the next representable number."""

from __future__ import annotations

import math

import numpy as np

from ...kernels.elementwise import number_parts as kernels
from ..domains import promoted
from ..framework import Op, constant, elementwise, flat, operator
from .elementary import exp2

gcd = constant("gcd", np.gcd, "x y", domain=promoted("gcd_cpu", "bfc"))
lcm = constant("lcm", np.lcm, "x y", domain=promoted("lcm_cpu", "bfc"))
nextafter = elementwise("nextafter", np.nextafter, domain=promoted("nextafter_cpu", "bic"),
                      x=lambda g, x, y: np.where(x == y, 0.0, g), y=flat)
ldexp: Op = elementwise("ldexp", kernels.ldexp, domain="float", x=lambda g, y: g * exp2(y),
                      y=lambda g, out: g * (out * math.log(2)))
Op.by_kernel[np.ldexp] = ldexp
frexp = operator("frexp", kernels.frexp, layout="kept", outputs="mantissa exponent", differentiable="mantissa",
                 x=lambda g, exponent: ldexp(g, -exponent))
