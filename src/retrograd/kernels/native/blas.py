"""Functions of NumPy's BLAS that NumPy does not offer: the number of threads, and products added to an array.

The threads of OpenBLAS wait for each other at every product. For small products the wait takes longer than the product,
and it grows if several of our threads ask for products at once. The number of threads belongs to the process. So it is
set to 1 when the first part of the program enters `alone`, and restored when the last part leaves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...foundations.dtypes import F32, F64, Array
from ...foundations.forks import forgotten
from . import openblas

_ROWS, _TRANSPOSED, _AS_IT_IS = 101, 112, 111               # the values in <cblas.h>
_LETTERS = {F32: "s", F64: "d"}


class _Control(NamedTuple):
    get: Callable[[], int]
    set: Callable[[int], None]


def _control() -> _Control | None:
    """OpenBLAS's functions for its threads, or None if NumPy has another BLAS or they cannot be reached."""
    get = openblas.function("openblas_get_num_threads", "", "f")
    return get and _Control(get, openblas.function("openblas_set_num_threads", "f"))


def add_product(columns: Array, lines: Array, out: Array, rows: int) -> bool:
    """out += columns.T @ lines, `rows` rows at a time, in one pass. Returns False, and does nothing, if it cannot.

    `columns` (pairs, n), `lines` (pairs, length) and `out` (n, length) have rows without gaps.
    """
    letter, width = _LETTERS.get(out.dtype), out.itemsize
    product = letter and openblas.function(f"cblas_{letter}gemm", f"fffnnn{letter}pnpn{letter}pn")
    if not product:
        return False
    (pairs, count), length = columns.shape, lines.shape[1]
    first, line, place = columns.ctypes.data, lines.ctypes.data, out.ctypes.data
    gaps = [max(array.strides[0] // width, array.shape[1]) for array in (columns, lines, out)]
    for at in range(0, count, rows):
        product(_ROWS, _TRANSPOSED, _AS_IT_IS, min(rows, count - at), length, pairs, 1.0, first + at * width, gaps[0],
                line, gaps[1], 1.0, place + at * gaps[2] * width, gaps[2])
    return True


class _Use:
    """How many callers are inside `alone`, and the number of threads before."""

    lock = threading.Lock()
    inside = before = 0

    @classmethod
    def forget(cls) -> None:
        """Reset the count: a forked process has none of the threads that were inside."""
        cls.lock = threading.Lock()
        if cls.inside and (control := _control()):
            control.set(cls.before)
        cls.inside = 0


forgotten(_Use.forget)


def can_be_alone() -> bool:
    """Whether `alone` has an effect."""
    return _control() is not None


def is_alone() -> bool:
    """Whether a part of the program is inside `alone`."""
    return _Use.inside > 0


@contextmanager
def alone() -> Iterator[None]:
    """Inside the block, the thread that asks for a product computes it alone."""
    control = _control()
    if control is None:
        yield
        return
    with _Use.lock:
        if not _Use.inside:
            _Use.before = control.get()
            control.set(1)
        _Use.inside += 1
    try:
        yield
    finally:
        with _Use.lock:
            _Use.inside -= 1
            if not _Use.inside:
                control.set(_Use.before)
