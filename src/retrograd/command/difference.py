"""Whether two results agree, and in which words they differ."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from retrograd.command.steps import OURS, PYTORCH, Array, Step

# How much numbers of a dtype may differ: relatively and absolutely. Others must be equal. A Python number is a float64.
_ALLOWED = {"torch.float64": (1e-7, 1e-7), "torch.complex128": (1e-7, 1e-7), "torch.float32": (1.3e-6, 1e-5),
            "torch.complex64": (1.3e-6, 1e-5), "torch.float16": (1e-3, 1e-5), "torch.bfloat16": (1.6e-2, 1e-5)}


class Tolerance(NamedTuple):
    """How much numbers may differ; None for the usual tolerance of the dtype."""

    rtol: float | None
    atol: float | None

    def of(self, dtype: str) -> tuple[float, float]:
        """The relative and the absolute tolerance for a dtype."""
        rtol, atol = _ALLOWED.get(dtype, (0.0, 0.0))
        if dtype not in _ALLOWED:
            return rtol, atol
        return rtol if self.rtol is None else self.rtol, atol if self.atol is None else self.atol


def between(theirs: Step, ours: Step, tolerance: Tolerance) -> str:
    """A table of what differs in a step, with PyTorch's result first; '' if the results agree."""
    if theirs.error != ours.error:
        return _table([("ended with", theirs.error or "a result", ours.error or "a result")])
    if len(theirs.found) != len(ours.found):
        return _table([("results", str(len(theirs.found)), str(len(ours.found)))])
    for number, (one, other) in enumerate(zip(theirs.found, ours.found)):
        rows = _differing(one, other, tolerance)
        if rows:
            which = [("result", f"{number + 1} of {len(ours.found)}", "")] if len(ours.found) > 1 else []
            return _table([*which, *rows])
    return ""


def _differing(one: Any, other: Any, tolerance: Tolerance) -> list[tuple[str, str, str]]:
    if not (isinstance(one, Array) and isinstance(other, Array)):
        if type(one) is type(other) and _agree(one, other, *tolerance.of("torch.float32")):
            return []
        return [("type", type(one).__name__, type(other).__name__), ("value", str(one), str(other))]
    facts = [("dtype", one.dtype, other.dtype), ("shape", str([*one.shape]), str([*other.shape]))]
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return [*facts, ("values", _short(one.values), _short(other.values))]
    if one.values is None or other.values is None or not one.values.size:
        return []
    wrong = _wrong(one.values, other.values, *tolerance.of(one.dtype))
    if not wrong.any():
        return []
    apart = _apart(one.values, other.values, wrong)
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    place = [int(i) for i in worst]
    return [*facts, ("values", _short(one.values), _short(other.values)),
            ("differ in", f"{int(wrong.sum())} of {wrong.size}", ""),
            (f"at {place}" if place else "there", repr(one.values[worst].item()), repr(other.values[worst].item())),
            ("difference", f"{apart[worst]:.3g}", "")]


def _exact(values: Any) -> bool:
    """Whether numbers are integers or bools. A float64 may lack digits of such a number."""
    return bool(values.dtype.kind in "biu")


def _wrong(one: Any, other: Any, rtol: float, atol: float) -> Any:
    """Where numbers are further apart than allowed."""
    return np.not_equal(one, other) if _exact(one) else ~np.isclose(other, one, rtol, atol, equal_nan=True)


def _apart(one: Any, other: Any, wrong: Any) -> Any:
    """How far numbers are apart where they are `wrong`, and 0 elsewhere."""
    if _exact(one):
        apart = np.zeros(one.shape, object)
        apart[wrong] = np.abs(one[wrong].astype(object) - other[wrong].astype(object))
        return apart
    with np.errstate(all="ignore"):
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        apart = np.where(wrong, np.abs(np.subtract(one, other, dtype=wide)), 0)
    return np.where(np.isnan(apart), np.inf, apart)


def _agree(one: Any, other: Any, rtol: float, atol: float) -> bool:
    """Whether two Python numbers agree. Floats may be rounded numbers of a tensor."""
    if not isinstance(one, (float, complex)):
        return bool(one == other)
    return one == other or abs(one - other) <= atol + rtol * abs(one) or (
        isinstance(one, float) and math.isnan(one) and math.isnan(other))


def _short(values: Any) -> str:
    """Few values as they stand; of many values, the first and the last in one row."""
    if values is None:
        return "not shown"
    shown = values if values.size <= 6 else values.reshape(-1)
    return " ".join(np.array2string(shown, precision=6, threshold=6, edgeitems=2, separator=", ").split())


def _table(rows: list[tuple[str, str, str]]) -> str:
    shown = [("", PYTORCH, OURS), *rows]
    widths = [max(len(row[column]) for row in shown) for column in range(3)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in shown)
