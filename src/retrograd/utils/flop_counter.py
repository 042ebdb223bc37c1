"""Counts the floating-point operations of products of matrices and of convolutions, for each module.

The counts are PyTorch's: two operations for each product that is added to a sum, and none for other operators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.operation_counts import (
    FLOPS,
    addmm_flop as addmm_flop,
    baddbmm_flop as baddbmm_flop,
    bmm_flop as bmm_flop,
    conv_flop_count as conv_flop_count,
    mm_flop as mm_flop,
    sdpa_flop_count as sdpa_flop_count,
)
from ..autograd.profiler_recording import Event, Recording
from ..foundations.dtypes import Array
from ..foundations.errors import noted, warn
from ..foundations.modes import Transform
from ..ops.framework import Op
from ..ops.images.convolution import convolution
from ..ops.overloads import OpOverloadPacket, aten
from ..tensors.state.base import TensorBase
from .module_tracker import ModuleTracker

if TYPE_CHECKING:
    from ..graph.node import Node

__all__ = ["FlopCounterMode", "register_flop_formula"]

suffixes = ["", "K", "M", "B", "T"]


# Formulas of the program: what register_flop_formula has got, by operator.
flop_registry: dict[Any, Callable[..., int]] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator: count an operator, such as `aten.exp`, or several ones, by this function.

    The function gets the arguments with shapes in place of tensors, and the shape of the result as `out_shape`. With
    `get_raw` it gets the arrays themselves and the result as `out_val`. Raises ValueError for other targets.
    """
    def register(formula: Callable[..., int]) -> Callable[..., int]:
        for target in targets if isinstance(targets, Iterable) else [targets]:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                                 f"torch.ops.mylib.foo), got {target} which is of type {type(target)}")
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula if get_raw else shape_wrapper(formula)
        return formula

    return register


def get_shape(i: Any) -> Any:
    """The shape of an array or of a tensor. Other values stay as they are."""
    return i.shape if isinstance(i, np.ndarray | TensorBase) else i


def shape_wrapper(f: Callable[..., int]) -> Callable[..., int]:
    """The function of arrays for a function of shapes."""
    def counted(*args: Any, out_val: Array | None = None, **kwargs: Any) -> int:
        out = tuple([get_shape(one) for one in out_val]) if isinstance(out_val, tuple) else get_shape(out_val)
        return f(*[get_shape(arg) for arg in args], out_shape=out, **kwargs)

    return counted


class _Counter(Recording):
    """Stands on the seam and tells of each call of an op. What stood there before is told, too."""

    def __init__(self, count: Callable[[Op, tuple[Any, ...], Any, str], None]) -> None:
        super().__init__(False)
        self.count, self.nodes = count, [""]

    def run(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        under = self.under if self.outer is None else self.outer.run
        found = call(*args) if under is None else under(op, call, args, write)
        self.count(op, args, found, self.nodes[-1])
        return found

    @property
    def beneath(self) -> Transform | None:
        return self.run

    def enter(self, name: str, shapes: Any = (), scope: int = 0) -> Event:
        return Event(name, None, shapes) if self.outer is None else self.outer.enter(name, shapes, scope)

    def leave(self, event: Event) -> None:
        if self.outer is not None:
            self.outer.leave(event)

    def step(self, step: Callable[[Any, Any], None], node: Node, cotangent: TensorBase) -> None:
        if self.outer is None:
            step(node, cotangent)
        else:
            self.outer.step(step, node, cotangent)

    def node(self, gradients: Callable[[Any, Any], Any], node: Node, cotangent: TensorBase) -> Any:
        self.nodes.append(node.name())
        try:
            if self.outer is None:
                return gradients(node, cotangent)
            return self.outer.node(gradients, node, cotangent)
        finally:
            self.nodes.pop()


class FlopCounterMode:
    """Count the operations in the block, and print a table of the modules at its end if `display` is true.

    `depth` says how many levels of modules the table shows. `custom_mapping` has formulas for more operators: see
    `register_flop_formula`. Like PyTorch on the CPU, the mode counts nothing for an attention that is one operator.

    >>> import retrograd as torch
    >>> from retrograd.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = torch.nn.Linear(3, 4)(torch.ones(5, 3))
    >>> counter.get_total_flops()
    120
    """

    def __init__(self, mods: Any = None, depth: int | None = 2, display: bool = True,
                 custom_mapping: dict[Any, Any] | None = None) -> None:
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it")
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        own = {key: f if getattr(f, "_get_raw", False) else shape_wrapper(f)
               for key, f in (custom_mapping or {}).items()}
        self.flop_registry = {**flop_registry, **own}
        self.mod_tracker = ModuleTracker()
        self._counter: _Counter | None = None

    def __enter__(self) -> FlopCounterMode:
        if self._counter is not None:
            raise noted(RuntimeError("FlopCounterMode is already open"), instead="make another FlopCounterMode")
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self._counter = _Counter(self._count)
        self._counter.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._counter is not None:
            self._counter.stop()
        self._counter = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count(self, op: Op, args: tuple[Any, ...], out: Array, node: str) -> None:
        if node.startswith("ScaledDotProduct"):
            return                          # the backward of an attention is one operator, too
        backward = op is convolution and node == "ConvolutionBackward0"
        key = aten.convolution_backward if backward else getattr(aten, op.name)
        if key in self.flop_registry:
            flops = self.flop_registry[key](*args, out_val=out)
        elif op in FLOPS:
            flops = FLOPS[op](args, out)
        else:
            return
        for module in self.mod_tracker.parents:
            self.flop_counts[module][key] += flops

    def get_total_flops(self) -> int:
        """The number of operations of the block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The operations of each operator, for each module, and for "Global", which is all of the block."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The operations of each module, and of each operator in it, as a table."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        suffix = get_suffix_str(total)
        rows: list[list[str]] = []
        covered = False             # whether one module has all operations
        for module in sorted(set(self.flop_counts) - {"Global"}):
            covered |= sum(self.flop_counts[module].values()) >= total
            if depth is None or module.count(".") < depth:
                rows += self._rows(module, total, suffix)
        if "Global" in self.flop_counts and not covered:
            rows = self._rows("Global", total, suffix) + rows
        return _table([["Module", "FLOP", "% Total"], *(rows or [["Global", "0", "0%"]])])

    def _rows(self, module: str, total: int, suffix: str) -> list[list[str]]:
        counts = self.flop_counts[module]
        named = [(module, sum(counts.values())), *((f"- {key}", number) for key, number in counts.items())]
        return [[name, convert_num_with_suffix(number, suffix), convert_to_percent_str(number, total)]
                for name, number in named]


def _table(rows: list[list[str]]) -> str:
    """Rows below a head and a line. The first column is left aligned, and a column has two places around its head."""
    widths = [max(len(rows[0][i]) + 2, *(len(row[i]) for row in rows[1:])) for i in range(len(rows[0]))]
    lines = [[cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
             for row in rows]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(["  ".join(line).rstrip() for line in lines])


def get_suffix_str(number: int) -> str:
    """The unit that leaves at most four digits before the point.

    >>> from retrograd.utils.flop_counter import get_suffix_str
    >>> get_suffix_str(9999), get_suffix_str(10000)
    ('', 'K')
    """
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """A number in a unit, with three digits after the point unless the unit is 1."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}" if suffix else str(number)


def convert_to_percent_str(num: int, denom: int) -> str:
    """A share in percent.

    >>> from retrograd.utils.flop_counter import convert_to_percent_str
    >>> convert_to_percent_str(1, 3)
    '33.33%'
    """
    return f"{num / denom:.2%}" if denom else "0%"
