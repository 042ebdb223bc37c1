"""What holds the graph of an earlier pass, said in notes below "Trying to backward through the graph a second time".

A state that a loop hands on to its next step, or a sum of losses, leads from the graph of this pass into that of the
pass before. The notes name the variable of the program that does. A variable that was computed once, before the loop,
is told apart from a state: without its graph, what is behind it would learn nothing. This module is imported for such
an error only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..foundations.errors import outside
from ..graph.node import RELEASED, AccumulateGrad
from ..tensors.state.base import TensorBase

if TYPE_CHECKING:
    from ..graph.node import Node

__all__ = ["facts"]


def facts(node: Node, order: Sequence[Any]) -> dict[str, str]:
    """The facts about a node whose saved values are gone. `order` are the nodes of this pass, from its start."""
    if node not in order:
        return {}
    before = [*order[:order.index(node)]]
    if not any([_saves(each) for each in before]):
        return {"instead": "make one pass over the sum of the results, or pass retain_graph=True to the first pass"}
    old = [node]
    for each in reversed(before):                        # what saves nothing may belong to the earlier graph, too
        if not _saves(each) and any([_source(edge) in old for edge in each.edges]):
            old.append(each)
    variables = [*_variables(sys._getframe())]
    begun = min([each.number for each in before if _saves(each)])           # what this pass alone has is newer
    for name, variable, tensor in variables:
        if name == variable and tensor.grad_fn in old and tensor.grad_fn.number < begun:
            return {"shared": f"{name} was computed before an earlier pass, and is in the graph of this pass, too",
                    "instead": f"compute {name} again for each pass, or retain_graph=True in the earlier pass, or "
                               f"{name}.detach() if no gradient is to flow through it"}
    kinds = {_kind(each) for each in old}
    name, variable = next(((name, variable) for name, variable, tensor in variables
                           if _kind(tensor.grad_fn) in kinds and _leads(tensor.grad_fn, old)),
                          (f"{node.name()}'s result", "the state"))
    detached = f"{name} = {name}.detach()" if name == variable else f"detach the tensors of {variable}"
    return {"carried": f"{name}, as an earlier pass left it, is in the graph of this pass",
            "instead": f"{detached} before the next step, or retain_graph=True in the earlier pass"}


def _kind(node: Any) -> tuple[type, str]:
    """What a node of one step has in common with that of the next step."""
    return type(node), str(getattr(node, "shape", ""))


def _saves(node: Any) -> bool:
    """Whether a node holds values for its rules, or held them before this pass."""
    saved, op = node.saved, getattr(node, "op", None)
    return saved is RELEASED or (op is not None and saved is not None and any(
        [saved[i] is not None for i in op.saved_arrays]))


def _leads(start: Any, old: Sequence[Any]) -> bool:
    """Whether the graph behind a node has one of these nodes."""
    waiting, seen = [start], {start}
    for node in waiting:
        if node in old:
            return True
        new = {below for below in map(_source, node.edges) if below is not None} - seen
        seen |= new
        waiting += new
    return False


def _source(edge: Any) -> Any:
    return None if edge is None or isinstance(edge, AccumulateGrad) else edge.node


def _variables(inner: Any) -> Iterator[tuple[str, str, TensorBase]]:
    """The tensors with a graph that the program's function has names for: (text, variable, tensor)."""
    frame = outside(inner)
    if frame is None:
        return
    inner_names = [(f"{name}.{each}", value) for name, holder in frame.f_locals.items()
                   if name == "self" or "_modules" in getattr(holder, "__dict__", {})
                   for each, value in getattr(holder, "__dict__", {}).items()]
    for name, value in [*frame.f_locals.items(), *inner_names]:
        if name.startswith("_"):                         # in a notebook, `_` is what a cell has shown
            found = []
        elif isinstance(value, TensorBase):
            found = [(name, value)]
        elif type(value) in (tuple, list) and len(value) <= 100:
            found = [(f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, TensorBase)]
        elif type(value) is dict and len(value) <= 100:
            found = [(f"{name}[{key!r}]", item) for key, item in value.items() if isinstance(item, TensorBase)]
        else:
            found = []
        yield from [(text, name, tensor) for text, tensor in found if tensor.grad_fn is not None]
