"""Questions to the operators: which there are, and which functions are one elementwise operator.

Tests ask instead of listing names, so that they are about new operators, too.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import retrograd
from op_table.table import TABLE
from retrograd import ops
from retrograd.ops.framework import Op
from retrograd.tensors.recording.calls import recorded


def _ops_in(value: Any) -> Iterator[Op]:
    if isinstance(value, Op):
        yield from (value, value.written)
    elif isinstance(value, dict):
        yield from _ops_in([*value.values()])
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _ops_in(part)


def stated_in(modules: Iterable[Any]) -> set[Op]:
    """The operators that modules name, by themselves, in lists or in dicts as values, and their in-place forms."""
    return {op for module in modules for value in vars(module).values() for op in _ops_in(value)}


@cache
def stated_ops() -> frozenset[Op]:
    """Every operator stated in `retrograd.ops`, and its in-place form."""
    names = [module.name for module in pkgutil.walk_packages(ops.__path__, ops.__name__ + ".")]
    return frozenset(stated_in([importlib.import_module(name) for name in names]))


def elementwise(arity: int, *, kind: str = "", domain: str = "") -> list[str]:
    """The functions of the package that are one ufunc of so many tensors, by the operators' names, in order.

    `kind` asks for operators whose entry in the table takes such dtypes, and `domain` for operators of this domain.
    """
    kinds = {entry.name: entry.kinds for entry in TABLE}
    return sorted(op.name for op in stated_ops()
                  if op.short and op.arity == arity and domain in ("", op.domain) and kind in kinds.get(op.name, "")
                  and getattr(retrograd, op.name, None) is recorded(op))
