"""torch.fx.passes.split_module: makes modules of the parts of a traced module, and a module that calls them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...foundations.names import missing
from ...nn.modules.module import Module
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = ["Partition", "split_module"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Partition:
    """A part of a graph: the names of its nodes, of the nodes that it uses, and of those that others use."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n"
                f" partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}")


def split_module(m: GraphModule, root_m: Module, split_callback: Callable[[Node], int],
                 qualname_map: dict[str, str] | None = None, keep_original_order: bool | None = False,
                 keep_original_node_name: bool | None = False, keep_original_input_name: bool = True, *,
                 partition_affix: str | None = None, tuple_return: bool = False) -> GraphModule:
    """A module that computes what `m` does, and calls a module for each part of the graph.

    `split_callback` names the part of a node. `qualname_map` receives the old path of each module that a part calls, by
    the new path. `root_m` is not used. Raises RuntimeError if two parts need each other.

    >>> import retrograd as torch
    >>> from retrograd.fx.passes.split_module import split_module
    >>> traced = torch.fx.symbolic_trace(lambda x: (x + 1).relu() * 2)
    >>> made = split_module(traced, traced, lambda node: int(node.name == "mul"))
    >>> print(made.submod_0.code.strip())
    def forward(self, x):
        add = x + 1;  x = None
        relu = add.relu();  add = None
        return relu
    >>> made(torch.tensor([1., -3.]))
    tensor([4., 0.])
    """
    split = _Split(m, split_callback, partition_affix)
    order = split.sorted()
    for name in order:
        split.add_inputs(split.parts[name], keep_original_input_name)
    for node in split.where:
        split.add_node(node, bool(keep_original_node_name), qualname_map)
    return _Joined(split, bool(keep_original_node_name)).module(
        [*split.parts] if keep_original_order else order, bool(keep_original_order), tuple_return)


class _Split:
    """The parts of a graph. `where` has the name of the part of each node that belongs to one."""

    def __init__(self, module: GraphModule, callback: Callable[[Node], int], affix: str | None) -> None:
        self.module, self.nodes = module, {node.name: node for node in module.graph.nodes}
        self.parts: dict[str, Partition] = {}
        self.where: dict[Node, str] = {}
        for node in module.graph.nodes:
            if node.op not in ("placeholder", "get_attr", "output"):
                name = str(callback(node)) if affix is None else f"{affix}_{callback(node)}"
                self.where[node] = name
                self.parts.setdefault(name, Partition(name)).node_names.append(node.name)
        for user in module.graph.nodes:
            for node in user.all_input_nodes:
                self._note(node, user)

    def _note(self, node: Node, user: Node) -> None:
        """Note that a node uses another one, if the two are in different parts."""
        made, used = self.where.get(node), self.where.get(user)
        if made == used:
            return
        if made is not None:
            self.parts[made].outputs.setdefault(node.name)
        if used is not None:
            self.parts[used].inputs.setdefault(node.name)
        if made is not None and used is not None:
            self.parts[made].dependents.setdefault(used)
            self.parts[used].dependencies.setdefault(made)

    def sorted(self) -> list[str]:
        """The parts, each behind those that it needs."""
        ready = [name for name, part in self.parts.items() if not part.dependencies]
        found: list[str] = []
        while ready:
            found.append(ready.pop())
            for name in self.parts[found[-1]].dependents:
                self.parts[name].dependencies.pop(found[-1])
                if not self.parts[name].dependencies:
                    ready.append(name)
        if len(found) != len(self.parts):
            raise RuntimeError("cycle exists between partitions!")
        return found

    def value(self, target: str) -> Any:
        """What is at a path in the module."""
        found: Any = self.module
        for name in target.split("."):
            if not hasattr(found, name):
                raise AttributeError(f"Node target {target} not found!")
            found = getattr(found, name)
        return found

    def add_inputs(self, part: Partition, named: bool) -> None:
        """Give a part arguments for the nodes of others. A module that it uses as a value becomes its own."""
        own = [name for name in part.inputs if self.nodes[name].op == "get_attr" and isinstance(
            self.value(self.nodes[name].target), Module)]
        given = [name for name in part.inputs if name not in own]
        for i, name in enumerate(given):
            node = self.nodes[name]
            made = part.graph.placeholder(name if named else f"arg_{i}", type_expr=node.type)
            made.meta, part.environment[node] = node.meta.copy(), made
        for name in own:
            node = self.nodes[name]
            made, part.targets[node.target] = part.graph.get_attr(node.target), self.value(node.target)
            made.meta, part.environment[node] = node.meta.copy(), made
        part.inputs = dict.fromkeys(given)

    def add_node(self, node: Node, named: bool, paths: dict[str, str] | None) -> None:
        """Add a node to its part."""
        part, target = self.parts[self.where[node]], node.target
        if node.op == "call_module":
            target = node.target.replace(".", "_")
            part.targets[target] = self.value(node.target)
            if paths is not None:
                paths[f"{part.submod_name}.{target}"] = node.target
        args, kwargs = map_arg((node.args, node.kwargs), part.environment.__getitem__)
        made = part.graph.create_node(node.op, target, args, kwargs, node.name if named else None, node.type)
        made.meta, part.environment[node] = node.meta.copy(), made


class _Joined:
    """The module that calls the parts."""

    def __init__(self, split: _Split, named: bool) -> None:
        self.split, self.named = split, named
        self.graph = Graph()
        self.made: dict[str, Node] = {}
        self.values: dict[str, Any] = {}

    def module(self, order: list[str], original: bool, tuples: bool) -> GraphModule:
        """The module. With `original`, a parameter is read where it is first needed, and not at the beginning."""
        nodes = self.split.nodes.values()
        for node in nodes:
            if node.op == "placeholder" or not original or not order:
                self._add(node)
        for name in order:
            part = self.split.parts[name]
            for each in part.inputs:
                self._add(self.split.nodes[each])
            self._call(part, tuples)
        for node in nodes:
            if node.op == "output":
                self.graph.output(map_arg(node.args[0], lambda n: self.made[n.name]))
        found = GraphModule(self.values, self.graph)
        found.meta["partition_names"] = {part.submod_name for part in self.split.parts.values()}
        return found

    def _add(self, node: Node) -> None:
        """Add an argument or an attribute of the module, if it is not there."""
        if node.name in self.made or node.op not in ("placeholder", "get_attr"):
            return
        if node.op == "placeholder":
            made = self.graph.create_node("placeholder", node.name if self.named else node.target, node.args,
                                          type_expr=node.type)
        else:
            made, self.values[node.target] = self.graph.get_attr(node.target), self.split.value(node.target)
        made.meta, self.made[node.name] = node.meta.copy(), made

    def _call(self, part: Partition, tuples: bool) -> None:
        """Add a call of a part, whose results are the nodes that others use."""
        results = tuple([part.environment[self.split.nodes[name]] for name in part.outputs])
        single = len(results) == 1 and not tuples
        part.graph.output(results[0] if single else results)
        self.values[part.submod_name] = GraphModule(part.targets, part.graph)
        called = self.graph.call_module(part.submod_name, tuple([self.made[name] for name in part.inputs]))
        for i, name in enumerate(part.outputs):
            self.made[name] = called if single else self.graph.call_function(
                operator.getitem, (called, i))
