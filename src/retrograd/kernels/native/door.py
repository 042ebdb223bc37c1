"""Whether retrograd may go past NumPy: to functions of C, to memory by its address, and to machine code.

All such ways lead through this module. ``RETROGRAD_NATIVE=0`` in the environment turns them off, and so does a Python
without `ctypes`. The results are the same without them, up to rounding; some kernels take longer. Each way also has a
substitute for the case that it is not there, as on a system with another C library, or with another BLAS in NumPy.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

VARIABLE = "RETROGRAD_NATIVE"


def opened() -> tuple[Any, str]:
    """The module `ctypes`, or None if the ways are off, and why they are off."""
    if os.environ.get(VARIABLE) == "0":
        return None, f"{VARIABLE}=0 is set"
    try:
        return importlib.import_module("ctypes"), ""
    except ImportError:
        return None, "this Python has no ctypes"


ctypes, why_off = opened()
