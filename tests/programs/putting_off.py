"""Traced runs in which all calls are put off that can be, also those on small arrays, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from retrograd.compilation import deferred


def put_off_everything(change: Callable[[Any, str, Any], None], planned: bool) -> Counter[str]:
    """Put off calls on arrays of all sizes, for a plan or for calls one by one. `change` sets an attribute.

    The memory that waits for its numbers holds others meanwhile, so that whoever sees it too early differs. The result
    counts the calls that were put off, by the name of the operator.
    """
    counts, promised = Counter[str](), deferred._promised

    def spoiled(op: Any, call: Callable[..., Any], args: Sequence[Any]) -> Any:
        result = promised(op, call, args)
        if result is not None:
            counts[op.name] += 1
            result.fill(True if result.dtype == bool else np.nan)
        return result

    change(deferred, "_promised", spoiled)
    change(deferred, "LARGE", 0)
    change(deferred, "PLANNED", 0 if planned else 1 << 60)
    return counts
