"""The op most likely at fault when a derivative is wrong: the one that also fails the check alone.

The function runs once more, and each op of its forward pass is noted, with copies of its arguments. Then the check that
failed runs on each op alone: its own rule against finite differences of its own kernel, or, for a custom Function, its
`backward` against its `forward`. An error of one op spreads to all gradients behind it, but only that op fails alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..foundations.dtypes import DIFFERENTIABLE
from ..foundations.errors import Site, at, user_site
from ..foundations.modes import local
from ..graph import faults
from ..ops.framework import Op
from ..tensors.arguments.generator import default_generator
from ..tensors.recording.calls import CALLS
from ..tensors.state.base import TensorBase, plain
from .comparison import GradcheckError, requires_grad
from .differences import as_tuple, is_float

if TYPE_CHECKING:
    from ..graph.node import Node

# Runs the failed check on a function and its inputs, element by element or along random directions.
Fails = Callable[[Callable[..., Any], tuple[Any, ...], bool], None]
_SMALL = 1024           # elements of a Jacobian that is compared element by element
_FEW = 100              # ops that are checked element by element


class Call(NamedTuple):
    """One op of a forward pass: its name, its line, a function that calls it again, and the arguments of that."""

    name: str
    site: Site | None
    again: Callable[..., Any]
    inputs: tuple[Any, ...]


class Fault(NamedTuple):
    """An op that fails the check alone, and how."""

    call: Call
    error: GradcheckError


def accusation(func: Callable[..., Any], inputs: tuple[Any, ...], fails: Fails) -> dict[str, str]:
    """The facts about the op at fault, to be noted below the error of a check of `func(*inputs)`."""
    state = default_generator.get_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calls = recorded_calls(func, inputs)
            tried = [_fault(call, fails, len(calls) <= _FEW) for call in calls]
    except Exception:                       # the function cannot run once more, and the first error says enough
        return {}
    finally:
        default_generator.set_state(state)
    found = [fault for fault in tried if fault is not None]
    if found:
        return _accused(found)
    if calls:
        return {"at_fault": "no rule: each op alone passes the check",
                "instead": "look for a value that left the graph: by .detach(), .data, .item(), NumPy or "
                           "torch.no_grad(). Or a hook changes a gradient"}
    return {}


def _accused(found: list[Fault]) -> dict[str, str]:
    """The facts about the worst of several ops; of two that are as bad, the first."""
    worst = max(found, key=lambda fault: fault.error.excess)
    call, error = worst
    others = dict.fromkeys(fault.call.name for fault in found if fault.call.name != call.name)
    where = "" if call.site is None else f", at {at(call.site)}"
    return {"at_fault": f"most likely {call.name}{where}",
            "alone": "the op fails, too" + (f": {error.entry}" if error.entry else ""),
            "also": f"these fail alone, but less: {', '.join(others)}" if others else ""}


def _fault(call: Call, fails: Fails, few: bool) -> Fault | None:
    """The op as one that fails alone, or None. An op that cannot run alone, or that draws numbers, does not fail."""
    try:
        outputs, others = ([o._array for o in as_tuple(call.again(*call.inputs)) if is_float(o)] for _ in range(2))
        if not all([np.array_equal(a, b, equal_nan=True) for a, b in zip(outputs, others, strict=True)]):
            return None
        size = max([x._array.size for x in call.inputs if requires_grad(x)]) * max([o.size for o in outputs])
        fails(call.again, call.inputs, few and size <= _SMALL)
    except GradcheckError as error:
        return Fault(call, error)
    except Exception:
        return None
    return None


# The forward pass, noted


class _Notes:
    """What a forward pass calls. The seam has the arguments of an op before the call; the graph has its node after."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.latest: dict[Op, tuple[Any, ...]] = {}

    def on_seam(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        self.latest[op] = _copied(args)
        return call(*args)

    def on_node(self, node: Any, results: Sequence[Any], operands: Sequence[Any]) -> None:
        kind = getattr(node, "context_class", None)
        if kind is not None:
            self._note(node, kind._forward_cls.apply, operands, node.needs_input_grad)
            return
        op = getattr(type(node), "op", None)
        args = self.latest.get(op) if op is not None else None
        if op is not None and args is not None and not op.variadic and self._is_same(args, operands):
            self._note(node, CALLS[op], args, [edge is not None for edge in node.edges])

    @staticmethod
    def _is_same(args: tuple[Any, ...], operands: Sequence[Any]) -> bool:
        """Whether the arguments at the seam are those of the node: as many tensors, of the same shapes."""
        shapes = [x._array.shape for x in operands if isinstance(x, TensorBase)]
        return shapes == [x._array.shape for x in args if isinstance(x, TensorBase)]

    def _note(self, node: Node, again: Callable[..., Any], args: Sequence[Any], moving: Sequence[bool]) -> None:
        """Note a call, unless it has other arrays than those of NumPy."""
        if not all([isinstance(_array(x), np.ndarray) for x in args if isinstance(x, TensorBase)]):
            return
        inputs = _copied(args)
        for x, moves in zip(inputs, moving):
            if moves and isinstance(x, TensorBase) and x._array.dtype in DIFFERENTIABLE:
                x.requires_grad_()
        if any(map(requires_grad, inputs)):
            self.calls.append(Call(faults.forward_name(node), user_site(), again, inputs))


def _copied(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values, with a constant for each array and each tensor."""
    return tuple([plain(np.array(_array(value))) if isinstance(value, (np.ndarray, TensorBase)) else value
                  for value in values])


def _array(value: Any) -> Any:
    return value._array if isinstance(value, TensorBase) else value


def recorded_calls(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Call]:
    """The ops that a call of a function records, in order."""
    notes = _Notes()
    with _watched(notes):
        func(*inputs)
    return notes.calls


@contextmanager
def _watched(notes: _Notes) -> Iterator[None]:
    thread = local.thread
    watchers, transform = thread.watchers, thread.transform
    thread.watchers = (*watchers, notes.on_node)
    if transform is None:
        thread.transform = notes.on_seam
    try:
        yield
    finally:
        thread.watchers, thread.transform = watchers, transform
