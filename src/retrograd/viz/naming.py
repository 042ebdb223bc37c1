"""The names of leaves, and the calls of modules that made the nodes of a graph.

What `recording` noted comes first. Without such notes, leaves get the names of the program's own variables, and modules
are inferred from the names of parameters.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from ..foundations.errors import OWN
from ..graph.node import Node
from ..nn.modules.module import Module
from ..tensors.state.base import TensorBase, requires
from .graphs import Call, Calls, names_of
from .notes import Root, noted_of


class Names:
    """The names in one graph.

    `leaves` has the name of a tensor by its identity, and `classes` the class of a module by its path. `parameters` are
    the tensors that a module or the caller names, in order. `calls` is for `graphs.drawn`: None without notes.
    """

    def __init__(self, nodes: Sequence[Node], params: Any, frame: FrameType | None) -> None:
        if isinstance(params, Iterator):                # such as Module.named_parameters(), which can be read once
            params = [*params]
        self.params = params
        self.leaves = names_of(params)
        self.classes: dict[str, str] = {}
        self.parameters: list[tuple[str, Any]] = []
        noted = {node: note for node in nodes if (note := noted_of(node)) is not None}
        roots = [*dict.fromkeys([note.root for note in noted.values() if note.root is not None])]
        prefixes = _prefixes(roots, params, {} if frame is None else {**frame.f_globals, **frame.f_locals})
        self.calls: dict[Node, Calls] | None = None
        if noted:
            self.calls = {node: _prefixed(note.calls, "" if note.root is None else prefixes[note.root])
                          for node, note in noted.items()}
        if params is not None:
            self._add(params, "")
        for root, prefix in prefixes.items():
            module = root.module()
            self._add(root.parameters() if module is None else module, prefix)
        if frame is not None:
            self._add_variables(frame)

    def _add(self, params: Any, prefix: str) -> None:
        """Name the parameters of a module, or of whatever else names tensors."""
        if isinstance(params, Module):
            for path, inner in params.named_modules():
                self.classes.setdefault(_joined(prefix, path), type(inner).__name__)
            params = dict(params.named_parameters())
        known = {id(tensor) for _, tensor in self.parameters}
        for name, tensor in params.items() if isinstance(params, Mapping) else params:
            self.leaves.setdefault(id(tensor), _joined(prefix, name))
            if id(tensor) not in known:
                self.parameters.append((_joined(prefix, name), tensor))

    def _add_variables(self, frame: FrameType) -> None:
        """Name leaves by the variables of the program: those of the function, and then those of the module."""
        for variables in (frame.f_locals, frame.f_globals):
            held = [(name, value) for name, value in [*variables.items()] if not name.startswith("_")]
            modules = [value for _, value in held if isinstance(value, Module)]
            if len(modules) == 1 and not self.parameters:
                self.params = modules[0]
                self._add(modules[0], "")
            for name, value in held:
                if isinstance(value, TensorBase) and value._edge is None and requires(value):
                    self.leaves.setdefault(id(value), name)
                elif isinstance(value, Module):
                    for path, tensor in value.named_parameters():
                        self.leaves.setdefault(id(tensor), _joined(name, path))


def calling_frame() -> FrameType | None:
    """The innermost frame outside of the package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return frame


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}.{path}" if prefix and path else prefix or path


def _prefixed(calls: Calls, prefix: str) -> Calls:
    return tuple([Call(_joined(prefix, call.path), call.kind, call.number) for call in calls]) if prefix else calls


def _prefixes(roots: Sequence[Root], params: Any, variables: Mapping[str, Any]) -> dict[Root, str]:
    """What comes before the paths below each root.

    It is the path of the root in `params`. A single root with parameters needs no prefix. Any other root has the name
    of the variable that holds it, or its class.
    """
    inside = dict(_modules(params)) if isinstance(params, Module) else {}
    held = {id(value): name for name, value in reversed([*variables.items()]) if isinstance(value, Module)}
    kinds = {root.key: root.kind for root in roots}
    main = {root.key for root in roots if root.parameters()}
    prefixes: dict[Root, str] = {}
    for root in roots:
        alike = [key for key, kind in kinds.items() if kind == root.kind]
        number = alike.index(root.key) + 1
        other = held.get(root.key) or (root.kind if number == 1 else f"{root.kind} {number}")
        alone = len(kinds) == 1 or main == {root.key}
        prefixes[root] = inside.get(root.key, "" if alone else other)
    return prefixes


def _modules(module: Module) -> Iterator[tuple[int, str]]:
    for path, inner in module.named_modules():
        yield id(inner), path
