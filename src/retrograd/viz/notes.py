"""Notes about a forward pass: the line, the module and the first bad value of each node, and where the graph is cut.

`recording` opens the context in which they are made. The notes of a node are kept by the node, as its `origin`.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..foundations.errors import OWN, PACKAGE, Site, user_site
from ..foundations.modes import local
from ..graph.anomaly_report import is_elementwise, operand_names
from ..graph.bad_values import made
from ..graph.faults import forward_name
from ..graph.node import Node, origin_of
from ..nn.modules.module import Module, register_module_forward_hook, register_module_forward_pre_hook
from ..tensors.recording.overriding import flat, local as overriding
from ..tensors.state.base import TensorBase, requires
from ..tensors.state.dispatch import DISPATCH
from .graphs import Call, Calls

_PASSED = (__file__, os.path.join(PACKAGE, "tensors", "recording", ""))
_FUNCTIONS = os.path.join(PACKAGE, "autograd", "function.py")
_CUTTING = frozenset(("detach", "detach_", "tensor", "as_tensor"))
_MOST_CUTS = 1000


class Root:
    """A module that a program called outside of other modules. `paths` has the path of each module, by its identity.

    The graph may outlive the module, as in `Net()(x)`. So the parameters are noted, too: names, and weak references.
    """

    def __init__(self, module: Module) -> None:
        self.module = weakref.ref(module)
        self.kind = type(module).__name__
        self.paths = {id(inner): path for path, inner in module.named_modules()}
        self._parameters = [(name, weakref.ref(parameter)) for name, parameter in module.named_parameters()]

    @property
    def key(self) -> int:
        """What tells the module from others: a module that a program calls twice has two roots."""
        module = self.module()
        return id(self if module is None else module)

    def parameters(self) -> list[tuple[str, Any]]:
        """The names and tensors of the parameters that are alive."""
        return [(name, tensor) for name, found in self._parameters if (tensor := found()) is not None]


class Noted(NamedTuple):
    """What `recording` notes of a node.

    `calls` are the calls of modules that were open, the outermost first, with paths below `root`. `writes` says whether
    the operation wrote over its first operand.
    """

    calls: Calls
    root: Root | None
    writes: bool


class Cut(NamedTuple):
    """A value that left the graph: the number of the node that made it, or the leaf, the shape, and where and why."""

    number: int | None
    leaf: Any
    shape: str
    site: Site
    why: str


class _Notes:
    """The notes of one thread. Its methods are called for modules, for nodes, and, as a mode's, for functions."""

    latest: ClassVar[_Notes | None] = None

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.stack: list[tuple[Module, Calls]] = []     # the open calls: each with those around it
        self.root: Root | None = None
        self.number = 0
        self.cuts: dict[tuple[Any, ...], Cut] = {}

    def open(self) -> None:
        """Begin to note what this thread does."""
        thread = local.thread
        thread.watchers = (*thread.watchers, self.on_node)
        self.handles = (register_module_forward_pre_hook(self.before),
                        register_module_forward_hook(self.after, always_call=True))
        DISPATCH.watch(1)
        overriding.thread.modes = [*overriding.thread.modes, self]

    def close(self) -> None:
        """End this. Contexts that were opened meanwhile may still be open."""
        thread = local.thread
        thread.watchers = tuple([watcher for watcher in thread.watchers if watcher != self.on_node])
        for handle in self.handles:
            handle.remove()
        overriding.thread.modes = [mode for mode in overriding.thread.modes if mode is not self]
        DISPATCH.watch(-1)

    # Modules

    def before(self, module: Module, args: tuple[Any, ...]) -> None:
        """A module is about to be called."""
        if threading.get_ident() != self.thread:
            return
        if not self.stack or self.root is None:
            self.root = Root(module)
        outer: Calls = self.stack[-1][1] if self.stack else ()
        kind = type(module).__name__
        path = self.root.paths.get(id(module))
        if path is None:                                # no submodule: a module in a list, for example
            path = f"{outer[-1].path}.{kind}".removeprefix(".")
        self.number += 1
        self.stack.append((module, (*outer, Call(path, kind, self.number))))

    def after(self, module: Module, args: tuple[Any, ...], result: Any) -> None:
        """A module has returned, or raised."""
        if threading.get_ident() == self.thread and any([called is module for called, _ in self.stack]):
            while self.stack.pop()[0] is not module:
                pass

    # Nodes

    def on_node(self, node: Node, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """A node was recorded."""
        origin = origin_of(node)
        site = user_site(2) if origin is None or origin.code is None else origin[:2]
        bad = _bad_result(node, results, operands) if origin is None or origin.bad is None else origin.bad
        calls, root = (self.stack[-1][1], self.root) if self.stack else ((), None)
        writes = bool(operands) and bool(results) and results[0] is operands[0]
        node.origin = (*(site or (None, 0)), None if origin is None else origin.parent, bad, Noted(calls, root, writes))

    # Public functions

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, TensorBase) and result._edge is None and result._array.dtype.kind in "fcV":
            self.look(func, args, result)
        return result

    def look(self, function: Any, args: tuple[Any, ...], result: Any) -> None:
        """Note a cut, if a function of the program made a constant of an operand that requires grad."""
        operand = next((x for x in flat(args) if isinstance(x, TensorBase) and requires(x)), None)
        if operand is None or requires(result):
            return
        why = _why(function)
        site = _site_of_call()
        if not why or site is None or len(self.cuts) >= _MOST_CUTS:
            return
        edge = operand._edge
        number = None if edge is None or edge.node is None else edge.node.number
        self.cuts[*site, why] = Cut(number, weakref.ref(operand) if edge is None else None,
                                    f"{operand.dtype.name}{[*operand._array.shape]}", site, why)


def noted_of(node: Node) -> Noted | None:
    """What `recording` noted of a node."""
    origin = origin_of(node)
    inside = None if origin is None else origin.inside
    return inside if isinstance(inside, Noted) else None


def _bad_result(node: Node, results: Sequence[Any], operands: Sequence[Any]) -> Any:
    """What anomaly mode notes of a node that made non-finite values of finite ones; None for other nodes."""
    for result in results:
        array = getattr(result, "_array", result)
        if isinstance(array, np.ndarray) and array.dtype.kind in "fc" and not np.isfinite(array).all():
            given = [getattr(x, "_array", None) for x in operands]
            named = [(name, x) for name, x in zip(operand_names(node, len(given)), given) if x is not None]
            bad = made(f"the result of {forward_name(node)}", array, named, is_elementwise(node))
            if bad is not None:
                return bad, None
    return None


def _why(function: Any) -> str:
    """Why the result of a function is a constant: 'detach', 'data', 'no_grad' …; '' if it does not cut a graph."""
    name: str = getattr(function, "__name__", "")
    if name == "__get__":
        return "data" if function.__self__ is DISPATCH.tensor.data else ""
    if name in _CUTTING:
        return name
    if local.thread.grad or name.endswith("_like") or name.startswith(("new_", "_")):
        return ""
    return "inference_mode" if local.thread.inference else "no_grad"


def _site_of_call() -> Site | None:
    """The line of the program that called a public function; None if the package itself called the function.

    Also None inside the forward of a Function, where grad mode is off but the Function has a node.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(OWN):
        return None
    site = Site(frame.f_code, frame.f_lasti)
    while frame is not None:
        if frame.f_code.co_filename == _FUNCTIONS:
            return None
        frame = frame.f_back
    return site


def cuts() -> list[Cut]:
    """Where values left the graph, in the `recording` that was opened last."""
    latest = _Notes.latest
    return [] if latest is None else [*latest.cuts.values()]


@contextmanager
def recording() -> Iterator[None]:
    """A context in which the operations of this thread note their line, and the module that ran them.

    `explore` shows these notes. The context notes also which operation made the first NaN or infinity, and where
    values left the graph. Operations take longer in it.

    >>> import retrograd as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.viz.recording():
    ...     loss = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))(x).exp().sum()
    >>> [node["module"] for node in torch.viz.explore(loss).document["nodes"] if node["name"] == "AddmmBackward0"]
    ['1', '0']
    """
    notes = _Notes.latest = _Notes()
    notes.open()
    try:
        yield
    finally:
        notes.close()
