"""Machine code of a plan for all sizes: the extents of its loops stand in the tables, beside the addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address
from ..native.lowered import LARGEST_PRODUCT, Lowered, joins, lowered, may_be_product, product, work_of
from ..native.machine import LARGE, Placed
from ..native.machine_code import MachineCode
from ..native.nest import nest_of, order_of
from ..native.products import Product, has_blas
from ..native.recurrent import Steps
from ..passes.fusing import Unit
from ..program.forms import Sizes, at
from ..program.lines import Line, Value
from ..program.symbols import Extent, has_extents, merged
from .plans import SizedCode


class SizedLowering:
    """What has machine code for all sizes."""

    def joins(self, line: Line, values: list[Value]) -> bool:
        """Whether a line of a loop has: its options do not depend on sizes."""
        return not has_extents(line.args) and joins(line, values)

    def is_product(self, line: Line, values: list[Value]) -> bool:
        """Whether a line is a product of matrices that has, for some sizes."""
        return may_be_product(line, values) and has_blas(values[line.results[0]].like.dtype)


class SizedMachineCode(SizedCode, MachineCode):
    """The code of a plan for those sizes for which the same loops are large."""

    def __init__(self, plan: Any, large: tuple[bool, ...]) -> None:
        self.entries: list[tuple[Array, int, Any]] = []    # of tables: the slots, and what stands there
        super().__init__(plan, large)

    def _unit(self, unit: Unit) -> None:
        if unit.native and unit.shape is None and self.large[self.places[id(unit)]]:
            self._close()
            self._one_by_one(unit)
        else:
            super()._unit(unit)

    def _product(self, unit: Unit) -> Any:
        line, = unit.lines
        slots, place = self._factors(line), self.places[id(unit)]
        found: Product = merged(self.plan.points, [product(units[place].lines[0], values, slots)
                                                  for units, values in self.plan.planned])
        return found._replace(slot=self._slot) if has_extents(found) else found

    def _loop(self, unit: Unit) -> Any:
        kept, place = self.storage.kept(unit), self.places[id(unit)]
        each = [lowered(units[place], values, kept) for units, values in self.plan.planned]
        found: Lowered = merged(self.plan.points, each)
        slots = self._operands(unit, found)
        if not has_extents(found.loop):
            return Placed(found.loop, slots)
        dims = order_of(each[0].loop)
        nest = merged(self.plan.points, [nest_of(one.loop, dims) for one in each])
        apart = all([not isinstance(n, Extent) for reduction in found.loop.reductions
                     for dim, n in enumerate(found.loop.shape) if dim not in reduction.dims])
        return Placed(found.loop, slots, nest, self._slot, self.large[place] and apart)

    def _steps(self, line: Line) -> Steps | None:
        return None

    def _fill(self, table: Array, name: str, number: Any, slot: int) -> None:
        if isinstance(number, int):
            super()._fill(table, name, number, slot)
        if not isinstance(number, int) or self.storage.is_fixed(number):
            self.entries.append((table, slot, number))

    def _start(self, number: int) -> tuple[int, int]:
        return number, 0                                   # where a view starts may depend on the sizes

    def _tables(self, arrays: dict[int, Array], sizes: Sizes) -> list[tuple[Array, Any, Any]]:
        """The tables, with the slots whose entries depend on sizes, and these entries."""
        moving = {number for number, _ in self.moving}
        found: dict[int, tuple[Array, list[int], list[int]]] = {}
        for table, slot, key in self.entries:
            if key not in moving and isinstance(key, int):
                continue
            _, slots, entries = found.setdefault(id(table), (table, [], []))
            slots.append(slot)
            entries.append(address(arrays[key]) if isinstance(key, int) else key.at(sizes))
        return [(table, np.array(slots), np.array(entries, np.uintp)) for table, slots, entries in found.values()]


def is_large(unit: Unit, shape: Any, layouts: dict[int, Any], sizes: Sizes) -> bool:
    """Whether a unit is large for sizes: a loop that may be split over threads, or a product that is called by Python.
    """
    if not unit.native:
        return False
    if unit.shape is None:
        return work_of([[at(n, sizes) for n in layouts[number].shape] for number in unit.lines[0].reads[:2]]) > (
            LARGEST_PRODUCT)
    return bool(np.prod([at(n, sizes) for n in shape]) >= LARGE)
