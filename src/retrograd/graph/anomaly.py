"""Anomaly mode: it notes where nodes were recorded and which made non-finite values, and its pass looks for NaN.

A `Watch` hears of each node that its thread records. NumPy tells the `Watch` of each kernel that divides by zero,
overflows or computes a NaN, so the `Watch` looks at results only after such a kernel. A `CheckedPass` looks at each
gradient. `anomaly_report` writes the report.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import nan
from operator import length_hint
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import OWN, Site, user_site
from ..foundations.modes import local
from ..ops.framework import Op
from . import faults
from .anomaly_report import Found, explain, is_elementwise, nan_error, operand_names, tell
from .bad_values import LARGE, BadValues, all_samples, has_nan, made
from .engine import Pass
from .node import origin_of, site_of

if TYPE_CHECKING:
    from ..graph.node import Node

_REMEMBERED = 8
_users: set[str] = set()        # the user's files that recorded a line before: this lookup is quicker than the search


class Raised(NamedTuple):
    """A kernel computed a bad value: `what` happened, in which operator, and which line called the operator."""

    what: str
    op: str | None
    site: Site | None

    def __str__(self) -> str:
        return f"{self.what} in {self.op or 'a kernel'}" + ("" if self.site is None else f" at {self.site}")


class Watch:
    """What one thread has seen of anomalies.

    `raised` is what kernels reported since the last check, and `outside` is what they reported outside of any graph.
    `parent` is the node that a pass is running, or None outside of a pass.
    """

    __slots__ = ("check_nan", "outside", "parent", "raised")

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan
        self.parent: Any = None
        self.raised: list[Raised] = []
        self.outside: deque[Raised] = deque(maxlen=_REMEMBERED)

    def on_node(self, node: Node, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Note where a node was recorded, and which bad values the node made of finite values."""
        frame = _getframe(3)
        code = frame.f_code
        if code.co_filename in _users:
            node.origin = (code, frame.f_lasti, self.parent, None)
        else:
            site = user_site(4)
            node.origin = (*(site or (None, 0)), self.parent, None)
            if site is not None:
                _users.add(site.code.co_filename)
        if self.raised:
            self._examine(node, results, operands)

    def on_bad_numbers(self, what: str, flags: int) -> None:
        """Note what a kernel reported. NumPy calls this method inside the kernel."""
        frame: FrameType | None = _getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith(OWN):
            frame = frame.f_back
        op = None
        while frame is not None and frame.f_code.co_filename.startswith(OWN):
            op = op or frame.f_locals.get("op")
            frame = frame.f_back
        if len(self.raised) < _REMEMBERED:
            self.raised.append(Raised(what, op.name if type(op) is Op else None,
                                      None if frame is None else Site(frame.f_code, frame.f_lasti)))

    def _examine(self, node: Node, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Find who raised a flag since the last node: this node, an operation inside it, or one outside the graph."""
        raised = [*self.raised]
        self.raised.clear()
        op = getattr(type(node), "op", None)
        given = _arrays(operands)
        named = [(name, x) for name, x in zip(operand_names(node, len(given)), given) if x is not None]
        for result in _arrays(results):
            if result is None:
                continue
            bad = made(f"the result of {faults.forward_name(node)}", result, named, is_elementwise(node))
            if bad is not None:
                node.origin = (*node.origin[:3], (bad, None if op is not None else raised[0]))
                return
        for one in raised:
            if op is None or one.op not in (None, op.name) or one.site != site_of(node):
                self.leave(one)

    def leave(self, raised: Raised) -> None:
        """Remember what was raised outside of the graph."""
        if raised not in self.outside:
            self.outside.append(raised)


class NanFound(Exception):
    """A gradient has a NaN: the argument is a `Found`. The exception never leaves the pass."""


class CheckedPass(Pass):
    """A pass that looks for NaN in what each node computes, and that adds to each error where its node was recorded."""

    def __init__(self, roots: Any, **options: Any) -> None:
        self.watch: Watch = local.thread.anomalies
        for raised in self.watch.raised:
            self.watch.leave(raised)
        self.watch.raised.clear()
        self.first: tuple[Any, BadValues] | None = None
        super().__init__(roots, **options)
        self.walk = iter(self.order)                    # the iterator knows how far the pass is, at no cost
        self.arriving: Any = None
        self.sound = not any([has_nan(self._array(g)) for g in self.buffers.values()])
        self.given: Any = None
        self.saved: Any = None

    def _current(self) -> Any:
        """The node that the pass is at. A leaf counts as recorded on the line that first used it, even in this pass."""
        leaf = self.arriving
        if leaf is None:
            return self.order[len(self.order) - length_hint(self.walk) - 1] if self.order else None
        users = [node for node in self.order if leaf in node.edges]
        origin = origin_of(users[-1]) if users else (*(user_site() or (None, 0)), None, None)
        if origin is not None:
            leaf.origin = origin
        return leaf

    def _nodes(self) -> Iterator[Any]:
        return self.walk

    def _array(self, value: Any) -> Any:
        return value if self.recorder is None else self.recorder.array(value)

    def run(self) -> dict[Any, Any]:
        try:
            return super().run()
        except NanFound as nan:
            (found,) = nan.args
        except Exception as error:
            node = self._current()
            if node is not None:
                explain(error, node)
                tell(node)
            raise
        tell(found.node)
        raise nan_error(found, self.order, self.first, self.watch.outside)

    def _looking(self) -> Callable[[Any, int, Any, Any, Any], None] | None:
        """The check of each gradient of the short way. A gradient made only of a checked gradient needs no check."""
        if not self.watch.check_nan:
            return None
        raised, sound = self.watch.raised, self.sound

        def look(node: Node, index: int, cotangent: Array, saved: Any, gradient: Any) -> None:
            if raised:
                raised.clear()
                if self.first is None:
                    self._note(_found(node, index, gradient, [cotangent], saved))
            elif saved is None and sound:
                return
            gradient = all_samples(gradient)
            size = gradient.size
            if size == 1:
                value = gradient.item()
            elif 0 < size <= LARGE:                     # has_nan, written inline
                value = gradient.item(gradient.argmax())
            else:
                value = nan if has_nan(gradient) else 0
            if value != value:
                raise NanFound(_found(node, index, gradient, [cotangent], saved, "" if self.sound else _ROOT))

        return look

    def _note(self, found: Found) -> None:
        """After the first flag that a rule raised: note the gradient if the rule made it bad of finite values."""
        bad = found.made()
        self.first = None if bad is None else (found.node, bad)

    def _full_step(self, node: Node, cotangent: Any) -> None:
        watch = self.watch
        outer, watch.parent = watch.parent, node
        self.saved = node.saved
        self.given = cotangent
        try:
            super()._full_step(node, cotangent)
        finally:
            watch.parent, self.saved, self.given = outer, None, None

    def _results(self, node: Node, cotangents: list[Any]) -> Sequence[Any]:
        self.computed = super()._results(node, cotangents)
        return self.computed

    def _hand_on(self, node: Node, cotangents: list[Any], results: Sequence[Any]) -> None:
        """Check all gradients before any of them goes along its edge, as PyTorch does."""
        if self.watch.check_nan:
            for index, g in enumerate(results):
                if g is not None:
                    self._look_at(node, index, self._array(g), cotangents, results)
        self.watch.raised.clear()
        super()._hand_on(node, cotangents, results)

    def _look_at(self, node: Node, index: int, gradient: Any, cotangents: list[Any], results: Sequence[Any]) -> None:
        """Check one gradient of the long way: raise for a NaN, and note the first other bad value."""
        nan = has_nan(gradient)
        if not nan and (not self.watch.raised or self.first is not None):
            return
        given = [None if g is None else self._array(g) for g in cotangents]
        if nan:
            raise NanFound(_found(node, index, gradient, given, self.saved, self._culprit(given, index, results)))
        self._note(_found(node, index, gradient, given, self.saved))

    def _culprit(self, given: list[Any], index: int, results: Sequence[Any]) -> str:
        """Say who brought the NaN into this step if a hook did, or the caller who started the pass."""
        before = self.given
        if self.computed is not results and not has_nan(self._array(self.computed[index])):
            return "a hook that ran after the node returned the nan."
        if any([g is not None and has_nan(g) for g in given]):
            if before is not None and not has_nan(self._array(before)):
                return "a hook on the gradient returned the nan."
            if not self.sound:
                return _ROOT
        return ""

    def _arrive(self, leaf: Any) -> None:
        self.arriving = leaf
        super()._arrive(leaf)
        self.arriving = None


_ROOT = "the gradient that started the pass has nan."


def _arrays(values: Sequence[Any]) -> list[Any]:
    """The arrays of tensors, with None for a value that is not a tensor."""
    return [getattr(value, "_array", None) for value in values]


def _found(node: Node, index: int, gradient: Any, cotangents: list[Any], saved: Any, culprit: str = "") -> Found:
    what = f"the gradient of {faults.forward_name(node)} for {operand_names(node, index + 1)[index]}"
    return Found(node, index, what, all_samples(gradient), _operands(node, index, cotangents, saved), culprit)


def _operands(node: Node, index: int, cotangents: list[Any], saved: Any) -> list[tuple[str, Any]]:
    """The known operands that a gradient was computed from, by name."""
    if len(cotangents) == 1:
        operands = [("grad", np.asarray(all_samples(cotangents[0])))]
    else:
        operands = [(f"grad[{i}]", np.asarray(all_samples(g))) for i, g in enumerate(cotangents) if g is not None]
    if type(saved) is tuple and node.steps is not None:
        places = next((at for i, _, at in node.steps if i == index), ())
        operands += [(_save_name(node, place), all_samples(saved[place])) for place in places
                     if node.saves[place].attribute != "strides"]
    return operands


def _save_name(node: Any, place: int) -> str:
    save = node.saves[place]
    name: str = node.op.outputs[save.place] if save.kind == "out" else node.op.arguments[save.place]
    return f"{name}_{save.attribute}" if save.attribute else name
