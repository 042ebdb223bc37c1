"""A gradient graph as plain data: what pictures, texts and the explorer show of it.

Reading changes nothing in the graph. Of a node it reads little more than users see: `links`, `name()`, `variable`,
`shape`, `dtype`. There is no recursion, so a graph of any depth can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..autograd import graph
from ..autograd.function_node import FunctionNode
from ..compilation.repeat.outside import CompiledFunctionBackward
from ..foundations.dtypes import dtype as torch_dtype
from ..graph.node import AccumulateGrad, Node, behind
from ..nn.modules.container import ModuleDict, ModuleList
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..tensors.recording.inplace import CopySlices
from ..tensors.state.base import StridedView, TensorBase, edge_of
from .ordering import in_order

Address = tuple[Node, int]       # a node, and the number of one of its outputs
T = TypeVar("T")


class Call(NamedTuple):
    """One call of a module: its path, its class, and a number that differs from call to call."""

    path: str
    kind: str
    number: int = 0


Calls = tuple[Call, ...]         # the calls that are open at one time, the outermost first


class DrawnNode(NamedTuple):
    """What is shown of a node.

    `kind` is leaf, operator, view, write or function, or group for a folded part of a graph. `shapes` and `dtypes` are
    those of the outputs, None for an output that is not a tensor. `links` are (node, output) for each input, and None
    for a constant. `calls` are the calls of modules that made the node, as far as they are known.
    """

    kind: str
    name: str
    label: str
    shapes: list[tuple[int, ...] | None]
    dtypes: list[str | None]
    links: list[tuple[int, int] | None]
    calls: Calls
    parameter: bool

    @property
    def module(self) -> str | None:
        """The path of the innermost module that made the node, if the module is known."""
        return self.calls[-1].path if self.calls else None

    @property
    def cls(self) -> str | None:
        """The class of that module, or None if it is not known."""
        return self.calls[-1].kind or None if self.calls else None


class Drawn(NamedTuple):
    """A graph. The number of a node is its place in `nodes`: in the engine's order, and the leaves come last.

    `live` holds the nodes themselves. `outputs` are the (node, output) that the graph begins with.
    """

    nodes: list[DrawnNode]
    live: list[Node]
    outputs: list[tuple[int, int]]


def drawn(outputs: Any, params: Any = None, calls: Mapping[Node, Calls] | None = None,
          leaves: Mapping[int, str] | None = None) -> Drawn:
    """The graph behind a tensor (or a `grad_fn`, or a sequence of them), with leaves named by `params`.

    `leaves` has the names of leaves by identity, if they are known already.

    `calls` says for each node which calls of modules were open when the node was recorded. Without `calls`, they are
    inferred from the names of the parameters: a node that reads `layers.0.weight` was made by the module `layers.0`,
    and so was all between two such nodes.
    """
    begin = beginnings(outputs)
    names = names_of(params) if leaves is None else leaves
    live = in_order([node for node, _ in begin], lambda node: node.links, lambda node: node.number,
                    lambda node: isinstance(node, AccumulateGrad))
    number = {node: i for i, node in enumerate(live)}
    links = [[None if node is None else (number[node], output) for node, output in one.links] for one in live]
    kinds = [kind_of(node) for node in live]
    if calls is None:
        known = _inferred(kinds, links, _owners(live, names), _classes(params))
    else:
        known = [calls.get(node) for node in live]
    found = []
    for node, kind, own_links, own_calls in zip(live, kinds, links, _filled(kinds, known)):
        shapes, dtypes = (node.shape, node.dtype) if node.several else ([node.shape], [node.dtype])
        parameter = isinstance(node, AccumulateGrad) and isinstance(node.variable, Parameter)
        found.append(DrawnNode(kind, node.name(), label_of(node, names), [*shapes], [_dtype_text(d) for d in dtypes],
                               own_links, own_calls, parameter))
    return Drawn(found, live, [(number[node], output) for node, output in begin])


def kind_of(node: Node) -> str:
    """What a node is: leaf, operator, view, write (in place, through a view) or function (of the user)."""
    if isinstance(node, AccumulateGrad):
        return "leaf"
    if isinstance(node, FunctionNode | CompiledFunctionBackward):
        return "function"
    if isinstance(node, CopySlices):
        return "write"
    op = getattr(type(node), "op", None)
    return "view" if isinstance(node, StridedView) or (op is not None and op.view) else "operator"


def _dtype_text(dtype: np.dtype[Any]) -> str | None:
    return None if dtype is None else str(torch_dtype.of[dtype]).removeprefix("torch.")


# Which module made a node


def _owners(live: list[Node], names: Mapping[int, str]) -> dict[int, str]:
    """The path of the module that holds a leaf, for each leaf with a name that has a path."""
    found = {}
    for i, node in enumerate(live):
        if isinstance(node, AccumulateGrad) and "." in names.get(id(node.variable), ""):
            found[i] = names[id(node.variable)].rpartition(".")[0]
    return found


def _classes(params: Any) -> dict[str, str]:
    """The class of each module below a module, by path. Modules that only hold others get ''."""
    if not isinstance(params, Module):
        return {}
    return {path: "" if isinstance(module, ModuleList | ModuleDict) else type(module).__name__
            for path, module in params.named_modules()}


def _inferred(kinds: list[str], links: list[list[tuple[int, int] | None]], owners: Mapping[int, str],
              classes: Mapping[str, str]) -> list[Calls | None]:
    """The calls that made the nodes that read parameters, directly or through views of them."""
    paths: dict[int, str] = {**owners}
    for i in range(len(kinds) - 1, -1, -1):              # a value before all that use it
        if kinds[i] != "leaf":
            near = [link[0] for link in links[i] if link is not None]
            own = [paths[child].split(".") for child in near if child in paths and kinds[child] in ("leaf", "view")]
            if own:                                      # what the first and the last in order share, all share
                paths[i] = ".".join(shared(min(own), max(own)))
    stacks: dict[str, Calls] = {"": ()}
    for path in paths.values():
        if path not in stacks:
            parts = path.split(".")
            prefixes = [".".join(parts[: n + 1]) for n in range(len(parts))]
            stacks[path] = tuple([Call(prefix, classes.get(prefix, "")) for prefix in prefixes
                                  if classes.get(prefix, "?")])
    return [stacks[paths[i]] if i in paths else None for i in range(len(kinds))]


def _filled(kinds: list[str], known: list[Calls | None]) -> Iterator[Calls]:
    """The calls of all nodes: a node without any shares what the known nodes before and after it have in common."""
    last = len(kinds) - sum(kind == "leaf" for kind in kinds)
    after: list[Calls] = [()] * last                     # of the nearest known node after each
    latest: Calls = ()
    for i in range(last - 1, -1, -1):
        found = known[i]
        latest = latest if found is None else found
        after[i] = latest
    latest = ()
    for i in range(last):
        found = known[i]
        latest = latest if found is None else found
        yield tuple(shared(latest, after[i])) if found is None else found
    for found in known[last:]:
        yield found or ()


def shared(one: Sequence[T], other: Sequence[T]) -> list[T]:
    """What two sequences begin with, both."""
    same = 0
    for a, b in zip(one, other):
        if a != b:
            break
        same += 1
    return [*one[:same]]


# What is in a picture


def reachable(begin: Iterable[Node]) -> list[Node]:
    """Every reachable node once, the nearest first."""
    found = list(dict.fromkeys(begin))
    seen = {*found}
    for node in found:
        for child, _ in node.links:
            if child is not None and child not in seen:
                seen.add(child)
                found.append(child)
    return found


def beginnings(outputs: Any) -> list[Address]:
    """Where the graphs behind a tensor, a node, or several of them begin.

    Raises TypeError for any other object, and ValueError for a tensor that requires no grad, because it has no graph.
    """
    if isinstance(outputs, TensorBase | graph.Node) or not isinstance(outputs, Iterable):
        outputs = [outputs]
    found: list[Address] = []
    for output in outputs:
        if not isinstance(output, TensorBase | graph.Node):
            raise TypeError(f"a graph can be drawn from tensors or their grad_fn, not from {type(output).__name__}")
        edge = edge_of(output) if isinstance(output, TensorBase) else behind(output)
        if edge is None:
            raise ValueError("there is no graph to draw: this tensor requires no grad. It was computed from constants, "
                             "or under no_grad(), or detached.")
        found.append((edge.node, edge.index))
    return found


def names_of(params: Module | Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> dict[int, str]:
    """The names of leaves by identity.

    They come from a Module, from {name: tensor}, or from `Module.named_parameters()`. Raises TypeError for any other
    object.
    """
    if isinstance(params, Module):
        params = params.named_parameters()
    elif isinstance(params, Mapping):
        params = params.items()
    others: list[Any] = [params]
    given: Any = () if params is None else params if isinstance(params, Iterable) else others
    names: dict[int, str] = {}
    for pair in [given] if isinstance(given, TensorBase) else given:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
                and isinstance(pair[1], TensorBase)):
            raise TypeError("the leaves are named by a Module, by a dictionary {name: tensor}, or by pairs of name and "
                            f"tensor, as Module.named_parameters() gives them; not by {type(pair).__name__}")
        names.setdefault(id(pair[1]), pair[0])
    return names


def label_of(node: Node, names: Mapping[int, str]) -> str:
    """The name of a node: its class, or the given name of a leaf."""
    return names.get(id(node.variable), "leaf") if isinstance(node, AccumulateGrad) else type(node.public).__name__


def on_one_line(text: str) -> str:
    """A text in which signs that cannot be printed, such as the end of a line, stand as Python writes them."""
    return text if text.isprintable() else "".join([c if c.isprintable() else ascii(c)[1:-1] for c in text])


def shape_text(node: Node, index: int) -> str:
    """The shape of one output of a node, such as '[2, 3]', or '' for an output that is not a tensor."""
    shape = node.shape[index] if node.several else node.shape
    return "" if shape is None else str([*shape])
