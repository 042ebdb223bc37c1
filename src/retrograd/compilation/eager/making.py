"""Machine code of a call: from the statement of its kernel or rule to object code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...kernels.networks.adding_rows import add_rows
from ...ops.framework import Op
from ..native.objects import object_code
from .adding import text_of
from .rows import Rows
from .statements import stated


def made(kernel: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, bytes]:
    """The plan, packed, and the object code. A kernel is stated by its operator; a rule states itself. The adding of
    rows has no statement and no plan.

    Raises Unknown if there is no machine code.
    """
    if kernel is add_rows:
        return None, object_code(text_of(np.dtype(given[0].dtype)))
    rows = Rows(stated(Op.by_kernel.get(kernel, kernel), given))
    return rows.plan.packed(), object_code(rows.text)
