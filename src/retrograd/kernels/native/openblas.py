"""The OpenBLAS that NumPy has loaded, for functions that NumPy does not offer.

If NumPy has another BLAS, its functions cannot be reached, and callers must do without them.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import door

# What stands before and after the function names: in NumPy's wheels, whose names tell the builder and the size of
# integers, and in the OpenBLAS of a system.
_NAMES = (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", ""))
# The part of NumPy that is linked to the BLAS.
_LINKED = "numpy.linalg._umath_linalg"


class _Library(NamedTuple):
    functions: Any
    start: str
    end: str


@lru_cache(maxsize=1)
def _library() -> _Library | None:
    if door.ctypes is None:
        return None
    beside, linked = f"{os.path.dirname(np.__file__)}.libs", importlib.util.find_spec(_LINKED)
    files = [os.path.join(beside, file) for file in sorted(os.listdir(beside) if os.path.isdir(beside) else ())]
    for path in (*([linked.origin] if linked else ()), *[file for file in files if "openblas" in file]):
        try:
            functions = door.ctypes.CDLL(path)   # NumPy has loaded the file, with the libraries it is linked to
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
    c = door.ctypes
    types = {"f": c.c_int, "n": c.c_int64 if library.end else c.c_int, "p": c.c_void_p, "k": c.c_char, "s": c.c_float,
             "d": c.c_double}
    found.argtypes, found.restype = [types[letter] for letter in arguments], types.get(result)
    return found


@cache
def size_dtype() -> Any:
    """The dtype of arrays of sizes."""
    library = _library()
    return np.dtype(np.int64 if library and library.end else np.intc)
