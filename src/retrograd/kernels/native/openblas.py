"""The OpenBLAS that NumPy has loaded, for functions that NumPy does not offer.

If NumPy has another BLAS, its functions cannot be reached, and callers must do without them.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import _umath_linalg

# What stands before and after the function names: in NumPy's wheels, whose names tell the builder and the size of
# integers, and in the OpenBLAS of a system.
_NAMES = (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", ""))
_NUMBERS = {"s": ctypes.c_float, "d": ctypes.c_double}


class _Library(NamedTuple):
    functions: ctypes.CDLL
    start: str
    end: str


@lru_cache(maxsize=1)
def _library() -> _Library | None:
    beside = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")
    files = os.listdir(beside) if os.path.isdir(beside) else []
    for path in (_umath_linalg.__file__, *(os.path.join(beside, file) for file in files if "openblas" in file)):
        try:
            functions = ctypes.CDLL(path)   # NumPy has loaded the file, with the libraries it is linked to
        except OSError:
            continue
        for start, end in _NAMES:
            if hasattr(functions, f"{start}openblas_set_num_threads{end}"):
                return _Library(functions, start, end)
    return None


@cache
def function(name: str, arguments: str, result: str = "") -> Any:
    """The function of this name, or None if it cannot be reached.

    A letter stands for each argument, and for the result if there is one: f a flag, n a size, p an address, k a
    character, s and d a float of 32 or 64 bits.
    """
    library = _library()
    found = None if library is None else getattr(library.functions, f"{library.start}{name}{library.end}", None)
    if library is None or found is None:
        return None
    size = ctypes.c_int64 if library.end else ctypes.c_int
    types: dict[str, Any] = {"f": ctypes.c_int, "n": size, "p": ctypes.c_void_p, "k": ctypes.c_char, **_NUMBERS}
    found.argtypes, found.restype = [types[letter] for letter in arguments], types.get(result)
    return found


@cache
def size_dtype() -> Any:
    """The dtype of arrays of sizes."""
    library = _library()
    return np.dtype(np.int64 if library and library.end else np.intc)
