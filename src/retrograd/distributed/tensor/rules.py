"""The rules of all operators that do not need whole arrays in all processes."""

from __future__ import annotations

from ...ops.framework import Op
from ...ops.tables import Table, table
from . import elements, layers, viewing
from .cases import Rule

RULES: Table[Op, Rule] = table("Over several processes, it is computed by {}", elements.RULES, layers.RULES,
                               viewing.RULES)
