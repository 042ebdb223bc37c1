"""What the tables of facts say of an operator, in sentences. `retrograd.explain` shows them.

A table is in the index once its module is imported, so this module imports the modules of all tables.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from ..autograd import operation_counts, profiler_recording
from ..compilation import facts as compiled
from ..dispatch import gradients, rows
from ..distributed.tensor import rules
from ..ops import lacking, sparse, view_copies
from ..ops.framework import Op
from ..ops.tables import INDEX, Table, about
from ..tensors.meta import inference
from ..tensors.recording import dependences, inplace
from ..tensors.transforms import batching, forward, refusals, views
from .statements import source_of

# The modules of the tables, and what they import.
MODULES = (batching, compiled, dependences, forward, gradients, inference, inplace, lacking, operation_counts,
           profiler_recording, refusals, rows, rules, sparse, view_copies, views)


def tables() -> list[Table[Any, Any]]:
    """All tables of the package."""
    lacking.kernels()
    return INDEX


def facts_of(op: Op) -> list[str]:
    """A sentence for each table that has a row for an operator, in alphabetical order."""
    tables()
    return sorted([says.format(_words(row)) + "." for says, row in about(op)])


def _words(row: Any) -> str:
    """A row in words. For a function, its name, its first sentence and its place."""
    if isinstance(row, FunctionType):
        name = row.__qualname__.partition(".")[0]
        doc = (inspect.getdoc(row) or "").partition("\n\n")[0].replace("\n", " ").rstrip(".")
        place = source_of(name, row)
        return f"{name}{'' if place is None else f', at {place.at}'}{doc and f' ({doc})'}"
    if isinstance(row, list):
        return ", ".join(["none" if word == "-" else word for word in row])
    return row.node_name if isinstance(row, Op) else str(row)
