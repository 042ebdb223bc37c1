"""Batches: what an operator makes of arrays with a hidden axis.

Elementwise operators align the ranks of their operands. A view of a batch is the same view of each sample, so it is
found from one sample and the strides. Any other operator has a rule (`families`): its dims are shifted, or the batch
becomes a part of an axis that it has anyway. Without a rule, an operator is called once for each sample, and the
results are stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import Array
from ...foundations.modes import local
from ...kernels.elementwise.arithmetic import overwrite
from ...ops.basic import clone, copy, look
from ...ops.creation import full_beside
from ...ops.framework import Op
from ...ops.indexing.indexing import select
from ...ops.indexing.sorting import isin
from ...ops.joining import stack
from ...ops.linalg.lu import permutation
from ...ops.shape import view
from ...ops.tables import table
from ...ops.view_copies import COPIES
from ..recording.inplace import write_over
from .batched import Batched, common_axes, hidden, in_axes, is_array, is_batched, of_axes, shown
from .families.operands import Same, aligned
from .families.table import rule_of
from .levels import Level, below, lowest, moving, with_level
from .pieces import pieces
from .randomness import RANDOM, REFUSED, REFUSED_IN_PASSES, draw
from .refusals import unwritable
from .rules import by_composition
from .views import viewed

if TYPE_CHECKING:
    from ..state.base import TensorBase

WHOLE = table("Though it has no derivative, it is not computed element by element",
              dict.fromkeys((isin, permutation), True))
# The view that each operator copies.
VIEWS = {op: view for view, op in COPIES.items()}


class Entered:
    """The samples of a tensor along a dim, and the edge that the samples had at first."""

    __slots__ = ("dim", "edge", "samples", "tensor")

    def __init__(self, samples: Any, edge: Any, tensor: TensorBase, dim: int) -> None:
        self.samples, self.edge, self.tensor, self.dim = samples, edge, tensor, dim


class BatchLevel(Level):
    """One application of `vmap`, over `size` samples. `randomness` says what random numbers may differ.

    `entered` are the tensors that the function was given, while it runs.
    """

    __slots__ = ("entered", "randomness", "size")
    has_samples = True
    pieces = pieces
    no_random = REFUSED                                    # the sentence if no random numbers are allowed

    def __init__(self, size: int, randomness: str) -> None:
        super().__init__()
        self.size, self.randomness = int(size), randomness
        self.entered: list[Entered] = []

    def left(self) -> None:
        """Forget what the function was given, which nodes would keep alive with the level."""
        self.entered = []

    def holds(self, array: Array) -> bool:
        """Whether an array has an axis of this level."""
        return is_batched(array, self)

    def concerned(self, op: Op, args: tuple[Any, ...]) -> Any:
        """Whether an operand has an axis of this level, or random numbers are to be drawn."""
        if op.kernel in RANDOM:
            return True
        for arg in args:
            if type(arg) is Batched:
                if arg.levels[-1] is self:
                    return True
            elif type(arg) in (list, tuple) and any([is_batched(a, self) for a in arg]):
                return True
        return None

    def interpret(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool, known: bool) -> Any:
        """The results for all samples."""
        if op.kernel in RANDOM:
            return draw(self, op, call, args, write)
        if op.composition is not None:
            return by_composition(op, args, with_level(self))
        if write:
            return self._write(op, call, args)
        if op.kind == "elementwise" and not (local.thread.levels and moving(*args)):
            return at_once(op, call, args)
        if op.kind == "elementwise" or (op.kind == "constant" and op not in WHOLE):
            return self._hidden(below(op, call, aligned(args, self)))
        if not self.size:
            return self._without_samples(op, call, args)
        if op in VIEWS and VIEWS[op] is not view:
            return self._copied(viewed(VIEWS[op], VIEWS[op].compute, args))
        found = rule_of(op)(self, op, args)
        return self._looped(op, call, args) if found is NotImplemented else self._hidden(found)

    def _hidden(self, found: Any) -> Any:
        """Results with the axis of the level first, as results of samples. Kernels leave some results empty."""
        if type(found) is tuple:
            return tuple([part.array if type(part) is Same else part if part.shape[:1] != (self.size,)
                          else hidden(part, self) for part in found])
        return hidden(found, self)

    def _copied(self, found: Any) -> Any:
        """Views, in memory of their own."""
        parts = found if type(found) is tuple else (found,)
        copies = tuple([hidden(clone.run(shown(part, self), "C"), self) for part in parts])
        return copies if type(found) is tuple else copies[0]

    def _looped(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """The results of one call for each sample, stacked."""
        results = [below(op, call, self._sample(args, i)) for i in range(self.size)]
        if type(results[0]) is tuple:
            return tuple([self._stacked([*column]) for column in zip(*results, strict=True)])
        return self._stacked(results)

    def _without_samples(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """The results for no sample: those for a sample of zeros say the shapes and the dtypes."""
        if op is look:
            return args[0]
        found = below(op, call, self._zeros(args))
        empty = [hidden(full_beside(part, (0, *part.shape), part.dtype, 0), self)
                 for part in (found if type(found) is tuple else (found,))]
        return tuple(empty) if type(found) is tuple else empty[0]

    def _zeros(self, value: Any) -> Any:
        """An argument with zeros for what has no samples."""
        if is_batched(value, self):
            return full_beside(shown(value, self), value.shape, value.dtype, 0)
        return type(value)([self._zeros(part) for part in value]) if type(value) in (list, tuple) else value

    def _stacked(self, samples: list[Any]) -> Any:
        return hidden(stack.run(samples, 0), self)

    def _sample(self, value: Any, i: int) -> Any:
        if is_batched(value, self):
            return select.run(shown(value, self), 0, i)
        if type(value) in (list, tuple):
            return type(value)([self._sample(part, i) for part in value])
        return value

    def _write(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Write over each sample. What is the same for all samples cannot hold what differs."""
        if not is_batched(args[0], self):
            raise unwritable(op.name, self.size, [a.shape for a in args if is_array(a)])
        if not self.size:
            return
        target = args[0]
        fitting = all([a.ndim <= target.ndim for a in args if hasattr(a, "ndim")])
        if fitting and (op.kind in ("elementwise", "constant") or (op is copy and args[1].shape == target.shape)):
            below(op, call, aligned(args, self), True)
            return
        found = rule_of(op)(self, op, args[1:]) if getattr(call, "func", None) is write_over else NotImplemented
        if found is not NotImplemented and found.shape[1:] == target.shape and found.dtype == target.dtype:
            copy.write(overwrite, shown(target, self), found)
            return
        for i in range(self.size):
            below(op, call, self._sample(args, i), True)


class BatchOfPasses(BatchLevel):
    """The batch that autograd makes of the passes that `is_grads_batched` and its like ask for."""

    __slots__ = ()
    no_random = REFUSED_IN_PASSES

    def __init__(self, size: int) -> None:
        super().__init__(size, "error")


def at_once(op: Op, call: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The results of an operator that works element by element, for all samples of all levels.

    No level in effect has tangents for the arguments. The kernel runs without levels; `levels.interpret` restores them.
    """
    local.thread.levels, local.thread.transform = (), lowest()
    levels, rank = common_axes(args)
    return of_axes(below(op, call, in_axes(args, levels, rank)), levels, rank)
