"""Machine code of a call: from the statement of its kernel or rule to object code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ops.framework import Op
from ..native.objects import object_code
from .plans import RowsPlan
from .rows import Rows
from .statements import stated


def made(kernel: Callable[..., Any], given: Sequence[Any]) -> tuple[RowsPlan, bytes]:
    """The plan and the object code. A kernel is stated by its operator; a rule states itself.

    Raises Unknown if there is no machine code.
    """
    rows = Rows(stated(Op.by_kernel.get(kernel, kernel), given))
    return rows.plan, object_code(rows.text)
