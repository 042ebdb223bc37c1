"""Kernels and derivative rules that may run as machine code of their own, which a higher layer makes.

A kernel asks `served` on the path that it takes for large arrays, so small calls pay nothing. The NumPy kernel defines
the result, and computes it if `served` returns None: nothing makes machine code, it is not made yet, or the arrays do
not lie as it needs them. `torch.backends.native` shows the switch to programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .door import ctypes


class Served:
    """The switch, and what computes the results of a kernel for some arguments. `wiring` fills it in.

    `compute` returns None if NumPy is to compute the results.
    """

    on: bool = ctypes is not None
    compute: Callable[[Any, tuple[Any, ...]], Any]


def served(kernel: Any, *args: Any) -> Any:
    """What machine code computes for a kernel or a rule and its arguments; None if NumPy is to compute it."""
    return Served.compute(kernel, args) if Served.on else None
