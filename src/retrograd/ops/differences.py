"""Products with a Python number that is an option and no operand, as PyTorch's composed functions record them."""

from __future__ import annotations

from ..kernels import differences as kernels
from .framework import Op, backward_name, linear

times: Op = linear("mul", kernels.times, node=backward_name("mul", 1), x=lambda g, factor: times(g, factor))
over: Op = linear("div", kernels.over, node=backward_name("div", 1), x=lambda g, divisor: over(g, divisor))
