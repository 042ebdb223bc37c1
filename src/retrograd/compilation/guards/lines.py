"""The source of a guard while it is written: lines, the values that they name, and what each line compares."""

from __future__ import annotations

import gc
from abc import get_cache_token
from collections import defaultdict
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from ...foundations.names import contents
from ...kernels.layout import offset_of
from ...tensors.state.base import requires
from ..program.constants import differ, others
from ..program.interrupts import interrupts
from ..reach.items import Item, is_constant
from ..reach.places import SOURCES, Step
from ..reach.surroundings import READERS, autocast
from .differences import GONE, Check

HEAD = ("def guard(function, args, kwargs):", " try:")
TAIL = (" except Exception as error:", "  if interrupts(error):", "   raise",
        "  return error.__traceback__.tb_lineno, gone", "")


def number_of(place: int) -> int:
    """The number that a line of a guard has in the source. The first line has the place 0."""
    return place + len(HEAD) + 1


def namespace_of(holder: Any) -> Any:
    """The dict with the attributes of a module or class, to be read only. A module or class has the same dict always.

    That of a class stands behind a view, which takes a guard five times as long to read as the dict itself.
    """
    shown = contents(holder)
    behind = [part for part in gc.get_referents(shown) if type(part) is dict]
    return behind[0] if type(shown) is MappingProxyType and len(behind) == 1 else shown


class Geometry(NamedTuple):
    """The line about a tensor that may be another one in each call: its class, its geometry, and the `rest`."""

    tensor: str
    kind: str
    array: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    rest: str

    def __str__(self) -> str:
        return self._text(f"shape != {self.shape} or {self.array}.strides != {self.strides}")

    def of_any_size(self) -> str:
        """The line that compares no sizes, but how many there are."""
        return self._text(f"ndim != {len(self.shape)}")

    def _text(self, geometry: str) -> str:
        tensor, kind, array = self[:3]
        return f"  if type({tensor}) is not {kind} or ({array} := {tensor}._array).{geometry} or {self.rest}"


class Lines:
    """The lines of a guard, and the values that they name."""

    def __init__(self) -> None:
        self.lines: list[str | Geometry] = []
        self.checks: dict[int, Check] = {}
        self.scope: dict[str, Any] = {**READERS, "differ": differ, "others": others, "gone": GONE, "requires": requires,
                                      "autocast": autocast, "offset_of": offset_of, "token": get_cache_token,
                                      "interrupts": interrupts}

    def line(self, text: str, check: Check) -> None:
        """Write a line of code, which may raise if the place that it reads is gone."""
        self.lines.append("  " + text)
        self.checks[self.number()] = check

    def test(self, condition: str, present: str, check: Check) -> None:
        """Write a line that ends the guard if a condition holds. `present` reads the value to be told of."""
        self.line(f"if {condition}: return {self.number() + 1}, {present}", check)

    def geometry(self, line: Geometry, present: str, check: Check) -> None:
        """Write a line that ends the guard if a tensor has another geometry."""
        self.lines.append(line._replace(rest=f"{line.rest}: return {self.number() + 1}, {present}"))
        self.checks[self.number()] = check

    def number(self) -> int:
        """The number of the last line in the source."""
        return number_of(len(self.lines) - 1)

    def constant(self, name: str, value: Any) -> str:
        """The name of a value in the scope."""
        self.scope[name] = value
        return name

    def name(self, item: Item) -> str:
        """What the code calls an item: a constant, if the guard has seen to it that it is this very object."""
        if is_constant(item):
            return self.constant(f"k{item.number}", item.value)
        return f"v{item.number}"

    def namespace(self, item: Item) -> str:
        """How the code reads the dict with the attributes of an item."""
        if is_constant(item) and issubclass(type(item.value), (type, ModuleType)):
            return self.constant(f"d{item.number}", namespace_of(item.value))
        return f"{self.name(item)}.__dict__"

    def source(self, parent: Item, step: Step) -> str:
        """How the code reads a place."""
        if step.kind == "meta":
            return f"m{parent.number}.{step.key}"
        key = step.key
        if step.kind in ("item", "attribute", "variable", "global"):
            if type(key) in (str, int):
                key = repr(key)
            else:
                key = self.constant(f"q{len(self.scope)}", key)
        if step.kind == "cell" and is_constant(parent):
            return self.constant(f"q{len(self.scope)}", parent.value.__closure__[key]) + ".cell_contents"
        if step.kind == "global" and is_constant(parent):
            return self.constant(f"g{parent.number}", parent.value.__globals__) + f"[{key}]"
        if step.kind == "variable":
            return f"{self.namespace(parent)}[{key}]"
        if step.kind == "item" and isinstance(parent.value, defaultdict):
            return f"{self.name(parent)}.get({key})"             # since a defaultdict would make an entry
        return SOURCES[step.kind].format(o=self.name(parent), d=f"d{parent.number}", key=key)
