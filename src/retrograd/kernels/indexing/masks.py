"""Elements that a mask names, read and written. Arrays in, arrays out; must not know ops.

NumPy reads and writes by a mask with a branch at each element, and a processor that cannot foresee the branches takes
many times as long. It finds the places that a mask names without branches, and goes by these as quickly as ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.choosing import where_into

# Below this many elements the mask itself is as fast.
_LARGE = 2048


def taken(x: Any, mask: Any) -> Any:
    """The elements where the mask, which is of the shape of `x`, is true: x[mask]."""
    return x.reshape(-1).take(np.flatnonzero(mask)) if x.size >= _LARGE else x[mask]


def write(out: Any, mask: Any, values: Any) -> None:
    """Write values of the dtype of `out`, or one for all, to where the mask, of the same shape, is true."""
    if out.size < _LARGE or not out.flags.c_contiguous:
        out[mask] = values
    elif np.size(values) == 1:
        where_into(out, mask, values if isinstance(values, (int, float)) else values.reshape(()))
    else:
        out.reshape(-1)[np.flatnonzero(mask)] = values
