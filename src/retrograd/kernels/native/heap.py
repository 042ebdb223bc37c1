"""Keep freed memory for the next array, if the C library is glibc.

glibc returns freed memory at the end of its heap to the system at once, so the next large array gets new pages. The
first write to each page causes a page fault, and these faults take most of the time of simple kernels. glibc keeps more
memory once it has seen a large block come and go. Then it takes blocks of up to that size from the heap, and keeps
twice as much at the heap's end (M_MMAP_THRESHOLD in mallopt(3)). The largest block that it learns from has 32 MiB.

On two cores softmax of 64x128x128 forward and backward went from 1.5 to 0.58 ms, layer_norm from 4.7 to 1.5, sin(a) * a
+ exp(a) of a million floats from 6.6 to 2.2.
"""

from __future__ import annotations

import os

import numpy as np

from . import door

_SEEN = (32 << 20) - (64 << 10)


def keep_freed_memory() -> None:
    """Let glibc keep up to 64 MiB of freed memory. No page of the block is touched, so this takes microseconds."""
    if door.ctypes is not None and _is_glibc():
        block = np.empty(_SEEN, np.uint8)
        del block


def _is_glibc() -> bool:
    """Whether the C library is glibc. On other systems, such as a browser, the block would take real memory."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):       # no such function, or no such name
        return False
