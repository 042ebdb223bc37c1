"""Read and write the elements that a mask selects.

NumPy branches at each element of a mask, which takes many times as long if the processor cannot predict the branches.
NumPy finds the indices of a mask without branches, and reads and writes by indices at full speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.choosing import where_into

# Below this many elements the mask itself is as fast.
_LARGE = 2048


def taken(x: Any, mask: Any) -> Any:
    """The elements where the mask is true: x[mask]. The mask has the shape of `x`."""
    return x.reshape(-1).take(np.flatnonzero(mask)) if x.size >= _LARGE else x[mask]


def write(out: Any, mask: Any, values: Any) -> None:
    """Write values of the dtype of `out`, or a single value, to where the mask is true. The mask has the same shape."""
    if out.size < _LARGE or not out.flags.c_contiguous:
        out[mask] = values
    elif np.size(values) == 1:
        where_into(out, mask, values if isinstance(values, (int, float)) else values.reshape(()))
    else:
        out.reshape(-1)[np.flatnonzero(mask)] = values
