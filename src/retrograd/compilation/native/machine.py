"""Machine code for a sequence of loops and products: one native function on a table of addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address
from ...kernels.native.door import ctypes
from ...kernels.native.threads import in_parts
from ..program.symbols import Extent
from .compiling import MANY, Compiled, compiled
from .host import Host, host
from .lanes import Code
from .modules import Module
from .nest import reduced_size
from .products import Product, even, write_product
from .recurrent import Steps, lanes_of, write_steps
from .sharing import Apart, bytes_apart, shared, write_apart
from .team import ENOUGH, Chooser
from .vectors import identity
from .writing import LoopWriter, Placed as Placed, Work

# Loops from _HUGE elements on are called by themselves, in parts. So are those from LARGE elements on whose sums do not
# fit, and those for all sizes. Loops from _MIDDLE elements on are worth LLVM's whole effort. The others are not, if
# there are so many of them that they have MANY lines. If they have fewer, all is one module.
_HUGE, LARGE, _MIDDLE = 1 << 20, 1 << 16, 1 << 12
# The most parts of a loop or product in one native function, and the least nanoseconds that a part takes.
_PARTS, _PART = 16, 2000
# The most parts that reduce apart, and the bytes that each of them may need to fit.
_APART, _BYTES = 4, 1 << 14
_COMBINE: dict[str, np.ufunc] = {"sum": np.add, "amax": np.maximum, "amin": np.minimum}


class _Large(NamedTuple):
    """A loop that is called by ranges. If their number is set at run time, it stands in the table, in `slot`."""

    placed: Placed
    work: Work
    slot: int | None = None

    def extent(self, table: int) -> int:
        """How many places the ranges have together."""
        return self.work.extent if self.slot is None else int(_entry(table, self.slot).value)


def _entry(table: int, slot: int) -> Any:
    """What stands in a slot of a table."""
    return ctypes.c_size_t.from_address(table + slot * ctypes.sizeof(ctypes.c_size_t))


class _Inside(NamedTuple):
    """Lines that call functions of a module. What threads can share of them takes `cost` nanoseconds."""

    lines: str
    cost: float


class _Run(NamedTuple):
    """A function that runs what lies together in a module, by its name, and whether it is worth a team."""

    name: str
    team: bool


Item = Placed | Product | Steps


class Builder:
    """Plans that are compiled together, which takes less time than one after the other.

    `target` says which instructions and library functions may be used; it is this machine unless given.
    """

    def __init__(self, target: Host | None = None) -> None:
        self._small, self._middle = [Module(target or host(), thorough) for thorough in (False, True)]
        self._count = 0
        self._plans: list[Native] = []
        self._codes: list[Compiled] | None = None

    def add(self, placed: Sequence[Item], slots: int | Callable[[], int]) -> Native:
        """Loops and products, to run in this order, for tables of `slots` addresses. No plan may have been called.

        A function says how many slots there are when all is written.
        """
        if self._codes is not None:
            raise RuntimeError("the plans are compiled already")
        pieces = [self._piece(item) for item in placed]
        self._plans.append(Native(self, pieces, slots if isinstance(slots, int) else slots()))
        return self._plans[-1]

    def has_lanes(self, steps: Steps) -> bool:
        """Whether steps can be computed in vectors."""
        return lanes_of(self._middle, steps) > 0

    def _number(self) -> str:
        self._count += 1
        return str(self._count - 1)

    def _piece(self, item: Item) -> tuple[Module, _Inside | _Large]:
        """Write the functions of a loop, a product or steps. Returns lines that call them, or a large loop."""
        number, module = self._number(), self._middle
        if isinstance(item, Product):
            return module, _in_parts(module, f"product{number}", *write_product(module, item, number))
        if isinstance(item, Steps):
            write_steps(module, item, number)
            return module, _Inside(f"  call void @steps{number}(ptr %table)", 0)
        module = self._small if item.slot is None and item.loop.size < _MIDDLE else module
        work = LoopWriter(module, item, number).write()
        if item.slot is not None:
            return module, self._of_any_size(module, item, work, number)
        first = len(item.loop.inputs) + len(item.loop.outputs)
        apart = [Apart(item.loop.reductions[i], item.slots[first + i], reduced_size(item.loop, item.loop.reductions[i]))
                 for i in work.partial]
        fits = bytes_apart(apart) <= _BYTES
        if item.loop.size >= (_HUGE if fits else LARGE) and work.extent > 1:
            return module, _Large(item, work)
        parts = min(work.extent, int(work.cost) // _PART, _APART) if fits else 1
        if apart and parts > 1:
            return module, _inside(module, work, _Inside(
                write_apart(module, number, work.extent, parts, max(item.slots) + 1, apart), work.cost))
        return module, _inside(module, work, _in_parts(module, work.loop, work.extent, 0 if apart else work.cost))

    def _of_any_size(self, module: Module, item: Placed, work: Work, number: str) -> _Inside | _Large:
        """The call of a loop, perhaps with a number of ranges that is set at run time."""
        slot = item.slot(work.extent.expression) if item.slot and isinstance(work.extent, Extent) else None
        if item.large:
            return _Large(item, work, slot)
        if slot is None:
            return _inside(module, work, _Inside(_whole(work.loop, str(work.extent)), 0))
        place, extent = f"%place{number}", f"%extent{number}"
        return _inside(module, work, _Inside("\n".join([
            f"  {place} = getelementptr ptr, ptr %table, i64 {slot}",
            f"  {extent} = load i64, ptr {place}", _whole(work.loop, extent)]), 0))

    def codes(self) -> list[Compiled]:
        """The compiled modules."""
        if self._codes is None:
            few = sum([function.count("\n") for function in self._small.functions.values()]) < MANY
            joined = few and self._small.joins(self._middle)
            for plan in self._plans:
                plan.settle(lambda module: self._middle if joined else module)
            modules = [self._middle] if joined else [self._small, self._middle]
            self._codes = [compiled(module.text(), module.thorough) for module in modules if module.functions]
            for module in (self._small, self._middle):     # the text stands in the compiled modules
                module.functions.clear()
        return self._codes

    def entry(self, module: Module, pieces: Sequence[_Inside]) -> _Run:
        """Write a function that runs pieces."""
        code, name = Code(module, 1), f"run{self._number()}"
        run = _Run(name, sum([piece.cost for piece in pieces]) >= ENOUGH)
        if not run.team:
            code.do("%team = inttoptr i64 0 to ptr")
        code.lines += [piece.lines for piece in pieces]
        module.functions[name] = code.function(f"void @{name}(ptr %table{', ptr %team' if run.team else ''})")
        return run

    def address(self, name: str) -> int:
        """The address of a function."""
        return next(code.addresses[name] for code in self.codes() if name in code.addresses)


def _whole(function: str, extent: str) -> str:
    """A line that calls a function of ranges."""
    return f"  call void @{function}(ptr %table, i64 0, i64 {extent})"


def _in_parts(module: Module, function: str, extent: int, cost: float) -> _Inside:
    """The call of a function of ranges, in parts if it takes long."""
    parts = even(min(extent, int(cost) // _PART, _PARTS))
    return _Inside(shared(module, function, extent, parts), cost) if parts > 1 else _Inside(
        _whole(function, str(extent)), 0)


def _inside(module: Module, work: Work, call: _Inside) -> _Inside:
    """The call of the functions of a loop, which nothing else calls."""
    for name in filter(None, (work.fill, work.loop)):
        module.functions[name] = module.functions[name].replace("define void", "define internal void", 1)
    return call._replace(lines=f"  call void @{work.fill}(ptr %table)\n{call.lines}") if work.fill else call


def build(placed: Sequence[Item], slots: int, target: Host | None = None) -> Native:
    """A single plan."""
    return Builder(target).add(placed, slots)


class Native:
    """A plan of loops and products. A call with a table of addresses, an array of dtype uintp, runs the plan.

    The first call compiles all plans of the builder.
    """

    def __init__(self, builder: Builder, pieces: Sequence[tuple[Module, _Inside | _Large]], slots: int) -> None:
        self.builder, self.slots, self._written = builder, slots, pieces
        self._pieces: list[_Run | _Large] = []
        self._calls: list[Callable[[int], object]] | None = None
        self._last: tuple[Any, int] = (None, 0)             # the table of the last call, and its address

    def settle(self, home: Callable[[Module], Module]) -> None:
        """Write the functions that run what lies together. `home` says in which module the functions of a module are.

        It is called again if an interrupt has ended the making of the code.
        """
        self._pieces = []
        pieces = [(home(module), piece) for module, piece in self._written]
        for (module, kind), group in groupby(pieces, key=lambda piece: (piece[0], type(piece[1]))):
            items = [piece for _, piece in group]
            if kind is _Inside:
                self._pieces.append(self.builder.entry(module, [item for item in items if isinstance(item, _Inside)]))
            self._pieces += [item for item in items if isinstance(item, _Large)]

    def __call__(self, table: Array) -> None:
        """Run all loops in order. The addresses in the table may change from call to call, and so may the table."""
        known, place = self._last
        if table is not known:
            if table.shape != (self.slots,) or table.dtype != np.uintp or not table.flags.c_contiguous:
                raise ValueError(f"a table of {self.slots} addresses is needed")
            place = address(table)
            self._last = (table, place)
        calls = self._calls
        if calls is None:
            self.builder.codes()                            # which settles the pieces
            calls = self._calls = [self._callable(piece) for piece in self._pieces]
        for call in calls:
            call(place)

    @property
    def source(self) -> str:
        """The text of the builder's plans as it was given to LLVM."""
        return "\n".join([code.source for code in self.builder.codes()])

    @property
    def llvm(self) -> str:
        """The text of the builder's plans after LLVM's passes."""
        return "\n".join([code.optimized for code in self.builder.codes()])

    @property
    def assembly(self) -> str:
        """The code of the builder's plans in the machine's assembly language."""
        return "\n".join([code.assembly for code in self.builder.codes()])

    def _callable(self, piece: _Run | _Large) -> Callable[[int], object]:
        place = self.builder.address
        if isinstance(piece, _Run):
            if piece.team:
                return Chooser(ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(place(piece.name)))
            short: Callable[[int], object] = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(place(piece.name))
            return short                                    # which keeps the interpreter's lock
        ranges = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(place(piece.work.loop))
        fill = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(place(piece.work.fill)) if piece.work.fill else None
        return partial(_run_large, piece, ranges, fill, self.slots)


def _run_large(large: _Large, ranges: Any, fill: Any, slots: int, table: int) -> None:
    """Run a large loop in parts, and combine what the parts make of reductions that they share."""
    placed, work = large.placed, large.work
    loop, first = placed.loop, len(placed.loop.inputs) + len(placed.loop.outputs)
    extent = large.extent(table)
    cost = work.cost if large.slot is None else work.cost * extent / work.extent
    if fill is not None:
        fill(table)
    if not work.partial:
        in_parts(lambda begin, end: ranges(table, begin, end), extent, cost)
        return
    parts: list[tuple[int, list[Any]]] = []

    def run(begin: int, end: int) -> None:
        if begin == 0:                                      # the first part uses the result's own memory
            ranges(table, begin, end)
            return
        own = np.array((ctypes.c_size_t * slots).from_address(table), np.uintp)
        results = []
        for i in work.partial:
            reduction = loop.reductions[i]
            results.append(np.empty(reduced_size(loop, reduction), reduction.dtype))
            own[placed.slots[first + i]] = address(results[-1])
            results[-1].fill(identity(reduction))
        ranges(address(own), begin, end)
        parts.append((begin, results))

    in_parts(run, extent, cost)
    for _, results in sorted(parts, key=lambda part: part[0]):
        for i, result in zip(work.partial, results):
            reduction = loop.reductions[i]
            place = _entry(table, placed.slots[first + i]).value
            whole = np.frombuffer((ctypes.c_char * result.nbytes).from_address(place), reduction.dtype)
            _COMBINE[reduction.kind](whole, result, out=whole)
