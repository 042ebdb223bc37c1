"""Where the graph of a traced call ends: tensors from outside that have a history.

While a call is traced, each such tensor has a `Border` for its edge. A pass of the program itself goes through it, and
the tape is given up, since a repetition knows nothing of graphs from outside. The traced backward pass of the results
ends there.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ...graph.node import OtherNode, hooks_of
from ...tensors.state.base import edge_of
from ..program.undoing import Undo
from .tracing import Tape


class Border(OtherNode):
    """The identity, between a tensor from outside and its history."""

    def __init__(self, tape: Tape, tensor: Any) -> None:
        edge = tensor._edge
        super().__init__((edge,), edge.shape, edge.dtype)
        self.tape, self.tensor, self.closed = tape, tensor, False

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """The gradient, or None if the pass ends here."""
        if self.closed:
            return [None]
        self.tape.give_up("the program runs a backward pass through a graph from outside of it")
        return cotangents

    def give_hooks(self) -> None:
        """Give the hooks that the program has registered on the tensor to the node that has made the tensor."""
        own, edge = self.hooks, self.edges[0]
        if own is not None:
            hooks = hooks_of(edge.node)
            there = [id(added) for _, added in hooks.tensor]                 # from a call that was interrupted
            hooks.tensor += [(edge.index, added) for _, added in own.tensor if id(added) not in there]
            hooks.retain.update({number: (edge.index, keep) for number, (_, keep) in own.retain.items()})
            self.hooks = None


class Borders:
    """The borders of one traced call, from `put` on until `remove`."""

    def __init__(self) -> None:
        self.borders: list[tuple[Any, Border]] = []

    def put(self, tape: Tape, tensors: Iterable[Any]) -> None:
        """Put borders where the graphs of tensors end."""
        for tensor in tensors:
            if tensor._edge is not None and tensor._edge.node is not None:
                with suppress(RuntimeError):                 # the program itself will raise it
                    edge_of(tensor)
                if tensor._grad_meta is not None and tensor._grad_meta.retained is not None:
                    tape.give_up("a tensor with a history retains its gradient")
                border = Border(tape, tensor)
                self.borders.append((tensor, border))
                tensor._edge = border

    def check(self) -> None:
        """Give up if a tensor has another history than before the call."""
        for tensor, border in self.borders:
            if tensor._edge is not border:
                border.tape.give_up("the program writes to a tensor that has a history outside of it")

    def remove(self) -> None:
        """Give the tensors their edges, and their nodes the hooks."""
        for tensor, border in self.borders:
            if tensor._edge is border:
                tensor._edge = border.edges[0]
            border.give_hooks()

    def close(self, leaves: Iterable[Any], undo: Undo) -> None:
        """Have passes end at the borders, and call no hooks of the leaves: they belong to the pass outside."""
        for leaf in leaves:
            if leaf._grad_meta is not None:                     # or it has a border
                undo.put(leaf._grad_meta, "hooks", None)
        for _, border in self.borders:
            undo.put(border, "closed", True)
            undo.put(border, "edges", (None,))                  # or a node behind it would be reached, with no gradient
