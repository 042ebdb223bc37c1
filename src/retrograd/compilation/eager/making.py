"""Machine code of a call: from the statement of its kernel or rule to object code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.framework import Op
from ..native.objects import object_code
from .rows import Rows
from .statements import stated
from .written import WRITTEN


def made(kernel: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, bytes]:
    """The plan, packed, and the object code. A kernel is stated by its operator; a rule states itself. A kernel that is
    written by hand has no statement and no plan.

    Raises Unknown if there is no machine code.
    """
    if kernel in WRITTEN:
        return None, object_code(WRITTEN[kernel].text_of(np.dtype(given[0].dtype)))
    rows = Rows(stated(Op.by_kernel.get(kernel, kernel), given))
    return rows.plan.packed(), object_code(rows.text)
