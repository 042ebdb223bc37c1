"""The names of leaves, and the module in which each node of a graph was recorded.

Notes of `recording` come first. For a graph that was recorded without them, the names of parameters say which module an
operation belongs to, as far as they can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from ..graph.node import AccumulateGrad, Node, origin_of
from ..nn.modules.module import Module
from ..tensors.state.base import TensorBase, requires
from .drawing import names_of
from .notes import Noted, Place, Root


class Names:
    """The names in one graph: `leaves` by the identity of the tensor, `classes` of modules by their path.

    `parameters` are the tensors that `params` or a recorded module has, with their names, in order.
    """

    def __init__(self, nodes: Sequence[Node], params: Any, frame: FrameType | None) -> None:
        self.leaves = names_of(params)
        self.classes: dict[str, str] = {}
        self.parameters: list[tuple[str, Any]] = []
        self.noted = {node: noted.place for node in nodes if (noted := noted_of(node)) and noted.place is not None}
        roots = [*dict.fromkeys([place.root for place in self.noted.values()])]
        self.prefixes = _prefixes(roots, params)
        for root in roots:
            self._add(root.module(), self.prefixes[root])
            self.classes.update({_joined(self.prefixes[root], path): kind for path, kind in root.classes.items()})
        if params is not None:
            self._add(params, "")
        elif frame is not None:
            self._add_variables(frame)
        self.modules = _by_parameters(nodes, self.leaves, leaves_only=bool(self.noted))
        self.modules.update({node: self.path_of(place) for node, place in self.noted.items()})

    def path_of(self, place: Place) -> str:
        """The path of a module in this document."""
        return _joined(self.prefixes[place.root], place.path)

    def _add(self, params: Any, prefix: str) -> None:
        """Name the parameters of a module, or of anything else that names tensors."""
        if isinstance(params, Module):
            self.classes.update({_joined(prefix, path): type(inner).__name__
                                 for path, inner in params.named_modules()})
            pairs: Iterable[tuple[str, Any]] = params.named_parameters()
        else:
            pairs = [(name, tensor) for name, tensor in _pairs(params)]
        for name, tensor in pairs:
            name = _joined(prefix, name)
            self.leaves.setdefault(id(tensor), name)
            if all([tensor is not other for _, other in self.parameters]):
                self.parameters.append((name, tensor))

    def _add_variables(self, frame: FrameType) -> None:
        """Name leaves by the variables of the program that hold them: of the function, and then of the module."""
        for variables in (frame.f_locals, frame.f_globals):
            held = [(name, value) for name, value in [*variables.items()] if not name.startswith("_")]
            for name, value in held:
                if isinstance(value, TensorBase) and value._edge is None and requires(value):
                    self.leaves.setdefault(id(value), name)
            for name, value in held:
                if isinstance(value, Module):
                    for inner, tensor in value.named_parameters():
                        self.leaves.setdefault(id(tensor), inner)
                    for path, module in value.named_modules():
                        self.classes.setdefault(path, type(module).__name__)
            if frame.f_locals is frame.f_globals:
                break


def noted_of(node: Node) -> Noted | None:
    """What `recording` noted of a node."""
    origin = origin_of(node)
    inside = None if origin is None else origin.inside
    return inside if isinstance(inside, Noted) else None


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}.{path}" if prefix and path else prefix or path


def _pairs(params: Any) -> Iterator[tuple[str, Any]]:
    yield from params.items() if isinstance(params, Mapping) else [*params]


def _prefixes(roots: Sequence[Root], params: Any) -> dict[Root, str]:
    """What comes before the paths below each root: its own path in `params`, or its class if there are several."""
    inside = dict(_modules(params)) if isinstance(params, Module) else {}
    prefixes: dict[Root, str] = {}
    calls: dict[int, str] = {}
    for root in roots:
        module = root.module()
        if id(module) in inside:
            prefixes[root] = inside[id(module)]
            continue
        if len({id(other.module()) for other in roots}) == 1:
            prefixes[root] = ""
            continue
        if id(module) not in calls:
            kind = root.classes[""]
            same = sum([name.partition(" ")[0] == kind for name in calls.values()])
            calls[id(module)] = f"{kind} {same + 1}" if same else kind
        prefixes[root] = calls[id(module)]
    return prefixes


def _modules(module: Module) -> Iterator[tuple[int, str]]:
    for path, inner in module.named_modules():
        yield id(inner), path


def _by_parameters(nodes: Sequence[Node], names: Mapping[int, str], leaves_only: bool) -> dict[Node, str]:
    """The module of each node that computes with parameters of one module alone, besides data."""
    found: dict[Node, str] = {}
    alone: dict[Node, str] = {}                          # nodes behind which there are only parameters of one module
    for node in reversed(nodes):
        if isinstance(node, AccumulateGrad):
            name = names.get(id(node.variable), "")
            if "." in name:
                alone[node] = found[node] = name.rpartition(".")[0]
    if leaves_only:
        return found
    for node in reversed([node for node in nodes if not isinstance(node, AccumulateGrad)]):
        inputs = [child for child, _ in node.links if child is not None]
        owners = {alone.get(child, "") for child in inputs}
        if len(owners - {""}) == 1:
            found[node] = next(iter(owners - {""}))
            if "" not in owners and all([child is not None for child, _ in node.links]):
                alone[node] = found[node]
    return found
